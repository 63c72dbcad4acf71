/* stalls_doc.h - why the warps of a trace's kernels did not issue: over all of them, then kernel by kernel. */
#ifndef NPUSIM_SIM_REPORT_STALLS_DOC_H
#define NPUSIM_SIM_REPORT_STALLS_DOC_H

#include "sim/profile/stalls.h"
#include "sim/report/doc.h"

/* `n`: so many kernels are listed, those with most time. CSV has a row a kernel and reason. */
void stalls_doc(struct doc *d, const struct stalls *s, size_t n);

#endif
