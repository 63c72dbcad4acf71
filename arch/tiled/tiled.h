/* tiled.h - a GPU kernel described without a trace: what it holds, how long it takes on a device, and what bounds it.
 *
 * A description (workloads/kernels/NAME.yaml) says what a kernel's author decides: the tile, stages, warps, registers,
 * shared memory, how tiles are copied, what multiplies, how a row's threads join their results, padding, warps that only
 * copy, a grid that stays. Shape and format of the problem stand beside it.
 *
 * A block goes through tiles of keys (attention) or of k (gemm). A tile has a time alone, its dependent steps one after
 * the other, and takes its share of an SM's pipes; blocks of an SM fill each other's gaps until a pipe is full. Whole
 * rounds of blocks follow one another.
 *   mma, wgmma     scores and sums stay in registers: the closed forms that traces of such kernels are held against
 *                  (arch/gpu: flash, attention, mma, product), with the description's counts in place of a name's
 *   scalar, wmma   scores and results go through shared memory (tiled_cost.c)
 *   calls          no kernel of its own: so many launches of a library, as many times as the queries are cut
 * A kernel that is no tile of products says its form instead, its grid and bytes, and what can be counted in its code
 * (arch/gpu/kernel.h): the closed form of traces takes that as a table of kernels would give it.
 *
 * Leaves out: what a compiler makes of a source (twice as long or half as long where a store may alias the loads behind
 * it), spills, swizzled orders of blocks, clusters, masks but the causal one. Operands lie in the L2 where all of them fit,
 * as where a benchmark repeats a launch.
 * Errors: ERR_CONFIG with the file's line; what a device does not have is told with its name.
 * Sources: tiled_cost.c names what was fitted, on which half of which measurements. */
#ifndef NPUSIM_ARCH_TILED_TILED_H
#define NPUSIM_ARCH_TILED_TILED_H

#include "arch/gpu/gpu.h"
#include "sim/base/cfg.h"
#include "sim/base/yaml.h"

enum tiled_op { TILED_ATTENTION, TILED_GEMM, TILED_ROWS };
#define TILED_TILES 0 /* the form of a kernel that goes by tiles; others are 1 + enum kernel_form */
enum tiled_copy { TILED_PLAIN, TILED_ASYNC, TILED_BULK };
enum tiled_math { TILED_SCALAR, TILED_WMMA, TILED_MMA, TILED_WGMMA };
enum tiled_exchange { TILED_SHUFFLE, TILED_ATOMICS };
enum tiled_share { TILED_BLOCK, TILED_WARP };

struct tiled_problem {
	uint32_t op, dtype; /* enum tiled_op; an index into tiled_formats */
	uint32_t batch, heads, kv_heads, q_len, kv_len, head_dim, v_dim, m, n, k, groups, rows, cols;
	bool causal;
};

struct tiled_kernel {
	cfg_text name, device, about, extents,
		next;                    /* extents: of the grid, as it is written; next: whose half follows */
	const struct tiled_kernel *then; /* of the same launch, when all blocks have met */
	struct tiled_problem problem;
	struct {
		uint32_t m, n, k; /* queries, keys; of a product rows, columns, depth */
	} tile;
	struct {
		uint32_t m, n; /* results of a warp, where their fragments share operands */
	} warp;
	uint32_t warps, producers, registers, stages, copy, copy_bytes, math, values, share, exchange, padding,
		copy_instructions;
	uint32_t form, grid[3];
	struct kernel counts; /* where the form is not tiles */
	struct {
		uint64_t read, write; /* of operands, each once; 0: what the problem says */
		uint64_t again;       /* read more often, from the L2 */
		bool cold;            /* none of them in the L2 */
	} bytes;
	uint64_t shared; /* bytes; 0: what the tiles take */
	bool swizzle, persistent, pingpong;
	struct {
		uint32_t lanes, rows,
			columns; /* threads of a row; rows of a warp at once; scores a step. 0: tiled_read decides */
		bool in_memory;  /* results are added up in shared memory, not in registers */
	} sum;
	struct {
		uint32_t launches, rows;
	} calls;
	ps_t published;
};

struct tiled {
	struct tiled_kernel k;
	struct yaml *yaml;
	struct cfg *cfg;
	struct tiled *then;
};

/* Reads and checks all that does not depend on a device. */
struct tiled *tiled_load(const char *path, struct err *e);
struct tiled *tiled_parse(const char *text, size_t n, const char *name, struct err *e);
/* With some keys' values instead of the file's: "problem.rows=16"; "then.problem.n=4096" of the half that follows. */
struct tiled *tiled_load_as(const char *path, const char *const *sets, size_t n, struct err *e);
void tiled_free(struct tiled *t);
/* Does it run on that device? `device`: its name, for the error. */
int tiled_check(const struct tiled *t, const struct gpu *g, const char *device, struct err *e);

enum dtype tiled_dtype(const struct tiled_kernel *k);
const char *tiled_form_name(const struct tiled_kernel *k);
/* Bytes of shared memory of a block: what is said, or what its tiles take. */
uint64_t tiled_shared(const struct tiled_kernel *k);
/* What the tiles, scores and results alone take. */
uint64_t tiled_needs(const struct tiled_kernel *k);
uint64_t tiled_threads(const struct tiled_kernel *k);
uint64_t tiled_blocks(const struct tiled_kernel *k); /* of work; a grid that stays has fewer */
uint64_t tiled_strips(const struct tiled_kernel *k); /* of a product: rows of tiles, all batches and groups */
/* Multiply-adds count two; of a causal mask those that are used. */
uint64_t tiled_flops(const struct tiled_kernel *k);
/* Wavefronts that `rows` rows `stride` words apart take over the least, `words` words of each at once, in hundredths. */
uint64_t tiled_conflict(uint64_t stride, uint64_t rows, uint64_t words);
/* The same of what a kernel's products read, for people: 1 is none. */
double tiled_conflicts(const struct tiled_kernel *k);

/* Parts of a tile's dependent time. */
/* clang-format off */
#define TILED_PARTS(X) X(COPY, copy) X(SCORES, scores) X(SOFTMAX, softmax) X(VALUES, values) X(BARRIER, barriers)
#define TILED_PIPES(X) X(SHARED, shared) X(ISSUE, issue) X(TENSOR, tensor) X(L2, l2)
enum tiled_part {
#define X(id, name) TILED_AT_##id,
	TILED_PARTS(X)
#undef X
	TILED_AT
};
enum tiled_pipe {
#define X(id, name) TILED_ON_##id,
	TILED_PIPES(X)
#undef X
	TILED_ON
};
/* clang-format on */

/* Of one tile of one block, hundredths of a cycle: dependent steps, and what it takes of an SM's pipes. */
struct tiled_cost {
	uint64_t part[TILED_AT], pipe[TILED_ON];
	enum tiled_part most[TILED_ON]; /* which part takes the most of each pipe */
};
uint64_t tiled_tile_bytes(const struct tiled_kernel *k); /* that a step copies */
/* Cycles of a warp for each copy of its lanes, with the instructions that work out where it lies. */
uint64_t tiled_copy_cycles(const struct tiled_kernel *k);
/* Of kernels whose scores go through shared memory. `trip`: a round trip to memory, in cycles. */
void tiled_cost(const struct tiled_kernel *k, const struct gpu *g, uint64_t trip, struct tiled_cost *c);

struct tiled_time {
	struct occupancy occupancy;
	uint64_t blocks, grid, rounds, mates; /* mates: blocks of an SM that run at once */
	ps_t total, part[TILED_AT], pipe[TILED_ON], chain, busy, memory, host;
	bool parts; /* `part` and `pipe` are told; else chain and busy alone */
	const char *bound, *mostly;
};

/* `mem`: what of its operands lies where; NULL: as the head says. The kernel must have passed tiled_check on that device. */
struct tiled_time tiled_time(const struct tiled_kernel *k, const struct gpu *g, const struct gpu_mem *mem);

#endif
