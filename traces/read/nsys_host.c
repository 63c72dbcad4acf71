/* nsys_host.c - what the host did: runtime calls, and NVTX ranges thread by thread in order of time, as ops nest; where the
 * nodes of graphs were made. */
#include "traces/read/nsys_int.h"

#include "traces/read/nvtx_op.h"

#define RUNTIME "CUPTI_ACTIVITY_KIND_RUNTIME"
#define NVTX    "NVTX_EVENTS"
#define NODES   "CUDA_GRAPH_NODE_EVENTS"

/* --- ranges ---------------------------------------------------------------------------------------------------- */

enum { R_START, R_END, R_TYPE, R_TEXT, R_TEXT_ID, R_TID, R_COLUMNS };

/* Of types 59 and 70 (push and pop) and 60 (start and end), that do end. */
static int put_range(struct nsys *n, const struct nsys_rows *r, struct nvtx_op *op, struct err *e)
{
	const char *text = nsys_text(r, nsys_null(r, R_TEXT) ? R_TEXT_ID : R_TEXT, e);
	struct trace_range x = { .name = text && *text ? text : "(unnamed)", .thread = nsys_any(r, R_TID) };

	if (!text || nsys_span(r, &x.start_ns, &x.dur_ns, e) < 0)
		return -1;
	if (nsys_any(r, R_TYPE) != 60 && nvtx_is_op(text))
		return nvtx_put_op(op, n->db, &x, e);
	return tracedb_put_range(n->db, &x, false, e);
}

static int read_ranges(struct nsys *n, struct err *e)
{
	static const struct nsys_col cols[R_COLUMNS] = {
		[R_START] = { "start", NSYS_NEEDED },    [R_END] = { "end", NSYS_NEEDED },
		[R_TYPE] = { "eventType", NSYS_NEEDED }, [R_TEXT] = { "text", NSYS_PLAIN },
		[R_TEXT_ID] = { "textId", NSYS_TEXT },   [R_TID] = { "globalTid", NSYS_PLAIN },
	};
	static const struct nsys_query query = {
		NVTX, "an NVTX range", cols, R_COLUMNS,
		"where eventType in (59, 60, 70) and \"end\" is not null order by 6, 1, 2 desc"
	};
	struct nvtx_op op = { .name = STR_INIT };
	struct nsys_rows r;
	int rc = nsys_has_table(n, NVTX, e);

	if (rc <= 0)
		return rc;
	if (nsys_rows(n, &r, &query, e) < 0)
		return -1;
	while ((rc = nsys_next(&r, e)) == 1)
		if (put_range(n, &r, &op, e) < 0) {
			rc = -1;
			break;
		}
	nsys_rows_end(&r);
	nvtx_op_free(&op);
	return rc;
}

/* --- calls ----------------------------------------------------------------------------------------------------- */

enum { C_START, C_END, C_NAME, C_TID, C_CORRELATION, C_COLUMNS };

static int put_call(struct nsys *n, const struct nsys_rows *r, struct err *e)
{
	const char *name = nsys_text(r, C_NAME, e);
	struct trace_call c = { .name = name && *name ? name : "(unnamed)", .thread = nsys_any(r, C_TID) };

	if (!name || nsys_span(r, &c.start_ns, &c.dur_ns, e) < 0 ||
	    nsys_correlation(n, NSYS_PROCESS(c.thread), nsys_any(r, C_CORRELATION), &c.correlation, e) < 0)
		return -1;
	return tracedb_put_call(n->db, &c, e);
}

static int read_calls(struct nsys *n, struct err *e)
{
	static const struct nsys_col cols[C_COLUMNS] = {
		[C_START] = { "start", NSYS_NEEDED },
		[C_END] = { "end", NSYS_NEEDED },
		[C_NAME] = { "nameId", NSYS_TEXT },
		[C_TID] = { "globalTid", NSYS_PLAIN },
		[C_CORRELATION] = { "correlationId", NSYS_PLAIN },
	};
	static const struct nsys_query query = { RUNTIME, "a runtime call", cols, C_COLUMNS, NULL };
	struct nsys_rows r;
	int rc = nsys_has_table(n, RUNTIME, e);

	if (rc <= 0)
		return rc;
	if (nsys_rows(n, &r, &query, e) < 0)
		return -1;
	while ((rc = nsys_next(&r, e)) == 1)
		if (put_call(n, &r, e) < 0) {
			rc = -1;
			break;
		}
	nsys_rows_end(&r);
	return rc;
}

/* --- nodes of graphs --------------------------------------------------------------------------------------------- */

enum { N_START, N_END, N_TID, N_NODE, N_FROM, N_COLUMNS };

static int put_nodes(struct nsys *n, const struct nsys_query *query, struct err *e)
{
	struct nsys_rows r;
	int rc;

	if (nsys_rows(n, &r, query, e) < 0)
		return -1;
	while ((rc = nsys_next(&r, e)) == 1) {
		int64_t start, dur, node, from;

		if (nsys_span(&r, &start, &dur, e) < 0 ||
		    nsys_get(&r, N_NODE, "graphNodeId", INT64_MAX, &node, e) < 0 ||
		    nsys_get(&r, N_FROM, "originalGraphNodeId", INT64_MAX, &from, e) < 0 ||
		    tracedb_put_node(n->db, node, from, start, nsys_any(&r, N_TID), e) < 0) {
			rc = -1;
			break;
		}
	}
	nsys_rows_end(&r);
	return rc;
}

/* A node's number counts within its process: of several processes none is taken. */
static int read_nodes(struct nsys *n, struct err *e)
{
	static const struct nsys_col cols[N_COLUMNS] = {
		[N_START] = { "start", NSYS_NEEDED },
		[N_END] = { "end", NSYS_NEEDED },
		[N_TID] = { "globalTid", NSYS_NEEDED },
		[N_NODE] = { "graphNodeId", NSYS_NEEDED },
		[N_FROM] = { "originalGraphNodeId", NSYS_PLAIN },
	};
	static const struct nsys_query query = { NODES, "a graph's node", cols, N_COLUMNS, "order by 1, 4" };
	int64_t processes = 0;
	bool got = false;
	int rc = nsys_has_table(n, NODES, e);

	if (rc == 1 && (rc = nsys_has_column(n, NODES, "globalTid", e)) == 1 &&
	    (rc = nsys_has_column(n, NODES, "graphNodeId", e)) == 1 &&
	    nsys_number(n, "select count(distinct globalTid & ~0xffffff) from " NODES, &processes, &got, e) < 0)
		rc = -1;
	return rc <= 0 || processes != 1 ? (rc < 0 ? -1 : 0) : put_nodes(n, &query, e);
}

int nsys_host(struct nsys *n, struct err *e)
{
	return read_ranges(n, e) < 0 || read_nodes(n, e) < 0 ? -1 : read_calls(n, e);
}
