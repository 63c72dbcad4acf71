/* calibrate.h - the parts of npusim calibrate. */
#ifndef NPUSIM_SIM_CLI_CALIBRATE_H
#define NPUSIM_SIM_CLI_CALIBRATE_H

#include "sim/cli/cmd.h"
#include "sim/engine/run_result.h"
#include "sim/report/fit_doc.h"

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
	unsigned jobs;
	uint64_t folds, rows; /* rows: so many of all, taken evenly; 0: all */
	enum run_fidelity fidelity;
	bool check;
};

int calibrate_rows(const struct calibrate_rows *o, struct machine_conf *conf, struct doc *d, struct err *e);

#endif
