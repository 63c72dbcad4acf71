/* score_out.h - errors on their way out, for the commands that hold a model against measurements. */
#ifndef NPUSIM_SIM_CLI_SCORE_OUT_H
#define NPUSIM_SIM_CLI_SCORE_OUT_H

#include "sim/accuracy/score.h"
#include "sim/ui/out.h"

/* Members of an object; `whole`: of all samples, so the count is called "samples". */
void score_json(struct out_json *j, const struct score *s, bool whole);
/* Of two signed errors, for qsort: the further off first. */
int score_worse_first(double x, double y);

#endif
