/* map_reuse_preloaded.c - under mapping.policy copy_first, what stays on chip between products (map_int.h). */
#include "sim/map/map_int.h"

#define COPIED 3 /* times what streams: of a TPU's memory, where blocks have a quarter, the rest */

uint64_t map_preload_capacity(const struct mapper *m, uint64_t sram)
{
	const uint64_t stream = m->c->mapping.stream;

	return ps_min(sram > stream ? sram - stream : 0, COPIED * stream);
}

/* For all that stays: more than a product would copy. */
static uint64_t room_of(const struct mapper *m)
{
	return m->sram > m->c->mapping.stream ? m->sram - m->c->mapping.stream : 0;
}

/* What a product copies on chip whole, as map_nest_preloaded will: the larger of its operands that fits, but not `kept`. */
static uint64_t copied(const struct mapper *m, const struct op *o, uint32_t kept)
{
	uint64_t most = 0;
	uint32_t reads = 0;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = map_operand(m, o, i);
		const uint64_t bytes = map_stored_bytes(m, x->tensor, x->touched);

		if (x->write || reads++ > 1 || x->tensor == kept || m->reused[x->tensor])
			continue;
		if (bytes <= map_preload_capacity(m, m->sram) && bytes > most)
			most = bytes;
	}
	return most;
}

/* Between the op that makes it and the last that reads it there are products alone, one tensor at a time. */
static bool may_stay(const struct mapper *m, uint32_t from, uint32_t tensor)
{
	const uint32_t to = m->last_read[tensor];

	if (m->s->tensors[tensor].external || m->first_write[tensor] != from || to == UINT32_MAX || to <= from)
		return false;
	for (uint32_t i = from; i <= to; i++)
		if (m->s->ops[i].kind != OP_GEMM || m->s->ops[i].shape.batch > 1)
			return false;
	return true;
}

static bool map_reuse_preloaded_fits(const struct mapper *m, uint32_t tensor, uint64_t bytes)
{
	for (uint32_t i = m->first_write[tensor]; i <= m->last_read[tensor]; i++)
		if (bytes + m->living[i] + copied(m, &m->s->ops[i], tensor) > room_of(m))
			return false;
	return true;
}

void map_reuse_preloaded(struct mapper *m)
{
	for (uint32_t i = 0; i < m->s->n_ops; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = map_operand(m, &m->s->ops[i], k);
			const uint64_t bytes = map_stored_bytes(m, x->tensor, m->s->tensors[x->tensor].bytes);

			if (x->write && may_stay(m, i, x->tensor) && map_reuse_preloaded_fits(m, x->tensor, bytes))
				map_reuse_set(m, x->tensor, true);
		}
}
