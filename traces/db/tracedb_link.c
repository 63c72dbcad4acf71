/* tracedb_link.c - after everything of a file is stored: which op is inside which, which call launched what and
 * whether the host waited for it, which op a launch is of, and what lies in which range.
 *
 * A profiler's id counts where an op of that id is around the launch's call, on its thread and in time: Kineto of 2022
 * and 2023 wrote the correlation id there, which is some other op's number (pytorch/kineto, pull requests 846 and
 * 1001). Where the id does not count or there is none, the op is the innermost one around the call, which is what the
 * profiler's id means when it is right. A launch without a recorded call cannot be tried; its id counts unless another
 * id of the file was refuted. What a graph launches is of the op around the call that made its node, where the profiler
 * noted that, else of the op around the graph's launch.
 *
 * Sorted cursors and indexed joins: memory stays bounded by SQLite's cache and the depth of nesting. */
#include "traces/db/tracedb_int.h"

#include <string.h>

/* --- op parents ------------------------------------------------------------------------------------------------ */

/* Only when the file had some thread's ops out of order: then put_op could not tell. */
static int link_parents(struct tracedb *t, struct err *e)
{
	struct sqlite3_stmt *get = db_stmt(t->db,
	                                   "select id, start_ns, dur_ns, thread, parent from op where source = ?"
	                                   " order by thread, start_ns, dur_ns desc, id",
	                                   e);
	struct sqlite3_stmt *set = get ? db_stmt(t->db, "update op set parent = nullif(?, 0) where id = ?", e) : NULL;
	struct nest k = { .n = 0 };
	int rc;

	if (!set)
		return -1;
	db_bind_i64(get, 1, t->source);
	while ((rc = db_step(t->db, get, e)) == 1) {
		const int64_t id = db_col_i64(get, 0), start = db_col_i64(get, 1), thread = db_col_i64(get, 3);
		int64_t parent;

		if (thread != k.thread)
			nest_start(&k, thread);
		if ((parent = nest_add(&k, id, start, db_col_i64(get, 2))) != db_col_i64(get, 4)) {
			db_bind_i64(set, 1, parent);
			db_bind_i64(set, 2, id);
			if (db_run(t->db, set, e) < 0)
				return -1;
		}
	}
	return rc;
}

/* --- copies the host waited for -------------------------------------------------------------------------------- */

/* An asynchronous copy was waited for when the next thing its thread asks of the device is a synchronise. */
static int link_waits(struct tracedb *t, struct err *e)
{
	struct sqlite3_stmt *get = db_stmt(t->db,
	                                   "select id, thread, kind from call where source = ? and kind <> 0"
	                                   " order by thread, start_ns, id",
	                                   e);
	struct sqlite3_stmt *set = get ? db_stmt(t->db, "update call set waited = 1 where id = ?", e) : NULL;
	int64_t copy = 0, thread = 0;
	int rc;

	if (!set)
		return -1;
	db_bind_i64(get, 1, t->source);
	while ((rc = db_step(t->db, get, e)) == 1) {
		int64_t kind = db_col_i64(get, 2);

		if (kind == CALL_SYNC && copy != 0 && db_col_i64(get, 1) == thread) {
			db_bind_i64(set, 1, copy);
			if ((rc = db_run(t->db, set, e)) < 0)
				return -1;
		}
		copy = kind == CALL_COPY_ASYNC ? db_col_i64(get, 0) : 0;
		thread = db_col_i64(get, 1);
	}
	return rc;
}

/* --- launches -------------------------------------------------------------------------------------------------- */

/* An id that comes twice (a wrapped counter, two processes in one file) means the last before the launch; where the
 * device's clock runs ahead of the host's that may be none, and then the first. */
#define LAST_BEFORE(table, join, value, when) \
	"coalesce((select x.id from " table " x where x.source = ?1 and x." join " = " value \
	" and x.start_ns <= " when " order by x.start_ns desc, x.id desc limit 1)," \
	" (select x.id from " table " x where x.source = ?1 and x." join " = " value \
	" order by x.start_ns, x.id limit 1))"

/* Of the id's ops the last that is around the call; where there are such ops elsewhere only, minus one of them. */
#define AROUND_CALL \
	"coalesce((select x.id from op x where x.source = ?1 and x.external = n.external and x.thread = c.thread" \
	" and x.start_ns <= c.start_ns and x.start_ns + x.dur_ns >= c.start_ns order by x.start_ns desc, x.id desc" \
	" limit 1), (select -x.id from op x where x.source = ?1 and x.external = n.external limit 1))"

/* In order of start, by sorting no more than that. An id that could not be tried stands as link 3 until it is settled. */
static const char move_launches[] =
	"insert into launch select null, ?1, n.kind, n.name, n.start_ns, n.dur_ns, n.correlation, n.device, n.context,"
	" n.stream, n.grid_x, n.grid_y, n.grid_z, n.block_x, n.block_y, n.block_z, n.cluster_x, n.cluster_y,"
	" n.cluster_z, n.registers, n.smem_static, n.smem_dynamic, n.local, n.bytes, n.dir,"
	" n.blocking or (n.kind = 1 and n.dir in (1, 2) and c.id is not null and (c.waited or c.kind = 3)), c.id,"
	" case when n.external = 0 then null when c.id is not null then " AROUND_CALL " else " LAST_BEFORE(
		"op", "external", "n.external",
		"n.start_ns") " end, n.graph, n.graph_node, coalesce(c.start_ns, n.start_ns),"
			      " case when n.external = 0 then 0 when c.id is null then 3 else 1 end"
			      " from (select seq from new_launch order by start_ns, seq limit -1) o cross join new_launch n on n.seq = o.seq"
			      " left join call c on n.correlation <> 0 and c.id = " LAST_BEFORE(
				      "call", "correlation", "n.correlation", "n.start_ns");

/* One call launches a whole graph: where the profiler says no more, that call names the graph. */
static const char name_graphs[] =
	"update launch set graph = g.correlation, graph_node = g.place from (select l.id, l.correlation, row_number()"
	" over (partition by l.call order by l.id) as place from call c join launch l on l.call = c.id"
	" where c.source = ?1 and l.source = ?1 and l.graph = 0"
	" and c.name in (select id from name where text like '%GraphLaunch%')) g where launch.id = g.id";

static int run_for_source(struct tracedb *t, const char *sql, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db, sql, e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, t->source);
	return db_run(t->db, s, e);
}

/* --- ops of launches --------------------------------------------------------------------------------------------- */

struct links {
	int64_t linked, refuted, untried, dangling, loose; /* loose: has a call and no op */
};

/* The usual file: every id is right. */
static int count_right(struct tracedb *t, int64_t *n, struct err *e)
{
	struct sqlite3_stmt *s =
		db_stmt(t->db, "select count(*) from launch where source = ? and op > 0 and link = 1", e);

	if (s)
		db_bind_i64(s, 1, t->source);
	return db_number(t->db, s, n, e);
}

static int count_links(struct tracedb *t, struct links *n, struct err *e)
{
	static const char sql[] = "select count(iif(op > 0, 1, null)), count(iif(op < 0, 1, null)),"
				  " count(iif(op > 0 and link = 3, 1, null)),"
				  " count(iif(op is null and link <> 0, 1, null)),"
				  " count(iif(coalesce(op, -1) < 0 and call is not null, 1, null))"
				  " from launch where source = ?";
	struct sqlite3_stmt *s = db_stmt(t->db, sql, e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, t->source);
	if (db_step(t->db, s, e) < 0)
		return -1;
	*n = (struct links){ db_col_i64(s, 0), db_col_i64(s, 1), db_col_i64(s, 2), db_col_i64(s, 3), db_col_i64(s, 4) };
	return db_run(t->db, s, e);
}

/* What was refuted is no link, and then neither is what could not be tried. */
static int tracedb_link_settle(struct tracedb *t, struct links *n, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "update launch set op = iif(op < 0 or (link = 3 and ?2), null, op),"
	                                 " link = not (op is null or op < 0 or (link = 3 and ?2)) where source = ?1"
	                                 " and (op < 0 or link = 3 or (op is null and link <> 0))",
	                                 e);

	if (!s)
		return -1;
	if (n->refuted)
		n->linked -= n->untried;
	db_bind_i64(s, 1, t->source);
	db_bind_i64(s, 2, n->refuted > 0);
	return db_run(t->db, s, e);
}

/* Opens the ops of `thread` up to `at`. The cursor stands on the next op; *more: there is one. */
static int open_ops(struct tracedb *t, struct sqlite3_stmt *ops, struct nest *k, int64_t thread, int64_t at, int *more,
                    struct err *e)
{
	while (*more == 1) {
		const int64_t on = db_col_i64(ops, 3), start = db_col_i64(ops, 1);

		if (on > thread || (on == thread && start > at))
			return 0;
		if (on == thread)
			nest_add(k, db_col_i64(ops, 0), start, db_col_i64(ops, 2));
		if ((*more = db_step(t->db, ops, e)) < 0)
			return -1;
	}
	return 0;
}

static int nest_launches(struct tracedb *t, struct sqlite3_stmt *get, struct sqlite3_stmt *ops,
                         struct sqlite3_stmt *set, struct err *e)
{
	struct nest k = { .n = 0 };
	int rc, more;

	if ((more = db_step(t->db, ops, e)) < 0)
		return -1;
	nest_start(&k, INT64_MIN);
	while ((rc = db_step(t->db, get, e)) == 1) {
		const int64_t thread = db_col_i64(get, 1), at = db_col_i64(get, 2);
		int64_t op;

		if (thread != k.thread)
			nest_start(&k, thread);
		if (open_ops(t, ops, &k, thread, at, &more, e) < 0)
			return -1;
		if (!(op = nest_at(&k, at)))
			continue;
		db_bind_i64(set, 1, op);
		db_bind_i64(set, 2, db_col_i64(get, 0));
		if (db_run(t->db, set, e) < 0)
			return -1;
		t->st.nested++;
	}
	return rc;
}

static const char ops_in_order[] = "select id, start_ns, dur_ns, thread from op where source = ?"
				   " order by thread, start_ns, dur_ns desc, id";

/* `moments`: launches that have no op, with the thread and the time at which an op was around them. */
static int link_by(struct tracedb *t, const char *moments, const char *update, struct err *e)
{
	struct sqlite3_stmt *get = db_stmt(t->db, moments, e);
	struct sqlite3_stmt *ops = get ? db_stmt(t->db, ops_in_order, e) : NULL;
	struct sqlite3_stmt *set = ops ? db_stmt(t->db, update, e) : NULL;
	int rc;

	if (!set)
		return -1;
	db_bind_i64(get, 1, t->source);
	db_bind_i64(ops, 1, t->source);
	rc = nest_launches(t, get, ops, set, e);
	return db_stmt(t->db, ops_in_order, e) ? rc : -1; /* which leaves its cursor: ops may be left */
}

/* What a graph launches, by where its nodes were made; then all that is left, by its own call. */
static int link_nesting(struct tracedb *t, struct err *e)
{
	static const char nodes[] =
		"select l.id, n.thread, n.at_ns from launch l join new_node n on n.id = l.graph_node"
		" where l.source = ? and l.graph <> 0 and l.op is null order by n.thread, n.at_ns",
			  calls[] = "select l.id, c.thread, c.start_ns from launch l join call c on c.id = l.call"
				    " where l.source = ? and l.op is null order by c.thread, c.start_ns";

	if (link_by(t, nodes, "update launch set op = ?, link = 3 where id = ?", e) < 0)
		return -1;
	return link_by(t, calls, "update launch set op = ?, link = 2 where id = ?", e);
}

static int link_ops(struct tracedb *t, struct err *e)
{
	struct links n = { 0 };

	if (!t->st.ops && !t->ids)
		return 0;
	if (count_right(t, &n.linked, e) < 0)
		return -1;
	if (n.linked < t->st.kernels + t->st.copies + t->st.sets) {
		if (count_links(t, &n, e) < 0)
			return -1;
		if ((n.refuted || n.untried || n.dangling) && tracedb_link_settle(t, &n, e) < 0)
			return -1;
		if (n.loose && t->st.ops && link_nesting(t, e) < 0)
			return -1;
	}
	t->st.refuted = n.refuted;
	t->st.linked = n.linked + t->st.nested;
	return 0;
}

/* --- launches of ranges ------------------------------------------------------------------------------------------ */

static int add_launches(struct tracedb *t, int64_t range, int64_t n, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db, "update range set launches = launches + ? where id = ?", e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, n);
	db_bind_i64(s, 2, range);
	return db_run(t->db, s, e);
}

/* Launches in [from, to), by the host's moments or by the device's. */
static int count_between(struct tracedb *t, bool on_device, int64_t from, int64_t to, int64_t *n, struct err *e)
{
	struct sqlite3_stmt *s =
		db_stmt(t->db,
	                on_device ? "select count(*) from launch where source = ? and start_ns >= ? and start_ns < ?"
	                          : "select count(*) from launch where source = ? and at_ns >= ? and at_ns < ?",
	                e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, t->source);
	db_bind_i64(s, 2, from);
	db_bind_i64(s, 3, to);
	return db_number(t->db, s, n, e);
}

/* Ranges may lie in one another by the thousand: each launch is counted once, between two neighbouring edges. A range
 * has what was counted up to its end less what was up to its start. */
static int count_ranges(struct tracedb *t, bool on_device, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select id, start_ns as at, -1 from range where source = ?1 and on_device = ?2"
	                                 " union all select id, start_ns + dur_ns, 1 from range where source = ?1"
	                                 " and on_device = ?2 order by at",
	                                 e);
	int64_t at = 0, n = 0, more;
	bool first = true;
	int rc;

	if (!s)
		return -1;
	db_bind_i64(s, 1, t->source);
	db_bind_i64(s, 2, on_device);
	while ((rc = db_step(t->db, s, e)) == 1) {
		const int64_t edge = db_col_i64(s, 1);

		more = 0;
		if (!first && edge > at && count_between(t, on_device, at, edge, &more, e) < 0)
			return -1;
		n += more;
		at = edge;
		first = false;
		if (n && add_launches(t, db_col_i64(s, 0), db_col_i64(s, 2) * n, e) < 0)
			return -1;
	}
	return rc;
}

#define KINDS_OF_DEVICE "select count(*) from (select 1 from device group by name, sm_major, sm_minor)"

/* Times of two sorts of device add up to nothing, and ops are laid out by one device. Those that ran nothing, such as a
 * second GPU for the screen, do not count; nor does what a profiler does not say. */
static int one_kind_of_device(struct tracedb *t, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select d.name, d.sm_major * 10 + d.sm_minor, f.file from device d"
	                                 " join source f on f.id = d.source where exists (select 1 from launch l"
	                                 " where l.source = d.source and l.device = d.id)"
	                                 " order by d.source, d.id",
	                                 e);
	static const char unnamed[] = "GPU of compute capability "; /* what Nsight Compute's tables say of one */
	struct str name = STR_INIT, file = STR_INIT, shown = STR_INIT;
	int64_t compute = 0, kinds;
	int rc;

	if (!s || db_number(t->db, db_stmt(t->db, KINDS_OF_DEVICE, e), &kinds, e) < 0)
		return -1;
	rc = kinds > 1;
	while (rc > 0 && (rc = db_step(t->db, s, e)) == 1) {
		const char *stored = db_col_text(s, 0),
			   *other = strncmp(stored, unnamed, strlen(unnamed)) == 0 ? "" : stored;
		const int64_t c = db_col_i64(s, 1);

		if ((*other && name.len && strcmp(other, str_c(&name)) != 0) || (c && compute && c != compute)) {
			rc = err_set(
				e, ERR_IO,
				"two kinds of device: '%s' ran on '%s' (compute capability %lld.%lld) and '%s' on '%s'"
				" (%lld.%lld); a trace database is of one kind",
				str_c(&file), str_c(&shown), (long long)compute / 10, (long long)compute % 10,
				db_col_text(s, 2), stored, (long long)c / 10, (long long)c % 10);
			break;
		}
		if (*other && !name.len) {
			str_add(&name, other);
			str_clear(&file);
			str_clear(&shown);
		}
		if (!file.len) {
			str_add(&file, db_col_text(s, 2));
			str_add(&shown, stored);
		}
		compute = compute ? compute : c;
	}
	if (rc == 0 && (name.failed || file.failed || shown.failed))
		rc = err_nomem(e, NULL);
	str_free(&name);
	str_free(&file);
	str_free(&shown);
	return rc;
}

int tracedb_link(struct tracedb *t, struct err *e)
{
	int64_t before;

	if (db_number(t->db, db_stmt(t->db, "select coalesce(max(id), 0) from launch", e), &before, e) < 0)
		return -1;
	if ((t->unsorted && link_parents(t, e) < 0) || link_waits(t, e) < 0 ||
	    run_for_source(t, move_launches, e) < 0 || tracedb_stat_link(t, before, e) < 0 ||
	    (t->graphs && run_for_source(t, name_graphs, e) < 0) || count_ranges(t, false, e) < 0 ||
	    count_ranges(t, true, e) < 0)
		return -1;
	return one_kind_of_device(t, e) < 0 ? -1 : link_ops(t, e);
}
