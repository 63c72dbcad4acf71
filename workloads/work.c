/* work.c - operations and bytes of an op. Header: what counts as what. */
#include "workloads/work.h"

#include <string.h>

/* Steps of a division, iterative on every vector unit we know: estimate, two Newton steps of two, correction. */
#define DIV_STEPS 8
/* silu, gelu: one exponential or tanh, and around it negate, add, divide as reciprocal, multiply. */
#define ACT_STEPS 4

static uint64_t mul(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}

static uint64_t work_add(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

void work_cost(enum op_cost c, uint32_t arity, uint32_t *alu, uint32_t *sfu)
{
	*alu = *sfu = 0;
	switch (c) {
	case OP_COST_ALU:
		*alu = arity > 1 ? arity - 1 : 1;
		break;
	case OP_COST_DIV:
		*alu = DIV_STEPS;
		break;
	case OP_COST_SFU:
		*sfu = 1;
		break;
	case OP_COST_ACT:
		*alu = ACT_STEPS, *sfu = 1;
		break;
	case OP_COST_MOVE:
	case OP_COSTS:
		break;
	}
}

uint64_t work_sort_steps(uint64_t n)
{
	uint64_t lg = 0;

	if (n < 2)
		return 0;
	while (lg < 63 && (UINT64_C(1) << lg) < n)
		lg++;
	/* lg * (lg + 1) / 2 stages of n' / 2 compare-exchanges, n' the next power of two */
	return mul(UINT64_C(1) << (lg - 1), lg * (lg + 1) / 2);
}

uint64_t work_topk_steps(uint64_t n, uint64_t k)
{
	return mul(n, k < n ? k : n);
}

uint64_t work_attention_pairs(const struct op_shape *s)
{
	uint64_t all = mul(s->q_len, s->kv_len), past, whole;

	if (s->window && s->window < s->kv_len && s->kv_len >= s->q_len && all != UINT64_MAX) {
		if (!s->causal)
			return mul(s->q_len, s->window);
		past = s->kv_len - s->q_len;
		whole = s->window > past ? s->window - past : 0; /* queries whose window begins before the first key */
		whole = whole < s->q_len ? whole : s->q_len;
		return whole * past + whole * (whole + 1) / 2 + (s->q_len - whole) * s->window;
	}
	if (!s->causal || s->q_len < 2 || all == UINT64_MAX)
		return all;
	if (s->kv_len >= s->q_len) /* the last query sees every key */
		return all - s->q_len * (s->q_len - 1) / 2;
	return all / 2;
}

static void count_vector(struct work *w, uint64_t elems, uint64_t alu, uint64_t sfu)
{
	w->alu = work_add(w->alu, mul(elems, alu));
	w->sfu = work_add(w->sfu, mul(elems, sfu));
}

static uint64_t grid(const struct op_shape *s)
{
	return mul(s->rows, s->cols);
}

/* --- by the names that op_kinds.h has them under -------------------------------------------------------------------- */

static void count_product(struct work *w, const struct op *o)
{
	const struct op_shape *s = &o->shape;

	w->macs = mul(mul(s->batch, s->m), mul(s->n, s->k));
}

static void count_attention(struct work *w, const struct op *o)
{
	const struct op_shape *s = &o->shape;
	uint64_t heads = mul(s->batch, s->heads), pairs = mul(heads, work_attention_pairs(s));

	w->macs = mul(pairs, work_add(s->head_dim, s->v_dim));
	count_vector(w, pairs, 4, 1);
	count_vector(w, mul(heads, mul(s->q_len, s->v_dim)), 1, 0);
}

/* As many as the kind's row says. */
static void count_steps(struct work *w, const struct op *o)
{
	const struct op_traits *t = &op_traits[o->kind];

	count_vector(w, t->dims == OP_DIMS_ROWS ? grid(&o->shape) : o->shape.elems, t->each.alu, t->each.sfu);
	count_vector(w, o->shape.rows, t->row.alu, t->row.sfu);
}

static void count_cost(struct work *w, const struct op *o)
{
	uint32_t alu, sfu;

	work_cost(o->cost, o->shape.arity, &alu, &sfu);
	count_vector(w, o->shape.elems, alu, sfu);
}

static void count_reduce(struct work *w, const struct op *o)
{
	const enum op_reduce how = o->reduce;

	count_vector(w, grid(&o->shape), how == OP_RED_ARGMAX || how == OP_RED_NORM ? 2 : 1, 0);
	if (how == OP_RED_MEAN)
		count_vector(w, o->shape.rows, 1, 0);
	if (how == OP_RED_NORM)
		count_vector(w, o->shape.rows, 0, 1);
}

static void count_norm(struct work *w, const struct op *o)
{
	count_vector(w, grid(&o->shape), o->fn && strcmp(o->fn, "layer_norm") == 0 ? 6 : 4, 0);
	count_vector(w, o->shape.rows, 1, 1);
}

static void count_topk(struct work *w, const struct op *o)
{
	count_vector(w, o->shape.rows, work_topk_steps(o->shape.cols, o->shape.top), 0);
}

static void count_sort(struct work *w, const struct op *o)
{
	count_vector(w, o->shape.rows, work_sort_steps(o->shape.cols), 0);
}

static void count_collective(struct work *w, const struct op *o)
{
	if (o->fn && strstr(o->fn, "reduce")) /* all_reduce, reduce_scatter; gathers only move */
		count_vector(w, o->shape.elems, 1, 0);
}

/* What counters said of a kernel that no rule knows. */
static void count_counted(struct work *w, const struct op *o)
{
	w->flops = o->opaque_flops;
	w->read_bytes = o->n_operands ? 0 : o->opaque_bytes;
}

static void count_none(struct work *w, const struct op *o)
{
	(void)w, (void)o;
}

#define COUNT(id, name, work, ...) [OP_##id] = count_##work,
static void (*const counts[OP_KINDS])(struct work *w, const struct op *o) = { OP_KIND_ROWS(COUNT) };

struct work work_of(const struct op_stream *s, const struct op *o)
{
	struct work w = { 0 };

	counts[o->kind](&w, o);
	w.flops = work_add(w.flops, work_add(mul(w.macs, 2), work_add(w.alu, w.sfu)));
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];
		enum op_role role;

		if (x->write) {
			w.write_bytes = work_add(w.write_bytes, x->touched);
			continue;
		}
		w.read_bytes = work_add(w.read_bytes, x->touched);
		role = s->tensors[x->tensor].role;
		w.role_read_bytes[role] = work_add(w.role_read_bytes[role], x->touched);
	}
	return w;
}
