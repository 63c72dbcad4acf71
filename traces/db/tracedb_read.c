/* tracedb_read.c - loading a selection into plain structs: which files, devices and ranges there are, and which windows of
 * time the selection is; without a range it is one window a file, without ends. */
#include "traces/db/tracedb_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "traces/db/tracedb_sum.h"

static int tracedb_read_count(struct tracedb *t, const char *sql, size_t *n, struct err *e)
{
	int64_t v;

	if (db_number(t->db, db_stmt(t->db, sql, e), &v, e) < 0)
		return -1;
	*n = (size_t)v;
	return 0;
}

/* --- the files in the database --------------------------------------------------------------------------------- */

/* What Nsight Compute ran, kernel by kernel with everything else waiting, or a table of its counters, lends its counters to the other files' launches
 * (sim/profile/counters.h) and is no part of what they did; alone it is the trace. */
#define LENT "('ncu-csv', 'counters-csv')"
#define COUNTED \
	" from source where tool not in " LENT " or not exists (select 1 from source where tool not in " LENT ")"

static int load_sources(struct tracedb_load *l, struct err *e)
{
	struct sqlite3_stmt *s =
		db_stmt(l->t->db,
	                "select id, base_ns, first_ns, file, digest, tool, wall_ns, command" COUNTED " order by id", e);
	struct trace *out = l->out;
	uint64_t digest = HASH_INIT;
	char hex[17];
	int64_t wall = 0;
	size_t n = 0, max;
	int rc;

	if (!s || tracedb_read_count(l->t, "select count(*)" COUNTED, &max, e) < 0)
		return -1;
	if (max == 0)
		return err_set(e, ERR_IO, "'%s' holds no trace: nothing was imported into it", db_path(l->t->db));
	if (!(l->sources = calloc(max, sizeof *l->sources)))
		return err_nomem(e, NULL);
	out->base_ns = INT64_MAX;
	while ((rc = db_step(l->t->db, s, e)) == 1 && n < max) {
		struct tracedb_source *src = &l->sources[n++];

		src->id = db_col_i64(s, 0);
		src->base = db_col_i64(s, 1);
		if (ns_add(src->base, db_col_i64(s, 2)) < out->base_ns)
			out->base_ns = ns_add(src->base, db_col_i64(s, 2));
		digest = hash_str(digest, db_col_text(s, 4));
		wall = db_col_null(s, 6) || wall < 0 ? -1 : ns_add(wall, db_col_i64(s, 6));
		if (n == 1) {
			out->path = arena_strdup(l->a, db_col_text(s, 3));
			out->digest = arena_strdup(l->a, db_col_text(s, 4));
			out->tool = arena_strdup(l->a, db_col_text(s, 5));
			out->command = arena_strdup(l->a, db_col_null(s, 7) ? "" : db_col_text(s, 7));
		}
	}
	if (rc < 0)
		return -1;
	l->n_sources = n;
	out->wall_ns = wall;
	out->n_files = n;
	if (n > 1) {
		hash_hex(digest, hex);
		out->path = arena_strdup(l->a, db_path(l->t->db));
		out->digest = arena_strdup(l->a, hex);
	}
	for (size_t i = 0; i < n; i++)
		l->sources[i].shift = ns_sub(l->sources[i].base, out->base_ns);
	return out->path && out->digest && out->tool && out->command ? 0 : tracedb_no_room(e);
}

static int add_device(void *arg, const struct trace_device *d, struct err *e)
{
	struct tracedb_load *l = arg;
	struct trace_device *to = &l->out->devices[l->out->n_devices];

	*to = *d;
	if (!(to->name = arena_strdup(l->a, d->name)))
		return tracedb_no_room(e);
	l->out->n_devices++;
	return 0;
}

static int load_devices(struct tracedb_load *l, struct err *e)
{
	size_t n;

	if (tracedb_read_count(l->t, "select count(distinct id) from device", &n, e) < 0)
		return -1;
	if (!(l->out->devices = arena_array(l->a, n ? n : 1, sizeof *l->out->devices)))
		return tracedb_no_room(e);
	return tracedb_each_device(l->t, add_device, l, e);
}

static int by_start_range(const void *x, const void *y)
{
	const struct trace_range *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->dur_ns != b->dur_ns ? (a->dur_ns > b->dur_ns ? -1 : 1) : strcmp(a->name, b->name);
}

static int load_ranges(struct tracedb_load *l, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(l->t->db,
	                                 "select source, name, start_ns, dur_ns, thread, launches from range"
	                                 " where on_device = 0 order by id",
	                                 e);
	size_t max;
	int rc;

	if (!s || tracedb_read_count(l->t, "select count(*) from range where on_device = 0", &max, e) < 0)
		return -1;
	if (!(l->out->ranges = arena_array(l->a, max ? max : 1, sizeof *l->out->ranges)))
		return tracedb_no_room(e);
	while ((rc = db_step(l->t->db, s, e)) == 1 && l->out->n_ranges < max) {
		struct trace_range *r = &l->out->ranges[l->out->n_ranges++];
		const struct tracedb_source *src = tracedb_source_of(l, db_col_i64(s, 0));

		if (!src)
			return tracedb_damaged(l, "a range is of no source", db_col_i64(s, 0), e);
		if (!(r->name = tracedb_load_name(l, db_col_i64(s, 1), e)))
			return -1;
		r->start_ns = ns_add(db_col_i64(s, 2), src->shift);
		r->dur_ns = db_col_i64(s, 3);
		r->thread = db_col_i64(s, 4);
		r->launches = db_col_i64(s, 5);
	}
	qsort(l->out->ranges, l->out->n_ranges, sizeof *l->out->ranges, by_start_range);
	return rc < 0 ? -1 : 0;
}

/* --- the selection's windows ----------------------------------------------------------------------------------- */

static int unknown_range(struct tracedb_load *l, struct err *e)
{
	const char **names, *near;
	size_t n = l->out->n_ranges;

	if (n == 0)
		return err_set(e, ERR_IO, "no range '%s' in '%s': it has no annotations", l->range,
		               tracedb_load_file(l));
	if (!(names = calloc(n, sizeof *names)))
		return err_nomem(e, NULL);
	for (size_t i = 0; i < n; i++)
		names[i] = l->out->ranges[i].name;
	near = str_nearest(l->range, names, n);
	err_set(e, ERR_IO, "no range '%s' in '%s': %s '%s'", l->range, tracedb_load_file(l),
	        near ? "did you mean" : "the first of its ranges is", near ? near : names[0]);
	free(names);
	return -1;
}

static int range_windows(struct tracedb_load *l, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(l->t->db,
	                                 "select r.source, r.start_ns, r.start_ns + r.dur_ns, r.wall_ns"
	                                 " from range r join name n on n.id = r.name"
	                                 " where n.text = ? and r.on_device = ?"
	                                 " order by r.source, r.start_ns",
	                                 e);
	size_t cap = 0;
	int64_t wall = 0;
	int rc;

	if (!s)
		return -1;
	db_bind_text(s, 1, l->range);
	db_bind_i64(s, 2, l->on_device);
	while ((rc = db_step(l->t->db, s, e)) == 1) {
		struct tracedb_window w = { db_col_i64(s, 0), db_col_i64(s, 1), db_col_i64(s, 2) };
		struct tracedb_window *last = l->n_windows ? &l->windows[l->n_windows - 1] : NULL;

		wall = db_col_null(s, 3) || wall < 0 ? -1 : ns_add(wall, db_col_i64(s, 3));
		if (last && last->source == w.source && w.from <= last->to) { /* annotations of one name may nest */
			last->to = last->to > w.to ? last->to : w.to;
			continue;
		}
		if (l->n_windows == cap) {
			struct tracedb_window *v = realloc(l->windows, (cap = cap ? 2 * cap : 64) * sizeof *v);

			if (!v)
				return err_nomem(e, NULL);
			l->windows = v;
		}
		l->windows[l->n_windows++] = w;
	}
	l->out->wall_ns = l->n_windows ? wall : -1;
	return rc;
}

static int select_windows(struct tracedb_load *l, struct err *e)
{
	if (!l->range) {
		if (!(l->windows = calloc(l->n_sources, sizeof *l->windows)))
			return err_nomem(e, NULL);
		for (size_t i = 0; i < l->n_sources; i++)
			l->windows[l->n_windows++] = (struct tracedb_window){ l->sources[i].id, INT64_MIN, INT64_MAX };
		return 0;
	}
	if (range_windows(l, e) < 0)
		return -1;
	if (l->n_windows == 0) {
		l->on_device = true;
		if (range_windows(l, e) < 0)
			return -1;
	}
	return l->n_windows ? 0 : unknown_range(l, e);
}

/* --- ops ------------------------------------------------------------------------------------------------------- */

static int load_all(struct tracedb_load l, struct err *e)
{
	struct tracedb *t = l.t;
	int rc = -1;

	memset(l.out, 0, sizeof *l.out);
	assert(!t->importing);
	if (db_exec(t->db, "begin", e) < 0) /* one state of the file from the first statement to the last */
		return -1;
	if (l.range && !(l.out->range = arena_strdup(l.a, l.range)))
		tracedb_no_room(e);
	else if (load_sources(&l, e) == 0 && load_devices(&l, e) == 0 && load_ranges(&l, e) == 0 &&
	         (l.range || tracedb_stat_load(t, l.a, l.out, e) == 0) && select_windows(&l, e) == 0 &&
	         tracedb_steps(t, &l.out->steps, e) == 0)
		rc = l.groups_do ? tracedb_group(&l, e) : l.each ? tracedb_pieces(&l, e) : tracedb_launches(&l, e);
	db_rollback(t->db);
	free(l.sources);
	free(l.windows);
	idmap_free(&l.names);
	idmap_free(&l.args);
	idmap_free(&l.ops);
	return rc;
}

int tracedb_load(struct tracedb *t, const char *range, struct arena *a, struct trace *out, struct err *e)
{
	return load_all((struct tracedb_load){ .t = t, .a = a, .out = out, .range = range }, e);
}

int tracedb_load_any(struct tracedb *t, const char *range, struct arena *a, struct trace *out, struct err *e)
{
	return load_all((struct tracedb_load){ .t = t, .a = a, .out = out, .range = range, .stats_do = true }, e);
}

int tracedb_load_groups(struct tracedb *t, const char *range, struct arena *a, struct trace *out, struct err *e)
{
	return load_all(
		(struct tracedb_load){
			.t = t, .a = a, .out = out, .range = range, .stats_do = true, .groups_do = true },
		e);
}

int tracedb_load_pieces(struct tracedb *t, const char *range, const struct tracedb_pieces *p, struct arena *a,
                        struct trace *out, struct err *e)
{
	return load_all((struct tracedb_load){ .t = t,
	                                       .a = a,
	                                       .out = out,
	                                       .range = range,
	                                       .stats_do = true,
	                                       .piece = p->n,
	                                       .each = p->each,
	                                       .each_arg = p->arg },
	                e);
}
