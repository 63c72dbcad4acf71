/* rocprof_csv.h - reader of rocprof's tables of kernels on AMD GPUs, plain or gzipped:
 *   rocprofv3 --kernel-trace --output-format csv    NAME_kernel_trace.csv, a row a dispatch
 *   rocprof, rocprofv2                              results.csv, a row a dispatch
 *   either with --stats                             NAME_kernel_stats.csv, results.stats.csv: a row a name
 *
 * Each dispatch becomes a launch with its device, queue, grid, block and local memory, without ".kd" and " [clone .kd]" behind
 * its name; a row of statistics becomes what nsys stats' would be. Grids, which AMD counts in threads, become blocks.
 * What a kernel computed is not in these tables (a Tensile name has the sizes of a tile, not of the product), so nothing is
 * modelled of it: kernels can be ranked and classified. The PyTorch profiler writes shapes on AMD GPUs, too.
 * Refused with a reason: an end before its begin, what columns.h refuses. */
#ifndef NPUSIM_TRACES_READ_ROCPROF_CSV_H
#define NPUSIM_TRACES_READ_ROCPROF_CSV_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

bool rocprof_csv_is_header(const char *line, size_t n);
/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int rocprof_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                       struct trace_import_stats *st, struct err *e);

#endif
