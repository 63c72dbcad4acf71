/* map_nest.c - a product's loops: tiles of m, n and k, their order, what stays in SRAM, and the unit.
 *
 * C[m,n] = A[m,k] B[k,n] is cut into Tm x Tn x Tk tiles. The inner loops are over k, if it is cut, and over n or m. What
 * the inner loops do not change stays: A while n goes by, or B while m does, and the sums of C while k does. An operand
 * of one tile moves once, before the loop or after it; the others move whenever their tile changes. Whatever moves more
 * than once and stays for several tiles has two buffers.
 * Which of them are looked at is map_search.c's; this file says what a nest moves, and the SRAM that it takes.
 * By `mapping.policy: copy_first` none is searched for: map_nest_preloaded (map_int.h) does what a compiler would.
 * Where a dimension ends in a smaller tile, what that moves and takes is its own (map_remainder.c).
 * Leaves out: partial sums that leave SRAM. */
#include <string.h>

#include "sim/map/map_nest.h"

#define MAX_CUTS      40  /* ways to cut a dimension */
#define LEAST_BLOCK_M 128 /* of copy_first */
#define LEAST_BLOCK   256

const uint8_t map_nest_orders[][DIMS] = { { M, N, K }, { N, M, K } };

void map_nest_cut(const struct product *p, struct nest *x, const uint64_t tile[DIMS])
{
	for (int d = 0; d < DIMS; d++) {
		x->tile[d] = tile[d];
		x->trips[d] = div_up(p->size[d], tile[d]);
	}
	x->tiles = x->trips[M] * x->trips[N] * x->trips[K];
}

int map_nest_n_orders(const struct nest *x)
{
	return x->trips[M] > 1 && x->trips[N] > 1 ? 2 : 1;
}

unsigned map_nest_uneven(const struct product *p, const struct nest *x)
{
	unsigned uneven = 0;

	for (int d = 0; d < DIMS; d++)
		uneven |= (unsigned)(x->trips[d] > 1 && p->size[d] % x->tile[d] != 0) << d;
	return uneven;
}

uint64_t map_nest_bytes(const struct product *p, int operand, const uint64_t tile[DIMS])
{
	uint64_t bytes = p->move[operand] ? p->move[operand]->bytes : 0;

	for (int d = 0; d < DIMS && bytes; d++)
		if (has[operand][d])
			bytes = map_rows_bytes(bytes, tile[d], p->size[d]);
	return bytes;
}

/* SRAM that so much of an operand takes: of a tile, or of all of it. */
static uint64_t lies(const struct product *p, const struct nest *x, int i, bool whole, uint64_t bytes)
{
	const uint64_t rows = whole ? p->size[N] * x->trips[K] : x->tile[N];

	if (!bytes)
		return 0;
	return map_partition_bytes(p->m, &x->math.plan.split, i, whole ? p->size : x->tile, bytes) +
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
	if (x->preloaded == i)
		distinct = again = 1;
	x->moves[i] = distinct * again;
	x->again[i] = again;
	x->bytes[i] = map_nest_bytes(p, i, x->moves[i] == 1 ? p->size : x->tile);
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

/* Sums while k goes on, as software keeps them; while cores exchange theirs, in fp32. */
static uint64_t map_nest_sums(const struct product *p, const struct nest *x)
{
	const uint32_t parts = x->math.plan.split.k;
	const uint64_t sums = x->tile[M] * x->tile[N] * (parts ? parts : 1);

	return x->trips[K] > 1 ? p->m->c->mapping.sums * sums : parts > 1 ? 4 * sums : 0;
}

void map_nest_schedule(const struct product *p, struct nest *x)
{
	x->slot = 0;
	x->held = map_nest_sums(p, x);
	for (int i = 0; i < OPERANDS; i++)
		schedule_one(p, x, i);
}

bool map_nest_fits(const struct product *p, const struct nest *x, uint32_t slots)
{
	return x->tiles <= MAP_MOST_TILES && x->held + slots * x->slot <= p->capacity;
}

void map_nest_plan_edges(const struct product *p, struct nest *x)
{
	const unsigned uneven = map_nest_uneven(p, x);

	for (unsigned at = 0; at < 1u << DIMS; at++) {
		uint64_t size[DIMS];
		struct map_math y = x->math;

		if (at & ~uneven)
			continue;
		for (int d = 0; d < DIMS; d++)
			size[d] = at >> d & 1 ? p->size[d] - x->tile[d] * (x->trips[d] - 1) : x->tile[d];
		if (at)
			y = map_product_as(p->m, p->op, &x->math, size[M], size[N], size[K]);
		x->at[at].span = y.plan.span;
		x->at[at].exchange = y.plan.exchange;
	}
}

static void score(const struct product *p, struct nest *x)
{
	struct map_flow f = p->rest;
	uint64_t all = 0;

	f.tiles = x->tiles;
	f.nest = true;
	f.slot = x->slot;
	f.held = x->held + p->others;
	f.math = x->math.plan.span;
	f.latency = x->math.plan.latency;

	for (int i = 0; i < OPERANDS; i++)
		all += p->move[i] ? p->move[i]->bytes : 0;
	for (int i = 0; i < OPERANDS; i++) {
		const uint64_t once = p->move[i] ? p->move[i]->bytes : 0, moved = x->again[i] * once,
			       again = moved - once, ported = x->bytes[i] ? moved / x->bytes[i] * x->lies[i] : 0;

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
	x->predicted = map_predict(p->m, &f);
}

/* The product's own moves are the search's to place; what else the group moves and computes stays as it is. */
static void rest_of(struct product *p, const struct map_candidate *d)
{
	p->rest = (struct map_flow){ .ahead = d->ahead };
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
static struct isa_insn *beside(const struct mapper *m, struct map_candidate *d, const struct op *o,
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

/* Where operands are as the command begins, and what is done to them first. */
static void where(struct product *p)
{
	const struct mapper *m = p->m;
	const double values = 1 << 20;
	struct map_math y;

	for (int i = 0; i < OPERANDS; i++) {
		const struct isa_insn *x = p->move[i];

		if (!x)
			continue;
		p->free[i] = x->pinned || (i == C && x->dst == ISA_SRAM) ||
		             (m->start == MAP_RESIDENT && m->resident[x->tensor]);
		p->far[i] = i == C ? m->back : x->early ? map_far(m, x) : map_from_memory(m, x);
	}
	if (p->move[A] && map_convert(m, p->op, (uint64_t)values, &y))
		p->before[A] =
			(double)y.plan.span / values * (double)(p->size[M] * p->size[K]) / (double)p->move[A]->bytes;
	if (p->move[B] &&
	    map_dequant(m, p->op, map_product(m, p->op, p->size[M], p->size[N], p->size[K]).unit, (uint64_t)values, &y))
		p->before[B] =
			(double)y.plan.span / values * (double)(p->size[N] * p->size[K]) / (double)p->move[B]->bytes;
}

struct product map_nest_product(const struct mapper *m, struct map_candidate *d, const struct op *o)
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
	p.capacity = m->sram > p.others ? m->sram - p.others : 0;
	where(&p);
	return p;
}

ps_t map_nest_beside(const struct product *p)
{
	return p->rest.before + p->rest.after + map_move_time(p->m, p->rest.pre_bytes + p->rest.post_bytes);
}

struct map_nest map_nest_what(const struct nest *x)
{
	struct map_nest n = { .preloaded = x->preloaded, .predicted = x->predicted };

	memcpy(n.tile, x->tile, sizeof n.tile);
	memcpy(n.loop, x->loop, sizeof n.loop);
	memcpy(n.resident, x->resident, sizeof n.resident);
	return n;
}

void map_nest_of(const struct product *p, const struct map_nest *n, struct nest *x)
{
	map_nest_cut(p, x, n->tile);
	memcpy(x->loop, n->loop, sizeof x->loop);
	memcpy(x->resident, n->resident, sizeof x->resident);
	x->preloaded = n->preloaded;
	if (n->split.m) {
		x->math = (struct map_math){ .unit = n->unit, .plan.split = n->split };
		x->math = map_product_as(p->m, p->op, &x->math, n->tile[M], n->tile[N], n->tile[K]);
	} else {
		x->math = map_product(p->m, p->op, n->tile[M], n->tile[N], n->tile[K]);
	}
	map_nest_schedule(p, x);
	x->predicted = n->predicted;
}

bool map_nest_take(const struct mapper *m, struct map_candidate *d, const struct op *o, const struct map_nest *n)
{
	struct product p = map_nest_product(m, d, o);
	struct nest x;

	map_nest_of(&p, n, &x);
	map_nest_emit(d, &p, &x);
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

/* The larger of the operands that are copied where they fit; -1: none does. */
static int preloaded_operand(const struct product *p)
{
	const uint64_t capacity = map_preload_capacity(p->m, p->m->sram);
	int which = -1;

	for (int i = A; i <= B; i++)
		if (p->move[i] && p->move[i]->bytes <= capacity &&
		    (which < 0 || p->move[i]->bytes > p->move[which]->bytes))
			which = i;
	return which;
}

/* Both orders of the loops of one cut; what streams and the sums stay within their budget. */
static void preloaded_orders(const struct product *p, struct nest *x, struct nest *best)
{
	const uint64_t whole = x->preloaded < 0 ? 0 : p->move[x->preloaded]->bytes;

	x->math = map_product(p->m, p->op, x->tile[M], x->tile[N], x->tile[K]);
	for (int l = 0; l < map_nest_n_orders(x); l++) {
		memcpy(x->loop, map_nest_orders[l], sizeof x->loop);
		map_nest_schedule(p, x);
		if (x->tiles > MAP_MOST_TILES || x->held - whole + 2 * x->slot > p->m->c->mapping.stream ||
		    x->held + p->others + 2 * x->slot > p->m->sram)
			continue;
		score(p, x);
		if (!best->tiles || x->predicted < best->predicted)
			*best = *x;
	}
}

static struct nest best_preloaded(const struct product *p)
{
	struct nest x = { .preloaded = (int8_t)preloaded_operand(p) }, best = { .tiles = 0 };
	uint64_t ms[MAX_CUTS], ns[MAX_CUTS], ks[MAX_CUTS];
	const int n_m = powers(p->size[M], LEAST_BLOCK_M, ms), n_n = powers(p->size[N], LEAST_BLOCK, ns),
		  n_k = powers(p->size[K], LEAST_BLOCK, ks);

	if (x.preloaded >= 0)
		x.resident[x.preloaded] = true;
	for (int i = 0; i < n_m; i++)
		for (int j = 0; j < n_n; j++)
			for (int k = 0; k < n_k; k++) {
				map_nest_cut(p, &x, (const uint64_t[DIMS]){ ms[i], ns[j], ks[k] });
				preloaded_orders(p, &x, &best);
			}
	return best;
}

bool map_nest_preloaded(const struct mapper *m, const struct map_candidate *d, const struct op *o, struct map_nest *out)
{
	struct map_candidate own;
	struct product p;
	struct nest best;

	map_candidate_copy(&own, d);
	p = map_nest_product(m, &own, o);
	best = best_preloaded(&p);
	*out = map_nest_what(&best);
	return best.tiles > 0;
}
