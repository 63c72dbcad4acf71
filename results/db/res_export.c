#include "results/db/res_export.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "results/db/res_int.h"

#define PIECE (1 << 20)
#define POINT 1 /* which column of points is their number */

const char *const res_export_names[] = { "points",   "values", "stats",  "kinds",     "resources",     "sweeps",
	                                 "runs",     "ops",    "stalls", "run-stats", "run-resources", "limits",
	                                 "warnings", "energy", "next",   NULL };

/* In the order of the names; those with ?1 are of sweeps, all of them where it is 0. Points are made below. */
static const char *const queries[] = {
	NULL,
	"select * from v_values where ?1 in (0, sweep) order by sweep, point, key",
	"select * from v_stats where ?1 in (0, sweep) order by sweep, point, name",
	"select * from v_kinds where ?1 in (0, sweep) order by sweep, point, kind",
	"select * from v_resources where ?1 in (0, sweep) order by sweep, point, name",
	"select * from v_sweeps where ?1 in (0, sweep) order by sweep",
	"select * from v_runs order by run",
	"select * from v_ops order by run, op",
	"select * from v_stalls order by run, op, resource",
	"select * from v_run_stats order by run, name",
	"select * from v_run_resources order by run, name",
	"select * from v_limits order by run, key",
	"select * from v_warnings order by run, what, text",
	"select * from v_energy order by run, block, name",
	"select * from v_next order by run, kind",
};

static int res_export_place_of(const char *what, int *place, struct err *e)
{
	size_t n = 0;
	const char *near;

	for (*place = 0; res_export_names[*place]; ++*place)
		if (strcmp(res_export_names[*place], what) == 0)
			return 0;
	while (res_export_names[n])
		n++;
	near = str_nearest(what, res_export_names, n);
	return err_set(e, ERR_USAGE, "there is no table '%s'%s%s%s", what, near ? "; did you mean '" : "",
	               near ? near : "", near ? "'?" : "");
}

/* --- fields ------------------------------------------------------------------------------------------------ */

static void quoted(struct str *to, const char *text)
{
	if (text[strcspn(text, ",\"\n\r")] || str_is_formula(text))
		str_add_cell(to, text);
	else
		str_add(to, text);
}

static void field(struct str *to, struct sqlite3_stmt *s, int i)
{
	switch (db_col_kind(s, i)) {
	case DB_INT:
		str_addf(to, "%" PRId64, db_col_i64(s, i));
		break;
	case DB_REAL:
		str_addf(to, "%.15g", db_col_f64(s, i)); /* a time in us to its last ps */
		break;
	case DB_TEXT:
		quoted(to, db_col_text(s, i));
		break;
	default:
		break;
	}
}

/* --- further columns of points ----------------------------------------------------------------------------- */

static bool stands_there(struct sqlite3_stmt *s, const char *name)
{
	for (int i = 0; i < db_cols(s); i++)
		if (strcmp(db_col_name(s, i), name) == 0)
			return true;
	return false;
}

static void more_heads(struct str *to, struct sqlite3_stmt *s, const struct res_export_more *m)
{
	for (size_t c = 0; m && c < m->n; c++)
		if (!stands_there(s, m->names[c])) {
			str_addc(to, ',');
			quoted(to, m->names[c]);
		}
}

/* Of the row that is read; *at is where the one before stood: both rise. */
static void more_fields(struct str *to, struct sqlite3_stmt *s, const struct res_export_more *m, size_t *at)
{
	const uint64_t point = m ? (uint64_t)db_col_i64(s, POINT) : 0;

	while (m && *at < m->n_points && m->points[*at] < point)
		++*at;
	for (size_t c = 0; m && c < m->n; c++) {
		if (stands_there(s, m->names[c]))
			continue;
		str_addc(to, ',');
		if (*at < m->n_points && m->points[*at] == point && !isnan(m->values[c][*at]))
			str_addf(to, "%.15g", m->values[c][*at]);
	}
}

/* --- points: a column an axis ------------------------------------------------------------------------------ */

static int last_sweep(struct db *db, int64_t *sweep, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(db, "select coalesce(max(id), 0) from sweep where ?1 in (0, id)", e);
	const int64_t asked = *sweep;

	if (!s)
		return -1;
	db_bind_i64(s, 1, asked);
	if (db_step(db, s, e) < 0)
		return -1;
	*sweep = db_col_i64(s, 0);
	if (db_run(db, s, e) < 0)
		return -1;
	if (*sweep == 0 && asked)
		return err_set(e, ERR_IO, "'%s' has no sweep %" PRId64, db_path(db), asked);
	return *sweep ? 0 : err_set(e, ERR_IO, "'%s' holds no sweep", db_path(db));
}

/* Of v_points, what stands there already, or as columns of the axes. */
static bool is_key(const char *column)
{
	return strcmp(column, "sweep") == 0 || strcmp(column, "point") == 0 || strcmp(column, "settings") == 0;
}

static int points_query(struct db *db, int64_t sweep, struct str *sql, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(db, "select place, key from sweep_axis where sweep = ? order by place", e),
			    *view = s ? db_stmt(db, "select * from v_points limit 0", e) : NULL;
	int rc = 1;

	if (!view)
		return -1;
	db_bind_i64(s, 1, sweep);
	str_add(sql, "select sweep, point");
	while (rc == 1 && (rc = db_step(db, s, e)) == 1) {
		str_addf(
			sql,
			", (select coalesce(v.number, v.value) from point_value v where v.sweep = p.sweep and v.point ="
			" p.point and v.place = %" PRId64 ") as ",
			db_col_i64(s, 0));
		str_add_quoted(sql, db_col_text(s, 1)); /* a name of SQL's */
	}
	for (int i = 0; i < db_cols(view); i++)
		if (!is_key(db_col_name(view, i)))
			str_addf(sql, ", %s", db_col_name(view, i));
	str_add(sql, " from v_points p where sweep = ?1 order by point");
	if (rc < 0)
		return -1;
	return sql->failed ? err_nomem(e, "for the columns") : 0;
}

/* --- all of it --------------------------------------------------------------------------------------------- */

static int rows_out(struct db *db, struct sqlite3_stmt *s, const struct res_export *x, struct str *text, size_t *rows,
                    struct err *e)
{
	const struct res_export_more *more = strcmp(x->what, res_export_names[0]) == 0 ? x->more : NULL;
	const int n = db_cols(s);
	size_t at = 0;
	int rc;

	for (int i = 0; i < n; i++) {
		str_add(text, i ? "," : "");
		quoted(text, db_col_name(s, i));
	}
	more_heads(text, s, more);
	str_addc(text, '\n');
	while ((rc = db_step(db, s, e)) == 1) {
		for (int i = 0; i < n; i++) {
			str_add(text, i ? "," : "");
			field(text, s, i);
		}
		more_fields(text, s, more, &at);
		str_addc(text, '\n');
		++*rows;
		if (text->failed)
			return err_nomem(e, "for a row");
		if (text->len >= PIECE && x->take(x->ctx, text, e) < 0)
			return -1;
	}
	return rc < 0 ? -1 : x->take(x->ctx, text, e);
}

int res_export_csv(struct resdb *r, const struct res_export *x, size_t *rows, struct err *e)
{
	struct str text = STR_INIT, sql = STR_INIT;
	struct sqlite3_stmt *s;
	int64_t sweep = x->sweep;
	int place, rc = -1;

	*rows = 0;
	if (res_export_place_of(x->what, &place, e) < 0)
		return -1;
	if (place == 0 && (last_sweep(r->db, &sweep, e) < 0 || points_query(r->db, sweep, &sql, e) < 0))
		goto out;
	if (!(s = db_stmt_once(r->db, place ? queries[place] : str_c(&sql), e)))
		goto out;
	if (place == 0 || strstr(queries[place], "?1"))
		db_bind_i64(s, 1, sweep);
	rc = rows_out(r->db, s, x, &text, rows, e);
	db_stmt_free(s);
out:
	str_free(&text);
	str_free(&sql);
	return rc;
}
