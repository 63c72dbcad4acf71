/* nsys.h - reader of Nsight Systems' SQLite exports (`nsys export --type sqlite`), schema 3.20 to 3.25, plain or
 * gzipped.
 *
 * Reads: kernels, copies, sets; runtime and driver calls; NVTX ranges of both sorts (push/pop, start/end), whose text
 * stands in the row or in StringIds; the GPUs. The ranges that PyTorch's emit_nvtx writes ("aten::mm, op_id = 7") are
 * its ops: they become ops, with the sizes where it wrote them, and launches are linked to the innermost around
 * their call; what a graph launches, to the op around the call that made its node, where the export says that of a single
 * process (CUDA_GRAPH_NODE_EVENTS). Every table and column is asked for before it is used: versions differ, and a table is there only when
 * there was such data. All columns but times, names, device and stream may be missing.
 * A correlation id counts within one process only, so calls and launches are joined by process and id.
 * The file is opened read-only as one that does not change, so nothing appears beside it; a gzipped one is unpacked
 * into a temporary file. Other tables (environment, processes, users, paths) are never read.
 * Leaves out: synchronisation records (the calls say the same), marks, ranges that never end, CPU samples.
 * Ranges select by time over all processes of a file (tracedb.h): with several, those of the others that overlap too.
 * Refused with a reason: no SQLite, no such export, no GPU activity, whole graphs in place of kernels, damage, times
 * that are no integers, run backwards or overflow, a name over 1 MiB. */
#ifndef NPUSIM_TRACES_READ_NSYS_H
#define NPUSIM_TRACES_READ_NSYS_H

#include "traces/db/tracedb.h"
#include "traces/text/input.h"

/* 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int nsys_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                struct trace_import_stats *st, struct err *e);
/* The first bytes of any SQLite database. */
bool nsys_is_bytes(const void *p, size_t n);

#endif
