/* tracedb_mark.c - what an importer needs again before its import ends: ranges whose two ends come apart,
 * and the nodes of graphs. In tables of the
 * database that is written, as there may be millions; they are empty between imports. */
#include "traces/db/tracedb_int.h"

#include <assert.h>

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

int tracedb_each_mark(struct tracedb *t, tracedb_mark_fn *each, void *arg, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select thread, begin_ns, end_ns, name, domain from new_mark where begin_ns"
	                                 " is not null and end_ns is not null order by thread, begin_ns, end_ns desc",
	                                 e);
	int rc;

	assert(t->importing);
	if (!s)
		return -1;
	while ((rc = db_step(t->db, s, e)) == 1) {
		const struct tracedb_mark m = { .thread = db_col_i64(s, 0),
			                        .start_ns = db_col_i64(s, 1),
			                        .end_ns = db_col_i64(s, 2),
			                        .name = db_col_i64(s, 3),
			                        .domain = db_col_i64(s, 4) };

		if (each(arg, &m, e) < 0)
			return -1;
	}
	return rc;
}

int tracedb_put_node(struct tracedb *t, int64_t id, int64_t from, int64_t at_ns, int64_t thread, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "insert or replace into new_node select ?1,"
	                                 " coalesce((select at_ns from new_node where id = ?2), ?3),"
	                                 " coalesce((select thread from new_node where id = ?2), ?4)",
	                                 e);

	assert(t->importing);
	if (!s)
		return -1;
	db_bind_i64(s, 1, id);
	db_bind_i64(s, 2, from);
	db_bind_i64(s, 3, at_ns);
	db_bind_i64(s, 4, thread);
	return db_run(t->db, s, e);
}
