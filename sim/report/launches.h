/* launches.h - the launches of a measured trace as CSV, a row each; times are ns from the trace's first event. */
#ifndef NPUSIM_SIM_REPORT_LAUNCHES_H
#define NPUSIM_SIM_REPORT_LAUNCHES_H

#include "sim/ui/outfile.h"
#include "traces/trace.h"

void launches_head(struct outfile *to);
int launches_rows(struct outfile *to, const struct trace *x, struct err *e);

#endif
