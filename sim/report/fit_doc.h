/* fit_doc.h - parameters that were measured and fitted: as a table, and the configuration with them. */
#ifndef NPUSIM_SIM_REPORT_FIT_DOC_H
#define NPUSIM_SIM_REPORT_FIT_DOC_H

#include "sim/accuracy/fit_rows.h"
#include "sim/report/doc.h"

void fit_doc(struct doc *d, const struct fit_plan *p, const struct cfg *c);
/* The same of an NPU; for people with errors by table, rows that stay far off, and what folds say. */
void fit_rows_doc(struct doc *d, const struct fit_rows_ask *q, const struct fit_rows *r, const struct fit_plan *p,
                  const struct cfg *c);

/* A file with every value that a configuration gives, and its source. */
int fit_write(const struct cfg *c, const char *path, struct err *e);

#endif
