/* fit_energy.h - a board's power from measured energy: what an event costs (power.* of the configuration).
 *
 * The model is linear in its costs (arch/gpu/gpu_power.h), so they are a least-squares problem without negative
 * coefficients: residuals over the measured energy, beyond 4 % counted by their size and not its square. What the board
 * takes when idle is the mean of the table's idle rows; at the lowest clocks the share of it that the configuration has.
 * The first table is the device's own. Others are of boards of the same model: each has a scale of its own for what its
 * core takes and one for its DRAM, and their rows count a quarter.
 * Folds: by the cases' own hash, all tables together; each fold is predicted by a fit of the others.
 * The voltage's slope, the gap of a launch and the network's rate are no part of this: their rows say what they are. */
#ifndef NPUSIM_SIM_ACCURACY_FIT_ENERGY_H
#define NPUSIM_SIM_ACCURACY_FIT_ENERGY_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/energy.h"

#define FIT_ENERGY_COSTS (GPU_WAITS - 1 + GPU_EVENTS) /* without idle */

struct fit_energy_cost {
	size_t row;                       /* of the configuration */
	uint64_t given, value, low, high; /* stored units; over the folds */
	size_t cases;                     /* in which it has a part */
};

struct fit_energy {
	struct fit_energy_cost idle, idle_low, cost[FIT_ENERGY_COSTS];
	struct {
		double core, dram;
	} * scale; /* of each table; 1 for the first */
	size_t n;  /* cases */
};

/* Leaves the values in the configuration and every case's answer by the fold it was not in. `folds` 0: by the fit of all.
 * The arena must outlive *out. */
int fit_energy_run(struct machine_conf *conf, struct energy_cases *sets, size_t n_sets, unsigned folds, struct arena *a,
                   struct fit_energy *out, struct err *e);

#endif
