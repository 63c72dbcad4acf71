/* tiled_cfg.c - a kernel's description: its rows, what must hold between them, and on a device. */
#include "arch/tiled/tiled.h"
#include "arch/tiled/tiled_shipped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char *const ops[] = { "attention", "gemm", "rows", NULL };
static const char *const formats[] = { "fp16", "bf16", "fp32", "fp8", "int4", "fp4", NULL };
#define X(form, name, time, least, what) #name,
static const char *const forms[] = { "tiles", KERNEL_FORM_ROWS(X) NULL };
#undef X
static const char *const copies[] = { "plain", "async", "bulk", NULL };
static const char *const maths[] = { "scalar", "wmma", "mma", "wgmma", NULL };
static const char *const same_maths[] = { "scalar", "wmma", "mma", "wgmma", "same", NULL };
static const char *const exchanges[] = { "shuffle", "atomics", NULL };
static const char *const shares[] = { "block", "warp", NULL };
/* clang-format on */
static const enum dtype dtypes[] = { DT_FP16, DT_BF16, DT_FP32, DT_FP8, DT_INT4, DT_FP4 };
/* Forms whose launch says all but the counts. */
static const bool counted[KERNEL_FORMS] = {
	[KERNEL_STREAM] = true, [KERNEL_ROWS] = true, [KERNEL_CHAIN] = true, [KERNEL_DOT] = true, [KERNEL_WALK] = true
};
enum { SAME = TILED_WGMMA + 1 };

#define OURS          "what most kernels have"
#define NOT_TOLD      "not told"
#define DIM(m, what)  CFG_U32(struct tiled_problem, m, #m, "0", 0, 1u << 22, NULL, what, NOT_TOLD)
#define LONG(m, what) CFG_U32(struct tiled_problem, m, #m, "0", 0, 1u << 30, NULL, what, NOT_TOLD)

static const struct cfg_field problem_rows[] = {
	CFG_ENUM(struct tiled_problem, op, "op", "attention", ops, "what is computed", OURS),
	CFG_ENUM(struct tiled_problem, dtype, "dtype", "fp16", formats, "format of the operands", OURS),
	CFG_U32(struct tiled_problem, batch, "batch", "1", 1, 1u << 16, NULL, "sequences; products", OURS),
	DIM(heads, "attention: query heads"),
	DIM(kv_heads, "attention: KV heads; 0: as many"),
	DIM(q_len, "attention: queries of a head"),
	DIM(kv_len, "attention: keys of a head; 0: as many as queries"),
	CFG_U32(struct tiled_problem, head_dim, "head_dim", "0", 0, 1024, NULL, "attention: of queries and keys",
	        NOT_TOLD),
	CFG_U32(struct tiled_problem, v_dim, "v_dim", "0", 0, 1024, NULL, "attention: of values; 0: head_dim",
	        NOT_TOLD),
	CFG_BOOL(struct tiled_problem, causal, "causal", "no", "attention: a query sees the keys up to its own", OURS),
	DIM(m, "gemm: rows"),
	DIM(n, "gemm: columns"),
	DIM(k, "gemm: depth"),
	DIM(groups, "gemm: that share the rows, each with a matrix of its own; 0: one"),
	LONG(rows, "rows: how many"),
	LONG(cols, "rows: elements of each"),
	CFG_END
};

#define TILE(m, def, what) CFG_U32(struct tiled_kernel, tile.m, #m, def, 1, 4096, NULL, what, OURS)
static const struct cfg_field tile_rows[] = { TILE(m, "64", "queries of a block; rows of a product"),
	                                      TILE(n, "64", "keys of a step; columns of a product"),
	                                      TILE(k, "32", "gemm: depth of a step"), CFG_END };

#define WARP(m, what) CFG_U32(struct tiled_kernel, warp.m, #m, "16", 16, 256, NULL, what, OURS)
static const struct cfg_field warp_rows[] = {
	WARP(m, "rows of a warp's results that are kept in registers side by side"), WARP(n, "columns of them"), CFG_END
};

static const struct cfg_field sum_rows[] = {
	CFG_U32(struct tiled_kernel, sum.lanes, "lanes", "0", 0, 32, cfg_pow2_or_0,
	        "threads that share a row; 0: 32, a warp a row", OURS),
	CFG_U32(struct tiled_kernel, sum.rows, "rows", "0", 0, 32, NULL,
	        "rows of a warp at once; 0: as many as its threads are enough for", OURS),
	CFG_U32(struct tiled_kernel, sum.columns, "columns", "0", 0, 4096, NULL,
	        "scores after which results are scaled; 0: 16 of a warp of its own, else the tile's", OURS),
	CFG_BOOL(struct tiled_kernel, sum.in_memory, "in_memory", "no",
	         "scalar: results are added up in shared memory key by key, not in a register", OURS),
	CFG_END
};

static const struct cfg_field call_rows[] = {
	CFG_U32(struct tiled_kernel, calls.launches, "launches", "0", 0, 1024, NULL,
	        "of a library, instead of one kernel; 0: one kernel", "one kernel"),
	CFG_U32(struct tiled_kernel, calls.rows, "rows", "0", 0, 1u << 22, NULL,
	        "queries of a head that such launches are for; 0: all of a head's", "a head's"),
	CFG_END
};

#define X(n, help) CFG_U32(struct kernel, n, #n, "0", 0, 1u << 16, NULL, help, NOT_TOLD),
static const struct cfg_field count_rows[] = { KERNEL_NUMBERS(X) CFG_END };
#undef X

static const struct cfg_field bytes_rows[] = {
	CFG_BYTES(struct tiled_kernel, bytes.read, "read", "0", 0, UINT64_C(1) << 44, NULL,
	          "of operands, each once; 0: what the problem says", NOT_TOLD),
	CFG_BYTES(struct tiled_kernel, bytes.write, "write", "0", 0, UINT64_C(1) << 44, NULL,
	          "of results; 0: what the problem says", NOT_TOLD),
	CFG_BYTES(struct tiled_kernel, bytes.again, "again", "0", 0, UINT64_C(1) << 44, NULL,
	          "that are read more than once, from the L2 each time", NOT_TOLD),
	CFG_BOOL(struct tiled_kernel, bytes.cold, "cold", "no",
	         "operands come from DRAM though the L2 has room for them", OURS),
	CFG_END
};

static const struct cfg_field published_rows[] = {
	CFG_STR(struct tiled_kernel, device, "device", "", "the device it is for, as configs/gpu names it", NOT_TOLD),
	CFG_PS(struct tiled_kernel, published, "time", "0 ns", 0, 1000 * PS_MS, NULL, "what was published; 0: nothing",
	       NOT_TOLD),
	CFG_END
};

static const struct cfg_field top_rows[] = {
	CFG_STR(struct tiled_kernel, name, "kernel", "", "what it is called", NOT_TOLD),
	CFG_STR(struct tiled_kernel, about, "about", "", "in a few words", NOT_TOLD),
	CFG_ENUM(struct tiled_kernel, form, "form", "tiles", forms,
	         "tiles, or how the work is laid out instead (configs/kernels): stream, rows, chain, dot, walk", OURS),
	CFG_STR(struct tiled_kernel, extents, "grid", "", "blocks, as 132, 16x8 or 16x8x4; tiles give their own",
	        NOT_TOLD),
	CFG_STR(struct tiled_kernel, next, "then", "",
	        "a kernel described here that the same launch goes on with when all its blocks have met", NOT_TOLD),
	CFG_U32(struct tiled_kernel, warps, "warps", "4", 1, 32, NULL, "that compute", OURS),
	CFG_U32(struct tiled_kernel, producers, "producer_warps", "0", 0, 16, NULL, "that only copy, beside them",
	        OURS),
	CFG_U32(struct tiled_kernel, registers, "registers", "0", 0, 255, NULL, "of a thread; 0: not told, no limit",
	        NOT_TOLD),
	CFG_BYTES(struct tiled_kernel, shared, "shared", "0", 0, 1 << 20, NULL,
	          "shared memory of a block; 0: what its tiles, scores and results take", NOT_TOLD),
	CFG_U32(struct tiled_kernel, stages, "stages", "1", 1, 64, NULL,
	        "tiles of keys, or of k, that lie in shared memory", OURS),
	CFG_ENUM(
		struct tiled_kernel, copy, "copy", "plain", copies,
		"how tiles come: plain, through registers; async, cp.async past them; bulk, by the tensor memory engine",
		OURS),
	CFG_U32(struct tiled_kernel, copy_bytes, "copy_bytes", "16", 1, 16, cfg_pow2, "that a thread copies at once",
	        OURS),
	CFG_U32(struct tiled_kernel, copy_instructions, "copy_instructions", "0", 0, 1024, NULL,
	        "cp.async: of a warp, for each copy of its lanes, with its address; 0: not counted, which beside wgmma are 4",
	        "SASS of validate/cuda/ref_copies.cu: 3 to 4.4 where addresses are worked out once, 23 where each is anew"),
	CFG_ENUM(struct tiled_kernel, math, "math", "mma", maths, "what multiplies: of attention queries by keys",
	         OURS),
	CFG_ENUM(struct tiled_kernel, values, "values", "same", same_maths, "attention: what multiplies by values",
	         OURS),
	CFG_ENUM(struct tiled_kernel, exchange, "exchange", "shuffle", exchanges,
	         "scalar, wmma: how threads of a row join a maximum and a sum", OURS),
	CFG_ENUM(struct tiled_kernel, share, "share", "block", shares,
	         "scalar, wmma: all warps go through a tile's phases together, or each with rows of its own", OURS),
	CFG_U32(struct tiled_kernel, padding, "padding", "0", 0, 256, NULL, "elements behind each row in shared memory",
	        OURS),
	CFG_BOOL(struct tiled_kernel, swizzle, "swizzle", "no", "rows are permuted so that no two meet in a bank",
	         OURS),
	CFG_BOOL(struct tiled_kernel, pingpong, "pingpong", "yes",
	         "attention by wgmma: one group of warps multiplies while the other has its softmax", OURS),
	CFG_BOOL(struct tiled_kernel, persistent, "persistent", "no", "blocks stay and take the next tile of work",
	         OURS),
	CFG_END
};

static const struct cfg_section sections[] = { { "", top_rows, 0 },
	                                       { "problem", problem_rows, offsetof(struct tiled_kernel, problem) },
	                                       { "tile", tile_rows, 0 },
	                                       { "warp_tile", warp_rows, 0 },
	                                       { "softmax", sum_rows, 0 },
	                                       { "calls", call_rows, 0 },
	                                       { "published", published_rows, 0 },
	                                       { "bytes", bytes_rows, 0 },
	                                       { "counts", count_rows, offsetof(struct tiled_kernel, counts) },
	                                       { NULL, NULL, 0 } };

/* --- places ------------------------------------------------------------------------------------------------------ */

/* The line of a key, or of the section that lacks it. */
static const struct ynode *tiled_cfg_place(const struct tiled *t, const char *section, const char *key)
{
	const struct ynode *root = yaml_root(t->yaml), *map = section ? ynode_get(root, section) : root,
			   *v = map ? ynode_get(map, key) : NULL;

	return v ? v : map ? map : root;
}

#define FAULT(section, key, ...) yaml_err(t->yaml, tiled_cfg_place(t, section, key), e, __VA_ARGS__)

/* --- counts ------------------------------------------------------------------------------------------------------ */

enum dtype tiled_dtype(const struct tiled_kernel *k)
{
	return dtypes[k->problem.dtype];
}

uint64_t tiled_threads(const struct tiled_kernel *k)
{
	return 32 * ((uint64_t)k->warps + k->producers);
}

const char *tiled_form_name(const struct tiled_kernel *k)
{
	return forms[k->form];
}

static bool in_registers(const struct tiled_kernel *k)
{
	return k->math == TILED_MMA || k->math == TILED_WGMMA;
}

static uint64_t attention_needs(const struct tiled_kernel *k)
{
	const struct tiled_problem *p = &k->problem;
	const uint64_t bytes = dtype_bits(tiled_dtype(k)) / 8, pad = k->padding, m = k->tile.m, n = k->tile.n;
	const bool alone = k->share == TILED_WARP;
	uint64_t need = (m * (p->head_dim + pad) + k->stages * n * (p->head_dim + p->v_dim + 2 * pad)) * bytes;

	if (in_registers(k))
		return need;
	need += m * (p->v_dim + pad) * 4 + m * (alone ? k->sum.columns : n) * 4 + 2 * m * 4;
	if (k->values == TILED_WMMA)
		need += m * (alone ? k->sum.columns : n + pad) * bytes;
	return need;
}

uint64_t tiled_needs(const struct tiled_kernel *k)
{
	const uint64_t bytes = dtype_bits(tiled_dtype(k)) / 8;

	if (k->calls.launches || k->form != TILED_TILES)
		return 0;
	if (k->problem.op == TILED_ATTENTION)
		return attention_needs(k);
	return (uint64_t)k->stages * (k->tile.m + k->tile.n) * (k->tile.k + k->padding) * bytes;
}

uint64_t tiled_shared(const struct tiled_kernel *k)
{
	return k->shared ? k->shared : tiled_needs(k);
}

uint64_t tiled_strips(const struct tiled_kernel *k)
{
	const struct tiled_problem *p = &k->problem;
	const uint64_t groups = p->groups ? p->groups : 1;

	if (k->grid[0]) /* the grid's first extent goes along the columns */
		return (uint64_t)k->grid[1] * k->grid[2];
	return groups * div_up(div_up(p->m, groups), k->tile.m) * p->batch;
}

uint64_t tiled_blocks(const struct tiled_kernel *k)
{
	const struct tiled_problem *p = &k->problem;

	if (k->grid[0])
		return (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
	if (p->op == TILED_ATTENTION)
		return div_up(p->q_len, k->tile.m) * p->heads * p->batch;
	return tiled_strips(k) * div_up(p->n, k->tile.n);
}

uint64_t tiled_flops(const struct tiled_kernel *k)
{
	const struct tiled_problem *p = &k->problem;
	const uint64_t q = p->q_len, past = p->kv_len > q ? p->kv_len - q : 0;
	const uint64_t seen = !p->causal ? q * p->kv_len
	                      : p->kv_len >= q
	                              ? q * past + q * (q + 1) / 2
	                              : (uint64_t)p->kv_len * (p->kv_len + 1) / 2 + (q - p->kv_len) * p->kv_len;

	if (p->op == TILED_ROWS)
		return 0;
	if (p->op == TILED_GEMM)
		return UINT64_C(2) * p->m * p->n * p->k * p->batch;
	return 2 * seen * (p->head_dim + p->v_dim) * p->heads * p->batch;
}

/* --- what must hold ---------------------------------------------------------------------------------------------- */

/* A key of another kind of problem. */
static int only_its_own(const struct tiled *t, struct err *e)
{
	static const char *const keys[][8] = { { "heads", "kv_heads", "q_len", "kv_len", "head_dim", "v_dim",
		                                 "causal" },
		                               { "m", "n", "k", "groups" },
		                               { "rows", "cols" } };
	static const char *const of[] = { "attention", "a gemm", "rows" };
	const struct ynode *map = ynode_get(yaml_root(t->yaml), "problem");

	for (uint32_t op = 0; map && op < sizeof keys / sizeof *keys; op++)
		for (const char *const *key = keys[op]; op != t->k.problem.op && *key; key++)
			if (ynode_get(map, *key))
				return FAULT("problem", *key, "'%s' is of %s, and the problem is %s ('problem.op')",
				             *key, of[op], of[t->k.problem.op]);
	return 0;
}

static int sized(const struct tiled *t, const char *key, uint64_t v, struct err *e)
{
	return v ? 0 : FAULT("problem", key, "the problem has no size '%s'", key);
}

/* Beyond these no time is a number of ours; the largest attention of a million tokens is far below. */
static int size_check(const struct tiled *t, struct err *e)
{
	const struct tiled_kernel *k = &t->k;
	const struct tiled_problem *p = &k->problem;
	const bool gemm = p->op == TILED_GEMM, tiles = k->form == TILED_TILES;
	const double rows = gemm                  ? (double)p->batch * p->m
	                    : p->op == TILED_ROWS ? p->rows
	                                          : (double)p->batch * p->heads * p->q_len,
		     columns = gemm                  ? p->n
	                       : p->op == TILED_ROWS ? p->cols
	                                             : p->kv_len,
		     deep = gemm                  ? p->k
	                    : p->op == TILED_ROWS ? 1
	                                          : (double)p->head_dim + p->v_dim;
	const double tiled = rows / k->tile.m * (gemm ? columns / k->tile.n : 1) +
	                     (gemm ? p->groups : (double)p->batch * p->heads),
		     blocks = k->grid[0] ? (double)k->grid[0] * k->grid[1] * k->grid[2] : tiled;
	const double steps = tiles ? blocks * (1 + (gemm ? (double)p->k / k->tile.k : columns / k->tile.n)) : 0;

	if (2 * rows * columns * deep > 1e16 || rows * columns > 1e13 || steps > 1e12 || blocks > 1e9 ||
	    (k->calls.launches &&
	     (double)k->calls.launches * (rows / (k->calls.rows ? k->calls.rows : 1) + rows) > 1e9))
		return FAULT(NULL, "problem",
		             "the problem is too large: up to 10^16 operations, 10^9 blocks and 10^12 steps of theirs");
	return 0;
}

static int problem_check(struct tiled *t, struct err *e)
{
	struct tiled_problem *p = &t->k.problem;

	if (only_its_own(t, e) < 0)
		return -1;
	if (p->op == TILED_ROWS)
		return sized(t, "rows", p->rows, e) < 0 || sized(t, "cols", p->cols, e) < 0 ? -1 : 0;
	if (p->op == TILED_GEMM)
		return sized(t, "m", p->m, e) < 0 || sized(t, "n", p->n, e) < 0 || sized(t, "k", p->k, e) < 0 ? -1 : 0;
	p->kv_heads = p->kv_heads ? p->kv_heads : p->heads;
	p->kv_len = p->kv_len ? p->kv_len : p->q_len;
	p->v_dim = p->v_dim ? p->v_dim : p->head_dim;
	if (sized(t, "heads", p->heads, e) < 0 || sized(t, "q_len", p->q_len, e) < 0 ||
	    sized(t, "head_dim", p->head_dim, e) < 0)
		return -1;
	if (p->heads % p->kv_heads)
		return FAULT("problem", "kv_heads", "%u query heads do not share %u KV heads evenly", p->heads,
		             p->kv_heads);
	return 0;
}

/* Rows that warps share, of attention's queries or of a product. */
static int rows_check(const struct tiled *t, struct err *e)
{
	const struct tiled_kernel *k = &t->k;
	const bool alone = k->math == TILED_MMA || (k->share == TILED_WARP && k->problem.op == TILED_ATTENTION);
	const uint32_t group = k->math == TILED_WGMMA    ? 64
	                       : k->math == TILED_SCALAR ? 1
	                                                 : 16,
		       shared = k->math == TILED_WGMMA                      ? k->warps / 4
	                        : alone && k->problem.op == TILED_ATTENTION ? k->warps
	                                                                    : 1;

	if (k->math == TILED_WGMMA && k->warps % 4)
		return FAULT(NULL, "warps", "%u warps: wgmma is of groups of 4 warps", k->warps);
	if (k->tile.m % (group * shared))
		return FAULT("tile", "m", "a tile of %u rows is no multiple of %u: %u %s%s of %u rows each", k->tile.m,
		             group * shared, shared, k->math == TILED_WGMMA ? "group of 4 warps" : "warp",
		             shared == 1 ? "" : "s", group);
	if (k->math == TILED_SCALAR && alone && k->tile.m % k->warps)
		return FAULT("tile", "m", "a tile of %u rows is not shared evenly by %u warps", k->tile.m, k->warps);
	return 0;
}

static int columns_check(const struct tiled *t, struct err *e)
{
	const struct tiled_kernel *k = &t->k;
	const uint32_t n = k->math == TILED_SCALAR && k->values != TILED_WMMA ? 1
	                   : k->math == TILED_MMA || k->math == TILED_WGMMA   ? 8
	                                                                      : 16;
	const uint32_t deep = k->problem.op == TILED_GEMM ? k->tile.k : k->problem.head_dim;

	if (k->tile.n % n)
		return FAULT("tile", "n", "a tile of %u columns is no multiple of %u, an instruction's", k->tile.n, n);
	if (k->math != TILED_SCALAR && deep % 16)
		return FAULT(k->problem.op == TILED_GEMM ? "tile" : "problem",
		             k->problem.op == TILED_GEMM ? "k" : "head_dim",
		             "a depth of %u is no multiple of 16, an instruction's", deep);
	if (k->values == TILED_WMMA && k->problem.op == TILED_ATTENTION && k->problem.v_dim % 16)
		return FAULT("problem", "v_dim", "values of %u are no multiple of 16, an instruction's",
		             k->problem.v_dim);
	return 0;
}

/* A warp's part of a product by wmma, whose fragments share operands. */
static int warp_check(const struct tiled *t, struct err *e)
{
	const struct tiled_kernel *k = &t->k;
	const bool more = k->warp.m > 16 || k->warp.n > 16;

	if (more && (k->problem.op != TILED_GEMM || k->math != TILED_WMMA))
		return FAULT("warp_tile", "m", "a warp's tile is of a gemm by wmma: the other forms have theirs");
	if (k->warp.m % 16 || k->warp.n % 16 ||
	    (more && (uint64_t)k->warp.m * k->warp.n * k->warps > (uint64_t)k->tile.m * k->tile.n))
		return FAULT("warp_tile", "m",
		             "%u warps of %u x %u results each do not fit a tile of %u x %u by fragments of 16 x 16",
		             k->warps, k->warp.m, k->warp.n, k->tile.m, k->tile.n);
	return 0;
}

static int math_check(const struct tiled *t, struct err *e)
{
	const struct tiled_kernel *k = &t->k;
	const bool tensor = k->math != TILED_SCALAR || k->values != TILED_SCALAR;

	if (tensor && tiled_dtype(k) == DT_FP32)
		return FAULT("problem", "dtype", "fp32 is multiplied by 'math: scalar' alone");
	if (dtype_bits(tiled_dtype(k)) < 16 &&
	    !(in_registers(k) && k->problem.op == TILED_GEMM && tiled_dtype(k) == DT_FP8))
		return FAULT("problem", "dtype", "tiles of %s are modelled of a gemm by mma or wgmma in fp8 alone",
		             dtype_name(tiled_dtype(k)));
	if (k->problem.op == TILED_ATTENTION && in_registers(k) && k->values != k->math)
		return FAULT(NULL, "values",
		             "with 'math: %s' scores stay in registers, and values are multiplied by it, too: not '%s'",
		             maths[k->math], maths[k->values]);
	if (k->problem.op == TILED_ATTENTION && !in_registers(k) && k->values > TILED_WMMA)
		return FAULT(NULL, "values",
		             "'values: %s' takes scores from registers, where 'math: %s' does not leave them",
		             maths[k->values], maths[k->math]);
	if (k->problem.op == TILED_ATTENTION && k->math == TILED_WGMMA && k->tile.m < 128)
		return FAULT(
			"tile", "m",
			"wgmma's attention is modelled from 128 queries a block on, where two groups of warps take turns");
	return 0;
}

static int copy_check(const struct tiled *t, struct err *e)
{
	const struct tiled_kernel *k = &t->k;

	if (k->copy == TILED_ASYNC && k->copy_bytes < 4)
		return FAULT(NULL, "copy_bytes", "cp.async copies 4, 8 or 16 bytes of a thread, not %u", k->copy_bytes);
	if (k->producers && k->stages < 2 && k->copy != TILED_PLAIN)
		return FAULT(NULL, "stages", "warps that only copy have nothing to do with one stage: 2 or more");
	if (k->shared && !k->calls.launches && k->shared < tiled_needs(k))
		return FAULT(NULL, "shared", "%" PRIu64 " bytes of shared memory: the tiles alone take %" PRIu64,
		             k->shared, tiled_needs(k));
	return 0;
}

static int softmax_check(struct tiled *t, struct err *e)
{
	struct tiled_kernel *k = &t->k;

	k->sum.lanes = k->sum.lanes ? k->sum.lanes : 32;
	k->sum.rows = k->sum.rows ? k->sum.rows : 32 / k->sum.lanes;
	if (!k->sum.columns)
		k->sum.columns = k->share == TILED_WARP ? 16 : k->tile.n;
	if (k->sum.rows * k->sum.lanes > 32)
		return FAULT("softmax", "rows", "%u rows of %u threads each are more than a warp has", k->sum.rows,
		             k->sum.lanes);
	if (k->tile.n % k->sum.columns || (k->share == TILED_BLOCK && k->sum.columns != k->tile.n))
		return FAULT("softmax", "columns", "%u scores a step do not go into a tile of %u keys%s",
		             k->sum.columns, k->tile.n,
		             k->share == TILED_BLOCK ? ", all of which a block takes at once" : "");
	if ((k->math == TILED_WMMA || k->values == TILED_WMMA) && k->sum.columns % 16)
		return FAULT("softmax", "columns", "%u scores a step are no multiple of 16, an instruction's",
		             k->sum.columns);
	return 0;
}

/* "16x8": extents that are not written are 1. */
static int grid_check(struct tiled *t, struct err *e)
{
	uint32_t *x = t->k.grid;
	int end = 0;
	const char *at = t->k.extents;

	x[0] = x[1] = x[2] = 0;
	for (int i = 0; i < 3 && *at; i++, at += end + (at[end] == 'x' && at[end + 1])) {
		end = 0;
		if (sscanf(at, "%9" SCNu32 "%n", &x[i], &end) != 1 || !x[i] || *at < '0' || *at > '9')
			return FAULT(NULL, "grid", "'%s' is no grid: 132, 16x8 or 16x8x4", t->k.extents);
	}
	if (*at)
		return FAULT(NULL, "grid", "'%s' is no grid: 132, 16x8 or 16x8x4", t->k.extents);
	for (int i = 1; i < 3; i++)
		x[i] = x[0] && !x[i] ? 1 : x[i];
	return 0;
}

/* Beyond these no time is a number of ours. */
static bool countable(const struct tiled_kernel *k)
{
	const struct kernel *n = &k->counts;
	const struct tiled_problem *p = &k->problem;
	const double blocks = (double)tiled_blocks(k), threads = blocks * (double)tiled_threads(k);
	const double elements = (double)p->rows * p->cols + (double)tiled_flops(k) + threads * n->turns;
	const double bytes =
		((double)k->bytes.read + (double)k->bytes.again + (double)k->bytes.write) * (1 + n->passes) + elements;
	const double turns = blocks * (bytes / threads + 1 + n->turns + p->cols) + (n->look_back ? blocks * blocks : 0);
	const double turn =
		1e6 * (1. + n->start + n->steps + n->again + n->barriers + n->barriers_once + 0.) +
		1e3 * ((double)n->cycles + n->loop_cycles + n->again_cycles + n->tail_cycles + n->tree_cycles);

	return turns * turn < 1e18 &&
	       (elements + threads) * (1. + n->instructions + n->wavefronts + n->thread_instructions) < 1e18;
}

/* A kernel that is told by its form and counts. */
static int form_check(const struct tiled *t, struct err *e)
{
	const struct tiled_kernel *k = &t->k;
	const uint32_t form = k->form - 1, op = k->problem.op;

	if (!counted[form])
		return FAULT(NULL, "form", "'%s' goes by tiles: leave 'form' out, and say 'tile', 'stages' and 'math'",
		             tiled_form_name(k));
	if (form != KERNEL_WALK && op != (form == KERNEL_DOT ? TILED_GEMM : TILED_ROWS))
		return FAULT(NULL, "form", "the form '%s' is of a problem of '%s', not of '%s'", tiled_form_name(k),
		             ops[form == KERNEL_DOT ? TILED_GEMM : TILED_ROWS], ops[op]);
	if (!k->grid[0])
		return FAULT(NULL, "form", "the form '%s' needs how many blocks there are: 'grid: 132'",
		             tiled_form_name(k));
	if (!countable(k))
		return FAULT(NULL, "counts",
		             "the kernel is too large: up to 10^18 instructions, and as many picoseconds");
	if (k->counts.row_warps == 1 && k->counts.turns > 31)
		return FAULT("counts", "turns", "a row of a warp is unrolled to 2^%u elements: up to 31",
		             k->counts.turns);
	if (!k->bytes.read && !k->bytes.write && k->problem.op == TILED_ROWS)
		return FAULT(NULL, "bytes",
		             "how many bytes are read and written is not said: 'bytes: {read: 1 MiB, write: 1 MiB}'");
	return 0;
}

static int tiled_cfg_check(struct tiled *t, struct err *e)
{
	struct tiled_kernel *k = &t->k;

	if (!k->name[0])
		return FAULT(NULL, "kernel", "the kernel has no name: 'kernel: NAME'");
	if (k->values == SAME)
		k->values = k->math;
	if (grid_check(t, e) < 0 || problem_check(t, e) < 0 || size_check(t, e) < 0)
		return -1;
	if (k->calls.launches)
		return k->problem.op == TILED_ATTENTION
		               ? 0
		               : FAULT("calls", "launches", "calls of a library are described of attention");
	if (tiled_threads(k) > 1024)
		return FAULT(NULL, "warps", "%" PRIu64 " threads: a block has 1024 at the most", tiled_threads(k));
	if (k->form != TILED_TILES)
		return form_check(t, e);
	if (k->problem.op == TILED_ROWS)
		return FAULT("problem", "op", "rows are no tiles of products: say 'form', such as 'form: rows'");
	if (math_check(t, e) < 0 || warp_check(t, e) < 0 || rows_check(t, e) < 0 || columns_check(t, e) < 0)
		return -1;
	if (k->problem.op == TILED_ATTENTION && softmax_check(t, e) < 0)
		return -1;
	return copy_check(t, e);
}

int tiled_check(const struct tiled *t, const struct gpu *g, const char *device, struct err *e)
{
	const struct tiled_kernel *k = &t->k;
	const struct sm_cfg *s = &g->cfg->sm;
	const uint64_t shared = tiled_shared(k), threads = tiled_threads(k);
	const uint64_t bank = round_up((uint64_t)k->registers * 32, s->register_unit) * (k->warps + k->producers);

	if (k->calls.launches)
		return 0;
	if (shared + s->smem_reserved > s->smem)
		return FAULT(NULL, k->shared ? "shared" : "tile",
		             "a block takes %.1f KiB of shared memory, an SM of '%s' has %.1f KiB for it",
		             (double)shared / 1024, device, (double)(s->smem - s->smem_reserved) / 1024);
	if (bank > s->registers)
		return FAULT(NULL, "registers",
		             "%" PRIu64 " threads of %u registers are %" PRIu64 ", an SM of '%s' has %u", threads,
		             k->registers, bank, device, s->registers);
	if (threads > s->threads)
		return FAULT(NULL, "warps", "%" PRIu64 " threads, an SM of '%s' holds %u", threads, device, s->threads);
	if (k->form != TILED_TILES)
		return 0;
	if (k->math == TILED_WGMMA && s->capability != 90)
		return FAULT(NULL, "math", "wgmma is of compute capability 9.0, '%s' has %u.%u: mma, wmma or scalar",
		             device, s->capability / 10, s->capability % 10);
	if (k->copy == TILED_BULK && s->capability < 90)
		return FAULT(NULL, "copy",
		             "bulk copies are of compute capability 9.0 on, '%s' has %u.%u: async or plain", device,
		             s->capability / 10, s->capability % 10);
	return 0;
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

#define OF_NEXT "then."

/* Keys that begin with `of`, which is left out; without one, those that are not the next's. */
static int set_all(struct cfg *c, const char *const *sets, size_t n, const char *of, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		const bool next = strncmp(sets[i], OF_NEXT, strlen(OF_NEXT)) == 0;

		if (next == (of[0] != 0) && cfg_set(c, sets[i] + strlen(of), e) < 0)
			return -1;
	}
	return 0;
}

static struct tiled *read_of(struct yaml *y, const char *const *sets, size_t n, const char *of, struct err *e);

/* The half that follows is of the same launch, and its operands lie as the first's. */
static int next_of(struct tiled *t, const char *const *sets, size_t n, const char *of, struct err *e)
{
	struct tiled_kernel *k = &t->k, *x;
	char path[1024];

	if (!k->next[0])
		return 0;
	if (of[0] || k->form == TILED_TILES)
		return FAULT(NULL, "then", "%s",
		             of[0] ? "a kernel that follows another has none behind it"
		                   : "a kernel by tiles has none behind it: say 'form'");
	if (strspn(k->next, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(k->next))
		return FAULT(NULL, "then", "'%s' is no name of a kernel that comes with npusim", k->next);
	if (tiled_find(k->next, path, sizeof path, e) < 0)
		return -1;
	if (!(t->then = read_of(yaml_load(path, e), sets, n, OF_NEXT, e)))
		return -1;
	x = &t->then->k;
	if (x->form == TILED_TILES)
		return FAULT(NULL, "then", "'%s' goes by tiles: a half that follows says its 'form'", k->next);
	memcpy(x->grid, k->grid, sizeof x->grid);
	x->warps = k->warps;
	x->producers = k->producers;
	x->registers = k->registers;
	x->shared = k->shared;
	x->bytes.cold = k->bytes.cold;
	k->then = x;
	return 0;
}

/* `of`: "" for a kernel, OF_NEXT for what follows one. */
static struct tiled *read_of(struct yaml *y, const char *const *sets, size_t n, const char *of, struct err *e)
{
	struct tiled *t = y ? calloc(1, sizeof *t) : NULL;

	if (!t) {
		if (y)
			err_nomem(e, "for a kernel's description");
		yaml_free(y);
		return NULL;
	}
	t->yaml = y;
	if ((t->cfg = cfg_new(sections, &t->k, e)) && cfg_read(t->cfg, y, yaml_root(y), NULL, e) == 0 &&
	    set_all(t->cfg, sets, n, of, e) == 0 && tiled_cfg_check(t, e) == 0 && next_of(t, sets, n, of, e) == 0)
		return t;
	tiled_free(t);
	return NULL;
}

struct tiled *tiled_load(const char *path, struct err *e)
{
	return read_of(yaml_load(path, e), NULL, 0, "", e);
}

struct tiled *tiled_load_as(const char *path, const char *const *sets, size_t n, struct err *e)
{
	return read_of(yaml_load(path, e), sets, n, "", e);
}

struct tiled *tiled_parse(const char *text, size_t n, const char *name, struct err *e)
{
	return read_of(yaml_parse(text, n, name, e), NULL, 0, "", e);
}

void tiled_free(struct tiled *t)
{
	if (!t)
		return;
	tiled_free(t->then);
	cfg_free(t->cfg);
	yaml_free(t->yaml);
	free(t);
}
