/* gpu_power.h - what a launch's work takes from a GPU's board, and the clock at which that fits under a cap.
 *
 *   energy = idle(f) t                                          the board that waits: fans, memory, leakage, clock tree
 *          + v(f)^2 f/f0 (SMs lit x W + W of L2 and network)    what is awake
 *          + events x pJ, those of the core times v(f)^2        what is done
 *
 * v(f) = 1 - slope (1 - f/f0), the core's voltage over that at the full clock f0. An SM is lit while it has a CTA; the
 * first and last part of a launch (power.gap, half of a short one) it has none. The network is awake while bytes move,
 * at power.awake_rate all the time. idle(f) has the shape measured on an H100 (gpu_power.c).
 * A cap: the board's controller lowers the clock, in steps of 15 MHz, until the mean power of what runs over and over (0.1 s
 * of it, more than a step) fits. Rates of DRAM and L2 stay; what SMs do takes longer. Products were calibrated in bursts,
 * where the tensor cores' sudden current lowers the clock by itself: that share (power.droop) a cap does not take again.
 * A `clock` under power.clock is a locked one: it is f, power.clock f0. A cap then lowers it from there.
 * Leaves out: temperature, the controller's own time.
 * Invariants: I1 a part is never negative and all parts sum to the energy exactly; I2 more events, or more time, never take
 * less; I3 a lower cap never gives a higher clock; I4 without power.idle nothing here changes anything.
 * Source of the form: board energy of 264 cases on two H200s (traces/h200/energy); of the figures: the rows. */
#ifndef NPUSIM_ARCH_GPU_GPU_POWER_H
#define NPUSIM_ARCH_GPU_GPU_POWER_H

#include "arch/gpu/gpu_activity.h"
#include "arch/power/energy.h"

#define GPU_POWER_LOOK (100 * PS_MS) /* that a board's controller looks at */
#define GPU_CLOCK_STEP 15000         /* kHz, as an H200's clocks are found */

/* X(name, block, what it is): the parts that are no events. */
/* clang-format off */
#define GPU_WAIT_ROWS(X) \
	X(idle, board, "the board that waits, at its clock") \
	X(lit, sm, "SMs that have a CTA") \
	X(awake, l2, "L2 and network while bytes move")
/* clang-format on */

enum gpu_wait {
#define X(name, block, help) GPU_WAIT_##name,
	GPU_WAIT_ROWS(X)
#undef X
		GPU_WAITS
};

#define GPU_ENERGIES (GPU_WAITS + GPU_EVENTS)

/* fJ, in the order of gpu_energy_rows. */
struct gpu_energy {
	uint64_t part[GPU_ENERGIES];
};
extern const struct energy_row gpu_energy_rows[GPU_ENERGIES];

/* What one row cannot say: a board that takes more than its cap with nothing to do. */
int gpu_power_check(const struct gpu_power_cfg *p, struct err *e);
/* Is there a model of this board's power? */
bool gpu_power_known(const struct gpu *g);
/* Of a launch that takes `t`, at the device's clock. */
void gpu_energy_of(const struct gpu *g, const struct gpu_activity *x, ps_t t, struct gpu_energy *out);
/* Of nothing, for so long. */
uint64_t gpu_energy_idle(const struct gpu *g, ps_t t);
void gpu_energy_add(struct gpu_energy *sum, const struct gpu_energy *x);
uint64_t gpu_energy_sum(const struct gpu_energy *x);

/* The device at another clock. */
struct gpu gpu_at_clock(const struct gpu *g, uint64_t khz);
/* Mean uW at that clock of what the caller runs. */
typedef uint64_t gpu_power_fn(const struct gpu *at, void *arg);
/* The highest clock for a launch whose multiply-adds keep the tensor cores busy in so many of the core's cycles: their
 * current, not the power, is what lowers it. */
uint64_t gpu_power_droop(const struct gpu *g, const struct gpu_activity *x, uint64_t cycles);
/* The highest clock at which that fits under the cap; the device's where there is no cap. */
uint64_t gpu_power_clock(const struct gpu *g, gpu_power_fn *watts, void *arg);
/* Of power.mode pace, the lowest clock at which that takes no more than power.latency_target; else the device's. */
typedef ps_t gpu_took_fn(const struct gpu *at, void *arg);
uint64_t gpu_power_pace(const struct gpu *g, gpu_took_fn *took, void *arg);

/* Launches that run over and over, and what each does (gpu_activity). Collectives, and ops that nobody knows, are in no sum. */
struct gpu_running {
	const struct gpu_launch *l;
	const struct gpu_activity *x;
	size_t n;
};
bool gpu_power_counts(const struct gpu_launch *l);
/* Their clock under the cap, and no faster than power.mode asks for. */
uint64_t gpu_power_clock_of(const struct gpu *g, struct gpu_running *r);

#endif
