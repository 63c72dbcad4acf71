/* capture_import.h - what npusim's own capture library recorded (traces/capture/) into a trace database.
 *
 * A spool is one process: its kernels, copies and sets with their places in graphs, its runtime calls, its NVTX ranges
 * and its devices. Ranges of another NVTX domain than the default one are called "DOMAIN:TEXT". Where PyTorch's emit_nvtx
 * was on, its ranges become ops, and launches belong to the innermost around their call. The file is read twice, the
 * second time for what the device did.
 * A file that a kill cut short gives what was whole (trace_import_stats.cut); so do ranges that never ended.
 * Leaves out: marks without length; clocks, which are for people who look into the file.
 * Refused with a reason: all that capture_spool.h refuses, a first record that is no process, names used before they are
 * given, times that run backwards or are beyond 2^62 ns, sizes beyond 2^62. */
#ifndef NPUSIM_TRACES_READ_CAPTURE_IMPORT_H
#define NPUSIM_TRACES_READ_CAPTURE_IMPORT_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

/* 0 imported, 1 in the database already, 2 the device did nothing, -1 error; of the last two nothing remains. */
int capture_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                   struct trace_import_stats *st, struct err *e);

#endif
