/* labels.h - what stored runs are called: the machine and what was changed of it, and of several whatever else tells them apart.
 *
 * What was changed is told against the machine's own file, where that is still there, else against the first of the runs on a
 * machine of that name. A name has up to LABELS_KEYS changes and says how many more there are. No two names are alike. */
#ifndef NPUSIM_SIM_REPORT_LABELS_H
#define NPUSIM_SIM_REPORT_LABELS_H

#include "results/db/res.h"
#include "sim/base/arena.h"
#include "sim/base/str.h"

#define LABELS_KEYS 4

/* names[i] of runs[i]; they live in `a`. */
int labels_runs(const struct res_stored *const *runs, size_t n, struct arena *a, const char **names, struct err *e);

/* What ran: a model, or a trace's file name and range. */
void labels_workload(const struct res_stored *r, struct str *out);

/* Parameters in which the machines differ, in the order of the first one's: values by key, then by run; NULL: a machine of
 * another kind, which has no such parameter. */
struct labels_keys {
	size_t n;
	const char **keys;
	const char **values; /* [key * runs + run] */
};
int labels_differ(const struct res_stored *const *runs, size_t n, struct arena *a, struct labels_keys *out,
                  struct err *e);

#endif
