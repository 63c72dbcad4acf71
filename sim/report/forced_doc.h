/* forced_doc.h - mappings that were forced: each by events and in closed form, and a chart of how far the two are apart. */
#ifndef NPUSIM_SIM_REPORT_FORCED_DOC_H
#define NPUSIM_SIM_REPORT_FORCED_DOC_H

#include "results/plot/plot.h"
#include "sim/accuracy/probe_forced.h"
#include "sim/report/doc.h"

void forced_doc(struct doc *d, const struct probe_forced *x, size_t n);
/* `room` and `named` have n places. */
struct plot *forced_chart(const struct probe_forced *x, size_t n, double *room, bool *named);

#endif
