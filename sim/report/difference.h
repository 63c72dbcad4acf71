/* difference.h - how sure the ratio of two runs of one workload is: what both are wrong about alike cancels (sim/accuracy/interval.h). */
#ifndef NPUSIM_SIM_REPORT_DIFFERENCE_H
#define NPUSIM_SIM_REPORT_DIFFERENCE_H

#include "results/db/res.h"
#include "sim/report/run_verdict.h"

/* Of a run as it is, and of a stored one, whose texts must outlive it; false: how sure it is is not known. `b` NULL: unknown. */
bool difference_side(const struct run_report *r, const struct verdict *v, const struct baseline *b,
                     struct interval_side *out);
bool difference_stored(const struct res_stored *r, const struct baseline *b, struct arena *a,
                       struct interval_side *out);
/* Of the first's time over the second's, true over simulated. */
struct interval_range difference_range(const struct interval_side *x, const struct interval_side *y,
                                       const struct baseline *b);

#endif
