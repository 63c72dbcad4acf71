/* matrix.h - matrix units: weight-stationary systolic arrays.
 *
 * Models: `units` arrays a core of `rows` x `cols` MACs (rows along k, cols along n). A tile of rows x cols weights
 * folds over the arrays; a fold streams m activation rows while the next fold's weights shift in (`rows` cycles,
 * double-buffered), so a fold costs max(m, rows); fill and drain (rows + cols) once. 8-bit operands double the rate
 * in the k direction. Part of an array may be used, so a larger array is never slower.
 * Leaves out: output- and input-stationary dataflows, sparsity. */
#ifndef NPUSIM_ARCH_NPU_UNIT_MATRIX_H
#define NPUSIM_ARCH_NPU_UNIT_MATRIX_H

#include "arch/npu/sram.h"
#include "sim/base/cfg.h"
#include "workloads/dtype.h"

struct matrix_cfg {
	uint32_t units, rows, cols;
}; /* units a core; 0: absent */

extern const struct cfg_field matrix_schema[];

uint64_t matrix_peak(const struct matrix_cfg *c, uint32_t cores, enum dtype weight); /* MACs a cycle */
ps_t matrix_span(const struct matrix_cfg *c, const struct sram_cfg *s, uint32_t cores, uint64_t clock_khz,
                 enum dtype weight, uint64_t m, uint64_t n, uint64_t k);

#endif
