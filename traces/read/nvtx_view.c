/* nvtx_view.c - strides of a view from those of what it looks at. */
#include "traces/read/nvtx_view.h"

#include <string.h>

#define MOST (INT64_C(1) << 48) /* no stride and no dim is longer */

enum nvtx_view_kind nvtx_view_kind(const char *op)
{
	static const struct {
		const char *name;
		enum nvtx_view_kind kind;
	} known[] = {
		{ "aten::alias", NVTX_SAME },
		{ "aten::chunk", NVTX_SLICE },
		{ "aten::detach", NVTX_SAME },
		{ "aten::expand", NVTX_EXPAND },
		{ "aten::expand_as", NVTX_EXPAND },
		{ "aten::flatten", NVTX_RESHAPE },
		{ "aten::narrow", NVTX_SLICE },
		{ "aten::permute", NVTX_PERMUTE },
		{ "aten::movedim", NVTX_PERMUTE },
		{ "aten::reshape", NVTX_RESHAPE },
		{ "aten::select", NVTX_SELECT },
		{ "aten::slice", NVTX_SLICE },
		{ "aten::split", NVTX_SLICE },
		{ "aten::squeeze", NVTX_RESHAPE },
		{ "aten::swapaxes", NVTX_PERMUTE },
		{ "aten::t", NVTX_PERMUTE },
		{ "aten::numpy_T", NVTX_PERMUTE },
		{ "aten::transpose", NVTX_PERMUTE },
		{ "aten::unbind", NVTX_SELECT },
		{ "aten::unflatten", NVTX_RESHAPE },
		{ "aten::unsqueeze", NVTX_RESHAPE },
		{ "aten::view", NVTX_RESHAPE },
		{ "aten::view_as", NVTX_RESHAPE },
		{ "aten::_unsafe_view", NVTX_RESHAPE },
		{ "aten::split_with_sizes", NVTX_SLICE },
		{ "aten::unsafe_split", NVTX_SLICE },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(op, known[i].name) == 0)
			return known[i].kind;
	return NVTX_NO_VIEW;
}

/* No less than MOST + 1 where it is more than MOST. */
static int64_t times(int64_t a, int64_t b)
{
	int64_t n;

	return __builtin_mul_overflow(a, b, &n) || n > MOST ? MOST + 1 : n;
}

static bool sound(const struct trace_arg *x)
{
	int64_t n = 1;

	for (int32_t d = 0; d < x->ndims; d++)
		if (x->dims[d] < 0 || x->dims[d] > MOST || __builtin_mul_overflow(n, x->dims[d], &n) || n > MOST)
			return false;
	return x->ndims >= 0;
}

static void pack(struct trace_arg *x)
{
	int64_t n = 1;

	for (int32_t d = x->ndims; d-- > 0; n *= x->dims[d] > 0 ? x->dims[d] : 1)
		x->strides[d] = n;
}

static bool same(const struct nvtx_view *v, const struct trace_arg *x)
{
	return v->ndims == x->ndims && memcmp(v->dims, x->dims, (size_t)x->ndims * sizeof *x->dims) == 0;
}

static bool slice(const struct nvtx_view *v, struct trace_arg *x)
{
	if (v->ndims != x->ndims)
		return false;
	memcpy(x->strides, v->strides, sizeof x->strides);
	return true;
}

/* The dim that is gone. */
static bool select_one(const struct nvtx_view *v, struct trace_arg *x)
{
	for (int32_t gone = 0; gone < v->ndims && v->ndims == x->ndims + 1; gone++) {
		const size_t head = (size_t)gone * sizeof *v->dims, tail = (size_t)(x->ndims - gone) * sizeof *v->dims;

		if (memcmp(v->dims, x->dims, head) != 0 || memcmp(v->dims + gone + 1, x->dims + gone, tail) != 0)
			continue;
		memcpy(x->strides, v->strides, head);
		memcpy(x->strides + gone, v->strides + gone + 1, tail);
		return true;
	}
	return false;
}

/* Two dims that changed places where that is all, else each dim the first of its size. */
static bool permute(const struct nvtx_view *v, struct trace_arg *x)
{
	uint32_t used = 0;

	if (v->ndims != x->ndims)
		return false;
	if (v->ndims == 2) {
		x->strides[0] = v->strides[1], x->strides[1] = v->strides[0];
		return v->dims[0] == x->dims[1] && v->dims[1] == x->dims[0];
	}
	for (int32_t d = 0; d < x->ndims; d++) {
		int32_t from = 0;

		while (from < v->ndims && (used >> from & 1 || v->dims[from] != x->dims[d]))
			from++;
		if (from == v->ndims)
			return false;
		used |= UINT32_C(1) << from;
		x->strides[d] = v->strides[from];
	}
	return true;
}

static bool expand(const struct nvtx_view *v, struct trace_arg *x)
{
	const int32_t more = x->ndims - v->ndims;

	for (int32_t d = 0; d < x->ndims; d++) {
		const bool new = d < more || (v->dims[d - more] == 1 && x->dims[d] != 1);

		if (more < 0 || (!new && v->dims[d - more] != x->dims[d]))
			return false;
		x->strides[d] = new ? 0 : v->strides[d - more];
	}
	return true;
}

/* Dims that follow on each other in memory may be joined and split again; what lies apart may not. */
static bool reshape(const struct nvtx_view *v, struct trace_arg *x)
{
	int32_t to = x->ndims - 1;

	for (int32_t d = v->ndims; d-- > 0 && to >= 0;) {
		const int64_t step = v->strides[d];
		int64_t run = v->dims[d], done = 1;

		while (d > 0 && (v->dims[d - 1] == 1 || v->strides[d - 1] == times(run, step)))
			run = times(run, v->dims[--d]);
		if (run == 1)
			continue;
		while (to >= 0 && (done < run || x->dims[to] == 1)) { /* as PyTorch has it for dims of 1 */
			x->strides[to] = times(done, step);
			done = times(done, x->dims[to--]);
		}
		if (done != run)
			return false;
	}
	for (; to >= 0; to--) {
		if (x->dims[to] != 1)
			return false;
		x->strides[to] = to + 1 < x->ndims ? times(x->strides[to + 1], x->dims[to + 1]) : 1;
	}
	return true;
}

void nvtx_view_strides(const struct nvtx_view *v, struct trace_arg *x)
{
	bool ok = false;

	if (!sound(x))
		return;
	if (v && same(v, x) && v->kind != NVTX_PERMUTE)
		ok = slice(v, x);
	else if (v)
		ok = (v->kind == NVTX_SLICE && slice(v, x)) || (v->kind == NVTX_SELECT && select_one(v, x)) ||
		     (v->kind == NVTX_PERMUTE && permute(v, x)) || (v->kind == NVTX_EXPAND && expand(v, x)) ||
		     (v->kind == NVTX_RESHAPE && reshape(v, x));
	for (int32_t d = 0; d < x->ndims; d++)
		ok = ok && x->strides[d] >= 0 && x->strides[d] <= MOST;
	if (!ok)
		pack(x);
}
