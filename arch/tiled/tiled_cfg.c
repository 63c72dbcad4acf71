/* tiled_cfg.c - a kernel's description: its rows, what must hold between them, and on a device. */
#include "arch/tiled/tiled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char *const ops[] = { "attention", "gemm", NULL };
static const char *const formats[] = { "fp16", "bf16", "fp32", NULL };
static const char *const copies[] = { "plain", "async", "bulk", NULL };
static const char *const maths[] = { "scalar", "wmma", "mma", "wgmma", NULL };
static const char *const same_maths[] = { "scalar", "wmma", "mma", "wgmma", "same", NULL };
static const char *const exchanges[] = { "shuffle", "atomics", NULL };
static const char *const shares[] = { "block", "warp", NULL };
/* clang-format on */
static const enum dtype dtypes[] = { DT_FP16, DT_BF16, DT_FP32 };
enum { SAME = TILED_WGMMA + 1 };

#define OURS         "what most kernels have"
#define NOT_TOLD     "not told"
#define DIM(m, what) CFG_U32(struct tiled_problem, m, #m, "0", 0, 1u << 22, NULL, what, NOT_TOLD)

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
	CFG_END
};

#define TILE(m, def, what) CFG_U32(struct tiled_kernel, tile.m, #m, def, 1, 4096, NULL, what, OURS)
static const struct cfg_field tile_rows[] = { TILE(m, "64", "queries of a block; rows of a product"),
	                                      TILE(n, "64", "keys of a step; columns of a product"),
	                                      TILE(k, "32", "gemm: depth of a step"), CFG_END };

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

static const struct cfg_field published_rows[] = {
	CFG_STR(struct tiled_kernel, device, "device", "", "the device it is for, as configs/gpu names it", NOT_TOLD),
	CFG_PS(struct tiled_kernel, published, "time", "0 ns", 0, 1000 * PS_MS, NULL, "what was published; 0: nothing",
	       NOT_TOLD),
	CFG_END
};

static const struct cfg_field top_rows[] = {
	CFG_STR(struct tiled_kernel, name, "kernel", "", "what it is called", NOT_TOLD),
	CFG_STR(struct tiled_kernel, form, "about", "", "in a few words", NOT_TOLD),
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
	CFG_BOOL(struct tiled_kernel, persistent, "persistent", "no", "blocks stay and take the next tile of work",
	         OURS),
	CFG_END
};

static const struct cfg_section sections[] = {
	{ "", top_rows, 0 },       { "problem", problem_rows, offsetof(struct tiled_kernel, problem) },
	{ "tile", tile_rows, 0 },  { "softmax", sum_rows, 0 },
	{ "calls", call_rows, 0 }, { "published", published_rows, 0 },
	{ NULL, NULL, 0 }
};

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

	if (k->calls.launches)
		return 0;
	if (k->problem.op == TILED_ATTENTION)
		return attention_needs(k);
	return (uint64_t)k->stages * (k->tile.m + k->tile.n) * (k->tile.k + k->padding) * bytes;
}

uint64_t tiled_shared(const struct tiled_kernel *k)
{
	return k->shared ? k->shared : tiled_needs(k);
}

uint64_t tiled_blocks(const struct tiled_kernel *k)
{
	const struct tiled_problem *p = &k->problem;

	if (p->op == TILED_ATTENTION)
		return div_up(p->q_len, k->tile.m) * p->heads * p->batch;
	return div_up(p->m, k->tile.m) * div_up(p->n, k->tile.n) * p->batch;
}

uint64_t tiled_flops(const struct tiled_kernel *k)
{
	const struct tiled_problem *p = &k->problem;
	const uint64_t q = p->q_len, past = p->kv_len > q ? p->kv_len - q : 0;
	const uint64_t seen = !p->causal ? q * p->kv_len
	                      : p->kv_len >= q
	                              ? q * past + q * (q + 1) / 2
	                              : (uint64_t)p->kv_len * (p->kv_len + 1) / 2 + (q - p->kv_len) * p->kv_len;

	if (p->op == TILED_GEMM)
		return UINT64_C(2) * p->m * p->n * p->k * p->batch;
	return 2 * seen * (p->head_dim + p->v_dim) * p->heads * p->batch;
}

/* --- what must hold ---------------------------------------------------------------------------------------------- */

static int only_its_own(const struct tiled *t, struct err *e)
{
	static const char *const of_attention[] = { "heads",    "kv_heads", "q_len", "kv_len",
		                                    "head_dim", "v_dim",    "causal" };
	static const char *const of_gemm[] = { "m", "n", "k" };
	const bool gemm = t->k.problem.op == TILED_GEMM;
	const struct ynode *map = ynode_get(yaml_root(t->yaml), "problem");
	const char *const *other = gemm ? of_attention : of_gemm;
	const size_t n = gemm ? sizeof of_attention / sizeof *of_attention : sizeof of_gemm / sizeof *of_gemm;

	for (size_t i = 0; map && i < n; i++)
		if (ynode_get(map, other[i]))
			return FAULT("problem", other[i], "'%s' is of %s, and the problem is %s ('problem.op')",
			             other[i], gemm ? "attention" : "a gemm", gemm ? "a gemm" : "attention");
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
	const bool gemm = p->op == TILED_GEMM;
	const double rows = gemm ? (double)p->batch * p->m : (double)p->batch * p->heads * p->q_len,
		     columns = gemm ? p->n : p->kv_len, deep = gemm ? p->k : (double)p->head_dim + p->v_dim;
	const double blocks =
		rows / k->tile.m * (gemm ? columns / k->tile.n : 1) + (gemm ? 0 : (double)p->batch * p->heads);
	const double steps = blocks * (1 + (gemm ? (double)p->k / k->tile.k : columns / k->tile.n));

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

static int math_check(const struct tiled *t, struct err *e)
{
	const struct tiled_kernel *k = &t->k;
	const bool tensor = k->math != TILED_SCALAR || k->values != TILED_SCALAR;

	if (tensor && tiled_dtype(k) == DT_FP32)
		return FAULT("problem", "dtype", "fp32 is multiplied by 'math: scalar' alone");
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

static int tiled_cfg_check(struct tiled *t, struct err *e)
{
	struct tiled_kernel *k = &t->k;

	if (!k->name[0])
		return FAULT(NULL, "kernel", "the kernel has no name: 'kernel: NAME'");
	if (k->values == SAME)
		k->values = k->math;
	if (problem_check(t, e) < 0 || size_check(t, e) < 0)
		return -1;
	if (k->calls.launches)
		return k->problem.op == TILED_ATTENTION
		               ? 0
		               : FAULT("calls", "launches", "calls of a library are described of attention");
	if (math_check(t, e) < 0 || rows_check(t, e) < 0 || columns_check(t, e) < 0)
		return -1;
	if (k->problem.op == TILED_ATTENTION && softmax_check(t, e) < 0)
		return -1;
	if (tiled_threads(k) > 1024)
		return FAULT(NULL, "warps", "%" PRIu64 " threads: a block has 1024 at the most", tiled_threads(k));
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

static int edit(struct tiled *t, const char *const *edits, int n, struct err *e)
{
	for (int i = 0; i < n; i++)
		if (cfg_set(t->cfg, edits[i], e) < 0)
			return -1;
	return 0;
}

static struct tiled *read_of(struct yaml *y, const char *const *edits, int n, struct err *e)
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
	    edit(t, edits, n, e) == 0 && tiled_cfg_check(t, e) == 0)
		return t;
	tiled_free(t);
	return NULL;
}

struct tiled *tiled_load(const char *path, struct err *e)
{
	return read_of(yaml_load(path, e), NULL, 0, e);
}

struct tiled *tiled_load_edited(const char *path, const char *const *edits, int n, struct err *e)
{
	return read_of(yaml_load(path, e), edits, n, e);
}

struct tiled *tiled_parse(const char *text, size_t n, const char *name, struct err *e)
{
	return read_of(yaml_parse(text, n, name, e), NULL, 0, e);
}

void tiled_free(struct tiled *t)
{
	if (!t)
		return;
	cfg_free(t->cfg);
	yaml_free(t->yaml);
	free(t);
}
