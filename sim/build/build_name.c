/* build_name.c - what a person calls the ops and tensors that were built: as a trace's are called. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/build/build_int.h"

/* Beside what any op is called: the rows that a router picks for, though there be one, and what a cache is written with. */
static void describe(const struct op_stream *s, const struct op *o, char *buf, size_t size)
{
	const struct op_shape *x = &o->shape;
	const struct op_operand *last = &s->operands[o->first_operand + o->n_operands - 1];

	if (o->kind == OP_TOPK)
		snprintf(buf, size, "topk %" PRIu64 " of %" PRIu64 "x%" PRIu64, x->top, x->rows, x->cols);
	else if (o->kind == OP_SCATTER && s->tensors[last->tensor].role == OP_KV)
		snprintf(buf, size, "write kv %" PRIu64, x->elems);
	else
		op_text(s, o, buf, size);
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
