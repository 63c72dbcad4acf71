/* listed_shape.c - what a listed op reads and writes. */
#include "workloads/listed_int.h"
#include "workloads/shape.h"

/* A tensor's values, along rows of `row`. */
struct values {
	enum op_role role;
	const struct listed_type *type;
	uint64_t n, row;
};

static uint64_t bytes_of(const struct values *t)
{
	const uint32_t group = quant_group(t->type->quant);

	return t->type->quant == QUANT_AS_TRACED ? dtype_bytes(t->type->dtype, t->n)
	                                         : quant_bytes(t->type->quant, t->n, group ? group : t->row);
}

static void add(struct listed_shape *s, bool write, struct values t)
{
	s->io[s->n++] = (struct listed_io){ t.role, write, t.type->dtype, t.type->quant, bytes_of(&t), false };
}

/* Sums are wider than narrow operands. */
static const struct listed_type *result(const struct listed *x)
{
	return dtype_bits(x->type->dtype) < 16 ? listed_bf16() : x->type;
}

static void product(const struct listed *x, struct listed_shape *s)
{
	const uint64_t *v = x->v, m = v[LISTED_M], n = v[LISTED_N], k = v[LISTED_K], b = v[LISTED_BATCH];

	s->s.batch = b, s->s.m = m, s->s.n = n, s->s.k = k;
	s->out_dtype = result(x)->dtype;
	add(s, false, (struct values){ OP_ACTIVATION, x->type, b * m * k, k });
	add(s, false, (struct values){ OP_WEIGHT, x->weights, b * n * k, k });
	add(s, true, (struct values){ OP_ACTIVATION, result(x), b * m * n, n });
}

static void attention(const struct listed *x, struct listed_shape *s)
{
	const uint64_t *v = x->v, d = v[LISTED_HEAD_DIM], v_dim = v[LISTED_V_DIM];
	const uint64_t q = v[LISTED_BATCH] * v[LISTED_HEADS] * v[LISTED_Q_LEN],
		       kv = v[LISTED_BATCH] * v[LISTED_KV_HEADS] * v[LISTED_KV_LEN];

	s->s = (struct op_shape){ .batch = v[LISTED_BATCH],
		                  .heads = v[LISTED_HEADS],
		                  .kv_heads = v[LISTED_KV_HEADS],
		                  .q_len = v[LISTED_Q_LEN],
		                  .kv_len = v[LISTED_KV_LEN],
		                  .head_dim = d,
		                  .v_dim = v_dim,
		                  .causal = v[LISTED_CAUSAL] != 0 };
	s->out_dtype = result(x)->dtype;
	add(s, false, (struct values){ OP_ACTIVATION, x->type, q * d, d });
	add(s, false, (struct values){ OP_KV, x->weights, kv * d, d });
	if (x->algorithm != OP_ATTN_MLA) /* there values are a part of the keys */
		add(s, false, (struct values){ OP_KV, x->weights, kv * v_dim, v_dim });
	add(s, true, (struct values){ OP_ACTIVATION, result(x), q * v_dim, v_dim });
	if (x->algorithm != OP_ATTN_MATERIALISED)
		return;
	add(s, true, (struct values){ OP_ACTIVATION, x->type, q * v[LISTED_KV_LEN], v[LISTED_KV_LEN] });
	s->io[s->n - 1].scratch = true;
}

/* Elements, in rows where the table says them. */
static uint64_t elements(const struct listed *x, uint64_t *row)
{
	const uint64_t *v = x->v;

	*row = v[LISTED_COLS] ? v[LISTED_COLS] : v[LISTED_ELEMENTS];
	return v[LISTED_BATCH] * (v[LISTED_ELEMENTS] ? v[LISTED_ELEMENTS] : v[LISTED_ROWS] * v[LISTED_COLS]);
}

static void elementwise(const struct listed *x, struct listed_shape *s)
{
	const struct listed_type *to = x->to ? x->to : x->type;
	uint64_t row, n = elements(x, &row);
	const bool halves = x->kind->is.kind == OP_CONCAT && n > 1;

	s->s.elems = n;
	s->s.arity = x->kind->arity;
	s->out_dtype = to->dtype;
	for (uint32_t i = 0; i < x->kind->arity; i++)
		add(s, false, (struct values){ OP_ACTIVATION, x->type, !halves ? n : i ? n - n / 2 : n / 2, row });
	add(s, true, (struct values){ OP_ACTIVATION, to, n, row });
}

/* Rows from anywhere, and where they are. */
static void picked(const struct listed *x, struct listed_shape *s)
{
	const uint64_t rows = x->v[LISTED_BATCH] * x->v[LISTED_ROWS], cols = x->v[LISTED_COLS];
	const bool embed = x->kind->is.kind == OP_EMBED;

	s->s.elems = rows * cols;
	s->s.rows = rows, s->s.cols = cols;
	s->out_dtype = x->type->dtype;
	add(s, false,
	    (struct values){ embed ? OP_WEIGHT : OP_ACTIVATION, embed ? x->weights : x->type, rows * cols, cols });
	add(s, false, (struct values){ OP_INDEX, listed_index_type(), rows, rows });
	add(s, true, (struct values){ OP_ACTIVATION, x->type, rows * cols, cols });
}

static void along_rows(const struct listed *x, struct listed_shape *s)
{
	const uint64_t rows = x->v[LISTED_BATCH] * x->v[LISTED_ROWS], cols = x->v[LISTED_COLS], top = x->v[LISTED_K];
	const struct listed_meaning *u = &x->kind->is;
	const bool index = u->kind == OP_REDUCE && u->reduce == OP_RED_ARGMAX, one = u->kind == OP_REDUCE;
	const uint64_t out = one ? rows : u->kind == OP_TOPK ? rows * top : rows * cols;
	const struct listed_type *to = index ? listed_index_type() : x->type;

	s->s.rows = rows, s->s.cols = cols;
	s->s.top = u->kind == OP_TOPK ? top : 0;
	s->out_dtype = to->dtype;
	add(s, false, (struct values){ OP_ACTIVATION, x->type, rows * cols, cols });
	for (int i = 0; u->kind == OP_NORM && i < 1 + (u->fn[0] == 'l'); i++) /* a layer norm's bias too */
		add(s, false, (struct values){ OP_WEIGHT, x->weights, cols, cols });
	add(s, true, (struct values){ index ? OP_INDEX : OP_ACTIVATION, to, out, one ? rows : out / rows });
	if (u->kind == OP_TOPK || u->kind == OP_SORT)
		add(s, true, (struct values){ OP_INDEX, listed_index_type(), out, out / rows });
}

void listed_shape(const struct listed *x, struct listed_shape *out)
{
	*out = (struct listed_shape){ .dtype = x->type->dtype };
	switch (x->kind->is.kind) {
	case OP_GEMM:
		product(x, out);
		return;
	case OP_ATTENTION:
		attention(x, out);
		return;
	case OP_GATHER:
	case OP_SCATTER:
	case OP_EMBED:
		picked(x, out);
		return;
	case OP_REDUCE:
	case OP_SOFTMAX:
	case OP_NORM:
	case OP_TOPK:
	case OP_SORT:
	case OP_SCAN:
		along_rows(x, out);
		return;
	default:
		elementwise(x, out);
	}
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

	switch (x->kind->is.kind) {
	case OP_GEMM:
		return within(SHAPE_MAX_ELEMS, left, 3) && within(SHAPE_MAX_ELEMS, right, 3) &&
		       within(SHAPE_MAX_ELEMS, out, 3) && within(SHAPE_MAX_MACS, macs, 4);
	case OP_ATTENTION:
		return within(SHAPE_MAX_ELEMS, q, 4) && within(SHAPE_MAX_ELEMS, kv, 4) &&
		       within(SHAPE_MAX_MACS, pairs, 5);
	default:
		return within(SHAPE_MAX_ELEMS, grid, 3) && within(SHAPE_MAX_ELEMS, elems, 2);
	}
}
