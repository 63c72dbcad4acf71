/* nsys_csv.h - reader of `nsys stats` CSV: the report cuda_gpu_kern_sum (older: gpukernsum), plain or gzipped.
 *
 * The report is aggregated: a row is a kernel's name with how often it ran and how long in all, at least, in the
 * median and at most. It becomes a trace whose launches are known only as statistics, which can be ranked and not
 * run. cuda_gpu_kern_gb_sum, which has a row a name, grid and block, is read too; its rows of one name are added up
 * where they are shown. Columns are found by their names and any unit of time; what stands before the header
 * ("Generating SQLite file ...") is skipped, and so is what follows the report.
 * Refused with a reason: other reports of nsys, a log without a table, a row of another width, numbers that are none,
 * negative or beyond 2^62. */
#ifndef NPUSIM_TRACES_READ_NSYS_CSV_H
#define NPUSIM_TRACES_READ_NSYS_CSV_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int nsys_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                    struct trace_import_stats *st, struct err *e);
/* The header of any report of nsys stats. */
bool nsys_csv_is_header(const char *line, size_t n);
bool nsys_csv_is_chatter(const char *line, size_t n); /* what nsys stats prints around its tables */

#endif
