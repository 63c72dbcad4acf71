/* fit_rows.h - calibration of an NPU: few physical parameters from tables of ops measured on it.
 *
 * Each row runs alone, operands in DRAM or on chip, as its table was measured. All rows are fitted, or so many as are asked
 * for: what a fold, one table, or the rows that were taken say of the others is found beside.
 * Values are tried as a file would give them: the machine is made anew by its file and assignments, so that what follows from a
 * parameter (a memory's pin rate from its bandwidth) follows, and what is reported is what `npusim validate` finds of the
 * file that is written. Mappings are found for few of them and taken again for others by the way (fit_data.hold); what is reported is of
 * mappings found for the values. */
#ifndef NPUSIM_SIM_ACCURACY_FIT_ROWS_H
#define NPUSIM_SIM_ACCURACY_FIT_ROWS_H

#include "sim/accuracy/fit.h"
#include "sim/accuracy/interval.h"
#include "sim/engine/run_result.h"

struct fit_rows_table {
	const char *path;
	const struct op_stream *ops; /* of a table alone (ops_listed_all) */
	enum run_start start;
};

struct fit_rows_ask {
	const char *config; /* and the assignments over it */
	const char *const *sets;
	int n_sets;
	const struct fit_rows_table *tables;
	size_t n;
	const char *kind; /* of the rows that count; NULL: all */
	uint64_t rows;    /* so many of all, taken evenly by their time; 0: all */
	uint64_t folds;
	unsigned jobs; /* as fit_data has them */
	const struct pool_backend *backend;
	enum run_fidelity fidelity;
};

/* Percent; of so many rows. */
struct fit_rows_error {
	size_t n;
	double mape, bias;
};

/* A row that was taken and stays far off: no value explains it. */
struct fit_rows_odd {
	const char *op;
	uint64_t measured_ns;
	ps_t simulated;
	double error; /* signed percent */
};

struct fit_rows {
	struct fit_report fit,
		by_table; /* by_table: each by a fit to the others; where folds of all rows are asked for */
	size_t samples;
	struct fit_rows_error *was, *now; /* of each table the rows that were taken, then those that were not */
	struct fit_rows_error rest;       /* of all that were not */
	struct fit_rows_odd *odd;
	size_t n_odd;
	struct fit_rows_error part[INTERVAL_PARTS]; /* by class of op, as rows would be that were not fitted */
	char source[160];                           /* where values are from: which rows, by a digest of the tables */
};

/* Leaves the values in the plan; what is found lives in `a`. */
int fit_rows_run(const struct fit_rows_ask *q, struct machine_conf *conf, struct fit_plan *p, struct arena *a,
                 struct fit_rows *out, struct err *e);
/* Leaves values and errors by class in a configuration, with their source. */
int fit_rows_keep(const struct fit_rows *r, const struct fit_plan *p, struct cfg *c, struct err *e);

#endif
