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

uint64_t map_narrowed(const struct op_tensor *t, uint8_t to, uint64_t bytes)
{
	uint32_t bits = dtype_bits(t->dtype);

	return to && bits ? div_up(bytes * to, bits) : bytes;
}

uint64_t map_stored_bytes(const struct mapper *m, uint32_t tensor, uint64_t bytes)
{
	return map_narrowed(&m->s->tensors[tensor], m->narrow[tensor], bytes);
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

static bool can(const struct mapper *m, int unit, const struct unit_job *j, struct unit_plan *out)
{
	return m->unit[unit].cfg->units && unit_table[unit]->plan(&m->unit[unit], j, out);
}

/* The fastest of the units that can do it, the first of equals; a last resort where there is no other. */
static struct map_math best_unit(const struct mapper *m, const struct unit_job *j)
{
	struct map_math best = { .plan.span = PS_NEVER };
	struct unit_plan p;

	for (int last_resort = 0; last_resort < 2 && best.plan.span == PS_NEVER; last_resort++)
		for (int i = 0; i < UNIT_COUNT; i++)
			if (unit_table[i]->last_resort == last_resort && can(m, i, j, &p) && p.span < best.plan.span)
				best = (struct map_math){ (enum unit)i, p };
	return best;
}

static struct map_math product(const struct mapper *m, enum dtype d, uint64_t vectors, uint64_t rows, uint64_t cols)
{
	return best_unit(m, &(struct unit_job){ .work = UNIT_PRODUCT, .dtype = d, .m = vectors, .n = rows, .k = cols });
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
	struct unit_job j = { .work = UNIT_MAP, .elems = n, .convert = o->kind == OP_CONVERT };

	j.bytes = n * (dtype_bits(o->dtype) * (o->shape.arity ? o->shape.arity : 1) + dtype_bits(o->out_dtype)) / 8;
	j.divides = o->cost == OP_COST_DIV;
	work_cost(o->cost, o->shape.arity, &j.alu, &j.sfu);
	*x = best_unit(m, &j);
	return 1;
}

static int row_op(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math *x)
{
	struct unit_job j = { .rows = o->shape.rows ? o->shape.rows : 1, .cols = o->shape.cols ? o->shape.cols : 1 };

	/* Tiles cut rows while there are enough, then columns. */
	if (j.rows >= parts)
		j.rows = share(j.rows, parts, last);
	else
		j.cols = div_up(share(j.rows * j.cols, parts, last), j.rows);
	if (o->kind == OP_SORT || o->kind == OP_TOPK) {
		j.work = UNIT_SORT;
		j.top = o->kind == OP_TOPK ? (o->shape.top ? o->shape.top : 1) : 0;
	} else {
		j.work = UNIT_REDUCE;
		j.passes = o->kind == OP_SOFTMAX ? 3 : o->kind == OP_NORM || o->kind == OP_SCAN ? 2 : 1;
		j.sfu = o->kind == OP_SOFTMAX;
		j.bytes = j.rows * j.cols * dtype_bits(o->dtype) / 8;
	}
	*x = best_unit(m, &j);
	return 1;
}

/* Scores of a tile: running maximum, exponential, sum; one row a query head. */
static struct map_math online_softmax(const struct mapper *m, uint64_t rows, uint64_t queries, uint64_t keys,
                                      uint64_t heads)
{
	struct map_math x = best_unit(
		m, &(struct unit_job){
			   .work = UNIT_REDUCE, .rows = rows, .cols = div_up(keys, heads), .passes = 2, .sfu = 1 });

	x.plan.code = ISA_SFU;
	x.plan.work = queries * keys * 3;
	x.plan.why = "online softmax";
	return x;
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

		qk.plan.span += pv.plan.span;
		qk.plan.work += pv.plan.work;
		out[0] = qk;
		out[1] = online_softmax(m, s->q_len * group * batch * kv_heads, s->q_len * group, keys,
		                        batch * kv_heads);
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
