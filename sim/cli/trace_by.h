/* trace_by.h - the part of npusim trace top that sums kernels by something else than their names. */
#ifndef NPUSIM_SIM_CLI_TRACE_BY_H
#define NPUSIM_SIM_CLI_TRACE_BY_H

#include "sim/cli/cmd.h"
#include "sim/profile/sums.h"

struct trace_by {
	const char *range, *rules, *filter; /* NULL: none */
	enum sums_by by;
	enum sums_order sort;
	uint64_t n;
};
int trace_by(const char *path, const struct trace_by *o, struct doc *d, struct err *e);

#endif
