/* vector.h - vector units: ALU lanes, special functions, format converters, reductions, sort and top-k.
 *
 * Models: `units` a core of `lanes` ALU lanes, `sfu` special-function lanes and `converters`; work is spread over all
 * cores; the longest of ALU, SFU and SRAM time counts, plus the pipeline's depth once. Reductions end in a tree
 * within a core (log2 lanes) and, when fewer rows than cores share the work, one across cores (two NoC hops). Sort
 * and top-k run on one core a row: a compare-exchange network over its lanes, one stage after the other.
 * Leaves out: divergence, register pressure. */
#ifndef NPUSIM_ARCH_NPU_UNIT_VECTOR_H
#define NPUSIM_ARCH_NPU_UNIT_VECTOR_H

#include "arch/npu/sram.h"
#include "sim/base/cfg.h"

struct vector_cfg {
	uint32_t units, lanes, sfu, converters; /* units a core; the rest a unit */
	uint32_t sorter;                        /* compare-exchanges a cycle and unit; 0: the ALU lanes do it */
	uint32_t div_cycles;                    /* of an iterative divide, a lane */
};

extern const struct cfg_field vector_schema[];

struct vector_env {
	const struct vector_cfg *v;
	const struct sram_cfg *s;
	uint32_t cores, depth, group;
	uint64_t clock_khz;
	ps_t noc;
};

/* n elements, rounded up to whole thread groups, with so many ALU, SFU and convert steps each, `bytes` through SRAM. */
ps_t vector_map_span(const struct vector_env *x, uint64_t n, uint32_t alu, uint32_t sfu, uint32_t convert,
                     uint64_t bytes);
/* rows x cols -> rows, or further: `passes` over the data (softmax 3, norm 2, sum 1). */
ps_t vector_reduce_span(const struct vector_env *x, uint64_t rows, uint64_t cols, uint32_t passes, uint32_t sfu,
                        uint64_t bytes);
/* Each of `rows` rows sorted, or its `top` largest selected (top 0: sort). */
ps_t vector_sort_span(const struct vector_env *x, uint64_t rows, uint64_t cols, uint64_t top);

#endif
