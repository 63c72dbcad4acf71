/* listed_shape.c - what a listed op reads and writes: the operands of its kind (workloads/op_kinds.h), in the row's sizes. */
#include <string.h>

#include "workloads/listed_int.h"
#include "workloads/shape.h"

/* Values along rows of `row`. */
struct values {
	uint64_t n, row;
};

static uint64_t listed_shape_bytes_of(const struct listed_type *type, const struct values *t)
{
	const uint32_t group = quant_group(type->quant);

	return type->quant == QUANT_AS_TRACED ? dtype_bytes(type->dtype, t->n)
	                                      : quant_bytes(type->quant, t->n, group ? group : t->row);
}

/* Elements, where the table says them; else rows of cols. */
static uint64_t elements(const struct listed *x)
{
	return x->v[LISTED_ELEMENTS] ? x->v[LISTED_ELEMENTS] : x->v[LISTED_ROWS] * x->v[LISTED_COLS];
}

static uint64_t *member(struct op_shape *s, enum op_dim d)
{
	uint64_t *const of[OP_DIM_COUNT] = {
		[OP_DIM_BATCH] = &s->batch, [OP_DIM_M] = &s->m,           [OP_DIM_N] = &s->n,
		[OP_DIM_K] = &s->k,         [OP_DIM_HEADS] = &s->heads,   [OP_DIM_KV_HEADS] = &s->kv_heads,
		[OP_DIM_Q_LEN] = &s->q_len, [OP_DIM_KV_LEN] = &s->kv_len, [OP_DIM_HEAD_DIM] = &s->head_dim,
		[OP_DIM_V_DIM] = &s->v_dim, [OP_DIM_ELEMS] = &s->elems,   [OP_DIM_ROWS] = &s->rows,
		[OP_DIM_COLS] = &s->cols,   [OP_DIM_TOP] = &s->top,
	};

	return of[d];
}

/* Where an op has no dimension of its own for a batch, there are as many more elements or rows. */
static uint64_t listed_shape_size_of(const struct listed *x, enum op_dim d)
{
	static const enum listed_column column[OP_DIM_COUNT] = {
		[OP_DIM_BATCH] = LISTED_BATCH, [OP_DIM_M] = LISTED_M,           [OP_DIM_N] = LISTED_N,
		[OP_DIM_K] = LISTED_K,         [OP_DIM_HEADS] = LISTED_HEADS,   [OP_DIM_KV_HEADS] = LISTED_KV_HEADS,
		[OP_DIM_Q_LEN] = LISTED_Q_LEN, [OP_DIM_KV_LEN] = LISTED_KV_LEN, [OP_DIM_HEAD_DIM] = LISTED_HEAD_DIM,
		[OP_DIM_V_DIM] = LISTED_V_DIM, [OP_DIM_COLS] = LISTED_COLS,     [OP_DIM_TOP] = LISTED_K,
	};

	return d == OP_DIM_ELEMS  ? x->v[LISTED_BATCH] * elements(x)
	       : d == OP_DIM_ROWS ? x->v[LISTED_BATCH] * x->v[LISTED_ROWS]
	                          : x->v[column[d]];
}

/* A row of elements is the table's, or all of them. */
static struct values values_of(const struct listed *x, const struct op_traits_operand *p)
{
	struct values t = { 1, 1 };

	for (size_t i = 0; i < sizeof p->dims && p->dims[i]; i++)
		t.n *= t.row = listed_shape_size_of(x, (enum op_dim)p->dims[i]);
	if (p->dims[0] == OP_DIM_ELEMS)
		t.row = x->v[LISTED_COLS] ? x->v[LISTED_COLS] : elements(x);
	return t;
}

/* How many of an operand there are. */
static uint32_t how_many(const struct listed *x, const struct op_traits_operand *p)
{
	switch (p->when) {
	case OP_EACH:
	case OP_PARTS:
		return x->kind->arity;
	case OP_UNLESS_LATENT:
		return x->algorithm != OP_ATTN_MLA;
	case OP_IF_MATERIALISED:
		return x->algorithm == OP_ATTN_MATERIALISED;
	case OP_IF_BIASED:
		return strcmp(x->kind->is.fn, "layer_norm") == 0;
	case OP_ALWAYS:
		break;
	}
	return 1;
}

/* What a packer writes back as a product's operands came. */
static bool packed(enum quant q)
{
	return q == QUANT_BFP8_B || q == QUANT_BFP4_B;
}

/* Sums are wider than narrow operands. */
static const struct listed_type *type_of(const struct listed *x, const struct op_traits_operand *p, enum op_role role)
{
	if (role == OP_INDEX)
		return listed_index_type();
	if (role == OP_WEIGHT || role == OP_KV)
		return x->weights;
	if (!p->write || p->scratch)
		return x->type;
	if (op_is_product(x->kind->is.kind) && dtype_bits(x->type->dtype) < 16 && !packed(x->type->quant))
		return listed_bf16();
	return x->to ? x->to : x->type;
}

static void listed_shape_add(struct listed_shape *s, const struct listed *x, const struct op_traits_operand *p)
{
	const uint32_t n = how_many(x, p);
	const bool index = p->write && x->kind->is.kind == OP_REDUCE && x->kind->is.reduce == OP_RED_ARGMAX;
	const enum op_role role = index ? OP_INDEX : p->is;
	const struct listed_type *type = type_of(x, p, role);
	const struct values all = values_of(x, p);

	if (p->write && s->out_dtype == DT_NONE)
		s->out_dtype = type->dtype;
	for (uint32_t i = 0; i < n; i++) {
		struct values t = all;

		if (p->when == OP_PARTS && all.n >= n)
			t.n = all.n / n + (i + 1 == n ? all.n % n : 0);
		s->io[s->n++] =
			(struct listed_io){ role,
			                    p->write,
			                    type->dtype,
			                    type->quant,
			                    listed_shape_bytes_of(type, &t),
			                    x->resident >> (p->write                             ? LISTED_OUT
			                                    : role == OP_WEIGHT || role == OP_KV ? LISTED_WEIGHTS
			                                                                         : LISTED_IN) &
			                            1,
			                    p->scratch };
	}
	for (size_t i = 0; i < sizeof p->dims && p->dims[i]; i++)
		*member(&s->s, (enum op_dim)p->dims[i]) = listed_shape_size_of(x, (enum op_dim)p->dims[i]);
	if (p->when == OP_EACH || p->when == OP_PARTS)
		s->s.arity = n;
}

void listed_shape(const struct listed *x, struct listed_shape *out)
{
	const struct op_traits *t = &op_traits[x->kind->is.kind];

	*out = (struct listed_shape){ .dtype = x->type->dtype };
	for (size_t i = 0; i < OP_OPERANDS && t->operands[i].dims[0]; i++)
		listed_shape_add(out, x, &t->operands[i]);
	out->s.passes = (uint32_t)x->v[LISTED_PASSES];
	out->s.causal = t->dims == OP_DIMS_ATTENTION && x->v[LISTED_CAUSAL];
	if (t->indexed)
		out->s.elems = out->s.rows * out->s.cols;
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

/* A product of sizes that stays within `most`. */
static bool within(uint64_t most, const uint64_t *v, size_t n)
{
	uint64_t all = 1;

	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(all, v[i] ? v[i] : 1, &all) || all > most)
			return false;
	return true;
}

bool listed_fits(const struct listed *x)
{
	const uint64_t *v = x->v, b = v[LISTED_BATCH],
		       d = v[LISTED_HEAD_DIM] > v[LISTED_V_DIM] ? v[LISTED_HEAD_DIM] : v[LISTED_V_DIM];
	const uint64_t left[] = { b, v[LISTED_M], v[LISTED_K] }, right[] = { b, v[LISTED_N], v[LISTED_K] },
		       out[] = { b, v[LISTED_M], v[LISTED_N] }, macs[] = { b, v[LISTED_M], v[LISTED_N], v[LISTED_K] },
		       q[] = { b, v[LISTED_HEADS], v[LISTED_Q_LEN], d },
		       kv[] = { b, v[LISTED_KV_HEADS], v[LISTED_KV_LEN], d },
		       pairs[] = { b, v[LISTED_HEADS], v[LISTED_Q_LEN], v[LISTED_KV_LEN], 2 * d },
		       grid[] = { b, v[LISTED_ROWS], v[LISTED_COLS] }, elems[] = { b, v[LISTED_ELEMENTS] };

	switch (op_traits[x->kind->is.kind].dims) {
	case OP_DIMS_PRODUCT:
		return within(SHAPE_MAX_ELEMS, left, 3) && within(SHAPE_MAX_ELEMS, right, 3) &&
		       within(SHAPE_MAX_ELEMS, out, 3) && within(SHAPE_MAX_MACS, macs, 4);
	case OP_DIMS_ATTENTION:
		return within(SHAPE_MAX_ELEMS, q, 4) && within(SHAPE_MAX_ELEMS, kv, 4) &&
		       within(SHAPE_MAX_MACS, pairs, 5);
	case OP_DIMS_ELEMS:
	case OP_DIMS_ROWS:
		break;
	}
	return within(SHAPE_MAX_ELEMS, grid, 3) && within(SHAPE_MAX_ELEMS, elems, 2);
}
