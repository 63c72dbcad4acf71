/* counters_doc.h - a GPU's model beside Nsight Compute's counters: over all profiled kernels, then name by name. */
#ifndef NPUSIM_SIM_REPORT_COUNTERS_DOC_H
#define NPUSIM_SIM_REPORT_COUNTERS_DOC_H

#include "sim/profile/simulated.h"
#include "sim/report/doc.h"

/* `n`: so many names are listed, those that take longest. */
void counters_doc(struct doc *d, const struct simulated *s, size_t n);

#endif
