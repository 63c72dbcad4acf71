/* kineto.h - reader of PyTorch profiler (Kineto) Chrome traces, plain or gzipped, streamed.
 *
 * Reads: deviceProperties; kernels, copies and sets of CUDA and ROCm; framework ops with Input Dims, Input type,
 * Input Strides and Concrete Inputs; runtime and driver calls; user annotations on host and device.
 * Leaves out: python_function, memory counters, flow arrows (correlation says the same), overhead, metadata.
 * "External id" may be any number: which op a launch is of is tried when the import ends (traces/db/tracedb_link.c).
 * Times are taken from the numbers' text to the nanosecond, never through a double.
 * Memory is bounded whatever the file's size: one event is held at a time, and an event over 1 MiB is an error.
 * Refused with a reason: truncated or damaged gzip, JSON cut or broken (line and column), nesting over 64, an event
 * without its time or with a negative duration, not a Kineto trace, no device activity. Bytes in names that are no
 * UTF-8 become U+FFFD. */
#ifndef NPUSIM_TRACES_READ_KINETO_H
#define NPUSIM_TRACES_READ_KINETO_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int kineto_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e);
/* A text that may be one: JSON, by its first characters. */
bool kineto_is_text(const char *p, size_t n);

#endif
