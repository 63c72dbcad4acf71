/* serve_doc.h - what serving a list came to: for people, as JSON, and request by request as CSV. */
#ifndef NPUSIM_SIM_REPORT_SERVE_DOC_H
#define NPUSIM_SIM_REPORT_SERVE_DOC_H

#include "sim/report/capacity_doc.h"
#include "sim/report/serve_range.h"
#include "sim/serve/curve.h"

/* `found`: the list is that of the largest rate, which is told first; NULL: it was given. `sure`: NULL: nobody knows how sure it is. */
void serve_doc(struct doc *d, const struct serve_run *r, const struct capacity_doc *found,
               const struct serve_range *sure);
/* What is said of it first. */
void serve_doc_verdict(const struct serve_run *r, const struct serve_range *sure, struct str *out);
void serve_doc_curve(struct doc *d, const struct serve_run *r, const struct curve_point *v, size_t n);

#endif
