/* compare_doc_int.h - what the parts of compare_doc share. */
#ifndef NPUSIM_SIM_REPORT_COMPARE_DOC_INT_H
#define NPUSIM_SIM_REPORT_COMPARE_DOC_INT_H

#include "sim/report/compare_doc.h"
#include "sim/report/difference.h"

struct compare_showing {
	const struct res_stored *const *runs;
	const char *const *names;
	size_t n;
	struct arena *a;
};

/* How many times as fast as the first each is, and how sure that is. */
struct compare_ratios {
	const struct compare_showing *s;
	struct interval_range v[COMPARE_DOC_MOST]; /* true over simulated; low 0: not known */
};

/* Of several runs: totals, what was waited for, energy by block. Time by resource lines up whatever the workloads are. */
void compare_doc_sums(struct doc *d, const struct compare_showing *s);
/* Of two: the difference in sentences. */
#define COMPARE_DOC_SAID 4
int compare_doc_said(const struct compare_ratios *r, struct str lines[COMPARE_DOC_SAID]);

#endif
