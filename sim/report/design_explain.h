/* design_explain.h - a design in sentences that one could say to a colleague: what to build, what it reaches and at what price, how
 * sure that is, what led there, what lies beside it. */
#ifndef NPUSIM_SIM_REPORT_DESIGN_EXPLAIN_H
#define NPUSIM_SIM_REPORT_DESIGN_EXPLAIN_H

#include "sim/report/design_doc.h"
#include "sim/report/explain.h"

/* All lives in `a`; returns how many, -1: no memory. */
int design_explain(const struct design_doc *x, struct arena *a, struct explain_line lines[EXPLAIN_LINES],
                   struct err *e);

#endif
