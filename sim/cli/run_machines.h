/* run_machines.h - npusim run -c A,B,C: one workload on several machines. */
#ifndef NPUSIM_SIM_CLI_RUN_MACHINES_H
#define NPUSIM_SIM_CLI_RUN_MACHINES_H

#include "sim/cli/cmd.h"
#include "sim/engine/run.h"

struct run_machines {
	const char *configs; /* with commas between */
	const struct opt_list *sets;
	const struct workload_spec *workload;
	struct run_opts how;
	bool allow_opaque;
	enum out_format format;
	int (*opaque)(const struct workload *w, bool allowed, struct err *e);
};
int run_machines(const struct run_machines *q, struct str *out, struct err *e);

#endif
