/* run_label.h - what stored runs are called: the machine and what was changed of it, and of several whatever else tells them apart.
 *
 * What was changed is told against the machine's own file, where that is still there, else against the first of the runs on a
 * machine of that name. A name has up to RUN_LABEL_KEYS changes and says how many more there are. No two names are alike. */
#ifndef NPUSIM_SIM_CLI_RUN_LABEL_H
#define NPUSIM_SIM_CLI_RUN_LABEL_H

#include "results/db/res.h"
#include "sim/base/arena.h"

#define RUN_LABEL_KEYS 4

/* names[i] of runs[i]; they live in `a`. */
int run_label_runs(const struct res_stored *const *runs, size_t n, struct arena *a, const char **names, struct err *e);

/* Parameters in which the machines differ, in the order of the first one's: values by key, then by run; NULL: a machine of
 * another kind, which has no such parameter. */
struct run_label_keys {
	size_t n;
	const char **keys;
	const char **values; /* [key * runs + run] */
};
int run_label_differ(const struct res_stored *const *runs, size_t n, struct arena *a, struct run_label_keys *out,
                     struct err *e);

#endif
