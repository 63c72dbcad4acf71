/* bound_doc.h - by which rule, peaks and ridges kernels were said to be bound: members, and lines for people. */
#ifndef NPUSIM_SIM_REPORT_BOUND_DOC_H
#define NPUSIM_SIM_REPORT_BOUND_DOC_H

#include "sim/profile/bound.h"
#include "sim/report/doc.h"

void bound_doc(struct doc *d, const struct bound *b);

#endif
