/* sweep_doc.h - points of a sweep, a row each; and those that ran again with events, beside what the closed form said. */
#ifndef NPUSIM_SIM_REPORT_SWEEP_DOC_H
#define NPUSIM_SIM_REPORT_SWEEP_DOC_H

#include "sim/report/doc.h"
#include "sim/study/sweep_view.h"

struct sweep_totals {
	size_t done, failed, died, missing, feasible; /* died: of the failed, those whose process did */
	bool bounded;
};
/* csv and json have all points and columns; a table has `rows` points and the columns a person looks at. */
int sweep_doc(struct doc *d, struct sweep_view *v, uint64_t rows, struct sweep_totals *t, struct err *e);

/* Points that have not run: their settings, and why one cannot be built. */
void sweep_list_doc(struct doc *d, const struct sweep *s);

#endif
