/* serve_doc.h - what serving a list came to: for people, as JSON, and request by request as CSV. */
#ifndef NPUSIM_SIM_REPORT_SERVE_DOC_H
#define NPUSIM_SIM_REPORT_SERVE_DOC_H

#include "sim/report/doc.h"
#include "sim/serve/serve.h"

void serve_doc(struct doc *d, const struct serve_run *r);

#endif
