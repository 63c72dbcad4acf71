/* map_like.c - which ops are alike to the mapper: the same kind, shape, formats and places of operands, of whatever tensors. */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/map/map_int.h"

static uint64_t operand_key(const struct mapper *m, const struct op *o, const struct op_operand *x, uint64_t h)
{
	const struct op_tensor *t = &m->s->tensors[x->tensor];
	const bool early = t->external && m->first_write[x->tensor] >= o->id;

	h = map_and_u64(h, (uint64_t)x->write | (uint64_t)early << 1 | (uint64_t)m->pinned[x->tensor] << 2 |
	                           (uint64_t)m->kept[x->tensor] << 3 | (uint64_t)(t->route >= 0) << 4 |
	                           (uint64_t)t->role << 8 | (uint64_t)t->dtype << 16 | (uint64_t)t->quant << 24);
	h = map_and_u64(h, m->last_read[x->tensor] != UINT32_MAX);
	return map_and_u64(map_and_u64(h, x->bytes), x->touched);
}

static uint64_t attention_key(const struct op *o, uint64_t h)
{
	const struct op_shape *s = &o->shape;

	h = map_and_u64(map_and_u64(map_and_u64(h, s->heads), s->kv_heads), s->q_len);
	h = map_and_u64(map_and_u64(map_and_u64(h, s->kv_len), s->head_dim), s->v_dim);
	return map_and_u64(h, (uint64_t)o->algorithm | (uint64_t)s->causal << 8 | (uint64_t)s->paged << 9);
}

uint64_t map_op_key(const struct mapper *m, const struct op *o, uint64_t h)
{
	const struct op_shape *s = &o->shape;

	h = map_and_u64(h, (uint64_t)o->kind | (uint64_t)o->dtype << 8 | (uint64_t)o->out_dtype << 16 |
	                           (uint64_t)o->acc_dtype << 24 | (uint64_t)o->cost << 32 | (uint64_t)o->reduce << 40 |
	                           (uint64_t)o->n_operands << 48);
	h = map_and_u64(map_and_u64(map_and_u64(map_and_u64(h, s->batch), s->m), s->n), s->k);
	h = map_and_u64(map_and_u64(map_and_u64(map_and_u64(h, s->elems), s->rows), s->cols), s->arity);
	h = map_and_u64(h, s->top | (uint64_t)s->strided << 32 | (uint64_t)(o->routed_by >= 0) << 33);
	if (o->kind == OP_ATTENTION)
		h = attention_key(o, h);
	if (o->fn)
		h = hash_bytes(h, o->fn, strlen(o->fn));
	for (uint32_t i = 0; i < o->n_operands; i++)
		h = operand_key(m, o, map_operand(m, o, i), h);
	return h;
}
