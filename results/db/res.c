/* res.c - the schema, opening, and storing a run. */
#define _XOPEN_SOURCE 700 /* realpath, unlink */
#include "results/db/res.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/db/res_int.h"
#include "sim/base/hash.h"
#include "sim/base/str.h"

static const char *const migrations[] = {
	/* from 0 to 1 */
	"create table workload(id integer primary key, source text not null, digest text not null, range text,"
	" rules text not null, content text not null unique, ops integer not null, kernel_ns integer not null,"
	" measured_ns integer not null, opaque_ns integer not null, wall_ns integer);"

	"create table op_stream(workload integer not null references workload, op integer not null, name text not null,"
	" kind text not null, family text not null, rule text not null, layer integer not null,"
	" launches integer not null, launch integer, measured_ns integer not null, read_bytes integer not null,"
	" write_bytes integer not null, flops integer not null, primary key(workload, op)) without rowid;"

	"create table config(hash text not null, text text not null, id integer primary key, unique(hash, text));"

	"create table run(id integer primary key, identity text not null, config integer not null references config,"
	" config_name text not null, config_path text not null, workload integer not null references workload,"
	" build text not null, fidelity text not null, start text not null, seed integer not null,"
	" reuse_ppm integer not null, host_us integer not null, total_ps integer not null, cycles integer not null,"
	" roofline_ps integer not null, roofline_bound text not null, carried_ps integer not null,"
	" dram_read_bytes integer not null, dram_write_bytes integer not null, dirty_bytes integer not null,"
	" compulsory_bytes integer not null, flops integer not null, events integer not null);"
	"create index run_identity on run(identity);"

	/* a carried (opaque) op has its row, with nulls */
	"create table op_result(run integer not null references run, op integer not null, span_ps integer,"
	" start_ps integer, limit_ps integer, bound text, dram_bytes integer, mem_bytes integer, flops integer,"
	" primary key(run, op)) without rowid;"
	"create table op_stall(run integer not null, op integer not null, resource text not null, ppm integer not null,"
	" primary key(run, op, resource), foreign key(run, op) references op_result(run, op)) without rowid;"
	"create table resource(run integer not null references run, name text not null, place integer not null,"
	" stall_ps integer not null, peak_ps integer not null, primary key(run, name)) without rowid;"
	"create table stat(run integer not null references run, place integer not null, name text not null,"
	" unit text not null, value integer not null, level integer not null, primary key(run, place)) without rowid;",

	/* from 1 to 2: sweeps. A point is (sweep, point); what belongs to it has the same key, so that no number in the
	 * file depends on the order in which points were done. */
	"create table build(id integer primary key, text text not null unique);"
	"create table sweep(id integer primary key, identity text not null unique, name text not null, text text not null,"
	" base_path text not null, base_text text not null, workload integer not null references workload,"
	" fidelity text not null, start text not null, seed integer not null, reuse_ppm integer not null,"
	" configs text not null, points integer not null);"
	"create table sweep_axis(sweep integer not null references sweep, place integer not null, key text not null,"
	" unit text not null, primary key(sweep, place)) without rowid;"
	"create table point(sweep integer not null references sweep, point integer not null,"
	" build integer not null references build, config_hash text not null, status text not null, reason text,"
	" total_ps integer, cycles integer, roofline_ps integer, roofline_bound text, carried_ps integer,"
	" dram_read_bytes integer, dram_write_bytes integer, dirty_bytes integer, compulsory_bytes integer, flops integer,"
	" events integer, primary key(sweep, point)) without rowid;"
	"create table point_value(sweep integer not null, point integer not null, place integer not null,"
	" value text not null, number real, primary key(sweep, point, place),"
	" foreign key(sweep, point) references point(sweep, point) on delete cascade) without rowid;"
	"create table point_kind(sweep integer not null, point integer not null, kind text not null, ops integer not null,"
	" span_ps integer not null, limit_ps integer not null, dram_bytes integer not null, mem_bytes integer not null,"
	" flops integer not null, primary key(sweep, point, kind),"
	" foreign key(sweep, point) references point(sweep, point) on delete cascade) without rowid;"
	"create table point_resource(sweep integer not null, point integer not null, place integer not null,"
	" name text not null, stall_ps integer not null, peak_ps integer not null, primary key(sweep, point, place),"
	" foreign key(sweep, point) references point(sweep, point) on delete cascade) without rowid;"
	"create table stat_name(id integer primary key, name text not null unique, unit text not null,"
	" level integer not null);"
	"create table point_stat(sweep integer not null, point integer not null, place integer not null,"
	" stat integer not null references stat_name, value integer not null, primary key(sweep, point, place),"
	" foreign key(sweep, point) references point(sweep, point) on delete cascade) without rowid;",

	/* from 2 to 3: views, for those who read the file by themselves */
	"create view v_sweeps as select s.id as sweep, s.name, w.source as workload, w.range, s.fidelity, s.start, s.seed,"
	" s.points, (select count(*) from point p where p.sweep = s.id and p.status = 'done') as done,"
	" (select count(*) from point p where p.sweep = s.id and p.status = 'failed') as failed"
	" from sweep s join workload w on w.id = s.workload;"
	"create view v_points as select p.sweep, p.point, (select group_concat(t, ', ') from (select a.key || '=' || v.value"
	" as t from point_value v join sweep_axis a on a.sweep = v.sweep and a.place = v.place"
	" where v.sweep = p.sweep and v.point = p.point order by v.place)) as settings, p.status, p.reason,"
	" p.total_ps / 1e6 as latency_us, p.roofline_ps / 1e6 as roofline_us, p.roofline_bound,"
	" p.dram_read_bytes + p.dram_write_bytes as dram_bytes, p.dram_read_bytes, p.dram_write_bytes, p.dirty_bytes,"
	" p.compulsory_bytes, p.flops, p.cycles, p.events, p.carried_ps / 1e6 as carried_us, p.config_hash, b.text as build"
	" from point p join build b on b.id = p.build;"
	"create view v_values as select v.sweep, v.point, a.key, v.value, v.number, a.unit"
	" from point_value v join sweep_axis a on a.sweep = v.sweep and a.place = v.place;"
	"create view v_stats as select v.sweep, v.point, n.name, v.value, n.unit, n.level"
	" from point_stat v join stat_name n on n.id = v.stat;"
	"create view v_kinds as select sweep, point, kind, ops, span_ps / 1e6 as us, limit_ps / 1e6 as limit_us, dram_bytes,"
	" mem_bytes, flops from point_kind;"
	"create view v_ops as select o.run, o.op, s.name, s.kind, s.family, s.layer, o.span_ps / 1e6 as us,"
	" o.start_ps / 1e6 as start_us, o.limit_ps / 1e6 as limit_us, o.bound, o.dram_bytes, o.mem_bytes, o.flops,"
	" s.measured_ns / 1e3 as measured_us"
	" from op_result o join run r on r.id = o.run join op_stream s on s.workload = r.workload and s.op = o.op;",

	/* from 3 to 4: points are found by their configuration; the rest of the views */
	"create index point_config on point(config_hash);"
	"create view v_runs as select r.id as run, r.config_name, r.config_path, c.hash as config_hash,"
	" w.source as workload, w.range, r.fidelity, r.start, r.seed, r.total_ps / 1e6 as latency_us,"
	" r.roofline_ps / 1e6 as roofline_us, r.roofline_bound, r.dram_read_bytes + r.dram_write_bytes as dram_bytes,"
	" r.dram_read_bytes, r.dram_write_bytes, r.dirty_bytes, r.compulsory_bytes, r.flops, r.cycles, r.events,"
	" r.carried_ps / 1e6 as carried_us, w.kernel_ns / 1e3 as measured_kernel_us,"
	" w.measured_ns / 1e3 as measured_us, w.wall_ns / 1e3 as measured_wall_us, r.build"
	" from run r join config c on c.id = r.config join workload w on w.id = r.workload;"
	"create view v_run_stats as select run, name, value, unit, level from stat;"
	"create view v_run_resources as select run, name, stall_ps / 1e6 as stall_us, peak_ps / 1e6 as peak_us from resource;"
	"create view v_stalls as select run, op, resource, ppm / 1e6 as share from op_stall;"
	"create view v_resources as select sweep, point, name, stall_ps / 1e6 as stall_us, peak_ps / 1e6 as peak_us"
	" from point_resource;",

	/* from 4 to 5: what limits found about a run */
	"create table run_limit(run integer not null references run, place integer not null, key text not null,"
	" now text not null, next text not null, step real not null, per_ppm integer not null, total_ps integer,"
	" refused text, primary key(run, place)) without rowid;"
	"create view v_limits as select l.run, l.key, l.now, l.next, l.step, l.total_ps / 1e6 as latency_us,"
	" l.per_ppm / 1e6 as per, (r.total_ps - l.total_ps) * 1.0 / r.total_ps / l.step * l.per_ppm / 1e6 as gain,"
	" l.refused from run_limit l join run r on r.id = l.run;",

	/* from 5 to 6: how far an op uses what is fastest, and what cannot work as written */
	"alter table op_result add column macs_ps integer;"
	"alter table op_result add column pins_ps integer;"
	"drop view v_ops;"
	"create view v_ops as select o.run, o.op, s.name, s.kind, s.family, s.layer, o.span_ps / 1e6 as us,"
	" o.start_ps / 1e6 as start_us, o.limit_ps / 1e6 as limit_us, o.bound, o.dram_bytes, o.mem_bytes, o.flops,"
	" s.measured_ns / 1e3 as measured_us,"
	" case when o.span_ps > 0 then min(o.macs_ps, o.span_ps) * 1.0 / o.span_ps end as mfu,"
	" case when o.span_ps > 0 then min(o.pins_ps, o.span_ps) * 1.0 / o.span_ps end as bandwidth_use"
	" from op_result o join run r on r.id = o.run join op_stream s on s.workload = r.workload and s.op = o.op;"
	"create table run_warning(run integer not null references run, place integer not null, what text not null,"
	" text text not null, primary key(run, place)) without rowid;"
	"create view v_warnings as select run, what, text from run_warning;",

	/* from 6 to 7: limits both ways, switches, parts and pairs, each against a base of its own fidelity */
	"alter table run_limit add column move text not null default 'more';"
	"alter table run_limit add column base_ps integer;"
	"alter table run_limit add column fidelity text;"
	"drop view v_limits;"
	"create view v_limits as select l.run, l.move, l.key, l.now, l.next, l.step, l.total_ps / 1e6 as latency_us,"
	" l.per_ppm / 1e6 as per, (coalesce(l.base_ps, r.total_ps) - l.total_ps) * 1.0 / coalesce(l.base_ps, r.total_ps)"
	" / case when l.step > 0 then l.step / l.per_ppm * 1e6 else 1 end as gain, l.refused,"
	" coalesce(l.fidelity, r.fidelity) as fidelity, coalesce(l.base_ps, r.total_ps) / 1e6 as base_us"
	" from run_limit l join run r on r.id = l.run;",

	/* from 7 to 8: energy of ops, and by block */
	"alter table op_result add column energy_fj integer;"
	"drop view v_ops;"
	"create view v_ops as select o.run, o.op, s.name, s.kind, s.family, s.layer, o.span_ps / 1e6 as us,"
	" o.start_ps / 1e6 as start_us, o.limit_ps / 1e6 as limit_us, o.bound, o.dram_bytes, o.mem_bytes, o.flops,"
	" s.measured_ns / 1e3 as measured_us,"
	" case when o.span_ps > 0 then min(o.macs_ps, o.span_ps) * 1.0 / o.span_ps end as mfu,"
	" case when o.span_ps > 0 then min(o.pins_ps, o.span_ps) * 1.0 / o.span_ps end as bandwidth_use,"
	" o.energy_fj / 1e9 as energy_uj"
	" from op_result o join run r on r.id = o.run join op_stream s on s.workload = r.workload and s.op = o.op;"
	"create table run_energy(run integer not null references run, place integer not null, block text not null,"
	" name text not null, fj integer not null, primary key(run, place)) without rowid;"
	"create view v_energy as select run, block, name, fj / 1e9 as energy_uj from run_energy;",

	/* from 8 to 9: each limit as it was judged, by its own fidelity, and whether that says anything */
	"alter table run_limit add column within integer not null default 0;"
	"drop view v_limits;"
	"create view v_limits as select l.run, l.move, l.key, l.now, l.next, l.step, l.total_ps / 1e6 as latency_us,"
	" l.per_ppm / 1e6 as per, (coalesce(l.base_ps, r.total_ps) - l.total_ps) * 1.0 / coalesce(l.base_ps, r.total_ps)"
	" / case when l.step > 0 then l.step / l.per_ppm * 1e6 else 1 end as gain, l.within as within_error, l.refused,"
	" coalesce(l.fidelity, r.fidelity) as fidelity, coalesce(l.base_ps, r.total_ps) / 1e6 as base_us"
	" from run_limit l join run r on r.id = l.run;",

	/* from 9 to 10: what to change next, and what was asked of the workload */
	"create table run_next(run integer not null references run, place integer not null, kind text not null, key text,"
	" now text, next text, saves real, low real, high real, mm2 real, watts real, beyond text,"
	" primary key(run, place)) without rowid;"
	"create view v_next as select run, kind, key, now, next, saves, low, high, mm2, watts, beyond from run_next"
	" where key is not null;"
	"create table run_asked(run integer primary key references run, text text not null, given text);",
};

_Static_assert(sizeof migrations / sizeof *migrations == RES_SCHEMA, "a migration for every version");

/* --- opening ----------------------------------------------------------------------------------------------- */

struct resdb *res_open(const char *path, enum db_mode mode, struct err *e)
{
	const bool fresh = mode == DB_WRITE && db_absent(path);
	struct resdb *r = calloc(1, sizeof *r);

	if (!r) {
		err_set(e, ERR_NOMEM, "no memory for results database '%s'", path);
		return NULL;
	}
	r->db = db_open(path, mode, RES_APP_ID, migrations, RES_SCHEMA, e);
	if (!r->db && fresh)
		db_remove(path);
	if (r->db && fresh && !(r->created = realpath(path, NULL))) {
		err_sys(e, ERR_IO, errno, "cannot find '%s' after creating it", path);
		db_free(r->db);
		r->db = NULL;
	}
	if (r->db)
		return r;
	res_free(r);
	return NULL;
}

/* Another process may have stored something in our file meanwhile. */
static bool is_empty(struct db *db)
{
	static const char rows[] = "select (select count(*) from run) + (select count(*) from sweep)";
	struct err ignored = ERR_INIT;
	struct sqlite3_stmt *s;
	bool empty;

	if (db_is_blank(db))
		return true;
	s = db_stmt_once(db, rows, &ignored);
	empty = s && db_step(db, s, &ignored) == 1 && db_col_i64(s, 0) == 0;
	db_stmt_free(s);
	return empty;
}

void res_free(struct resdb *r)
{
	bool drop;

	if (!r)
		return;
	if (r->db)
		db_rollback(r->db);
	drop = r->created && r->db && is_empty(r->db);
	db_free(r->db);
	if (drop)
		db_remove(r->created);
	for (size_t i = 0; i < r->n_stat_ids; i++)
		free(r->stat_ids[i].name);
	free(r->stat_ids);
	free(r->created);
	free(r);
}

int res_close(struct resdb *r, int rc, struct err *e)
{
	if (rc == 0 && r && db_checkpoint(r->db, e) < 0)
		rc = -1;
	res_free(r);
	return rc;
}

/* --- identity ---------------------------------------------------------------------------------------------- */

uint64_t res_hash_text(uint64_t h, const char *s)
{
	return hash_str(hash_u64(h, s ? strlen(s) + 1 : 0), s ? s : "");
}

static void content_of(const struct res_workload *w, char hex[17])
{
	uint64_t h = res_hash_text(res_hash_text(res_hash_text(HASH_INIT, w->source), w->digest), w->range);

	h = hash_u64(hash_u64(hash_u64(h, w->rules_hash), (uint64_t)w->wall_ns), w->n_ops);
	for (size_t i = 0; i < w->n_ops; i++) {
		const struct res_work_op *o = &w->ops[i];
		const uint64_t numbers[] = {
			(uint64_t)o->layer, o->n_launches, (uint64_t)o->launch, o->measured_ns, o->read_bytes,
			o->write_bytes,     o->flops
		};

		h = res_hash_text(res_hash_text(res_hash_text(res_hash_text(h, o->name), o->kind), o->family), o->rule);
		for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
			h = hash_u64(h, numbers[k]);
	}
	hash_hex(hash_mix(h), hex);
}

static uint64_t hash_results(uint64_t h, const struct res_run *r)
{
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct res_op *o = &r->ops[i];

		h = hash_u64(res_hash_text(h, o->bound), o->carried);
		h = hash_u64(res_hash_op(h, &o->figures), o->n_stalls);
		for (uint32_t k = 0; k < o->n_stalls; k++)
			h = hash_u64(res_hash_text(h, o->stalls[k].resource), o->stalls[k].ppm);
		h = res_hash_op_late(h, &o->figures);
	}
	for (size_t i = 0; i < r->n_resources; i++)
		h = hash_u64(hash_u64(res_hash_text(h, r->resources[i].name), r->resources[i].stall_ps),
		             r->resources[i].peak_ps);
	for (size_t i = 0; i < r->n_stats; i++)
		h = hash_u64(res_hash_text(h, r->stats[i].name), r->stats[i].value);
	return h;
}

/* Everything that was asked and everything that came out; not how long it took, or where the files lay. */
static void identity_of(const struct res_run *r, int64_t workload, char hex[17])
{
	const uint64_t numbers[] = { (uint64_t)workload, r->config_hash, r->seed, r->reuse_ppm, r->n_ops };
	uint64_t h = res_hash_text(
		res_hash_text(res_hash_text(res_hash_text(HASH_INIT, r->config_text), r->build), r->start),
		r->fidelity);

	h = res_hash_text(h, r->roofline_bound);
	for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
		h = hash_u64(h, numbers[k]);
	hash_hex(hash_mix(hash_results(res_hash_figures(h, &r->figures), r)), hex);
}

/* --- storing ----------------------------------------------------------------------------------------------- */

/* The id a query gives, 0 when there is no row, -1 on error. */
int64_t res_find(struct db *db, struct sqlite3_stmt *s, struct err *e)
{
	int64_t id = 0;
	int rc = db_step(db, s, e);

	if (rc == 1) {
		id = db_col_i64(s, 0);
		rc = db_run(db, s, e);
	}
	return rc < 0 ? -1 : id;
}

static int put_work_ops(struct db *db, int64_t id, const struct res_workload *w, struct err *e)
{
	for (size_t i = 0; i < w->n_ops; i++) {
		struct sqlite3_stmt *s = db_stmt(db, "insert into op_stream values(?,?,?,?,?,?,?,?,?,?,?,?,?)", e);
		const struct res_work_op *o = &w->ops[i];

		if (!s)
			return -1;
		db_bind_i64(s, 1, id);
		db_bind_i64(s, 2, (int64_t)i);
		db_bind_text(s, 3, o->name);
		db_bind_text(s, 4, o->kind);
		db_bind_text(s, 5, o->family);
		db_bind_text(s, 6, o->rule);
		db_bind_i64(s, 7, o->layer);
		db_bind_i64(s, 8, o->n_launches);
		if (o->launch >= 0)
			db_bind_i64(s, 9, o->launch);
		db_bind_i64(s, 10, (int64_t)o->measured_ns);
		db_bind_i64(s, 11, (int64_t)o->read_bytes);
		db_bind_i64(s, 12, (int64_t)o->write_bytes);
		db_bind_i64(s, 13, (int64_t)o->flops);
		if (db_run(db, s, e) < 0)
			return -1;
	}
	return 0;
}

int64_t res_put_workload(struct db *db, const struct res_workload *w, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(db, "select id from workload where content = ?", e);
	char content[17], rules[17];
	int64_t id;

	if (!s)
		return -1;
	content_of(w, content);
	db_bind_text(s, 1, content);
	if ((id = res_find(db, s, e)) != 0)
		return id;
	if (!(s = db_stmt(db, "insert into workload values(null,?,?,?,?,?,?,?,?,?,?)", e)))
		return -1;
	hash_hex(w->rules_hash, rules);
	db_bind_text(s, 1, w->source);
	db_bind_text(s, 2, w->digest);
	db_bind_text(s, 3, w->range);
	db_bind_text(s, 4, rules);
	db_bind_text(s, 5, content);
	db_bind_i64(s, 6, (int64_t)w->n_ops);
	db_bind_i64(s, 7, (int64_t)w->kernel_ns);
	db_bind_i64(s, 8, (int64_t)w->measured_ns);
	db_bind_i64(s, 9, (int64_t)w->opaque_ns);
	if (w->wall_ns >= 0)
		db_bind_i64(s, 10, w->wall_ns);
	if (db_run(db, s, e) < 0)
		return -1;
	id = db_last_id(db);
	return put_work_ops(db, id, w, e) < 0 ? -1 : id;
}

static int64_t put_config(struct db *db, const struct res_run *r, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(db, "select id from config where hash = ? and text = ?", e);
	char hash[17];
	int64_t id;

	if (!s)
		return -1;
	hash_hex(r->config_hash, hash);
	db_bind_text(s, 1, hash);
	db_bind_text(s, 2, r->config_text);
	if ((id = res_find(db, s, e)) != 0)
		return id;
	if (!(s = db_stmt(db, "insert into config(hash, text) values(?,?)", e)))
		return -1;
	db_bind_text(s, 1, hash);
	db_bind_text(s, 2, r->config_text);
	return db_run(db, s, e) < 0 ? -1 : db_last_id(db);
}

static int64_t res_put_head(struct db *db, const struct res_run *r, int64_t config, int64_t workload,
                            const char *identity, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(
		db,
		"insert into run(identity, config, config_name, config_path, workload, build, fidelity, start, seed,"
		" reuse_ppm, host_us, roofline_bound" RES_COLUMNS ") values(?,?,?,?,?,?,?,?,?,?,?,?" RES_MARKS ")",
		e);
	int i = 1;

	if (!s)
		return -1;
	db_bind_text(s, i++, identity);
	db_bind_i64(s, i++, config);
	db_bind_text(s, i++, r->config_name);
	db_bind_text(s, i++, r->config_path);
	db_bind_i64(s, i++, workload);
	db_bind_text(s, i++, r->build);
	db_bind_text(s, i++, r->fidelity);
	db_bind_text(s, i++, r->start);
	db_bind_i64(s, i++, (int64_t)r->seed);
	db_bind_i64(s, i++, r->reuse_ppm);
	db_bind_i64(s, i++, (int64_t)(r->host_ns / 1000));
	db_bind_text(s, i++, r->roofline_bound);
	res_bind_figures(s, i, &r->figures);
	return db_run(db, s, e) < 0 ? -1 : db_last_id(db);
}

static int put_stalls(struct db *db, int64_t run, int64_t op, const struct res_op *o, struct err *e)
{
	for (uint32_t k = 0; k < o->n_stalls; k++) {
		struct sqlite3_stmt *s = db_stmt(db, "insert into op_stall values(?,?,?,?)", e);

		if (!s)
			return -1;
		db_bind_i64(s, 1, run);
		db_bind_i64(s, 2, op);
		db_bind_text(s, 3, o->stalls[k].resource);
		db_bind_i64(s, 4, o->stalls[k].ppm);
		if (db_run(db, s, e) < 0)
			return -1;
	}
	return 0;
}

static int res_put_ops(struct db *db, int64_t run, const struct res_run *r, struct err *e)
{
	for (size_t i = 0; i < r->n_ops; i++) {
		static const char row[] =
			"insert into op_result(run, op, bound" RES_OP_COLUMNS ") values(?,?,?" RES_OP_MARKS ")";
		struct sqlite3_stmt *s = db_stmt(db, row, e);
		const struct res_op *o = &r->ops[i];

		if (!s)
			return -1;
		db_bind_i64(s, 1, run);
		db_bind_i64(s, 2, (int64_t)i);
		db_bind_text(s, 3, o->bound);
		res_bind_op(s, 4, o);
		if (db_run(db, s, e) < 0 || put_stalls(db, run, (int64_t)i, o, e) < 0)
			return -1;
	}
	return 0;
}

static int put_resources(struct db *db, int64_t run, const struct res_run *r, struct err *e)
{
	for (size_t i = 0; i < r->n_resources; i++) {
		struct sqlite3_stmt *s = db_stmt(db, "insert into resource values(?,?,?,?,?)", e);

		if (!s)
			return -1;
		db_bind_i64(s, 1, run);
		db_bind_text(s, 2, r->resources[i].name);
		db_bind_i64(s, 3, (int64_t)i);
		db_bind_i64(s, 4, (int64_t)r->resources[i].stall_ps);
		db_bind_i64(s, 5, (int64_t)r->resources[i].peak_ps);
		if (db_run(db, s, e) < 0)
			return -1;
	}
	return 0;
}

static int put_stat(struct db *db, int64_t run, size_t place, const struct res_stat *v, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(db, "insert into stat values(?,?,?,?,?,?)", e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, run);
	db_bind_i64(s, 2, (int64_t)place);
	db_bind_text(s, 3, v->name);
	db_bind_text(s, 4, v->unit);
	db_bind_i64(s, 5, (int64_t)v->value);
	db_bind_i64(s, 6, v->level);
	return db_run(db, s, e);
}

/* The figures that are rows come after the statistics: the run's, then its ops'. */
static int put_stats(struct db *db, int64_t run, const struct res_run *r, struct err *e)
{
	size_t place = 0;

	for (; place < r->n_stats; place++)
		if (put_stat(db, run, place, &r->stats[place], e) < 0)
			return -1;
	for (const struct figure *f = figure_table; (f = res_next_row(f, &r->figures)); f++) {
		const struct res_stat v = res_row_of(f, &r->figures);

		if (put_stat(db, run, place++, &v, e) < 0)
			return -1;
	}
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		for (size_t i = 0; i < r->n_ops; i++) {
			char name[RES_OP_ROW_NAME];
			struct res_stat v;

			if (res_op_row(f, &r->ops[i], i, name, &v) && put_stat(db, run, place++, &v, e) < 0)
				return -1;
		}
	return 0;
}

static int put_warnings(struct db *db, int64_t run, const struct res_run *r, struct err *e)
{
	for (size_t i = 0; i < r->n_warnings; i++) {
		struct sqlite3_stmt *s = db_stmt(db, "insert into run_warning values(?,?,?,?)", e);

		if (!s)
			return -1;
		db_bind_i64(s, 1, run);
		db_bind_i64(s, 2, (int64_t)i);
		db_bind_text(s, 3, r->warnings[i].what);
		db_bind_text(s, 4, r->warnings[i].text);
		if (db_run(db, s, e) < 0)
			return -1;
	}
	return 0;
}

static int put_energy(struct db *db, int64_t run, const struct res_run *r, struct err *e)
{
	for (size_t i = 0; i < r->n_energy; i++) {
		struct sqlite3_stmt *s = db_stmt(db, "insert into run_energy values(?,?,?,?,?)", e);

		if (!s)
			return -1;
		db_bind_i64(s, 1, run);
		db_bind_i64(s, 2, (int64_t)i);
		db_bind_text(s, 3, r->energy[i].block);
		db_bind_text(s, 4, r->energy[i].name);
		db_bind_i64(s, 5, (int64_t)r->energy[i].fj);
		if (db_run(db, s, e) < 0)
			return -1;
	}
	return 0;
}

static void bind_known(struct sqlite3_stmt *s, int i, double v)
{
	if (isfinite(v))
		db_bind_f64(s, i, v);
}

/* What no run of before has kept. */
static int put_late(struct db *db, int64_t run, const struct res_run *r, struct err *e)
{
	struct sqlite3_stmt *s;

	for (size_t i = 0; i < r->n_next; i++) {
		const struct res_next *x = &r->next[i];
		const double figures[] = { x->saves, x->low, x->high, x->mm2, x->watts };

		if (!(s = db_stmt(db, "insert or ignore into run_next values(?,?,?,?,?,?,?,?,?,?,?,?)", e)))
			return -1;
		db_bind_i64(s, 1, run);
		db_bind_i64(s, 2, (int64_t)i);
		db_bind_text(s, 3, x->kind);
		db_bind_text(s, 4, x->key);
		db_bind_text(s, 5, x->now);
		db_bind_text(s, 6, x->then);
		for (int k = 0; k < 5; k++)
			bind_known(s, 7 + k, figures[k]);
		db_bind_text(s, 12, x->beyond);
		if (db_run(db, s, e) < 0)
			return -1;
	}
	if (!r->asked)
		return 0;
	if (!(s = db_stmt(db, "insert or ignore into run_asked values(?,?,?)", e)))
		return -1;
	db_bind_i64(s, 1, run);
	db_bind_text(s, 2, r->asked);
	db_bind_text(s, 3, r->given);
	return db_run(db, s, e);
}

/* 1: it was there already. */
static int put_run(struct db *db, const struct res_workload *w, const struct res_run *run, int64_t *id, struct err *e)
{
	int64_t workload = res_put_workload(db, w, e), config;
	struct sqlite3_stmt *s;
	char identity[17];

	if (workload < 0)
		return -1;
	identity_of(run, workload, identity);
	if (!(s = db_stmt(db, "select id from run where identity = ?", e)))
		return -1;
	db_bind_text(s, 1, identity);
	if ((*id = res_find(db, s, e)) != 0)
		return *id < 0 || put_late(db, *id, run, e) < 0 ? -1 : 1;
	if ((config = put_config(db, run, e)) < 0 || (*id = res_put_head(db, run, config, workload, identity, e)) < 0 ||
	    res_put_ops(db, *id, run, e) < 0 || put_resources(db, *id, run, e) < 0 || put_stats(db, *id, run, e) < 0 ||
	    put_warnings(db, *id, run, e) < 0 || put_energy(db, *id, run, e) < 0 || put_late(db, *id, run, e) < 0)
		return -1;
	return 0;
}

int res_put_run(struct resdb *r, const struct res_workload *w, const struct res_run *run, int64_t *id, bool *again,
                struct err *e)
{
	int rc;

	if (run->n_ops != w->n_ops)
		return err_set(e, ERR_IO, "a run of %zu ops does not fit a workload of %zu", run->n_ops, w->n_ops);
	if (db_begin(r->db, e) < 0)
		return -1;
	rc = put_run(r->db, w, run, id, e);
	*again = rc == 1;
	if (rc < 0 || db_commit(r->db, e) < 0) {
		db_rollback(r->db);
		return -1;
	}
	return 0;
}

/* --- limits ------------------------------------------------------------------------------------------------ */

static int put_limits(struct db *db, int64_t run, const struct res_limits *l, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(db, "delete from run_limit where run = ?", e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, run);
	if (db_run(db, s, e) < 0)
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		const struct res_limit *x = &l->rows[i];

		if (!(s = db_stmt(db, "insert into run_limit values(?,?,?,?,?,?,?,?,?,?,?,?,?)", e)))
			return -1;
		db_bind_i64(s, 1, run);
		db_bind_i64(s, 2, (int64_t)i);
		db_bind_text(s, 3, x->key);
		db_bind_text(s, 4, x->now);
		db_bind_text(s, 5, x->then);
		db_bind_f64(s, 6, x->step);
		db_bind_i64(s, 7, l->per_ppm);
		if (!x->refused)
			db_bind_i64(s, 8, (int64_t)x->total_ps);
		db_bind_text(s, 9, x->refused);
		db_bind_text(s, 10, x->move);
		if (x->base_ps)
			db_bind_i64(s, 11, (int64_t)x->base_ps);
		db_bind_text(s, 12, x->fidelity);
		db_bind_i64(s, 13, x->within);
		if (db_run(db, s, e) < 0)
			return -1;
	}
	return 0;
}

int res_put_limits(struct resdb *r, int64_t run, const struct res_limits *l, struct err *e)
{
	if (db_begin(r->db, e) < 0)
		return -1;
	if (put_limits(r->db, run, l, e) < 0 || db_commit(r->db, e) < 0) {
		db_rollback(r->db);
		return -1;
	}
	return 0;
}
