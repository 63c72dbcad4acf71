/* ops_doc.h - the op stream that a trace is lowered to, by kind and op by op, and how much of the time it covers. */
#ifndef NPUSIM_SIM_REPORT_OPS_DOC_H
#define NPUSIM_SIM_REPORT_OPS_DOC_H

#include "sim/report/doc.h"
#include "sim/workload/workload.h"

/* `all`: every op, too. */
void ops_doc(struct doc *d, const struct workload *w, bool all);

#endif
