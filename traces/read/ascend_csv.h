/* ascend_csv.h - reader of kernel_details.csv (torch_npu's profiler) and op_summary_*.csv (msprof) of Ascend NPUs, plain or
 * gzipped.
 *
 * Reads: a row a task, with its name and type, start and duration, device and stream, step (kernel_details' Step Id; each
 * is a range "step_N"), and Input and Output Shapes, Data Types and Formats: lists with ';' between tensors, as
 * "128,4096;4096,4096", in quotes or not. FRACTAL_NZ's four last dimensions are taken back to rows and columns.
 * A task becomes an op of a table of ops (read/shaped.h) by its type or, where tables have none such, a kernel without
 * sizes: collectives, convolutions, grouped products (how many rows an expert gets is not told), attention over a paged
 * or padded cache (how many keys are read is not told). FlashAttentionScore says heads and queries in its first result; it is
 * causal where it has the mask of 2048 x 2048 that CANN's compressed causal modes ask for. AddRmsNorm counts as the norm
 * alone. Counters (aic_*, aiv_*) are left out.
 * Refused with a reason: a table without durations or without shapes, what columns.h refuses. */
#ifndef NPUSIM_TRACES_READ_ASCEND_CSV_H
#define NPUSIM_TRACES_READ_ASCEND_CSV_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

bool ascend_csv_is_header(const char *line, size_t n);
/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int ascend_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                      struct trace_import_stats *st, struct err *e);

#endif
