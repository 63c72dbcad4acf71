/* pass_count.h - what of a pass costs energy, counted: a part of sim/engine/pass.
 *
 * What units do stands in the program: each instruction's work times how often it is run, whatever the time and fidelity.
 * Bytes are those that the levels counted (their statistics), so both fidelities are asked the same.
 * Operands of a product come from the scratchpad as often as a unit asks for each (unit_ops.reuse); those of other ops once.
 * Rows of DRAM that a closed form opens are as many as its bytes fill; refresh goes by time.
 * Invariants: I1 a unit's multiply-adds and steps sum to its statistic; I2 bytes are those of each level, none twice. */
#ifndef NPUSIM_SIM_ENGINE_PASS_COUNT_H
#define NPUSIM_SIM_ENGINE_PASS_COUNT_H

#include "arch/machine/machine_cfg.h"
#include "sim/base/stat.h"
#include "sim/engine/run_result.h"

/* Of a run whose total is known; op_fj[n_ops] gets what its own work on units costs, at the nominal voltage. */
void pass_count(const struct machine_cfg *c, const struct stat_reg *st, enum run_start start,
                const struct run_result *r, struct npu_activity *out, uint64_t *op_fj);

/* Of a machine that has nothing to do for so long. */
void pass_count_idle(const struct machine_cfg *c, ps_t t, struct npu_activity *out);
/* Bytes that a chip sends over its links. */
uint64_t pass_count_links(const struct isa_prog *p);

#endif
