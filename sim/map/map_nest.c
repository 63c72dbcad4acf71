/* map_nest.c - a product's loops: tiles of m, n and k, their order, what stays in SRAM, and the unit.
 *
 * C[m,n] = A[m,k] B[k,n] is cut into Tm x Tn x Tk tiles. The inner loops are over k, if it is cut, and over n or m. What
 * the inner loops do not change stays: A while n goes by, or B while m does, and the sums of C while k does. An operand
 * of one tile moves once, before the loop or after it; the others move whenever their tile changes. Whatever moves more
 * than once and stays for several tiles has two buffers.
 * Every combination that SRAM holds is scored by rates (map_predict), with what its tiles move and compute; the best of
 * each order and of each set that stays are sorted out, and the best few of those go to the judge. Tile sizes come from the shape and the units' grains alone, so larger
 * memories only add combinations.
 * By `mapping.policy: copy_first` none of this: map_nest_copied (map_int.h) does what a compiler would.
 * Where a dimension ends in a smaller tile, what that moves and takes is its own (map_edge.c).
 * Leaves out: partial sums that leave SRAM. */
#include <string.h>

#include "sim/map/map_nest.h"

#define MAX_CUTS      40 /* ways to cut a dimension */
#define LEAST_ROWS    64 /* of a tile, where m is cut */
#define LEAST_K       256
#define LEAST_K_MANY  64 /* where cores share what tiles of k bring */
#define FEW_ROWS      4
#define FINER         8 /* times smaller, where SRAM is too small for these */
#define LEAST_DEEP    32
#define LEAST_COLS    32
#define LEAST_PARTS   8
#define LEAST_BLOCK_M 128 /* of copy_first */
#define LEAST_BLOCK   256
#define MOST_TILES    (1u << 20)
#define HELD_COST     16 /* all of SRAM is worth so much of the time */
#define IMPERFECT     32 /* a part of what moves beside math is in its way, however well they overlap */

/* Orders of loops times what stays: of each the best is kept. */
#define KINDS (2 << OPERANDS)

/* Orders of the loops; the second is another only where m and n are both cut. */
static const uint8_t loops[][DIMS] = { { M, N, K }, { N, M, K } };

static void set_tiles(const struct product *p, struct nest *x, const uint64_t tile[DIMS])
{
	for (int d = 0; d < DIMS; d++) {
		x->tile[d] = tile[d];
		x->trips[d] = div_up(p->size[d], tile[d]);
	}
	x->tiles = x->trips[M] * x->trips[N] * x->trips[K];
}

static int n_orders(const struct nest *x)
{
	return x->trips[M] > 1 && x->trips[N] > 1 ? 2 : 1;
}

/* Of a full tile, or of all of it. */
static uint64_t tile_bytes(const struct product *p, const struct nest *x, int i, bool whole)
{
	uint64_t bytes = p->move[i] ? p->move[i]->bytes : 0;

	for (int d = 0; d < DIMS && !whole; d++)
		if (has[i][d])
			bytes = map_rows_bytes(bytes, x->tile[d], p->size[d]);
	return bytes;
}

/* SRAM that so much of an operand takes: of a tile, or of all of it. */
static uint64_t lies(const struct product *p, const struct nest *x, int i, bool whole, uint64_t bytes)
{
	const uint64_t rows = whole ? p->size[N] * x->trips[K] : x->tile[N];

	if (!bytes)
		return 0;
	return map_gang(p->m, &x->math.plan.split, i, whole ? p->size : x->tile, bytes) +
	       (i == B ? map_padding(&x->math.plan, rows) : 0);
}

/* A tile of an operand stays while loops that are not its own go on inside of its own; a resident one always. */
static void schedule_one(const struct product *p, struct nest *x, int i)
{
	uint64_t distinct = 1, again = 1;
	bool inside = true, kept = false;

	x->stays[i] = 0;
	for (int l = DIMS - 1; l >= 0; l--) {
		const int d = x->loop[l];

		if (has[i][d]) {
			distinct *= x->trips[d];
			inside &= x->trips[d] == 1;
		} else if (inside || x->resident[i]) {
			x->stays[i] |= (uint8_t)(1u << l);
			kept |= x->trips[d] > 1;
		} else {
			again *= x->trips[d];
		}
	}
	/* All of C leaves at once, and what is small and stays comes so. */
	if (x->resident[i] && p->move[i] && (i == C || p->move[i]->bytes <= p->m->c->dma.tile))
		distinct = again = 1;
	if (x->copied == i)
		distinct = again = 1;
	x->moves[i] = distinct * again;
	x->again[i] = again;
	x->bytes[i] = tile_bytes(p, x, i, x->moves[i] == 1);
	x->lies[i] = lies(p, x, i, x->moves[i] == 1, x->bytes[i]);
	if (x->resident[i] || x->moves[i] == 1)
		x->held += p->move[i] ? lies(p, x, i, x->moves[i] == 1, p->move[i]->bytes) : 0;
	else if (i == C && x->trips[K] > 1 && p->m->c->mapping.policy == MAPPING_SEARCH)
		return; /* it leaves from where its sums are; a compiler gives it buffers of its own */
	else if (kept)
		x->held += 2 * x->lies[i];
	else
		x->slot += (i == C && p->beside ? 2 : 1) * x->lies[i];
}

/* Sums in fp32, while k goes on and while cores exchange theirs. */
static uint64_t sums(const struct nest *x)
{
	const uint32_t parts = x->math.plan.split.k;
	const uint64_t bytes = 4 * x->tile[M] * x->tile[N] * (parts ? parts : 1);

	return x->trips[K] > 1 ? 2 * bytes : parts > 1 ? bytes : 0;
}

static void schedule(const struct product *p, struct nest *x)
{
	x->slot = 0;
	x->held = sums(x);
	for (int i = 0; i < OPERANDS; i++)
		schedule_one(p, x, i);
}

static bool held(const struct product *p, const struct nest *x)
{
	return x->tiles <= MOST_TILES && x->held + p->others + p->slots * x->slot <= p->m->sram;
}

/* Whether SRAM holds it, and each tile is worth a transfer: half of what streams, or an eighth of all. */
static bool fits(const struct product *p, const struct nest *x)
{
	if (!held(p, x))
		return false;
	for (int i = 0; i < OPERANDS && !map_fixed(p->m); i++)
		if (p->move[i] && x->moves[i] > 1 &&
		    x->lies[i] < ps_min(p->m->c->dma.tile / 2, p->move[i]->bytes / LEAST_PARTS) / p->finer)
			return false;
	return true;
}

static void score(const struct product *p, struct nest *x)
{
	struct map_flow f = p->rest;
	uint64_t all = 0, bytes = 0;

	f.tiles = x->tiles;
	f.nest = true;
	f.slot = x->slot;
	f.held = x->held + p->others;
	f.math = x->math.plan.span;
	f.latency = x->math.plan.latency;

	for (int i = 0; i < OPERANDS; i++)
		all += p->move[i] ? p->move[i]->bytes : 0;
	for (int i = 0; i < OPERANDS; i++) {
		const uint64_t once = p->move[i] && !(p->m->resident && i != C) ? p->move[i]->bytes : 0,
			       moved = x->again[i] * once, again = moved - once,
			       ported = x->bytes[i] ? moved / x->bytes[i] * x->lies[i] : 0;

		bytes += ported;
		if (x->moves[i] == 1) {
			*(i == C ? &f.post_bytes : &f.pre_bytes) += ported;
			f.pre_bytes += i == C && p->beside ? p->beside->bytes : 0;
			continue;
		}
		f.near_bytes += i == C && p->beside ? p->beside->bytes : 0;
		f.far_bytes += i == C && p->beside ? p->beside->bytes : 0;
		f.first_bytes += i == C || !once ? 0 : x->lies[i];
		f.last_bytes += i == C ? x->lies[i] : 0;
		if (x->resident[i] && i != C && x->stays[i] & 1) {
			f.early_tiles = x->tiles / x->trips[x->loop[0]];
			f.early_bytes += once;
			continue;
		}
		f.near_bytes += ported;
		/* What moves again comes from the L2, if all of the product lies there, and results stay there. */
		f.far_bytes += all > p->m->c->mem.l2.size ? once + again : i == C ? 0 : once;
	}
	x->predicted = x->rank = map_predict(p->m, &f);
	/* It may as well all lie in the L2, and SRAM that it holds is no other command's to run ahead in. */
	f.far_bytes = f.early_bytes = 0;
	x->rank += map_predict(p->m, &f) + clock_transfer(bytes, p->m->near_rate) / IMPERFECT;
	x->rank += x->rank / HELD_COST * (x->held + 2 * x->slot) / p->m->sram;
}

/* Tiles of a dimension: in 1, 1.5, 2, 3, 4, ... parts of whole grains, the last `least` or more; or what is fixed. */
static int cuts(uint64_t size, uint64_t grain, uint64_t least, uint64_t fixed, uint64_t out[MAX_CUTS])
{
	int n = 0;

	out[n++] = fixed ? ps_min(size, fixed) : size;
	if (fixed)
		return n;
	for (uint64_t parts = 2; n < MAX_CUTS && size > 1; parts += parts & (parts - 1) ? parts / 3 : parts / 2) {
		uint64_t tile = round_up(div_up(size, parts), grain);

		if (tile < least)
			break;
		if (tile < out[n - 1])
			out[n++] = tile;
		if (tile <= grain)
			break;
	}
	return n;
}

static void keep(const struct nest *x, struct nest *best)
{
	if (!best->tiles || x->rank < best->rank)
		*best = *x;
}

/* Whether the configuration wants another order of loops, or other operands to stay: as far as that makes a difference. */
static bool is_other(const struct product *p, const struct nest *x, int order, int stay)
{
	const struct mapping_cfg *fixed = &p->m->c->mapping;
	const int matters = (x->trips[N] > 1) << A | (x->trips[M] > 1) << B | 1 << C;

	if (fixed->loops > MAPPING_STREAM && x->trips[M] > 1 && x->trips[N] > 1 &&
	    order != (int)fixed->loops - MAPPING_MNK)
		return true;
	return fixed->stays && ((stay ^ (int)(fixed->stays - 1)) & matters);
}

/* All orders of one cut, and all that may stay, on the unit that computes its tile fastest. */
static void orders(const struct product *p, struct nest *x, struct nest best[KINDS])
{
	bool planned = false;

	x->math.plan.split = (struct unit_split){ 0, 0, 0 };
	x->math.plan.pad = 0;
	for (int l = 0; l < n_orders(x); l++)
		for (int stay = 0; stay < 1 << OPERANDS; stay++) {
			if (is_other(p, x, l, stay))
				continue;
			if ((p->c_stays && !(stay >> C & 1)) || (stay >> A & 1 && x->trips[N] == 1) ||
			    (stay >> B & 1 && x->trips[M] == 1))
				continue;
			memcpy(x->loop, loops[l], sizeof x->loop);
			for (int i = 0; i < OPERANDS; i++)
				x->resident[i] = stay >> i & 1;
			schedule(p, x);
			if (!planned && held(p, x)) { /* what cores share takes more */
				x->math = map_product(p->m, p->op, x->tile[M], x->tile[N], x->tile[K]);
				planned = true;
				schedule(p, x);
			}
			if (!planned || !fits(p, x))
				continue;
			score(p, x);
			keep(x, &best[l << OPERANDS | stay]);
		}
}

/* Columns come in whole grains of the unit that is fastest for all of it, or in any multiple of a small number; of a small
 * unit's grain, so that the last tile is hardly smaller. */
static bool search(const struct product *p, struct nest best[KINDS])
{
	const struct mapping_cfg *fixed = &p->m->c->mapping;
	const int unit = (int)map_product(p->m, p->op, p->size[M], p->size[N], p->size[K]).unit;
	const uint64_t own = map_grain(p->m, unit), deep = ps_max(LEAST_DEEP, map_depth(p->m, unit)),
		       grains[] = { own ? ps_min(own, LEAST_COLS) : LEAST_COLS, own };
	const uint64_t least_k = p->m->c->cores > 1 && p->size[M] > FEW_ROWS ? LEAST_K_MANY : LEAST_K;
	uint64_t ms[MAX_CUTS], ns[MAX_CUTS], ks[MAX_CUTS];
	const int n_m = cuts(p->size[M], 8, LEAST_ROWS / p->finer, fixed->tile_m, ms),
		  n_k = cuts(p->size[K], p->finer > 1 ? LEAST_DEEP : deep, least_k / p->finer, fixed->tile_k, ks);
	struct nest x = { .copied = -1 };
	bool found = false;

	for (int i = 0; i < KINDS; i++)
		best[i].tiles = 0;
	for (int g = 0; g < (own > LEAST_COLS ? 2 : 1); g++) {
		const int n_n = cuts(p->size[N], grains[g], 1, fixed->tile_n, ns);

		for (int i = 0; i < n_m; i++)
			for (int j = 0; j < n_n; j++)
				for (int k = 0; k < n_k; k++) {
					set_tiles(p, &x, (const uint64_t[DIMS]){ ms[i], ns[j], ks[k] });
					orders(p, &x, best);
				}
	}
	for (int i = 0; i < KINDS; i++)
		found |= best[i].tiles > 0;
	return found;
}

/* The product's own moves are the search's to place; what else the group moves and computes stays as it is. */
static void rest_of(struct product *p, const struct map_draft *d)
{
	p->rest = (struct map_flow){ .pre_bytes = 0 };
	p->others = d->fixed_bytes;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct isa_insn *x = &d->insn[i];
		const bool store = x->code == ISA_STORE, moved = store || x->code == ISA_LOAD;
		bool own = false;

		for (int k = 0; k < OPERANDS; k++)
			own |= p->move[k] == x;
		own |= p->beside == x;
		if (own && x->when != ISA_TILE)
			p->others -= x->bytes;
		if (own)
			continue;
		if (moved)
			*(store ? &p->rest.post_bytes : &p->rest.pre_bytes) += x->bytes;
		else
			*(x->when == ISA_POST ? &p->rest.after : &p->rest.before) += x->span;
	}
}

/* The load of an operand with as many values as the result. */
static struct isa_insn *beside(const struct mapper *m, struct map_draft *d, const struct op *o,
                               const struct op_operand *x)
{
	if (m->c->mapping.policy != MAPPING_COPY_FIRST ||
	    m->s->tensors[x->tensor].bytes != dtype_bytes(o->out_dtype, o->shape.m * o->shape.n))
		return NULL;
	for (uint32_t i = 0; i < d->n; i++)
		if (d->insn[i].op == o->id && d->insn[i].tensor == x->tensor && d->insn[i].code == ISA_LOAD)
			return &d->insn[i];
	return NULL;
}

static struct product product_of(const struct mapper *m, struct map_draft *d, const struct op *o)
{
	struct product p = { .m = m, .op = o, .size = { o->shape.m, o->shape.n, o->shape.k } };
	uint32_t reads = 0;

	for (uint32_t k = 0; k < o->n_operands; k++) {
		const struct op_operand *x = &m->s->operands[o->first_operand + k];
		const int which = x->write ? C : reads == 0 ? A : B;

		reads += !x->write;
		if (reads > 2 && !x->write) {
			p.beside = beside(m, d, o, x);
			continue;
		}
		for (uint32_t i = 0; i < d->n; i++)
			if (d->insn[i].op == o->id && d->insn[i].tensor == x->tensor &&
			    d->insn[i].code == (x->write ? ISA_STORE : ISA_LOAD))
				p.move[which] = &d->insn[i];
	}
	if (p.move[A] == p.move[B]) /* a tensor times itself */
		p.move[B] = NULL;
	rest_of(&p, d);
	return p;
}

/* What moves once may as well be called resident. */
static bool same(const struct nest *a, const struct nest *b)
{
	return a->tiles == b->tiles && memcmp(a->tile, b->tile, sizeof a->tile) == 0 &&
	       memcmp(a->loop, b->loop, sizeof a->loop) == 0 && memcmp(a->moves, b->moves, sizeof a->moves) == 0 &&
	       a->slot == b->slot && a->held == b->held;
}

static struct map_nest what_of(const struct nest *x)
{
	struct map_nest n;

	memcpy(n.tile, x->tile, sizeof n.tile);
	memcpy(n.loop, x->loop, sizeof n.loop);
	memcpy(n.resident, x->resident, sizeof n.resident);
	n.copied = x->copied;
	return n;
}

int map_nests(const struct mapper *m, const struct map_draft *d, const struct op *o, bool c_stays, uint32_t slots,
              struct map_nest out[MAP_NESTS])
{
	struct map_draft own;
	struct product p;
	struct nest best[KINDS];
	int n = 0;

	map_draft_copy(&own, d);
	p = product_of(m, &own, o);
	p.c_stays = c_stays;
	/* Two smaller tiles in flight before one alone. */
	for (p.slots = 2, p.finer = 1; !search(&p, best); p.finer = p.finer > 1 ? 1 : FINER) {
		if (p.finer > 1 && p.slots == slots)
			return 0;
		p.slots -= p.finer > 1;
	}
	while (n < MAP_NESTS) {
		struct nest *first = NULL;

		for (int i = 0; i < KINDS; i++)
			if (best[i].tiles && (!first || best[i].rank < first->rank))
				first = &best[i];
		if (!first)
			break;
		out[n] = what_of(first);
		for (int i = 0; i < KINDS; i++)
			if (&best[i] != first && same(&best[i], first))
				best[i].tiles = 0;
		first->tiles = 0;
		n++;
	}
	return n;
}

bool map_nest_take(const struct mapper *m, struct map_draft *d, const struct op *o, const struct map_nest *n)
{
	struct product p = product_of(m, d, o);
	struct nest x;

	set_tiles(&p, &x, n->tile);
	memcpy(x.loop, n->loop, sizeof x.loop);
	memcpy(x.resident, n->resident, sizeof x.resident);
	x.copied = n->copied;
	x.math = map_product(m, o, x.tile[M], x.tile[N], x.tile[K]);
	schedule(&p, &x);
	score(&p, &x);
	map_nest_put(d, &p, &x);
	return true;
}

/* --- the policy `copy_first` (map_int.h) ------------------------------------------------------------------------- */

/* Powers of two from `least` on, and all of it. */
static int powers(uint64_t size, uint64_t least, uint64_t out[MAX_CUTS])
{
	int n = 0;

	for (uint64_t tile = least; tile < size && n + 1 < MAX_CUTS; tile *= 2)
		out[n++] = tile;
	out[n++] = size;
	return n;
}

/* The larger of the operands that fit beside what streams; -1: none does. */
static int copied_whole(const struct product *p)
{
	const uint64_t stream = p->m->c->mapping.stream, room = p->m->sram > stream ? p->m->sram - stream : 0;
	int which = -1;

	for (int i = A; i <= B; i++)
		if (p->move[i] && p->move[i]->bytes <= room && (which < 0 || p->move[i]->bytes > p->move[which]->bytes))
			which = i;
	return which;
}

/* Both orders of the loops of one cut; what streams and the sums stay within their budget. */
static void copied_orders(const struct product *p, struct nest *x, struct nest *best)
{
	const uint64_t whole = x->copied < 0 ? 0 : p->move[x->copied]->bytes;

	x->math = map_product(p->m, p->op, x->tile[M], x->tile[N], x->tile[K]);
	for (int l = 0; l < n_orders(x); l++) {
		memcpy(x->loop, loops[l], sizeof x->loop);
		schedule(p, x);
		if (x->tiles > MOST_TILES || x->held - whole + 2 * x->slot > p->m->c->mapping.stream ||
		    x->held + p->others + 2 * x->slot > p->m->sram)
			continue;
		score(p, x);
		if (!best->tiles || x->predicted < best->predicted)
			*best = *x;
	}
}

static struct nest best_copied(const struct product *p)
{
	struct nest x = { .copied = (int8_t)copied_whole(p) }, best = { .tiles = 0 };
	uint64_t ms[MAX_CUTS], ns[MAX_CUTS], ks[MAX_CUTS];
	const int n_m = powers(p->size[M], LEAST_BLOCK_M, ms), n_n = powers(p->size[N], LEAST_BLOCK, ns),
		  n_k = powers(p->size[K], LEAST_BLOCK, ks);

	if (x.copied >= 0)
		x.resident[x.copied] = true;
	for (int i = 0; i < n_m; i++)
		for (int j = 0; j < n_n; j++)
			for (int k = 0; k < n_k; k++) {
				set_tiles(p, &x, (const uint64_t[DIMS]){ ms[i], ns[j], ks[k] });
				copied_orders(p, &x, &best);
			}
	return best;
}

bool map_nest_copied(const struct mapper *m, const struct map_draft *d, const struct op *o, struct map_nest *out)
{
	struct map_draft own;
	struct product p;
	struct nest best;

	map_draft_copy(&own, d);
	p = product_of(m, &own, o);
	best = best_copied(&p);
	*out = what_of(&best);
	return best.tiles > 0;
}
