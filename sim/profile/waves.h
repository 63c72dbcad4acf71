/* waves.h - how a launch fills its device: blocks an SM holds, waves of them, occupancy.
 *
 * Of grid, block, registers and shared memory, on the SMs of the device's configuration (arch/gpu/occupancy.h):
 *   theoretical   warps of the blocks that an SM holds at once, in percent of the warps it could hold
 *   waves         blocks of the grid over the blocks that all SMs hold at once: below 1 some SMs are not filled, and above a
 *                 whole number the last wave is not
 *   active        occupancy of the SMs that have blocks, of which none holds more than its share of the grid: what Nsight
 *                 Compute's counted 'achieved' occupancy is of, which stands beside
 *   device        the same of all SMs, also those without blocks: PyTorch's profiler calls it 'est. achieved occupancy', but says
 *                 0 of blocks with more than 48 KiB of shared memory
 * Means are by time.
 * Leaves out: how long blocks take, so how well the last wave ends; kernels that share SMs. */
#ifndef NPUSIM_SIM_PROFILE_WAVES_H
#define NPUSIM_SIM_PROFILE_WAVES_H

#include "sim/profile/counters.h"
#include "sim/profile/roof.h"
#include "workloads/rules.h"

struct waves_launch {
	uint64_t blocks;
	uint32_t threads, per_sm;                  /* of a block; blocks */
	double theoretical, active, device, waves; /* percent; not numbers: the geometry is not known */
	const char *limit;                         /* what holds per_sm: "registers", ...; "" */
};
struct waves_launch waves_of(const struct roof *r, const struct trace_launch *l);

/* Launches of one kernel with one block, registers and shared memory. */
struct waves_row {
	const char *name, *friendly, *family, *limit;
	uint32_t threads, registers, per_sm;
	uint64_t smem, count, ns, blocks_min, blocks_max, counted_ns;
	double theoretical, active, device, waves, achieved; /* achieved: over counted_ns; not a number: none */
};
#define WAVES_BINS 6
struct waves_bin {
	double from, to; /* to: infinite in the last */
	uint64_t count, ns;
};
struct waves {
	struct waves_row *v;
	size_t n;                                 /* longest first */
	uint64_t count, ns, known_ns, counted_ns; /* kernels; with a geometry; with counted occupancy */
	double theoretical, active, device, achieved;
	struct waves_bin bin[WAVES_BINS];
};
/* Of a whole trace, on `r`, which must be of a configuration. All lives in `a`; counters NULL: none. */
int waves_trace(const struct trace *t, const struct roof *r, struct rules *rules, struct counters *c, struct arena *a,
                struct waves *out, struct err *e);

#endif
