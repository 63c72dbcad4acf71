/* counters_csv.h - a table of counters, a row a profiled kernel: CSV whose header begins with `kernel,`.
 *
 * Columns, in any order behind `kernel`, all of them but that one and one metric left out at will:
 *   kernel             its name, or any word for it where there is a column `name`
 *   name               its full name
 *   device             the GPU's, "NVIDIA GeForce RTX 5090", whose peaks then count
 *   grid, block        224x1x1, or 224
 *   registers, smem    a thread's, and bytes a block
 *   duration_us and the other metrics of traces/metric.h: numbers; of those of Nsight Compute (dram__bytes_read.sum) in its
 *                      base units
 *   row, class         what a report says of it (sim/profile/review.h): no counter, not read
 * An empty cell says nothing. Lines that begin with '#' are comments.
 * Becomes: what Nsight Compute's own file does (ncu_csv.h), a launch a row with its counters, one behind the other.
 * Refused, with line and column: a column that is unknown, unnamed or twice; more cells than columns; a number that is none,
 * negative, or out of range; no metric; no rows. */
#ifndef NPUSIM_TRACES_READ_COUNTERS_CSV_H
#define NPUSIM_TRACES_READ_COUNTERS_CSV_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

bool counters_csv_is_text(const char *p, size_t n);
/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int counters_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                        struct trace_import_stats *st, struct err *e);

#endif
