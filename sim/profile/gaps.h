/* gaps.h - when the device of a trace did nothing, and what it waited for.
 *
 * Busy is any time with a kernel, a copy or a set in flight on a device; a gap is the time between, and ends with a launch.
 * Each nanosecond of a gap has one cause, by when the host called for the launch that ends it:
 *   before the call    the host had not asked yet. Where the host had waited for the device since its call before, as much of
 *                      the gap is `copy` (for a copy's result) or `sync` (a synchronise) as it waited: so much earlier it would
 *                      have called without. The rest is `host`: launching is what is slow.
 *   from the call on   `launch`, where the call had not returned when the gap began: the way to an idle device. Where it had,
 *                      the launch was queued: `graph` between nodes of one graph, `stream` where what ended last was of the
 *                      same stream, `other_stream` where it was of another: an event, or a copy that it needs.
 *   unknown            the profile has no call of that launch.
 * Under a profiler calls take longer than without, and so do gaps of the host; kernels hardly do. A trace of several devices
 * has gaps of each, and sums of all. Of a range that was entered several times, what lies between two of them is no gap.
 * Leaves out: which event a stream waited for, and which of several host threads called. */
#ifndef NPUSIM_SIM_PROFILE_GAPS_H
#define NPUSIM_SIM_PROFILE_GAPS_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "traces/trace.h"

enum gap_cause {
	GAP_HOST,
	GAP_SYNC,
	GAP_COPY,
	GAP_LAUNCH,
	GAP_STREAM,
	GAP_OTHER_STREAM,
	GAP_GRAPH,
	GAP_UNKNOWN,
	GAP_CAUSES
};

struct gap {
	int64_t start_ns, ns, part_ns[GAP_CAUSES];
	enum gap_cause cause;                    /* of most of it */
	const struct trace_launch *before, *end; /* what ended last, and what ended the gap */
};
struct gap_stream {
	int64_t device, stream;
	uint64_t kernels, others; /* others: copies and sets */
	int64_t busy_ns;          /* with any of them in flight */
	int64_t alone_ns;         /* and nothing on other streams of the device */
};
struct gap_sum {
	uint64_t count; /* gaps with it as the cause of most */
	int64_t ns;     /* of all gaps */
};
#define GAP_BINS 9
struct gap_bin {
	int64_t from_ns, to_ns; /* to: INT64_MAX in the last */
	uint64_t count;
	int64_t ns;
};

struct gaps {
	uint64_t devices, kernels, others;
	int64_t span_ns;                  /* first start to last end, without what lies between a range's occurrences */
	int64_t kernel_ns, other_ns;      /* with a kernel in flight; with copies and sets alone */
	int64_t idle_ns, between_ns;      /* span is kernel, other and idle */
	int64_t overlap_ns;               /* of busy: with more than one stream */
	int64_t median_ns;                /* of the gaps; 0: there is none */
	uint64_t calls;                   /* launches with a call that is known */
	int64_t call_ns;                  /* of these calls together, a graph's counted once */
	int64_t lead_ns;                  /* median of calls: from the call to the start on the device */
	struct gap_sum cause[GAP_CAUSES]; /* parts sum to idle */
	struct gap_bin bin[GAP_BINS];
	struct gap *v;
	size_t n; /* by device, in order of time */
	struct gap_stream *streams;
	size_t n_streams; /* busiest first */
};

/* Arrays live in `a`; gaps point into the trace. A trace without launches, or whose launches have no times, has no gaps: an
 * error. */
int gaps_of(const struct trace *t, struct arena *a, struct gaps *out, struct err *e);
const char *gap_cause_name(enum gap_cause c);
const char *gap_cause_text(enum gap_cause c); /* what it means, in a few words */

#endif
