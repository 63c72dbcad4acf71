/* run.h - a run: an op stream on a machine, from lowering to results. No printing.
 *
 * `start` steady, the default, runs the region once to warm up and then measures it; cold measures the first pass.
 * Resident is steady with operands in the scratchpad, whole tensors in the order in which the program asks for them as far as
 * they fit: these are neither loaded nor stored. A tile of one is counted in the scratchpad again. A GPU has none: steady.
 * Which experts a pass picks is not in a trace: every pick is kept from the pass before with probability
 * expert_reuse (default: top over experts, what independent draws give), the others are drawn anew. */
#ifndef NPUSIM_SIM_ENGINE_RUN_H
#define NPUSIM_SIM_ENGINE_RUN_H

#include "arch/machine/machine_conf.h"
#include "sim/engine/run_result.h"

/* What a machine has of figures before anything runs: area and cost. */
void run_early(const struct machine_cfg *c, struct figures *out);
int run_stream(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
               struct run_result *out, struct err *e);

#endif
