/* roofline_doc.h - a trace's kernels against their device's roofs, as a document and for a page. */
#ifndef NPUSIM_SIM_REPORT_ROOFLINE_DOC_H
#define NPUSIM_SIM_REPORT_ROOFLINE_DOC_H

#include "sim/base/out_json.h"
#include "sim/profile/bound.h"
#include "sim/report/doc.h"

/* `n`: so many kernels, those with most time. */
void roofline_doc(struct doc *d, const struct trace *t, const struct bound *b, size_t n);
/* `normalised`: each pipe's own peak and ridge are 1. */
void roofline_page(struct out_json *j, const struct trace *t, const struct bound *b, bool normalised);
const char *roofline_title(bool normalised);
uint64_t roofline_placed_ns(const struct bound *b); /* of kernels that have a place under a roof */

#endif
