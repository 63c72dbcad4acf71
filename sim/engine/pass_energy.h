/* pass_energy.h - a run's energy by row and by op, of what it counted: a part of sim/engine/pass.
 *
 * A row of the run is shared out over its ops: unit work by what each op's own costs, bytes on chip by the bytes that it
 * moved, DRAM by its bytes there, time by its time. The last takes what rounding leaves.
 * Invariants: I1 rows sum to the run's energy, and so do the ops, to the last femtojoule. */
#ifndef NPUSIM_SIM_ENGINE_PASS_ENERGY_H
#define NPUSIM_SIM_ENGINE_PASS_ENERGY_H

#include "arch/machine/machine_cfg.h"
#include "sim/base/stat.h"
#include "sim/engine/run_result.h"

/* Fills r->energy, energy_fj and those of its ops; with no model of power nothing. `top`: the machine's full clock. */
int pass_energy(const struct machine_cfg *c, uint64_t top, const struct stat_reg *st, enum run_start start,
                struct arena *a, struct run_result *r, struct err *e);
/* What a machine takes in that time with nothing to do, at its lowest clock; 0: its power is not modelled. */
uint64_t pass_energy_waiting(const struct machine_cfg *c, ps_t t);

#endif
