/* types_out.h - how the types of a trace's tensors are known, where its recording leaves some out: in words and as JSON. */
#ifndef NPUSIM_SIM_REPORT_TYPES_OUT_H
#define NPUSIM_SIM_REPORT_TYPES_OUT_H

#include "sim/base/out_json.h"
#include "sim/lower/lower.h"

/* "of 197 of 198 tensors inferred: ..."; nothing where all are recorded. */
void types_out_text(const struct lower_stats *st, struct str *to);
void types_out_json(const struct lower_stats *st, struct out_json *j); /* "types": {...}, or nothing */

#endif
