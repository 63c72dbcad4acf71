/* shape_product.c - shapes of what multiplies: products, convolutions, attention. */
#include <string.h>

#include "workloads/shape_int.h"

/* --- products --------------------------------------------------------------------------------------------------- */

static int check_macs(struct reading *r, const struct op_shape *s)
{
	uint64_t v;

	if (__builtin_mul_overflow(s->batch, s->m, &v) || __builtin_mul_overflow(v, s->n, &v) ||
	    __builtin_mul_overflow(v, s->k, &v) || v > SHAPE_MAX_MACS)
		return rd_refuse(r, "a product has more than 2^62 multiply-adds");
	return v ? 0 : rd_refuse(r, "a product is empty");
}

/* Where the operands stand in the call; `transposed`: the right one is [n, k]. */
struct product_args {
	const char *name;
	int8_t left, right, bias;
	bool transposed;
};

static const struct product_args *product_args(const struct reading *r)
{
	static const struct product_args known[] = {
		{ "mm", 0, 1, -1, false },
		{ "bmm", 0, 1, -1, false },
		{ "matmul", 0, 1, -1, false },
		{ "addmm", 1, 2, 0, false },
		{ "_addmm_activation", 1, 2, 0, false },
		{ "baddbmm", 1, 2, 0, false },
		{ "linear", 0, 1, 2, true },
		{ "_scaled_mm", 0, 1, 4, false },
		{ "_int_mm", 0, 1, -1, false },
		{ "mv", 1, 0, -1, true },
		{ "addmv", 2, 1, 0, true },
		{ "dot", 0, 1, -1, true },
		{ "vdot", 0, 1, -1, true },
		{ NULL, 0, 0, 0, false },
	};
	const struct product_args *a = known;

	while (a->name && strcmp(a->name, r->name) != 0)
		a++;
	return a->name ? a : NULL;
}

/* An unknown op's product: the first pair of arguments whose inner dims agree, [m,k] x [k,n] or [m,k] x [n,k]. */
static int guess_product(struct reading *r, const struct trace_arg **left, const struct trace_arg **right,
                         bool *transposed)
{
	const struct trace_arg *a, *b;

	for (uint32_t i = 0; (a = rd_nth(r, i)); i++)
		for (uint32_t j = i + 1; a->ndims >= 2 && (b = rd_nth(r, j)); j++) {
			if (b->ndims < 2)
				continue;
			*left = a, *right = b;
			*transposed = a->dims[a->ndims - 1] != b->dims[b->ndims - 2];
			if (!*transposed || a->dims[a->ndims - 1] == b->dims[b->ndims - 1])
				return 0;
		}
	return rd_refuse(r, "no two arguments agree as a product");
}

static enum dtype product_out(const struct reading *r, enum dtype in)
{
	const bool grouped = strcmp(r->name, "_scaled_grouped_mm") == 0;
	enum dtype d = grouped || strcmp(r->name, "_scaled_mm") == 0 ? rd_dtype_code(r, grouped ? 7 : 6) : DT_NONE;

	if (d != DT_NONE)
		return d;
	if (in == DT_FP8 || in == DT_FP4)
		return DT_BF16;
	return in == DT_INT8 ? DT_INT32 : in;
}

int rd_product(struct reading *r)
{
	const struct product_args *args = product_args(r);
	const struct trace_arg *a = NULL, *b = NULL, *c = NULL;
	struct op_shape *s = &r->s->s;
	struct shape_io *left, *right;
	uint64_t dims[TRACE_MAX_DIMS], k2;
	bool transposed;
	int32_t nd = 0;

	if (args) {
		a = rd_tensor(r, args->left), b = rd_tensor(r, args->right), transposed = args->transposed;
		c = args->bias >= 0 ? rd_tensor(r, args->bias) : NULL;
	} else if (guess_product(r, &a, &b, &transposed) < 0) {
		return -1;
	}
	if (!(left = rd_in(r, a, SHAPE_LEFT)) || !(right = rd_in(r, b, SHAPE_RIGHT)))
		return -1;
	if (left->ndims < 1 || right->ndims < 1)
		return rd_refuse(r, "a product's operand has no dims");
	s->batch = s->m = s->n = 1;
	s->k = left->dims[left->ndims - 1];
	if (right->ndims == 1) {
		k2 = right->dims[0];
	} else {
		k2 = right->dims[right->ndims - (transposed ? 1 : 2)];
		s->n = right->dims[right->ndims - (transposed ? 2 : 1)];
	}
	if (s->k != k2)
		return rd_refuse(r, "a product's inner dims differ");
	for (int32_t i = 0; i + 1 < left->ndims; i++) {
		bool batch = right->ndims > 2 && i + 2 < left->ndims;

		dims[nd++] = left->dims[i];
		if (rd_mul(r, batch ? s->batch : s->m, left->dims[i], batch ? &s->batch : &s->m) < 0)
			return -1;
	}
	if (right->ndims > 1)
		dims[nd++] = s->n;
	if (check_macs(r, s) < 0)
		return -1;
	r->s->dtype = left->dtype;
	r->s->acc_dtype = dtype_accumulates(left->dtype);
	if (c && c->ndims > 0) {
		struct shape_io *bias = rd_in(r, c, SHAPE_PARAM);

		if (!bias)
			return -1;
		bias->use = bias->ndims < nd ? SHAPE_PARAM : SHAPE_DATA;
	}
	return rd_out(r, product_out(r, left->dtype), dims, nd) ? 0 : -1;
}

/* A tensor of one matrix a group: the matrix. */
static void one_of(struct shape_io *io)
{
	io->ndims--;
	memmove(io->dims, io->dims + 1, (size_t)io->ndims * sizeof *io->dims);
	memmove(io->strides, io->strides + 1, (size_t)io->ndims * sizeof *io->strides);
	io->elems = io->extent = io->dims[0] * io->dims[1];
}

/* Products of a group each in one launch: [rows, k] x [groups, k, n], where offsets on the device say whose the rows are
 * (a mixture's experts); [groups, m, k] x [k, n of all]; [m, k of all] x [k of all, n], a product of each stretch of k. */
int rd_grouped(struct reading *r)
{
	const struct trace_arg *a = rd_tensor(r, 0), *b = rd_tensor(r, 1), *ends;
	static const char *const known[] = { "_grouped_mm", "grouped_mm", "_scaled_grouped_mm", NULL };
	const int32_t offsets = strcmp(r->name, "_scaled_grouped_mm") == 0 ? 4 : 2;
	struct op_shape *s = &r->s->s;
	struct shape_io *left, *right;
	uint64_t dims[TRACE_MAX_DIMS], groups;
	int32_t nd = 2;

	if (!rd_name_is(r, known))
		return rd_refuse(r, "this grouped product's op does not give its groups as dims");
	if (!(left = rd_in(r, a, SHAPE_LEFT)) || !(right = rd_in(r, b, SHAPE_RIGHT)))
		return -1;
	if (left->ndims < 2 || left->ndims > 3 || right->ndims < 2 || right->ndims > 3)
		return rd_refuse(r, "a grouped product's operands have two or three dims");
	ends = rd_tensor(r, offsets);
	groups = right->ndims == 3                               ? right->dims[0]
	         : left->ndims == 3                              ? left->dims[0]
	         : ends && ends->ndims == 1 && ends->dims[0] > 0 ? (uint64_t)ends->dims[0]
	                                                         : 0;
	if (!groups || groups > SHAPE_MAX_GROUPS)
		return rd_refuse(r, "a grouped product has 1 to 4096 groups");
	if (left->ndims == 3 && right->ndims == 3 && left->dims[0] != groups)
		return rd_refuse(r, "a grouped product's operands differ in groups");
	s->batch = groups;
	s->m = dims[0] = left->dims[left->ndims - 2];
	s->n = dims[1] = right->dims[right->ndims - 1];
	s->k = left->dims[left->ndims - 1];
	if (s->k != right->dims[right->ndims - 2])
		return rd_refuse(r, "a product's inner dims differ");
	if (check_macs(r, s) < 0)
		return -1;
	if (left->ndims == 2 && right->ndims == 3) {
		r->s->open_groups = true;
		one_of(right);
	} else if (left->ndims == 3 && right->ndims == 2) {
		s->n = (s->n + groups - 1) / groups;
	} else {
		dims[0] = groups, dims[1] = s->m, dims[2] = s->n, nd = 3;
		s->k = left->ndims == 3 ? s->k : (s->k + groups - 1) / groups;
	}
	r->s->dtype = left->dtype;
	r->s->acc_dtype = dtype_accumulates(left->dtype);
	return rd_out(r, product_out(r, left->dtype), dims, nd) ? 0 : -1;
}

/* Position of the n-th list of integers in the call: [stride], [padding], [dilation]. */
static uint64_t list_value(const struct reading *r, int32_t pos, uint32_t i, uint64_t missing)
{
	const char *p = rd_scalar(r, pos);
	uint64_t v = missing;

	if (*p++ != '[')
		return missing;
	for (uint32_t at = 0; *p && *p != ']'; at++) {
		uint64_t x = 0;

		while (*p == ' ' || *p == ',')
			p++;
		if (*p < '0' || *p > '9')
			return missing;
		for (; *p >= '0' && *p <= '9'; p++)
			x = x < 1000000 ? x * 10 + (uint64_t)(*p - '0') : x;
		v = x;
		if (at == i)
			return v;
	}
	return v; /* a list of one holds for all dims */
}

/* An implicit product: m = output pixels, n = channels out, k = channels in x window, batch = groups. */
int rd_convolution(struct reading *r)
{
	static const char *const vendor[] = { "cudnn_convolution", "miopen_convolution", "cudnn_convolution_relu",
		                              NULL };
	int32_t base = rd_name_is(r, vendor) ? 2 : 3; /* the vendors' ops have no bias argument */
	int32_t stride_at = 3, pad_at = base == 2 ? 2 : 4;
	struct op_shape *s = &r->s->s;
	struct shape_io *x = rd_in(r, rd_tensor(r, 0), SHAPE_DATA);
	struct shape_io *w = x ? rd_in(r, rd_tensor(r, 1), SHAPE_RIGHT) : NULL;
	const struct trace_arg *bias = base == 3 ? rd_tensor(r, 2) : NULL;
	uint64_t dims[TRACE_MAX_DIMS];

	if (!w)
		return -1;
	if (x->ndims < 3 || x->ndims > 5 || w->ndims != x->ndims || !w->dims[0] || !w->dims[1] ||
	    x->dims[1] % w->dims[1])
		return rd_refuse(r, "a convolution's dims do not agree");
	s->batch = x->dims[1] / w->dims[1];
	s->m = dims[0] = x->dims[0];
	dims[1] = w->dims[0];
	s->n = w->dims[0] / (s->batch ? s->batch : 1);
	s->k = w->dims[1];
	for (int32_t i = 2; i < x->ndims; i++) {
		uint32_t axis = (uint32_t)i - 2;
		uint64_t stride = list_value(r, stride_at, axis, 1), pad = list_value(r, pad_at, axis, 0);
		uint64_t dil = list_value(r, base == 2 ? 4 : 5, axis, 1), window = w->dims[i], span;

		if (rd_mul(r, window ? window - 1 : 0, dil, &span) < 0 || rd_mul(r, s->k, window, &s->k) < 0)
			return -1;
		if (!window || !stride || x->dims[i] + 2 * pad < span + 1)
			return rd_refuse(r, "a convolution's window is larger than its input");
		dims[i] = (x->dims[i] + 2 * pad - span - 1) / stride + 1;
		if (rd_mul(r, s->m, dims[i], &s->m) < 0)
			return -1;
	}
	if (check_macs(r, s) < 0)
		return -1;
	if (bias && bias->ndims == 1 && !rd_in(r, bias, SHAPE_PARAM))
		return -1;
	return rd_out(r, x->dtype, dims, x->ndims) ? 0 : -1;
}

/* --- attention --------------------------------------------------------------------------------------------------- */

/* Frameworks' attention ops: [batch, heads, length, dim] or [batch, length, heads, dim] (rank 3: one sequence of
 * packed tokens), and where they say that the mask is causal; there is no position for those that never are. */
struct attention_args {
	const char *name;
	bool heads_first;
	int8_t causal;
};

static const struct attention_args *attention_args(const struct reading *r)
{
	static const struct attention_args known[] = {
		{ "scaled_dot_product_attention", true, 5 },
		{ "_scaled_dot_product_attention_math", true, 5 },
		{ "_scaled_dot_product_flash_attention", true, 4 },
		{ "_scaled_dot_product_efficient_attention", true, 6 },
		{ "_scaled_dot_product_cudnn_attention", true, 6 },
		{ "_cudnn_attention_forward", true, 10 },
		{ "_flash_attention_forward", false, 8 },
		{ "_efficient_attention_forward", false, 9 },
		{ "_flash_attn_forward", false, 5 },
		{ "_flash_attn_varlen_forward", false, 9 },
		{ "flash_attn_func", false, 5 },
		{ NULL, false, 0 },
	};
	const struct attention_args *a = known;

	while (a->name && strcmp(a->name, r->name) != 0)
		a++;
	return a->name ? a : NULL;
}

int rd_attention(struct reading *r)
{
	const struct attention_args *args = attention_args(r);
	struct op_shape *s = &r->s->s;
	struct shape_io *q, *k, *v;
	const struct trace_arg *mask;
	uint64_t dims[TRACE_MAX_DIMS], pairs, macs, n;
	int32_t h, l;

	if (!args)
		return rd_refuse(r, "this attention op does not give the keys' length as dims");
	if (!(q = rd_in(r, rd_tensor(r, 0), SHAPE_DATA)) || !(k = rd_in(r, rd_tensor(r, 1), SHAPE_CACHE)) ||
	    !(v = rd_in(r, rd_tensor(r, 2), SHAPE_CACHE)))
		return -1;
	if (q->ndims < 3 || q->ndims > 4 || k->ndims != q->ndims || v->ndims != q->ndims)
		return rd_refuse(r, "attention's operands do not agree");
	h = args->heads_first ? q->ndims - 3 : q->ndims - 2;
	l = args->heads_first ? q->ndims - 2 : q->ndims - 3;
	s->batch = q->ndims == 4 ? q->dims[0] : 1;
	s->heads = q->dims[h], s->kv_heads = k->dims[h];
	s->q_len = q->dims[l], s->kv_len = k->dims[l];
	s->head_dim = q->dims[q->ndims - 1], s->v_dim = v->dims[v->ndims - 1];
	if (k->dims[k->ndims - 1] != s->head_dim || v->dims[l] != s->kv_len || v->dims[h] != s->kv_heads ||
	    !s->kv_heads || s->heads % s->kv_heads)
		return rd_refuse(r, "attention's operands do not agree");
	s->causal = rd_true(r, args->causal) || strcmp(rd_scalar(r, args->causal), "1") == 0;
	if (rd_mul(r, s->batch, s->heads, &n) < 0 || rd_mul(r, s->q_len, s->kv_len, &pairs) < 0)
		return -1;
	if (__builtin_mul_overflow(n, pairs, &macs) || __builtin_mul_overflow(macs, s->head_dim + s->v_dim, &macs) ||
	    macs > SHAPE_MAX_MACS)
		return rd_refuse(r, "attention has more than 2^62 multiply-adds");
	if (!macs)
		return rd_refuse(r, "attention is empty");
	memcpy(dims, q->dims, sizeof dims);
	dims[q->ndims - 1] = s->v_dim;
	if ((mask = rd_tensor(r, 3)) && mask->ndims >= 2 && !rd_in(r, mask, SHAPE_TABLE))
		return -1;
	return rd_out(r, q->dtype, dims, q->ndims) ? 0 : -1;
}
