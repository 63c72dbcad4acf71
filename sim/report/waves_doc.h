/* waves_doc.h - how a trace's kernels fill their device: occupancy over all, waves, and kernel by kernel. */
#ifndef NPUSIM_SIM_REPORT_WAVES_DOC_H
#define NPUSIM_SIM_REPORT_WAVES_DOC_H

#include "sim/profile/waves.h"
#include "sim/report/doc.h"

/* `n`: so many kernels are listed, those with most time. */
void waves_doc(struct doc *d, const struct trace *t, const struct roof *r, const struct waves *w, size_t n);

#endif
