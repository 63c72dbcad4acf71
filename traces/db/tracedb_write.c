/* tracedb_write.c - one import: begin, put, finish or abort. */
#include "traces/db/tracedb_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void note_start(struct tracedb *t, int64_t start_ns)
{
	if (!t->any || start_ns < t->first_ns)
		t->first_ns = start_ns;
	t->any = true;
}

/* --- begin and end --------------------------------------------------------------------------------------------- */

static int prepare(struct tracedb *t, struct err *e)
{
	struct {
		struct sqlite3_stmt **to;
		const char *sql;
	} all[] = {
		{ &t->ins_device, "insert or ignore into device values(?,?,?,?,?,?,?,?,?)" },
		{ &t->ins_launch, "insert into new_launch values(null,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
		                  "?,?,?,?,?,?,?,?,?)" },
		{ &t->ins_op, "insert into op values(?,?,nullif(?,0),?,?,?,?,?,nullif(?,-1),nullif(?,0))" },
		{ &t->ins_range, "insert into range values(null,?,?,?,?,?,?,0,null)" },
		{ &t->ins_call, "insert into call values(null,?,?,?,?,?,?,?,0)" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!(*all[i].to = db_stmt(t->db, all[i].sql, e)))
			return -1;
	return 0;
}

/* A file that is new and still empty is removed when the import fails, so nothing has to survive a crash: no waiting for
 * the disk. Failing to switch costs time only. */
static void set_pace(struct tracedb *t, bool fast)
{
	struct err ignored = ERR_INIT;

	if (db_exec(t->db, fast ? "pragma synchronous = off" : "pragma synchronous = normal", &ignored) == 0)
		t->fast = fast;
}

static void end_import(struct tracedb *t)
{
	struct err ignored = ERR_INIT;

	if (t->fast)
		set_pace(t, false);
	t->importing = false;
	intern_forget(t->names); /* after a rollback the rows are gone */
	intern_forget(t->args);
	db_exec(t->db, "pragma cache_size = -2000; pragma foreign_keys = on", &ignored);
}

/* 1 it is there, 0 not, -1 error. */
static int has_digest(struct tracedb *t, const char *digest, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db, "select count(*) from source where digest = ?", e);
	int64_t n;

	if (s)
		db_bind_text(s, 1, digest);
	return db_number(t->db, s, &n, e) < 0 ? -1 : n > 0;
}

static int insert_source(struct tracedb *t, const struct trace_import *src, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "insert into source(file, tool, command, digest, profiled, base_ns)"
	                                 " values(?,?,?,?,?,?)",
	                                 e);

	if (!s)
		return -1;
	db_bind_text(s, 1, src->file);
	db_bind_text(s, 2, src->tool);
	db_bind_text(s, 3, src->command);
	db_bind_text(s, 4, src->digest);
	db_bind_i64(s, 5, src->profiled);
	db_bind_i64(s, 6, src->base_ns);
	if (db_run(t->db, s, e) < 0)
		return -1;
	t->source = db_last_id(t->db);
	return 0;
}

int tracedb_begin(struct tracedb *t, const struct trace_import *src, struct err *e)
{
	struct err ignored = ERR_INIT;
	int rc;

	assert(!t->importing && t->names); /* one import at a time, into a database opened for writing */
	if (t->created)
		set_pace(t, true);
	/* Every reference is to a row just written or looked up; looking again at each takes a tenth of the time. */
	db_exec(t->db, "pragma cache_size = -65536; pragma foreign_keys = off", &ignored);
	if (db_begin(t->db, e) < 0) {
		end_import(t);
		return -1;
	}
	t->importing = true;
	t->any = t->graphs = t->ids = t->unsorted = false;
	t->first_ns = 0;
	t->n_threads = 0;
	memset(&t->st, 0, sizeof t->st);
	if ((rc = has_digest(t, src->digest, e)) != 0 || (rc = prepare(t, e)) < 0 ||
	    (rc = tracedb_text_prepare(t, e)) < 0 || (rc = tracedb_stat_prepare(t, e)) < 0 ||
	    (rc = insert_source(t, src, e)) < 0 ||
	    (rc = db_number(t->db, db_stmt(t->db, "select coalesce(max(id), 0) from op", e), &t->last_op, e)) < 0)
		tracedb_abort(t);
	return rc;
}

void tracedb_stats(const struct tracedb *t, struct trace_import_stats *st)
{
	*st = t->st;
}

static int close_source(struct tracedb *t, const struct trace_import *src, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "update source set base_ns = ?, first_ns = ?, wall_ns = ?"
	                                 " where id = ?",
	                                 e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, src->base_ns);
	db_bind_i64(s, 2, t->first_ns);
	if (src->wall_ns >= 0)
		db_bind_i64(s, 3, src->wall_ns);
	else
		db_bind_null(s, 3);
	db_bind_i64(s, 4, t->source);
	return db_run(t->db, s, e);
}

int tracedb_finish(struct tracedb *t, const struct trace_import *src, struct trace_import_stats *st, struct err *e)
{
	assert(t->importing);
	if (close_source(t, src, e) < 0 || tracedb_link(t, e) < 0 || db_exec(t->db, TRACEDB_UNSTAGE, e) < 0 ||
	    (t->wall_range && tracedb_put_wall(t, src->file, true, t->wall_range, t->wall_ns, e) < 0) ||
	    db_commit(t->db, e) < 0)
		return -1;
	end_import(t);
	free(t->created); /* from here on the file stays */
	t->created = NULL;
	if (st)
		*st = t->st;
	return 0;
}

void tracedb_abort(struct tracedb *t)
{
	if (!t->importing)
		return;
	db_rollback(t->db);
	end_import(t);
}

/* --- putting --------------------------------------------------------------------------------------------------- */

int tracedb_put_device(struct tracedb *t, const struct trace_device *d, struct err *e)
{
	struct sqlite3_stmt *s = t->ins_device;
	const char *name = tracedb_utf8(t, d->name, strlen(d->name), e);

	assert(t->importing);
	if (!name)
		return -1;
	db_bind_i64(s, 1, t->source);
	db_bind_i64(s, 2, d->id);
	db_bind_text(s, 3, name);
	db_bind_i64(s, 4, d->sm_major);
	db_bind_i64(s, 5, d->sm_minor);
	db_bind_i64(s, 6, d->sms);
	db_bind_i64(s, 7, d->mem_bytes);
	db_bind_i64(s, 8, d->smem_per_sm);
	db_bind_i64(s, 9, d->regs_per_sm);
	return db_run(t->db, s, e);
}

int tracedb_put_launch(struct tracedb *t, const struct trace_launch *l, int64_t external, struct err *e)
{
	struct sqlite3_stmt *s = t->ins_launch;
	const int64_t name = tracedb_name(t, l->name, e);
	int i = 1;

	assert(t->importing && l->dur_ns >= 0);
	if (name < 0)
		return -1;
	db_bind_i64(s, i++, l->kind);
	db_bind_i64(s, i++, name);
	db_bind_i64(s, i++, l->start_ns);
	db_bind_i64(s, i++, l->dur_ns);
	db_bind_i64(s, i++, l->correlation);
	db_bind_i64(s, i++, l->device);
	db_bind_i64(s, i++, l->context);
	db_bind_i64(s, i++, l->stream);
	for (int k = 0; k < 3; k++)
		db_bind_i64(s, i++, l->grid[k]);
	for (int k = 0; k < 3; k++)
		db_bind_i64(s, i++, l->block[k]);
	for (int k = 0; k < 3; k++)
		db_bind_i64(s, i++, l->cluster[k]);
	db_bind_i64(s, i++, l->registers);
	db_bind_i64(s, i++, (int64_t)l->smem_static);
	db_bind_i64(s, i++, (int64_t)l->smem_dynamic);
	db_bind_i64(s, i++, (int64_t)l->local);
	db_bind_i64(s, i++, l->bytes);
	db_bind_i64(s, i++, l->dir);
	db_bind_i64(s, i++, l->blocking);
	db_bind_i64(s, i++, external);
	db_bind_i64(s, i++, l->graph);
	db_bind_i64(s, i++, l->graph_node);
	note_start(t, l->start_ns);
	t->ids |= external != 0;
	t->st.kernels += l->kind == TRACE_KERNEL;
	t->st.copies += l->kind == TRACE_MEMCPY;
	t->st.sets += l->kind == TRACE_MEMSET;
	return db_run(t->db, s, e);
}

/* Exporters write a thread's ops in order of start, nearly always; then each op's parent is known as it comes.
 * NULL: too many threads, or no memory to watch one more. */
static struct nest *nest_of(struct tracedb *t, int64_t thread)
{
	struct nest **next = &t->threads[t->n_threads];

	for (size_t i = 0; i < t->n_threads; i++)
		if (t->threads[i]->thread == thread)
			return t->threads[i];
	if (t->n_threads == TRACEDB_THREADS || (!*next && !(*next = malloc(sizeof **next))))
		return NULL;
	nest_start(*next, thread);
	t->n_threads++;
	return *next;
}

int tracedb_put_op(struct tracedb *t, const struct trace_op *o, int64_t external, struct err *e)
{
	struct sqlite3_stmt *s = t->ins_op;
	const int64_t name = tracedb_name(t, o->name, e);
	struct nest *nest;
	int64_t args = 0;

	assert(t->importing && o->dur_ns >= 0 && o->n_args <= TRACE_MAX_ARGS);
	if (name < 0)
		return -1;
	if (o->n_args > 0 && (args = tracedb_args(t, o->args, o->n_args, e)) < 0)
		return -1;
	nest = nest_of(t, o->thread);
	t->unsorted |= !nest || !nest_in_order(nest, o->start_ns, o->dur_ns);
	t->last_op++;
	db_bind_i64(s, 1, t->last_op);
	db_bind_i64(s, 2, t->source);
	db_bind_i64(s, 3, t->unsorted ? 0 : nest_add(nest, t->last_op, o->start_ns, o->dur_ns));
	db_bind_i64(s, 4, name);
	db_bind_i64(s, 5, o->start_ns);
	db_bind_i64(s, 6, o->dur_ns);
	db_bind_i64(s, 7, o->thread);
	db_bind_i64(s, 8, external);
	db_bind_i64(s, 9, o->sequence >= 0 ? o->sequence : -1);
	db_bind_i64(s, 10, args);
	note_start(t, o->start_ns);
	t->st.ops++;
	return db_run(t->db, s, e);
}

void tracedb_drop_arg(struct tracedb *t)
{
	t->st.dropped_args++;
}

int tracedb_put_range(struct tracedb *t, const struct trace_range *r, bool on_device, struct err *e)
{
	struct sqlite3_stmt *s = t->ins_range;
	const int64_t name = tracedb_name(t, r->name, e);

	assert(t->importing && r->dur_ns >= 0);
	if (name < 0)
		return -1;
	db_bind_i64(s, 1, t->source);
	db_bind_i64(s, 2, name);
	db_bind_i64(s, 3, r->start_ns);
	db_bind_i64(s, 4, r->dur_ns);
	db_bind_i64(s, 5, r->thread);
	db_bind_i64(s, 6, on_device);
	note_start(t, r->start_ns);
	t->st.ranges += !on_device;
	return db_run(t->db, s, e);
}

/* The names of CUDA and HIP say what a call does; nsys adds a version ("cudaMemcpyAsync_v3020"). */
static enum call_kind classify(const char *name, bool is_sync)
{
	if (is_sync)
		return CALL_SYNC;
	if (strstr(name, "Memcpy"))
		return strstr(name, "Async") ? CALL_COPY_ASYNC : CALL_COPY_SYNC;
	if (strstr(name, "Launch") || strstr(name, "Memset"))
		return CALL_LAUNCH;
	return CALL_OTHER;
}

bool tracedb_is_sync(const char *call)
{
	const char *what = strstr(call, "Synchronize");
	static const char *const waits[] = { "Stream", "Device", "Event", "Ctx", "Context", "Thread" };

	for (size_t i = 0; what && i < sizeof waits / sizeof *waits; i++) {
		size_t n = strlen(waits[i]);

		if ((size_t)(what - call) >= n && strncmp(what - n, waits[i], n) == 0)
			return true;
	}
	return false;
}

int tracedb_put_call(struct tracedb *t, const struct trace_call *c, struct err *e)
{
	const bool is_sync = tracedb_is_sync(c->name);
	struct sqlite3_stmt *s = t->ins_call;
	const int64_t id = tracedb_name(t, c->name, e);

	assert(t->importing && c->dur_ns >= 0);
	if (id < 0)
		return -1;
	db_bind_i64(s, 1, t->source);
	db_bind_i64(s, 2, id);
	db_bind_i64(s, 3, c->start_ns);
	db_bind_i64(s, 4, c->dur_ns);
	db_bind_i64(s, 5, c->thread);
	db_bind_i64(s, 6, c->correlation);
	db_bind_i64(s, 7, classify(c->name, is_sync));
	note_start(t, c->start_ns);
	t->st.calls++;
	t->st.syncs += is_sync;
	t->graphs |= strstr(c->name, "GraphLaunch") != NULL;
	return db_run(t->db, s, e);
}
