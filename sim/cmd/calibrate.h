/* calibrate.h - the parts of npusim calibrate. */
#ifndef NPUSIM_SIM_CMD_CALIBRATE_H
#define NPUSIM_SIM_CMD_CALIBRATE_H

#include "sim/base/cfg.h"
#include "sim/cmd/cmd.h"

struct calibrate_energy {
	const char *config, *kernels, *output;
	const struct opt_list *sets, *tables; /* --set; --energy, the device's own first */
	uint64_t folds;
	bool check;
};

int calibrate_energy(const struct calibrate_energy *o, enum out_format f, struct str *out, struct err *e);

/* A configuration as calibrate writes it: every value it gives, with its source. */
void calibrate_config_text(const struct cfg *c, struct str *out);

#endif
