/* limits_doc.h - what npusim limits prints: the answer first, then what each change does, as table, CSV or JSON. */
#ifndef NPUSIM_SIM_REPORT_LIMITS_DOC_H
#define NPUSIM_SIM_REPORT_LIMITS_DOC_H

#include "sim/report/doc.h"
#include "sim/study/limits.h"

struct limits_doc {
	const struct limits_result *r;
	const char *config, *part; /* part: "8 of 32 layers"; NULL: all of a model, or a trace */
	const char *fidelity;      /* of the many runs */
	uint32_t step_ppm;
};
void limits_doc(struct doc *d, const struct limits_doc *v);

#endif
