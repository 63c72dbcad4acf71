/* gemv.h - GEMV units: dot-product lanes fed from SRAM, for products with few rows of activations.
 *
 * Models: `units` a core, each with `lanes` lanes of `macs` multiply-adds a cycle (by dtype), output rows spread over
 * the units of all cores, or the reduction spread over several units (k split) with a tree behind it: whichever is
 * faster, among all splits a smaller machine would have; pipeline and reduction-tree depth; the SRAM read rate.
 * Leaves out: sparsity, weight decompression other than by dtype rate.
 * Closed form (gemv_span): ceil(rows / R) * ceil(cols / (P * lanes * macs)) cycles a vector, R = units / P, P a power
 * of two; plus log2(lanes) + log2(P) + depth once. */
#ifndef NPUSIM_ARCH_NPU_UNIT_GEMV_H
#define NPUSIM_ARCH_NPU_UNIT_GEMV_H

#include "arch/npu/sram.h"
#include "sim/base/cfg.h"
#include "workloads/dtype.h"

struct gemv_cfg {
	uint32_t units; /* a core; 0: absent */
	uint32_t lanes;
	uint32_t macs_bf16; /* a lane and cycle, 16-bit operands */
	uint32_t macs_8bit, macs_4bit, macs_fp32;
	uint32_t depth; /* pipeline stages before the tree */
};

extern const struct cfg_field gemv_schema[];

uint32_t gemv_macs(const struct gemv_cfg *c, enum dtype weight);                 /* per lane and cycle */
uint64_t gemv_peak(const struct gemv_cfg *c, uint32_t cores, enum dtype weight); /* MACs a cycle, whole chip */
/* m vectors times a rows x cols tile. `*k_split` (may be NULL) gets the chosen P. */
ps_t gemv_span(const struct gemv_cfg *c, const struct sram_cfg *s, uint32_t cores, uint64_t clock_khz,
               enum dtype weight, uint64_t m, uint64_t rows, uint64_t cols, uint32_t *k_split);

#endif
