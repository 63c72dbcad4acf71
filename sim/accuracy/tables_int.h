/* tables_int.h - a published table while it is read: a part of sim/accuracy/tables. */
#ifndef NPUSIM_SIM_ACCURACY_TABLES_INT_H
#define NPUSIM_SIM_ACCURACY_TABLES_INT_H

#include "arch/gpu/gpu.h"
#include "sim/accuracy/tables.h"
#include "traces/text/csv.h"

#define TABLES_OPS 12 /* at most, of a row */
#define TABLES_BEFORE \
	6 /* calls before the graph and replays of it, before it is timed (collector/helper.py: three and three) */

enum column {
	GPU,
	KERNEL,
	DTYPE,
	M,
	N,
	K,
	KV_DTYPE,
	BATCH,
	HEADS,
	KV_HEADS,
	DIM,
	WINDOW,
	KV_LEN,
	QUERIES,
	PAST,
	TOKENS,
	HIDDEN,
	INTER,
	TOP,
	EXPERTS,
	SHARED_BY,
	SPREAD_OVER,
	PICKS,
	SHAPE,
	SOURCE,
	TIME,
	COLUMNS
};

struct table {
	struct csv *csv;
	const char *name;
	int at[COLUMNS]; /* -1: not in this table */
	const struct machine_cfg *m;
	struct gpu gpu;
	const struct kernels *k;
	const struct tables_opts *o;
	struct tables_stats *st;
	struct cases *out;
	struct arena *a;
	struct gpu_traffic *traffic;
	size_t room, op_room, launch_room;
	struct {
		uint64_t bytes, small, copies, hit;
	} last; /* what was found of weights of that size */
};

/* --- cells of the row at hand (tables.c) */

const char *tables_text(const struct table *t, enum column c);
/* Errors with file and line. */
int tables_refuse(const struct table *t, const char *what, const char *value, struct err *e);
int tables_number(const struct table *t, enum column c, uint64_t most, uint64_t *out, struct err *e);

/* --- its ops and its sample (tables_ops.c) */

uint32_t tables_tensor(struct op_stream *s, const char *name, enum op_role role, enum dtype d, uint64_t bytes,
                       bool external);
void tables_operand(struct op_stream *s, struct op *o, uint32_t t, bool write);
struct op *tables_add_op(struct op_stream *s, enum op_kind kind, const char *name, const char *family, enum dtype d);
/* The op's launches by the library's rules, false where there is none; what their bytes are is told by the caller. */
bool tables_lay_out(struct table *t, struct op *o);
/* Or the one launch of a kernel that is known, the last of the stream's and of the work's. */
struct op_launch *tables_launch(struct table *t, struct op *o, const char *name, const struct kernel *k, uint64_t ctas,
                                uint32_t threads, uint32_t registers);
/* Weights (or keys and values), a part of `all` that is read once a turn, as the L2 has them; tokens and results were there a call
 * ago, and are still if a call's bytes leave them room. */
int tables_move_beside(struct table *t, struct op *o, uint64_t large, uint64_t copies, uint64_t all, struct err *e);
int tables_move(struct table *t, struct op *o, uint64_t large, uint64_t copies, struct err *e);
int tables_time(const struct table *t, uint64_t *ns, struct err *e);
/* Room for one row more: they were counted before they are read. */
int tables_grow(struct table *t, struct err *e);
void tables_add_sample(struct table *t, const char *name, const char *cls, uint32_t first_op, uint64_t ns,
                       uint64_t calls);
/* Takes back what a row without a rule has added. */
int tables_drop(struct table *t, size_t ops, size_t operands, size_t tensors, size_t launches);
/* Zeros into so many bytes. */
int tables_clear(struct table *t, const char *name, const char *cls, uint64_t bytes, struct err *e);
/* A warp a token picks experts (vllm, csrc/moe/grouped_topk_kernels.cu, grouped_topk_fused_kernel). */
int tables_route(struct table *t, const char *name, const char *cls, uint64_t tokens, uint64_t experts, uint64_t picks,
                 struct err *e);
/* A kernel that reads so many bytes and writes so many. */
int tables_pass(struct table *t, const char *name, const char *cls, uint64_t from, uint64_t to, bool strided,
                struct err *e);
int tables_copy(struct table *t, const char *name, const char *cls, uint64_t elems, bool strided, struct err *e);

/* --- a row of experts (tables_experts.c) */

int tables_experts_row(struct table *t, struct err *e);

#endif
