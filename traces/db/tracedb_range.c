/* tracedb_range.c - annotations: how many steps a trace has, and what a range took without the profiler. */
#include "traces/db/tracedb_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct names {
	char **v;
	size_t n, cap;
};

static int names_add(struct names *a, const char *text, size_t n, struct err *e)
{
	char *copy;

	if (a->n == a->cap) {
		size_t cap = a->cap ? 2 * a->cap : 64;
		char **v = realloc(a->v, cap * sizeof *v);

		if (!v)
			return err_set(e, ERR_NOMEM, "out of memory");
		a->v = v;
		a->cap = cap;
	}
	if (!(copy = malloc(n + 1)))
		return err_set(e, ERR_NOMEM, "out of memory");
	memcpy(copy, text, n);
	copy[n] = '\0';
	a->v[a->n++] = copy;
	return 0;
}

static void names_free(struct names *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i]);
	free(a->v);
}

static int by_text(const void *x, const void *y)
{
	char *const *a = x, *const *b = y;

	return strcmp(*a, *b);
}

static size_t longest_run(struct names *a)
{
	size_t best = 0;

	if (a->n)
		qsort(a->v, a->n, sizeof *a->v, by_text);
	for (size_t i = 0, from = 0; i < a->n; i++) {
		if (strcmp(a->v[i], a->v[from]) != 0)
			from = i;
		if (i - from + 1 > best)
			best = i - from + 1;
	}
	return best;
}

/* Length of the name without its trailing number; the whole length when there is none. */
static size_t stem(const char *name)
{
	size_t n = strlen(name);

	while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

/* The stems of the outermost numbered annotations. */
static int collect(struct tracedb *t, struct names *out, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select n.text, r.source, r.thread, r.start_ns, r.start_ns + r.dur_ns"
	                                 " from range r join name n on n.id = r.name where r.on_device = 0"
	                                 " order by r.source, r.thread, r.start_ns, r.dur_ns desc, r.id",
	                                 e);
	int64_t source = 0, thread = 0, end = INT64_MIN;
	int rc;

	if (!s)
		return -1;
	while ((rc = db_step(t->db, s, e)) == 1) {
		const char *name = db_col_text(s, 0);
		size_t n = stem(name);

		if (db_col_i64(s, 1) != source || db_col_i64(s, 2) != thread)
			end = INT64_MIN;
		source = db_col_i64(s, 1);
		thread = db_col_i64(s, 2);
		if (name[n] == '\0' || db_col_i64(s, 3) < end)
			continue;
		end = db_col_i64(s, 4);
		if ((rc = names_add(out, name, n, e)) < 0)
			break;
	}
	return rc;
}

int tracedb_steps(struct tracedb *t, int64_t *steps, struct err *e)
{
	struct names stems = { NULL, 0, 0 };
	int64_t any;
	int rc;

	*steps = 0;
	if (db_number(t->db, db_stmt(t->db, "select exists(select 1 from launch)", e), &any, e) < 0)
		return -1;
	if (!any)
		return 0;
	if ((rc = collect(t, &stems, e)) == 0)
		*steps = stems.n ? (int64_t)longest_run(&stems) : 1;
	names_free(&stems);
	return rc;
}

int tracedb_set_wall(struct tracedb *t, const char *range, int64_t wall_ns, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "update range set wall_ns = ? where on_device = 0 and name in"
	                                 " (select id from name where text = ?)",
	                                 e);
	int64_t n;

	assert(!t->importing && wall_ns >= 0);
	if (!s)
		return -1;
	db_bind_i64(s, 1, wall_ns);
	db_bind_text(s, 2, range);
	if (db_run(t->db, s, e) < 0 || db_number(t->db, db_stmt(t->db, "select changes()", e), &n, e) < 0)
		return -1;
	return n ? 0 : err_set(e, ERR_IO, "no range '%s' in '%s'", range, db_path(t->db));
}
