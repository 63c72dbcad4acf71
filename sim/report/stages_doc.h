/* stages_doc.h - what a trace's time was for: its stages under the roofline, and the families of kernels of each. */
#ifndef NPUSIM_SIM_REPORT_STAGES_DOC_H
#define NPUSIM_SIM_REPORT_STAGES_DOC_H

#include "sim/profile/stages.h"
#include "sim/report/doc.h"

/* `families`: so many of each stage for people. CSV has the stages alone. */
void stages_doc(struct doc *d, const struct trace *t, const struct stages *s, uint64_t families);

#endif
