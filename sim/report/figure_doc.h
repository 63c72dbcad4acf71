/* figure_doc.h - figures of results/figure.h as members and cells of a document. */
#ifndef NPUSIM_SIM_REPORT_FIGURE_DOC_H
#define NPUSIM_SIM_REPORT_FIGURE_DOC_H

#include "results/figure.h"
#include "sim/report/doc.h"

/* By its name; null where there is no result. */
void figure_doc(struct doc *d, const struct figure *f, bool result, const struct figures *x);

#endif
