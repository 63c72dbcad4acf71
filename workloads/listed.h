/* listed.h - ops that someone lists by hand: what a row of a table of ops may name, and the shape that it means.
 *
 * A row is an op (`gemm`, `elementwise:silu`, `attention`), sizes by name, the formats of its operands, and what was
 * measured of it, if anything. In a trace it is a framework op of the namespace LISTED_SPACE whose arguments are the
 * row's cells, each at its column's place; so a row passes through a trace database like any other op.
 * Row by row means (sizes in values; rows of a gemm are m):
 *   gemm        c[batch,m,n] = a[batch,m,k] x w[batch,k,n]; gemv: the same with one row
 *   attention   q[batch,heads,q_len,head_dim] over k and v[batch,kv_heads,kv_len,head_dim]; the last query sees every key
 *   elementwise batch x elements (or rows x cols), as many operands of that size as the function has
 *   softmax, norm, reduce, topk (k of each row), sort, scan    along cols, batch x rows times
 *   gather, scatter, embed    rows of cols values that lie anywhere, and an index for each row
 *   copy, concat (of two halves), convert:FORMAT, rope         batch x elements (or rows x cols)
 * `dtype` is of all operands, bf16 where the row says none; `weight_dtype` of a product's w, attention's k and v, a norm's
 * gain and an embedding's table, `dtype` where it says none. Formats with scales (workloads/quant.h) take their bytes;
 * where quant.h has a scale for a row it is one along k, head_dim or cols. A product or attention in a format below 16 bits
 * writes bf16 (but block formats their own), reductions to an index int64, the rest what it reads.
 * `resident` says which operands lie on chip, as far as they fit, at a start with operands there: `in`, `weights`, `out`, `+` between.
 * A table that says it of a row has all else in memory; where none says it all that fits is on chip. `validate`, which runs each row
 * alone, starts so where the row says it.
 * `passes` of a product says how often its operands go through a multiplier (Tenstorrent's LoFi once, HiFi2 twice, HiFi4 four times);
 * without it their formats say.
 * Leaves out: strides, rows of a table that repeat, the tables of a rope. */
#ifndef NPUSIM_WORKLOADS_LISTED_H
#define NPUSIM_WORKLOADS_LISTED_H

#include "sim/base/err.h"
#include "traces/trace.h"
#include "workloads/op.h"
#include "workloads/quant.h"

#define LISTED_SPACE "listed::"

/* X(ID, name of the column) */
/* clang-format off */
#define LISTED_COLUMNS(X) \
	X(OP, op)             X(NAME, name)           X(M, m)                 X(N, n)               X(K, k) \
	X(BATCH, batch)       X(HEADS, heads)         X(KV_HEADS, kv_heads)   X(Q_LEN, q_len)       X(KV_LEN, kv_len) \
	X(HEAD_DIM, head_dim) X(CAUSAL, causal)       X(ALGORITHM, algorithm) X(ROWS, rows)         X(COLS, cols) \
	X(ELEMENTS, elements) X(DTYPE, dtype)         X(WEIGHT_DTYPE, weight_dtype) \
	X(MEASURED_US, measured_us)                   X(MEASURED_UJ, measured_uj)                   X(MEASURED_MHZ, measured_mhz) \
	X(V_DIM, v_dim)       X(RESIDENT, resident)   X(PASSES, passes)

#define LISTED_ID(id, name) LISTED_##id,
enum listed_column { LISTED_COLUMNS(LISTED_ID) LISTED_COUNT };
#undef LISTED_ID
/* clang-format on */

/* What `resident` names: what an op reads, products' weights and attention's keys and values, what it writes. */
enum listed_place { LISTED_IN, LISTED_WEIGHTS, LISTED_OUT, LISTED_PLACES };

struct listed_kind;
struct listed_type;

struct listed {
	const struct listed_kind *kind;
	const struct listed_type *type, *weights, *to; /* to: of a convert; of the others NULL */
	enum op_attn algorithm;
	uint8_t resident;               /* a bit a listed_place */
	uint64_t v[LISTED_COUNT];       /* sizes; those not given are 0, or 1 where the table means that */
	uint32_t given;                 /* a bit a column whose cell is not empty */
	const char *text[LISTED_COUNT]; /* name, measured_uj, measured_mhz; NULL: not given */
};

const char *listed_column_name(enum listed_column c);
/* Is this a column of sizes: whole numbers from 1, of `causal` 0 or 1? */
bool listed_is_size(enum listed_column c);

/* One cell into the row, in any order; an empty one says nothing. The texts must outlive it. The error has no place.
 * LISTED_MEASURED_US is the caller's. */
int listed_cell(struct listed *x, enum listed_column c, const char *text, struct err *e);
/* When all cells are in: what is missing, does not belong to the op or cannot be, with its column in *at (LISTED_OP: the row
 * as a whole); then what was not given gets its default. */
int listed_finish(struct listed *x, enum listed_column *at, struct err *e);

/* The row as a framework op: its name into `name`, its cells as arguments; they point into `x` and `room`. */
#define LISTED_NAME_MAX 64
struct listed_room {
	char name[LISTED_NAME_MAX], digits[LISTED_COUNT][24];
	struct trace_arg args[TRACE_MAX_ARGS];
};
void listed_to_op(const struct listed *x, struct listed_room *room, struct trace_op *out);
bool listed_is(const struct trace_launch *l); /* by the name of its framework op */
/* 0, or -1 for what no table could have made: a trace may say anything. */
int listed_of_op(const struct trace_op *o, struct listed *out);
/* What a rule of a rule table says of a kernel, by the op's name and rows; listed_meaning_of gives its place, -1: the name
 * is none of a row's. */
struct listed_meaning {
	const char *family, *fn;
	enum op_kind kind;
	enum op_cost cost;
	enum op_reduce reduce;
};
size_t listed_meanings(void);
const struct listed_meaning *listed_meaning(size_t i);
int listed_meaning_of(const struct trace_launch *l);
const char *listed_op_name(const struct listed *x); /* "gemm", "elementwise:silu", "convert:fp8" */
/* Of a row that names its op: must it have that column, may it, and how many operands of its size an elementwise op has. */
bool listed_needs(const struct listed *x, enum listed_column c);
bool listed_takes(const struct listed *x, enum listed_column c);
uint32_t listed_operands(const struct listed *x);

/* How a table names an op: by its kind, and by what tells it apart where a row may say that. Functions without a name of
 * their own cost what the commonest of their kind does. */
void listed_kind_name(const struct op *o, char *to, size_t size);

/* What the row computes. */
struct listed_io {
	enum op_role role;
	bool write;
	enum dtype dtype;
	enum quant quant;
	uint64_t bytes; /* scales included */
	bool resident;  /* on chip before the op runs, or after it */
	bool scratch;   /* room that the algorithm may use: nothing of it need move */
};
#define LISTED_IOS 6
struct listed_shape {
	struct op_shape s;
	enum dtype dtype, out_dtype;
	uint32_t n;
	struct listed_io io[LISTED_IOS]; /* reads first */
};
/* Of a finished row. */
void listed_shape(const struct listed *x, struct listed_shape *out);

#endif
