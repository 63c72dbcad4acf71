/* kineto_event.h - from the JSON's tokens to trace records: the callbacks that yajl is given.
 *
 * Invariants: I1 a callback returns 0 only with *e set; I2 nothing is kept from an event to the next but counters. */
#ifndef NPUSIM_TRACES_READ_KINETO_EVENT_H
#define NPUSIM_TRACES_READ_KINETO_EVENT_H

#include <yajl/yajl_parse.h>

#include "sim/base/str.h"
#include "traces/db/tracedb.h"
#include "traces/read/kineto_args.h"

#define KINETO_MAX_DEPTH 64
#define KINETO_MAX_EVENT (1u << 20)

/* What an event is, by its "cat". */
enum kineto_cat {
	KINETO_OTHER,
	KINETO_KERNEL,
	KINETO_MEMCPY,
	KINETO_MEMSET,
	KINETO_OP,
	KINETO_CALL,
	KINETO_RANGE,
	KINETO_GPU_RANGE,
	KINETO_PROFILER_RANGE /* counters of CUPTI's range profiler: no times of kernels */
};

struct kineto_event {
	enum kineto_cat cat;
	bool is_complete, skip; /* "ph" is "X"; nothing in it is of use */
	bool has_cat, has_name, has_ts, has_dur, has_device, has_stream;
	int64_t ts_ns, dur_ns, pid, tid, external, correlation, device, context, stream, registers, smem, bytes;
	int64_t graph, graph_node, sequence, grid[3], block[3], cluster[3];
	enum trace_copy_dir dir;
	/* of a call into a library of collectives: elements that it gives or takes, the more; chips; their format, "" where none is said */
	bool is_collective;
	int64_t nelems, group;
	char dtype[32];
};

struct kineto_parser {
	struct tracedb *db;
	struct err *e;
	yajl_handle yajl;
	uint64_t chunk_at, event_at; /* bytes before the current chunk, and before the event */
	int depth, event_depth;      /* of an event's own map; 0 outside the events */
	int field, arg, dim;         /* the key last seen in an event, in its args; index in grid, block */
	int array, opaque;           /* brackets open within an arg; within a map inside one */
	bool in_event, in_args, in_devices, saw_events, root_is_array, after_string;
	int top_key, device_key;
	uint64_t tokens;          /* callbacks so far */
	int64_t base_ns, unix_ns; /* the first time seen; what the file adds to all of them */
	bool has_base;
	struct kineto_event ev;
	struct str name; /* the event's */
	struct kargs args;
	struct trace_device dev;
	struct str dev_name;
	int64_t n_events, n_host, n_profiler; /* of any sort; with host records; with range-profiler counters */
};

extern const yajl_callbacks kineto_callbacks;

void kineto_parser_free(struct kineto_parser *p);

#endif
