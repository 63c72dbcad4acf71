/* tracedb_mark.c - what an importer needs again before its import ends: the op around a call, and ranges whose two ends come
 * apart. In tables of the database that is written, as there may be millions; they are empty between imports. */
#include "traces/db/tracedb_int.h"

#include <assert.h>

int tracedb_put_link(struct tracedb *t, int64_t correlation, int64_t external, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db, "insert or ignore into new_link values(?, ?)", e);

	assert(t->importing && correlation != 0);
	if (!s)
		return -1;
	t->links = true;
	db_bind_i64(s, 1, correlation);
	db_bind_i64(s, 2, external);
	return db_run(t->db, s, e);
}

int tracedb_find_link(struct tracedb *t, int64_t correlation, int64_t *external, struct err *e)
{
	struct sqlite3_stmt *s;

	*external = 0;
	if (!t->links || correlation == 0)
		return 0;
	if ((s = db_stmt(t->db, "select external from new_link where correlation = ?", e)))
		db_bind_i64(s, 1, correlation);
	return db_number(t->db, s, external, e);
}

int tracedb_put_begin(struct tracedb *t, int64_t id, const struct tracedb_mark *m, struct err *e)
{
	struct sqlite3_stmt *s =
		db_stmt(t->db,
	                "insert into new_mark(id, begin_ns, thread, name, domain) values(?,?,?,?,?) on conflict do"
	                " update set begin_ns = ?2, thread = ?3, name = ?4, domain = ?5",
	                e);

	assert(t->importing);
	if (!s)
		return -1;
	db_bind_i64(s, 1, id);
	db_bind_i64(s, 2, m->start_ns);
	db_bind_i64(s, 3, m->thread);
	db_bind_i64(s, 4, m->name);
	db_bind_i64(s, 5, m->domain);
	return db_run(t->db, s, e);
}

int tracedb_put_end(struct tracedb *t, int64_t id, int64_t end_ns, struct err *e)
{
	struct sqlite3_stmt *s =
		db_stmt(t->db, "insert into new_mark(id, end_ns) values(?,?) on conflict do update set end_ns = ?2", e);

	assert(t->importing);
	if (!s)
		return -1;
	db_bind_i64(s, 1, id);
	db_bind_i64(s, 2, end_ns);
	return db_run(t->db, s, e);
}

/* A range that starts with a call goes first: it is around it. */
#define MARKS \
	"select thread, begin_ns, end_ns, name, domain, 0 as correlation, 0 as is_call from new_mark" \
	" where begin_ns is not null and end_ns is not null"
#define CALLS \
	" union all select thread, start_ns, 0, 0, 0, correlation, 1 from call" \
	" where source = ? and correlation <> 0"
#define ORDER " order by thread, begin_ns, is_call, end_ns desc"

int tracedb_each_mark(struct tracedb *t, bool calls, tracedb_mark_fn *each, void *arg, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db, calls ? MARKS CALLS ORDER : MARKS ORDER, e);
	int rc;

	assert(t->importing);
	if (!s)
		return -1;
	if (calls)
		db_bind_i64(s, 1, t->source);
	while ((rc = db_step(t->db, s, e)) == 1) {
		const struct tracedb_mark m = { .thread = db_col_i64(s, 0),
			                        .start_ns = db_col_i64(s, 1),
			                        .end_ns = db_col_i64(s, 2),
			                        .name = db_col_i64(s, 3),
			                        .domain = db_col_i64(s, 4),
			                        .correlation = db_col_i64(s, 5),
			                        .is_call = db_col_i64(s, 6) != 0 };

		if (each(arg, &m, e) < 0)
			return -1;
	}
	return rc;
}
