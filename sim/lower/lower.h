/* lower.h - from a trace to an op stream: the one arrow between them.
 *
 * Every device activity ends in exactly one op; an op's launches are neighbours on one stream. Tensor ids are not in
 * a Kineto trace, so they are inferred and marked so:
 *  - activation: the op that produced that shape (or the same bytes, through views) and dtype; sim/lower/lower_pick.c lists
 *    the rules that choose among several;
 *  - weight: an input nobody in the stream produced, named by layer and ordinal; the right-hand operand of a product;
 *  - kv: the long member of a concat whose other member is the step's new row; what that concat writes and attention
 *    reads. In a trace every step starts from the same old cache;
 *  - index, constant: integer operands of gathers and scatters; broadcast operands nobody produced (rope tables).
 * Layers are counted by attention and begin behind the last residual sum before it; ops outside have -1.
 * A routed expert's identity is not in a trace: between a router's top-k that the host reads and the concat or
 * indexed write that closes the region, products repeat with a period (gate, up, down), and each repetition is a slot.
 * Their weights have `instances` and the run picks.
 * A grouped product has all experts' matrices, and whose its rows are is on the device: as many experts as even picks
 * of the last router over so many are expected to hit have rows, as evenly as they go (s.m of each, rounded up).
 * Steps (annotations of one name and a number) share weights and old caches. Annotations `case|...` are a benchmark's:
 * nothing goes from one to the next, and each has operands of its own.
 * Addresses: weights, old KV and tables get fixed ranges; activations are placed by lifetime, as a caching
 * allocator would, so that a small L2 sees the reuse a real step has.
 *
 * Leaves out: what an opaque op reads and writes (it has no operands and nothing waits for it); aliases between
 * tensors of one step other than through ops that work in place; which row an embedding reads (one stands for it). */
#ifndef NPUSIM_SIM_LOWER_LOWER_H
#define NPUSIM_SIM_LOWER_LOWER_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "traces/trace.h"
#include "workloads/op.h"
#include "workloads/rules.h"

/* How the type of an op's tensor is known (sim/lower/lower_types.c), the surest first behind none. */
enum lower_type {
	LOWER_TYPE_NONE,
	LOWER_TYPE_RECORDED,
	LOWER_TYPE_OP,        /* what the op takes: positions are int64 */
	LOWER_TYPE_KERNEL,    /* the kernel's name */
	LOWER_TYPE_NEIGHBOUR, /* an op beside it */
	LOWER_TYPE_ASSUMED,   /* trace.dtype */
	LOWER_TYPES
};

/* "kernel"; of LOWER_TYPE_NONE "unknown". */
const char *lower_type_name(enum lower_type how);

struct lower_stats {
	uint64_t launches, kernels, ops;
	uint64_t kernel_ns, lowered_kernel_ns, opaque_ns;
	uint64_t inferred_tensors,
		inferred_groups;     /* grouped products: how many rows each group has is not in a trace */
	uint64_t types[LOWER_TYPES]; /* tensors of ops by how their type is known; all 0 where every type is recorded */
};

/* `name` is what trace.dtype may be, or an error with those that are. */
int lower_types_check(const char *name, struct err *e);

/* Where a part of a trace has ops and what is around it has none, which is more than a little, the launches outside of the
 * part go: outside of the numbered annotations with most time in ops, where there are such, else outside of the first and
 * the last launch that has an op. For a trace that was loaded whole. */
struct lower_left {
	uint64_t launches; /* how many went; 0: all of it stands */
	const char *steps; /* the annotations: `base` characters and a number; NULL: none */
	size_t base;
};
void lower_part(struct trace *t, struct lower_left *left);

int lower_trace(const struct trace *t, struct rules *r, struct arena *a, struct op_stream *out, struct lower_stats *st,
                struct err *e);
/* Checks the stream's invariants (operands in range, deps backwards, live ranges disjoint, launches used once). */
int lower_check(const struct op_stream *s, struct err *e);

#endif
