/* build_name.c - what a person calls the ops and tensors that were built: as a trace's are called. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/build/build_int.h"

static void product(const struct op *o, char *buf, size_t size)
{
	const struct op_shape *s = &o->shape;

	if (s->batch > 1)
		snprintf(buf, size, "bmm %" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64, s->batch, s->m, s->k, s->n);
	else if (s->m == 1)
		snprintf(buf, size, "gemv %" PRIu64 "x%" PRIu64, s->k, s->n);
	else
		snprintf(buf, size, "gemm %" PRIu64 "x%" PRIu64 "x%" PRIu64, s->m, s->k, s->n);
}

static void attention(const struct op *o, char *buf, size_t size)
{
	const struct op_shape *s = &o->shape;
	int n = snprintf(buf, size, "attention %" PRIu64 "x%" PRIu64 " kv %" PRIu64, s->heads, s->head_dim, s->kv_len);

	if (s->q_len > 1 && n > 0 && (size_t)n < size)
		n += snprintf(buf + n, size - (size_t)n, " q %" PRIu64, s->q_len);
	if (s->batch > 1 && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, " batch %" PRIu64, s->batch);
}

static void describe(const struct op_stream *s, const struct op *o, char *buf, size_t size)
{
	const struct op_shape *x = &o->shape;
	const char *what = *o->fn ? o->fn : op_kind_name(o->kind);
	const struct op_operand *last = &s->operands[o->first_operand + o->n_operands - 1];

	if (o->kind == OP_GEMM)
		product(o, buf, size);
	else if (o->kind == OP_ATTENTION)
		attention(o, buf, size);
	else if (o->kind == OP_CONVERT)
		snprintf(buf, size, "%s to %s %" PRIu64, dtype_name(o->dtype), dtype_name(o->out_dtype), x->elems);
	else if (o->kind == OP_TOPK)
		snprintf(buf, size, "topk %" PRIu64 " of %" PRIu64 "x%" PRIu64, x->top, x->rows, x->cols);
	else if (o->kind == OP_HOST_SYNC)
		snprintf(buf, size, "host read %" PRIu64 " B", dtype_bytes(o->dtype, x->elems));
	else if (o->kind == OP_CONCAT && s->tensors[last->tensor].role == OP_KV)
		snprintf(buf, size, "concat kv %" PRIu64, x->elems);
	else if (o->kind == OP_SCATTER && s->tensors[last->tensor].role == OP_KV)
		snprintf(buf, size, "write kv %" PRIu64, x->elems);
	else if (x->rows > 1)
		snprintf(buf, size, "%s %" PRIu64 "x%" PRIu64, what, x->rows, x->cols);
	else
		snprintf(buf, size, "%s %" PRIu64, what, x->rows ? x->cols : x->elems);
}

int b_names(struct builder *b)
{
	struct op_stream *s = b->s;
	char buf[160];

	for (size_t i = 0; i < s->n_ops; i++) {
		struct op *o = &s->ops[i];
		uint32_t outs = 0;

		describe(s, o, buf, sizeof buf);
		if (!(o->name = arena_strdup(b->a, buf)))
			return err_nomem(b->e, "for the names of ops");
		for (uint32_t k = 0; k < o->n_operands; k++) {
			const struct op_operand *x = &s->operands[o->first_operand + k];
			struct op_tensor *t = &s->tensors[x->tensor];

			if (!x->write || t->name)
				continue;
			t->name = arena_printf(b->a, outs ? "op%u.out%u" : "op%u.out", o->id, outs);
			outs++;
			if (!t->name)
				return err_nomem(b->e, "for the names of tensors");
		}
	}
	return 0;
}
