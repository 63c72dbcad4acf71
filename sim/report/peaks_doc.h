/* peaks_doc.h - what a machine multiplies at most by format, and at how many operations a byte of memory that is reached. */
#ifndef NPUSIM_SIM_REPORT_PEAKS_DOC_H
#define NPUSIM_SIM_REPORT_PEAKS_DOC_H

#include "arch/machine/machine_conf.h"
#include "sim/report/doc.h"

/* Rows of the open table. */
int peaks_doc(struct doc *d, const struct machine_conf *c, struct err *e);

#endif
