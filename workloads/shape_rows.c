/* shape_rows.c - shapes of what works along rows or element by element: softmax, norms, reductions, elementwise. */
#include <string.h>

#include "workloads/shape_int.h"

/* --- rows --------------------------------------------------------------------------------------------------------- */

static int rows_along(struct reading *r, const struct shape_io *x, uint32_t axis)
{
	uint64_t all = 1;

	for (int32_t i = 0; i < x->ndims; i++)
		all *= x->dims[i]; /* checked by add_in */
	r->s->s.cols = x->ndims ? x->dims[axis] : 1;
	if (!all)
		return rd_refuse(r, "the operand is empty");
	r->s->s.rows = all / r->s->s.cols;
	for (int32_t i = (int32_t)axis + 1; i < x->ndims; i++)
		if (x->dims[i] > 1)
			r->s->s.strided = true; /* neighbours along the row are none in memory */
	return 0;
}

int rd_softmax(struct reading *r)
{
	struct shape_io *x = rd_in(r, rd_tensor(r, 0), SHAPE_DATA);
	int64_t dim = -1;
	uint32_t axis = 0;

	if (!x)
		return -1;
	rd_int(r, 1, &dim);
	if (x->ndims && rd_dim(r, dim, x->ndims, &axis) < 0)
		return -1;
	if (rows_along(r, x, axis) < 0)
		return -1;
	/* half_to_float: the result is fp32 whatever went in */
	return rd_out(r, rd_true(r, 2) ? DT_FP32 : x->dtype, x->dims, x->ndims) ? 0 : -1;
}

/* Gains and biases behind the input; a row is what one gain covers (batch norm: a channel is a row). */
static int norm_of(struct reading *r, struct shape_io *x, uint32_t first_param)
{
	bool channels = strstr(r->name, "batch_norm") || strstr(r->name, "group_norm");
	const struct trace_arg *a;
	uint64_t cols = x->ndims ? x->dims[x->ndims - 1] : 1;

	for (uint32_t i = first_param; (a = rd_nth(r, i)); i++) {
		bool param = a->ndims > 0 && a->ndims < (x->ndims > 1 ? x->ndims : 2);
		struct shape_io *p = param ? rd_in(r, a, SHAPE_PARAM) : NULL;

		if (r->why)
			return -1;
		if (p && !channels && i == first_param)
			cols = p->elems;
	}
	if (channels && x->ndims > 1 && x->dims[1])
		cols = x->extent / x->dims[1];
	if (!cols || !x->elems)
		return rd_refuse(r, "the operand is empty");
	r->s->s.cols = cols;
	r->s->s.rows = x->elems / cols;
	return r->s->s.rows ? 0 : rd_refuse(r, "a norm's dims do not agree");
}

int rd_norm(struct reading *r)
{
	struct shape_io *x = rd_in(r, rd_nth(r, 0), SHAPE_DATA);

	if (!x || norm_of(r, x, 1) < 0)
		return -1;
	return rd_out(r, x->dtype, x->dims, x->ndims) ? 0 : -1;
}

int rd_norm_out(struct reading *r)
{
	const struct trace_arg *out = rd_nth(r, 0);
	struct shape_io *x = rd_in(r, rd_nth(r, 1), SHAPE_DATA);

	if (!x || norm_of(r, x, 2) < 0)
		return -1;
	return rd_out(r, dtype_from_framework(out->dtype), x->dims, x->ndims) ? 0 : -1;
}

/* x and residual, both overwritten: residual += x, x = norm(residual). */
int rd_add_norm(struct reading *r)
{
	struct shape_io *x = rd_in(r, rd_nth(r, 0), SHAPE_DATA);

	if (!x || !rd_in(r, rd_nth(r, 1), SHAPE_DATA) || norm_of(r, x, 2) < 0)
		return -1;
	return rd_alias(r, 1) && rd_alias(r, 0) ? 0 : -1;
}

/* Whether a launch of PyTorch's reduction over the dims of a mask could have this grid: a CTA a result, or results side by side
 * along the CTA's x or y. */
static bool grid_fits(const struct trace_launch *l, const struct shape_io *x, uint32_t mask)
{
	uint64_t results = 1;

	for (int32_t i = 0; i < x->ndims; i++)
		results *= mask >> i & 1 ? 1 : x->dims[i];
	return results == l->grid[0] || (results + l->block[1] - 1) / l->block[1] == l->grid[0] ||
	       (results + l->block[0] - 1) / l->block[0] == l->grid[0];
}

/* Which dims a reduction has that names none. It is over all of them, and its grid is one CTA wide, unless the trace records no
 * scalars: then the grid tells how many results there are, and the last dims that leave so many are taken. */
static int dims_by_grid(struct reading *r, const struct shape_io *x, uint32_t *mask)
{
	const uint32_t all = (UINT32_C(1) << x->ndims) - 1;

	*mask = all;
	if (r->l->grid[0] <= 1 || !r->l->block[0] || !r->l->block[1] || !strstr(r->l->name, "reduce_kernel<"))
		return 0;
	for (int32_t n = x->ndims; n > 0; n--) /* the last dims, fewer and fewer */
		if (grid_fits(r->l, x, *mask = all & ~(all >> n)))
			return 0;
	for (int32_t n = 1; n < x->ndims; n++) /* the first */
		if (grid_fits(r->l, x, *mask = all >> (x->ndims - n)))
			return 0;
	for (int32_t n = 1; n < x->ndims; n++) /* one in the middle */
		if (grid_fits(r->l, x, *mask = UINT32_C(1) << n))
			return 0;
	return rd_refuse(r, "the trace does not record which dimension was reduced, and the grid does not tell");
}

/* Bits of the dims in "[-1]", "[0, 2]", "1". For "", "[]" and None see dims_by_grid. */
static int dims_mask(struct reading *r, int32_t pos, const struct shape_io *x, uint32_t *mask)
{
	const char *p = rd_scalar(r, pos);
	bool any = false;

	*mask = 0;
	for (p += *p == '['; *p && *p != ']';) {
		int64_t v = 0;
		bool minus = *p == '-';
		uint32_t axis;

		p += minus;
		if (*p < '0' || *p > '9')
			break;
		for (; *p >= '0' && *p <= '9'; p++)
			v = v < 100 ? v * 10 + (*p - '0') : v;
		while (*p == ',' || *p == ' ')
			p++;
		if (rd_dim(r, minus ? -v : v, x->ndims, &axis) < 0)
			return -1;
		*mask |= UINT32_C(1) << axis;
		any = true;
	}
	return any ? 0 : dims_by_grid(r, x, mask);
}

int rd_reduce(struct reading *r)
{
	static const char *const norms[] = { "linalg_vector_norm", "norm", NULL };
	static const char *const args[] = { "argmax", "argmin", NULL }, *const bools[] = { "any", "all", NULL };
	static const char *const vars[] = { "var", "std", "var_mean", "std_mean", NULL };
	static const char *const picks[] = { "moe_sum", "moe_sum_reduce", NULL }; /* [tokens, picks, columns] */
	static const char *const pairs[] = { "max", "min", "median", NULL }, *const sums[] = { "sum", "prod", NULL };
	int32_t dims_pos = rd_name_is(r, norms) ? 2 : 1, keep_pos = rd_name_is(r, norms) || rd_name_is(r, vars) ? 3 : 2;
	struct shape_io *x = rd_in(r, rd_tensor(r, 0), SHAPE_DATA);
	uint64_t dims[TRACE_MAX_DIMS], cols = 1, all = 1;
	int32_t nd = 0;
	uint32_t mask;
	enum dtype dt;
	bool whole, inner_kept = false;

	if (!x || dims_mask(r, dims_pos, x, &mask) < 0)
		return -1;
	if (rd_name_is(r, picks) && x->ndims == 3)
		mask = 2;
	whole = mask == (UINT32_C(1) << x->ndims) - 1;
	for (int32_t i = 0; i < x->ndims; i++) {
		all *= x->dims[i];
		if (mask >> i & 1) {
			cols *= x->dims[i];
			if (rd_true(r, keep_pos))
				dims[nd++] = 1;
			continue;
		}
		dims[nd++] = x->dims[i];
		inner_kept = inner_kept || (x->dims[i] > 1 && mask & ((UINT32_C(1) << i) - 1));
	}
	if (!all)
		return rd_refuse(r, "the operand is empty");
	r->s->s.cols = cols;
	r->s->s.rows = all / cols;
	r->s->s.strided = inner_kept; /* the summed dim is not the innermost */
	dt = rd_name_is(r, args) ? DT_INT64 : rd_name_is(r, bools) ? DT_BOOL : x->dtype;
	if (rd_name_is(r, sums) && dt != DT_NONE && rd_promote(dt, DT_INT64) == DT_INT64)
		dt = DT_INT64;
	if (!rd_name_is(r, args) && rd_dtype_code(r, 3) != DT_NONE && keep_pos == 2)
		dt = rd_dtype_code(r, 3);
	if (!rd_out(r, dt, dims, nd))
		return -1;
	if (rd_name_is(r, pairs) && !whole && !rd_out(r, DT_INT64, dims, nd))
		return -1;
	return 0;
}

/* --- elementwise -------------------------------------------------------------------------------------------------- */

static int broadcast(struct reading *r, uint64_t *dims, int32_t *nd)
{
	for (uint32_t i = 0; i < r->s->n_in; i++)
		if (r->s->in[i].ndims > *nd)
			*nd = r->s->in[i].ndims;
	for (int32_t d = 0; d < *nd; d++)
		dims[d] = 1;
	for (uint32_t i = 0; i < r->s->n_in; i++) {
		const struct shape_io *io = &r->s->in[i];

		for (int32_t d = 0; d < io->ndims; d++) {
			uint64_t *to = &dims[*nd - io->ndims + d];

			if (io->dims[d] != 1 && *to != 1 && *to != io->dims[d])
				return rd_refuse(r, "operands do not broadcast to one shape");
			if (io->dims[d] != 1)
				*to = io->dims[d];
		}
	}
	return 0;
}

/* Output strides as the framework lays them out: packed, except that a result whose full-size operand is a permuted
 * view follows that operand. Dims of 1 keep telling where a tensor came from, which the lowering uses. */
static void follow_layout(struct shape *s, struct shape_io *out)
{
	bool broadcasts = false;
	const struct shape_io *full = NULL;

	for (uint32_t i = 0; i < s->n_in; i++) {
		const struct shape_io *io = &s->in[i];

		if (io->ndims == out->ndims &&
		    memcmp(io->dims, out->dims, (size_t)out->ndims * sizeof *out->dims) == 0) {
			if (!full)
				full = io;
		} else if (io->ndims > 0) {
			broadcasts = true;
		}
	}
	if (!full || !full->strides_known || full->extent != out->elems)
		return; /* a slice: the result is packed */
	if (full->dense && !broadcasts)
		return;
	memcpy(out->strides, full->strides, sizeof out->strides);
	out->dense = full->dense;
}

static enum dtype elementwise_out(const struct reading *r, enum dtype common)
{
	static const char *const bools[] = { "eq",          "ne",          "lt",          "le",
		                             "gt",          "ge",          "logical_and", "logical_or",
		                             "logical_not", "logical_xor", "isnan",       "isinf",
		                             "isfinite",    "isin",        "signbit",     NULL };
	static const char *const floats[] = { "div", "exp",  "rsqrt",   "sqrt", "reciprocal", "sin",
		                              "cos", "tanh", "sigmoid", "log",  NULL };

	if (rd_name_is(r, bools))
		return DT_BOOL;
	if (rd_name_is(r, floats) && rd_promote(common, DT_INT64) == DT_INT64)
		return DT_FP32;
	return common;
}

/* All tensor arguments from `first` on are inputs; wrapped numbers (no dims beside tensors that have some) are not. */
static int elementwise_in(struct reading *r, uint32_t first, uint32_t last)
{
	const struct trace_arg *a;
	bool dims = false;

	for (uint32_t i = first; i < last && (a = rd_nth(r, i)); i++)
		dims = dims || a->ndims > 0;
	for (uint32_t i = first; i < last && (a = rd_nth(r, i)); i++)
		if ((a->ndims > 0 || !dims) && !rd_in(r, a, SHAPE_DATA))
			return -1;
	r->s->s.arity = r->s->n_in;
	return r->s->n_in ? 0 : rd_refuse(r, "no tensor argument");
}

static void set_uses(struct shape *s, const struct shape_io *out)
{
	for (uint32_t i = 0; i < s->n_in; i++) {
		struct shape_io *io = &s->in[i];

		io->wide = io->elems < out->elems;
		if (io->ndims < out->ndims)
			io->use = SHAPE_PARAM;
		else if (io->wide)
			io->use = SHAPE_TABLE;
	}
}

int rd_elementwise(struct reading *r)
{
	static const char *const selects[] = { "where", "masked_fill", NULL };
	static const char *const complex[] = { "polar", "complex",
		                               NULL }; /* of two reals, a third argument is the result */
	const bool parts = rd_name_is(r, complex);
	uint64_t dims[TRACE_MAX_DIMS];
	enum dtype common = DT_NONE;
	struct shape_io *out;
	int32_t nd = 0;

	if (elementwise_in(r, 0, parts ? 2 : TRACE_MAX_ARGS) < 0 || broadcast(r, dims, &nd) < 0)
		return -1;
	if (parts && nd < TRACE_MAX_DIMS)
		dims[nd++] = 2;
	for (uint32_t i = 0; i < r->s->n_in; i++)
		if (r->s->in[i].dtype != DT_BOOL || !rd_name_is(r, selects))
			common = rd_promote(common, r->s->in[i].dtype);
	out = r->in_place && r->s->in[0].ndims == nd ? rd_alias(r, 0) : rd_out(r, elementwise_out(r, common), dims, nd);
	if (!out)
		return -1;
	if (out->alias < 0)
		follow_layout(r->s, out);
	set_uses(r->s, out);
	if (out->alias >= 0)
		r->s->in[0].use = SHAPE_DATA;
	for (uint32_t i = 0; i < r->s->n_in; i++) {
		const uint32_t n = rd_apart(&r->s->in[i], out);

		r->s->s.apart = n > r->s->s.apart ? n : r->s->s.apart;
	}
	r->s->s.walked = rd_walked(r->s, out);
	r->s->s.elems = out->elems;
	r->s->dtype = common;
	return 0;
}

/* `_C::silu_and_mul(out, input)`: the result comes first and the input holds both halves of a gate. */
int rd_out_first(struct reading *r)
{
	const struct trace_arg *to = rd_nth(r, 0);
	struct shape_io *out;
	uint64_t dims[TRACE_MAX_DIMS] = { 0 };

	if (!to || elementwise_in(r, 1, TRACE_MAX_ARGS) < 0)
		return to ? -1 : rd_refuse(r, "no tensor argument");
	for (int32_t i = 0; i < to->ndims; i++) {
		if (to->dims[i] < 0)
			return rd_refuse(r, "a dim is negative");
		dims[i] = (uint64_t)to->dims[i];
	}
	if (!(out = rd_out(r, dtype_from_framework(to->dtype), dims, to->ndims)))
		return -1;
	if (out->elems && r->s->in[0].elems / out->elems > 1)
		r->s->s.arity = (uint32_t)(r->s->in[0].elems / out->elems);
	r->s->s.elems = out->elems;
	return 0;
}

/* A pointwise kernel looks into a larger input once a result: rows of a rotary table, of all that there are. */
static void look_into(struct shape *s, uint64_t results)
{
	for (uint32_t i = 0; i < s->n_in; i++)
		if (s->in[i].use == SHAPE_DATA && s->in[i].elems > results)
			s->in[i].elems = results;
}

/* A generated kernel's pointers: the last tensor is what it writes. */
int rd_fused(struct reading *r)
{
	const bool pointwise = strncmp(r->l->name, "triton_poi_", 11) == 0;
	const struct trace_arg *to = NULL;
	uint32_t n = 0;

	while (rd_nth(r, n))
		to = rd_nth(r, n++);
	if (!n || elementwise_in(r, 0, n > 1 ? n - 1 : 1) < 0)
		return rd_refuse(r, "no tensor argument");
	r->s->s.elems = r->s->in[0].elems;
	if (n == 1) /* one pointer: overwritten in place */
		return rd_alias(r, 0) ? 0 : -1;
	if (!rd_in(r, to, SHAPE_TARGET) || !rd_alias(r, r->s->n_in - 1))
		return -1;
	r->s->s.elems = r->s->out[0].elems;
	if (pointwise)
		look_into(r->s, r->s->s.elems);
	r->s->in[r->s->n_in - 1].elems = 0;
	return 0;
}

/* `rotary_embedding(positions, query, key, head_size, cos_sin_cache, ...)`, in place. */
int rd_rope(struct reading *r)
{
	struct shape_io *q, *k;
	const struct trace_arg *table;

	if (!rd_in(r, rd_nth(r, 0), SHAPE_INDEX) || !(q = rd_in(r, rd_nth(r, 1), SHAPE_DATA)) ||
	    !(k = rd_in(r, rd_nth(r, 2), SHAPE_DATA)))
		return -1;
	r->s->s.elems = q->elems + k->elems;
	r->s->dtype = q->dtype;
	if ((table = rd_nth(r, 3)) && table->ndims > 0) {
		struct shape_io *t = rd_in(r, table, SHAPE_ROWS);
		uint64_t n = r->s->in[0].elems, row;

		if (!t)
			return -1;
		row = t->ndims && t->dims[0] ? t->extent / t->dims[0] : 0;
		t->elems = n && row <= t->extent / n ? n * row : t->extent;
	}
	return rd_alias(r, 1) && rd_alias(r, 2) ? 0 : -1;
}
