/* map_stationary.c - weights that stay where they are multiplied (unit_ops.holds): which, and what their first step has more.
 *
 * Weights of products take the places of a unit that keeps them, as long as there are any and only where the unit, with them
 * there, is done before the others are with theirs fetched: a prompt's product may be the matrix unit's. Those come first that
 * save most time a place, and of the same in program order. They lie as is fastest or as takes fewest places for what it
 * saves, whichever saves more in all. Only what nothing but products streams, that no router chooses, and of which there is one.
 * A kept weight is loaded once, before the product, widened if its unit needs that, and written; later steps do none of it
 * (isa_insn.pinned, of loads and of math). */
#include <stdlib.h>

#include "sim/map/map_int.h"

/* The operand of a product that is its weights; NULL: it has none. */
static const struct op_operand *weights_of(const struct mapper *m, const struct op *o)
{
	for (uint32_t i = 0; o->kind == OP_GEMM && i < o->n_operands; i++) {
		const struct op_operand *x = &m->s->operands[o->first_operand + i];

		if (map_streams(m, o, i))
			return m->s->tensors[x->tensor].role == OP_WEIGHT ? x : NULL;
	}
	return NULL;
}

uint32_t map_stationary_unit(const struct mapper *m, const struct op *o)
{
	const struct op_operand *x = m->stationary_bytes ? weights_of(m, o) : NULL;

	return x ? m->stationary[x->tensor] : 0;
}

struct unit_split map_stationary_split(const struct mapper *m, const struct op *o)
{
	return map_stationary_unit(m, o) ? m->stationary_split[weights_of(m, o)->tensor]
	                                 : (struct unit_split){ 0, 0, 0 };
}

/* By tensor: whether something else than a product of one batch streams it. */
static void find_others(const struct mapper *m, uint8_t *other)
{
	for (size_t i = 0; i < m->s->n_ops; i++) {
		const struct op *o = &m->s->ops[i];
		const struct op_operand *weights = o->shape.batch > 1 ? NULL : weights_of(m, o);

		for (uint32_t k = 0; k < o->n_operands; k++) {
			const struct op_operand *x = &m->s->operands[o->first_operand + k];

			if (x != weights || x->offset || x->touched != m->s->tensors[x->tensor].bytes)
				other[x->tensor] = 1;
		}
	}
}

static bool may_stay(const struct op_tensor *t)
{
	return t->route < 0 && t->external && t->instances == 1;
}

/* Any other unit is done with them, fetched on their way, after so long. */
static ps_t elsewhere(const struct mapper *m, const struct unit_job *j, ps_t fetched)
{
	const struct map_math other = map_best(m, j);

	return ps_max(other.plan.span + other.plan.exchange, fetched);
}

/* Where weights that do not stay come from: all of them from the L2, if it holds them. */
static uint64_t fetch_rate(const struct mapper *m)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < m->s->n_tensors; i++)
		if (m->s->tensors[i].role == OP_WEIGHT)
			all += map_stored_bytes(m, i, m->s->tensors[i].bytes) * m->s->tensors[i].instances;
	return all > m->c->mem.l2.size ? m->dram_rate : m->near_rate;
}

/* Weights that may take places. */
struct worth {
	uint32_t op, tensor;
	uint64_t bytes, takes;
	double saves; /* a place */
	struct unit_split split;
};

static int by_worth(const void *a, const void *b)
{
	const struct worth *x = a, *y = b;

	return x->saves != y->saves ? (x->saves < y->saves ? 1 : -1) : (x->op > y->op) - (x->op < y->op);
}

/* What they take and save, cut so, if that is the best so far. Every core's places are as full as the fullest's. An op alone
 * that begins cold is done once, and pays for writing them, too; a stream that begins so is the first of many. */
static void lie_so(const struct mapper *m, int unit, const struct unit_job *j, ps_t fetched, ps_t without,
                   struct worth *best)
{
	const struct unit_env one = partition_core(&m->unit[unit]);
	struct unit_job part;
	struct unit_plan p;
	uint64_t takes;
	double saves;
	ps_t with;

	if (!partition_plan(unit_table[unit], &m->unit[unit], j, m->spread, &p))
		return;
	part = partition_part(j, &p.split);
	takes = unit_table[unit]->takes(&one, &part);
	with = p.span + p.exchange;
	if (m->start == MAP_COLD && m->s->n_ops == 1)
		with += fetched + unit_table[unit]->written(&one, &part);
	saves = ((double)without - (double)with) / (double)ps_max(1, takes);
	if (saves < 0 || (best->takes && saves <= best->saves))
		return;
	best->saves = saves;
	best->takes = takes;
	best->split = p.split;
}

/* What the op's weights would take and save; false: they may not stay, or it does not pay. They lie as is fastest, or, where places
 * are scarce, as saves most a place: in more parts of k, that fill rows which a few columns leave empty. */
static bool worth_of(const struct mapper *m, int unit, const uint8_t *other, const struct op *o, bool scarce,
                     struct worth *out)
{
	const struct op_operand *x = weights_of(m, o);
	struct unit_job j;
	ps_t fetched, without;

	if (!x || other[x->tensor] || m->stationary[x->tensor] || !may_stay(&m->s->tensors[x->tensor]))
		return false;
	*out = (struct worth){ .op = o->id, .tensor = x->tensor };
	out->bytes = map_stored_bytes(m, x->tensor, x->touched);
	j = map_job(m, o);
	fetched = clock_transfer(out->bytes, fetch_rate(m));
	without = elsewhere(m, &j, fetched);
	j.held = 1 + (uint32_t)unit;
	lie_so(m, unit, &j, fetched, without, out);
	for (uint32_t k = 1; scarce && k <= m->c->cores && k <= j.k; k *= 2) {
		j.stationary_split = (struct unit_split){ 1, (uint32_t)ps_min(j.n, m->c->cores / k), k };
		lie_so(m, unit, &j, fetched, without, out);
	}
	return out->takes > 0;
}

/* All that may stay in a unit, the most worth a place first. */
struct wishes {
	struct worth *v;
	size_t n;
};

static int find_wishes(const struct mapper *m, int unit, const uint8_t *other, bool scarce, struct wishes *w,
                       struct err *e)
{
	w->n = 0;
	if (!(w->v = arena_array(m->a, m->s->n_ops + 1, sizeof *w->v)))
		return err_nomem(e, "for the mapper");
	for (size_t i = 0; i < m->s->n_ops; i++)
		w->n += worth_of(m, unit, other, &m->s->ops[i], scarce, &w->v[w->n]);
	qsort(w->v, w->n, sizeof *w->v, by_worth);
	return 0;
}

/* What those save that have places, `room` of them. */
static double saved(const struct wishes *w, uint64_t room)
{
	double sum = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].takes <= room) {
			sum += w->v[i].saves * (double)w->v[i].takes;
			room -= w->v[i].takes;
		}
	return sum;
}

static int hold_in(struct mapper *m, int unit, const uint8_t *other, struct err *e)
{
	const struct unit_ops *u = unit_table[unit];
	const struct unit_env one = partition_core(&m->unit[unit]);
	uint64_t room = u->holds && m->unit[unit].cfg->units ? u->holds(&one) : 0;
	struct wishes fast, tight, *w = &fast;

	if (!room)
		return 0;
	if (find_wishes(m, unit, other, false, &fast, e) < 0 || find_wishes(m, unit, other, true, &tight, e) < 0)
		return -1;
	if (saved(&tight, room) > saved(&fast, room))
		w = &tight;
	for (size_t i = 0; i < w->n; i++) {
		const struct worth *x = &w->v[i];

		if (x->takes > room || m->stationary[x->tensor]) /* by another op */
			continue;
		m->stationary[x->tensor] = (uint8_t)(1 + unit);
		m->stationary_split[x->tensor] = x->split;
		m->stationary_bytes += x->bytes;
		room -= x->takes;
	}
	return 0;
}

int map_stationary(struct mapper *m, struct err *e)
{
	uint8_t *other = arena_alloc(m->a, m->s->n_tensors + 1);

	m->stationary = arena_alloc(m->a, m->s->n_tensors + 1);
	m->stationary_split = arena_array(m->a, m->s->n_tensors + 1, sizeof *m->stationary_split);
	if (!other || !m->stationary || !m->stationary_split)
		return err_set(e, ERR_NOMEM, "out of memory for the mapper");
	/* Loops and tiles that were asked for are of weights that come. */
	if (map_fixed(m))
		return 0;
	find_others(m, other);
	for (int i = 0; i < UNIT_COUNT; i++)
		if (hold_in(m, i, other, e) < 0)
			return -1;
	return 0;
}

static void put_once(struct map_candidate *d, const struct op *o, uint32_t tensor, enum unit unit, enum isa_code code,
                     const struct unit_plan *p)
{
	struct isa_insn *i = map_add(d);

	i->code = (uint8_t)code;
	i->when = ISA_PRE;
	i->unit = (uint8_t)unit_table[unit]->res;
	i->src = i->dst = ISA_SRAM;
	i->dtype = (uint8_t)o->dtype;
	i->op = o->id;
	i->tensor = tensor;
	i->pinned = true;
	i->span = i->span_last = p->span;
	i->latency = p->latency;
	i->work = i->work_last = p->work;
	i->shape = (struct isa_shape){ 1, o->shape.n, o->shape.k };
}

void map_emit_stationary(const struct mapper *m, struct map_candidate *d, const struct op *o)
{
	const uint32_t by = map_stationary_unit(m, o);
	const enum unit unit = (enum unit)(by - 1);
	struct unit_plan write = { .span = 0 }, how;
	struct unit_env one;
	struct map_math wider;
	struct unit_job j;

	if (!by)
		return;
	one = partition_core(&m->unit[unit]);
	j = map_job(m, o);
	if (map_dequant(m, o, unit, j.n * j.k, &wider))
		put_once(d, o, weights_of(m, o)->tensor, wider.unit, wider.plan.code, &wider.plan);
	if (!partition_plan(unit_table[unit], &m->unit[unit], &j, m->spread, &how))
		return;
	j = partition_part(&j, &how.split);
	write.span = unit_table[unit]->written(&one, &j);
	put_once(d, o, weights_of(m, o)->tensor, unit, how.code, &write);
}

uint64_t map_stationary_bytes(const struct mapper *m, const struct map_candidate *d)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < d->n && m->stationary_bytes; i++)
		if (d->insn[i].code == ISA_LOAD && m->stationary[d->insn[i].tensor])
			n += d->insn[i].bytes;
	return n;
}
