/* points_doc.h - designs of a stored sweep side by side: settings and totals, kinds of op, what held them back, and the
 * statistics that differ most. The first is the reference. CSV and JSON have everything, a row a number. */
#ifndef NPUSIM_SIM_REPORT_POINTS_DOC_H
#define NPUSIM_SIM_REPORT_POINTS_DOC_H

#include "results/db/res_sweep.h"
#include "sim/report/doc.h"

#define POINTS_DOC_MOST 8 /* columns a person can still read */

struct points_doc {
	int64_t sweep;
	const int64_t *points;
	int n;
	uint64_t top; /* statistics that are shown */
};
int points_doc(struct doc *d, struct resdb *db, const struct points_doc *of, struct err *e);

#endif
