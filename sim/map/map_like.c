/* map_like.c - which ops and commands are alike to the mapper: the same kind, shape, formats and places of operands, of whatever
 * tensors; and which machines, as far as it can tell (map_memo.h). */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/map/map_int.h"

uint64_t map_split_key(const struct unit_split *s)
{
	return (uint64_t)s->m << 48 ^ (uint64_t)s->n << 24 ^ s->k;
}

static uint64_t operand_key(const struct mapper *m, const struct op *o, const struct op_operand *x, uint64_t h)
{
	const struct op_tensor *t = &m->s->tensors[x->tensor];
	const bool early = t->external && m->first_write[x->tensor] >= o->id;

	h = map_and_u64(h, (uint64_t)x->write | (uint64_t)early << 1 | (uint64_t)m->pinned[x->tensor] << 2 |
	                           (uint64_t)m->reused[x->tensor] << 3 | (uint64_t)(t->route >= 0) << 4 |
	                           (uint64_t)m->resident[x->tensor] << 5 | (uint64_t)op_may_lie(m->s, x->tensor) << 6 |
	                           (uint64_t)t->role << 8 | (uint64_t)t->dtype << 16 | (uint64_t)t->quant << 24);
	h = map_and_u64(h, (uint64_t)(m->last_read[x->tensor] != UINT32_MAX) | (uint64_t)m->stationary[x->tensor] << 1 |
	                           (uint64_t)m->format[x->tensor].quant << 16 |
	                           (uint64_t)m->format[x->tensor].group << 32);
	if (m->stationary[x->tensor])
		h = map_and_u64(h, map_split_key(&m->stationary_split[x->tensor]));
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
	h = map_and_u64(h, s->top | (uint64_t)s->strided << 32 | (uint64_t)(o->routed_by >= 0) << 33 |
	                           (uint64_t)s->passes << 34);
	if (o->kind == OP_ATTENTION)
		h = attention_key(o, h);
	if (o->fn)
		h = hash_bytes(h, o->fn, strlen(o->fn));
	for (uint32_t i = 0; i < o->n_operands; i++)
		h = operand_key(m, o, map_operand(m, o, i), h);
	return h;
}

/* All that a choice looks at: sizes, what is there early, and the math around it; not which tensors they are. */
uint64_t map_key(const struct mapper *m, const struct map_candidate *d, const struct op *o,
                 const struct map_constraints *how)
{
	const struct op_shape *s = &o->shape;
	const struct unit_job j = map_job(m, o);
	uint64_t h = hash_u64(hash_u64(HASH_INIT, o->kind),
	                      (uint64_t)how->cuts | (uint64_t)how->may_nest << 8 | (uint64_t)how->c_stays << 9 |
	                              (uint64_t)j.passes << 10 | (uint64_t)j.dtype << 16 | (uint64_t)j.with << 24 |
	                              (uint64_t)j.held << 32 | (uint64_t)j.keep << 48 | (uint64_t)j.of << 56);
	uint64_t bytes = 0;
	bool kv = false;

	for (uint32_t i = 0; i < d->n; i++) {
		const struct isa_insn *x = &d->insn[i];

		h = hash_u64(h, (uint64_t)x->code | (uint64_t)x->when << 8 | (uint64_t)x->cls << 16 |
		                        (uint64_t)x->early << 24 |
		                        (uint64_t)(x->pinned || (isa_is_move(x) && m->resident[x->tensor])) << 25 |
		                        (uint64_t)(x->op == o->id) << 26 | (uint64_t)x->dtype << 32 |
		                        (uint64_t)x->src << 40 | (uint64_t)x->dst << 48 |
		                        (uint64_t)(x->route >= 0) << 56 |
		                        (uint64_t)(isa_is_move(x) && op_may_lie(m->s, x->tensor)) << 57);
		h = hash_u64(hash_u64(h, x->bytes), x->span);
		bytes += isa_is_move(x) ? x->bytes : 0;
		kv |= x->cls == MEM_KV;
	}
	h = hash_u64(h, map_split_key(&j.stationary_split));
	h = hash_u64(hash_u64(hash_u64(h, s->m), s->n), s->k);
	h = hash_u64(hash_u64(hash_u64(h, s->batch), s->heads), s->kv_heads);
	h = hash_u64(hash_u64(hash_u64(h, s->q_len), s->kv_len), s->head_dim << 1 | s->causal);
	h = hash_u64(hash_u64(hash_u64(h, s->v_dim), d->fixed_bytes), map_sig(m, bytes, kv));
	h = hash_u64(h, m->sram);
	return h ? h : 1;
}

/* Fields alone: what fills a struct between them may differ, and costs a search at the worst. */
uint64_t map_sig_all(const struct mapper *m)
{
	const struct machine_cfg *c = m->c;
	const uint64_t held = map_memo_held(m->memo), how = (uint64_t)m->start << 1 | m->alone;
	struct memory_cfg mem;
	uint64_t h = HASH_INIT;

	if (held)
		return hash_u64(hash_u64(h, held), how);
	memcpy(&mem, &c->mem, sizeof mem);
	mem.l2.size = mem.kv_buffer.size = 0;
#define AND(x) (h = hash_bytes(h, &(x), sizeof(x)))
	AND(c->clock), AND(c->core), AND(c->dispatch), AND(c->dma), AND(c->sram), AND(c->unit), AND(c->fusion);
	AND(c->weights), AND(c->activations), AND(c->kv), AND(c->mapping), AND(c->attention), AND(mem);
	AND(m->far), AND(m->back);
#undef AND
	return hash_u64(h, how);
}

#define PLENTY 4         /* times what is moved, */
#define BESIDE (1 << 20) /* and what lies between */

/* Where all that is moved takes a small part of the L2, nothing leaves it before it is used again. */
uint64_t map_sig(const struct mapper *m, uint64_t bytes, bool kv)
{
	const uint64_t l2 = m->c->mem.l2.size, crowded = bytes > (l2 - ps_min(l2, BESIDE)) / PLENTY ? l2 : 1;
	uint64_t h = map_and_u64(map_and_u64(m->sig, crowded), kv ? m->c->mem.kv_buffer.size : 0);

	return map_and_u64(map_and_u64(h, (uint64_t)m->c->cores << 32 | m->unit[0].cores), m->evaluator != NULL);
}

/* What operands of so many ops are to each other: which were there before, and which an op behind them reads. */
static uint64_t tied_key(const struct mapper *m, uint32_t first, uint32_t n, uint64_t h)
{
	const uint32_t from = m->s->ops[first].first_operand, end = first + n;

	for (uint32_t k = first; k < end; k++)
		for (uint32_t i = 0; i < m->s->ops[k].n_operands; i++) {
			const struct op_operand *x = map_operand(m, &m->s->ops[k], i), *same = &m->s->operands[from];
			const uint32_t last = m->last_read[x->tensor];

			while (same < x && (same->tensor != x->tensor || same->slot != x->slot))
				same++;
			h = map_and_u64(h, (uint64_t)(same - &m->s->operands[from]) << 1 |
			                           (last != UINT32_MAX && last >= end));
			h = map_and_u64(h, x->offset - same->offset);
		}
	return h;
}

uint64_t map_ops_key(const struct mapper *m, uint32_t first, uint32_t n)
{
	uint64_t bytes = 0, h = HASH_INIT;
	bool kv = false;

	for (uint32_t k = first; k < first + n; k++) {
		for (uint32_t i = 0; i < m->s->ops[k].n_operands; i++) {
			const struct op_operand *x = map_operand(m, &m->s->ops[k], i);

			bytes += x->bytes > x->touched ? x->bytes : x->touched;
			kv |= m->s->tensors[x->tensor].role == OP_KV;
		}
		h = map_op_key(m, &m->s->ops[k], h);
	}
	return tied_key(m, first, n, map_and_u64(h, map_sig(m, bytes, kv))) | 1;
}
