/* simulated.h - what Nsight Compute counted of a GPU's kernels beside what the GPU's model says of them.
 *
 * Each profiled launch once, against the launch that it is joined to (counters.h). Of the model:
 *   duration_us              the launch's time
 *   dram_read_bytes          bytes asked that the L2 did not have
 *   dram_written_bytes       bytes that it wrote back meanwhile, whoever's they were
 *   l2_hit_rate_pct          bytes found there, and all that were written, of those asked and written
 *   achieved_occupancy_pct   of active SMs, by the launch's geometry (waves.h)
 * Errors of times and bytes are in percent of what was counted: of the sums, and mean absolute ones by launch where what was
 * counted is not small (SIMULATED_LEAST bytes); those of percentages are in points.
 * A profile has to be of the program as it runs: 'ncu --cache-control none --clock-control none'. Even then a kernel is run several
 * times, with its memory put back between: what the kernels before it left in the L2, and what was dirty there, is mostly gone, small
 * kernels take longer, and hits count sectors that the L2 fetched together. So DRAM reads of kernels that stream are what compares
 * best. Leaves out: all of that. */
#ifndef NPUSIM_SIM_PROFILE_SIMULATED_H
#define NPUSIM_SIM_PROFILE_SIMULATED_H

#include "arch/gpu/gpu_work.h"
#include "sim/profile/counters.h"
#include "sim/profile/roof.h"
#include "workloads/rules.h"

#define SIMULATED_LEAST 65536 /* bytes: below that an error is of sectors that a probe of the profiler itself moves */

enum simulated_metric { SIM_US, SIM_READ, SIM_WRITTEN, SIM_HIT, SIM_OCCUPANCY, SIM_METRICS };
struct simulated_sum {
	uint64_t n, n_errors;                /* launches that have it; that have an error by launch */
	double counted, simulated, absolute; /* sums over these */
};
struct simulated_row {
	const char *name, *friendly;
	uint64_t count, ns;
	struct simulated_sum m[SIM_METRICS];
};
struct simulated {
	struct simulated_row *v, all;
	size_t n;                  /* longest first */
	uint64_t profiled, opaque; /* launches with counters; of them those that no rule models */
};

/* All lives in `a`; `w` has been moved through the memory (gpu_work_run). Nothing joined is an error. */
int simulated_of(const struct trace *t, struct counters *c, const struct gpu_work *w, const struct gpu *g,
                 const struct roof *r, struct rules *rules, struct arena *a, struct simulated *out, struct err *e);
enum counter simulated_counter(enum simulated_metric m);
bool simulated_is_percent(enum simulated_metric m);
/* Percent of the counted sum, or points of the mean; not a number: none. */
double simulated_error(const struct simulated_sum *s, enum simulated_metric m);
double simulated_absolute(const struct simulated_sum *s);

#endif
