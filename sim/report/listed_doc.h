/* listed_doc.h - a table of ops (workloads/listed.h) as 'trace ops' shows it: each row's formats, work and bytes, how many
 * operations a byte, and what was measured. */
#ifndef NPUSIM_SIM_REPORT_LISTED_DOC_H
#define NPUSIM_SIM_REPORT_LISTED_DOC_H

#include "sim/report/doc.h"
#include "traces/trace.h"
#include "workloads/op.h"

void listed_doc(struct doc *d, const struct op_stream *s, const struct trace *t);
/* The same as members of a row's JSON object; `l` is the row's launch. */
void listed_doc_members(struct doc *d, const struct op_stream *s, const struct op *o, const struct trace_launch *l);

#endif
