/* lower_listed.c - rows of a table of ops: shapes from their cells, and operands that no other row has.
 *
 * A table says what is computed and not what flows from row to row, so nothing is inferred: each row has tensors of its own,
 * there before it runs, and waits for the row before it. */
#include <string.h>

#include "sim/lower/lower_int.h"
#include "traces/text/decimal.h"
#include "workloads/listed.h"

int lower_listed_read(struct lowering *w, struct lop *o)
{
	struct listed x;
	struct listed_shape *s;

	if (listed_of_op(o->main->op, &x) < 0) {
		o->why = "its framework op is no row of a table of ops";
		return 0;
	}
	if (!(s = arena_alloc(w->a, sizeof *s)))
		return lower_nomem(w);
	listed_shape(&x, s);
	o->opaque = false;
	o->listed = s;
	o->s = s->s;
	o->dtype = s->dtype, o->out_dtype = s->out_dtype;
	o->acc_dtype = dtype_accumulates(s->dtype);
	o->algorithm = x.algorithm;
	return 0;
}

/* "row3.w": the first of a role has no number. */
static const char *tensor_name(struct lowering *w, uint32_t op, const struct listed_io *io, uint32_t nth)
{
	static const char *const roles[] = {
		[OP_WEIGHT] = "w",    [OP_ACTIVATION] = "in",  [OP_KV] = "kv",
		[OP_INDEX] = "index", [OP_CONSTANT] = "table",
	};
	const char *what = io->write ? "out" : roles[io->role];

	return nth ? arena_printf(w->a, "row%u.%s%u", op, what, nth) : arena_printf(w->a, "row%u.%s", op, what);
}

/* A number that listed_cell has let through. */
static uint64_t amount(const char *text, int shift)
{
	int64_t v;

	return text && decimal_scaled(text, strlen(text), shift, &v) == 0 ? (uint64_t)v : 0;
}

int lower_listed(struct lowering *w, uint32_t op)
{
	const struct listed_shape *s = w->lops[op].listed;
	struct op_stream *out = w->out;
	struct op *x = &out->ops[op];
	struct listed row;

	if (listed_of_op(w->lops[op].main->op, &row) == 0) {
		x->measured_fj = amount(row.text[LISTED_MEASURED_UJ], 9);
		x->measured_khz = amount(row.text[LISTED_MEASURED_MHZ], 3);
	}

	for (uint32_t i = 0; i < s->n; i++) {
		const struct listed_io *io = &s->io[i];
		const uint32_t t = (uint32_t)out->n_tensors++;
		uint32_t nth = 0;

		for (uint32_t k = 0; k < i; k++)
			nth += s->io[k].write == io->write && (io->write || s->io[k].role == io->role);
		out->tensors[t] = (struct op_tensor){ .name = tensor_name(w, op, io, nth),
			                              .role = io->role,
			                              .dtype = io->dtype,
			                              .quant = io->quant,
			                              .bytes = io->bytes,
			                              .instances = 1,
			                              .layer = -1,
			                              .route = -1,
			                              .external = !io->write,
			                              .resident = io->resident };
		if (!out->tensors[t].name)
			return lower_nomem(w);
		out->operands[out->n_operands++] = (struct op_operand){
			.tensor = t, .write = io->write, .bytes = io->bytes, .touched = io->scratch ? 0 : io->bytes
		};
		x->n_operands++;
	}
	return 0;
}
