/* fit_doc.h - parameters that were measured and fitted: as a table, and the configuration with them. */
#ifndef NPUSIM_SIM_REPORT_FIT_DOC_H
#define NPUSIM_SIM_REPORT_FIT_DOC_H

#include "sim/accuracy/fit.h"
#include "sim/base/cfg.h"
#include "sim/report/doc.h"

void fit_doc(struct doc *d, const struct fit_plan *p, const struct cfg *c);
/* An error where a value is not the one that was given. */
int fit_changed(const struct fit_plan *p, struct err *e);

/* Every value a configuration gives, with its source. */
void fit_config_text(const struct cfg *c, struct str *out);

#endif
