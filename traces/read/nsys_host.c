/* nsys_host.c - what the host did: two cursors in order of thread and time, merged, so that the NVTX ops open around
 * a call are known when it comes, with one stack for all threads. */
#include "traces/read/nsys_int.h"

#include <limits.h>
#include <string.h>

#include "traces/db/nest.h"
#include "traces/read/nvtx_op.h"

#define RUNTIME "CUPTI_ACTIVITY_KIND_RUNTIME"
#define NVTX    "NVTX_EVENTS"

struct host {
	struct nsys *n;
	struct nsys_rows calls, ranges;
	int has_call, has_range; /* the cursor stands on a row */
	int64_t thread;
	uint32_t depth;
	struct open {
		int64_t end, external;
	} open[NEST_MAX];
	struct nvtx_op op;
};

/* Ops nest as their ranges do; those deeper than NEST_MAX link nothing. */
static int put_op(struct host *h, const struct trace_range *r, struct err *e)
{
	h->n->n_ops++;
	if (h->depth < NEST_MAX)
		h->open[h->depth++] = (struct open){ r->start_ns + r->dur_ns, h->n->n_ops };
	return nvtx_put_op(&h->op, h->n->db, r, h->n->n_ops, e);
}

/* --- rows ------------------------------------------------------------------------------------------------------ */

enum { R_START, R_END, R_TYPE, R_TEXT, R_TEXT_ID, R_TID };

/* Of types 59 and 70 (push and pop) and 60 (start and end), that do end. */
static int take_range(struct host *h, struct err *e)
{
	const struct nsys_rows *r = &h->ranges;
	const char *text = nsys_text(r, nsys_null(r, R_TEXT) ? R_TEXT_ID : R_TEXT, e);
	struct trace_range x = { .name = text && *text ? text : "(unnamed)", .thread = nsys_any(r, R_TID) };

	if (!text || nsys_span(r, &x.start_ns, &x.dur_ns, e) < 0)
		return -1;
	if (nsys_any(r, R_TYPE) != 60 && nvtx_is_op(text))
		return put_op(h, &x, e);
	return tracedb_put_range(h->n->db, &x, false, e);
}

static int link_call(struct host *h, int64_t correlation, int64_t start, struct err *e)
{
	while (h->depth > 0 && h->open[h->depth - 1].end < start)
		h->depth--;
	if (h->depth == 0 || correlation == 0)
		return 0;
	return tracedb_put_link(h->n->db, correlation, h->open[h->depth - 1].external, e);
}

enum { C_START, C_END, C_NAME, C_TID, C_CORRELATION };

static int take_call(struct host *h, struct err *e)
{
	const struct nsys_rows *r = &h->calls;
	const char *name = nsys_text(r, C_NAME, e);
	struct trace_call c = { .name = name && *name ? name : "(unnamed)", .thread = nsys_any(r, C_TID) };

	if (!name || nsys_span(r, &c.start_ns, &c.dur_ns, e) < 0 ||
	    nsys_correlation(h->n, NSYS_PROCESS(c.thread), nsys_any(r, C_CORRELATION), &c.correlation, e) < 0 ||
	    link_call(h, c.correlation, c.start_ns, e) < 0)
		return -1;
	return tracedb_put_call(h->n->db, &c, e);
}

/* --- both ------------------------------------------------------------------------------------------------------ */

static int begin(struct host *h, struct err *e)
{
	static const struct nsys_col calls[] = {
		[C_START] = { "start", NSYS_NEEDED },
		[C_END] = { "end", NSYS_NEEDED },
		[C_NAME] = { "nameId", NSYS_TEXT },
		[C_TID] = { "globalTid", NSYS_PLAIN },
		[C_CORRELATION] = { "correlationId", NSYS_PLAIN },
	};
	static const struct nsys_col ranges[] = {
		[R_START] = { "start", NSYS_NEEDED },    [R_END] = { "end", NSYS_NEEDED },
		[R_TYPE] = { "eventType", NSYS_NEEDED }, [R_TEXT] = { "text", NSYS_PLAIN },
		[R_TEXT_ID] = { "textId", NSYS_TEXT },   [R_TID] = { "globalTid", NSYS_PLAIN },
	};
	const int has_calls = nsys_has_table(h->n, RUNTIME, e), has_nvtx = nsys_has_table(h->n, NVTX, e);
	const struct nsys_query of_calls = { RUNTIME, "a runtime call", calls, sizeof calls / sizeof *calls,
		                             has_nvtx ? "order by 4, 1, 2 desc" : NULL };
	const struct nsys_query of_ranges = {
		NVTX, "an NVTX range", ranges, sizeof ranges / sizeof *ranges,
		"where eventType in (59, 60, 70) and \"end\" is not null order by 6, 1, 2 desc"
	};

	if (has_calls < 0 || has_nvtx < 0)
		return -1;
	if ((has_calls && nsys_rows(h->n, &h->calls, &of_calls, e) < 0) ||
	    (has_nvtx && nsys_rows(h->n, &h->ranges, &of_ranges, e) < 0))
		return -1;
	h->has_call = nsys_next(&h->calls, e);
	h->has_range = h->has_call < 0 ? -1 : nsys_next(&h->ranges, e);
	return h->has_range < 0 ? -1 : 0;
}

/* A range that starts with a call goes first: it is around it. */
static bool range_is_next(const struct host *h)
{
	int64_t call, range;

	if (!h->has_call || !h->has_range)
		return h->has_range;
	call = nsys_any(&h->calls, C_TID);
	range = nsys_any(&h->ranges, R_TID);
	return range != call ? range < call : nsys_any(&h->ranges, R_START) <= nsys_any(&h->calls, C_START);
}

static int merge(struct host *h, struct err *e)
{
	while (h->has_call || h->has_range) {
		const bool range = range_is_next(h);
		const int64_t thread = range ? nsys_any(&h->ranges, R_TID) : nsys_any(&h->calls, C_TID);
		int *has = range ? &h->has_range : &h->has_call;

		if (thread != h->thread)
			h->depth = 0;
		h->thread = thread;
		/* Ops that are over make room, so that those around stay. */
		while (range && h->depth > 0 && h->open[h->depth - 1].end < nsys_any(&h->ranges, R_START))
			h->depth--;
		if ((range ? take_range(h, e) : take_call(h, e)) < 0)
			return -1;
		if ((*has = nsys_next(range ? &h->ranges : &h->calls, e)) < 0)
			return -1;
	}
	return 0;
}

int nsys_host(struct nsys *n, struct err *e)
{
	struct host h = { .n = n, .thread = INT64_MIN, .op = { .name = STR_INIT } };
	int rc;

	h.calls.n = h.ranges.n = n;
	rc = begin(&h, e) < 0 || merge(&h, e) < 0 ? -1 : 0;
	nsys_rows_end(&h.calls);
	nsys_rows_end(&h.ranges);
	nvtx_op_free(&h.op);
	return rc;
}
