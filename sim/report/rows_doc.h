/* rows_doc.h - tables of ops held against a machine, each row alone: errors by what rows differ in, with a plain roofline's
 * beside them, and the worst. */
#ifndef NPUSIM_SIM_REPORT_ROWS_DOC_H
#define NPUSIM_SIM_REPORT_ROWS_DOC_H

#include "sim/accuracy/rows.h"
#include "sim/report/doc.h"

struct rows_doc {
	const struct machine_conf *conf;
	const struct rows *rows;
	bool blocks; /* there are some among them */
	enum run_start start;
	enum run_fidelity fidelity;
	enum sample_split split;
	uint64_t worst; /* rows to list */
	struct arena *arena;
};
/* CSV has every row. */
int rows_doc(struct doc *d, const struct rows_doc *t, struct err *e);

#endif
