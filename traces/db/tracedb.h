/* tracedb.h - the trace database: its schema, the writer importers use, and loading a selection.
 *
 * Tables: source, a file that was imported; device; name and args, texts stored once; op, what the framework did; call,
 * of runtime or driver; launch, a kernel, copy or set, with its op and call; range, an annotation; kernel_stat, kernels
 * known only as sums; metric, what a profiler counted of a launch.
 * One transaction an import: a failed import leaves no file where none was, and what was there untouched. Importing the
 * same file (by digest) into a database that holds it already is noticed: it says so and changes nothing. Ranges select by launch correlation (the runtime call starts inside the
 * annotation, on whichever thread: backward launches belong to their step), by time only for launches without a
 * recorded call. A database may hold several files, all of one kind of device (another one is refused when it comes); a
 * selection takes from all, on one time axis. */
#ifndef NPUSIM_TRACES_DB_TRACEDB_H
#define NPUSIM_TRACES_DB_TRACEDB_H

#include "sim/base/arena.h"
#include "sim/base/db_mode.h"
#include "sim/base/err.h"
#include "traces/trace.h"

#define TRACEDB_APP_ID 0x6e747263u /* "ntrc" */

struct tracedb;

struct tracedb *tracedb_open(const char *path, enum db_mode mode, struct err *e);
/* Removes the file again when this handle created it and nothing was imported. NULL is fine. */
void tracedb_free(struct tracedb *t);
/* How a writer ends well: as tracedb_free, and `rc`, but -1 where it was 0 and what is stored is not in the file itself
 * yet. */
int tracedb_close(struct tracedb *t, int rc, struct err *e);

/* --- writing: begin, put in any order, finish (links ops, parents and launches, counts) or abort --------------- */
struct trace_import {
	const char *file, *tool, *digest;
	int64_t base_ns, wall_ns; /* wall_ns -1: unknown */
	bool profiled;
	const char *command; /* what was traced; NULL: unknown */
};
/* A call of the runtime or the driver on the host; correlation 0: it launched nothing that is known. */
struct trace_call {
	const char *name;
	int64_t start_ns, dur_ns, thread, correlation;
};
struct trace_import_stats {
	int64_t kernels, copies, sets, ops, ranges, calls, syncs; /* ranges: on the host; syncs are among the calls */
	int64_t linked, nested;                                   /* launches with a framework op; those by nesting */
	int64_t refuted;           /* launches whose id names an op that is not around their call */
	int64_t dropped_args;      /* beyond TRACE_MAX_ARGS or TRACE_MAX_DIMS */
	int64_t stats;             /* names known only as statistics; their instances are among the kernels */
	int64_t metrics;           /* counters of single kernels */
	int64_t untimed;           /* kernels without a duration, stored with 0: their counters are the point */
	int64_t unlisted;          /* kernels without an op, of a format whose kernels are rows of a table of ops */
	int64_t events;            /* of any sort, in the file */
	int64_t cut, lost, killed; /* of our own capture: bytes cut off at the end, records that the driver had no
	                                      * room or no time for, 1 when the program did not end by itself */
	bool command, texts; /* it has a command line, concrete inputs of ops that are text: stored, or left out where
	                                      * the handle redacts */
	int64_t context;     /* of a replay: tokens attended over; 0: not a replay, or none is assumed */
	uint64_t json_bytes;
};

/* Imports from here on leave out what may be private: the command line, and concrete inputs of ops but for numbers, lists of
 * them, True, False and None, which shapes need. Names of kernels, ops and annotations stay. */
void tracedb_redact(struct tracedb *t);
bool tracedb_redacts(const struct tracedb *t);
/* 0 begun; 1: this digest is in the database already (nothing was begun); -1 error (nothing was begun). */
int tracedb_begin(struct tracedb *t, const struct trace_import *src, struct err *e);
int tracedb_put_device(struct tracedb *t, const struct trace_device *d, struct err *e);
/* `external` is the profiler's id that joins launch and framework op; 0 none. The launch's id, op, link, host times and
 * place in a graph are worked out by finish, and so is `blocking`, which an importer may also set. */
int tracedb_put_launch(struct tracedb *t, const struct trace_launch *l, int64_t external, struct err *e);
/* The op's id, parent and up are ignored. */
int tracedb_put_op(struct tracedb *t, const struct trace_op *o, int64_t external, struct err *e);
int tracedb_put_range(struct tracedb *t, const struct trace_range *r, bool on_device, struct err *e);
int tracedb_put_call(struct tracedb *t, const struct trace_call *c, struct err *e);
/* A kernel of an aggregated profile. */
int tracedb_put_stat(struct tracedb *t, const struct trace_stat *s, struct err *e);
/* A counter of the launch put last; of a name that comes twice for one launch the first stands. */
int tracedb_put_metric(struct tracedb *t, const char *name, double value, const char *unit, struct err *e);
/* A range of the host whose begin and end come apart, in any order, under one id. `name` and `domain` are the importer's own
 * numbers. What was begun and ended is handed back thread by thread in order of time, of two that start together the longer
 * first. `each` returns 0, or -1 to stop. */
struct tracedb_mark {
	int64_t thread, start_ns, end_ns, name, domain;
};
typedef int tracedb_mark_fn(void *arg, const struct tracedb_mark *m, struct err *e);
int tracedb_put_begin(struct tracedb *t, int64_t id, const struct tracedb_mark *m, struct err *e);
int tracedb_put_end(struct tracedb *t, int64_t id, int64_t end_ns, struct err *e);
int tracedb_each_mark(struct tracedb *t, tracedb_mark_fn *each, void *arg, struct err *e);
/* A node of a graph: where the call that made it stood. `from`: the node that it is a copy of, which was put before; 0 none.
 * What a node launches later is of the op that was around that call. */
int tracedb_put_node(struct tracedb *t, int64_t id, int64_t from, int64_t at_ns, int64_t thread, struct err *e);
/* Notes that the launch put last has no duration in its file. */
void tracedb_untimed(struct tracedb *t);
/* An op's argument that did not fit. */
void tracedb_drop_arg(struct tracedb *t);
/* What was put so far, for an importer that wants to refuse an empty trace before finish. */
void tracedb_stats(const struct tracedb *t, struct trace_import_stats *st);
/* `src` may have learnt its base and wall since begin. After an error: abort. `st` may be NULL. */
int tracedb_finish(struct tracedb *t, const struct trace_import *src, struct trace_import_stats *st, struct err *e);
void tracedb_abort(struct tracedb *t);

/* True for the runtime and driver calls in which the host waits for a stream, an event, a context or a device. */
bool tracedb_is_sync(const char *call);
/* Records what each annotation of this name takes without the profiler; a load of the range has their sum as its
 * wall_ns, a load of everything what the files were imported with. Of one file: the one imported last where it is `fresh`,
 * else the one of that name, or the only one there is; where there is none such, of all. */
int tracedb_set_wall(struct tracedb *t, const char *file, bool fresh, const char *range, int64_t wall_ns,
                     struct err *e);
/* The same within every import that follows: one of a file without such an annotation fails, and stores nothing. `range`
 * must live as long as the handle. */
void tracedb_expect_wall(struct tracedb *t, const char *range, int64_t wall_ns);
/* The same for each step (tracedb_steps) of that file, whose wall_ns is their sum then. 1: there is none. */
int tracedb_set_step_walls(struct tracedb *t, const char *file, bool fresh, int64_t wall_ns, struct err *e);

/* --- reading --------------------------------------------------------------------------------------------------- */
/* Loads the launches of one range (every annotation of that name; NULL: all) with their ops and the ops' ancestors
 * into `a`. An unknown range names the nearest; a selection without launches is an error. Times count from base_ns,
 * the earliest moment stored, so none is negative. In a database that holds profiles of Nsight Compute beside others, the
 * launches of the others. */
int tracedb_load(struct tracedb *t, const char *range, struct arena *a, struct trace *out, struct err *e);
/* The same, and a database that has statistics alone is no error: n_launches is 0 then. For what only adds times up. */
int tracedb_load_any(struct tracedb *t, const char *range, struct arena *a, struct trace *out, struct err *e);
/* As tracedb_load_any with the launches summed into groups, which takes memory for the groups alone; without launches,
 * host synchronisations and span. */
int tracedb_load_groups(struct tracedb *t, const char *range, struct arena *a, struct trace *out, struct err *e);
/* As tracedb_load_any, but the launches and synchronisations come in pieces of some `n` launches, file by file in order of the
 * host's calls, and `out` has neither. A piece is all of the selection where that has no more, and no framework op's
 * launches are in two, unless it has more than `n`. It lives as long as the call it is given to; statistics are not in it. */
typedef int tracedb_piece(void *arg, const struct trace *piece, struct err *e);
struct tracedb_pieces {
	size_t n;
	tracedb_piece *each;
	void *arg;
};
int tracedb_load_pieces(struct tracedb *t, const char *range, const struct tracedb_pieces *p, struct arena *a,
                        struct trace *out, struct err *e);
/* Steps: the host annotations that share the commonest name up to a trailing number ("decode_step_0..2" is 3;
 * "ProfilerStep#4"), not counting those inside another numbered one on their thread (a step's layers are no
 * steps); 1 when there are launches but no such annotation, 0 without launches. */
int tracedb_steps(struct tracedb *t, int64_t *steps, struct err *e);
/* The launches that have metrics, in order of their ids; a metric's values by launch; whether there are kernels without
 * metrics, or some known as statistics alone. What is given lasts as long as the call; it returns 0, or -1 to stop. */
typedef int tracedb_counted_fn(void *arg, const struct trace_launch *l, struct err *e); /* id, name, grid, block */
int tracedb_each_counted(struct tracedb *t, tracedb_counted_fn *each, void *arg, struct err *e);
typedef int tracedb_value_fn(void *arg, int64_t launch, double value, struct err *e);
int tracedb_each_value(struct tracedb *t, const char *metric, tracedb_value_fn *each, void *arg, struct err *e);
/* The same of all metrics whose name begins so, launch by launch; the launch has its id, name and duration. */
typedef int tracedb_metric_fn(void *arg, const struct trace_launch *l, const char *metric, double value, struct err *e);
int tracedb_each_metric(struct tracedb *t, const char *begin, tracedb_metric_fn *each, void *arg, struct err *e);
int tracedb_any_uncounted(struct tracedb *t, bool *any, struct err *e);

#endif
