/* lower_listed.c - rows of a table of ops: shapes from their cells, and operands that no other row has.
 *
 * A table says what is computed and not what flows from row to row, so none of that is inferred: each row has tensors of its
 * own, there before it runs, and waits for the row before it.
 * Of an attention of one sequence with more heads than any model has, `heads` counted those of a batch. What a sequence has is
 * then the greatest common divisor of the rows that are alike in all but their heads and lengths: batches of one model, a
 * divisor of the model's heads at the worst. Bytes and multiply-adds are the same. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/ratio.h"
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
		out->lies |= row.resident != 0;
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

/* --- heads of a sequence ------------------------------------------------------------------------------------------ */

#define MOST_HEADS 128 /* of queries: Llama 3.1 405B and DeepSeek-V3 have as many (their config.json) */

static bool of_one(const struct op *o)
{
	return o->listed && o->kind == OP_ATTENTION && o->shape.batch <= 1 && o->shape.kv_heads;
}

static int lower_listed_by(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* 0: alike in all but heads and lengths. */
static int by_kind(const void *a, const void *b)
{
	const struct op *x = *(struct op *const *)a, *y = *(struct op *const *)b;
	const struct op_shape *s = &x->shape, *t = &y->shape;
	int c = lower_listed_by(x->algorithm, y->algorithm);

	if (!c)
		c = lower_listed_by(s->head_dim, t->head_dim);
	if (!c)
		c = lower_listed_by(s->v_dim, t->v_dim);
	return c ? c : lower_listed_by(s->heads / s->kv_heads, t->heads / t->kv_heads);
}

/* Of n that are alike. */
static uint64_t apart(struct op *const *v, size_t n)
{
	uint64_t heads = 0, did = 0;

	for (size_t i = 0; i < n; i++)
		heads = ratio_common(v[i]->shape.heads, heads);
	for (size_t i = 0; i < n; i++) {
		struct op_shape *s = &v[i]->shape;
		const uint64_t batch = s->heads / heads;

		if (s->heads <= MOST_HEADS || heads > MOST_HEADS)
			continue;
		s->kv_heads /= batch; /* as many queries to a KV head in all rows: `heads` is a multiple of that */
		s->heads = heads;
		s->batch = batch;
		did++;
	}
	return did;
}

int lower_sequences(struct lowering *w)
{
	struct op **v = arena_array(w->a, w->out->n_ops + 1, sizeof *v);
	size_t n = 0;

	if (!v)
		return lower_nomem(w);
	for (size_t i = 0; i < w->out->n_ops; i++)
		if (of_one(&w->out->ops[i]))
			v[n++] = &w->out->ops[i];
	if (n)
		qsort(v, n, sizeof *v, by_kind);
	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && by_kind(&v[i], &v[to]) == 0;)
			to++;
		w->out->regrouped += apart(v + i, to - i);
	}
	return 0;
}
