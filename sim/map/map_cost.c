#include "sim/map/map_cost.h"

#include <string.h>

#include "arch/mem/cache_lru.h"

/* PLACES: in SRAM, for tiles in flight; nobody runs ahead of them. */
enum server { DRAM, L2, UP, DOWN, DMA, SWAP, BESIDE, UNIT, PLACES, SERVERS };

/* A run of tiles. */
struct seg {
	double time, n;
	double lead, first, turn; /* of its first tile: pace; of it, the units' part; longest in SRAM */
	double v[SERVERS], idle[SERVERS],
		head[SERVERS]; /* busy, all of it; idle in its last tiles; busy with the first */
};

/* What of an operand one tile of a class moves. */
struct piece {
	double bytes, l2, net, dma, least; /* least: what the fullest DRAM channel needs for all of it */
};

struct eval {
	const struct product *p;
	const struct map_levels *l;
	const struct nest *x;
	struct piece piece[OPERANDS][1 << DIMS]; /* by the dimensions that are in their last round */
	unsigned dims[OPERANDS], uneven;
	double fresh[OPERANDS], again[OPERANDS]; /* the part of what moves that misses: the first time, and later */
	double back;                             /* DRAM's time for write-backs, a tile */
	double places;                           /* tiles in flight */
	double deep;                             /* of them, those that matter: no more than there are */
};

static double more(double a, double b)
{
	return a > b ? a : b;
}

static double less(double a, double b)
{
	return a < b ? a : b;
}

/* --- the machine ------------------------------------------------------------------------------------------- */

static double per_byte(uint64_t bytes_per_s)
{
	return bytes_per_s ? 1e12 / (double)bytes_per_s : 0;
}

void map_levels(const struct mapper *m, struct map_levels *l)
{
	const struct machine_cfg *c = m->c;
	struct map_dram d = { .read = per_byte(dram_peak(&c->mem.dram)),
		              .write = per_byte(dram_peak(&c->mem.dram)),
		              .latency = dram_unloaded(&c->mem.dram, DRAM_ROW_EMPTY) };
	double behind;

	if (m->evaluator && m->evaluator->dram)
		m->evaluator->dram(m->evaluator->self, &d);
	*l = (struct map_levels){ .dram = d.read,
		                  .dram_write = d.write,
		                  .swap = (double)machine_core_port(c) / (double)dma_rate(&c->dma, 1),
		                  .dma = per_byte(dma_rate(&c->dma, c->cores) * c->clock * 1000),
		                  .sync = (double)c->dma.sync,
		                  .launch = (double)c->dispatch.launch,
		                  .wait = (double)dispatch_wait(&c->dispatch, &(struct isa_cmd){ .n_ops = 1 }),
		                  .unit = d.unit,
		                  .interleave = d.interleave,
		                  .units = d.units,
		                  .cache = c->mem.l2.size,
		                  .ways = ps_max(1, c->mem.l2.ways),
		                  .stages = c->dma.stages,
		                  .overlap = c->mapping.overlap / 1e6,
		                  .outstanding = c->dma.outstanding,
		                  .cores = c->cores,
		                  .noc = noc_shape(&c->mem.noc, c->clock) };
	behind = (double)(c->dma.setup + 2 * l->noc.latency);
	if (c->mem.l2.size) {
		l->l2 = per_byte(l2_bandwidth(&c->mem.l2, c->clock));
		behind += (double)(c->mem.l2.latency + (c->mem.l2.partitions > 1 ? c->mem.l2.far_latency : 0));
	}
	l->hit = l->store = behind;
	l->miss = (double)(d.latency + (c->mem.l2.size ? c->mem.l2.miss_latency : 0));
	if (!c->mem.l2.size)
		l->store += l->miss;
}

/* --- bytes ------------------------------------------------------------------------------------------------- */

/* Of a working set of so many bytes, the part that is lost before it is used again. */
static double lost(const struct map_levels *l, double bytes)
{
	return l->cache ? cache_lost(bytes, (double)l->cache, (uint32_t)l->ways) : 1;
}

static double map_cost_whole(const struct product *p, int i)
{
	return p->move[i] ? (double)p->move[i]->bytes : 0;
}

/* Distinct bytes of an operand that pass in one round of a loop; what stays through it or moves once passes none. */
static double passing(const struct product *p, const struct nest *x, int i, int loop)
{
	double n = (double)x->bytes[i];

	if (!p->move[i] || x->moves[i] == 1 || x->stays[i] >> loop & 1)
		return 0;
	for (int l = loop + 1; l < DIMS; l++)
		n *= has[i][x->loop[l]] ? (double)x->trips[x->loop[l]] : 1;
	return less(n, map_cost_whole(p, i));
}

/* Between two uses of a tile of an operand that does not stay lies one round of the innermost loop that repeats it. */
static double lost_again(const struct product *p, const struct map_levels *l, const struct nest *x, int i)
{
	for (int n = DIMS - 1; n >= 0; n--) {
		double between = 0;

		if (has[i][x->loop[n]] || x->trips[x->loop[n]] == 1 || x->stays[i] >> n & 1)
			continue;
		for (int y = 0; y < OPERANDS; y++)
			between += passing(p, x, y, n);
		return lost(l, between);
	}
	return 0;
}

/* And what it left in the L2 is what it finds. */
static bool follows_itself(const struct product *p, const struct map_levels *l)
{
	return l->cache && p->m->alone && p->m->start == MAP_STEADY;
}

/* The part of an operand that a pass finds in DRAM. A stream of one op follows itself: where its outermost loop reads an operand
 * once a round, the last round of the pass before was the last to, and not all that the pass moves lies between. */
static double fresh(const struct product *p, const struct map_levels *l, const struct nest *x, int i)
{
	double between = 0;
	int n = 0;

	if (!follows_itself(p, l) || x->moves[i] == 1)
		return l->cache ? p->far[i] : 1;
	while (n < DIMS - 1 && x->trips[x->loop[n]] == 1)
		n++;
	if (has[i][x->loop[n]] || x->stays[i] >> n & 1)
		return p->far[i];
	for (int y = 0; y < OPERANDS; y++) /* and what moves before the loop or behind it */
		between += x->moves[y] == 1 || x->stays[y] >> n & 1 ? map_cost_whole(p, y) : passing(p, x, y, n);
	return less(p->far[i], lost(l, between));
}

static double fullest_channel(const struct map_levels *l, uint64_t bytes)
{
	if (!l->units || bytes < l->interleave)
		return l->unit * (double)bytes;
	return l->unit * (double)(l->interleave * div_up(div_up(bytes, l->interleave), l->units));
}

double map_cost_far(const struct product *p, const struct map_levels *l, int i)
{
	if (!follows_itself(p, l))
		return l->cache ? p->far[i] : 1;
	return less(p->far[i], lost(l, map_cost_whole(p, i)));
}

static struct piece piece_of(const struct product *p, const struct map_levels *l, const struct nest *x, int i,
                             const uint64_t tile[DIMS], uint64_t bytes)
{
	const struct unit_split *s = &x->math.plan.split;
	const uint32_t copies = i == C || !s->m ? 1 : partition_copies(s, (enum partition_operand)i);
	const uint64_t share = map_share(p->m, s, i, tile, bytes);
	struct mem_req r = { .bytes = bytes, .copies = copies > 1 ? copies : 0, .share = share, .write = i == C };
	uint64_t load;

	return (struct piece){ .bytes = (double)bytes,
		               .l2 = (double)bytes * l->l2,
		               .least = fullest_channel(l, bytes),
		               .net = (double)noc_span(&l->noc, l->cores, &r, &load),
		               .dma = (double)(share ? share * l->cores : bytes) * l->dma };
}

static unsigned dims_of(int i)
{
	return (unsigned)(has[i][M] << M | has[i][N] << N | has[i][K] << K);
}

/* A tile in the last round of the loops over some dimensions. */
static void tile_at(const struct product *p, const struct nest *x, unsigned at, uint64_t tile[DIMS])
{
	for (int d = 0; d < DIMS; d++)
		tile[d] = at >> d & 1 ? p->size[d] - x->tile[d] * (x->trips[d] - 1) : x->tile[d];
}

static void pieces(struct eval *e, int i)
{
	const struct product *p = e->p;
	const struct nest *x = e->x;
	const bool once = x->moves[i] == 1;
	uint64_t tile[DIMS];

	if (once) {
		e->piece[i][0] = piece_of(p, e->l, x, i, p->size, p->move[i]->bytes);
		return;
	}
	e->piece[i][0] = piece_of(p, e->l, x, i, x->tile, x->bytes[i]);
	for (unsigned at = 1; at < 1u << DIMS; at++) {
		if (at & ~(e->uneven & e->dims[i]))
			continue;
		tile_at(p, x, at, tile);
		e->piece[i][at] = piece_of(p, e->l, x, i, tile, map_nest_bytes(p, i, tile));
	}
}

/* Where not all transfers hide behind math, a part of the tiles waits for those before. */
static bool tiles_wait(const struct product *p, const struct map_levels *l)
{
	return l->overlap < 1 && !p->rest.ahead;
}

/* Tiles in flight: as many as SRAM has places, as stages, as loads that may be under way. */
static double places_of(const struct product *p, const struct map_levels *l, const struct nest *x)
{
	const uint64_t capacity = p->capacity > x->held ? p->capacity - x->held : 0;
	double places = x->slot ? (double)(capacity / x->slot) : (double)l->stages;
	uint64_t loads = 0;

	for (int i = A; i <= B; i++)
		loads += p->move[i] && !p->free[i] && x->moves[i] > 1;
	places = less(places, (double)l->stages);
	places = more(1, less(places, (double)(l->outstanding / ps_max(1, loads))));
	return tiles_wait(p, l) ? map_places(places, l->overlap) : places;
}

static void prepare(struct eval *e)
{
	const struct product *p = e->p;
	const struct nest *x = e->x;

	e->uneven = map_nest_uneven(p, x);
	for (int i = 0; i < OPERANDS; i++) {
		e->dims[i] = dims_of(i);
		if (!p->move[i] || p->free[i])
			continue;
		pieces(e, i);
		e->fresh[i] = fresh(p, e->l, x, i);
		e->again[i] = more(lost_again(p, e->l, x, i), 0);
	}
	if (e->l->cache && p->move[C] && !p->free[C])
		e->back = map_cost_whole(p, C) * p->far[C] * e->l->dram_write / (double)x->tiles;
	e->places = places_of(p, e->l, x);
	e->deep = less(e->places, (double)x->tiles) - 1;
}

/* --- a class of tiles -------------------------------------------------------------------------------------- */

/* Dimensions in the last of several rounds. */
static unsigned edge_of(const struct nest *x, unsigned last)
{
	unsigned at = 0;

	for (int l = 0; l < DIMS; l++)
		at |= (last >> l & 1u && x->trips[x->loop[l]] > 1 ? 1u : 0u) << x->loop[l];
	return at;
}

/* Whether a tile of an operand was moved before: a loop that repeats it is not in its first round. */
static bool repeated(const struct nest *x, int i, unsigned first)
{
	for (int l = 0; l < DIMS; l++)
		if (!has[i][x->loop[l]] && !(x->stays[i] >> l & 1) && !(first >> l & 1))
			return true;
	return false;
}

/* Loads of the class; returns when the last is there. */
static double map_cost_load(const struct eval *e, unsigned first, unsigned at, struct seg *s)
{
	double far = 0, any = 0, least = 0;

	for (int i = A; i <= B; i++) {
		const struct piece *q = &e->piece[i][at & e->dims[i]];
		double miss;

		if (!e->p->move[i] || e->p->free[i] || e->x->moves[i] == 1 || (e->x->stays[i] & ~first))
			continue;
		miss = repeated(e->x, i, first) ? e->again[i] : e->fresh[i];
		s->v[DRAM] += miss * q->bytes * e->l->dram;
		s->v[L2] += q->l2;
		s->v[UP] += q->net;
		s->v[DMA] += q->dma;
		s->v[BESIDE] += e->p->before[i] * q->bytes;
		far = more(far, miss > 0 ? e->l->miss : 0);
		least = more(least, miss * q->least);
		any = e->l->hit;
	}
	return any + far + more(more(more(s->v[DRAM], least), s->v[L2]), more(s->v[UP], s->v[DMA]));
}

static int down_of(const struct map_levels *l)
{
	return l->noc.one_way ? UP : DOWN;
}

/* Cores swap partial sums: their engines, and ports and links both ways, carry nothing else meanwhile. */
static void swap(const struct map_levels *l, double t, double v[SERVERS])
{
	v[SWAP] += t;
	v[DMA] += t * l->swap;
	if (!l->noc.port)
		return;
	v[UP] += t;
	if (!l->noc.one_way)
		v[DOWN] += t;
}

/* An exchange is over when ports and engines are. */
static double exchanged(const struct map_levels *l, double t)
{
	return t * more(1, l->swap);
}

/* The store of the class, and what cores exchange before; returns what the two take. */
static double map_cost_store(const struct eval *e, unsigned last, unsigned at, struct seg *s)
{
	const struct piece *q = &e->piece[C][at & e->dims[C]];
	double t, far;

	if (e->x->moves[C] == 1 || (e->x->stays[C] & ~last))
		return 0;
	t = e->x->at[at & e->dims[C]].exchange;
	swap(e->l, t, s->v);
	t = exchanged(e->l, t);
	if (!e->p->move[C] || e->p->free[C])
		return t;
	far = e->l->cache ? 0 : q->bytes * e->l->dram_write;
	s->v[down_of(e->l)] += q->net;
	s->v[DMA] += q->dma;
	s->v[L2] += q->l2;
	s->v[DRAM] += far;
	return t + (double)e->x->math.plan.exchange_latency + e->l->store +
	       more(more(q->net, q->dma), more(q->l2, far));
}

static double fullest(const double v[SERVERS])
{
	double most = 0;

	for (int r = 0; r < SERVERS; r++)
		most = more(most, v[r]);
	return most;
}

/* What servers are idle in the last of so many tiles, as far as the tiles that fit let them run ahead. */
static void run_ahead(const struct eval *e, double n, double latency, const double v[SERVERS], struct seg *s)
{
	for (int r = 0; r < PLACES; r++)
		s->idle[r] = more(0, less(e->deep, n) * (s->lead - v[r]) - latency);
}

static struct seg tile(const struct eval *e, unsigned first, unsigned last)
{
	const unsigned at = edge_of(e->x, last) & e->uneven;
	struct seg s = { .n = 1 };
	double turn = map_cost_load(e, first, at, &s),
	       math = (double)e->x->at[at].span + (first == 7u ? 0 : e->l->sync);

	s.v[DRAM] += e->back;
	s.v[UNIT] = math;
	turn += s.v[BESIDE] + math + (double)e->x->math.plan.latency;
	turn += map_cost_store(e, last, edge_of(e->x, last) & e->uneven, &s);
	if ((double)e->x->tiles > e->places)
		s.v[PLACES] = turn / e->places;
	s.lead = fullest(s.v);
	s.first = s.v[UNIT] + s.v[BESIDE];
	s.turn = turn;
	s.time = s.lead;
	memcpy(s.head, s.v, sizeof s.head);
	run_ahead(e, 1, e->l->hit, s.v, &s);
	return s;
}

/* --- runs of tiles ----------------------------------------------------------------------------------------- */

static struct seg map_cost_join(const struct eval *e, const struct seg *x, const struct seg *y)
{
	struct seg s = *x;
	double lead = y->first;

	for (int r = 0; r < SERVERS; r++)
		lead = more(lead, y->head[r] - x->idle[r]);
	s.n += y->n;
	s.turn = more(x->turn, y->turn);
	s.time = x->time + y->time - more(0, y->lead - lead);
	for (int r = 0; r < SERVERS; r++) {
		s.v[r] = x->v[r] + y->v[r];
		s.time = more(s.time, s.v[r]);
		s.idle[r] = y->idle[r];
		if (y->n < e->deep)
			s.idle[r] += x->idle[r] * (e->deep - y->n) / e->deep;
	}
	return s;
}

/* The slowest tile of each period may be what every tile that takes its place waits for: of q tiles, whole periods and no
 * fewer than there are places, all but these follow it at the units' pace. */
static double slowest(const struct eval *e, const struct seg *x, double n)
{
	double q = x->n;

	if ((double)e->x->tiles <= e->places)
		return 0;
	if (q < e->places)
		q *= (double)div_up((uint64_t)e->places, (uint64_t)q);
	return n * x->n / q * (x->turn + (q - e->places) * x->v[UNIT] / x->n);
}

static struct seg repeat(const struct eval *e, const struct seg *x, double n)
{
	struct seg s = *x;

	if (n < 2)
		return s;
	s.n = n * x->n;
	if (x->n < 2) {
		s.time = n * x->time;
		run_ahead(e, n, e->l->hit, x->v, &s);
	} else {
		const struct seg two = map_cost_join(e, x, x);

		s.time = more(x->time + (n - 1) * (two.time - x->time), slowest(e, x, n));
		memcpy(s.idle, two.idle, sizeof s.idle);
	}
	for (int r = 0; r < SERVERS; r++) {
		s.v[r] = n * x->v[r];
		s.time = more(s.time, s.v[r]);
	}
	return s;
}

/* All rounds of a loop and of those inside; masks of the loops around it that are in their first or last round. */
static struct seg loop(const struct eval *e, int at, unsigned first, unsigned last)
{
	const unsigned bit = 1u << at;
	struct seg s, y;
	uint64_t trips;

	if (at == DIMS)
		return tile(e, first, last);
	trips = e->x->trips[e->x->loop[at]];
	if (trips == 1)
		return loop(e, at + 1, first | bit, last | bit);
	s = loop(e, at + 1, first | bit, last);
	if (trips > 2) {
		y = loop(e, at + 1, first, last);
		y = repeat(e, &y, (double)(trips - 2));
		s = map_cost_join(e, &s, &y);
	}
	y = loop(e, at + 1, first, last | bit);
	return map_cost_join(e, &s, &y);
}

/* --- the ends ---------------------------------------------------------------------------------------------- */

/* What is loaded before the loop; returns the latency of the first load, if there is any. */
static double map_cost_before(const struct eval *e, struct seg *s)
{
	const double other = (double)e->p->rest.pre_bytes;
	double latency = other > 0 ? e->l->hit : 0, far = 0;

	s->v[L2] += other * e->l->l2;
	s->v[DMA] += other * e->l->dma;
	for (int i = A; i <= B; i++) {
		const struct piece *q = &e->piece[i][0];

		if (!e->p->move[i] || e->p->free[i])
			continue;
		latency = e->l->hit;
		far = more(far, e->fresh[i] > 0 ? e->l->miss : 0);
		if (e->x->moves[i] > 1)
			continue;
		s->v[DRAM] += e->fresh[i] * q->bytes * e->l->dram;
		s->v[L2] += q->l2;
		s->v[UP] += q->net;
		s->v[DMA] += q->dma;
		s->first += e->p->before[i] * q->bytes;
	}
	return latency + far;
}

/* What follows the last tile. */
static double map_cost_behind(const struct eval *e, struct seg *s)
{
	const struct map_levels *l = e->l;
	const struct nest *x = e->x;
	const double other = (double)e->p->rest.post_bytes;
	const unsigned at = e->uneven & e->dims[C];
	const struct piece *q = &e->piece[C][x->moves[C] == 1 ? 0 : at];
	double t = (double)x->math.plan.latency + (double)e->p->rest.after, move = 0;

	if (x->math.plan.split.k > 1) {
		const double swaps = x->moves[C] == 1 ? (double)(x->trips[M] * x->trips[N]) : 1,
			     t_swap = swaps * (double)x->at[x->moves[C] == 1 ? 0 : at].exchange;

		t += exchanged(l, t_swap) + (double)x->math.plan.exchange_latency;
		if (x->moves[C] == 1)
			swap(l, t_swap, s->v);
	}
	if (other > 0)
		move = more(other * l->dma, other * l->l2);
	if (e->p->move[C] && !e->p->free[C]) {
		const double far = l->cache ? 0 : q->bytes * l->dram_write;

		move += more(more(q->net, q->dma), more(q->l2, far));
		if (x->moves[C] == 1) {
			s->v[down_of(e->l)] += q->net;
			s->v[DMA] += q->dma;
			s->v[l->cache ? L2 : DRAM] += l->cache ? q->l2 : far;
		}
	}
	return move > 0 ? t + l->store + move : t;
}

/* From dispatch to the first math. */
static double wait_of(const struct product *p, const struct map_levels *l)
{
	const uint64_t values = p->size[M] > 1 && p->m->c->dispatch.layout ? p->size[M] * (p->size[K] + p->size[N]) : 0;

	return l->wait + (double)dispatch_wait(&p->m->c->dispatch, &(struct isa_cmd){ .laid_out = values }) -
	       (double)dispatch_wait(&p->m->c->dispatch, &(struct isa_cmd){ .laid_out = 0 });
}

/* Before the first load. */
static double idle_of(const struct product *p, double wait)
{
	return p->m->c->dispatch.prefetch ? 0 : wait;
}

struct map_cost map_cost(const struct product *p, const struct map_levels *l, const struct nest *x)
{
	struct eval e = { .p = p, .l = l, .x = x };
	struct seg pre = { .n = 0 }, s;
	struct map_cost out = { .time = 0 };
	const double wait = wait_of(p, l), idle = idle_of(p, wait);
	double start = 0, latency, end;

	prepare(&e);
	s = loop(&e, 0, 0, 0);
	latency = map_cost_before(&e, &pre);
	for (int r = 0; r < SERVERS; r++)
		start = more(start, r >= BESIDE ? 0 : pre.v[r] + s.head[r]);
	end = map_cost_behind(&e, &pre);
	start += latency;
	out.time = l->launch + more(idle + start, wait) + pre.first + (double)p->rest.before + s.first +
	           (s.time - s.lead) + end;
	for (int r = 0; r < PLACES; r++)
		out.time = more(out.time, l->launch + idle + latency + pre.v[r] + s.v[r]);
	out.rank = out.time + map_overhead(p->m, x->tiles);
	for (int i = 0; i < OPERANDS; i++)
		out.moved += p->move[i] && !p->free[i] ? (double)x->again[i] * map_cost_whole(p, i) : 0;
	return out;
}

/* All tiles' math, those at the edges as they are. */
static double math_of(const struct map_levels *l, const struct nest *x, unsigned uneven)
{
	double t = l->sync * (double)(x->tiles - 1);

	for (unsigned at = 0; at < 1u << DIMS; at++) {
		double times = 1;

		if (at & ~uneven)
			continue;
		for (int d = 0; d < DIMS; d++)
			times *= at >> d & 1 ? 1 : (double)(x->trips[d] - (uneven >> d & 1));
		t += times * (double)x->at[at].span;
	}
	return t;
}

/* What a class's first tile keeps a server busy for, of operands that move tile by tile. */
static void add_tiles(const struct map_levels *l, const struct piece *q, double fresh, double times, double v[SERVERS])
{
	v[DRAM] += times * fresh * q->bytes * l->dram;
	v[L2] += times * q->l2;
	v[UP] += times * q->net;
	v[DMA] += times * q->dma;
}

/* What follows the last tile, as map_cost() has it. */
static double bound_behind(struct eval *e)
{
	const struct nest *x = e->x;
	struct seg none = { .n = 0 };
	const unsigned at = x->moves[C] == 1 ? 0 : e->uneven & e->dims[C];
	uint64_t tile[DIMS];

	if (e->p->move[C] && !e->p->free[C] && x->moves[C] == 1) {
		e->piece[C][0] = piece_of(e->p, e->l, x, C, e->p->size, e->p->move[C]->bytes);
	} else if (e->p->move[C] && !e->p->free[C]) {
		tile_at(e->p, x, at, tile);
		e->piece[C][at] = piece_of(e->p, e->l, x, C, tile, map_nest_bytes(e->p, C, tile));
	}
	return map_cost_behind(e, &none);
}

/* Where tiles wait for those before them, what all but the first take in SRAM from load to store: `tiles` and `head`, servers'
 * times of all that moves tile by tile and of the first of it; `loads`, tiles of the operand of which most are loaded. */
static double bound_turns(const struct eval *e, const double tiles[SERVERS], const double head[SERVERS], double loads,
                          double places)
{
	const struct nest *x = e->x;
	double stores = (double)(e->p->size[M] / x->tile[M]) * (double)(e->p->size[N] / x->tile[N]), moved = 0, t;

	for (int r = 0; r < BESIDE; r++)
		moved = more(moved, tiles[r] - head[r]);
	t = moved + more(0, loads - 1) * e->l->hit + math_of(e->l, x, e->uneven) - (double)x->at[0].span;
	t += (double)(x->tiles - 1) * (double)x->math.plan.latency;
	if (stores > 1 && x->moves[C] > 1 && e->p->move[C] && !e->p->free[C]) {
		const struct piece q = piece_of(e->p, e->l, x, C, x->tile, x->bytes[C]);

		t += (stores - 1) *
		     (exchanged(e->l, (double)x->at[0].exchange) + (double)x->math.plan.exchange_latency + e->l->store +
		      more(more(q.net, q.dma), q.l2));
	}
	return t / places;
}

double map_cost_bound(const struct product *p, const struct map_levels *l, const struct nest *x)
{
	struct eval e = { .p = p, .l = l, .x = x, .uneven = map_nest_uneven(p, x), .dims[C] = dims_of(C) };
	double v[SERVERS] = { 0 }, tiles[SERVERS] = { 0 }, head[SERVERS] = { 0 };
	double start = 0, most = 0, latency = 0, miss = 0, sums = 1, first = 0, loads = 0, end, math;
	const double wait = wait_of(p, l), idle = idle_of(p, wait), places = tiles_wait(p, l) ? places_of(p, l, x) : 0;

	for (int d = 0; d < K; d++)
		sums *= (double)(p->size[d] / x->tile[d]);
	for (int i = A; i <= B; i++) {
		const bool once = x->moves[i] == 1;
		double times = (double)x->again[i], far;
		struct piece q;

		if (!p->move[i] || p->free[i])
			continue;
		far = fresh(p, l, x, i);
		q = once ? piece_of(p, l, x, i, p->size, p->move[i]->bytes)
		         : piece_of(p, l, x, i, x->tile, x->bytes[i]);
		for (int d = 0; d < DIMS && !once; d++)
			times *= has[i][d] ? (double)(p->size[d] / x->tile[d]) : 1;
		latency = l->hit;
		miss = far > 0 ? l->miss : miss;
		v[DRAM] += far * map_cost_whole(p, i) * l->dram;
		v[L2] += (double)x->again[i] * map_cost_whole(p, i) * l->l2;
		v[UP] += times * q.net;
		v[DMA] += more(times * q.dma, (double)x->again[i] * map_cost_whole(p, i) * l->dma);
		start = more(start, more(q.l2, more(q.net, q.dma)));
		first += once ? p->before[i] * q.bytes : 0;
		if (!once) {
			loads = more(loads, times);
			tiles[DRAM] += far * map_cost_whole(p, i) * l->dram;
			add_tiles(l, &q, 0, times, tiles);
			add_tiles(l, &q, far, 1, head);
		}
	}
	swap(l, sums * (double)x->math.plan.exchange, v);
	math = (double)x->at[0].span;
	for (int r = 0; r < BESIDE; r++)
		most = more(most, v[r]);
	end = bound_behind(&e);
	/* Behind the last load or the last turn of a server comes a tile's math, as long as it is hidden itself. */
	for (int r = 0; r < BESIDE; r++)
		most = more(most, tiles[r] + less(math, head[r]) + end);
	start = more(idle + start + latency + miss, wait) + first;
	latency += idle;
	most = more(latency + miss + most, start + math_of(l, x, e.uneven) + end);
	if (places > 0 && (double)x->tiles > places)
		most = more(most, (places > 1 ? latency + miss : start + math) +
		                          bound_turns(&e, tiles, head, loads, places) + end);
	return l->launch + most + map_overhead(p->m, x->tiles);
}
