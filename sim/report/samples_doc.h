/* samples_doc.h - a GPU's model held against samples, and against a board's energy: errors by class, size, what bounds them, and
 * the worst. */
#ifndef NPUSIM_SIM_REPORT_SAMPLES_DOC_H
#define NPUSIM_SIM_REPORT_SAMPLES_DOC_H

#include "sim/accuracy/energy.h"
#include "sim/accuracy/score.h"
#include "sim/accuracy/tables.h"
#include "sim/report/doc.h"

struct samples_doc {
	const struct cases *sets;
	size_t n;
	const struct tables_stats *tables; /* of published tables among them */
	size_t n_tables;
	const struct energy_cases *energy;
	size_t n_energy;
	enum sample_split split;
	uint64_t worst; /* samples to list */
	bool groups;    /* by the kind of case, too */
};
/* CSV has every sample, or every case of energy where there are some. */
int samples_doc(struct doc *d, const struct samples_doc *x, struct err *e);

#endif
