/* pass_clock.h - the clock that a pass runs at: a part of sim/engine/pass.
 *
 * The full one, unless the machine's power says otherwise. A cap takes the highest clock at which the mean power of the pass
 * fits; pace the slowest that meets power.latency_target; of both the slower. Clocks go in steps of NPU_CLOCK_STEP from the
 * lowest that the node has a voltage for, and are found by halves, as power rises with the clock and time falls. Each that is
 * asked is run, in the fidelity of the pass, with the program that was mapped for the full clock: its math takes as many
 * cycles, caches, network and DMA keep their bytes a cycle, DRAM, dispatch and latencies in ns their time.
 * A transfer that starts later can find its way free and a run end a little sooner by that: a clock that a cap leaves is
 * lowered further until the run is no faster than at the full one.
 * Invariants: I1 a capped run takes no more than the cap and is never faster; I2 without cap and pace nothing is tried.
 * Leaves out: clocks that change on the way, blocks with clocks of their own. */
#ifndef NPUSIM_SIM_ENGINE_PASS_CLOCK_H
#define NPUSIM_SIM_ENGINE_PASS_CLOCK_H

#include "arch/machine/machine_cfg.h"
#include "sim/base/arena.h"
#include "sim/engine/run_result.h"

#define NPU_CLOCK_STEP 5000 /* kHz */

/* Runs the pass at a clock; of the result its time and energy are looked at. */
typedef int pass_at_fn(void *self, uint64_t khz, struct run_result *r, struct err *e);

/* kHz; 0: an error. */
uint64_t pass_clock(const struct machine_cfg *c, pass_at_fn *at, void *self, struct err *e);
/* The program as it runs at a lower clock than it was mapped for. */
int pass_slowed(const struct isa_prog *p, uint64_t full, uint64_t khz, struct arena *a, struct isa_prog *out,
                struct err *e);

#endif
