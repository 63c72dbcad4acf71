/* align_lay.c - products and attention laid over the places of a model's step.
 *
 * An automaton over the places of one step, which begins again behind the last. Cost of a match: 0 where the kernel's tiles
 * make up its grid or its name has none, TILE where they do not. A launch that no place takes costs SKIP, a place without
 * a launch too; a product never stands for attention. The way that costs least is kept, by dynamic programming over
 * launches and places; a step may be entered anywhere, at the price of the places passed over. */
#include <stdlib.h>
#include <string.h>

#include "sim/align/align_int.h"

#define SKIP         2
#define TILE         1
#define FAR          (UINT32_MAX / 4)
#define MAX_STEPS_BY ((size_t)1 << 28) /* launches x places kept for the way back */
#define SAMPLE       4096              /* anchors by which a form is judged */

/* --- places ------------------------------------------------------------------------------------------------------ */

static void align_lay_put(struct align *al, enum place_role role, uint32_t layer, uint64_t n, uint64_t k, bool bias)
{
	al->places[al->n_places++] = (struct place){ .role = role, .layer = layer, .n = n, .k = k, .bias = bias };
}

int align_places(struct align *al, struct form f)
{
	const struct model *m = al->m;

	al->form = f;
	al->n_places = 0;
	if (!al->places && !(al->places = arena_array(al->a, (size_t)m->layers * 9 + 1, sizeof *al->places)))
		return err_nomem(al->e, "for an alignment");
	for (uint32_t i = 0; i < m->layers; i++) {
		const struct model_heads h = model_heads_of(m, i);
		const uint64_t q = (uint64_t)h.heads * h.dim, kv = (uint64_t)h.kv_heads * h.dim,
			       v = (uint64_t)h.kv_heads * h.v_dim;

		if (f.joined_qkv) {
			align_lay_put(al, AT_QKV, i, q + kv + v, m->hidden, m->qkv_bias);
		} else {
			align_lay_put(al, AT_Q, i, q, m->hidden, m->qkv_bias);
			align_lay_put(al, AT_K, i, kv, m->hidden, m->qkv_bias);
			align_lay_put(al, AT_V, i, v, m->hidden, m->qkv_bias);
		}
		align_lay_put(al, f.written_out ? AT_SCORES : AT_ATTEND, i, 0, 0, false);
		if (f.written_out)
			align_lay_put(al, AT_VALUES, i, 0, 0, false);
		align_lay_put(al, AT_O, i, m->hidden, (uint64_t)h.heads * h.v_dim, m->out_bias);
		if (model_has_experts(m, i)) {
			align_lay_put(al, AT_ROUTER, i, m->moe.experts, m->hidden, m->arch->expert_bias);
			align_lay_put(al, AT_EXPERTS_UP, i, 2 * (uint64_t)m->moe.inter, m->hidden, false);
			align_lay_put(al, AT_EXPERTS_DOWN, i, m->hidden, m->moe.inter, false);
			continue;
		}
		if (f.joined_gate) {
			align_lay_put(al, AT_GATE_UP, i, 2 * (uint64_t)m->inter, m->hidden, m->mlp_bias);
		} else {
			align_lay_put(al, AT_GATE, i, m->inter, m->hidden, m->mlp_bias);
			align_lay_put(al, AT_UP, i, m->inter, m->hidden, m->mlp_bias);
		}
		align_lay_put(al, AT_DOWN, i, m->hidden, m->inter, m->mlp_bias);
	}
	align_lay_put(al, AT_HEAD, m->layers - 1, m->vocab, m->hidden, false);
	return 0;
}

/* --- what a kernel may compute ----------------------------------------------------------------------------------- */

/* "_64x8_" behind the kind in "nvjet_sm90_tst_64x8_64x16_4x2_h_bz_TNT", "_128x32_" of a CUTLASS name. */
static bool tile_of(const char *name, uint64_t *a, uint64_t *b)
{
	for (const char *p = strchr(name, '_'); p; p = strchr(p + 1, '_')) {
		char *end;
		const uint64_t x = strtoul(p + 1, &end, 10);

		if (end == p + 1 || *end != 'x')
			continue;
		*a = x;
		*b = strtoul(end + 1, NULL, 10);
		return *a && *b && *a <= 512 && *b <= 512;
	}
	return false;
}

static uint64_t align_lay_up(uint64_t n, uint64_t by)
{
	return (n + by - 1) / by;
}

/* Do tiles of a x b cover rows x columns in so many CTAs: rounded up to a cluster, split along the depth, or as many as
 * there are SMs, which then take one tile after the other? */
static int tiles_fit(const struct align *al, const struct trace_launch *l, uint64_t n)
{
	const uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
		       sms = al->t->n_devices && al->t->devices[0].sms > 0 ? (uint64_t)al->t->devices[0].sms : 0;
	uint64_t a, b;

	if (!ctas || !tile_of(l->name, &a, &b))
		return -1;
	for (int turn = 0; turn < 2; turn++) {
		const uint64_t tiles =
			align_lay_up(n, turn ? b : a) * align_lay_up(al->batch ? al->batch : 1, turn ? a : b);

		if (sms && ctas * 8 >= sms * 7 && ctas <= sms && tiles >= ctas)
			return 1; /* one tile after the other; clusters may leave some SMs out */
		for (uint64_t split = 1; split <= 16; split++)
			if (ctas >= tiles * split && ctas < tiles * split + 8 * split)
				return 1;
	}
	return 0;
}

static uint32_t cost_of(const struct align *al, size_t launch, const struct place *p)
{
	const bool product = al->names[launch].rule->kind == OP_GEMM;

	if (p->role == AT_ATTEND)
		return product ? FAR : 0;
	if (!product)
		return FAR;
	if ((p->role == AT_EXPERTS_UP || p->role == AT_EXPERTS_DOWN) != align_is_grouped(al->names[launch].rule))
		return FAR;
	if (p->role == AT_SCORES || p->role == AT_VALUES || p->role == AT_EXPERTS_UP || p->role == AT_EXPERTS_DOWN)
		return 0;
	return tiles_fit(al, &al->t->launches[launch], p->n) == 0 ? TILE : 0;
}

static void count_tiles(struct align *al)
{
	uint64_t with = 0, fit = 0;

	for (size_t i = 0; i < al->t->n_launches; i++) {
		const struct place *p = al->at[i] == NO_PLACE ? NULL : &al->places[al->at[i]];
		const bool has = p && p->n && p->role != AT_EXPERTS_UP && p->role != AT_EXPERTS_DOWN;
		const int f = has ? tiles_fit(al, &al->t->launches[i], p->n) : -1;

		with += f >= 0;
		fit += f == 1;
	}
	al->rep->tiles = with ? (uint32_t)(fit * 1000 / with) : 1000;
}

/* --- the cheapest way -------------------------------------------------------------------------------------------- */

enum step { STEP_MATCH, STEP_SKIP_LAUNCH, STEP_SKIP_PLACE };

/* Best costs after one more launch; `back` says how. State p: place p was passed last. */
static void advance(const struct align *al, size_t launch, const uint32_t *was, uint32_t *now, uint8_t *back)
{
	const uint32_t n = al->n_places;

	for (uint32_t p = 0; p < n; p++) {
		const uint32_t from = was[p ? p - 1 : n - 1], c = cost_of(al, launch, &al->places[p]);

		now[p] = from + c < was[p] + SKIP ? from + c : was[p] + SKIP;
		back[p] = from + c < was[p] + SKIP ? STEP_MATCH : STEP_SKIP_LAUNCH;
	}
	/* Twice around: a place passed over may lie behind the step's end. */
	for (uint32_t q = 0; q < 2 * n; q++) {
		const uint32_t p = q % n, from = p ? p - 1 : n - 1;

		if (now[from] + SKIP < now[p]) {
			now[p] = now[from] + SKIP;
			back[p] = STEP_SKIP_PLACE;
		}
	}
}

/* Places passed over, at the ends of the first and last step, too, are counted. */
static void trace_back(struct align *al, const size_t *anchors, size_t n, const uint8_t *back, uint32_t at)
{
	const uint32_t places = al->n_places;
	uint64_t passed = places - 1 - at;

	for (size_t i = n; i > 0;) {
		switch (back[(i - 1) * places + at]) {
		case STEP_MATCH:
			al->at[anchors[i - 1]] = at;
			i--;
			at = at ? at - 1 : places - 1;
			break;
		case STEP_SKIP_LAUNCH:
			i--;
			break;
		default:
			passed++;
			at = at ? at - 1 : places - 1;
		}
	}
	al->rep->empty_places = passed + (at + 1 == places ? 0 : at + 1);
}

static int lay(struct align *al, const size_t *anchors, size_t n, bool keep, uint32_t *cost)
{
	const uint32_t places = al->n_places;
	uint32_t *was = arena_array(al->a, places, sizeof *was), *now = arena_array(al->a, places, sizeof *now),
		 best = 0;
	uint8_t *back = arena_array(al->a, (keep ? n : 1) * places, 1);

	if (!was || !now || !back)
		return err_nomem(al->e, "for an alignment");
	for (uint32_t p = 0; p < places; p++) /* before the first launch, as if the step before it had ended */
		was[p] = p + 1 == places ? 0 : SKIP * (p + 1);
	for (size_t i = 0; i < n; i++) {
		uint32_t *const swap = was;

		advance(al, anchors[i], was, now, back + (keep ? i * places : 0));
		was = now;
		now = swap;
	}
	for (uint32_t p = 1; p < places; p++)
		if (was[p] < was[best])
			best = p;
	*cost = was[best];
	if (keep)
		trace_back(al, anchors, n, back, best);
	return 0;
}

int align_lay(struct align *al, uint32_t *cost)
{
	const size_t all = al->t->n_launches;
	size_t *anchors = arena_array(al->a, all, sizeof *anchors), n = 0;
	struct form best = { .joined_qkv = false };
	uint32_t least = UINT32_MAX;

	if (!anchors || (!al->at && !(al->at = arena_array(al->a, all, sizeof *al->at))))
		return err_nomem(al->e, "for an alignment");
	for (size_t i = 0; i < all; i++) {
		al->at[i] = NO_PLACE;
		if (align_anchors(al, i))
			anchors[n++] = i;
	}
	if (!n)
		return err_set(al->e, ERR_IO, "none of its kernels is a product or attention");
	if (n * ((size_t)al->m->layers * 9 + 1) > MAX_STEPS_BY)
		return err_set(al->e, ERR_IO, "%zu products are too many at once: choose a step by '--range'", n);
	for (int f = 0; f < 8; f++) {
		const struct form form = { .joined_qkv = f & 1, .joined_gate = f & 2, .written_out = f & 4 };
		uint32_t c;

		if (align_places(al, form) < 0 || lay(al, anchors, n < SAMPLE ? n : SAMPLE, false, &c) < 0)
			return -1;
		if (c < least)
			least = c, best = form;
	}
	if (align_places(al, best) < 0 || lay(al, anchors, n, true, cost) < 0)
		return -1;
	count_tiles(al);
	*cost = (uint32_t)(1000 * (uint64_t)*cost / n);
	return 0;
}
