/* ncu_csv.h - reader of Nsight Compute CSV, plain or gzipped, in both shapes:
 *   long   `ncu --csv`: a row a metric and kernel ("Metric Name" is a column), units scaled for people, rules between
 *   wide   `ncu --csv --page raw`: a row a kernel, a column a metric, and a row of units under the header
 * What the profiler and the program print before the header is skipped; rows may end with a comma or not.
 *
 * Each kernel becomes a launch with its grid, block, cluster, registers and shared memory where they are told, and
 * its metrics in base units (ns, byte, hz; see measure.h). Metrics keep their names; those of the long page's
 * sections, whose names repeat between sections, become "Section: Name". Values that are no numbers ("n/a") and
 * device__attribute_*, which say nothing of a kernel, are left out; rules too.
 * Nsight Compute records no start times: launches stand back to back in the order of the file. A kernel without a
 * duration among its metrics gets 0 and is counted (stats.untimed). Whether the file writes 1,000.5 or 1.000,5 is
 * told by the first number that can be only one of them. Durations are of a run with serialised kernels, and unless
 * told otherwise flushed caches and base clocks: they are no nsys times.
 * Refused with a reason: a log without a table (what ==ERROR== says), no kernels, what csv.h refuses, durations or
 * sizes that are no numbers, negative or out of range. */
#ifndef NPUSIM_TRACES_READ_NCU_CSV_H
#define NPUSIM_TRACES_READ_NCU_CSV_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int ncu_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                   struct trace_import_stats *st, struct err *e);
bool ncu_csv_is_header(const char *line, size_t n);
bool ncu_csv_is_chatter(const char *line, size_t n); /* a line that only Nsight Compute writes: "==PROF== ..." */

#endif
