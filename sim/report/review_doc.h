/* review_doc.h - a published report held against its tables, told: each figure beside what is printed, then the claims. */
#ifndef NPUSIM_SIM_REPORT_REVIEW_DOC_H
#define NPUSIM_SIM_REPORT_REVIEW_DOC_H

#include "sim/profile/review.h"
#include "sim/report/doc.h"

/* `all`: for people the claims that hold, too. CSV has the claims alone. */
void review_doc(struct doc *d, const struct review *s, bool all);

#endif
