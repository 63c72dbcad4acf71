/* ops_csv.h - a table of ops that someone wrote: CSV whose header begins with `op,`. What its columns mean is in
 * workloads/listed.h.
 *
 * Read: lines in order, each an op; columns in any order behind `op`, those that no row needs left out; cells left out or
 * empty where they do not apply, at a row's end too; blanks around a cell; empty lines and lines that begin with '#',
 * before the header too; a byte order mark, line ends of both sorts, gzip.
 * Becomes: a kernel for each row, of the row's name (else its op's), one after the other, with `measured_us` as its duration, or
 * none; and a framework op that has the cells. There is no device and no host.
 * Refused, with line and column: a column that is unknown, unnamed or twice; more cells than columns; an op, format or
 * algorithm that is unknown; a size that is missing, 0, negative, no whole number or too large for what it makes; a cell that
 * does not belong to its op; heads that the KV heads do not divide; what the CSV reader refuses. A table without rows. */
#ifndef NPUSIM_TRACES_READ_OPS_CSV_H
#define NPUSIM_TRACES_READ_OPS_CSV_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

/* A text whose first line that is neither empty nor a comment begins with "op,". */
bool ops_csv_is_text(const char *p, size_t n);
/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int ops_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                   struct trace_import_stats *st, struct err *e);

#endif
