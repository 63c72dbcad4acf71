#include "sim/map/map_int.h"

static enum dtype stored_dtype(const struct mapper *m, const struct op *o, uint32_t tensor)
{
	switch (m->narrow[tensor]) {
	case 4:
		return DT_INT4;
	case 8:
		return DT_INT8;
	case 16:
		return DT_BF16;
	default:
		return o->dtype;
	}
}

uint64_t map_stored_bytes(const struct mapper *m, uint32_t tensor, uint64_t bytes)
{
	uint32_t bits = dtype_bits(m->s->tensors[tensor].dtype);

	if (!m->narrow[tensor] || !bits)
		return bytes;
	return div_up(bytes * m->narrow[tensor], bits);
}

/* dtype of the streamed operand: what the MAC rate depends on. */
static enum dtype weight_dtype(const struct mapper *m, const struct op *o)
{
	enum dtype d = o->dtype;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &m->s->operands[o->first_operand + i];

		if (!x->write && m->narrow[x->tensor])
			d = stored_dtype(m, o, x->tensor);
	}
	return d;
}

/* The fastest of the units present; vector ALUs where there is no other. */
static struct map_math product(const struct mapper *m, enum dtype d, uint64_t vectors, uint64_t rows, uint64_t cols)
{
	const struct machine_cfg *c = m->c;
	struct map_math best = { ISA_VECTOR, RES_VECTOR, PS_NEVER, vectors * rows * cols,
		                 "multiply-adds on the vector lanes" };
	uint32_t split;

	if (c->gemv.units) {
		ps_t t = gemv_span(&c->gemv, &c->sram, c->cores, c->clock, d, vectors, rows, cols, &split);

		best = (struct map_math){ ISA_GEMV, RES_GEMV, t, best.work,
			                  split > 1 ? "gemv, k split over units" : "gemv, rows over units" };
	}
	if (c->matrix.units) {
		ps_t t = matrix_span(&c->matrix, &c->sram, c->cores, c->clock, d, vectors, rows, cols);

		if (t < best.span)
			best = (struct map_math){ ISA_GEMM, RES_MATRIX, t, best.work, "systolic, weight-stationary" };
	}
	if (best.unit == RES_VECTOR)
		best.span = vector_map_span(&m->vec, best.work, 2, 0, 0, dtype_bytes(d, rows * cols));
	return best;
}

static uint64_t share(uint64_t total, uint64_t parts, bool last)
{
	uint64_t one = div_up(total, parts);

	if (!last)
		return one;
	/* The last part takes what is left; never nothing, so that every tile has a time. */
	return total > one * (parts - 1) ? total - one * (parts - 1) : 1;
}

static int elementwise(const struct mapper *m, const struct op *o, uint64_t n, struct map_math *x)
{
	uint32_t alu, sfu, convert = o->kind == OP_CONVERT;
	uint64_t bytes =
		n * (dtype_bits(o->dtype) * (o->shape.arity ? o->shape.arity : 1) + dtype_bits(o->out_dtype)) / 8;

	work_cost(o->cost, o->shape.arity, &alu, &sfu);
	if (o->cost == OP_COST_DIV)
		alu = m->c->vector.div_cycles;
	*x = (struct map_math){ convert ? ISA_CONVERT
		                : sfu   ? ISA_SFU
		                        : ISA_VECTOR,
		                RES_VECTOR, vector_map_span(&m->vec, n, alu, sfu, convert, bytes),
		                n * (alu + sfu + convert), "lanes" };
	return 1;
}

static int row_op(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math *x)
{
	uint64_t rows = o->shape.rows ? o->shape.rows : 1, cols = o->shape.cols ? o->shape.cols : 1;
	uint32_t passes = o->kind == OP_SOFTMAX ? 3 : o->kind == OP_NORM || o->kind == OP_SCAN ? 2 : 1;
	uint32_t sfu = o->kind == OP_SOFTMAX;

	/* Tiles cut rows while there are enough, then columns. */
	if (rows >= parts)
		rows = share(rows, parts, last);
	else
		cols = div_up(share(rows * cols, parts, last), rows);
	if (o->kind == OP_SORT || o->kind == OP_TOPK) {
		uint64_t top = o->kind == OP_TOPK ? (o->shape.top ? o->shape.top : 1) : 0;
		uint64_t steps = top ? work_topk_steps(cols, top) : work_sort_steps(cols);

		*x = (struct map_math){ ISA_SORT, RES_VECTOR, vector_sort_span(&m->vec, rows, cols, top), rows * steps,
			                "compare-exchange" };
		return 1;
	}
	*x = (struct map_math){ ISA_REDUCE, RES_VECTOR,
		                vector_reduce_span(&m->vec, rows, cols, passes, sfu,
		                                   rows * cols * dtype_bits(o->dtype) / 8),
		                rows * cols * passes, "rows over cores, tree over lanes" };
	return 1;
}

int map_math(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math out[2])
{
	const struct op_shape *s = &o->shape;

	switch (o->kind) {
	case OP_GEMM:
		out[0] = product(m, weight_dtype(m, o), s->m, share((s->batch ? s->batch : 1) * s->n, parts, last),
		                 s->k);
		return 1;
	case OP_ATTENTION: {
		uint64_t batch = s->batch ? s->batch : 1, kv_heads = s->kv_heads ? s->kv_heads : 1;
		uint64_t group = s->heads / kv_heads ? s->heads / kv_heads : 1,
			 vdim = s->v_dim ? s->v_dim : s->head_dim;
		uint64_t keys = share(batch * kv_heads * s->kv_len, parts, last);
		struct map_math qk = product(m, weight_dtype(m, o), s->q_len * group, keys, s->head_dim);
		struct map_math pv = product(m, weight_dtype(m, o), s->q_len * group, keys, vdim);

		qk.span += pv.span;
		qk.work += pv.work;
		out[0] = qk;
		/* Scores of one tile: running maximum, exponential, sum; one row a query head. */
		out[1] = (struct map_math){ ISA_SFU, RES_VECTOR,
			                    vector_reduce_span(&m->vec, s->q_len * group * batch * kv_heads,
			                                       div_up(keys, batch * kv_heads), 2, 1, 0),
			                    s->q_len * group * keys * 3, "online softmax" };
		return 2;
	}
	case OP_ELEMENTWISE:
	case OP_CONVERT:
	case OP_ROPE:
		return elementwise(m, o, share(s->elems ? s->elems : 1, parts, last), out);
	case OP_REDUCE:
	case OP_SOFTMAX:
	case OP_NORM:
	case OP_TOPK:
	case OP_SORT:
	case OP_SCAN:
		return row_op(m, o, parts, last, out);
	case OP_COPY:
	case OP_CONCAT:
	case OP_GATHER:
	case OP_SCATTER:
	case OP_EMBED:
	case OP_COLLECTIVE:
	case OP_HOST_SYNC:
	case OP_OPAQUE:
	case OP_KINDS:
		return 0; /* moved by the DMA alone, or not simulated */
	}
	return 0;
}
