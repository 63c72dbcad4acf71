/* compare.h - what the files of npusim compare share. */
#ifndef NPUSIM_SIM_CLI_COMPARE_H
#define NPUSIM_SIM_CLI_COMPARE_H

#include "results/db/res_sweep.h"
#include "sim/cli/cmd.h"

#define COMPARE_MAX 8 /* columns a person can still read */

/* Designs of a stored sweep side by side: settings and totals, kinds of op, what held them back, and the `top`
 * statistics that differ most (csv and json: everything, a row a number). The first is the reference. */
struct compare_designs {
	int64_t sweep;
	const int64_t *points;
	int n;
	uint64_t top;
};
int compare_points(struct resdb *db, const struct compare_designs *of, struct doc *d, struct err *e);

#endif
