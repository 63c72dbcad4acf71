/* kinds.h - a stored run by kind of op: what tables, pages and pictures of runs have in common. */
#ifndef NPUSIM_SIM_REPORT_KINDS_H
#define NPUSIM_SIM_REPORT_KINDS_H

#include "arch/res.h"
#include "results/db/res.h"
#include "workloads/op.h"

struct kinds_row {
	const char *name;
	uint64_t ops, carried, measured_ns, carried_ns; /* measured_ns: of those that are simulated */
	ps_t span_ps, limit_ps;
	double stall_ps[RES_COUNT]; /* by the place of the run's resources */
};

/* In the order in which they occur; returns how many. */
size_t kinds_of(const struct res_stored *r, struct kinds_row rows[OP_KINDS]);

#endif
