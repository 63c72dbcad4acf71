/* rates_doc.h - published rates beside simulated ones, told: errors by engine, the worst rows, what is not supported; as CSV and JSON
 * all rows. */
#ifndef NPUSIM_SIM_REPORT_RATES_DOC_H
#define NPUSIM_SIM_REPORT_RATES_DOC_H

#include "sim/accuracy/rates.h"
#include "sim/report/doc.h"

/* For people the `worst` worst rows. */
void rates_doc(struct doc *d, const struct rates *r, uint64_t worst);

#endif
