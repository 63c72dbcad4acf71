/* shape_args.c - what shape readers stand on: the arguments of a call, operands with checked element counts, dtypes. */
#include <stdlib.h>
#include <string.h>

#include "workloads/shape_int.h"

int rd_refuse(struct reading *r, const char *why)
{
	if (!r->why)
		r->why = why;
	return -1;
}

/* --- arguments ------------------------------------------------------------------------------------------------ */

static bool is_tensor(const struct trace_arg *a)
{
	return a->ndims >= 0 && (a->list >= 0 || dtype_from_framework(a->dtype) != DT_NONE);
}

const struct trace_arg *rd_tensor(const struct reading *r, int32_t pos)
{
	for (uint32_t i = 0; i < r->op->n_args; i++)
		if (r->op->args[i].pos == pos)
			return is_tensor(&r->op->args[i]) ? &r->op->args[i] : NULL;
	return NULL;
}

const struct trace_arg *rd_nth(const struct reading *r, uint32_t n)
{
	for (uint32_t i = 0; i < r->op->n_args; i++)
		if (is_tensor(&r->op->args[i]) && n-- == 0)
			return &r->op->args[i];
	return NULL;
}

const char *rd_scalar(const struct reading *r, int32_t pos)
{
	for (uint32_t i = 0; i < r->op->n_args; i++)
		if (r->op->args[i].pos == pos)
			return r->op->args[i].scalar ? r->op->args[i].scalar : "";
	return "";
}

bool rd_true(const struct reading *r, int32_t pos)
{
	return strcmp(rd_scalar(r, pos), "True") == 0;
}

bool rd_int(const struct reading *r, int32_t pos, int64_t *v)
{
	const char *p = rd_scalar(r, pos);
	char *end;
	long long n;

	p += *p == '[';
	n = strtoll(p, &end, 10);
	if (end != p)
		*v = n; /* else what the caller takes without */
	return end != p;
}

int rd_dim(struct reading *r, int64_t dim, int32_t ndims, uint32_t *out)
{
	if (dim < 0)
		dim += ndims;
	if (dim < 0 || dim >= ndims)
		return rd_refuse(r, "a dimension is out of range");
	*out = (uint32_t)dim;
	return 0;
}

bool rd_name_is(const struct reading *r, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(r->name, *names) == 0)
			return true;
	return false;
}

/* --- operands ------------------------------------------------------------------------------------------------- */

int rd_mul(struct reading *r, uint64_t a, uint64_t b, uint64_t *out)
{
	if (__builtin_mul_overflow(a, b, out) || *out > SHAPE_MAX_ELEMS)
		return rd_refuse(r, "a tensor has more than 2^48 elements");
	return 0;
}

/* Fills strides where unknown, then elems, extent and dense from dims and strides. */
static int measure(struct reading *r, struct shape_io *io)
{
	uint64_t packed = 1, extent = 1, elems = 1, all = 1;

	io->dense = true;
	for (int32_t i = io->ndims - 1; i >= 0; i--) {
		uint64_t step;

		if (!io->strides_known)
			io->strides[i] = packed;
		if (io->dims[i] > 1 && io->strides[i] != packed)
			io->dense = false;
		if (rd_mul(r, packed, io->dims[i], &packed) < 0 || rd_mul(r, all, io->dims[i], &all) < 0)
			return -1;
		if (rd_mul(r, io->dims[i], io->strides[i], &step) < 0)
			return -1;
		if (io->strides[i])
			elems *= io->dims[i]; /* <= all, which is checked */
		if (step > extent)
			extent = step;
	}
	io->elems = all ? elems : 0;
	io->extent = all ? extent : 0;
	return 0;
}

/* Frameworks store two 4-bit values in an element ("Float4_e2m1fn_x2") and count
 * elements: here dims and strides count values. The two are neighbours along the dim of stride 1, the last where strides are not known. */
static void unpack(struct shape_io *io)
{
	int32_t inner = io->ndims - 1;

	for (int32_t i = io->ndims - 1; i >= 0 && io->strides_known; i--)
		if (io->strides[i] == 1 && io->dims[i] > 1) {
			inner = i;
			break;
		}
	for (int32_t i = 0; i < io->ndims; i++) {
		if (i == inner)
			io->dims[i] *= 2;
		else
			io->strides[i] *= 2;
	}
}

static bool two_an_element(const char *dtype)
{
	const size_t n = strlen(dtype);

	return n > 3 && strcmp(dtype + n - 3, "_x2") == 0;
}

/* The parts of a complex number are a last dim of two. */
static int split_parts(struct reading *r, struct shape_io *io)
{
	if (io->ndims == TRACE_MAX_DIMS)
		return rd_refuse(r, "too many dims");
	for (int32_t i = 0; i < io->ndims; i++)
		io->strides[i] *= 2;
	io->dims[io->ndims] = 2;
	io->strides[io->ndims++] = 1;
	return 0;
}

struct shape_io *rd_in(struct reading *r, const struct trace_arg *a, enum shape_use use)
{
	struct shape_io *io;
	bool any = false;

	if (!a) {
		rd_refuse(r, "a tensor argument is missing");
		return NULL;
	}
	if (r->s->n_in == SHAPE_MAX_IN) {
		rd_refuse(r, "too many operands");
		return NULL;
	}
	if (a->ndims < 0 || a->ndims > TRACE_MAX_DIMS) {
		rd_refuse(r, "a tensor argument has no dims");
		return NULL;
	}
	io = &r->s->in[r->s->n_in];
	*io = (struct shape_io){ .use = use, .dtype = dtype_from_framework(a->dtype), .ndims = a->ndims, .alias = -1 };
	for (int32_t i = 0; i < a->ndims; i++) {
		if (a->dims[i] < 0 || a->strides[i] < 0) {
			rd_refuse(r, "a dim is negative");
			return NULL;
		}
		io->dims[i] = (uint64_t)a->dims[i];
		io->strides[i] = (uint64_t)a->strides[i];
		any = any || a->strides[i] != 0;
	}
	io->strides_known = any;
	if (two_an_element(a->dtype))
		unpack(io);
	if (strncmp(a->dtype, "c10::complex<", 13) == 0 && split_parts(r, io) < 0)
		return NULL;
	if (measure(r, io) < 0)
		return NULL;
	r->s->n_in++;
	return io;
}

struct shape_io *rd_out(struct reading *r, enum dtype dt, const uint64_t *dims, int32_t ndims)
{
	struct shape_io *io;

	if (r->s->n_out == SHAPE_MAX_OUT) {
		rd_refuse(r, "too many results");
		return NULL;
	}
	io = &r->s->out[r->s->n_out];
	*io = (struct shape_io){ .use = SHAPE_DATA, .dtype = dt, .ndims = ndims, .alias = -1 };
	if (ndims)
		memcpy(io->dims, dims, (size_t)ndims * sizeof *dims);
	if (measure(r, io) < 0)
		return NULL;
	io->strides_known = true;
	r->s->n_out++;
	return io;
}

struct shape_io *rd_alias(struct reading *r, uint32_t in)
{
	struct shape_io *io;

	if (r->s->n_out == SHAPE_MAX_OUT || in >= r->s->n_in) {
		rd_refuse(r, "too many results");
		return NULL;
	}
	io = &r->s->out[r->s->n_out++];
	*io = r->s->in[in];
	io->use = SHAPE_DATA;
	io->alias = (int32_t)in;
	return io;
}

/* --- dtypes ---------------------------------------------------------------------------------------------------- */

enum dtype rd_dtype_code(const struct reading *r, int32_t pos)
{
	static const enum dtype codes[] = {
		DT_INT8, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_FP16, DT_FP32,  DT_FP64,
		DT_NONE, DT_NONE, DT_NONE,  DT_BOOL,  DT_INT8,  DT_INT8, DT_INT32, DT_BF16
	};
	int64_t v;

	if (!rd_int(r, pos, &v) || v < 0 || (uint64_t)v >= sizeof codes / sizeof *codes)
		return DT_NONE;
	return codes[v];
}

enum dtype rd_promote(enum dtype a, enum dtype b)
{
	static const uint8_t rank[DTYPES] = {
		[DT_BOOL] = 1,  [DT_INT4] = 2,  [DT_INT8] = 3,  [DT_INT16] = 4, [DT_INT32] = 5,
		[DT_INT64] = 6, [DT_FP4] = 7,   [DT_FP8] = 8,   [DT_FP16] = 9,  [DT_BF16] = 9,
		[DT_TF32] = 10, [DT_FP32] = 10, [DT_FP64] = 11,
	};

	if (a != b && rank[a] == 9 && rank[b] == 9)
		return DT_FP32; /* neither half format holds the other */
	return rank[b] > rank[a] ? b : a;
}
