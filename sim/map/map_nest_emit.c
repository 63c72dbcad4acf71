/* map_nest_emit.c - a product's nest as instructions: its moves in the loop, before or behind it, what is done to operands
 * before, its math, and what cores exchange; each with its smaller tiles (map_remainder.c). */
#include <string.h>

#include "sim/map/map_nest.h"

static struct map_grid grid_of(const struct product *p, const struct nest *x)
{
	struct map_grid g;

	memcpy(g.size, p->size, sizeof g.size);
	memcpy(g.tile, x->tile, sizeof g.tile);
	memcpy(g.trips, x->trips, sizeof g.trips);
	memcpy(g.loop, x->loop, sizeof g.loop);
	return g;
}

/* A smaller tile, by the unit and the cut of the full one. */
static struct unit_plan plan_edge(const struct product *p, const struct nest *x, const struct map_grid *g,
                                  unsigned last)
{
	struct unit_job j = map_job(p->m, p->op);
	struct unit_plan plan;
	uint64_t size[DIMS];

	map_remainder_size(g, last, size);
	j.m = size[M], j.n = size[N], j.k = size[K];
	if (!partition_as(unit_table[x->math.unit], &p->m->unit[x->math.unit], &j, &x->math.plan.split, p->m->spread,
	                  &plan))
		return x->math.plan;
	return plan;
}

/* A move of the product becomes a part of the loop, or stays before or behind it. */
static void map_nest_emit_place(struct isa_insn *i, const struct nest *x, int operand)
{
	uint32_t step = 1;

	if (x->moves[operand] == 1) {
		i->when = operand == C ? ISA_POST : ISA_PRE;
		return;
	}
	i->when = ISA_TILE;
	i->tile_bytes = x->bytes[operand];
	i->stays = x->stays[operand];
	for (int l = DIMS - 1; l >= 0; l--) {
		const int d = x->loop[l];

		i->step[l] = has[operand][d] ? step : 0;
		step *= has[operand][d] ? (uint32_t)x->trips[d] : 1;
	}
}

/* Under copy_first a function of the results, value by value, on their way out of the arrays, which wait for it. */
static ps_t on_the_way(const struct product *p)
{
	struct unit_job j = { .work = UNIT_MAP, .elems = p->size[M] * p->size[N] };

	if (p->op->cost == OP_COST_MOVE || p->m->c->mapping.policy != MAPPING_COPY_FIRST)
		return 0;
	work_cost(p->op->cost, 1, &j.alu, &j.sfu);
	j.alu += p->op->shape.arity > 1 ? p->op->shape.arity - 1 : 0;
	return map_fastest(p->m, &j).plan.span;
}

/* All dimensions that are not all alike in it, one by one of their sets. */
#define EACH_EDGE(last, g, of) \
	for (unsigned last = 0; last < 1 << DIMS; last++) \
		if (!(last & ~(map_remainder_dims(g) & (of))))

enum { ALL_DIMS = 1 << M | 1 << N | 1 << K };

static unsigned dims_of(int operand)
{
	return (unsigned)(has[operand][M] << M | has[operand][N] << N | has[operand][K] << K);
}

static void put_math(struct map_candidate *d, const struct product *p, const struct nest *x)
{
	const struct map_grid g = grid_of(p, x);
	struct isa_insn *i = map_add(d);
	const ps_t more = on_the_way(p) / x->tiles;
	const struct unit_plan last = map_remainder_dims(&g) ? plan_edge(p, x, &g, ALL_DIMS) : x->math.plan;
	struct isa_remainders *e;

	i->code = (uint8_t)x->math.plan.code;
	i->when = ISA_TILE;
	i->unit = (uint8_t)unit_table[x->math.unit]->res;
	i->src = i->dst = ISA_SRAM;
	i->dtype = (uint8_t)p->op->dtype;
	i->op = p->op->id;
	i->span = x->math.plan.span + more;
	i->span_last = last.span + more;
	i->latency = x->math.plan.latency;
	map_emit_parts(i, &x->math.plan);
	i->work = x->math.plan.work;
	i->work_last = last.work;
	i->shape = (struct isa_shape){ x->tile[M], x->tile[N], x->tile[K] };
	if (!(e = map_remainders(d, i, &g, ALL_DIMS)))
		return;
	EACH_EDGE(at, &g, ALL_DIMS)
	{
		const struct unit_plan plan = at ? plan_edge(p, x, &g, at) : x->math.plan;
		struct isa_remainder *y = map_remainder(e, &g, at);

		y->span = plan.span + more;
		y->latency = plan.latency;
		y->work = plan.work;
	}
}

static uint64_t values(const struct product *p, const struct nest *x, int operand, const uint64_t tile[DIMS])
{
	uint64_t n = 1;

	for (int d = 0; d < DIMS; d++)
		n *= !has[operand][d] ? 1 : x->moves[operand] == 1 ? p->size[d] : tile[d];
	return n;
}

/* What has to be done to so many values of an operand before the product; false: nothing. */
static bool map_nest_emit_before(const struct product *p, const struct nest *x, int operand, uint64_t n,
                                 struct map_math *out)
{
	return operand == A ? map_convert(p->m, p->op, n, out) : map_dequant(p->m, p->op, x->math.unit, n, out);
}

/* As often as the operand it is done to moves. */
static void put_before(struct map_candidate *d, const struct product *p, const struct nest *x, int operand)
{
	const struct map_grid g = grid_of(p, x);
	struct isa_remainders *e;
	struct isa_insn *i;
	struct map_math y;

	if (!map_nest_emit_before(p, x, operand, values(p, x, operand, x->tile), &y))
		return;
	i = map_add(d);
	i->code = (uint8_t)y.plan.code;
	i->when = x->moves[operand] == 1 ? ISA_PRE : ISA_TILE;
	i->stays = x->stays[operand];
	i->unit = (uint8_t)unit_table[y.unit]->res;
	i->src = i->dst = ISA_SRAM;
	i->dtype = (uint8_t)p->op->dtype;
	i->op = p->op->id;
	i->span = i->span_last = y.plan.span;
	i->latency = y.plan.latency;
	i->work = i->work_last = y.plan.work;
	if (!(e = map_remainders(d, i, &g, dims_of(operand))))
		return;
	EACH_EDGE(at, &g, dims_of(operand))
	{
		uint64_t tile[DIMS];

		map_remainder_size(&g, at, tile);
		map_nest_emit_before(p, x, operand, values(p, x, operand, tile), &y);
		*map_remainder(e, &g, at) =
			(struct isa_remainder){ .span = y.plan.span, .latency = y.plan.latency, .work = y.plan.work };
	}
}

/* Partial sums: of all tiles behind the loop, or of each when it leaves. */
static void put_exchange(struct map_candidate *d, const struct product *p, const struct nest *x)
{
	const struct map_grid g = grid_of(p, x);
	const bool post = x->moves[C] == 1;
	struct isa_insn *i = map_emit_exchange(d, p->op, &x->math, post ? ISA_POST : ISA_TILE,
	                                       post ? x->trips[M] * x->trips[N] : 1, post ? 0 : x->stays[C]);
	struct isa_remainders *e = i ? map_remainders(d, i, &g, dims_of(C)) : NULL;

	if (!e)
		return;
	EACH_EDGE(at, &g, dims_of(C))
	{
		const struct unit_plan plan = plan_edge(p, x, &g, at);
		struct isa_remainder *y = map_remainder(e, &g, at);

		y->span = plan.exchange;
		y->latency = plan.exchange_latency;
	}
}

/* What is copied whole comes ahead of its product only where the blocks' room holds it. */
static void fetched_ahead(const struct product *p, const struct nest *x)
{
	if (x->preloaded >= 0 && p->move[x->preloaded]->bytes >= p->m->c->mapping.stream)
		p->move[x->preloaded]->early = false;
}

/* A move's place, its cores' parts, and its smaller tiles. */
static void place_operand(struct map_candidate *d, const struct product *p, const struct nest *x, int operand)
{
	const uint64_t *const of[2] = { x->tile, p->size };
	const struct unit_split *split = &x->math.plan.split;
	const struct map_grid g = grid_of(p, x);
	struct isa_insn *i = p->move[operand];

	if (!i)
		return;
	map_nest_emit_place(i, x, operand);
	map_partition_move(p->m, i, split, operand, of[x->moves[operand] == 1]);
	map_remainder_move(p->m, d, i, &g, split, operand);
}

/* What is joined to C value by value: cores share it as they do all else that is not the product's. */
static void place_beside(struct map_candidate *d, const struct product *p, const struct nest *x)
{
	static const struct unit_split none = { 0, 0, 0 };
	const struct map_grid g = grid_of(p, x);

	if (!p->beside)
		return;
	map_nest_emit_place(p->beside, x, C);
	p->beside->when = p->beside->when == ISA_POST ? ISA_PRE : p->beside->when;
	map_remainder_move(p->m, d, p->beside, &g, &none, C);
}

void map_nest_emit(struct map_candidate *d, const struct product *p, const struct nest *x)
{
	d->tiles = (uint32_t)x->tiles;
	for (int l = 0; l < DIMS; l++)
		d->trips[l] = (uint32_t)x->trips[x->loop[l]];
	for (int i = 0; i < OPERANDS; i++)
		place_operand(d, p, x, i);
	place_beside(d, p, x);
	fetched_ahead(p, x);
	put_before(d, p, x, A);
	put_before(d, p, x, B);
	put_math(d, p, x);
	put_exchange(d, p, x);
	d->why = x->math.plan.why;
	d->slot_bytes = x->slot;
	d->fixed_bytes = x->held + p->others;
	d->predicted = x->predicted + map_nest_beside(p);
}
