/* diff_doc.h - two traces side by side: both, then families and kernels, what got slower first. */
#ifndef NPUSIM_SIM_REPORT_DIFF_DOC_H
#define NPUSIM_SIM_REPORT_DIFF_DOC_H

#include "sim/profile/diff.h"
#include "sim/report/doc.h"

struct diff_side {
	const struct trace *t;
	const struct classify *c;
};
/* `n`: so many kernels are listed. */
void diff_doc(struct doc *d, const struct diff_side s[2], const struct diff *x, size_t n);

#endif
