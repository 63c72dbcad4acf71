/* tracedb_range.c - annotations: how many steps a trace has, and what a range took without the profiler. */
#include "traces/db/tracedb_int.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step {
	int64_t id; /* of the range */
	char *stem;
};
struct steps {
	struct step *v;
	size_t n, cap;
};

static int steps_add(struct steps *s, int64_t id, const char *name, size_t stem, struct err *e)
{
	char *copy;

	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct step *v = realloc(s->v, cap * sizeof *v);

		if (!v)
			return err_nomem(e, NULL);
		s->v = v;
		s->cap = cap;
	}
	if (!(copy = malloc(stem + 1)))
		return err_nomem(e, NULL);
	memcpy(copy, name, stem);
	copy[stem] = '\0';
	s->v[s->n++] = (struct step){ id, copy };
	return 0;
}

static void steps_free(struct steps *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].stem);
	free(s->v);
}

/* Length of the name without its trailing number; the whole length when there is none. */
static size_t stem_of(const char *name)
{
	size_t n = strlen(name);

	while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

/* The outermost numbered annotations of a file; 0: of all files. */
static int tracedb_range_collect(struct tracedb *t, int64_t source, struct steps *out, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select r.id, n.text, r.source, r.thread, r.start_ns, r.start_ns + r.dur_ns"
	                                 " from range r join name n on n.id = r.name where r.on_device = 0"
	                                 " and ?1 in (0, r.source)"
	                                 " order by r.source, r.thread, r.start_ns, r.dur_ns desc, r.id",
	                                 e);
	int64_t last = 0, thread = 0, end = INT64_MIN;
	int rc;

	if (!s)
		return -1;
	db_bind_i64(s, 1, source);
	while ((rc = db_step(t->db, s, e)) == 1) {
		const char *name = db_col_text(s, 1);
		size_t stem = stem_of(name);

		if (db_col_i64(s, 2) != last || db_col_i64(s, 3) != thread)
			end = INT64_MIN;
		last = db_col_i64(s, 2);
		thread = db_col_i64(s, 3);
		if (name[stem] == '\0' || db_col_i64(s, 4) < end)
			continue;
		end = db_col_i64(s, 5);
		if (steps_add(out, db_col_i64(s, 0), name, stem, e) < 0)
			return -1;
	}
	return rc;
}

static int by_stem(const void *x, const void *y)
{
	const struct step *a = x, *b = y;

	return strcmp(a->stem, b->stem);
}

/* Those of the commonest name, which stand together then: how many, and the first in *first. */
static size_t commonest(struct steps *s, size_t *first)
{
	size_t best = 0;

	*first = 0;
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, by_stem);
	for (size_t i = 0, from = 0; i < s->n; i++) {
		if (strcmp(s->v[i].stem, s->v[from].stem) != 0)
			from = i;
		if (i - from + 1 > best) {
			best = i - from + 1;
			*first = from;
		}
	}
	return best;
}

int tracedb_steps(struct tracedb *t, int64_t *steps, struct err *e)
{
	struct steps all = { NULL, 0, 0 };
	size_t first;
	int64_t any;
	int rc;

	*steps = 0;
	if (db_number(t->db, db_stmt(t->db, "select exists(select 1 from launch)", e), &any, e) < 0)
		return -1;
	if (!any)
		return 0;
	if ((rc = tracedb_range_collect(t, 0, &all, e)) == 0)
		*steps = all.n ? (int64_t)commonest(&all, &first) : 1;
	steps_free(&all);
	return rc;
}

/* --- without the profiler -------------------------------------------------------------------------------------- */

/* The file imported last where it is `fresh`, else the one of that name, or the only one there is; 0: there is none. */
static int find_source(struct tracedb *t, const char *file, bool fresh, int64_t *source, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select max(id) from source where ?1 or file = ?2"
	                                 " or (select count(*) from source) = 1",
	                                 e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, fresh);
	db_bind_text(s, 2, file);
	return db_number(t->db, s, source, e);
}

/* The range is in no annotation of the file: names the nearest there is. */
static int lacks_range(struct tracedb *t, const char *file, int64_t source, const char *range, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select distinct n.text from range r join name n on n.id = r.name where"
	                                 " r.on_device = 0 and (r.source = ?1 or ?1 = 0) order by r.start_ns, n.text",
	                                 e);
	char best[160] = "", first[160] = "";
	int rc;

	if (!s)
		return -1;
	db_bind_i64(s, 1, source);
	while ((rc = db_step(t->db, s, e)) == 1) {
		const char *name = db_col_text(s, 0), *two[] = { name, best };

		if (!*first)
			snprintf(first, sizeof first, "%s", name);
		if (str_nearest(range, two, *best ? 2 : 1) == name)
			snprintf(best, sizeof best, "%s", name);
	}
	if (rc < 0)
		return -1;
	if (!*first)
		return err_set(e, ERR_IO, "no range '%s' in '%s': it has no annotations", range, file);
	return err_set(e, ERR_IO, "no range '%s' in '%s': %s '%s'", range, file,
	               *best ? "did you mean" : "the first of its ranges is", *best ? best : first);
}

int tracedb_put_wall(struct tracedb *t, const char *file, bool fresh, const char *range, int64_t wall_ns, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "update range set wall_ns = ?1 where on_device = 0 and (source = ?3 or ?3 = 0)"
	                                 " and name in (select id from name where text = ?2)",
	                                 e);
	int64_t source, n;

	assert(wall_ns >= 0);
	if (!s || find_source(t, file, fresh, &source, e) < 0)
		return -1;
	db_bind_i64(s, 1, wall_ns);
	db_bind_text(s, 2, range);
	db_bind_i64(s, 3, source);
	if (db_run(t->db, s, e) < 0 || db_number(t->db, db_stmt(t->db, "select changes()", e), &n, e) < 0)
		return -1;
	return n ? 0 : lacks_range(t, file, source, range, e);
}

int tracedb_set_wall(struct tracedb *t, const char *file, bool fresh, const char *range, int64_t wall_ns, struct err *e)
{
	assert(!t->importing);
	if (db_begin(t->db, e) < 0)
		return -1;
	if (tracedb_put_wall(t, file, fresh, range, wall_ns, e) == 0 && db_commit(t->db, e) == 0)
		return 0;
	db_rollback(t->db);
	return -1;
}

void tracedb_expect_wall(struct tracedb *t, const char *range, int64_t wall_ns)
{
	t->wall_range = range;
	t->wall_ns = wall_ns;
}

static int set_one(struct tracedb *t, const char *sql, int64_t wall_ns, int64_t id, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db, sql, e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, wall_ns);
	db_bind_i64(s, 2, id);
	return db_run(t->db, s, e);
}

static int put_walls(struct tracedb *t, int64_t source, int64_t wall_ns, struct err *e)
{
	struct steps all = { NULL, 0, 0 };
	size_t first, n;
	int rc;

	if ((rc = tracedb_range_collect(t, source, &all, e)) == 0) {
		n = commonest(&all, &first);
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = set_one(t, "update range set wall_ns = ? where id = ?", wall_ns, all.v[first + i].id, e);
		if (rc == 0)
			rc = set_one(t, "update source set wall_ns = ? where id = ?", wall_ns * (int64_t)(n ? n : 1),
			             source, e);
	}
	steps_free(&all);
	return rc;
}

int tracedb_set_step_walls(struct tracedb *t, const char *file, bool fresh, int64_t wall_ns, struct err *e)
{
	int64_t source;
	int rc;

	assert(wall_ns >= 0 && !t->importing);
	if (db_begin(t->db, e) < 0)
		return -1;
	rc = find_source(t, file, fresh, &source, e);
	if (rc == 0 && !source)
		rc = 1;
	if (rc == 0 && (rc = put_walls(t, source, wall_ns, e)) == 0 && (rc = db_commit(t->db, e)) == 0)
		return 0;
	db_rollback(t->db);
	return rc;
}
