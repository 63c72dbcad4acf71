/* energy_doc.h - a board's energy as it was measured and as the model has it: errors by class, and the worst cases. */
#ifndef NPUSIM_SIM_REPORT_ENERGY_DOC_H
#define NPUSIM_SIM_REPORT_ENERGY_DOC_H

#include "sim/accuracy/energy.h"
#include "sim/report/doc.h"

#define ENERGY_DOC_TITLE \
	"error of energy by class, percent of what was measured, at the measured times and clocks;" \
	" of the clock where it was or is capped, at the measured cycles"

/* For people errors by class and the worst cases, in percent; CSV has every case, JSON "energy": {...}, "clock": {...},
 * "energy_classes": [...]. `note` says what the answers are of. */
int energy_doc(struct doc *d, const struct energy_cases *x, size_t n, enum sample_split split, uint64_t worst,
               const char *note, struct err *e);

#endif
