/* map_search.c - the mapspace of a product, and the best of it by the cost model (map_cost.h).
 *
 * A candidate is a tile (m, n and k), an order of the loops, the operands that stay in SRAM, a unit and a cut over cores. Tiles
 * come from the shape alone: whole, powers of two and three times those, and parts in whole grains (tiles_of); orders and
 * what stays are all there are; cuts over cores are partition.h's. The only filter is what SRAM holds, so that a larger machine's
 * mapspace holds a smaller one's. Bounds that hold for all mappings of a tile say where to look first: for pairs of m and n by
 * peaks, then by the math of their tiles; the search ends where no pair's bound is less than the best by more than PRUNED.
 * What may be in a tile is bounded again, cheap bounds first, before it is planned, before it is cut and before it is evaluated.
 * Of each order and each set of operands that stay the best is kept, and the best few of those go to the evaluator. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/map/map_cost.h"

#define MAX_TILES_OF   64
#define LEAST          8
#define GRAIN_MOST     128
#define PARTS_MOST     64
#define WANTED         5     /* for the evaluator: until there are so many, who is WORTH_KEEPING is looked at */
#define PRUNED         0.005 /* of the best: what a candidate has to gain to be looked at */
#define WORTH_KEEPING  1.15  /* times the best, for the evaluator */
#define KINDS          (2 << OPERANDS)
#define BEST           3          /* kept of each order and each set that stays */
#define MOST_EVALUATED (1u << 17) /* tiles of all that go to the evaluator, who walks over them */

struct search {
	const struct product *p;
	const struct map_levels *l;
	struct kept {
		struct nest nest;
		double time, moved; /* time: map_cost.rank */
	} best[KINDS][BEST];        /* nest.tiles 0: none; the best first */
	double least;
	double bound;   /* what no candidate is under */
	uint64_t space; /* tiles of m, n and k that may fit */
	uint32_t kept;  /* for the evaluator, so far */
	double fastest, all,
		near;     /* ps: a multiply-add on the fastest unit; all that is in DRAM once; a byte into SRAM */
	double port, sum; /* ps a byte into all cores; and of their partial sums */
	double ends;      /* latency of the first load and of the last store */
	uint32_t slots;
	int only; /* the unit that computes; -1: any that is no last resort */
};

/* --- tiles ------------------------------------------------------------------------------------------------- */

static int add_tile(uint64_t tile, uint64_t size, uint64_t *out, int n)
{
	if (tile < 1 || tile > size || n == MAX_TILES_OF)
		return n;
	for (int i = 0; i < n; i++)
		if (out[i] == tile)
			return n;
	out[n] = tile;
	return n + 1;
}

static int larger_first(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* Of a dimension: the whole, 2^i and 3 x 2^i from LEAST on, and parts of it in whole grains; of k, which no result has, the
 * parts alone. */
static int tiles_of(uint64_t size, bool powers, uint64_t fixed, uint64_t out[MAX_TILES_OF])
{
	int n = add_tile(size, size, out, 0);

	if (fixed) {
		out[0] = ps_min(size, fixed);
		return 1;
	}
	for (uint64_t t = LEAST; powers && t < size; t *= 2) {
		n = add_tile(t, size, out, n);
		n = add_tile(t / 2 * 3, size, out, n);
	}
	for (uint64_t parts = 2; parts <= PARTS_MOST; parts += parts < 8             ? 1
	                                                       : parts & (parts - 1) ? parts / 3
	                                                                             : parts / 2) {
		const uint64_t one = div_up(size, parts);
		uint64_t grain = LEAST;

		while (grain < GRAIN_MOST && grain * 16 <= one)
			grain *= 2;
		if (one < LEAST)
			break;
		n = add_tile(round_up(one, grain), size, out, n);
	}
	qsort(out, (size_t)n, sizeof *out, larger_first);
	return n;
}

/* --- bounds ------------------------------------------------------------------------------------------------ */

static bool moves(const struct product *p, int i)
{
	return p->move[i] && !p->free[i];
}

/* How often all of A or B moves at the least: once, if it may lie in SRAM whole or no loop inside its own repeats it. */
static double again(const struct search *s, const struct nest *x, int i, bool inner)
{
	const uint64_t bytes = s->p->move[i]->bytes;

	return bytes <= s->p->capacity || (inner && x->trips[K] == 1) ? 1 : (double)x->trips[i == A ? N : M];
}

/* Bytes that are loaded, in the better order. */
static double loaded(const struct search *s, const struct nest *x)
{
	double least = 1e300;

	for (int order = 0; order < 2; order++) {
		double n = 0;

		for (int i = A; i <= B; i++)
			if (moves(s->p, i))
				n += (double)s->p->move[i]->bytes * again(s, x, i, order == i);
		least = n < least ? n : least;
	}
	return least;
}

/* Of the first tile. */
static double loaded_first(const struct search *s, const struct nest *x)
{
	double n = 0;

	for (int i = A; i <= B; i++)
		if (moves(s->p, i)) {
			double tile = (double)s->p->move[i]->bytes;

			for (int d = 0; d < DIMS; d++)
				tile *= has[i][d] ? (double)x->tile[d] / (double)s->p->size[d] : 1;
			n += tile;
		}
	return n;
}

/* Little's law: each tile of B that moves by itself has a place in SRAM from its request until it is multiplied. */
static double in_flight(const struct search *s, const struct nest *x)
{
	const double tiles = (double)(x->trips[N] * x->trips[K]),
		     places = (double)ps_min(s->l->stages, s->l->outstanding);
	double one = s->fastest;

	if (!moves(s->p, B) || tiles <= places || (x->trips[M] > 1 && s->p->move[B]->bytes <= s->p->m->c->dma.tile))
		return 0;
	for (int d = 0; d < DIMS; d++)
		one *= (double)s->p->size[d] / (double)x->trips[d];
	return tiles / places * (s->l->hit + one) + (double)s->p->move[B]->bytes * s->near / places - s->ends;
}

/* However a tile is cut over cores, a core takes in no less than by square parts: of A and B together 2 sqrt(A B parts). Of k
 * in parts it is less, and they exchange their sums. */
static double taken_in(const struct search *s, const struct nest *x)
{
	const double a = (double)s->p->move[A]->bytes, b = (double)s->p->move[B]->bytes,
		     sums = 4.0 * (double)s->p->size[M] * (double)s->p->size[N] * s->sum;
	double least = 1e300;

	for (uint32_t k = 1; k <= s->l->cores && k <= x->tile[K]; k *= 2)
		for (int order = 0; order < 2; order++) {
			const double in = 2 * sqrt(a * again(s, x, A, order == A) * b * again(s, x, B, order == B) *
			                           s->l->cores / k),
				     swap = sums * (k - 1), ports = in * s->port + (s->l->noc.port ? swap : 0),
				     engines = in * s->l->dma + swap * s->l->swap,
				     most = ports > engines ? ports : engines;

			least = most < least ? most : least;
		}
	return least;
}

/* What no mapping with such tiles is under, whatever unit, cut, order and what stays: all math behind the first tile's loads,
 * and all loads before the last tile's math. `math`: of the pair, or 0. As soon as it is known to be `most` or more, any bound that
 * is will do. */
static double tile_bound(const struct search *s, const struct nest *x, double math, double most)
{
	const struct product *p = s->p;
	const double beside = s->ends + map_overhead(p->m, x->tiles);
	double last = s->fastest, all = s->fastest, t;

	for (int d = 0; d < DIMS; d++) {
		last *= (double)(p->size[d] - x->tile[d] * (x->trips[d] - 1));
		all *= (double)p->size[d];
	}
	all = (math > all ? math : all) + loaded_first(s, x) * s->near + s->l->sync * (double)(x->tiles - 1);
	t = loaded(s, x) * s->near;
	t = (t > s->all ? t : s->all) + last;
	t = t > all ? t : all;
	all = in_flight(s, x);
	t = t > all ? t : all;
	if (beside + t >= most)
		return beside + t;
	all = moves(p, A) && moves(p, B) ? taken_in(s, x) : 0;
	return beside + (t > all ? t : all);
}

/* What a candidate has to take less than: while there are few for the evaluator, hardly more than the best. */
static double worth(const struct search *s)
{
	return (s->kept < WANTED ? WORTH_KEEPING : 1 - PRUNED) * s->least;
}

/* What a nest that is planned has to take less than: costs hardly more than its bound, so nothing is gained by leaving out one that
 * may be better. */
static double planned_worth(const struct search *s)
{
	return (s->kept < WANTED ? WORTH_KEEPING : 1) * s->least;
}

/* --- the search -------------------------------------------------------------------------------------------- */

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

static bool better(const struct kept *a, const struct kept *b)
{
	return !b->nest.tiles || a->time < b->time || (a->time == b->time && a->moved < b->moved);
}

static void map_search_keep(struct search *s, const struct nest *x, int kind)
{
	const struct map_cost c = map_cost(s->p, s->l, x);
	struct kept y = { .nest = *x, .time = c.rank, .moved = c.moved }, *best = s->best[kind];

	y.nest.predicted = (ps_t)c.time;
	s->kept += c.rank < WORTH_KEEPING * s->least;
	for (int i = 0; i < BEST; i++) {
		struct kept other = best[i];

		if (!better(&y, &other))
			continue;
		best[i] = y;
		if (!other.nest.tiles || memcmp(y.nest.tile, other.nest.tile, sizeof y.nest.tile) == 0)
			break; /* the same on another unit, or cut otherwise */
		y = other;
	}
	s->least = c.rank < s->least ? c.rank : s->least;
}

/* What moves once may as well be called resident. */
static bool map_search_same(const struct nest *a, const struct nest *b)
{
	return a->tiles == b->tiles && memcmp(a->tile, b->tile, sizeof a->tile) == 0 &&
	       memcmp(a->loop, b->loop, sizeof a->loop) == 0 && memcmp(a->moves, b->moves, sizeof a->moves) == 0 &&
	       a->slot == b->slot && a->held == b->held;
}

static bool was_seen(const struct nest *seen, int n, const struct nest *x)
{
	for (int i = 0; i < n; i++)
		if (map_search_same(&seen[i], x))
			return true;
	return false;
}

/* All orders of a cut on a unit, and all that may stay; of those that come to the same the first. */
static void all_orders(struct search *s, struct nest *x)
{
	struct nest seen[KINDS];
	int n = 0;

	for (int l = 0; l < map_nest_n_orders(x); l++)
		for (int stay = 0; stay < 1 << OPERANDS; stay++) {
			const int kind = l << OPERANDS | stay;

			if (is_other(s->p, x, l, stay) || (s->p->c_stays && !(stay >> C & 1)) ||
			    (stay >> A & 1 && x->trips[N] == 1) || (stay >> B & 1 && x->trips[M] == 1))
				continue;
			memcpy(x->loop, map_nest_orders[l], sizeof x->loop);
			for (int i = 0; i < OPERANDS; i++)
				x->resident[i] = stay >> i & 1;
			map_nest_schedule(s->p, x);
			if (!map_nest_fits(s->p, x, s->slots) || was_seen(seen, n, x))
				continue;
			if (!n)
				map_nest_plan_edges(s->p, x);
			seen[n++] = *x;
			if (map_cost_bound(s->p, s->l, x) >= planned_worth(s))
				continue;
			map_search_keep(s, x, kind);
		}
}

/* More than one tile of an operand: there are places for two, however it stays. */
static bool in_tiles(const struct nest *x, int i)
{
	for (int d = 0; d < DIMS; d++)
		if (has[i][d] && x->trips[d] > 1)
			return true;
	return false;
}

/* Whether SRAM may hold it: sums, and of A and B the tiles that all cores have, each as full as the fullest; spread evenly while
 * it is not cut. */
static bool may_fit(const struct search *s, const struct nest *x)
{
	const struct unit_split *split = &x->math.plan.split;
	const uint64_t sums = s->p->m->c->mapping.sums * x->tile[M] * x->tile[N] * ps_max(1, split->k);
	uint64_t bytes = x->trips[K] > 1 ? sums : 0;

	for (int i = A; i <= B; i++) {
		const uint64_t b = moves(s->p, i) ? map_nest_bytes(s->p, i, x->tile) : 0;

		bytes += (in_tiles(x, i) ? s->slots : 1) * map_partition_bytes(s->p->m, split, i, x->tile, b);
	}
	return bytes <= s->p->capacity;
}

/* Of a tile's math; longer, all of them together would take longer than the best, behind the first tile's loads. */
static ps_t most_of_tile(const struct search *s, const struct nest *x, double first, double most)
{
	double full = 1, t;

	for (int d = 0; d < DIMS; d++)
		full *= (double)(x->trips[d] - (x->trips[d] > 1 && s->p->size[d] % x->tile[d] ? 1 : 0));
	t = (most - s->ends - map_overhead(s->p->m, x->tiles) - first) / full;
	return t < 0 ? 0 : t < 1e17 ? (ps_t)t : PS_NEVER - 1;
}

static void one_tile(struct search *s, const uint64_t tile[DIMS], double math)
{
	struct nest x = { .preloaded = -1 };
	struct map_math ways[MAP_PARTITIONS];
	struct partition_limits limits = { .capacity = UINT64_MAX };
	int n;

	map_nest_cut(s->p, &x, tile);
	if (x.tiles > MAP_MOST_TILES || !may_fit(s, &x) || tile_bound(s, &x, math, worth(s)) >= worth(s))
		return;
	limits.span = most_of_tile(s, &x, loaded_first(s, &x) * s->near, worth(s));
	if (moves(s->p, A) && moves(s->p, B))
		limits.capacity = s->p->capacity / (in_tiles(&x, A) && in_tiles(&x, B) ? s->slots : 1);
	n = map_products(s->p->m, s->p->op, tile[M], tile[N], tile[K], s->only, &limits, ways);
	for (int i = 0; i < n; i++) {
		x.math = ways[i];
		if (may_fit(s, &x))
			all_orders(s, &x);
	}
}

/* Tiles of m and n, and what no mapping in them is under, whatever k's tile. */
struct pair {
	uint64_t m, n;
	double math, least; /* math: of all tiles; 0: not known yet */
	uint64_t fit;       /* of k's tiles, so many with which they may fit */
};

/* What all math takes in tiles of m and n at the least, however k is cut: in pieces it takes no less than in one. 1e300 and
 * more: no unit can. */
static double math_of(const struct search *s, uint64_t m, uint64_t n)
{
	const struct partition_limits any = { PS_NEVER - 1, UINT64_MAX };
	struct nest x = { .preloaded = -1 };
	struct map_math ways[MAP_PARTITIONS];
	double least = 1e300, full = 1, all = 1;
	int k;

	map_nest_cut(s->p, &x, (const uint64_t[DIMS]){ m, n, s->p->size[K] });
	k = map_products(s->p->m, s->p->op, m, n, s->p->size[K], s->only, &any, ways);
	while (k-- > 0)
		least = (double)ways[k].plan.span < least ? (double)ways[k].plan.span : least;
	for (int d = 0; d < DIMS; d++) {
		full *= (double)(s->p->size[d] / x.tile[d]);
		all *= (double)s->p->size[d];
	}
	return least * full + (all - full * (double)m * (double)n * (double)s->p->size[K]) * s->fastest;
}

static bool later(const struct pair *a, const struct pair *b)
{
	return a->least > b->least || (a->least == b->least && (a->m < b->m || (a->m == b->m && a->n < b->n)));
}

/* A heap: the pair of the least bound is first. */
static void sink(struct pair *h, int n, int i)
{
	const struct pair x = h[i];

	for (int c = 2 * i + 1; c < n; c = 2 * i + 1) {
		c += c + 1 < n && later(&h[c], &h[c + 1]);
		if (!later(&x, &h[c]))
			break;
		h[i] = h[c];
		i = c;
	}
	h[i] = x;
}

/* The least bound of all tiles of m and n. */
static void bound_pair(const struct search *s, struct pair *y, const uint64_t *ks, int n_k)
{
	y->least = 1e300;
	y->fit = 0;
	for (int k = 0; k < n_k; k++) {
		struct nest x = { .preloaded = -1 };
		double t;

		map_nest_cut(s->p, &x, (const uint64_t[DIMS]){ y->m, y->n, ks[k] });
		if (x.tiles > MAP_MOST_TILES || !may_fit(s, &x))
			continue;
		t = tile_bound(s, &x, y->math, y->least);
		y->least = t < y->least ? t : y->least;
		y->fit++;
	}
}

/* Best first: a pair's bound is by peaks, then by the math of its tiles; its tiles are planned when no other's is less. */
static void all_tiles(struct search *s)
{
	const struct mapping_cfg *fixed = &s->p->m->c->mapping;
	uint64_t ms[MAX_TILES_OF], ns[MAX_TILES_OF], ks[MAX_TILES_OF];
	const int n_m = tiles_of(s->p->size[M], true, fixed->tile_m, ms),
		  n_n = tiles_of(s->p->size[N], true, fixed->tile_n, ns),
		  n_k = tiles_of(s->p->size[K], false, fixed->tile_k, ks);
	struct pair heap[MAX_TILES_OF * MAX_TILES_OF];
	int n = 0;

	for (int i = 0; i < n_m; i++)
		for (int j = 0; j < n_n; j++) {
			struct pair y = { .m = ms[i], .n = ns[j] };

			bound_pair(s, &y, ks, n_k);
			s->space += y.fit;
			if (y.fit)
				heap[n++] = y;
		}
	for (int i = n / 2; i-- > 0;)
		sink(heap, n, i);
	s->bound = n ? heap[0].least : 0;
	while (n && heap[0].least < worth(s)) {
		struct pair *y = &heap[0];

		if (!(y->math > 0)) {
			y->math = math_of(s, y->m, y->n);
			bound_pair(s, y, ks, n_k);
		} else {
			for (int k = 0; k < n_k; k++)
				one_tile(s, (const uint64_t[DIMS]){ y->m, y->n, ks[k] }, y->math);
			heap[0] = heap[--n];
		}
		sink(heap, n, 0);
	}
}

/* The fastest that any unit multiplies: ps a multiply-add, all cores. */
static double fastest(const struct mapper *m, const struct op *o)
{
	const struct unit_job j = map_job(m, o);
	double most = 0;

	for (int i = 0; i < UNIT_COUNT; i++) {
		double rate = 0;

		if (!unit_table[i]->peak || !m->unit[i].cfg->units)
			continue;
		rate = (double)unit_peak(unit_table[i], &m->unit[i], j.dtype, j.with, j.passes) * (double)m->c->clock *
		       1e3;
		if (j.of && unit_table[i]->sparse && unit_table[i]->sparse(&m->unit[i]))
			rate = rate * j.of / j.keep;
		most = rate > most ? rate : most;
	}
	return most > 0 ? 1e12 / most : 0;
}

/* The least that any unit's last result comes behind its math. */
static double latency(const struct mapper *m, const struct op *o, int only)
{
	const struct partition_limits any = { PS_NEVER - 1, UINT64_MAX };
	struct map_math ways[MAP_PARTITIONS];
	double least = 1e300;

	for (int n = map_products(m, o, 1, 1, 1, only, &any, ways); n-- > 0;)
		least = (double)ways[n].plan.latency < least ? (double)ways[n].plan.latency : least;
	return least < 1e290 ? least : 0;
}

/* Where one is fixed and can, and where there is nothing but a last resort. */
static int only_unit(const struct product *p)
{
	const int unit = (int)map_product(p->m, p->op, p->size[M], p->size[N], p->size[K]).unit;

	return unit_table[unit]->last_resort || (int)p->m->c->mapping.unit - 1 == unit ? unit : -1;
}

/* ps a byte. */
static double per_core(const struct unit_env *u, uint64_t bytes_a_cycle)
{
	return bytes_a_cycle ? 1e9 / (double)u->clock_khz / (double)bytes_a_cycle : 0;
}

static void map_search_begin(struct search *s, const struct product *p, const struct map_levels *l, uint32_t slots)
{
	s->p = p;
	s->l = l;
	s->slots = slots;
	s->only = only_unit(p);
	s->least = 1e300;
	s->kept = 0;
	s->space = 0;
	s->fastest = fastest(p->m, p->op);
	for (int i = 0; i < KINDS * BEST; i++)
		s->best[i / BEST][i % BEST].nest.tiles = 0;
	s->near = l->dma > l->l2 ? l->dma : l->l2;
	s->sum = per_core(&p->m->unit[0], p->m->unit[0].swap) / l->cores;
	s->port = per_core(&p->m->unit[0], p->m->unit[0].port) / l->cores;
	s->all = 0;
	s->ends = l->launch + (moves(p, C) ? l->store : 0) + (moves(p, A) || moves(p, B) ? l->hit : 0);
	for (int i = A; i <= B; i++)
		if (moves(p, i))
			s->all += (double)p->move[i]->bytes * map_cost_far(p, l, i) * l->dram;
	s->ends += (s->all > 0 ? l->miss : 0) + latency(p->m, p->op, s->only);
}

static struct map_nest what_of(const struct nest *x)
{
	struct map_nest n = map_nest_what(x);

	n.unit = x->math.unit;
	n.split = x->math.plan.split;
	return n;
}

/* --- searches that were made ------------------------------------------------------------------------------------- */

static uint64_t hash_double(uint64_t h, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return hash_u64(h, bits);
}

/* All that a search looks at; what else the group does is the same for all of its nests. */
static uint64_t map_search_key_of(const struct product *p, uint32_t slots)
{
	const struct unit_job j = map_job(p->m, p->op);
	uint64_t bytes = 0, h;

	for (int i = 0; i < OPERANDS; i++)
		bytes += p->move[i] ? p->move[i]->bytes : 0;
	h = hash_u64(map_sig(p->m, bytes, false), p->capacity);
	/* Groups of cores have levels of their own. */
	h = hash_double(h, p->m->levels->l2 + p->m->levels->dram);
	h = hash_u64(h, (uint64_t)j.dtype | (uint64_t)j.with << 8 | (uint64_t)j.keep << 16 | (uint64_t)j.of << 24 |
	                        (uint64_t)j.held << 32 | (uint64_t)p->c_stays << 40 | (uint64_t)slots << 48 |
	                        (uint64_t)j.passes << 52);
	h = hash_u64(h, map_split_key(&j.stationary_split));
	for (int i = 0; i < OPERANDS; i++) {
		h = hash_u64(hash_u64(h, p->size[i]), p->move[i] ? p->move[i]->bytes : 0);
		h = hash_double(hash_double(hash_u64(h, p->free[i]), p->far[i]), p->before[i]);
	}
	return h ? h : 1;
}

/* The best few, as far as they are worth the evaluator's time. */
static void pick(struct search *s, struct map_found *f)
{
	uint64_t tiles = 0;

	f->n = 0;
	f->least = s->least;
	f->bound = s->bound;
	f->space = s->space;
	while (f->n < MAP_NESTS) {
		struct kept *first = NULL;

		for (int i = 0; i < KINDS * BEST; i++) {
			struct kept *y = &s->best[i / BEST][i % BEST];

			if (y->nest.tiles && (!first || better(y, first)))
				first = y;
		}
		if (!first || first->time > WORTH_KEEPING * s->least ||
		    (f->n && tiles + first->nest.tiles > MOST_EVALUATED))
			break;
		tiles += first->nest.tiles;
		f->nest[f->n++] = what_of(&first->nest);
		for (int i = 0; i < KINDS * BEST; i++) {
			struct kept *y = &s->best[i / BEST][i % BEST];

			if (y != first && y->nest.tiles && map_search_same(&y->nest, &first->nest))
				y->nest.tiles = 0;
		}
		first->nest.tiles = 0;
	}
}

/* The best that fits the product's capacity. Two tiles in flight before one alone. */
static struct map_found searched(const struct product *p, uint32_t slots)
{
	const uint64_t key = map_search_key_of(p, slots);
	const struct map_found *known = map_memo_find(p->m->memo, MAP_MEMO_FOUND, key);
	struct map_found f;
	struct search s;

	if (known)
		return *known;
	map_search_begin(&s, p, p->m->levels, 2);
	all_tiles(&s);
	if (s.least >= 1e300 && slots < 2) {
		map_search_begin(&s, p, p->m->levels, 1);
		all_tiles(&s);
	}
	pick(&s, &f);
	map_memo_put(p->m->memo, MAP_MEMO_FOUND, key, &f);
	return f;
}

/* Those that a smaller capacity holds; false: they take longer then, or there is none. */
static bool as_good(const struct product *p, uint32_t slots, struct map_found *f)
{
	double least = 1e300;
	int n = 0;

	for (int i = 0; i < f->n; i++) {
		struct nest x;
		double rank;

		map_nest_of(p, &f->nest[i], &x);
		if (!map_nest_fits(p, &x, slots))
			continue;
		map_nest_plan_edges(p, &x);
		rank = map_cost(p, p->m->levels, &x).rank;
		least = rank < least ? rank : least;
		f->nest[n++] = f->nest[i];
	}
	f->n = n;
	return least * (1 - PRUNED) <= f->least;
}

int map_nests(const struct mapper *m, const struct map_candidate *d, const struct op *o, bool c_stays, uint32_t slots,
              struct map_nest out[MAP_NESTS])
{
	struct map_candidate own;
	struct map_found f;
	struct product p;
	uint64_t capacity;
	ps_t beside;

	map_candidate_copy(&own, d);
	p = map_nest_product(m, &own, o);
	p.c_stays = c_stays;
	beside = map_nest_beside(&p);
	p.rest = (struct map_flow){ .ahead = own.ahead };
	/* What is best with all of SRAM is so with less, where it hardly takes longer then: of fewer candidates none is better. */
	capacity = p.capacity;
	p.capacity = m->all_sram;
	f = searched(&p, slots);
	p.capacity = capacity;
	if (capacity < m->all_sram && !as_good(&p, slots, &f))
		f = searched(&p, slots);
	memcpy(out, f.nest, (size_t)f.n * sizeof *out);
	if (m->log && m->log->op == o->id) {
		m->log->space = f.space;
		m->log->bound = (ps_t)f.bound + beside;
	}
	return f.n;
}
