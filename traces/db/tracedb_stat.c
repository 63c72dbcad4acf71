/* tracedb_stat.c - numbers that are no events: statistics of kernels, and counters of single launches. */
#include "traces/db/tracedb_int.h"

#include <assert.h>

int tracedb_stat_prepare(struct tracedb *t, struct err *e)
{
	t->ins_stat = db_stmt(t->db,
	                      "insert into kernel_stat values(null,?,?,?,?,nullif(?,-1),nullif(?,-1),nullif(?,-1),"
	                      "nullif(?,-1))",
	                      e);
	if (t->ins_stat)
		t->ins_metric =
			db_stmt(t->db, "insert into new_metric values((select max(seq) from new_launch),?,?,?)", e);
	return t->ins_stat && t->ins_metric ? 0 : -1;
}

int tracedb_put_stat(struct tracedb *t, const struct trace_stat *s, struct err *e)
{
	const int64_t name = tracedb_name(t, s->name, e);

	assert(t->importing && s->instances > 0 && s->total_ns >= 0);
	if (name < 0)
		return -1;
	db_bind_i64(t->ins_stat, 1, t->source);
	db_bind_i64(t->ins_stat, 2, name);
	db_bind_i64(t->ins_stat, 3, s->instances);
	db_bind_i64(t->ins_stat, 4, s->total_ns);
	db_bind_i64(t->ins_stat, 5, s->min_ns);
	db_bind_i64(t->ins_stat, 6, s->median_ns);
	db_bind_i64(t->ins_stat, 7, s->max_ns);
	db_bind_i64(t->ins_stat, 8, s->deviation_ns);
	t->st.kernels += s->instances;
	t->st.stats++;
	return db_run(t->db, t->ins_stat, e);
}

int tracedb_put_metric(struct tracedb *t, const char *name, double value, const char *unit, struct err *e)
{
	const int64_t id = tracedb_name(t, name, e);

	assert(t->importing && t->st.kernels + t->st.copies + t->st.sets > 0); /* a launch was put */
	if (id < 0)
		return -1;
	db_bind_i64(t->ins_metric, 1, id);
	db_bind_f64(t->ins_metric, 2, value);
	db_bind_text(t->ins_metric, 3, unit);
	t->st.metrics++;
	return db_run(t->db, t->ins_metric, e);
}

void tracedb_untimed(struct tracedb *t)
{
	t->st.untimed++;
}

/* The launches of this import got the ids behind `last_launch`, in the order in which link moved them. */
int tracedb_stat_link(struct tracedb *t, int64_t last_launch, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "insert or ignore into metric select ?1 + p.place, m.name, m.value, m.unit"
	                                 " from new_metric m join (select seq, row_number() over"
	                                 " (order by start_ns, seq) as place from new_launch) p on p.seq = m.seq"
	                                 " order by m.rowid",
	                                 e);

	if (t->st.metrics == 0)
		return 0;
	if (!s)
		return -1;
	db_bind_i64(s, 1, last_launch);
	return db_run(t->db, s, e);
}

static int64_t or_none(struct sqlite3_stmt *s, int i)
{
	return db_col_null(s, i) ? -1 : db_col_i64(s, i);
}

int tracedb_stat_load(struct tracedb *t, struct arena *a, struct trace *out, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select n.text, k.instances, k.total_ns, k.min_ns, k.median_ns,"
	                                 " k.max_ns, k.deviation_ns from kernel_stat k join name n"
	                                 " on n.id = k.name order by k.id",
	                                 e);
	int64_t n;
	size_t max;
	int rc;

	if (!s || db_number(t->db, db_stmt(t->db, "select count(*) from kernel_stat", e), &n, e) < 0)
		return -1;
	max = (size_t)n;
	if (!(out->stats = arena_array(a, max ? max : 1, sizeof *out->stats)))
		return err_set(e, ERR_NOMEM, "the statistics do not fit into the memory allowed for them");
	while ((rc = db_step(t->db, s, e)) == 1 && out->n_stats < max) {
		struct trace_stat *k = &out->stats[out->n_stats];

		*k = (struct trace_stat){ arena_strdup(a, db_col_text(s, 0)),
			                  db_col_i64(s, 1),
			                  db_col_i64(s, 2),
			                  or_none(s, 3),
			                  or_none(s, 4),
			                  or_none(s, 5),
			                  or_none(s, 6) };
		if (!k->name)
			return err_set(e, ERR_NOMEM, "the statistics do not fit into the memory allowed for them");
		if (k->instances < 0 || k->total_ns < 0)
			return err_set(e, ERR_IO, "'%s' is damaged: statistics below zero", db_path(t->db));
		out->n_stats++;
	}
	return rc < 0 ? -1 : 0;
}

/* --- counters --------------------------------------------------------------------------------------------------- */

int tracedb_each_counted(struct tracedb *t, tracedb_counted_fn *each, void *arg, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select l.id, n.text, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y,"
	                                 " l.block_z from launch l join name n on n.id = l.name where l.id in"
	                                 " (select launch from metric) order by l.id",
	                                 e);
	int rc = -1;

	while (s && (rc = db_step(t->db, s, e)) == 1) {
		struct trace_launch l = { .id = db_col_i64(s, 0), .name = db_col_text(s, 1) };

		for (int i = 0; i < 3; i++) {
			l.grid[i] = (uint32_t)db_col_i64(s, 2 + i);
			l.block[i] = (uint32_t)db_col_i64(s, 5 + i);
		}
		if (each(arg, &l, e) < 0)
			return -1;
	}
	return rc;
}

int tracedb_each_value(struct tracedb *t, const char *metric, tracedb_value_fn *each, void *arg, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select m.launch, m.value from metric m where m.name ="
	                                 " (select id from name where text = ?)",
	                                 e);
	int rc;

	if (!s)
		return -1;
	db_bind_text(s, 1, metric);
	while ((rc = db_step(t->db, s, e)) == 1)
		if (each(arg, db_col_i64(s, 0), db_col_f64(s, 1), e) < 0)
			return -1;
	return rc;
}

int tracedb_each_metric(struct tracedb *t, const char *begin, tracedb_metric_fn *each, void *arg, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select l.id, k.text, l.dur_ns, n.text, m.value from metric m"
	                                 " join name n on n.id = m.name join launch l on l.id = m.launch"
	                                 " join name k on k.id = l.name where substr(n.text, 1, length(?1)) = ?1"
	                                 " order by l.id, n.text",
	                                 e);
	int rc;

	if (!s)
		return -1;
	db_bind_text(s, 1, begin);
	while ((rc = db_step(t->db, s, e)) == 1) {
		const struct trace_launch l = { .id = db_col_i64(s, 0),
			                        .name = db_col_text(s, 1),
			                        .dur_ns = db_col_i64(s, 2) };

		if (each(arg, &l, db_col_text(s, 3), db_col_f64(s, 4), e) < 0)
			return -1;
	}
	return rc;
}

int tracedb_any_uncounted(struct tracedb *t, bool *any, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select exists(select 1 from launch l where l.kind = 0 and not exists"
	                                 " (select 1 from metric m where m.launch = l.id))"
	                                 " or exists(select 1 from kernel_stat)",
	                                 e);
	int64_t n;

	if (db_number(t->db, s, &n, e) < 0)
		return -1;
	*any = n != 0;
	return 0;
}
