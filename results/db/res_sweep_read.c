/* res_sweep_read.c - reading sweeps back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/db/res_int.h"
#include "results/db/res_sweep.h"

#define WHAT "sweeps"

/* --- sweeps ------------------------------------------------------------------------------------------------ */

static int take_axis(struct res_reader *r, struct sqlite3_stmt *q, void *row, void *ctx)
{
	(void)ctx;
	*(struct res_axis *)row = (struct res_axis){ res_text(r, q, 0), res_text(r, q, 1) };
	return 0;
}

static int read_axes(struct res_reader *r, struct res_sweep *s)
{
	static const struct res_rows axes = { "select count(*) from sweep_axis where sweep = ?",
		                              "select key, unit from sweep_axis where sweep = ? order by place",
		                              sizeof(struct res_axis), take_axis };
	struct res_found all;

	if (res_read_rows(r, &axes, s->id, NULL, &all) < 0)
		return -1;
	s->axes = all.v;
	s->n_axes = all.n;
	return 0;
}

static int take_sweep(struct res_reader *r, struct sqlite3_stmt *q, void *row, void *ctx)
{
	(void)ctx;
	*(struct res_sweep *)row = (struct res_sweep){ .id = db_col_i64(q, 0),
		                                       .name = res_text(r, q, 1),
		                                       .text = res_text(r, q, 2),
		                                       .base_path = res_text(r, q, 3),
		                                       .base_text = res_text(r, q, 4),
		                                       .workload_id = db_col_i64(q, 5),
		                                       .fidelity = res_text(r, q, 6),
		                                       .start = res_text(r, q, 7),
		                                       .seed = res_u64(q, 8),
		                                       .reuse_ppm = (uint32_t)res_u64(q, 9),
		                                       .configs_hash = strtoull(db_col_text(q, 10), NULL, 16),
		                                       .n_points = (size_t)res_u64(q, 11),
		                                       .done = (size_t)res_u64(q, 12),
		                                       .failed = (size_t)res_u64(q, 13) };
	return 0;
}

int res_list_sweeps(struct resdb *db, struct arena *a, struct res_sweep **out, size_t *n, struct err *e)
{
	static const struct res_rows sweeps = {
		"select count(*) from sweep where id > ?",
		"select s.id, s.name, s.text, s.base_path, s.base_text, s.workload, s.fidelity, s.start,"
		" s.seed, s.reuse_ppm, s.configs, s.points, v.done, v.failed"
		" from sweep s join v_sweeps v on v.sweep = s.id where s.id > ? order by s.id",
		sizeof(struct res_sweep), take_sweep
	};
	struct res_reader r = { db->db, a, e, WHAT, false };
	struct res_found all;
	int rc = res_read_rows(&r, &sweeps, 0, NULL, &all);

	*out = all.v;
	*n = all.n;
	for (size_t i = 0; rc == 0 && i < *n; i++)
		rc = read_axes(&r, &(*out)[i]);
	return rc;
}

static bool died(const char *reason)
{
	return reason && strncmp(reason, RES_DIED, sizeof RES_DIED - 1) == 0;
}

bool res_point_died(const struct res_point *p)
{
	return p->failed && died(p->reason);
}

int res_get_status(struct resdb *db, const struct res_sweep *s, uint8_t *status, struct err *e)
{
	struct res_reader r = { db->db, NULL, e, WHAT, false };
	struct sqlite3_stmt *q =
		res_query(&r, "select point, status, reason from point where sweep = ? order by point", s->id);
	int rc;

	if (!q)
		return -1;
	memset(status, 0, s->n_points);
	while ((rc = db_step(r.db, q, e)) == 1) {
		if (res_u64(q, 0) >= s->n_points)
			return err_set(e, ERR_IO, "'%s' is damaged: sweep %" PRId64 " has a point %" PRId64 " of %zu",
			               db_path(r.db), s->id, db_col_i64(q, 0), s->n_points);
		status[res_u64(q, 0)] = strcmp(db_col_text(q, 1), "done") == 0 ? 1 : died(db_col_text(q, 2)) ? 3 : 2;
	}
	return rc;
}

/* --- points ------------------------------------------------------------------------------------------------ */

#define HEAD \
	"select p.point, p.config_hash, b.text, p.status, p.reason, p.roofline_bound" RES_COLUMNS \
	" from point p join build b on b.id = p.build where p.sweep = ?"

static struct res_point head_of(struct res_reader *r, struct sqlite3_stmt *q)
{
	struct res_point p = { .point = res_u64(q, 0),
		               .config_hash = strtoull(db_col_text(q, 1), NULL, 16),
		               .build = res_text(r, q, 2),
		               .failed = strcmp(db_col_text(q, 3), "done") != 0,
		               .reason = res_text(r, q, 4),
		               .roofline_bound = res_text(r, q, 5) };

	res_read_figures(q, 6, &p.figures);
	return p;
}

int res_get_head(struct resdb *db, int64_t sweep, uint64_t point, struct arena *a, struct res_point *out, struct err *e)
{
	struct res_reader r = { db->db, a, e, WHAT, false };
	struct sqlite3_stmt *q = res_query(&r, HEAD " and p.point = ?", sweep);
	int rc;

	if (!q)
		return -1;
	db_bind_i64(q, 2, (int64_t)point);
	if ((rc = db_step(r.db, q, e)) == 1) {
		*out = head_of(&r, q);
		if (db_run(r.db, q, e) < 0 || r.failed)
			return r.failed ? res_no_room(&r) : -1;
	}
	return rc;
}

int res_other_build(struct resdb *db, int64_t sweep, const char *but, struct arena *a, const char **out, struct err *e)
{
	struct res_reader r = { db->db, a, e, WHAT, false };
	struct sqlite3_stmt *q =
		res_query(&r,
	                  "select b.text from build b where b.text <> ?2 and exists (select 1 from point p"
	                  " where p.sweep = ?1 and p.build = b.id) order by b.text limit 1",
	                  sweep);
	int rc;

	*out = NULL;
	if (!q)
		return -1;
	db_bind_text(q, 2, but);
	if ((rc = db_step(r.db, q, e)) == 1) {
		*out = res_text(&r, q, 0);
		rc = db_run(r.db, q, e);
	}
	return rc < 0 ? -1 : r.failed ? res_no_room(&r) : 0;
}

/* --- what belongs to points -------------------------------------------------------------------------------- */

/* The points of a sweep, in order, while what belongs to them is read: it comes in their order too. */
struct points {
	const struct res_sweep *of;
	struct res_point *v;
	size_t n, at, seen;           /* at: the point that the last row was of; seen: rows of this query */
	const struct res_stat *names; /* of statistics by their id, 0 to n_names: shared by all points, one copy each */
	size_t n_names;
};

static int damaged(struct res_reader *r, const struct res_sweep *s)
{
	return err_set(r->e, ERR_IO, "'%s' is damaged: the rows of sweep %" PRId64 " do not fit together",
	               db_path(r->db), s->id);
}

static int take_point(struct res_reader *r, struct sqlite3_stmt *q, void *row, void *ctx)
{
	(void)ctx;
	*(struct res_point *)row = head_of(r, q);
	return 0;
}

/* The point that a row is of. NULL: of none, the file is damaged. */
static struct res_point *owner(struct res_reader *r, struct sqlite3_stmt *q, struct points *p)
{
	const uint64_t point = res_u64(q, 0);

	while (p->at < p->n && p->v[p->at].point < point)
		p->at++;
	if (p->at < p->n && p->v[p->at].point == point)
		return &p->v[p->at];
	damaged(r, p->of);
	return NULL;
}

/* Every point has all its values, so the rows are the whole array. */
static int take_value(struct res_reader *r, struct sqlite3_stmt *q, void *row, void *ctx)
{
	struct points *p = ctx;
	const size_t axes = p->of->n_axes, i = p->seen++;
	const struct res_point *x = owner(r, q, p);

	if (!x)
		return -1;
	if (!axes || i / axes != p->at || i % axes != res_u64(q, 1))
		return damaged(r, p->of);
	*(struct res_value *)row = (struct res_value){ res_text(r, q, 2), !db_col_null(q, 3), db_col_f64(q, 3) };
	return 0;
}

static int take_kind(struct res_reader *r, struct sqlite3_stmt *q, void *row, void *ctx)
{
	struct res_point *x = owner(r, q, ctx);
	struct res_kind *k = row;

	if (!x)
		return -1;
	*k = (struct res_kind){ res_text(r, q, 1), res_u64(q, 2), res_u64(q, 3), res_u64(q, 4),
		                res_u64(q, 5),     res_u64(q, 6), res_u64(q, 7) };
	if (!x->n_kinds++)
		x->kinds = k;
	return 0;
}

static int take_resource(struct res_reader *r, struct sqlite3_stmt *q, void *row, void *ctx)
{
	struct res_point *x = owner(r, q, ctx);
	struct res_resource *v = row;

	if (!x)
		return -1;
	*v = (struct res_resource){ res_text(r, q, 1), res_u64(q, 2), res_u64(q, 3) };
	if (!x->n_resources++)
		x->resources = v;
	return 0;
}

static int take_stat(struct res_reader *r, struct sqlite3_stmt *q, void *row, void *ctx)
{
	struct points *p = ctx;
	struct res_point *x = owner(r, q, p);
	const uint64_t id = res_u64(q, 1);
	struct res_stat *v = row;

	if (!x)
		return -1;
	if (id > p->n_names || !p->names[id].name)
		return damaged(r, p->of);
	*v = p->names[id];
	v->value = res_u64(q, 2);
	if (res_take_row(v, &x->figures)) /* they come last */
		return 0;
	if (!x->n_stats++)
		x->stats = v;
	return 0;
}

static const struct res_rows points_of = { "select count(*) from point where sweep = ?", HEAD " order by p.point",
	                                   sizeof(struct res_point), take_point };
static const struct res_rows values_of = { "select count(*) from point_value where sweep = ?",
	                                   "select point, place, value, number from point_value where sweep = ?"
	                                   " order by point, place",
	                                   sizeof(struct res_value), take_value };
static const struct res_rows kinds_of = {
	"select count(*) from point_kind where sweep = ?",
	"select point, kind, ops, span_ps, limit_ps, dram_bytes, mem_bytes, flops from point_kind"
	" where sweep = ? order by point, kind",
	sizeof(struct res_kind), take_kind
};
static const struct res_rows resources_of = { "select count(*) from point_resource where sweep = ?",
	                                      "select point, name, stall_ps, peak_ps from point_resource"
	                                      " where sweep = ? order by point, place",
	                                      sizeof(struct res_resource), take_resource };
static const struct res_rows stats_of = { "select count(*) from point_stat where sweep = ?",
	                                  "select point, stat, value from point_stat where sweep = ?"
	                                  " order by point, place",
	                                  sizeof(struct res_stat), take_stat };

static int read_belonging(struct res_reader *r, const struct res_rows *what, struct points *p, struct res_found *rows)
{
	p->at = p->seen = 0;
	return res_read_rows(r, what, p->of->id, p, rows);
}

static int read_values(struct res_reader *r, struct points *p)
{
	struct res_found rows;
	const struct res_value *v;

	if (read_belonging(r, &values_of, p, &rows) < 0)
		return -1;
	if (rows.n != p->n * p->of->n_axes)
		return damaged(r, p->of);
	v = rows.v;
	for (size_t i = 0; i < p->n; i++)
		p->v[i].values = v + i * p->of->n_axes;
	return 0;
}

/* By their ids, which may have gaps. */
static int read_stat_names(struct res_reader *r, struct points *p)
{
	struct sqlite3_stmt *q = db_stmt(r->db, "select coalesce(max(id), 0) from stat_name", r->e);
	struct res_stat *names;
	int rc;

	if (!q || db_step(r->db, q, r->e) < 0)
		return -1;
	p->n_names = (size_t)res_u64(q, 0);
	if (db_run(r->db, q, r->e) < 0 || !(q = db_stmt(r->db, "select id, name, unit, level from stat_name", r->e)))
		return -1;
	if (!(names = arena_array(r->a, p->n_names + 1, sizeof *names)))
		return res_no_room(r);
	while ((rc = db_step(r->db, q, r->e)) == 1)
		if (res_u64(q, 0) <= p->n_names)
			names[res_u64(q, 0)] =
				(struct res_stat){ res_text(r, q, 1), res_text(r, q, 2), 0, db_col_i64(q, 3) != 0 };
	p->names = names;
	return rc;
}

static int read_points(struct res_reader *r, struct points *p)
{
	struct res_found rows;

	if (res_read_rows(r, &points_of, p->of->id, NULL, &rows) < 0)
		return -1;
	p->v = rows.v;
	p->n = rows.n;
	if (read_values(r, p) < 0 || read_stat_names(r, p) < 0)
		return -1;
	return read_belonging(r, &kinds_of, p, &rows) < 0 || read_belonging(r, &resources_of, p, &rows) < 0 ||
	                       read_belonging(r, &stats_of, p, &rows) < 0
	               ? -1
	               : 0;
}

int res_get_points(struct resdb *db, const struct res_sweep *s, struct arena *a, struct res_point **out, size_t *n,
                   struct err *e)
{
	struct res_reader r = { db->db, a, e, WHAT, false };
	struct points p = { .of = s };
	int rc;

	if (db_exec(db->db, "begin", e) < 0) /* one state of the file from the first statement to the last */
		return -1;
	rc = read_points(&r, &p);
	db_rollback(db->db);
	*out = p.v;
	*n = p.n;
	return rc;
}
