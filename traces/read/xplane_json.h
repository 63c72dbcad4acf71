/* xplane_json.h - reader of the trace viewer's JSON of XLA's profiler (trace.json.gz: JAX, TensorFlow, PyTorch/XLA), plain or
 * gzipped, streamed. The XPlane protocol buffer beside it (*.xplane.pb) is not read.
 *
 * Reads: the names of processes and threads, which stand before the events; of a device ("/device:TPU:0") the events of its
 * line "XLA Ops", each a kernel, with the time that the device counted (device_duration_ps, else dur) and, where its
 * long_name is an instruction of HLO with its operands' shapes, an op of a table of ops (read/hlo_text.h); of its line "Steps" the
 * ranges, as "step_N". Of a GPU ("/device:GPU:0") the events of its streams, by name: XLA says no shapes of those, and nothing
 * models them.
 * Leaves out: hosts, other lines of a device (modules, scopes, asynchronous copies), loops and calls, whose bodies are there.
 * Refused with a reason: JSON that is cut or broken, nesting over 64, events over 1 MiB, an event of a device without time or
 * with one out of range, more than 4,096 lines, no device's events. */
#ifndef NPUSIM_TRACES_READ_XPLANE_JSON_H
#define NPUSIM_TRACES_READ_XPLANE_JSON_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

/* By what only XLA's profiler writes at a trace's head. */
bool xplane_json_is_text(const char *p, size_t n);
/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int xplane_json_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                       struct trace_import_stats *st, struct err *e);

#endif
