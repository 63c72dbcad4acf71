/* gaps_doc.h - when a trace's device did nothing, and what it waited for: sums, causes, streams, lengths, the longest gaps. */
#ifndef NPUSIM_SIM_REPORT_GAPS_DOC_H
#define NPUSIM_SIM_REPORT_GAPS_DOC_H

#include "sim/profile/gaps.h"
#include "sim/report/doc.h"

struct gaps_doc {
	const struct trace *t;
	const struct gaps *g;
	struct arena *a;
	uint64_t longest; /* so many gaps are listed; CSV has all, in order of time */
};
int gaps_doc(struct doc *d, const struct gaps_doc *v, struct err *e);

#endif
