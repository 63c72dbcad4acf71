/* map_hold.c - weights that stay where they are multiplied (unit_ops.holds): which, and what their first step has more.
 *
 * Weights of products take the places of a unit that keeps them, as long as there are any and only where the unit, with them
 * there, is done before the others are with theirs fetched: a prompt's product may be the matrix unit's. Those come first that
 * save most time a place, and of the same in program order. Only what nothing but products streams, that no router chooses, and of which there is one.
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

uint32_t map_held_by(const struct mapper *m, const struct op *o)
{
	const struct op_operand *x = m->held_bytes ? weights_of(m, o) : NULL;

	return x ? m->held[x->tensor] : 0;
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

/* What a held product multiplies and makes is in SRAM whole: where that is much, others stream it and are sooner done. */
#define BESIDE 4 /* of all scratchpads, a part of so many at the most */
static bool few_rows(const struct mapper *m, const struct op *o, const struct unit_job *j)
{
	return dtype_bytes(o->dtype, j->m * (j->n + j->k)) <= m->sram / BESIDE;
}

/* What it saves that the unit has them there; negative: any other is sooner done with them on their way. `p`: how it is done. */
static double saves(const struct mapper *m, int unit, const struct unit_job *j, ps_t fetched, struct unit_plan *p)
{
	struct unit_job stays = *j;
	struct map_math other;

	stays.held = 1 + (uint32_t)unit;
	if (!spread_plan(unit_table[unit], &m->unit[unit], &stays, m->spread, p))
		return -1;
	other = map_best(m, j);
	return (double)ps_max(other.plan.span + other.plan.exchange, fetched) - (double)(p->span + p->exchange);
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
};

static int by_worth(const void *a, const void *b)
{
	const struct worth *x = a, *y = b;

	return x->saves != y->saves ? (x->saves < y->saves ? 1 : -1) : (x->op > y->op) - (x->op < y->op);
}

/* What the op's weights would take and save; false: they may not stay, or it does not pay. Every core's places are as full as the
 * fullest's. */
static bool worth_of(const struct mapper *m, int unit, const uint8_t *other, const struct op *o, struct worth *out)
{
	const struct unit_env one = spread_core(&m->unit[unit]);
	const struct op_operand *x = weights_of(m, o);
	struct unit_job j, part;
	struct unit_plan p;

	if (!x || other[x->tensor] || m->held[x->tensor] || !may_stay(&m->s->tensors[x->tensor]))
		return false;
	*out = (struct worth){ .op = o->id, .tensor = x->tensor };
	out->bytes = map_stored_bytes(m, x->tensor, x->touched);
	j = map_job(m, o);
	if (!few_rows(m, o, &j))
		return false;
	out->saves = saves(m, unit, &j, clock_transfer(out->bytes, fetch_rate(m)), &p);
	if (out->saves < 0)
		return false;
	part = spread_part(&j, &p.split);
	out->takes = unit_table[unit]->takes(&one, &part);
	out->saves /= (double)ps_max(1, out->takes);
	return true;
}

static int hold_in(struct mapper *m, int unit, const uint8_t *other, struct err *e)
{
	const struct unit_ops *u = unit_table[unit];
	const struct unit_env one = spread_core(&m->unit[unit]);
	uint64_t room = u->holds && m->unit[unit].cfg->units ? u->holds(&one) : 0;
	struct worth *all = room ? arena_array(m->a, m->s->n_ops + 1, sizeof *all) : NULL;
	size_t n = 0;

	if (!room)
		return 0;
	if (!all)
		return err_set(e, ERR_NOMEM, "out of memory for the mapper");
	for (size_t i = 0; i < m->s->n_ops; i++)
		n += worth_of(m, unit, other, &m->s->ops[i], &all[n]);
	qsort(all, n, sizeof *all, by_worth);
	for (size_t i = 0; i < n; i++) {
		if (all[i].takes > room || m->held[all[i].tensor]) /* by another op */
			continue;
		m->held[all[i].tensor] = (uint8_t)(1 + unit);
		m->held_bytes += all[i].bytes;
		room -= all[i].takes;
	}
	return 0;
}

int map_hold(struct mapper *m, struct err *e)
{
	uint8_t *other = arena_alloc(m->a, m->s->n_tensors + 1);

	m->held = arena_alloc(m->a, m->s->n_tensors + 1);
	if (!other || !m->held)
		return err_set(e, ERR_NOMEM, "out of memory for the mapper");
	find_others(m, other);
	for (int i = 0; i < UNIT_COUNT; i++)
		if (hold_in(m, i, other, e) < 0)
			return -1;
	return 0;
}

static void put_once(struct map_draft *d, const struct op *o, uint32_t tensor, enum unit unit, enum isa_code code,
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

void map_put_held(const struct mapper *m, struct map_draft *d, const struct op *o)
{
	const uint32_t by = map_held_by(m, o);
	const enum unit unit = (enum unit)(by - 1);
	struct unit_plan write = { .span = 0 }, how;
	struct unit_env one;
	struct map_math wider;
	struct unit_job j;

	if (!by)
		return;
	one = spread_core(&m->unit[unit]);
	j = map_job(m, o);
	if (map_dequant(m, o, unit, j.n * j.k, &wider))
		put_once(d, o, weights_of(m, o)->tensor, wider.unit, wider.plan.code, &wider.plan);
	if (!spread_plan(unit_table[unit], &m->unit[unit], &j, m->spread, &how))
		return;
	j = spread_part(&j, &how.split);
	write.span = unit_table[unit]->written(&one, &j);
	put_once(d, o, weights_of(m, o)->tensor, unit, how.code, &write);
}

uint64_t map_held_bytes(const struct mapper *m, const struct map_draft *d)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < d->n && m->held_bytes; i++)
		if (d->insn[i].code == ISA_LOAD && m->held[d->insn[i].tensor])
			n += d->insn[i].bytes;
	return n;
}
