/* run_chips.h - one chip's run as the run of all that do the same: chips that do the same at the same time are simulated once.
 *
 * Energy and area become those of all chips, with a row for what the links take; time, bytes, operations and shares stay one
 * chip's. Invariant: I1 energy is the sum of its rows, and of its ops. */
#ifndef NPUSIM_SIM_ENGINE_RUN_CHIPS_H
#define NPUSIM_SIM_ENGINE_RUN_CHIPS_H

#include "arch/machine/machine_cfg.h"
#include "sim/engine/run_result.h"

/* Whether the machine's links join as many chips as the stream asks for; replicas alone need none. */
int run_chips_check(const struct machine_cfg *c, const struct op_stream *s, struct err *e);
int run_chips(const struct machine_cfg *c, struct arena *a, struct run_result *r, struct err *e);

#endif
