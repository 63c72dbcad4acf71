/* compare_doc.h - stored runs side by side, by kind of op and op by op, or one beside what was measured.
 *
 * The first column is the reference: ratios are its time over the others'. Ops line up by id where the runs share
 * their workload; where they do not, only kinds are compared. */
#ifndef NPUSIM_SIM_REPORT_COMPARE_DOC_H
#define NPUSIM_SIM_REPORT_COMPARE_DOC_H

#include "results/db/res.h"
#include "sim/base/arena.h"
#include "sim/report/doc.h"

#define COMPARE_DOC_MOST 8 /* columns a person can still read */

struct compare_doc {
	const struct res_stored *const *runs;
	size_t n;
	const struct res_workload *measured; /* of the one run, with times as they were measured; NULL: of none */
	uint64_t top;                        /* for people: so many of the ops that differ most */
	struct arena *a;
	bool brief; /* no ops */
};
int compare_doc(struct doc *d, const struct compare_doc *of, struct err *e);

/* What runs there are, without comparing them. */
int compare_list_doc(struct doc *d, const struct res_stored *const *runs, size_t n, struct arena *a, struct err *e);

#endif
