/* types_doc.h - how the types of a trace's tensors are known, where its recording leaves some out: in words and as JSON. */
#ifndef NPUSIM_SIM_REPORT_TYPES_DOC_H
#define NPUSIM_SIM_REPORT_TYPES_DOC_H

#include "sim/lower/lower.h"
#include "sim/report/doc.h"

/* "of 197 of 198 tensors inferred: ..."; nothing where all are recorded. */
void types_doc_text(const struct lower_stats *st, struct str *to);
void types_doc(struct doc *d, const struct lower_stats *st); /* "types": {...} of JSON, or nothing */

#endif
