/* shaped.h - ops that a profiler of another device gives with the shapes of their tensors, made rows of a table of ops.
 *
 * What a row means is in workloads/listed.h; here its sizes are read off the tensors:
 *   gemm        m and n of the result, k of the left operand, batch where the right one has as many; so a transpose, which
 *               such profilers do not tell, changes nothing. Without a result, of the operands
 *   attention   sizes alone, which the reader gives: where heads stand differs between profilers
 *   rows, cols  the last dimension and all before it, of the tensor that the reader names
 *   elements    of the result; a function of two operands of which one is smaller is an `elementwise` of one
 * A tensor padded to tiles of 16 or 32 counts as what the others say of it. An op that is none of a table's, or whose shapes
 * do not go together, is a kernel without an op: its time counts and nothing models it. */
#ifndef NPUSIM_TRACES_READ_SHAPED_H
#define NPUSIM_TRACES_READ_SHAPED_H

#include "traces/db/tracedb.h"
#include "workloads/listed.h"

#define SHAPED_INPUTS 16
#define SHAPED_NAME   256

struct shaped_tensor {
	uint32_t ndims; /* 0: a scalar, or none */
	uint64_t dims[TRACE_MAX_DIMS];
	const char *type; /* as tables of ops name it; NULL: it says none, or one that they do not have */
	bool resident;    /* on chip before the op, or after it */
};

enum shaped_of { SHAPED_FIRST, SHAPED_SECOND, SHAPED_RESULT }; /* which tensor says rows and columns */

struct shaped {
	const char *op; /* as tables of ops name it, `convert` without its format; NULL: none of them */
	enum shaped_of of;
	uint32_t n_in;
	struct shaped_tensor in[SHAPED_INPUTS], out;
	uint64_t size[LISTED_COUNT]; /* what the reader knows by itself; 0: to be read off the tensors */
};

/* A format by the name that tt-metal, CANN or XLA has for it, in any case; NULL: tables of ops have none such. */
const char *shaped_type(const char *text, size_t n);

/* Values of a tensor; 0 where there is none, or more than ops may have. */
uint64_t shaped_values(const struct shaped_tensor *t);

/* Puts the launch and, where it is one, its op. `id` is unlike any other of the file, from 1. 1: without an op. */
int shaped_put(struct tracedb *db, const struct shaped *s, const struct trace_launch *l, int64_t id, struct err *e);

#endif
