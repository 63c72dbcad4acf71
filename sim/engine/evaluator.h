/* evaluator.h - mapping with the closed form as its evaluator: what a way to do an op takes is what the analytic fidelity says.
 *
 * One definition of time for the mapper's choice and for the answer, so that a faster part is not mapped worse than a
 * slower one by an estimate that the machine does not share. Where the mapper has one way only, it is not asked. */
#ifndef NPUSIM_SIM_ENGINE_EVALUATOR_H
#define NPUSIM_SIM_ENGINE_EVALUATOR_H

#include "sim/map/map.h"

/* `o` without an evaluator. */
int evaluator_map(const struct op_stream *s, const struct machine_cfg *c, const struct map_opts *o, struct arena *a,
                  struct map_result *out, struct err *e);

#endif
