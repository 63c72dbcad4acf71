/* machines_doc.h - one workload on several machines: a row each. */
#ifndef NPUSIM_SIM_REPORT_MACHINES_DOC_H
#define NPUSIM_SIM_REPORT_MACHINES_DOC_H

#include "sim/report/doc.h"
#include "sim/report/eval.h"

#define MACHINES_DOC_MOST 16

struct machines_doc {
	const char *const *configs; /* as they were named */
	const struct eval *v;
	size_t n;
	const char *fidelity;
	struct measured_spread steps;       /* of the trace, as it was measured */
	const struct interval_range *ratio; /* of the first's time over each: true over simulated; low 0: not known */
};
void machines_doc(struct doc *d, const struct machines_doc *x);

#endif
