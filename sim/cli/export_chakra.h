/* export_chakra.h - npusim export --chakra: a model's step on a system, as files that ASTRA-sim reads. */
#ifndef NPUSIM_SIM_CLI_EXPORT_CHAKRA_H
#define NPUSIM_SIM_CLI_EXPORT_CHAKRA_H

#include "sim/cli/cmd.h"

struct export_chakra {
	const char *prefix, *config; /* PREFIX.CHIP.et, PREFIX.groups.json */
	struct opt_list sets;
	struct workload_spec workload;
};

int export_chakra(const struct export_chakra *o, struct str *out, struct err *e);

#endif
