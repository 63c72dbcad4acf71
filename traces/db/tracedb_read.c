/* tracedb_read.c - loading a selection into plain structs.
 *
 * A selection is a set of time windows a source; without a range it is one window without ends. Every op, argument
 * list and name that is reached is loaded once. */
#include "traces/db/tracedb_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "traces/db/trace_args.h"

/* These wrap: a damaged file may hold any number, and the sum is then just as wrong. */
static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* --- what a load carries --------------------------------------------------------------------------------------- */

struct op_args {
	const struct trace_arg *args;
	uint32_t n;
};
struct op_node {
	struct trace_op op;
	size_t order;
};

static int no_memory(struct err *e)
{
	return err_set(e, ERR_NOMEM, "the trace does not fit into the memory allowed for it");
}

static int damaged(const struct tracedb_load *l, const char *what, int64_t id, struct err *e)
{
	return err_set(e, ERR_IO, "'%s' is damaged: %s %lld", db_path(l->t->db), what, (long long)id);
}

static int count(struct tracedb *t, const char *sql, size_t *n, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db, sql, e);

	if (!s || db_step(t->db, s, e) < 0)
		return -1;
	*n = (size_t)db_col_i64(s, 0);
	return db_run(t->db, s, e);
}

static const struct tracedb_source *source_of(const struct tracedb_load *l, int64_t id)
{
	for (size_t i = 0; i < l->n_sources; i++)
		if (l->sources[i].id == id)
			return &l->sources[i];
	return NULL;
}

static const char *load_name(struct tracedb_load *l, int64_t id, struct err *e)
{
	char *name = idmap_get(&l->names, id);
	struct sqlite3_stmt *s;
	int rc;

	if (name)
		return name;
	if (!(s = db_stmt(l->t->db, "select text from name where id = ?", e)))
		return NULL;
	db_bind_i64(s, 1, id);
	if ((rc = db_step(l->t->db, s, e)) < 0)
		return NULL;
	if (rc == 0) {
		damaged(l, "it lacks name", id, e);
		return NULL;
	}
	if (!(name = arena_strdup(l->a, db_col_text(s, 0)))) {
		no_memory(e);
		return NULL;
	}
	if (db_run(l->t->db, s, e) < 0 || idmap_put(&l->names, id, name, e) < 0)
		return NULL;
	return name;
}

/* --- the files in the database --------------------------------------------------------------------------------- */

/* What Nsight Compute ran, kernel by kernel with everything else waiting, lends its counters to the other files' launches
 * (sim/profile/counters.h) and is no part of what they did; alone it is the trace. */
#define COUNTED " from source where tool <> 'ncu-csv' or not exists (select 1 from source where tool <> 'ncu-csv')"

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

	if (!s || count(l->t, "select count(*)" COUNTED, &max, e) < 0)
		return -1;
	if (max == 0)
		return err_set(e, ERR_IO, "'%s' holds no trace: nothing was imported into it", db_path(l->t->db));
	if (!(l->sources = calloc(max, sizeof *l->sources)))
		return err_set(e, ERR_NOMEM, "out of memory");
	out->base_ns = INT64_MAX;
	while ((rc = db_step(l->t->db, s, e)) == 1 && n < max) {
		struct tracedb_source *src = &l->sources[n++];

		src->id = db_col_i64(s, 0);
		src->base = db_col_i64(s, 1);
		if (add(src->base, db_col_i64(s, 2)) < out->base_ns)
			out->base_ns = add(src->base, db_col_i64(s, 2));
		digest = hash_str(digest, db_col_text(s, 4));
		wall = db_col_null(s, 6) || wall < 0 ? -1 : add(wall, db_col_i64(s, 6));
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
	if (n > 1) {
		hash_hex(digest, hex);
		out->path = arena_strdup(l->a, db_path(l->t->db));
		out->digest = arena_strdup(l->a, hex);
	}
	for (size_t i = 0; i < n; i++)
		l->sources[i].shift = sub(l->sources[i].base, out->base_ns);
	return out->path && out->digest && out->tool && out->command ? 0 : no_memory(e);
}

static int load_devices(struct tracedb_load *l, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(l->t->db,
	                                 "select id, name, sm_major, sm_minor, sms, mem_bytes, smem_per_sm,"
	                                 " regs_per_sm from device group by id order by id",
	                                 e);
	size_t max;
	int rc;

	if (!s || count(l->t, "select count(distinct id) from device", &max, e) < 0)
		return -1;
	if (!(l->out->devices = arena_array(l->a, max ? max : 1, sizeof *l->out->devices)))
		return no_memory(e);
	while ((rc = db_step(l->t->db, s, e)) == 1 && l->out->n_devices < max) {
		struct trace_device *d = &l->out->devices[l->out->n_devices++];

		d->id = db_col_i64(s, 0);
		if (!(d->name = arena_strdup(l->a, db_col_text(s, 1))))
			return no_memory(e);
		d->sm_major = (int32_t)db_col_i64(s, 2);
		d->sm_minor = (int32_t)db_col_i64(s, 3);
		d->sms = (int32_t)db_col_i64(s, 4);
		d->mem_bytes = db_col_i64(s, 5);
		d->smem_per_sm = db_col_i64(s, 6);
		d->regs_per_sm = db_col_i64(s, 7);
	}
	return rc < 0 ? -1 : 0;
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

	if (!s || count(l->t, "select count(*) from range where on_device = 0", &max, e) < 0)
		return -1;
	if (!(l->out->ranges = arena_array(l->a, max ? max : 1, sizeof *l->out->ranges)))
		return no_memory(e);
	while ((rc = db_step(l->t->db, s, e)) == 1 && l->out->n_ranges < max) {
		struct trace_range *r = &l->out->ranges[l->out->n_ranges++];
		const struct tracedb_source *src = source_of(l, db_col_i64(s, 0));

		if (!src)
			return damaged(l, "a range is of no source", db_col_i64(s, 0), e);
		if (!(r->name = load_name(l, db_col_i64(s, 1), e)))
			return -1;
		r->start_ns = add(db_col_i64(s, 2), src->shift);
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
		return err_set(e, ERR_IO, "no range '%s' in '%s': it has no annotations", l->range, db_path(l->t->db));
	if (!(names = calloc(n, sizeof *names)))
		return err_set(e, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		names[i] = l->out->ranges[i].name;
	near = str_nearest(l->range, names, n);
	err_set(e, ERR_IO, "no range '%s' in '%s': %s '%s'", l->range, db_path(l->t->db),
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

		wall = db_col_null(s, 3) || wall < 0 ? -1 : add(wall, db_col_i64(s, 3));
		if (last && last->source == w.source && w.from <= last->to) { /* annotations of one name may nest */
			last->to = last->to > w.to ? last->to : w.to;
			continue;
		}
		if (l->n_windows == cap) {
			struct tracedb_window *v = realloc(l->windows, (cap = cap ? 2 * cap : 64) * sizeof *v);

			if (!v)
				return err_set(e, ERR_NOMEM, "out of memory");
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
			return err_set(e, ERR_NOMEM, "out of memory");
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

static const struct op_args *load_args(struct tracedb_load *l, int64_t id, struct err *e)
{
	struct op_args *g = idmap_get(&l->args, id);
	struct sqlite3_stmt *s;
	int rc;

	if (g)
		return g;
	if (!(s = db_stmt(l->t->db, "select text from args where id = ?", e)))
		return NULL;
	db_bind_i64(s, 1, id);
	if ((rc = db_step(l->t->db, s, e)) < 0)
		return NULL;
	if (!(g = arena_alloc(l->a, sizeof *g))) {
		no_memory(e);
		return NULL;
	}
	rc = rc == 1 ? trace_args_decode(db_col_text(s, 0), l->a, &g->args, &g->n) : -1;
	if (rc < 0) {
		if (rc == -2)
			no_memory(e);
		else
			damaged(l, "it lacks or garbles the op arguments", id, e);
		return NULL;
	}
	if (db_run(l->t->db, s, e) < 0 || idmap_put(&l->args, id, g, e) < 0)
		return NULL;
	return g;
}

/* One op without its ancestors; `up` is still NULL. */
static struct op_node *load_op_row(struct tracedb_load *l, int64_t id, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(l->t->db,
	                                 "select source, parent, name, start_ns, dur_ns, thread, sequence,"
	                                 " args from op where id = ?",
	                                 e);
	const struct tracedb_source *src;
	const struct op_args *g;
	struct op_node *n;
	int64_t name, args = 0;
	int rc;

	if (!s)
		return NULL;
	db_bind_i64(s, 1, id);
	if ((rc = db_step(l->t->db, s, e)) < 0)
		return NULL;
	src = rc == 1 ? source_of(l, db_col_i64(s, 0)) : NULL;
	if (!src) {
		damaged(l, "it lacks op", id, e);
		return NULL;
	}
	if (!(n = arena_alloc(l->a, sizeof *n))) {
		no_memory(e);
		return NULL;
	}
	n->op.id = id;
	n->op.parent = db_col_null(s, 1) ? -1 : db_col_i64(s, 1);
	name = db_col_i64(s, 2);
	n->op.start_ns = add(db_col_i64(s, 3), src->shift);
	n->op.dur_ns = db_col_i64(s, 4);
	n->op.thread = db_col_i64(s, 5);
	n->op.sequence = db_col_null(s, 6) ? -1 : db_col_i64(s, 6);
	if (!db_col_null(s, 7))
		args = db_col_i64(s, 7);
	if (db_run(l->t->db, s, e) < 0 || !(n->op.name = load_name(l, name, e)))
		return NULL;
	if (args) {
		if (!(g = load_args(l, args, e)))
			return NULL;
		n->op.args = g->args;
		n->op.n_args = g->n;
	}
	n->order = l->ops.n;
	return idmap_put(&l->ops, id, n, e) < 0 ? NULL : n;
}

static const struct trace_op *load_op(struct tracedb_load *l, int64_t id, struct err *e)
{
	const size_t first = l->ops.n;
	struct op_node *n = idmap_get(&l->ops, id), *up;
	const struct trace_op *op;

	if (n)
		return &n->op;
	if (!(n = load_op_row(l, id, e)))
		return NULL;
	for (op = &n->op; n->op.parent != -1; n = up) {
		up = idmap_get(&l->ops, n->op.parent);
		if (up && up->order >= first) { /* met on this very walk */
			damaged(l, "an op encloses itself: op", id, e);
			return NULL;
		}
		if (up) {
			n->op.up = &up->op;
			break;
		}
		if (!(up = load_op_row(l, n->op.parent, e)))
			return NULL;
		n->op.up = &up->op;
	}
	return op;
}

/* --- launches -------------------------------------------------------------------------------------------------- */

int tracedb_launch_row(struct tracedb_load *l, struct sqlite3_stmt *s, const struct tracedb_source *src,
                       struct trace_launch *x, struct err *e)
{
	const int64_t kind = db_col_i64(s, 1), dir = db_col_i64(s, 23);
	int i = 5;

	x->id = db_col_i64(s, 0);
	if (kind < TRACE_KERNEL || kind > TRACE_MEMSET || dir < TRACE_COPY_NONE || dir > TRACE_COPY_PTOP)
		return damaged(l, "it holds an unknown kind of launch: launch", x->id, e);
	x->kind = (enum trace_launch_kind)kind;
	x->dir = (enum trace_copy_dir)dir;
	if (!(x->name = load_name(l, db_col_i64(s, 2), e)))
		return -1;
	x->start_ns = add(db_col_i64(s, 3), src->shift);
	x->dur_ns = db_col_i64(s, 4);
	x->correlation = db_col_i64(s, i++);
	x->device = db_col_i64(s, i++);
	x->context = db_col_i64(s, i++);
	x->stream = db_col_i64(s, i++);
	for (int k = 0; k < 3; k++)
		x->grid[k] = (uint32_t)db_col_i64(s, i++);
	for (int k = 0; k < 3; k++)
		x->block[k] = (uint32_t)db_col_i64(s, i++);
	for (int k = 0; k < 3; k++)
		x->cluster[k] = (uint32_t)db_col_i64(s, i++);
	x->registers = (uint32_t)db_col_i64(s, i++);
	x->smem_static = (uint64_t)db_col_i64(s, i++);
	x->smem_dynamic = (uint64_t)db_col_i64(s, i++);
	x->local = (uint64_t)db_col_i64(s, i++);
	x->bytes = db_col_i64(s, i);
	x->blocking = db_col_i64(s, 24) != 0;
	if (!db_col_null(s, 25) && !(x->op = load_op(l, db_col_i64(s, 25), e)))
		return -1;
	x->graph = db_col_i64(s, 26);
	x->graph_node = db_col_i64(s, 27);
	x->host_start_ns = db_col_null(s, 28) ? -1 : add(db_col_i64(s, 28), src->shift);
	x->host_dur_ns = db_col_null(s, 28) ? -1 : db_col_i64(s, 29);
	return 0;
}

static int by_start_launch(const void *x, const void *y)
{
	const struct trace_launch *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_value(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

int tracedb_each_window(struct tracedb_load *l, const char *sql, size_t *n, tracedb_row *row, void *arg, struct err *e)
{
	*n = 0;
	for (size_t w = 0; w < l->n_windows; w++) {
		struct sqlite3_stmt *s = db_stmt(l->t->db, sql, e);
		const struct tracedb_source *src = source_of(l, l->windows[w].source);
		int rc;

		if (!s)
			return -1;
		if (!src)
			return damaged(l, "a range is of no source", l->windows[w].source, e);
		db_bind_i64(s, 1, src->id);
		db_bind_i64(s, 2, l->windows[w].from);
		db_bind_i64(s, 3, l->windows[w].to);
		while ((rc = db_step(l->t->db, s, e)) == 1) {
			if (!row)
				*n += (size_t)db_col_i64(s, 0);
			else if (row(l, s, src, (*n)++, arg, e) < 0)
				return -1;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int launch_row(struct tracedb_load *l, struct sqlite3_stmt *s, const struct tracedb_source *src, size_t i,
                      void *arg, struct err *e)
{
	(void)arg;
	if (i >= l->out->n_launches) /* counted by the index alone */
		return damaged(l, "its index disagrees with its table at launch", db_col_i64(s, 0), e);
	return tracedb_launch_row(l, s, src, &l->out->launches[i], e);
}

static int sync_row(struct tracedb_load *l, struct sqlite3_stmt *s, const struct tracedb_source *src, size_t i,
                    void *arg, struct err *e)
{
	(void)arg;
	if (i >= l->out->n_syncs)
		return damaged(l, "its index disagrees with its table at call", (int64_t)i, e);
	l->out->sync_ns[i] = add(db_col_i64(s, 0), src->shift);
	return 0;
}

int tracedb_nothing(const struct tracedb_load *l, struct err *e)
{
	if (l->range)
		return err_set(e, ERR_IO, "no device activity in range '%s' of '%s'", l->range, db_path(l->t->db));
	if (l->out->n_stats == 0)
		return err_set(e, ERR_IO, "no device activity in '%s'", db_path(l->t->db));
	if (l->stats_do)
		return 0;
	return err_set(e, ERR_IO,
	               "no launches in '%s': its %zu kernels are known only as statistics (how often, how"
	               " long), without order or shapes; 'trace top' shows them",
	               db_path(l->t->db), l->out->n_stats);
}

static int count_launches(struct tracedb_load *l, struct err *e)
{
	static const char by_device[] = "select count(*) from launch where source = ?"
					" and start_ns >= ? and start_ns < ?";
	static const char by_call[] = "select count(*) from launch where source = ? and at_ns >= ? and at_ns < ?";

	if (tracedb_each_window(l, l->on_device ? by_device : by_call, &l->out->n_launches, NULL, NULL, e) < 0)
		return -1;
	return l->out->n_launches > 0 || l->each ? 0 : tracedb_nothing(l, e);
}

static int load_launches(struct tracedb_load *l, struct err *e)
{
	struct trace *out = l->out;
	int64_t end = INT64_MIN;
	size_t n;

	if (count_launches(l, e) < 0)
		return -1;
	if (!(out->launches = arena_array(l->a, out->n_launches, sizeof *out->launches)))
		return no_memory(e);
	if (tracedb_each_window(l,
	                        l->on_device ? "select " TRACEDB_LAUNCH_COLUMNS
	                                       " and l.start_ns >= ? and l.start_ns < ?"
	                                     : "select " TRACEDB_LAUNCH_COLUMNS " and l.at_ns >= ? and l.at_ns < ?",
	                        &n, launch_row, NULL, e) < 0)
		return -1;
	out->n_launches = n;
	if (n == 0)
		return 0;
	/* One file's are in order by id already, and a sort that moves nothing still copies all of them. */
	for (size_t i = 1; i < n; i++)
		if (by_start_launch(&out->launches[i - 1], &out->launches[i]) > 0) {
			qsort(out->launches, n, sizeof *out->launches, by_start_launch);
			break;
		}
	for (size_t i = 0; i < n; i++)
		if (add(out->launches[i].start_ns, out->launches[i].dur_ns) > end)
			end = add(out->launches[i].start_ns, out->launches[i].dur_ns);
	out->span_ns = sub(end, out->launches[0].start_ns);
	return 0;
}

static int load_syncs(struct tracedb_load *l, struct err *e)
{
	struct trace *out = l->out;
	size_t n;

	if (tracedb_each_window(l,
	                        "select count(*) from call where kind = 2 and source = ? and start_ns >= ?"
	                        " and start_ns < ?",
	                        &out->n_syncs, NULL, NULL, e) < 0)
		return -1;
	if (!(out->sync_ns = arena_array(l->a, out->n_syncs ? out->n_syncs : 1, sizeof *out->sync_ns)))
		return no_memory(e);
	if (tracedb_each_window(l,
	                        "select start_ns from call where kind = 2 and source = ? and start_ns >= ?"
	                        " and start_ns < ?",
	                        &n, sync_row, NULL, e) < 0)
		return -1;
	out->n_syncs = n;
	qsort(out->sync_ns, n, sizeof *out->sync_ns, by_value);
	return 0;
}

int tracedb_launches(struct tracedb_load *l, struct err *e)
{
	return load_launches(l, e) < 0 ? -1 : load_syncs(l, e);
}

static int load_all(struct tracedb_load l, struct err *e)
{
	struct tracedb *t = l.t;
	int rc = -1;

	memset(l.out, 0, sizeof *l.out);
	assert(!t->importing);
	if (db_exec(t->db, "begin", e) < 0) /* one state of the file from the first statement to the last */
		return -1;
	if (l.range && !(l.out->range = arena_strdup(l.a, l.range)))
		no_memory(e);
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

int tracedb_load_pieces(struct tracedb *t, const char *range, size_t n, tracedb_piece *each, void *arg, struct arena *a,
                        struct trace *out, struct err *e)
{
	return load_all((struct tracedb_load){ .t = t,
	                                       .a = a,
	                                       .out = out,
	                                       .range = range,
	                                       .stats_do = true,
	                                       .piece = n,
	                                       .each = each,
	                                       .each_arg = arg },
	                e);
}
