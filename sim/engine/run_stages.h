/* run_stages.h - a pipeline of unlike chips as one run: each kind of stage is simulated once, and a schedule says when they work.
 *
 *   a prompt     sum of the stages' times + (micro - 1) x the slowest's
 *   decode       the larger of that sum and micro x the slowest's: a micro-batch comes back to the first stage with its next token
 *
 * of one micro-batch each; a send is a part of its sender's time, and nothing overlaps it. Both are exact for stages that take as
 * long every time. Times (total, stalls, ops) are those along what the step waits for: each stage as often as its time is in the
 * sum, so that they add up to the step's; a stage that is never waited for takes none. Counts (bytes, operations, the time at a
 * peak that they need) are the mean chip's. Energy is of all chips, and what those take that wait, too.
 * Leaves out: caches on chip that other micro-batches of the same stage overwrite, other orders of micro-batches, more than one
 * pass in flight of a prompt. Invariants: I1 one stage is the run without; I2 ops' times sum to the run's, energy to its rows'. */
#ifndef NPUSIM_SIM_ENGINE_RUN_STAGES_H
#define NPUSIM_SIM_ENGINE_RUN_STAGES_H

#include "arch/machine/machine_conf.h"
#include "sim/engine/run_result.h"

typedef int run_stage_fn(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o,
                         struct arena *a, struct run_result *out, struct err *e);

/* out->ops has room for the stream's ops; `run` runs a stage. */
int run_stages(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, run_stage_fn *run,
               struct arena *a, struct run_result *out, struct err *e);
/* When a step is over whose stages take `time`; *often gets how often each kind's time is in it (may be NULL). */
ps_t run_stages_time(const struct op_stream *s, const ps_t *time, uint64_t *often);

#endif
