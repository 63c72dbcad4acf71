/* kineto_args.h - the four columns in which Kineto writes an op's arguments, brought together.
 *
 *   "Input Dims":      [[4,8],[],[[1,2],[3]]]        a tensor, a scalar, a list of two tensors
 *   "Input Strides":   [[8,1],[],[[2,1],[1]]]
 *   "Input type":      ["float","Scalar","TensorList"]
 *   "Concrete Inputs": ["","-1",""]
 * They come in any order and any may be absent; an argument is known by its position, a list's tensor by its place. */
#ifndef NPUSIM_TRACES_READ_KINETO_ARGS_H
#define NPUSIM_TRACES_READ_KINETO_ARGS_H

#include "sim/base/str.h"
#include "traces/trace.h"

#define KARGS_CELLS 64 /* enough for TRACE_MAX_ARGS arguments; the rest is counted */

enum kargs_col { KARGS_DIMS, KARGS_STRIDES, KARGS_TYPES, KARGS_SCALARS };

struct kargs_shape {
	int32_t pos, list, ndims;
	bool bad;
	int64_t d[TRACE_MAX_DIMS];
};
struct kargs_word {
	int32_t pos, list;
	size_t at;
}; /* text from `at` in kargs.text */

struct kargs {
	struct kargs_shape shapes[2][KARGS_CELLS]; /* by KARGS_DIMS, KARGS_STRIDES */
	struct kargs_word words[2][KARGS_CELLS];   /* by KARGS_TYPES - 2, KARGS_SCALARS - 2 */
	uint32_t n[4], n_seen[4];                  /* by column: cells kept, cells there were */
	struct str text;
	/* the column being read */
	enum kargs_col col;
	int32_t depth, pos, list;
	bool lost; /* the current shape is beyond the cells */
};

void kargs_clear(struct kargs *k);
void kargs_free(struct kargs *k);
void kargs_begin(struct kargs *k, enum kargs_col col); /* then open for the column's own bracket, and so on */
void kargs_open(struct kargs *k);
void kargs_close(struct kargs *k);
void kargs_number(struct kargs *k, const char *text, size_t n);
void kargs_string(struct kargs *k, const char *text, size_t n);
void kargs_other(struct kargs *k); /* null, true, an object: takes its place, says nothing */

/* Writes at most TRACE_MAX_ARGS to `out`; texts live in k. Returns how many; *dropped: how many did not fit. */
uint32_t kargs_build(struct kargs *k, struct trace_arg *out, uint32_t *dropped);

#endif
