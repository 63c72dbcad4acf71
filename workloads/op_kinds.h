/* op_kinds.h - which kinds of op there are: one row a kind (L2: plain data).
 *
 *   X(ID, name, work, job, PIECE, .trait = ..., ...)
 *      OP_ID is the kind and `name` what it is called wherever kinds are named: tables of ops, rules, fusion patterns,
 *      statistics. count_<work> in workloads/work.c counts its operations, job_<job> in sim/map/map_math.c makes the jobs
 *      of its tiles for a unit, and UNIT_<PIECE> (arch/npu/unit.h) is the circuit that a unit may have for it. The rest are
 *      members of struct op_traits by name; those that are not there are 0.
 *
 * A row, a function where no other kind's counts its work or makes its jobs, and where it is read from (a rule's shape,
 * workloads/listed.c) are all there is to a kind: who sizes, names, scales, cuts, fuses or lists ops asks op_traits. A
 * module may still ask for one kind where it means that kind alone: what the host waits for, what no rule knows. */
#ifndef NPUSIM_WORKLOADS_OP_KINDS_H
#define NPUSIM_WORKLOADS_OP_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#define OP_FLAT_KERNEL "void at::native::vectorized_elementwise_kernel<4>"

/* Operands: dimensions from the outermost on, the last along a row of values. */
#define OP_READS(role, ...) \
	{ \
		.is = OP_##role, .dims = { __VA_ARGS__ } \
	}
#define OP_READS_WHEN(when_, role, ...) \
	{ \
		.is = OP_##role, .when = OP_##when_, .dims = { __VA_ARGS__ } \
	}
#define OP_STREAMS(when_, role, ...) \
	{ \
		.is = OP_##role, .when = OP_##when_, .streams = true, .dims = { __VA_ARGS__ } \
	}
#define OP_WRITES(role, ...) \
	{ \
		.is = OP_##role, .write = true, .dims = { __VA_ARGS__ } \
	}
#define OP_SCRATCH(when_, role, ...) \
	{ \
		.is = OP_##role, .when = OP_##when_, .write = true, .scratch = true, .dims = { __VA_ARGS__ } \
	}
#define OP_GRID OP_DIM_ROWS, OP_DIM_COLS
#define OP_FLAT \
	{ \
		OP_READS_WHEN(EACH, ACTIVATION, OP_DIM_ELEMS), OP_WRITES(ACTIVATION, OP_DIM_ELEMS) \
	}
#define OP_PICKS(table) \
	{ \
		OP_READS(table, OP_GRID), OP_READS(INDEX, OP_DIM_ROWS), OP_WRITES(ACTIVATION, OP_GRID) \
	}

/* clang-format off */
#define OP_KIND_ROWS(X) \
	/* c[b,m,n] = a[b,m,k] x w[b,k,n]; m = 1 is a GEMV */ \
	X(GEMM, gemm, product, product, ANY, .dims = OP_DIMS_PRODUCT, .reduces = OP_DIM_BIT(K), .weight = "w", \
	  .operands = { OP_READS(ACTIVATION, OP_DIM_BATCH, OP_DIM_M, OP_DIM_K), \
	                OP_STREAMS(ALWAYS, WEIGHT, OP_DIM_BATCH, OP_DIM_N, OP_DIM_K), \
	                OP_WRITES(ACTIVATION, OP_DIM_BATCH, OP_DIM_M, OP_DIM_N) }) \
	/* over a latent the values are a part of the keys */ \
	X(ATTENTION, attention, attention, attention, ANY, .dims = OP_DIMS_ATTENTION, .ends_part = true, \
	  .reduces = OP_DIM_BIT(KV_LEN) | OP_DIM_BIT(HEAD_DIM), \
	  .operands = { OP_READS(ACTIVATION, OP_DIM_BATCH, OP_DIM_HEADS, OP_DIM_Q_LEN, OP_DIM_HEAD_DIM), \
	                OP_STREAMS(ALWAYS, KV, OP_DIM_BATCH, OP_DIM_KV_HEADS, OP_DIM_KV_LEN, OP_DIM_HEAD_DIM), \
	                OP_STREAMS(UNLESS_LATENT, KV, OP_DIM_BATCH, OP_DIM_KV_HEADS, OP_DIM_KV_LEN, OP_DIM_V_DIM), \
	                OP_WRITES(ACTIVATION, OP_DIM_BATCH, OP_DIM_HEADS, OP_DIM_Q_LEN, OP_DIM_V_DIM), \
	                OP_SCRATCH(IF_MATERIALISED, ACTIVATION, OP_DIM_BATCH, OP_DIM_HEADS, OP_DIM_Q_LEN, OP_DIM_KV_LEN) }) \
	X(ELEMENTWISE, elementwise, cost, map, ANY, .vector = true, .pointwise = true, .kernel = OP_FLAT_KERNEL, \
	  .operands = OP_FLAT) \
	/* dtype change, element by element */ \
	X(CONVERT, convert, none, map, ANY, .vector = true, .pointwise = true, .converts = true, .kernel = OP_FLAT_KERNEL, \
	  .variant = OP_VARIANT_FORMAT, .text = "{dtype} to {out} {elems}", .weight = "w", .operands = OP_FLAT) \
	/* rows x cols -> rows; arg-max too */ \
	X(REDUCE, reduce, reduce, rows, ANY, .dims = OP_DIMS_ROWS, .reduces = OP_DIM_BIT(COLS), .vector = true, \
	  .passes = 1, .variant = OP_VARIANT_REDUCE, .kernel = "void at::native::reduce_kernel<512, 1>", \
	  .operands = { OP_READS(ACTIVATION, OP_GRID), OP_WRITES(ACTIVATION, OP_DIM_ROWS) }) \
	X(SOFTMAX, softmax, steps, rows, SOFTMAX, .dims = OP_DIMS_ROWS, .vector = true, .passes = 3, .exp = true, \
	  .each = { 4, 1 }, .row = { 0, 1 }, \
	  .kernel = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8>", \
	  .operands = { OP_READS(ACTIVATION, OP_GRID), OP_WRITES(ACTIVATION, OP_GRID) }) \
	X(NORM, norm, norm, rows, NORM, .dims = OP_DIMS_ROWS, .vector = true, .passes = 2, .ends_part = true, \
	  .kernel = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel", \
	  .operands = { OP_READS(ACTIVATION, OP_GRID), OP_READS(WEIGHT, OP_DIM_COLS), \
	                OP_READS_WHEN(IF_BIASED, WEIGHT, OP_DIM_COLS), OP_WRITES(ACTIVATION, OP_GRID) }) \
	/* device copies and sets */ \
	X(COPY, copy, none, none, ANY, .pointwise = true, .kernel = OP_FLAT_KERNEL, .operands = OP_FLAT) \
	X(CONCAT, concat, none, none, ANY, .kernel = OP_FLAT_KERNEL, .text_kv = "concat kv {elems}", \
	  .text = "concat {elems}", \
	  .operands = { OP_READS_WHEN(PARTS, ACTIVATION, OP_DIM_ELEMS), OP_WRITES(ACTIVATION, OP_DIM_ELEMS) }) \
	X(GATHER, gather, none, none, ANY, .indexed = OP_INDEXED_READ, .weight = "embed.w", .kernel = OP_FLAT_KERNEL, \
	  .operands = OP_PICKS(ACTIVATION)) \
	X(SCATTER, scatter, none, none, ANY, .indexed = OP_INDEXED_WRITE, .operands = OP_PICKS(ACTIVATION)) \
	X(TOPK, topk, topk, sort, ANY, .dims = OP_DIMS_ROWS, .reduces = OP_DIM_BIT(COLS), .whole_rows = true, \
	  .text = "topk {top} of {rows}", .kernel = "void at::native::sbtopk::gatherTopK", \
	  .operands = { OP_READS(ACTIVATION, OP_GRID), OP_WRITES(ACTIVATION, OP_DIM_ROWS, OP_DIM_TOP), \
	                OP_WRITES(INDEX, OP_DIM_ROWS, OP_DIM_TOP) }) \
	X(SORT, sort, sort, sort, ANY, .dims = OP_DIMS_ROWS, .whole_rows = true, \
	  .operands = { OP_READS(ACTIVATION, OP_GRID), OP_WRITES(ACTIVATION, OP_GRID), OP_WRITES(INDEX, OP_GRID) }) \
	X(SCAN, scan, steps, rows, ANY, .dims = OP_DIMS_ROWS, .passes = 2, .each = { 1, 0 }, \
	  .operands = { OP_READS(ACTIVATION, OP_GRID), OP_WRITES(ACTIVATION, OP_GRID) }) \
	X(EMBED, embed, none, none, ANY, .indexed = OP_INDEXED_READ, .weight = "embed.w", .kernel = OP_FLAT_KERNEL, \
	  .operands = OP_PICKS(WEIGHT)) \
	X(ROPE, rope, steps, map, ANY, .vector = true, .each = { 3, 0 }, .kernel = OP_FLAT_KERNEL, .operands = OP_FLAT) \
	/* what other devices take part in */ \
	X(COLLECTIVE, collective, collective, none, ANY, .runs = OP_RUNS_ELSEWHERE, \
	  .unlisted = "a row says nothing of other chips") \
	/* the host reads a device value and decides: all before is done, nothing after is known */ \
	X(HOST_SYNC, host_sync, none, none, ANY, .runs = OP_RUNS_ON_HOST, .text = "host read {bytes} B", \
	  .unlisted = "a table has no host") \
	/* shapes or family unknown: measured time is carried, outside every bound */ \
	X(OPAQUE, opaque, counted, none, ANY, .runs = OP_RUNS_ELSEWHERE, .unlisted = "a row says what is computed")
/* clang-format on */

#define OP_KIND_ID(id, ...) OP_##id,
enum op_kind { OP_KIND_ROWS(OP_KIND_ID) OP_KINDS };
#undef OP_KIND_ID

enum op_role { OP_WEIGHT, OP_ACTIVATION, OP_KV, OP_INDEX, OP_CONSTANT };

/* Members of struct op_shape. */
enum op_dim {
	OP_DIM_NONE,
	OP_DIM_BATCH,
	OP_DIM_M,
	OP_DIM_N,
	OP_DIM_K,
	OP_DIM_HEADS,
	OP_DIM_KV_HEADS,
	OP_DIM_Q_LEN,
	OP_DIM_KV_LEN,
	OP_DIM_HEAD_DIM,
	OP_DIM_V_DIM,
	OP_DIM_ELEMS,
	OP_DIM_ROWS,
	OP_DIM_COLS,
	OP_DIM_TOP,
	OP_DIM_COUNT
};
#define OP_DIM_BIT(d) (UINT32_C(1) << OP_DIM_##d)

/* Which of them a kind has. */
enum op_dims {
	OP_DIMS_ELEMS,    /* elements of the result */
	OP_DIMS_ROWS,     /* rows, along cols */
	OP_DIMS_PRODUCT,  /* batch, m, n, k */
	OP_DIMS_ATTENTION /* batch, heads, queries over keys */
};

/* Where an op is done: here by a unit or the DMA, by the host, or nowhere here: its measured time is carried along. */
enum op_runs { OP_RUNS_HERE, OP_RUNS_ON_HOST, OP_RUNS_ELSEWHERE };
/* What tells ops of a kind apart, behind the colon in a table of ops: "elementwise:silu", "reduce:mean", "convert:fp8". */
enum op_variant { OP_VARIANT_FN, OP_VARIANT_REDUCE, OP_VARIANT_FORMAT };
enum op_indexed { OP_NOT_INDEXED, OP_INDEXED_READ, OP_INDEXED_WRITE };
/* When an op has an operand. EACH: as often as the function has operands; PARTS: so, too, and together one of that size. */
enum op_when { OP_ALWAYS, OP_EACH, OP_PARTS, OP_UNLESS_LATENT, OP_IF_MATERIALISED, OP_IF_BIASED };

#define OP_OPERANDS 5
struct op_traits_operand {
	enum op_role is;
	enum op_when when;
	bool write, scratch; /* scratch: room that nothing of need move */
	bool streams;        /* of a product: comes in tile by tile, what is beside it stays */
	uint8_t dims[4];     /* enum op_dim; a batch of rows is among the rows */
};

/* On a vector unit: ALU, special functions. */
struct op_steps {
	uint8_t alu, sfu;
};

struct op_traits {
	const char *name;
	enum op_dims dims;
	uint32_t reduces; /* dimensions of operands that the result has not: a bit each */
	enum op_runs runs;
	enum op_variant variant;
	enum op_indexed indexed;   /* rows that lie anywhere are read, or written */
	bool vector;               /* "vector" in a fusion pattern */
	bool pointwise;            /* a value of the result is made of those at its place alone */
	bool converts;             /* changes the format of each value */
	bool whole_rows;           /* a row is done in one piece */
	bool ends_part;            /* a layer's part begins with it: what a router picked for is over */
	bool exp;                  /* needs an exponential of each value */
	uint8_t passes;            /* over its rows */
	struct op_steps each, row; /* of an element, and of a row beside */
	const char *unlisted;      /* why a table of ops cannot have it; NULL: it can */
	const char *text;          /* what an op is called, see op_text; NULL: as its dimensions say */
	const char *text_kv;       /* where it writes keys or values; NULL: as `text` */
	const char *weight;        /* what an unnamed weight of it is called; NULL: a gain */
	const char *kernel;        /* PyTorch's, for a GPU where nobody says which; NULL: none is known */
	struct op_traits_operand operands[OP_OPERANDS]; /* reads first; empty: only traces and builders say */
};

extern const struct op_traits op_traits[OP_KINDS];

const char *op_kind_name(enum op_kind k); /* "gemm", ... */
static inline bool op_is_product(enum op_kind k)
{
	return op_traits[k].dims >= OP_DIMS_PRODUCT;
}
/* What no rule knows and what other devices take part in is carried along: nothing here computes it. */
static inline bool op_is_simulated(enum op_kind k)
{
	return op_traits[k].runs != OP_RUNS_ELSEWHERE;
}

#endif
