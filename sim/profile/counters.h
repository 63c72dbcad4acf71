/* counters.h - what Nsight Compute counted, joined to the launches of a trace.
 *
 * A metric has several names: that of the raw page, and those of the details page's sections. A launch that was itself
 * profiled by Nsight Compute has its own counters. A launch of another file (Nsight Systems, PyTorch) gets those of a
 * profiled launch with the same name and geometry (grid, block): the k-th launch those of the k-th profiled one. Where
 * fewer were profiled than ran, one step of many say, the profiled ones are used again from the first.
 * Names are compared without namespaces, template arguments and parameters, as the tools write those differently. An
 * aggregated profile has no geometry: there names count with their template arguments, and the mean over the profiled
 * launches is taken. */
#ifndef NPUSIM_SIM_PROFILE_COUNTERS_H
#define NPUSIM_SIM_PROFILE_COUNTERS_H

#include "sim/base/arena.h"
#include "traces/db/tracedb.h"
#include "traces/metric.h"
#include "workloads/op.h"

#define COUNTER_ID(id, name) COUNTER_##id,
enum counter { METRIC_SHOWN(COUNTER_ID) METRIC_REST(COUNTER_ID) COUNTERS };
#undef COUNTER_ID
#define COUNTERS_SHOWN (COUNTER_MAX_BANDWIDTH_PCT + 1)

struct counted {
	double v[COUNTERS];
}; /* not a number: not counted */

struct counters; /* NULL in the calls below: nothing was counted */
/* NULL: error. Empty when the database has no counters. */
struct counters *counters_load(struct tracedb *db, struct err *e);
void counters_free(struct counters *c);
size_t counters_count(const struct counters *c);             /* profiled launches */
bool counters_own(const struct counters *c, int64_t launch); /* it was profiled itself */
bool counters_lend(const struct counters *c); /* there are kernels beside the profiled ones, which then are none */
/* NULL: nothing is known. In the order of the trace, as launches of one name are told apart by it. */
const struct counted *counters_next(struct counters *c, const struct trace_launch *l);
/* The mean over profiled launches of that name; false: none. */
bool counters_mean(const struct counters *c, const char *name, struct counted *out);
/* By op, in the stream's order: DRAM bytes that were counted for its launches, and the time of the launches that have them
 * in the trace. Arrays live in `a`. */
struct counted_ops {
	double *bytes;
	uint64_t *ns;
};
int counters_ops(struct counters *c, const struct trace *t, const struct op_stream *s, struct arena *a,
                 struct counted_ops *out, struct err *e);
const char *counter_name(enum counter k); /* "sm_throughput_pct": of traces/metric.h */
/* Bytes to and from DRAM, and operations with the pipe that does most of them; false: not counted. */
bool counted_bytes(const struct counted *x, double *bytes);
/* *bits: of the source type of the pipe that did most: 8, 16 and 32 tensor pipes, 33 the CUDA cores. */
bool counted_flops(const struct counted *x, double *flops, unsigned *bits);

#endif
