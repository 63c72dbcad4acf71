/* kineto.h - reader of PyTorch profiler (Kineto) Chrome traces, plain or gzipped, streamed.
 *
 * Reads: deviceProperties; kernels, copies and sets of CUDA and ROCm; framework ops with Input Dims, Input type,
 * Input Strides and Concrete Inputs; runtime and driver calls; user annotations on host and device.
 * Leaves out: python_function, memory counters, flow arrows (correlation says the same), overhead, metadata.
 * Times are taken from the numbers' text to the nanosecond, never through a double.
 * Memory is bounded whatever the file's size: one event is held at a time, and an event over 1 MiB is an error.
 * Refused with a reason: truncated or damaged gzip, JSON cut or broken (line and column), nesting over 64, an event
 * without its time or with a negative duration, not a Kineto trace, no device activity. Bytes in names that are no
 * UTF-8 become U+FFFD. */
#ifndef NPUSIM_TRACES_READ_KINETO_H
#define NPUSIM_TRACES_READ_KINETO_H

#include "sim/base/err.h"
#include "traces/db/tracedb.h"

/* Called now and then with the compressed bytes read of the file's size; may be NULL. */
typedef void kineto_progress(void *arg, uint64_t done_bytes, uint64_t total_bytes);

/* 0 imported, 1 in the database already, -1 error (nothing of it remains). wall_ns: -1 when not known. */
int kineto_import(struct tracedb *db, const char *path, int64_t wall_ns, kineto_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e);
/* 1 when the file's first bytes look like a Kineto trace (JSON, gzipped or not), 0 when not, -1 unreadable. */
int kineto_sniff(const char *path, struct err *e);
/* The same reader over bytes in memory: for the fuzzer and tests. */
int kineto_import_mem(struct tracedb *db, const void *bytes, size_t n, const char *name, struct trace_import_stats *st,
                      struct err *e);

#endif
