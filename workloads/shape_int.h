/* shape_int.h - what shape readers are given, and stand on (shape_args.c); for workloads/shape*.c only. */
#ifndef NPUSIM_WORKLOADS_SHAPE_INT_H
#define NPUSIM_WORKLOADS_SHAPE_INT_H

#include "workloads/shape.h"

/* One launch being read. A helper that refuses sets `why` and returns -1 or NULL. */
struct reading {
	const struct trace_launch *l;
	const struct trace_op *op; /* never NULL in a reader that needs one */
	char name[48];             /* the framework op's name without namespace and in-place underscore */
	bool in_place;
	struct shape *s;
	const char *why;
};

typedef int shape_reader(struct reading *r);

int rd_refuse(struct reading *r, const char *why); /* always -1 */
/* The tensor at a position of the call, NULL when there is none; of a list its first member. */
const struct trace_arg *rd_tensor(const struct reading *r, int32_t pos);
/* The n-th tensor argument wherever it stands, NULL after the last. */
const struct trace_arg *rd_nth(const struct reading *r, uint32_t n);
const char *rd_scalar(const struct reading *r, int32_t pos); /* "" when there is none */
bool rd_true(const struct reading *r, int32_t pos);
/* First integer of "6", "[-1]", "[0, 2]"; false when there is none. */
bool rd_int(const struct reading *r, int32_t pos, int64_t *v);
/* Index from the front of a dim given as in the framework, where -1 is the last. */
int rd_dim(struct reading *r, int64_t dim, int32_t ndims, uint32_t *out);

/* Appends an operand from an argument; NULL when refused. The pointer is good until the shape goes. */
struct shape_io *rd_in(struct reading *r, const struct trace_arg *a, enum shape_use use);
/* Appends a contiguous output; its elements are checked. */
struct shape_io *rd_out(struct reading *r, enum dtype dt, const uint64_t *dims, int32_t ndims);
/* Appends an output that overwrites input `in`: same dims. */
struct shape_io *rd_alias(struct reading *r, uint32_t in);
/* a * b <= SHAPE_MAX_ELEMS into *out, else refuse. */
int rd_mul(struct reading *r, uint64_t a, uint64_t b, uint64_t *out);
/* PyTorch's number of a dtype, as in a `dtype=` argument; DT_NONE when absent or unknown. */
enum dtype rd_dtype_code(const struct reading *r, int32_t pos);
enum dtype rd_promote(enum dtype a, enum dtype b);
/* Sectors of `src` in which the 32 neighbours of `dst` lie that a warp writes; 0 where neighbours are neighbours, or one
 * element for all. */
uint32_t rd_apart(const struct shape_io *src, const struct shape_io *dst);
/* Dims of `out` that are left when neighbours which lie one behind the other in it and in all inputs are joined. */
uint32_t rd_walked(const struct shape *s, const struct shape_io *out);
bool rd_name_is(const struct reading *r, const char *const *names); /* NULL-terminated */

/* The readers themselves, which shape.c has in a table: shape_product.c, */
shape_reader rd_product, rd_grouped, rd_attention, rd_convolution;
/* shape_rows.c, */
shape_reader rd_softmax, rd_norm, rd_norm_out, rd_add_norm, rd_reduce, rd_elementwise, rd_out_first, rd_fused, rd_rope;
/* shape_move.c */
shape_reader rd_copy, rd_fill, rd_arange, rd_concat, rd_gather, rd_index, rd_scatter, rd_topk, rd_sort, rd_scan,
	rd_nonzero, rd_histogram, rd_memcpy, rd_memset, rd_cache_write, rd_collective;

#endif
