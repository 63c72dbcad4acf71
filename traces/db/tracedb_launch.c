/* tracedb_launch.c - the launches of a selection's windows with all they lead to: ops, arguments and names, each of which
 * is loaded once. */
#include "traces/db/tracedb_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "traces/db/trace_args.h"

int tracedb_no_room(struct err *e)
{
	return err_set(e, ERR_NOMEM, "the trace does not fit into the memory allowed for it");
}

const char *tracedb_load_file(const struct tracedb_load *l)
{
	const char *path = db_path(l->t->db);

	return l->out->path && strcmp(path, ":memory:") == 0 ? l->out->path : path;
}

int tracedb_damaged(const struct tracedb_load *l, const char *what, int64_t id, struct err *e)
{
	return err_set(e, ERR_IO, "'%s' is damaged: %s %lld", tracedb_load_file(l), what, (long long)id);
}

const struct tracedb_source *tracedb_source_of(const struct tracedb_load *l, int64_t id)
{
	for (size_t i = 0; i < l->n_sources; i++)
		if (l->sources[i].id == id)
			return &l->sources[i];
	return NULL;
}

/* --- names and ops -------------------------------------------------------------------------------------------- */

const char *tracedb_load_name(struct tracedb_load *l, int64_t id, struct err *e)
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
		tracedb_damaged(l, "it lacks name", id, e);
		return NULL;
	}
	if (!(name = arena_strdup(l->a, db_col_text(s, 0)))) {
		tracedb_no_room(e);
		return NULL;
	}
	if (db_run(l->t->db, s, e) < 0 || idmap_put(&l->names, id, name, e) < 0)
		return NULL;
	return name;
}

struct op_args {
	const struct trace_arg *args;
	uint32_t n;
};
struct op_node {
	struct trace_op op;
	size_t order;
};

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
		tracedb_no_room(e);
		return NULL;
	}
	rc = rc == 1 ? trace_args_decode(db_col_text(s, 0), l->a, &g->args, &g->n) : -1;
	if (rc < 0) {
		if (rc == -2)
			tracedb_no_room(e);
		else
			tracedb_damaged(l, "it lacks or garbles the op arguments", id, e);
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
	src = rc == 1 ? tracedb_source_of(l, db_col_i64(s, 0)) : NULL;
	if (!src) {
		tracedb_damaged(l, "it lacks op", id, e);
		return NULL;
	}
	if (!(n = arena_alloc(l->a, sizeof *n))) {
		tracedb_no_room(e);
		return NULL;
	}
	n->op.id = id;
	n->op.parent = db_col_null(s, 1) ? -1 : db_col_i64(s, 1);
	name = db_col_i64(s, 2);
	n->op.start_ns = ns_add(db_col_i64(s, 3), src->shift);
	n->op.dur_ns = db_col_i64(s, 4);
	n->op.thread = db_col_i64(s, 5);
	n->op.sequence = db_col_null(s, 6) ? -1 : db_col_i64(s, 6);
	if (!db_col_null(s, 7))
		args = db_col_i64(s, 7);
	if (db_run(l->t->db, s, e) < 0 || !(n->op.name = tracedb_load_name(l, name, e)))
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
			tracedb_damaged(l, "an op encloses itself: op", id, e);
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
	const int64_t kind = db_col_i64(s, 1), dir = db_col_i64(s, 23), link = db_col_i64(s, 30);
	int i = 5;

	x->id = db_col_i64(s, 0);
	if (kind < TRACE_KERNEL || kind > TRACE_MEMSET || dir < TRACE_COPY_NONE || dir > TRACE_COPY_PTOP)
		return tracedb_damaged(l, "it holds an unknown kind of launch: launch", x->id, e);
	x->kind = (enum trace_launch_kind)kind;
	x->dir = (enum trace_copy_dir)dir;
	if (!(x->name = tracedb_load_name(l, db_col_i64(s, 2), e)))
		return -1;
	x->start_ns = ns_add(db_col_i64(s, 3), src->shift);
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
	x->link = !x->op                                                  ? TRACE_LINK_NONE
	          : link == TRACE_LINK_NESTING || link == TRACE_LINK_NODE ? (enum trace_link)link
	                                                                  : TRACE_LINK_ID;
	x->graph = db_col_i64(s, 26);
	x->graph_node = db_col_i64(s, 27);
	x->host_start_ns = db_col_null(s, 28) ? -1 : ns_add(db_col_i64(s, 28), src->shift);
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
		const struct tracedb_source *src = tracedb_source_of(l, l->windows[w].source);
		int rc;

		if (!s)
			return -1;
		if (!src)
			return tracedb_damaged(l, "a range is of no source", l->windows[w].source, e);
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
		return tracedb_damaged(l, "its index disagrees with its table at launch", db_col_i64(s, 0), e);
	return tracedb_launch_row(l, s, src, &l->out->launches[i], e);
}

static int sync_row(struct tracedb_load *l, struct sqlite3_stmt *s, const struct tracedb_source *src, size_t i,
                    void *arg, struct err *e)
{
	(void)arg;
	if (i >= l->out->n_syncs)
		return tracedb_damaged(l, "its index disagrees with its table at call", (int64_t)i, e);
	l->out->sync_ns[i] = ns_add(db_col_i64(s, 0), src->shift);
	return 0;
}

int tracedb_nothing(const struct tracedb_load *l, struct err *e)
{
	uint64_t kernels = 0;

	if (l->range)
		return err_set(e, ERR_IO, "no device activity in range '%s' of '%s'", l->range, tracedb_load_file(l));
	if (l->out->n_stats == 0)
		return err_set(e, ERR_IO, "no device activity in '%s'", tracedb_load_file(l));
	if (l->stats_do)
		return 0;
	for (size_t i = 0; i < l->out->n_stats; i++)
		kernels += (uint64_t)l->out->stats[i].instances;
	return err_set(e, ERR_IO,
	               "no launches in '%s': its %" PRIu64
	               " kernels of %zu names are known only as statistics (how often,"
	               " how long), without order or shapes; 'trace top' shows them",
	               tracedb_load_file(l), kernels, l->out->n_stats);
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
		return tracedb_no_room(e);
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
		if (ns_add(out->launches[i].start_ns, out->launches[i].dur_ns) > end)
			end = ns_add(out->launches[i].start_ns, out->launches[i].dur_ns);
	out->span_ns = ns_sub(end, out->launches[0].start_ns);
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
		return tracedb_no_room(e);
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
