/* nvtx_view.h - how a tensor lies in memory, where emit_nvtx says its size and which op made it and nothing of strides.
 *
 * An op that makes a view moves nothing: what it was given, what it is called and the size that a reader of the view has
 * tell the strides of the view. A permutation of equal dims is ambiguous; the order that stands is taken then. A view
 * whose strides cannot be told is packed, as a reshape that had to copy leaves it. */
#ifndef NPUSIM_TRACES_READ_NVTX_VIEW_H
#define NPUSIM_TRACES_READ_NVTX_VIEW_H

#include "traces/trace.h"

#define NVTX_VIEWS 4096u /* kept at a time, by the op's number */

enum nvtx_view_kind { NVTX_NO_VIEW, NVTX_SAME, NVTX_SLICE, NVTX_SELECT, NVTX_PERMUTE, NVTX_EXPAND, NVTX_RESHAPE };

struct nvtx_view {
	int64_t op; /* 0: none */
	enum nvtx_view_kind kind;
	int32_t ndims; /* of what the op was given */
	int64_t dims[TRACE_MAX_DIMS], strides[TRACE_MAX_DIMS];
};

enum nvtx_view_kind nvtx_view_kind(const char *op);
/* Strides of a tensor as an op behind `v` reads it; packed where `v` is NULL. Nothing where its size cannot be. */
void nvtx_view_strides(const struct nvtx_view *v, struct trace_arg *x);

#endif
