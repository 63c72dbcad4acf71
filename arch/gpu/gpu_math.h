/* gpu_math.h - what the closed forms of a launch are made of: its grid on the device, bytes over rates, dependent steps,
 * instructions over pipes, and how what goes on at once hides each other. */
#ifndef NPUSIM_ARCH_GPU_GPU_MATH_H
#define NPUSIM_ARCH_GPU_GPU_MATH_H

#include "arch/gpu/gpu.h"

struct gpu_grid {
	uint64_t ctas, threads, rounds, mates, last;
	uint32_t per_sm, sms;
}; /* sms: that have a CTA; mates: CTAs of the fullest SM at once, last: in its last round */
struct gpu_grid gpu_grid_of(const struct gpu *g, const struct gpu_launch *l);
/* (a^p + b^p)^(1/p), p = 1, 2, 4, 8 or larger powers of two: how far two things that go on at once hide each other. */
ps_t gpu_overlap(uint32_t p, ps_t a, ps_t b);
/* Bytes over the device's rates: DRAM reads that missed, write-backs, and everything through the L2. */
ps_t gpu_memory_time(const struct gpu *g, const struct gpu_mem *m);
/* The same where CTAs that want the same bytes at the same time share a request, as those of a product do: the L2 moves
 * fewer than the operands have, and what it gives without DRAM is not counted. */
ps_t gpu_missed_time(const struct gpu *g, const struct gpu_mem *m);
/* Of a product's tiles, DRAM alone: an SM has its share of that. */
/* Of a product whose grid's last extent is the batch and the parts that k is cut into; 1: whole. */
uint64_t gpu_parts_of_k(const struct gpu_launch *l);
ps_t gpu_product_dram(const struct gpu *g, const struct gpu_mem *m, uint64_t sms);
/* A dependent step on operands that lie as this launch's do: between step_l2 and step_dram by the share that hit. */
ps_t gpu_step(const struct gpu *g, const struct gpu_mem *m);
/* A barrier of a CTA of so many threads. */
ps_t gpu_barrier(const struct gpu *g, uint64_t threads);
uint64_t gpu_isqrt(uint64_t v);
/* A share in millionths of the L2. */
uint64_t gpu_l2_share(const struct gpu *g, uint32_t ppm);
/* Of a launch's loads, those found nowhere but in DRAM, in millionths. */
uint64_t gpu_missed(const struct gpu_mem *m);
/* Multiply-adds on the pipe of a dtype, on `sms` SMs. */
/* Operations of a format of 8 bits, or fewer, a cycle and SM. */
uint32_t gpu_flop_8bit(const struct gpu_common_cfg *c, enum dtype d);
ps_t gpu_math_time(const struct gpu *g, enum dtype d, uint64_t macs, uint32_t sms);
/* What the tensor cores run at, where they sustain `full` at the full clock. */
uint64_t gpu_tensor_clock(const struct gpu *g, uint64_t full);
/* Of warp-wide instructions (gpu_mma.c): their clock, and flop a cycle of an SM of 16 bits. */
uint64_t gpu_mma_clock(const struct gpu *g);
uint64_t gpu_mma_rate(const struct gpu *g);
/* Wavefronts (times 10) of 32 elements each: an SM's load units and its shared memory take one a cycle together. */
ps_t gpu_wave_time(const struct gpu *g, uint64_t elements, uint32_t wavefronts10, uint32_t sms);
/* Thread instructions (times 10) over the issue rate of `sms` SMs. */
ps_t gpu_issue_time(const struct gpu *g, uint64_t instructions10, uint32_t sms);

/* Of an attention, tiles of `keys` keys that blocks of `rows` rows see; `shared` heads are rows of one query. */
struct gpu_tiles {
	uint64_t blocks, longest, all; /* of one head, or of those that share: all blocks' tiles, and the longest's */
};
/* What of an attention's bytes no tile hides: a block's queries come before its tiles, its results leave behind them. */
ps_t gpu_queries_time(const struct gpu *g, const struct gpu_launch *l);
struct gpu_tiles gpu_tiles_of(const struct op_shape *s, uint64_t rows, uint64_t keys, uint64_t shared);

#endif
