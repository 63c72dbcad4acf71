/* shape.h - readers of shapes: from the arguments a framework op was called with to the shape and operands of an op.
 *
 * A reader is named in the rule table (`shape: product`) and knows the argument order of one family of framework
 * ops. It sees one launch and nothing else: which tensor an operand is, is the lowering's business (sim/lower/lower.h).
 * Dims come from a trace that may be hostile: a tensor of more than SHAPE_MAX_ELEMS elements, a product of more than
 * SHAPE_MAX_MACS, shapes that do not agree or are missing make the reader refuse with a reason; nothing overflows. */
#ifndef NPUSIM_WORKLOADS_SHAPE_H
#define NPUSIM_WORKLOADS_SHAPE_H

#include "traces/trace.h"
#include "workloads/op.h"

#define SHAPE_MAX_ELEMS  (UINT64_C(1) << 48)
#define SHAPE_MAX_MACS   (UINT64_C(1) << 62)
#define SHAPE_MAX_GROUPS 4096
#define SHAPE_MAX_IN     (TRACE_MAX_ARGS + 2)
#define SHAPE_MAX_OUT    2

/* What an operand is for; it decides where the lowering looks for the tensor and what it takes an unknown one for. */
enum shape_use {
	SHAPE_DATA,  /* an activation */
	SHAPE_LEFT,  /* left operand of a product */
	SHAPE_RIGHT, /* right operand of a product: a weight unless the stream made it */
	SHAPE_PARAM, /* fewer dims than the result: a gain or a bias */
	SHAPE_TABLE, /* same number of dims, broadcast: rope tables, masks, per-row factors */
	SHAPE_ROWS,  /* a table that rows are picked from: an embedding */
	SHAPE_CACHE, /* keys and values of attention */
	SHAPE_GROWS, /* the long member of a concat: an old KV cache when nobody made it */
	SHAPE_INDEX, /* positions */
	SHAPE_TARGET /* written in part by output 0; read only where elems > 0 (an accumulating scatter) */
};

struct shape_io {
	enum shape_use use;
	enum dtype dtype;
	bool dtype_guess; /* only the element size is known (members of a concat) */
	bool strides_known;
	bool dense;    /* no holes, in order; dims of 1 do not matter */
	bool wide;     /* broadcast to the result: fewer elements than it */
	int32_t ndims; /* -1: dims unknown, see shape.open_index */
	int32_t alias; /* outputs: the input it overwrites; -1 a tensor of its own */
	uint64_t dims[TRACE_MAX_DIMS], strides[TRACE_MAX_DIMS];
	uint64_t elems;  /* distinct elements it touches; a dim of stride 0 counts once */
	uint64_t extent; /* elements of the tensor it looks into, as far as strides tell */
};

struct shape {
	struct op_shape s;
	enum dtype dtype, out_dtype, acc_dtype;
	bool open_groups;   /* s.m rows go to s.batch groups; how many to each is on the device: shape_close_groups */
	bool open_index;    /* how many positions is not in the trace: shape_close_index says */
	bool open_estimate; /* it is, roughly: s.elems holds what the launch's grid says */
	bool strided_said;  /* the reader filled s.strided: of a concat, for its largest member */
	uint32_t n_in, n_out;
	struct shape_io in[SHAPE_MAX_IN], out[SHAPE_MAX_OUT];
};

/* 0, or -1 with the reason in *why (static text): no framework op, no dims, dims that do not agree, too large. */
int shape_read(int reader, const struct trace_launch *l, struct shape *out, const char **why);
/* Reader by name; -1 when there is none. The list is NULL-terminated. */
int shape_find(const char *name);
const char *const *shape_names(size_t *n);
/* Completes the shape of an indexed read whose positions another op made: `n` of them. -1 when it grows too large. */
int shape_close_index(struct shape *s, uint64_t n);
/* The rows of a grouped product go to `hit` of its groups, 1 to as many as it has of either: as evenly as they go. */
void shape_close_groups(struct op_shape *s, uint64_t hit);
/* Rows (m) of the product a launch computes, 0 when its framework op does not say. */
uint64_t shape_product_rows(const struct trace_launch *l);
/* An operand reads tensors of both types, or a copy's ends differ in type. False when types are missing. */
bool shape_converts(const struct trace_launch *l);

#endif
