/* tiled_cost.c - a tile of a kernel whose scores and results go through shared memory, in cycles.
 *
 * Fitted: the numbers below, on 117 of 228 measurements of such kernels on an H100 (traces/h100/micro/tiled.csv: every
 * switch of a description alone, on two shapes), those whose description has an even checksum; mean error there 13 %, on
 * the 111 others 13 % (npusim probe kernel --beside). FMA_MEMORY alone is counted: a load from shared memory is 29 cycles
 * (arXiv:2402.13499, table of latencies), then the add and the store; 12 of the others have it. None belongs to one kernel
 * or one device: they are cycles of an SM, and an L4's are taken to be an H100's. Conflicts are counted from strides, not
 * fitted. */
#include "arch/tiled/tiled.h"

#include "sim/base/clock.h"

/* Hundredths of a cycle, or of a wavefront. */
enum {
	ROW = 26400, /* a row's running softmax, whatever its length: loads, exponential, results, one after the other */
	ELEMENT = 8670, /* of a score of a thread from shared memory to probability: the loop waits for its store */
	RESCALE = 350,  /* of a result that is scaled in place: unrolled, so that loads overlap */
	SHUFFLE = 4830, /* a level of an exchange by shuffles, with its operation */
	ATOMIC_FIRST = 1600,
	ATOMIC = 5330,      /* atomics on one address: each thread's after the others' */
	ATOMIC_WAVES = 404, /* of the shared memory's time, each */
	FMA_SCORE = 1780,   /* a thread's multiply-add along a row of keys, both operands from shared memory */
	FMA_VALUE = 970,    /* ... down a column of values */
	FMA_MEMORY = 4000,  /* ... whose sum is in shared memory, too: load, add, store before the next */
	STEP_WMMA = 14900,  /* two fragments into registers and the instruction that waits for them */
	SUM_WMMA = 8370,    /* a 16 x 16 accumulator to or from shared memory */
	MEET = 50500,       /* a barrier, with what of a phase's begin and end nothing hides */
	LOAD_16 = 31,
	LOAD_2 = 49, /* of a round trip, each load of a loop that copies 16 bytes a thread, or fewer */
	WAVES_HALF = 154,
	WAVES_SUM = 182, /* wavefronts of a fragment over the least its bytes take */
	WAVES = 124,     /* of shared memory's peak, how much longer it takes what comes from all sides */
};

/* Instructions of a warp, counted in the source. */
enum {
	I_FMA_SCORE = 350,
	I_FMA_VALUE = 300,
	I_STEP = 1000,
	I_SUM = 2000,
	I_ELEMENT = 2100,
	I_RESCALE = 300,
	I_ROW = 5000,
	I_LEVEL = 400
};

#define WARP  32
#define FRAG  16 /* rows and columns of a fragment */
#define PARTS 100

uint64_t tiled_conflict(uint64_t stride, uint64_t rows, uint64_t words)
{
	uint64_t bank[32] = { 0 }, most = 1, least = div_up(rows * words, 32);

	for (uint64_t r = 0; r < rows; r++)
		for (uint64_t w = 0; w < words; w++) {
			uint64_t *b = &bank[(r * stride + w) % 32];

			most = ++*b > most ? *b : most;
		}
	return most * PARTS / (least ? least : 1);
}

static uint64_t width(const struct tiled_kernel *k)
{
	return k->problem.op == TILED_GEMM ? k->tile.k : k->problem.head_dim;
}

/* Words from one row of keys to the next; a fragment's rows are 8 at once, 16 bytes each. */
static uint64_t fragment(const struct tiled_kernel *k, uint64_t elements)
{
	const uint64_t stride = elements * dtype_bits(tiled_dtype(k)) / 32;

	return k->swizzle ? PARTS : tiled_conflict(stride, 8, 4);
}

static uint64_t accumulator(const struct tiled_kernel *k, uint64_t elements)
{
	return k->swizzle ? PARTS : tiled_conflict(elements, 4, 8);
}

/* Threads with a row of keys each read 8 bytes at once, or what keeps rows aligned. */
static uint64_t down_rows(const struct tiled_kernel *k)
{
	const uint64_t bits = dtype_bits(tiled_dtype(k)), stride = (width(k) + k->padding) * bits / 32;
	const uint64_t at_once = stride % 2 ? 32 / (bits < 32 ? bits : 32) : 64 / (bits < 64 ? bits : 64),
		       least = 2 * PARTS / at_once;

	if (k->swizzle || stride % 2)
		return least;
	return tiled_conflict(stride, 32, 1) / at_once > least ? tiled_conflict(stride, 32, 1) / at_once : least;
}

double tiled_conflicts(const struct tiled_kernel *k)
{
	if (k->math == TILED_SCALAR)
		return k->swizzle ? 1
		                  : (double)tiled_conflict((width(k) + k->padding) * dtype_bits(tiled_dtype(k)) / 32,
		                                           32, 1) /
		                            PARTS;
	return (double)fragment(k, width(k) + k->padding) / PARTS;
}

/* A unit of work is the whole block's, or each warp's 16 rows and so many keys at a time. */
struct unit {
	uint64_t rows, columns, depth, warps, units,
		times; /* units of a block, times each goes through its part of a tile */
};

static struct unit tiled_cost_unit_of(const struct tiled_kernel *k)
{
	const bool alone = k->share == TILED_WARP;

	return (struct unit){ .rows = alone ? k->tile.m / k->warps : k->tile.m,
		              .columns = alone ? k->sum.columns : k->tile.n,
		              .depth = width(k),
		              .warps = alone ? 1 : k->warps,
		              .units = alone ? k->warps : 1,
		              .times = alone ? div_up(k->tile.n, k->sum.columns) : 1 };
}

/* rows x columns outputs over `deep`: how long, and what of the pipes. */
static void by_threads(const struct unit *u, uint64_t fmas, uint64_t each, uint64_t waves, uint64_t instructions,
                       uint64_t *part, uint64_t *pipe)
{
	*part += u->times * div_up(fmas * each, u->warps);
	pipe[TILED_ON_SHARED] += u->times * u->units * fmas * waves;
	pipe[TILED_ON_ISSUE] += u->times * u->units * fmas * instructions / 4;
}

/* `loaded`: fragments of a step, of the two that a result alone takes, in hundredths. */
static void by_fragments(const struct unit *u, uint64_t tiles, uint64_t steps, uint64_t sums, uint64_t loaded,
                         const uint64_t waves[2], uint64_t *part, uint64_t *pipe)
{
	*part += u->times * div_up(tiles, u->warps) * (steps * STEP_WMMA * loaded / PARTS + sums * SUM_WMMA);
	pipe[TILED_ON_SHARED] +=
		u->times * u->units * tiles *
		(steps * 4 * waves[0] * WAVES_HALF / PARTS * loaded / PARTS + sums * 8 * waves[1] * WAVES_SUM / PARTS);
	pipe[TILED_ON_ISSUE] += u->times * u->units * tiles * (steps * I_STEP + sums * I_SUM) / 4;
}

static void tiled_cost_tensor(const struct gpu *g, uint64_t macs, uint64_t *pipe)
{
	const uint64_t most = g->cfg->flash.flop_mma, rate = most < g->c->flop_bf16 ? most : g->c->flop_bf16;

	pipe[TILED_ON_TENSOR] += div_up(2 * macs * PARTS, rate);
}

/* A product's warp has so many fragments of results, along whose rows and columns the operands' are loaded once. */
static uint64_t loaded(const struct tiled_kernel *k)
{
	const uint64_t rows = k->warp.m / FRAG, columns = k->warp.n / FRAG;

	return k->problem.op == TILED_GEMM ? PARTS * (rows + columns) / (2 * rows * columns) : PARTS;
}

static void scores(const struct tiled_kernel *k, const struct gpu *g, const struct unit *u, struct tiled_cost *c)
{
	const uint64_t fmas = div_up(u->rows * u->columns * u->depth, WARP), w = fragment(k, u->depth + k->padding);
	/* Both operands' fragments; the sum's rows are scores side by side. */
	const uint64_t waves[2] = { 2 * w, accumulator(k, u->columns) };

	if (k->math == TILED_SCALAR) {
		by_threads(u, fmas, FMA_SCORE, down_rows(k) + 25, I_FMA_SCORE, &c->part[TILED_AT_SCORES], c->pipe);
		return;
	}
	by_fragments(u, u->rows / FRAG * (u->columns / FRAG), u->depth / FRAG, k->problem.op == TILED_GEMM ? 0 : 1,
	             loaded(k), waves, &c->part[TILED_AT_SCORES], c->pipe);
	tiled_cost_tensor(g, u->times * u->units * fmas * WARP, c->pipe);
}

static void values(const struct tiled_kernel *k, const struct gpu *g, const struct unit *u, struct tiled_cost *c)
{
	const uint64_t dim = k->problem.v_dim, fmas = div_up(u->rows * u->columns * dim, WARP), row = dim + k->padding;
	const uint64_t probability = k->share == TILED_WARP ? u->columns : k->tile.n + k->padding;
	const uint64_t waves[2] = { fragment(k, row) + fragment(k, probability), accumulator(k, row) };

	if (k->values == TILED_SCALAR) {
		by_threads(u, fmas, k->sum.in_memory ? FMA_MEMORY : FMA_VALUE, k->sum.in_memory ? 325 : 125,
		           I_FMA_VALUE, &c->part[TILED_AT_VALUES], c->pipe);
		return;
	}
	by_fragments(u, u->rows / FRAG * (dim / FRAG), u->columns / FRAG, 2, PARTS, waves, &c->part[TILED_AT_VALUES],
	             c->pipe);
	tiled_cost_tensor(g, u->times * u->units * fmas * WARP, c->pipe);
}

static uint64_t levels(uint64_t lanes)
{
	uint64_t n = 0;

	while (UINT64_C(1) << n < lanes)
		n++;
	return n;
}

/* Rows go by warps, so many of a warp at once. One thread a row reads four elements at once, rows apart. */
static void softmax(const struct tiled_kernel *k, const struct unit *u, struct tiled_cost *c)
{
	const uint64_t lanes = k->sum.lanes, at_once = k->sum.rows, dim = k->problem.v_dim,
		       few = div_up(u->columns, lanes), wide = div_up(dim, lanes),
		       steps = div_up(u->rows, at_once * u->warps), joins = lanes > 1;
	const bool atomics = k->exchange == TILED_ATOMICS && joins;
	const uint64_t join = atomics ? 2 * (ATOMIC_FIRST + lanes * ATOMIC) : 2 * levels(lanes) * SHUFFLE;
	const uint64_t least = div_up(at_once * 4, 32),
		       score = joins ? PARTS : tiled_conflict(u->columns, at_once, 4) * least / 4,
		       result = joins ? PARTS : tiled_conflict(dim + k->padding, at_once, 4) * least / 4;
	const uint64_t groups = u->times * u->units * div_up(u->rows, at_once);

	c->part[TILED_AT_SOFTMAX] += u->times * steps * (ROW + few * ELEMENT + wide * RESCALE + join);
	c->pipe[TILED_ON_SHARED] +=
		groups * (few * 3 * score + wide * 2 * result + 10 * PARTS + (atomics ? lanes * ATOMIC_WAVES : 0));
	c->pipe[TILED_ON_ISSUE] += groups * (few * I_ELEMENT + wide * I_RESCALE + I_ROW + levels(lanes) * I_LEVEL) / 4;
}

/* Fitted on copies alone and on products of 1,024 by wgmma (traces/h100/micro/copies_cupti.csv). */
uint64_t tiled_copy_cycles(const struct tiled_kernel *k)
{
	enum { COPY = 4, INSTRUCTION = 2, KEPT = 4 };

	return COPY + INSTRUCTION * (k->copy_instructions ? k->copy_instructions : KEPT);
}

/* What nothing hides of a tile's way from memory. Asynchronous copies run ahead as far as there are stages; a warp of its
 * own runs ahead, too; else the threads wait for their loads and store them. */
static uint64_t copy_wait(const struct tiled_kernel *k, uint64_t loads, uint64_t trip, uint64_t work)
{
	const uint64_t own = loads * trip * (k->copy_bytes >= 16 ? LOAD_16 : LOAD_2);
	const uint64_t issue = loads * (k->copy_instructions ? tiled_copy_cycles(k) : 2) * PARTS;
	const uint64_t all = trip * PARTS + (k->copy == TILED_PLAIN ? own : 0), ahead = (k->stages - 1) * work;

	if (k->copy == TILED_PLAIN && !k->producers)
		return all;
	return (all > ahead ? all - ahead : 0) + (k->copy == TILED_BULK || k->producers ? 0 : issue);
}

uint64_t tiled_tile_bytes(const struct tiled_kernel *k)
{
	const bool gemm = k->problem.op == TILED_GEMM;
	const uint64_t rows = gemm ? k->tile.m + k->tile.n : k->tile.n;

	return rows * (width(k) + (gemm ? 0 : k->problem.v_dim)) * dtype_bits(tiled_dtype(k)) / 8;
}

static void tiled_cost_copy(const struct tiled_kernel *k, const struct gpu *g, uint64_t trip, struct tiled_cost *c)
{
	const uint64_t bytes = tiled_tile_bytes(k);
	const uint64_t threads = WARP * (k->producers ? k->producers : k->warps),
		       loads = div_up(bytes, k->copy_bytes * threads);
	uint64_t work = 0;

	for (int i = 0; i < TILED_AT; i++)
		work += c->part[i];
	c->part[TILED_AT_COPY] += copy_wait(k, loads, trip, work);
	c->pipe[TILED_ON_SHARED] += bytes * PARTS / 128;
	if (k->copy != TILED_BULK)
		c->pipe[TILED_ON_ISSUE] += div_up(bytes, k->copy_bytes * WARP) *
		                           (k->copy_instructions ? k->copy_instructions : 3) * PARTS / 4;
	c->pipe[TILED_ON_L2] += clock_transfer(bytes, g->c->sm_rate_l2) * (g->clock / 1000) / 10000;
}

/* What a part took of the pipes since `before`: the most so far, and whose. */
static void note(struct tiled_cost *c, enum tiled_part part, uint64_t before[TILED_ON], uint64_t most[TILED_ON])
{
	for (int i = 0; i < TILED_ON; i++) {
		if (c->pipe[i] - before[i] > most[i]) {
			most[i] = c->pipe[i] - before[i];
			c->most[i] = part;
		}
		before[i] = c->pipe[i];
	}
}

void tiled_cost(const struct tiled_kernel *k, const struct gpu *g, uint64_t trip, struct tiled_cost *c)
{
	const struct unit u = tiled_cost_unit_of(k);
	const bool gemm = k->problem.op == TILED_GEMM;
	uint64_t before[TILED_ON] = { 0 }, most[TILED_ON] = { 0 };

	*c = (struct tiled_cost){ .part = { 0 } };
	scores(k, g, &u, c);
	note(c, TILED_AT_SCORES, before, most);
	if (!gemm) {
		softmax(k, &u, c);
		note(c, TILED_AT_SOFTMAX, before, most);
		values(k, g, &u, c);
		note(c, TILED_AT_VALUES, before, most);
	}
	c->part[TILED_AT_BARRIER] += (gemm || k->share == TILED_WARP ? 1 : 3) * MEET;
	tiled_cost_copy(k, g, trip, c);
	note(c, TILED_AT_COPY, before, most);
	c->pipe[TILED_ON_SHARED] = c->pipe[TILED_ON_SHARED] * WAVES / PARTS;
}
