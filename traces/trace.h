/* trace.h - what was captured on a GPU, as plain data (L2: no database, no profiler format in here).
 *
 * Times are integer nanoseconds from the trace's own origin (`base_ns` + start = absolute). A launch is anything the
 * device did: a kernel, a copy or a set. A framework op is what the framework said it was doing on the host. */
#ifndef NPUSIM_TRACES_TRACE_H
#define NPUSIM_TRACES_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_MAX_DIMS 8
#define TRACE_MAX_ARGS 16 /* tensors of one op, a list's members counted one by one; more are dropped and counted */

enum trace_launch_kind { TRACE_KERNEL, TRACE_MEMCPY, TRACE_MEMSET };
/* How a launch came to its framework op: by the profiler's id, which an op around the launch's call bore out, as the
 * innermost op around that call, or, of a graph, around the call that made its node. */
enum trace_link { TRACE_LINK_NONE, TRACE_LINK_ID, TRACE_LINK_NESTING, TRACE_LINK_NODE };
#define TRACE_LINKS 4
enum trace_copy_dir {
	TRACE_COPY_NONE,
	TRACE_COPY_HTOD,
	TRACE_COPY_DTOH,
	TRACE_COPY_DTOD,
	TRACE_COPY_HTOH,
	TRACE_COPY_PTOP
};

/* One argument of a framework op: a tensor (dtype and dims), a scalar (its text), or nothing. */
struct trace_arg {
	const char *dtype;  /* as the framework wrote it: "c10::BFloat16", "float", "Scalar", "" */
	const char *scalar; /* concrete value as text, "" when none */
	int32_t ndims;      /* -1: not a tensor */
	int32_t list;       /* place in a tensor list, which has one position; -1: in none */
	int32_t pos;        /* position of the argument in the op's call */
	int64_t dims[TRACE_MAX_DIMS], strides[TRACE_MAX_DIMS]; /* strides all 0 when the trace has none */
};

struct trace_op {
	int64_t id;                /* trace.db op.id */
	int64_t parent;            /* id of the enclosing op, -1 at the top */
	const struct trace_op *up; /* the enclosing op itself; NULL at the top */
	const char *name;          /* "aten::mm" */
	int64_t start_ns, dur_ns, thread;
	int64_t sequence; /* autograd's number, shared by an op and its backward; -1: none */
	uint64_t weights; /* ops of one number multiply by the same weights; 0: nobody says */
	uint32_t n_args;
	const struct trace_arg *args;
	const char
		*types; /* how the least sure of its arguments' types is known (sim/lower/lower.h); NULL: as recorded */
};

struct trace_launch {
	int64_t id; /* trace.db launch.id: within a file in order of device start */
	enum trace_launch_kind kind;
	const char *name;
	int64_t start_ns, dur_ns;
	int64_t correlation; /* 0: none */
	int64_t device, context, stream;
	uint32_t grid[3], block[3], cluster[3];    /* 0: unknown */
	uint32_t registers;                        /* a thread */
	uint64_t smem_static, smem_dynamic, local; /* bytes; Kineto gives one sum, kept in smem_dynamic */
	int64_t bytes;                             /* copies and sets; -1 when unknown */
	enum trace_copy_dir dir;
	bool blocking;                      /* the host waited for this copy (a synchronise follows at once) */
	int64_t host_start_ns, host_dur_ns; /* the runtime call that launched it; -1: none recorded */
	const struct trace_op *op;          /* innermost framework op that launched it; NULL: none */
	enum trace_link link;               /* how that is known */
	bool doubted;                       /* what it takes contradicts the sizes of its op: not to be modelled */
	int64_t graph, graph_node;          /* 0: not from a graph; where the profiler gives no graph id: the
	                                      * correlation of the graph's launch, and the place within it */
};

struct trace_range {
	const char *name;
	int64_t start_ns, dur_ns, thread;
	int64_t launches;
};

/* Launches together that a rule table cannot tell apart: one kind, name, direction, framework op and arguments. */
struct trace_group {
	struct trace_launch first;                   /* the first of them by id, which stands for all */
	uint64_t count, total_ns, longest_ns, bytes; /* bytes: of those that say how many */
};

/* What an aggregated profile says of all launches of one kernel: no order, no shapes; -1 where it says nothing. */
struct trace_stat {
	const char *name;
	int64_t instances, total_ns, min_ns, median_ns, max_ns, deviation_ns;
};

struct trace_device {
	int64_t id;
	const char *name;
	int32_t sm_major, sm_minor, sms;
	int64_t mem_bytes, smem_per_sm, regs_per_sm;
};

/* A loaded selection: everything lives in the arena it was loaded into. Launches are in order of start. */
struct trace {
	const char *path, *digest, *tool; /* digest: of the imported file */
	const char *command;              /* what was traced, of a replay what it assumes; "": unknown */
	int64_t base_ns, wall_ns;         /* wall of the selection from an unprofiled source; -1: unknown */
	const char *range;                /* NULL: the whole trace */
	size_t n_files;                   /* that it is of, on one time axis */
	const char *dtype;                /* number format of tensors of which nothing tells it; NULL: none */
	size_t n_launches, n_ranges, n_devices, n_syncs, n_stats;
	struct trace_launch *launches;
	struct trace_range *ranges; /* of the whole trace, host annotations, in order of start */
	struct trace_device *devices;
	struct trace_stat *stats; /* of the files that are aggregated profiles; none for a range */
	struct trace_group *groups;
	size_t n_groups, n_grouped; /* in place of launches, see tracedb_load_groups */
	int64_t *sync_ns;           /* host times of stream/device/event synchronise calls in the selection */
	int64_t steps;              /* see tracedb_steps */
	int64_t span_ns;            /* first start to last end of the selection, under the profiler */
};

#endif
