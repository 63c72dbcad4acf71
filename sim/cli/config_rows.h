/* config_rows.h - a command that prints rows of machines: CONFIG..., --set, --format. */
#ifndef NPUSIM_SIM_CLI_CONFIG_ROWS_H
#define NPUSIM_SIM_CLI_CONFIG_ROWS_H

#include "arch/machine/machine_conf.h"
#include "sim/cli/cmd.h"

struct config_rows {
	const char *synopsis, *about, *examples;
	/* The rows of one machine, which was read from `path`. */
	int (*put)(const char *path, const struct machine_conf *c, struct doc *d, struct err *e);
};

int config_rows(const struct config_rows *r, int argc, char **argv, struct str *out, struct err *e);

#endif
