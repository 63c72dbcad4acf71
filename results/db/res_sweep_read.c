/* res_sweep_read.c - reading sweeps back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/db/res_int.h"
#include "results/db/res_sweep.h"

struct reader {
	struct db *db;
	struct arena *a;
	struct err *e;
	bool failed;
};

static int no_memory(struct err *e)
{
	return err_set(e, ERR_NOMEM, "no memory for the stored sweeps");
}

static const char *text(struct reader *r, struct sqlite3_stmt *q, int i)
{
	const char *copy;

	if (db_col_null(q, i))
		return NULL;
	copy = arena_strdup(r->a, db_col_text(q, i));
	r->failed |= !copy;
	return copy;
}

static uint64_t u64(struct sqlite3_stmt *q, int i)
{
	return (uint64_t)db_col_i64(q, i);
}

/* A statement bound to one sweep. */
static struct sqlite3_stmt *of_sweep(struct reader *r, const char *sql, int64_t sweep)
{
	struct sqlite3_stmt *q = db_stmt(r->db, sql, r->e);

	if (q)
		db_bind_i64(q, 1, sweep);
	return q;
}

static int count(struct reader *r, const char *sql, int64_t sweep, size_t *n)
{
	struct sqlite3_stmt *q = of_sweep(r, sql, sweep);

	if (!q || db_step(r->db, q, r->e) < 0)
		return -1;
	*n = (size_t)db_col_i64(q, 0);
	return db_run(r->db, q, r->e);
}

/* --- sweeps ------------------------------------------------------------------------------------------------ */

static int read_axes(struct reader *r, struct res_sweep *s)
{
	struct sqlite3_stmt *q;
	struct res_axis *axes;
	size_t max;
	int rc;

	if (count(r, "select count(*) from sweep_axis where sweep = ?", s->id, &max) < 0 ||
	    !(q = of_sweep(r, "select key, unit from sweep_axis where sweep = ? order by place", s->id)))
		return -1;
	if (!(axes = arena_array(r->a, max ? max : 1, sizeof *axes)))
		return no_memory(r->e);
	while ((rc = db_step(r->db, q, r->e)) == 1 && s->n_axes < max)
		axes[s->n_axes++] = (struct res_axis){ text(r, q, 0), text(r, q, 1) };
	s->axes = axes;
	return rc < 0 ? -1 : db_run(r->db, q, r->e);
}

int res_list_sweeps(struct resdb *db, struct arena *a, struct res_sweep **out, size_t *n, struct err *e)
{
	struct reader r = { db->db, a, e, false };
	struct sqlite3_stmt *q;
	size_t max;
	int rc;

	*n = 0;
	if (count(&r, "select count(*) from sweep where id > ?", 0, &max) < 0 ||
	    !(q = db_stmt(db->db,
	                  "select s.id, s.name, s.text, s.base_path, s.base_text, s.workload, s.fidelity, s.start,"
	                  " s.seed, s.reuse_ppm, s.configs, s.points, v.done, v.failed"
	                  " from sweep s join v_sweeps v on v.sweep = s.id order by s.id",
	                  e)))
		return -1;
	if (!(*out = arena_array(a, max ? max : 1, sizeof **out)))
		return no_memory(e);
	while ((rc = db_step(r.db, q, e)) == 1 && *n < max) {
		struct res_sweep *s = &(*out)[(*n)++];

		*s = (struct res_sweep){ .id = db_col_i64(q, 0),
			                 .name = text(&r, q, 1),
			                 .text = text(&r, q, 2),
			                 .base_path = text(&r, q, 3),
			                 .base_text = text(&r, q, 4),
			                 .workload_id = db_col_i64(q, 5),
			                 .fidelity = text(&r, q, 6),
			                 .start = text(&r, q, 7),
			                 .seed = u64(q, 8),
			                 .reuse_ppm = (uint32_t)u64(q, 9),
			                 .configs_hash = strtoull(db_col_text(q, 10), NULL, 16),
			                 .n_points = (size_t)u64(q, 11),
			                 .done = (size_t)u64(q, 12),
			                 .failed = (size_t)u64(q, 13) };
	}
	if (rc < 0 || db_run(r.db, q, e) < 0)
		return -1;
	for (size_t i = 0; i < *n; i++)
		if (read_axes(&r, &(*out)[i]) < 0)
			return -1;
	return r.failed ? no_memory(e) : 0;
}

int res_get_status(struct resdb *db, const struct res_sweep *s, uint8_t *status, struct err *e)
{
	struct reader r = { db->db, NULL, e, false };
	struct sqlite3_stmt *q = of_sweep(&r, "select point, status from point where sweep = ? order by point", s->id);
	int rc;

	if (!q)
		return -1;
	memset(status, 0, s->n_points);
	while ((rc = db_step(r.db, q, e)) == 1) {
		if (u64(q, 0) >= s->n_points)
			return err_set(e, ERR_IO, "'%s' is damaged: sweep %" PRId64 " has a point %" PRId64 " of %zu",
			               db_path(r.db), s->id, db_col_i64(q, 0), s->n_points);
		status[u64(q, 0)] = strcmp(db_col_text(q, 1), "done") == 0 ? 1 : 2;
	}
	return rc;
}

/* --- points ------------------------------------------------------------------------------------------------ */

struct points {
	struct res_point *v;
	size_t n;
};

#define HEAD \
	"select p.point, p.config_hash, b.text, p.status, p.reason, p.total_ps, p.cycles, p.roofline_ps," \
	" p.roofline_bound, p.carried_ps, p.dram_read_bytes, p.dram_write_bytes, p.dirty_bytes, p.compulsory_bytes," \
	" p.flops, p.events from point p join build b on b.id = p.build where p.sweep = ?"

static struct res_point head_of(struct reader *r, struct sqlite3_stmt *q)
{
	return (struct res_point){ .point = u64(q, 0),
		                   .config_hash = strtoull(db_col_text(q, 1), NULL, 16),
		                   .build = text(r, q, 2),
		                   .failed = strcmp(db_col_text(q, 3), "done") != 0,
		                   .reason = text(r, q, 4),
		                   .total_ps = u64(q, 5),
		                   .cycles = u64(q, 6),
		                   .roofline_ps = u64(q, 7),
		                   .roofline_bound = text(r, q, 8),
		                   .carried_ps = u64(q, 9),
		                   .dram_read_bytes = u64(q, 10),
		                   .dram_write_bytes = u64(q, 11),
		                   .dirty_bytes = u64(q, 12),
		                   .compulsory_bytes = u64(q, 13),
		                   .flops = u64(q, 14),
		                   .events = u64(q, 15) };
}

static int read_heads(struct reader *r, const struct res_sweep *s, struct points *out)
{
	struct sqlite3_stmt *q;
	size_t max;
	int rc;

	if (count(r, "select count(*) from point where sweep = ?", s->id, &max) < 0 ||
	    !(q = of_sweep(r, HEAD " order by p.point", s->id)))
		return -1;
	if (!(out->v = arena_array(r->a, max ? max : 1, sizeof *out->v)))
		return no_memory(r->e);
	while ((rc = db_step(r->db, q, r->e)) == 1 && out->n < max)
		out->v[out->n++] = head_of(r, q);
	return rc < 0 ? -1 : db_run(r->db, q, r->e);
}

int res_get_head(struct resdb *db, int64_t sweep, uint64_t point, struct arena *a, struct res_point *out, struct err *e)
{
	struct reader r = { db->db, a, e, false };
	struct sqlite3_stmt *q = of_sweep(&r, HEAD " and p.point = ?", sweep);
	int rc;

	if (!q)
		return -1;
	db_bind_i64(q, 2, (int64_t)point);
	if ((rc = db_step(r.db, q, e)) == 1) {
		*out = head_of(&r, q);
		if (db_run(r.db, q, e) < 0 || r.failed)
			return r.failed ? no_memory(e) : -1;
	}
	return rc;
}

int res_other_build(struct resdb *db, int64_t sweep, const char *but, struct arena *a, const char **out, struct err *e)
{
	struct reader r = { db->db, a, e, false };
	struct sqlite3_stmt *q =
		of_sweep(&r,
	                 "select b.text from build b where b.text <> ?2 and exists (select 1 from point p"
	                 " where p.sweep = ?1 and p.build = b.id) order by b.text limit 1",
	                 sweep);
	int rc;

	*out = NULL;
	if (!q)
		return -1;
	db_bind_text(q, 2, but);
	if ((rc = db_step(r.db, q, e)) == 1) {
		*out = text(&r, q, 0);
		rc = db_run(r.db, q, e);
	}
	return rc < 0 ? -1 : r.failed ? no_memory(e) : 0;
}

/* What belongs to points comes in their order: for every row, the point it is of. NULL: of none, the file is damaged.
 */
static struct res_point *owner(struct points *p, size_t *at, uint64_t point)
{
	while (*at < p->n && p->v[*at].point < point)
		(*at)++;
	return *at < p->n && p->v[*at].point == point ? &p->v[*at] : NULL;
}

static int damaged(struct reader *r, const struct res_sweep *s)
{
	return err_set(r->e, ERR_IO, "'%s' is damaged: the rows of sweep %" PRId64 " do not fit together",
	               db_path(r->db), s->id);
}

static int read_values(struct reader *r, const struct res_sweep *s, struct points *p)
{
	struct sqlite3_stmt *q = of_sweep(r,
	                                  "select point, place, value, number from point_value where sweep = ?"
	                                  " order by point, place",
	                                  s->id);
	struct res_value *v = arena_array(r->a, p->n * s->n_axes + 1, sizeof *v);
	size_t at = 0;
	int rc;

	if (!q)
		return -1;
	if (!v)
		return no_memory(r->e);
	for (size_t i = 0; i < p->n; i++)
		p->v[i].values = v + i * s->n_axes;
	while ((rc = db_step(r->db, q, r->e)) == 1) {
		if (!owner(p, &at, u64(q, 0)) || u64(q, 1) >= s->n_axes)
			return damaged(r, s);
		v[at * s->n_axes + u64(q, 1)] =
			(struct res_value){ text(r, q, 2), !db_col_null(q, 3), db_col_f64(q, 3) };
	}
	for (size_t i = 0; rc == 0 && i < p->n * s->n_axes; i++)
		if (!v[i].text)
			return r->failed ? no_memory(r->e) : damaged(r, s);
	return rc;
}

static int read_kinds(struct reader *r, const struct res_sweep *s, struct points *p)
{
	struct sqlite3_stmt *q;
	struct res_kind *v;
	size_t n, at = 0;
	int rc;

	if (count(r, "select count(*) from point_kind where sweep = ?", s->id, &n) < 0 ||
	    !(q = of_sweep(r,
	                   "select point, kind, ops, span_ps, limit_ps, dram_bytes, mem_bytes, flops from point_kind"
	                   " where sweep = ? order by point, kind",
	                   s->id)))
		return -1;
	if (!(v = arena_array(r->a, n + 1, sizeof *v)))
		return no_memory(r->e);
	while ((rc = db_step(r->db, q, r->e)) == 1 && n--) {
		struct res_point *x = owner(p, &at, u64(q, 0));

		if (!x)
			return damaged(r, s);
		if (!x->n_kinds++)
			x->kinds = v;
		*v++ = (struct res_kind){ text(r, q, 1), u64(q, 2), u64(q, 3), u64(q, 4),
			                  u64(q, 5),     u64(q, 6), u64(q, 7) };
	}
	return rc < 0 ? -1 : db_run(r->db, q, r->e);
}

static int read_resources(struct reader *r, const struct res_sweep *s, struct points *p)
{
	struct sqlite3_stmt *q;
	struct res_resource *v;
	size_t n, at = 0;
	int rc;

	if (count(r, "select count(*) from point_resource where sweep = ?", s->id, &n) < 0 ||
	    !(q = of_sweep(r,
	                   "select point, name, stall_ps, peak_ps from point_resource where sweep = ?"
	                   " order by point, place",
	                   s->id)))
		return -1;
	if (!(v = arena_array(r->a, n + 1, sizeof *v)))
		return no_memory(r->e);
	while ((rc = db_step(r->db, q, r->e)) == 1 && n--) {
		struct res_point *x = owner(p, &at, u64(q, 0));

		if (!x)
			return damaged(r, s);
		if (!x->n_resources++)
			x->resources = v;
		*v++ = (struct res_resource){ text(r, q, 1), u64(q, 2), u64(q, 3) };
	}
	return rc < 0 ? -1 : db_run(r->db, q, r->e);
}

/* Names are shared by all points: one copy each. */
static int read_stat_names(struct reader *r, struct res_stat **names, size_t *n)
{
	struct sqlite3_stmt *q;
	int rc;

	if (count(r, "select coalesce(max(id), 0) from stat_name where id > ?", 0, n) < 0 ||
	    !(q = db_stmt(r->db, "select id, name, unit, level from stat_name", r->e)))
		return -1;
	if (!(*names = arena_array(r->a, *n + 1, sizeof **names)))
		return no_memory(r->e);
	while ((rc = db_step(r->db, q, r->e)) == 1)
		if (u64(q, 0) <= *n)
			(*names)[u64(q, 0)] =
				(struct res_stat){ text(r, q, 1), text(r, q, 2), 0, db_col_i64(q, 3) != 0 };
	return rc;
}

static int read_stats(struct reader *r, const struct res_sweep *s, struct points *p)
{
	struct sqlite3_stmt *q;
	struct res_stat *v, *names;
	size_t n, n_names, at = 0;
	int rc;

	if (read_stat_names(r, &names, &n_names) < 0 ||
	    count(r, "select count(*) from point_stat where sweep = ?", s->id, &n) < 0 ||
	    !(q = of_sweep(r, "select point, stat, value from point_stat where sweep = ? order by point, place",
	                   s->id)))
		return -1;
	if (!(v = arena_array(r->a, n + 1, sizeof *v)))
		return no_memory(r->e);
	while ((rc = db_step(r->db, q, r->e)) == 1 && n--) {
		struct res_point *x = owner(p, &at, u64(q, 0));

		if (!x || u64(q, 1) > n_names || !names[u64(q, 1)].name)
			return damaged(r, s);
		if (!x->n_stats++)
			x->stats = v;
		*v = names[u64(q, 1)];
		v++->value = u64(q, 2);
	}
	return rc < 0 ? -1 : db_run(r->db, q, r->e);
}

int res_get_points(struct resdb *db, const struct res_sweep *s, struct arena *a, struct res_point **out, size_t *n,
                   struct err *e)
{
	struct reader r = { db->db, a, e, false };
	struct points p = { NULL, 0 };
	int rc;

	if (db_exec(db->db, "begin", e) < 0) /* one state of the file from the first statement to the last */
		return -1;
	rc = read_heads(&r, s, &p) < 0 || read_values(&r, s, &p) < 0 || read_kinds(&r, s, &p) < 0 ||
	                     read_resources(&r, s, &p) < 0 || read_stats(&r, s, &p) < 0
	             ? -1
	             : 0;
	db_rollback(db->db);
	if (rc == 0 && r.failed)
		return no_memory(e);
	*out = p.v;
	*n = p.n;
	return rc;
}
