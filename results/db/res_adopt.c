/* res_adopt.c - points that another sweep of the file has computed already: copied, not run again. */
#include <string.h>

#include "results/db/res_int.h"
#include "results/db/res_sweep.h"
#include "sim/base/hash.h"

/* Sweeps that ask the same of a configuration; with points of this build, for all we know. */
#define ALIKE \
	"select s.id from sweep s join sweep mine on mine.id = ?1 where s.id <> mine.id and s.workload = " \
	"mine.workload" \
	" and s.start = mine.start and s.fidelity = mine.fidelity and s.seed = mine.seed" \
	" and s.reuse_ppm = mine.reuse_ppm"

static int any(struct db *db, int64_t sweep, struct err *e)
{
	struct sqlite3_stmt *q = db_stmt(db, ALIKE " limit 1", e);

	if (!q)
		return -1;
	db_bind_i64(q, 1, sweep);
	return (int)res_find(db, q, e);
}

/* 1: found; the one stored first, so that it does not matter when one asks. By the configuration, whatever SQLite
 * thinks of it: there are more points than sweeps. */
static int res_adopt_find(struct db *db, int64_t sweep, const char *build, uint64_t config, int64_t from[2],
                          struct err *e)
{
	struct sqlite3_stmt *q =
		db_stmt(db,
	                "select p.sweep, p.point from point p indexed by point_config where p.config_hash = ?3"
	                " and p.status = 'done' and p.build = (select id from build where text = ?2)"
	                " and p.sweep in (" ALIKE ") order by p.sweep, p.point limit 1",
	                e);
	char hash[17];
	int rc;

	if (!q)
		return -1;
	hash_hex(config, hash);
	db_bind_i64(q, 1, sweep);
	db_bind_text(q, 2, build);
	db_bind_text(q, 3, hash);
	if ((rc = db_step(db, q, e)) != 1)
		return rc;
	from[0] = db_col_i64(q, 0);
	from[1] = db_col_i64(q, 1);
	return db_run(db, q, e) < 0 ? -1 : 1;
}

static int res_adopt_copy(struct db *db, const int64_t from[2], int64_t sweep, uint64_t point, struct err *e)
{
	static const char *const rows[] = {
		"insert into point(sweep, point, build, config_hash, status, reason, roofline_bound" RES_COLUMNS ")"
		" select ?1, ?2, build, config_hash, status, reason, roofline_bound" RES_COLUMNS
		" from point where sweep = ?3 and point = ?4",
		"insert into point_kind select ?1, ?2, kind, ops, span_ps, limit_ps, dram_bytes, mem_bytes, flops from "
		"point_kind"
		" where sweep = ?3 and point = ?4",
		"insert into point_resource select ?1, ?2, place, name, stall_ps, peak_ps from point_resource"
		" where sweep = ?3 and point = ?4",
		"insert into point_stat select ?1, ?2, place, stat, value from point_stat where sweep = ?3 and point = "
		"?4",
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sqlite3_stmt *q = db_stmt(db, rows[i], e);

		if (!q)
			return -1;
		db_bind_i64(q, 1, sweep);
		db_bind_i64(q, 2, (int64_t)point);
		db_bind_i64(q, 3, from[0]);
		db_bind_i64(q, 4, from[1]);
		if (db_run(db, q, e) < 0)
			return -1;
	}
	return 0;
}

static int adopt(struct db *db, int64_t sweep, const struct res_point *p, size_t n_axes, bool *taken, struct err *e)
{
	int64_t from[2];
	int rc = res_adopt_find(db, sweep, p->build, p->config_hash, from, e);

	*taken = false;
	if (rc != 1)
		return rc;
	/* Another process at the same sweep may have put it there meanwhile: the same point, then. */
	if ((rc = res_clear_place(db, sweep, p, e)) == 0 && res_adopt_copy(db, from, sweep, p->point, e) == 0)
		rc = res_put_values(db, sweep, p, n_axes, e);
	*taken = rc >= 0;
	return rc < 0 ? -1 : 0;
}

int res_adopt_points(struct resdb *r, int64_t sweep, const struct res_point *p, size_t n, size_t n_axes, bool *taken,
                     struct err *e)
{
	size_t i = 0;
	int some;

	memset(taken, 0, n * sizeof *taken);
	if (n == 0 || (some = any(r->db, sweep, e)) == 0)
		return 0;
	if (some < 0 || db_begin(r->db, e) < 0)
		return -1;
	while (i < n && adopt(r->db, sweep, &p[i], n_axes, &taken[i], e) == 0)
		i++;
	if (i == n && db_commit(r->db, e) == 0)
		return 0;
	db_rollback(r->db);
	return -1;
}
