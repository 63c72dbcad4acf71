/* rows_doc.h - tables of ops held against a machine, each row alone: errors by what rows differ in, with a plain roofline's
 * beside them, and the worst. */
#ifndef NPUSIM_SIM_REPORT_ROWS_DOC_H
#define NPUSIM_SIM_REPORT_ROWS_DOC_H

#include "sim/accuracy/rows.h"
#include "sim/report/doc.h"

/* Samples of one table up to `end`, behind those of the table before. */
struct rows_doc_table {
	const char *path;
	size_t end;
};

struct rows_doc {
	const struct machine_conf *conf;
	const struct rows *rows;
	bool blocks; /* there are some among them */
	enum run_start start;
	enum run_fidelity fidelity;
	enum sample_split split;
	uint64_t worst; /* rows to list */
	struct arena *arena;
	uint64_t
		taken; /* errors of so many rows that calibrate takes of all tables, and of the others, by table; 0: none */
	const struct rows_doc_table *tables;
	size_t n_tables;
};
/* CSV has every row. */
int rows_doc(struct doc *d, const struct rows_doc *t, struct err *e);

#endif
