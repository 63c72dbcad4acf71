/* study_doc.h - what a stored sweep says about its designs: its front, the best of them, and which axis matters. */
#ifndef NPUSIM_SIM_REPORT_STUDY_DOC_H
#define NPUSIM_SIM_REPORT_STUDY_DOC_H

#include "sim/report/doc.h"
#include "sim/study/study.h"

/* Points are sorted by these, and of the front those that are beaten are left out. */
int study_front_doc(struct doc *d, struct study *t, struct err *e);
int study_best_doc(struct doc *d, struct study *t, uint64_t most, struct err *e);
int study_terms_doc(struct doc *d, struct study *t, const char *of, struct err *e);

#endif
