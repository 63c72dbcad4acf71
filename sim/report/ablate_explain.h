/* ablate_explain.h - an ablation in sentences that one could say to a colleague: what pays most and where, what all together do, what
 * is missed, what does nothing, what costs, how its claims stand, what nobody can tell. */
#ifndef NPUSIM_SIM_REPORT_ABLATE_EXPLAIN_H
#define NPUSIM_SIM_REPORT_ABLATE_EXPLAIN_H

#include "sim/report/ablate_doc.h"
#include "sim/report/explain.h"

/* All lives in `a`; returns how many, -1: no memory. */
int ablate_explain(const struct ablate_doc *v, struct arena *a, struct explain_line lines[EXPLAIN_LINES],
                   struct err *e);

#endif
