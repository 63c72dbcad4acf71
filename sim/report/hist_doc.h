/* hist_doc.h - how metrics are distributed over a trace's kernels, as a document, and one of them as a chart. */
#ifndef NPUSIM_SIM_REPORT_HIST_DOC_H
#define NPUSIM_SIM_REPORT_HIST_DOC_H

#include "results/plot/plot.h"
#include "sim/profile/hist.h"
#include "sim/report/doc.h"

/* `n` of them, a metric each. */
void hist_doc(struct doc *d, const struct trace *t, const struct bound *b, const struct hist *h, size_t n);
struct plot *hist_chart(const struct bound *b, const struct hist *h);

#endif
