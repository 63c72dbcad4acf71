/* stalls.h - why warps did not issue, as Nsight Compute sampled it.
 *
 * A profiled launch has a number for each reason (raw page: smsp__average_warps_issue_stalled_REASON_per_issue_active.ratio, else
 * smsp__average_warp_latency_issue_stalled_REASON.ratio, else the samples smsp__pcsamp_warps_issue_stalled_REASON): its share is
 * that over the sum of all of them, `selected` (it issued) among them. Means over launches are by time, and by count where
 * nothing was timed. */
#ifndef NPUSIM_SIM_PROFILE_STALLS_H
#define NPUSIM_SIM_PROFILE_STALLS_H

#include "sim/base/arena.h"
#include "traces/db/tracedb.h"
#include "workloads/rules.h"

#define STALLS_MAX 32 /* reasons of all launches together; Nsight Compute has some twenty */

struct stall_share {
	const char *reason;
	double pct;
};
struct stalls_row {
	const char *name, *friendly;
	uint64_t count, ns;
	struct stall_share share[STALLS_MAX]; /* largest first */
	size_t n;
};
struct stalls {
	struct stalls_row *v, all;
	size_t n; /* longest first */
};

/* All lives in `a`. A database without such metrics is an error that says how to get them. */
int stalls_of(struct tracedb *db, struct rules *rules, struct arena *a, struct stalls *out, struct err *e);
const char *stall_text(const char *reason); /* what it means; "" for one that is not known here */

#endif
