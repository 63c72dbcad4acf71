/* tt_csv.h - reader of tt-metal's ops report (ops_perf_results_*.csv, of tracy or profile_this.py), plain or gzipped.
 *
 * Reads: a row an op of the device, with OP CODE, ATTRIBUTES (the function of an elementwise op, a norm's, a reduction's, a
 * causal mask), DEVICE ID, DEVICE KERNEL DURATION [ns] (else DEVICE FW DURATION [ns]), OP TO OP LATENCY [ns] and the shapes and
 * formats of INPUT_i and OUTPUT_0: INPUT_0_W_PAD[LOGICAL] as "32[1]", of which the logical size counts, or INPUT_0_W of
 * older versions, which is the padded one. A signpost begins a range that lasts to the next one.
 * An op becomes one of a table of ops (read/shaped.h) or, where tables have none such, a kernel without sizes: convolutions
 * and their halos, collectives, sparse products, and attention of decode, whose report says how large the cache is and not
 * how many of its keys were read. Layouts (tiles, sharding, L1 or DRAM) are left out: what a tensor lies in is the
 * simulated machine's affair. Rows of the host are left out.
 * Refused with a reason: a report without durations or without any shape, what columns.h refuses. */
#ifndef NPUSIM_TRACES_READ_TT_CSV_H
#define NPUSIM_TRACES_READ_TT_CSV_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

bool tt_csv_is_header(const char *line, size_t n);
/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int tt_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e);

#endif
