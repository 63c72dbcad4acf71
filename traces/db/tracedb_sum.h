/* tracedb_sum.h - what a trace database holds, summed up: its files, devices and ranges, and all of it together. For looking
 * at a trace; what works with one loads it (tracedb.h).
 *
 * Rows are given to a function one by one, with texts that last as long as its call; it returns 0, or -1 to stop. Kernels
 * are counted with those that are known as statistics alone. */
#ifndef NPUSIM_TRACES_DB_TRACEDB_SUM_H
#define NPUSIM_TRACES_DB_TRACEDB_SUM_H

#include "traces/db/tracedb.h"

struct tracedb_totals {
	int64_t steps; /* see tracedb_steps */
	int64_t kernels, copies, sets, syncs;
	int64_t kernel_ns, other_ns;
	int64_t aggregated; /* kernels known as statistics alone */
};
int tracedb_totals(struct tracedb *t, struct tracedb_totals *sum, struct err *e);

/* Files in the order in which they were imported. */
struct tracedb_file {
	const char *file, *tool, *digest;
	bool profiled;
	int64_t kernels, copies, sets, ops, syncs;
	int64_t wall_ns; /* -1: unknown */
};
typedef int tracedb_file_fn(void *arg, const struct tracedb_file *f, struct err *e);
int tracedb_each_file(struct tracedb *t, tracedb_file_fn *each, void *arg, struct err *e);

/* Devices by number, each once whatever the number of files. */
typedef int tracedb_device_fn(void *arg, const struct trace_device *d, struct err *e);
int tracedb_each_device(struct tracedb *t, tracedb_device_fn *each, void *arg, struct err *e);

/* The host's ranges, those of one name together, in order of their first. A range has what was launched in it. */
struct tracedb_ranges {
	const char *name;
	int64_t count, launches, kernels, kernel_ns, other_ns; /* other: copies and sets */
	int64_t span_ns;                                       /* under the profiler */
	int64_t wall_ns;                                       /* -1: not known of each of them */
};
typedef int tracedb_ranges_fn(void *arg, const struct tracedb_ranges *r, struct err *e);
int tracedb_each_range(struct tracedb *t, tracedb_ranges_fn *each, void *arg, struct err *e);
/* Names of ranges that begin so, `most` of them, in that order. */
typedef int tracedb_name_fn(void *arg, const char *name, struct err *e);
int tracedb_range_names(struct tracedb *t, const char *begin, int64_t most, tracedb_name_fn *each, void *arg,
                        struct err *e);

#endif
