/* calibrate.h - the parts of npusim calibrate. */
#ifndef NPUSIM_SIM_CLI_CALIBRATE_H
#define NPUSIM_SIM_CLI_CALIBRATE_H

#include "sim/accuracy/fit.h"
#include "sim/base/cfg.h"
#include "sim/cli/cmd.h"
#include "sim/engine/run_result.h"

struct calibrate_energy {
	const char *config, *kernels, *output;
	const struct opt_list *sets, *tables; /* --set; --energy, the device's own first */
	uint64_t folds;
	bool check;
};

int calibrate_energy(const struct calibrate_energy *o, struct doc *d, struct err *e);

/* An NPU, by tables of ops: with operands in DRAM, and on chip. */
struct calibrate_rows {
	const char *config, *plan, *output, *rules, *kind; /* kind: of the rows that count; NULL: all */
	const struct opt_list *sets, *tables, *resident;
	uint64_t folds, rows; /* rows: so many of all, taken evenly; 0: all */
	enum run_fidelity fidelity;
	bool check;
};

int calibrate_rows(const struct calibrate_rows *o, struct machine_conf *conf, struct doc *d, struct err *e);

/* What was measured and fitted, as a table; and an error where a value is not the one that was given. */
void calibrate_parameters(struct doc *d, const struct fit_plan *p, const struct cfg *c);
int calibrate_changed(const struct fit_plan *p, struct err *e);

/* A configuration as calibrate writes it: every value it gives, with its source. */
void calibrate_config_text(const struct cfg *c, struct str *out);

#endif
