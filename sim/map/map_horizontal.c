/* map_horizontal.c - hardware batching: independent products of few rows that multiply the same activations, as one command.
 *
 * With dispatch.join, products that follow each other in the stream (with what is fused behind each) become one command if
 * they read the same rows, at most MOST_ROWS of them, none reads what another makes, and their formats are one: q, k and v;
 * an expert's gate and up. Up to dispatch.batch of them. The command is dispatched once, loads the rows once, streams all
 * weights past in one loop whose tiles have a part of each, and computes them as one product of all their columns; a gate's
 * and an up's results meet on chip. It is taken where that is clearly faster (map_chain.c).
 * Leaves out: products that something else stands between, as experts with their down products; rows that are alike but
 * stand in different places. */
#include "sim/map/map_int.h"

#define MOST_ROWS 16
#define CLEARLY   0.1 /* of the product of both times: a round stands for a run in which others are fetched ahead, too */

/* The rows or the weights of a product: its first or second read. */
static const struct op_operand *read_of(const struct mapper *m, const struct op *o, uint32_t nth)
{
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (!map_operand(m, o, i)->write && nth-- == 0)
			return map_operand(m, o, i);
	return NULL;
}

static bool may_join(const struct mapper *m, const struct op *o)
{
	return o->kind == OP_GEMM && o->shape.m <= MOST_ROWS && o->shape.batch <= 1 && read_of(m, o, 1) &&
	       !map_stationary_unit(m, o);
}

/* Whether any op of [first, end) writes what `o` reads. */
static bool waits_for(const struct mapper *m, const struct op *o, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++)
			for (uint32_t r = 0; r < o->n_operands; r++)
				if (map_operand(m, &m->s->ops[i], k)->write && !map_operand(m, o, r)->write &&
				    map_operand(m, &m->s->ops[i], k)->tensor == map_operand(m, o, r)->tensor)
					return true;
	return false;
}

static bool alike(const struct mapper *m, const struct op *a, const struct op *b)
{
	const struct op_operand *x = read_of(m, a, 0), *y = read_of(m, b, 0);
	const struct unit_job p = map_job(m, a), q = map_job(m, b);

	return x->tensor == y->tensor && x->offset == y->offset && x->touched == y->touched && x->slot == y->slot &&
	       p.m == q.m && p.k == q.k && p.dtype == q.dtype && p.with == q.with && p.keep == q.keep && p.of == q.of &&
	       a->dtype == b->dtype && a->routed_by == b->routed_by;
}

/* The same weights twice would be loaded once. */
static bool own_weights(const struct mapper *m, const struct op *o, const struct fuse_group *groups, uint32_t n)
{
	const struct op_operand *w = read_of(m, o, 1);

	for (uint32_t i = 0; i < n; i++) {
		const struct op_operand *x = read_of(m, &m->s->ops[groups[i].first], 1);

		if (x->tensor == w->tensor && x->slot == w->slot)
			return false;
	}
	return true;
}

/* How many groups from here on might be one. */
static uint32_t candidates(const struct mapper *m, const struct fuse_group *groups, size_t n_groups)
{
	const struct op *first = &m->s->ops[groups[0].first];
	uint32_t n = 1;

	if (!m->c->dispatch.join || !may_join(m, first))
		return 1;
	for (; n < n_groups && n < m->c->dispatch.batch; n++) {
		const struct op *o = &m->s->ops[groups[n].first];

		if (!may_join(m, o) || !alike(m, first, o) || !own_weights(m, o, groups, n) ||
		    waits_for(m, o, groups[0].first, groups[n].first))
			break;
	}
	return n;
}

/* Whether what stands behind the product of a group, or of one after it, reads what one before it makes. */
static bool in_turn(const struct mapper *m, const struct fuse_group *groups, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = groups[i].first; k < groups[i].first + groups[i].n; k++)
			if (waits_for(m, &m->s->ops[k], groups[0].first, groups[i].first))
				return true;
	return false;
}

/* So many groups as one, which is drafted; false: they are faster apart, or cannot be. */
static bool map_horizontal_join(struct mapper *m, const struct fuse_group *groups, uint32_t n, struct map_candidate *d,
                                uint64_t *op_work_ps, struct map_fusion *what)
{
	const struct fuse_group *last = &groups[n - 1];
	const uint32_t first = groups[0].first, ops = last->first + last->n - first;
	struct map_candidate *const *each = map_members(m, n);
	uint64_t apart_bytes = 0;
	struct map_ones x;

	map_capacity(m, first, ops);
	for (uint32_t k = first; k < first + ops; k++)
		op_work_ps[k] = map_group(m, k, 1, d) ? d->predicted : 1;
	for (uint32_t i = 0; i < n; i++) {
		if (!each || !map_group(m, groups[i].first, groups[i].n, each[i]))
			return false;
		apart_bytes += map_memory_bytes(each[i]);
	}
	if (!map_horizontal_command(m, first, ops, d))
		return false;
	x = map_ones(m, first, ops, each, n, d, in_turn(m, groups, n));
	*what = (struct map_fusion){ .pattern = "joined",
		                     .first_op = first,
		                     .n_ops = ops,
		                     .saved_bytes = apart_bytes - map_memory_bytes(d),
		                     .saved_dispatches = n - 1,
		                     .predicted = map_mean(&x.joined),
		                     .unfused = map_mean(&x.apart) };
	return x.joined.worth < (1 - CLEARLY) * x.apart.worth;
}

uint32_t map_horizontal(struct mapper *m, const struct fuse_group *groups, size_t n_groups, struct map_candidate *d,
                        uint64_t *op_work_ps, struct map_fusion *what)
{
	uint32_t n = candidates(m, groups, n_groups);

	for (n = n < MAP_COSCHEDULED ? n : MAP_COSCHEDULED; n > 1; n--)
		if (map_horizontal_join(m, groups, n, d, op_work_ps, what))
			return n;
	return 1;
}
