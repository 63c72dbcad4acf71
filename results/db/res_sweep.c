/* res_sweep.c - storing sweeps and their points. */
#include "results/db/res_sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/db/res_int.h"
#include "sim/base/hash.h"

/* --- the sweep --------------------------------------------------------------------------------------------- */

/* What is asked, and not by whom: the workload's content, how a point is run, which configurations in which order. */
static int identity_of(struct db *db, const struct res_sweep *s, int64_t workload, char hex[17], struct err *e)
{
	struct sqlite3_stmt *q = db_stmt(db, "select content from workload where id = ?", e);
	const uint64_t numbers[] = { s->seed, s->reuse_ppm, s->configs_hash, s->n_points, s->n_axes };
	uint64_t h;

	if (!q)
		return -1;
	db_bind_i64(q, 1, workload);
	if (db_step(db, q, e) < 0)
		return -1;
	h = res_hash_text(res_hash_text(res_hash_text(HASH_INIT, db_col_text(q, 0)), s->start), s->fidelity);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		h = hash_u64(h, numbers[i]);
	for (size_t i = 0; i < s->n_axes; i++)
		h = res_hash_text(h, s->axes[i].key);
	hash_hex(hash_mix(h), hex);
	return db_run(db, q, e);
}

static int put_axes(struct db *db, int64_t id, const struct res_sweep *s, struct err *e)
{
	for (size_t i = 0; i < s->n_axes; i++) {
		struct sqlite3_stmt *q = db_stmt(db, "insert into sweep_axis values(?,?,?,?)", e);

		if (!q)
			return -1;
		db_bind_i64(q, 1, id);
		db_bind_i64(q, 2, (int64_t)i);
		db_bind_text(q, 3, s->axes[i].key);
		db_bind_text(q, 4, s->axes[i].unit);
		if (db_run(db, q, e) < 0)
			return -1;
	}
	return 0;
}

static int64_t res_sweep_put_head(struct db *db, const struct res_sweep *s, int64_t workload, struct err *e)
{
	struct sqlite3_stmt *q;
	char identity[17], configs[17];
	int64_t id;
	int i = 1;

	if (identity_of(db, s, workload, identity, e) < 0 ||
	    !(q = db_stmt(db, "select id from sweep where identity = ?", e)))
		return -1;
	db_bind_text(q, 1, identity);
	if ((id = res_find(db, q, e)) < 0)
		return -1;
	if (id) {
		/* Objectives, constraints and columns may have changed: the newest text is the one to print by. */
		if (!(q = db_stmt(db, "update sweep set name = ?, text = ? where id = ?", e)))
			return -1;
		db_bind_text(q, 1, s->name);
		db_bind_text(q, 2, s->text);
		db_bind_i64(q, 3, id);
		return db_run(db, q, e) < 0 ? -1 : id;
	}
	if (!(q = db_stmt(db, "insert into sweep values(null,?,?,?,?,?,?,?,?,?,?,?,?)", e)))
		return -1;
	hash_hex(s->configs_hash, configs);
	db_bind_text(q, i++, identity);
	db_bind_text(q, i++, s->name);
	db_bind_text(q, i++, s->text);
	db_bind_text(q, i++, s->base_path);
	db_bind_text(q, i++, s->base_text);
	db_bind_i64(q, i++, workload);
	db_bind_text(q, i++, s->fidelity);
	db_bind_text(q, i++, s->start);
	db_bind_i64(q, i++, (int64_t)s->seed);
	db_bind_i64(q, i++, s->reuse_ppm);
	db_bind_text(q, i++, configs);
	db_bind_i64(q, i++, (int64_t)s->n_points);
	if (db_run(db, q, e) < 0)
		return -1;
	id = db_last_id(db);
	return put_axes(db, id, s, e) < 0 ? -1 : id;
}

static int check_build(struct db *db, int64_t sweep, const char *build, struct err *e)
{
	struct sqlite3_stmt *q = db_stmt(db,
	                                 "select b.text, count(*) from point p join build b on b.id = p.build"
	                                 " where p.sweep = ? and b.text <> ? group by b.text order by b.text",
	                                 e);
	int rc;

	if (!q)
		return -1;
	db_bind_i64(q, 1, sweep);
	db_bind_text(q, 2, build);
	if ((rc = db_step(db, q, e)) == 1)
		return err_set(e, ERR_IO,
		               "'%s' holds %" PRId64 " points of this sweep from another build (%s; this is %s):"
		               " take another file, or mix them with --mixed-builds",
		               db_path(db), db_col_i64(q, 1), db_col_text(q, 0), build);
	return rc;
}

int res_put_sweep(struct resdb *r, const struct res_workload *w, const struct res_sweep *s, const char *build,
                  bool mixed, int64_t *id, struct err *e)
{
	int64_t workload;

	if (db_begin(r->db, e) < 0)
		return -1;
	if ((workload = res_put_workload(r->db, w, e)) >= 0 && (*id = res_sweep_put_head(r->db, s, workload, e)) >= 0 &&
	    (mixed || check_build(r->db, *id, build, e) == 0) && db_commit(r->db, e) == 0)
		return 0;
	db_rollback(r->db);
	return -1;
}

/* --- points ------------------------------------------------------------------------------------------------ */

static void forget_stat_ids(struct resdb *r)
{
	for (size_t i = 0; i < r->n_stat_ids; i++)
		free(r->stat_ids[i].name);
	r->n_stat_ids = 0;
}

static int64_t new_stat_id(struct db *db, const struct res_stat *v, struct err *e)
{
	struct sqlite3_stmt *q = db_stmt(db, "select id from stat_name where name = ?", e);
	int64_t id;

	if (!q)
		return -1;
	db_bind_text(q, 1, v->name);
	if ((id = res_find(db, q, e)) != 0)
		return id;
	if (!(q = db_stmt(db, "insert into stat_name values(null,?,?,?)", e)))
		return -1;
	db_bind_text(q, 1, v->name);
	db_bind_text(q, 2, v->unit);
	db_bind_i64(q, 3, v->level);
	return db_run(db, q, e) < 0 ? -1 : db_last_id(db);
}

/* Names come in nearly the same order for every point, so the search begins where it is expected. */
static int64_t stat_id(struct resdb *r, const struct res_stat *v, size_t expected, struct err *e)
{
	struct res_stat_id *x;
	int64_t id;

	for (size_t i = 0; i < r->n_stat_ids; i++) {
		x = &r->stat_ids[(expected + i) % r->n_stat_ids];
		if (strcmp(x->name, v->name) == 0)
			return x->id;
	}
	if ((id = new_stat_id(r->db, v, e)) < 0)
		return -1;
	if (r->n_stat_ids == r->cap_stat_ids) {
		size_t cap = r->cap_stat_ids ? 2 * r->cap_stat_ids : 128;

		if (!(x = realloc(r->stat_ids, cap * sizeof *x)))
			return err_nomem(e, "for the names of statistics");
		r->stat_ids = x;
		r->cap_stat_ids = cap;
	}
	x = &r->stat_ids[r->n_stat_ids];
	if (!(x->name = malloc(strlen(v->name) + 1)))
		return err_nomem(e, "for the names of statistics");
	strcpy(x->name, v->name);
	x->id = id;
	r->n_stat_ids++;
	return id;
}

static int64_t put_build(struct db *db, const char *build, struct err *e)
{
	struct sqlite3_stmt *q = db_stmt(db, "select id from build where text = ?", e);
	int64_t id;

	if (!q)
		return -1;
	db_bind_text(q, 1, build);
	if ((id = res_find(db, q, e)) != 0)
		return id;
	if (!(q = db_stmt(db, "insert into build values(null,?)", e)))
		return -1;
	db_bind_text(q, 1, build);
	return db_run(db, q, e) < 0 ? -1 : db_last_id(db);
}

/* 1: the row is there and stays. A failed one goes, with all that belongs to it. */
int res_clear_place(struct db *db, int64_t sweep, const struct res_point *p, struct err *e)
{
	struct sqlite3_stmt *q =
		db_stmt(db, "delete from point where sweep = ? and point = ? and status = 'failed'", e);

	if (!q)
		return -1;
	db_bind_i64(q, 1, sweep);
	db_bind_i64(q, 2, (int64_t)p->point);
	if (db_run(db, q, e) < 0 || !(q = db_stmt(db, "select 1 from point where sweep = ? and point = ?", e)))
		return -1;
	db_bind_i64(q, 1, sweep);
	db_bind_i64(q, 2, (int64_t)p->point);
	return (int)res_find(db, q, e);
}

static int put_point_head(struct db *db, int64_t sweep, const struct res_point *p, struct err *e)
{
	int64_t build = put_build(db, p->build, e);
	struct sqlite3_stmt *q;
	char hash[17];
	int i = 1;

	if (build < 0 || !(q = db_stmt(db,
	                               "insert into point(sweep, point, build, config_hash, status, reason,"
	                               " roofline_bound" RES_COLUMNS ") values(?,?,?,?,?,?,?" RES_MARKS ")",
	                               e)))
		return -1;
	hash_hex(p->config_hash, hash);
	db_bind_i64(q, i++, sweep);
	db_bind_i64(q, i++, (int64_t)p->point);
	db_bind_i64(q, i++, build);
	db_bind_text(q, i++, hash);
	db_bind_text(q, i++, p->failed ? "failed" : "done");
	db_bind_text(q, i++, p->failed ? p->reason : NULL);
	if (p->failed)
		return db_run(db, q, e); /* what is not bound is null */
	db_bind_text(q, i++, p->roofline_bound);
	res_bind_figures(q, i, &p->figures);
	return db_run(db, q, e);
}

/* A statement with the point's key in its first two places. */
static struct sqlite3_stmt *res_sweep_row_of(struct db *db, const char *sql, int64_t sweep, uint64_t point,
                                             struct err *e)
{
	struct sqlite3_stmt *q = db_stmt(db, sql, e);

	if (q) {
		db_bind_i64(q, 1, sweep);
		db_bind_i64(q, 2, (int64_t)point);
	}
	return q;
}

int res_put_values(struct db *db, int64_t sweep, const struct res_point *p, size_t n_axes, struct err *e)
{
	for (size_t i = 0; i < n_axes; i++) {
		struct sqlite3_stmt *q =
			res_sweep_row_of(db, "insert into point_value values(?,?,?,?,?)", sweep, p->point, e);

		if (!q)
			return -1;
		db_bind_i64(q, 3, (int64_t)i);
		db_bind_text(q, 4, p->values[i].text);
		if (p->values[i].is_number)
			db_bind_f64(q, 5, p->values[i].number);
		if (db_run(db, q, e) < 0)
			return -1;
	}
	return 0;
}

static int put_kinds(struct db *db, int64_t sweep, const struct res_point *p, struct err *e)
{
	for (size_t i = 0; i < p->n_kinds; i++) {
		struct sqlite3_stmt *q =
			res_sweep_row_of(db, "insert into point_kind values(?,?,?,?,?,?,?,?,?)", sweep, p->point, e);
		const struct res_kind *k = &p->kinds[i];

		if (!q)
			return -1;
		db_bind_text(q, 3, k->kind);
		db_bind_i64(q, 4, (int64_t)k->ops);
		db_bind_i64(q, 5, (int64_t)k->span_ps);
		db_bind_i64(q, 6, (int64_t)k->limit_ps);
		db_bind_i64(q, 7, (int64_t)k->dram_bytes);
		db_bind_i64(q, 8, (int64_t)k->mem_bytes);
		db_bind_i64(q, 9, (int64_t)k->flops);
		if (db_run(db, q, e) < 0)
			return -1;
	}
	return 0;
}

static int put_resources(struct db *db, int64_t sweep, const struct res_point *p, struct err *e)
{
	for (size_t i = 0; i < p->n_resources; i++) {
		struct sqlite3_stmt *q =
			res_sweep_row_of(db, "insert into point_resource values(?,?,?,?,?,?)", sweep, p->point, e);

		if (!q)
			return -1;
		db_bind_i64(q, 3, (int64_t)i);
		db_bind_text(q, 4, p->resources[i].name);
		db_bind_i64(q, 5, (int64_t)p->resources[i].stall_ps);
		db_bind_i64(q, 6, (int64_t)p->resources[i].peak_ps);
		if (db_run(db, q, e) < 0)
			return -1;
	}
	return 0;
}

static int put_stat(struct resdb *r, int64_t sweep, uint64_t point, size_t place, const struct res_stat *v,
                    struct err *e)
{
	int64_t id = stat_id(r, v, place, e);
	struct sqlite3_stmt *q =
		id < 0 ? NULL : res_sweep_row_of(r->db, "insert into point_stat values(?,?,?,?,?)", sweep, point, e);

	if (!q)
		return -1;
	db_bind_i64(q, 3, (int64_t)place);
	db_bind_i64(q, 4, id);
	db_bind_i64(q, 5, (int64_t)v->value);
	return db_run(r->db, q, e);
}

/* The figures that are rows come after the statistics. */
static int put_stats(struct resdb *r, int64_t sweep, const struct res_point *p, struct err *e)
{
	size_t place = 0;

	for (; place < p->n_stats; place++)
		if (put_stat(r, sweep, p->point, place, &p->stats[place], e) < 0)
			return -1;
	for (const struct figure *f = figure_table; (f = res_next_row(f, &p->figures)); f++) {
		const struct res_stat v = res_row_of(f, &p->figures);

		if (put_stat(r, sweep, p->point, place++, &v, e) < 0)
			return -1;
	}
	return 0;
}

static int put_point(struct resdb *r, int64_t sweep, const struct res_point *p, size_t n_axes, struct err *e)
{
	int there = res_clear_place(r->db, sweep, p, e);

	if (there)
		return there < 0 ? -1 : 0;
	if (put_point_head(r->db, sweep, p, e) < 0 || res_put_values(r->db, sweep, p, n_axes, e) < 0)
		return -1;
	if (p->failed)
		return 0;
	return put_kinds(r->db, sweep, p, e) < 0 || put_resources(r->db, sweep, p, e) < 0 ||
	                       put_stats(r, sweep, p, e) < 0
	               ? -1
	               : 0;
}

int res_put_points(struct resdb *r, int64_t sweep, const struct res_point *p, size_t n, size_t n_axes, struct err *e)
{
	size_t i = 0;

	if (db_begin(r->db, e) < 0)
		return -1;
	while (i < n && put_point(r, sweep, &p[i], n_axes, e) == 0)
		i++;
	if (i == n && db_commit(r->db, e) == 0)
		return 0;
	db_rollback(r->db);
	forget_stat_ids(r); /* some may have gone with the transaction */
	return -1;
}
