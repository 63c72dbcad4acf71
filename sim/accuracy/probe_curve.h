/* probe_curve.h - a measured pointer chase, and a simulated one beside it; published bandwidths beside simulated ones.
 *
 * A curve is read from
 *   - a table "bytes,clk" or "bytes,ns" (validate/data/latency), with # comments before it;
 *   - a .dat file of github.com/markdewing/AI_kernels: "bytes KiB MiB clocks" a line;
 *   - the rows chase_ns of validate/cuda/micro_latency (traces/h200/micro/latency.csv) that go past the L1, on SM 0.
 * Clocks become nanoseconds by the machine's `clock`, whatever the device ran at.
 * The chase is simulated at the measured footprints. A published curve goes through the SM's L1, this probe past
 * it: footprints of which an L1 may hold a part are shown and not counted. CURVE_L1 is 256 KiB, the largest L1 of these
 * devices, and half as much again: the H100's curve still has hits at 278 KiB.
 * A plateau is the median of the footprints that are well inside the L2 (up to a third of it) or well beyond it (from two
 * and a half times). */
#ifndef NPUSIM_SIM_ACCURACY_PROBE_CURVE_H
#define NPUSIM_SIM_ACCURACY_PROBE_CURVE_H

#include "sim/accuracy/probe_mem.h"

#define CURVE_L1 (UINT64_C(384) << 10)

struct probe_curve {
	uint64_t bytes[PROBE_MEM_POINTS];
	double ns[PROBE_MEM_POINTS];
	bool l1; /* measured through an L1 */
	int n;
};

int probe_curve_load(struct probe_curve *c, const char *path, uint64_t clock_khz, struct err *e);
bool probe_curve_counted(const struct probe_curve *c, int i);

struct probe_plateau {
	int n;
	double measured, simulated;
}; /* ns; n: footprints, 0: none */
struct probe_curve_sum {
	int counted;
	double median, mean, worst; /* of the absolute errors, as shares */
	uint64_t worst_bytes;
	struct probe_plateau l2, dram;
};
struct probe_curve_sum probe_curve_compare(const struct probe_curve *c, const struct probe_mem_point *x, uint64_t l2);

/* --- bandwidth --------------------------------------------------------------------------------------------- */

struct probe_rate {
	char kernel[16], what[96], source[160];
	double peak_gbps, gbps;
};
#define PROBE_RATES 64
/* Rows of a table (validate/data/stream.csv) whose device is this one; how many, or -1. None is an error. */
int probe_rates_load(struct probe_rate *rates, const char *path, const char *device, struct err *e);

#endif
