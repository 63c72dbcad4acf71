/* tracedb.c - the schema, and opening and leaving a trace database.
 *
 * Times are integer nanoseconds relative to their source's base_ns (source.first_ns is the earliest, and may be
 * negative). Names and op arguments repeat thousands of times and are stored once. A launch belongs to a range by
 * at_ns: when its runtime call started, else when it started itself. */
#define _XOPEN_SOURCE 700

#include "traces/db/tracedb_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const migrations[] = {
	/* from 0 to 1: the tables */
	"create table source(id integer primary key, file text not null, tool text not null, command text,"
	" digest text not null unique, profiled integer not null, base_ns integer not null,"
	" first_ns integer not null default 0, wall_ns integer);"
	"create table name(id integer primary key, text text not null unique);"
	"create table device(source integer not null references source, id integer not null, name text not null,"
	" sm_major integer not null, sm_minor integer not null, sms integer not null, mem_bytes integer not null,"
	" smem_per_sm integer not null, regs_per_sm integer not null, primary key(source, id)) without rowid;"

	"create table args(id integer primary key, text text not null);" /* JSON: see traces/db/trace_args.h */
	"create table op(id integer primary key, source integer not null references source,"
	" parent integer references op, name integer not null references name, start_ns integer not null,"
	" dur_ns integer not null, thread integer not null, external integer not null, sequence integer,"
	" args integer references args);"
	"create index op_external on op(source, external, start_ns);"

	/* kind: 0 other, 1 launch, 2 synchronise, 3 copy that waits, 4 asynchronous copy; waited: a synchronise
	 * followed the copy at once */
	"create table call(id integer primary key, source integer not null references source,"
	" name integer not null references name, start_ns integer not null, dur_ns integer not null,"
	" thread integer not null, correlation integer not null, kind integer not null,"
	" waited integer not null default 0);"
	"create index call_correlation on call(source, correlation, start_ns);"
	"create index call_sync on call(source, start_ns) where kind = 2;"

	/* kind: 0 kernel, 1 copy, 2 set; dir: 0 none, 1 HtoD, 2 DtoH, 3 DtoD, 4 HtoH, 5 PtoP */
	"create table launch(id integer primary key, source integer not null references source,"
	" kind integer not null, name integer not null references name, start_ns integer not null,"
	" dur_ns integer not null, correlation integer not null, device integer not null, context integer not null,"
	" stream integer not null, grid_x integer not null, grid_y integer not null, grid_z integer not null,"
	" block_x integer not null, block_y integer not null, block_z integer not null, cluster_x integer not null,"
	" cluster_y integer not null, cluster_z integer not null, registers integer not null,"
	" smem_static integer not null, smem_dynamic integer not null, local integer not null, bytes integer not null,"
	" dir integer not null, blocking integer not null, call integer references call, op integer references op,"
	" graph integer not null, graph_node integer not null, at_ns integer not null);"
	"create index launch_at on launch(source, at_ns);"
	"create index launch_start on launch(source, start_ns);"

	"create table range(id integer primary key, source integer not null references source,"
	" name integer not null references name, start_ns integer not null, dur_ns integer not null,"
	" thread integer not null, on_device integer not null, launches integer not null default 0, wall_ns integer);"
	"create index range_name on range(name);"

	/* aggregated profiles, and counters of single launches */
	"create table kernel_stat(id integer primary key, source integer not null references source,"
	" name integer not null references name, instances integer not null, total_ns integer not null,"
	" min_ns integer, median_ns integer, max_ns integer, deviation_ns integer);"
	"create table metric(launch integer not null references launch, name integer not null references name,"
	" value real not null, unit text not null, primary key(launch, name)) without rowid;",

	/* from 1 to 2: views, for people with a SQL prompt */
	"create view kernel as select l.id, l.source, n.text as name, l.start_ns, l.dur_ns, l.device, l.context,"
	" l.stream, l.correlation, l.graph, l.graph_node, l.op, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y,"
	" l.block_z, l.cluster_x, l.cluster_y, l.cluster_z, l.registers, l.smem_static, l.smem_dynamic, l.local"
	" from launch l join name n on n.id = l.name where l.kind = 0;"
	"create view memcpy as select l.id, l.source, n.text as name, l.start_ns, l.dur_ns, l.device, l.context,"
	" l.stream, l.correlation, l.op, l.bytes, l.dir, l.blocking from launch l join name n on n.id = l.name"
	" where l.kind = 1;"
	"create view memset as select l.id, l.source, n.text as name, l.start_ns, l.dur_ns, l.device, l.context,"
	" l.stream, l.correlation, l.op, l.bytes from launch l join name n on n.id = l.name where l.kind = 2;"
	"create view sync as select c.id, c.source, n.text as name, c.start_ns, c.dur_ns, c.thread, c.correlation"
	" from call c join name n on n.id = c.name where c.kind = 2;"
	"create view op_arg as select a.id as args, json_extract(j.value, '$[0]') as pos,"
	" json_extract(j.value, '$[1]') as list, json_extract(j.value, '$[2]') as dtype,"
	" json_extract(j.value, '$[3]') as dims, json_extract(j.value, '$[4]') as strides,"
	" json_extract(j.value, '$[5]') as scalar from args a, json_each(a.text) j;",

	/* from 2 to 3: how a launch came to its op: 0 none, 1 by the profiler's id, 2 by nesting. Earlier builds believed
	 * every id; what no op around the call bears out goes. */
	"alter table launch add column link integer not null default 0;"
	"update launch set op = null where op is not null and call is not null and not exists"
	" (select 1 from op o join call c where o.id = launch.op and c.id = launch.call and o.thread = c.thread"
	" and o.start_ns <= c.start_ns and o.start_ns + o.dur_ns >= c.start_ns);"
	"update launch set link = 1 where op is not null;"
	"drop view kernel;"
	"create view kernel as select l.id, l.source, n.text as name, l.start_ns, l.dur_ns, l.device, l.context,"
	" l.stream, l.correlation, l.graph, l.graph_node, l.op, l.link, l.grid_x, l.grid_y, l.grid_z, l.block_x,"
	" l.block_y, l.block_z, l.cluster_x, l.cluster_y, l.cluster_z, l.registers, l.smem_static, l.smem_dynamic,"
	" l.local from launch l join name n on n.id = l.name where l.kind = 0;",
};

/* Where what importers put waits until all it belongs to is there. */
#define STAGING \
	"create temp table new_launch(seq integer primary key, kind integer, name integer," \
	" start_ns integer, dur_ns integer, correlation integer, device integer, context integer, stream integer," \
	" grid_x integer, grid_y integer, grid_z integer, block_x integer, block_y integer, block_z integer," \
	" cluster_x integer, cluster_y integer, cluster_z integer, registers integer, smem_static integer," \
	" smem_dynamic integer, local integer, bytes integer, dir integer, blocking integer, external integer," \
	" graph integer, graph_node integer);" \
	"create temp table new_metric(seq integer, name integer, value real, unit text);" \
	"create temp table new_mark(id integer primary key, begin_ns integer, end_ns integer, thread integer," \
	" name integer, domain integer);" \
	"create temp table new_node(id integer primary key, at_ns integer, thread integer)"

struct tracedb *tracedb_open(const char *path, enum db_mode mode, struct err *e)
{
	const bool fresh = mode == DB_WRITE && db_absent(path);
	struct tracedb *t = calloc(1, sizeof *t);

	if (!t) {
		err_nomem(e, NULL);
		return NULL;
	}
	t->db = db_open(path, mode, TRACEDB_APP_ID, migrations, sizeof migrations / sizeof *migrations, e);
	if (!t->db) {
		if (fresh)
			db_remove(path);
		goto fail;
	}
	/* The real name, so that a link stays and what it points to goes, wherever the process has moved meanwhile. */
	if (fresh && !(t->created = realpath(path, NULL))) {
		err_set(e, ERR_IO, "cannot find '%s' after creating it: %s", path, strerror(errno));
		goto fail;
	}
	if (mode == DB_WRITE) {
		t->names = intern_new(8192, 4 << 20);
		t->args = intern_new(16384, 8 << 20);
		if (!t->names || !t->args) {
			err_nomem(e, NULL);
			goto fail;
		}
		if (db_exec(t->db, STAGING, e) < 0)
			goto fail;
	}
	return t;
fail:
	tracedb_free(t);
	return NULL;
}

/* Another process may have imported into our file meanwhile; then it is no longer ours to remove. */
static bool is_empty(struct db *db)
{
	struct err e = ERR_INIT;
	struct sqlite3_stmt *s;
	bool empty;

	if (db_is_blank(db))
		return true;
	s = db_stmt_once(db, "select count(*) from source", &e);
	empty = s && db_step(db, s, &e) == 1 && db_col_i64(s, 0) == 0;
	db_stmt_free(s);
	return empty;
}

void tracedb_free(struct tracedb *t)
{
	bool drop;

	if (!t)
		return;
	if (t->importing)
		tracedb_abort(t);
	drop = t->created && (!t->db || is_empty(t->db));
	db_free(t->db);
	if (drop)
		db_remove(t->created);
	free(t->created);
	intern_free(t->names);
	intern_free(t->args);
	for (size_t i = 0; i < TRACEDB_THREADS; i++)
		free(t->threads[i]);
	str_free(&t->text);
	str_free(&t->clean);
	free(t);
}

int tracedb_close(struct tracedb *t, int rc, struct err *e)
{
	if (rc == 0 && t && db_checkpoint(t->db, e) < 0)
		rc = -1;
	tracedb_free(t);
	return rc;
}
