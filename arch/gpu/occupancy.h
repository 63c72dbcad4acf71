/* occupancy.h - how many CTAs of a launch an SM holds at once: a pure function of the launch's geometry.
 *
 * The four limits of the CUDA C Programming Guide (threads, CTAs, registers in units of a warp, shared memory with what
 * the system keeps of it for each CTA), and clusters, which lie in one GPC: where an SM's GPC mates cannot complete a
 * cluster, SMs stay empty.
 * Leaves out: the L1's share of the array, register banks. */
#ifndef NPUSIM_ARCH_GPU_OCCUPANCY_H
#define NPUSIM_ARCH_GPU_OCCUPANCY_H

#include "sim/base/cfg.h"

struct sm_cfg {
	uint32_t threads; /* an SM holds, in warps of 32 */
	uint32_t ctas;
	uint32_t registers;
	uint32_t register_unit; /* registers are given to a warp in multiples of that */
	uint64_t smem;          /* bytes of shared memory at the most */
	uint64_t smem_reserved; /* of each CTA, for the system */
	uint32_t gpc;           /* SMs of a full GPC; 0: clusters fit anywhere */
	uint32_t capability;    /* compute capability times 10: which kernels a library has (arch/gpu/gpu_geometry.h) */
};

extern const struct cfg_field sm_schema[];

struct occupancy {
	uint32_t ctas;     /* of an SM; 0: does not fit at all */
	uint32_t sms;      /* that can have work: all, or those that clusters can fill */
	uint32_t warps;    /* of a CTA */
	const char *limit; /* "threads", "ctas", "registers", "shared memory" */
};

struct occupancy occupancy_of(const struct sm_cfg *c, uint32_t sms, uint32_t threads, uint32_t registers, uint64_t smem,
                              uint32_t cluster);

#endif
