/* res_read.c - reading runs back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/db/res_int.h"
#include "results/db/res_sweep.h"
#include "sim/base/str.h"

struct reader {
	struct db *db;
	struct arena *a;
	struct err *e;
};

static int no_memory(struct err *e)
{
	return err_set(e, ERR_NOMEM, "no memory for the stored runs");
}

/* A column's text in the arena; NULL stays NULL. A failed copy is found by the caller through `failed`. */
static const char *text(struct reader *r, struct sqlite3_stmt *s, int i, bool *failed)
{
	const char *copy;

	if (db_col_null(s, i))
		return NULL;
	copy = arena_strdup(r->a, db_col_text(s, i));
	*failed |= !copy;
	return copy;
}

static uint64_t u64(struct sqlite3_stmt *s, int i)
{
	return (uint64_t)db_col_i64(s, i);
}

static int count(struct reader *r, const char *sql, int64_t id, size_t *n)
{
	struct sqlite3_stmt *s = db_stmt(r->db, sql, r->e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, id);
	if (db_step(r->db, s, r->e) < 0)
		return -1;
	*n = (size_t)db_col_i64(s, 0);
	return db_run(r->db, s, r->e);
}

static int damaged(struct reader *r, int64_t id)
{
	return err_set(r->e, ERR_IO, "'%s' is damaged: the rows of run %lld do not fit together", db_path(r->db),
	               (long long)id);
}

/* --- heads ------------------------------------------------------------------------------------------------- */

#define HEAD \
	"select r.id, c.hash, c.text, r.config_name, r.config_path, r.build, r.fidelity, r.start, r.seed," \
	" r.reuse_ppm, r.host_us, r.total_ps, r.cycles, r.roofline_ps, r.roofline_bound, r.carried_ps, r.dram_read_bytes," \
	" r.dram_write_bytes, r.dirty_bytes, r.compulsory_bytes, r.flops, r.events, w.id, w.source, w.digest, w.range," \
	" w.rules, w.kernel_ns, w.measured_ns, w.opaque_ns, w.wall_ns, w.ops" \
	" from run r join config c on c.id = r.config join workload w on w.id = r.workload"

static int read_head(struct reader *r, struct sqlite3_stmt *s, struct res_stored *out)
{
	bool failed = false;
	int i = 0;

	memset(out, 0, sizeof *out);
	out->run.id = db_col_i64(s, i++);
	out->run.config_hash = strtoull(db_col_text(s, i++), NULL, 16);
	out->run.config_text = text(r, s, i++, &failed);
	out->run.config_name = text(r, s, i++, &failed);
	out->run.config_path = text(r, s, i++, &failed);
	out->run.build = text(r, s, i++, &failed);
	out->run.fidelity = text(r, s, i++, &failed);
	out->run.start = text(r, s, i++, &failed);
	out->run.seed = u64(s, i++);
	out->run.reuse_ppm = (uint32_t)u64(s, i++);
	out->run.host_ns = u64(s, i++) * 1000;
	out->run.total_ps = u64(s, i++);
	out->run.cycles = u64(s, i++);
	out->run.roofline_ps = u64(s, i++);
	out->run.roofline_bound = text(r, s, i++, &failed);
	out->run.carried_ps = u64(s, i++);
	out->run.dram_read_bytes = u64(s, i++);
	out->run.dram_write_bytes = u64(s, i++);
	out->run.dirty_bytes = u64(s, i++);
	out->run.compulsory_bytes = u64(s, i++);
	out->run.flops = u64(s, i++);
	out->run.events = u64(s, i++);
	out->workload_id = db_col_i64(s, i++);
	out->workload.source = text(r, s, i++, &failed);
	out->workload.digest = text(r, s, i++, &failed);
	out->workload.range = text(r, s, i++, &failed);
	out->workload.rules_hash = strtoull(db_col_text(s, i++), NULL, 16);
	out->workload.kernel_ns = u64(s, i++);
	out->workload.measured_ns = u64(s, i++);
	out->workload.opaque_ns = u64(s, i++);
	out->workload.wall_ns = db_col_null(s, i) ? -1 : db_col_i64(s, i);
	out->workload.n_ops = (size_t)u64(s, i + 1);
	return failed ? no_memory(r->e) : 0;
}

int res_list(struct resdb *db, struct arena *a, struct res_stored **out, size_t *n, struct err *e)
{
	struct reader r = { db->db, a, e };
	struct sqlite3_stmt *s;
	size_t max;
	int rc;

	*n = 0;
	if (count(&r, "select count(*) from run where id > ?", 0, &max) < 0 ||
	    !(s = db_stmt(r.db, HEAD " order by r.id", e)))
		return -1;
	if (!(*out = arena_array(a, max ? max : 1, sizeof **out)))
		return no_memory(e);
	while ((rc = db_step(r.db, s, e)) == 1 && *n < max)
		if (read_head(&r, s, &(*out)[(*n)++]) < 0)
			return -1;
	return rc < 0 ? -1 : db_run(r.db, s, e);
}

/* --- rows of one run --------------------------------------------------------------------------------------- */

static int read_work_ops(struct reader *r, struct res_stored *out)
{
	struct sqlite3_stmt *s = db_stmt(r->db,
	                                 "select op, name, kind, family, rule, layer, launches, launch,"
	                                 " measured_ns, read_bytes, write_bytes, flops from op_stream"
	                                 " where workload = ? order by op",
	                                 r->e);
	struct res_work_op *ops = arena_array(r->a, out->workload.n_ops ? out->workload.n_ops : 1, sizeof *ops);
	bool failed = false;
	size_t n = 0;
	int rc;

	if (!s)
		return -1;
	if (!ops)
		return no_memory(r->e);
	db_bind_i64(s, 1, out->workload_id);
	while ((rc = db_step(r->db, s, r->e)) == 1) {
		struct res_work_op *o = &ops[n];

		if (n == out->workload.n_ops || u64(s, 0) != n)
			return damaged(r, out->run.id);
		n++;
		o->name = text(r, s, 1, &failed);
		o->kind = text(r, s, 2, &failed);
		o->family = text(r, s, 3, &failed);
		o->rule = text(r, s, 4, &failed);
		o->layer = (int32_t)db_col_i64(s, 5);
		o->n_launches = (uint32_t)u64(s, 6);
		o->launch = db_col_null(s, 7) ? -1 : db_col_i64(s, 7);
		o->measured_ns = u64(s, 8);
		o->read_bytes = u64(s, 9);
		o->write_bytes = u64(s, 10);
		o->flops = u64(s, 11);
	}
	if (rc < 0)
		return -1;
	if (n != out->workload.n_ops)
		return damaged(r, out->run.id);
	out->workload.ops = ops;
	return failed ? no_memory(r->e) : 0;
}

static int read_stalls(struct reader *r, const struct res_stored *out, struct res_op *ops)
{
	struct sqlite3_stmt *s = db_stmt(r->db,
	                                 "select op, resource, ppm from op_stall where run = ?"
	                                 " order by op, resource",
	                                 r->e);
	struct res_stall *v;
	bool failed = false;
	size_t max, n = 0;
	int rc;

	if (!s || count(r, "select count(*) from op_stall where run = ?", out->run.id, &max) < 0)
		return -1;
	if (!(v = arena_array(r->a, max ? max : 1, sizeof *v)))
		return no_memory(r->e);
	db_bind_i64(s, 1, out->run.id);
	while ((rc = db_step(r->db, s, r->e)) == 1 && n < max) {
		size_t op = (size_t)u64(s, 0);

		if (op >= out->run.n_ops)
			return damaged(r, out->run.id);
		if (!ops[op].n_stalls)
			ops[op].stalls = &v[n];
		ops[op].n_stalls++;
		v[n++] = (struct res_stall){ text(r, s, 1, &failed), (uint32_t)u64(s, 2) };
	}
	if (rc < 0)
		return -1;
	return failed ? no_memory(r->e) : db_run(r->db, s, r->e);
}

static int read_ops(struct reader *r, struct res_stored *out)
{
	struct sqlite3_stmt *s = db_stmt(r->db,
	                                 "select op, span_ps, start_ps, limit_ps, bound, dram_bytes, mem_bytes,"
	                                 " flops from op_result where run = ? order by op",
	                                 r->e);
	struct res_op *ops = arena_array(r->a, out->workload.n_ops ? out->workload.n_ops : 1, sizeof *ops);
	bool failed = false;
	size_t n = 0;
	int rc;

	if (!s)
		return -1;
	if (!ops)
		return no_memory(r->e);
	db_bind_i64(s, 1, out->run.id);
	while ((rc = db_step(r->db, s, r->e)) == 1) {
		struct res_op *o = &ops[n];

		if (n == out->workload.n_ops || u64(s, 0) != n)
			return damaged(r, out->run.id);
		n++;
		o->carried = db_col_null(s, 1);
		o->span_ps = u64(s, 1);
		o->start_ps = u64(s, 2);
		o->limit_ps = u64(s, 3);
		o->bound = text(r, s, 4, &failed);
		o->dram_bytes = u64(s, 5);
		o->mem_bytes = u64(s, 6);
		o->flops = u64(s, 7);
	}
	if (rc < 0)
		return -1;
	if (n != out->workload.n_ops)
		return damaged(r, out->run.id);
	out->run.ops = ops;
	out->run.n_ops = n;
	return failed ? no_memory(r->e) : read_stalls(r, out, ops);
}

static int read_resources(struct reader *r, struct res_stored *out)
{
	struct sqlite3_stmt *s = db_stmt(r->db,
	                                 "select name, stall_ps, peak_ps from resource where run = ?"
	                                 " order by place",
	                                 r->e);
	struct res_resource *v;
	bool failed = false;
	size_t max;
	int rc;

	if (!s || count(r, "select count(*) from resource where run = ?", out->run.id, &max) < 0)
		return -1;
	if (!(v = arena_array(r->a, max ? max : 1, sizeof *v)))
		return no_memory(r->e);
	db_bind_i64(s, 1, out->run.id);
	while ((rc = db_step(r->db, s, r->e)) == 1 && out->run.n_resources < max)
		v[out->run.n_resources++] = (struct res_resource){ text(r, s, 0, &failed), u64(s, 1), u64(s, 2) };
	out->run.resources = v;
	if (rc < 0)
		return -1;
	return failed ? no_memory(r->e) : db_run(r->db, s, r->e);
}

static int read_stats(struct reader *r, struct res_stored *out)
{
	struct sqlite3_stmt *s = db_stmt(r->db,
	                                 "select name, unit, value, level from stat where run = ?"
	                                 " order by place",
	                                 r->e);
	struct res_stat *v;
	bool failed = false;
	size_t max;
	int rc;

	if (!s || count(r, "select count(*) from stat where run = ?", out->run.id, &max) < 0)
		return -1;
	if (!(v = arena_array(r->a, max ? max : 1, sizeof *v)))
		return no_memory(r->e);
	db_bind_i64(s, 1, out->run.id);
	while ((rc = db_step(r->db, s, r->e)) == 1 && out->run.n_stats < max)
		v[out->run.n_stats++] = (struct res_stat){ text(r, s, 0, &failed), text(r, s, 1, &failed), u64(s, 2),
			                                   db_col_i64(s, 3) != 0 };
	out->run.stats = v;
	if (rc < 0)
		return -1;
	return failed ? no_memory(r->e) : db_run(r->db, s, r->e);
}

static int read_limits(struct reader *r, struct res_stored *out)
{
	struct res_limits *l = &out->run.limits;
	struct res_limit *v;
	struct sqlite3_stmt *s;
	bool failed = false;
	size_t max = 0;
	int rc;

	if (count(r, "select count(*) from run_limit where run = ?", out->run.id, &max) < 0)
		return -1;
	if (max == 0)
		return 0;
	if (!(s = db_stmt(r->db,
	                  "select key, now, next, step, per_ppm, total_ps, refused from run_limit where run = ?"
	                  " order by place",
	                  r->e)))
		return -1;
	if (!(v = arena_array(r->a, max, sizeof *v)))
		return no_memory(r->e);
	db_bind_i64(s, 1, out->run.id);
	while ((rc = db_step(r->db, s, r->e)) == 1 && l->n < max) {
		v[l->n++] = (struct res_limit){ text(r, s, 0, &failed),
			                        text(r, s, 1, &failed),
			                        text(r, s, 2, &failed),
			                        db_col_f64(s, 3),
			                        u64(s, 5),
			                        text(r, s, 6, &failed) };
		l->per_ppm = (uint32_t)u64(s, 4);
	}
	l->rows = v;
	if (rc < 0)
		return -1;
	return failed ? no_memory(r->e) : db_run(r->db, s, r->e);
}

static int unknown_run(struct reader *r, int64_t id)
{
	struct sqlite3_stmt *s = db_stmt(r->db, "select count(*), min(id), max(id) from run", r->e);

	if (!s || db_step(r->db, s, r->e) < 0)
		return -1;
	if (db_col_i64(s, 0) == 0)
		err_set(r->e, ERR_IO, "there is no run %lld in '%s': it holds none", (long long)id, db_path(r->db));
	else
		err_set(r->e, ERR_IO, "there is no run %lld in '%s': it holds %lld, numbered %lld to %lld",
		        (long long)id, db_path(r->db), (long long)db_col_i64(s, 0), (long long)db_col_i64(s, 1),
		        (long long)db_col_i64(s, 2));
	return -1;
}

static int get(struct reader *r, int64_t id, struct res_stored *out)
{
	struct sqlite3_stmt *s = db_stmt(r->db, HEAD " where r.id = ?", r->e);
	int rc;

	if (!s)
		return -1;
	db_bind_i64(s, 1, id);
	if ((rc = db_step(r->db, s, r->e)) < 0)
		return -1;
	if (rc == 0)
		return unknown_run(r, id);
	if (read_head(r, s, out) < 0 || db_run(r->db, s, r->e) < 0)
		return -1;
	if (read_work_ops(r, out) < 0 || read_ops(r, out) < 0 || read_resources(r, out) < 0 || read_stats(r, out) < 0 ||
	    read_limits(r, out) < 0)
		return -1;
	return 0;
}

int res_get(struct resdb *db, int64_t id, struct arena *a, struct res_stored *out, struct err *e)
{
	struct reader r = { db->db, a, e };
	int rc;

	if (db_exec(db->db, "begin", e) < 0) /* one state of the file from the first statement to the last */
		return -1;
	rc = get(&r, id, out);
	db_rollback(db->db);
	return rc;
}

int res_get_workload(struct resdb *db, int64_t id, struct arena *a, struct res_workload *out, struct err *e)
{
	struct reader r = { db->db, a, e };
	struct sqlite3_stmt *s = db_stmt(db->db,
	                                 "select source, digest, range, rules, kernel_ns, measured_ns, opaque_ns,"
	                                 " wall_ns, ops from workload where id = ?",
	                                 e);
	struct res_stored all = { .workload_id = id };
	bool failed = false;
	int rc;

	if (!s)
		return -1;
	db_bind_i64(s, 1, id);
	if ((rc = db_step(db->db, s, e)) != 1)
		return rc < 0 ? -1
		              : err_set(e, ERR_IO, "'%s' is damaged: it has no workload %" PRId64, db_path(db->db), id);
	all.workload.source = text(&r, s, 0, &failed);
	all.workload.digest = text(&r, s, 1, &failed);
	all.workload.range = text(&r, s, 2, &failed);
	all.workload.rules_hash = strtoull(db_col_text(s, 3), NULL, 16);
	all.workload.kernel_ns = u64(s, 4);
	all.workload.measured_ns = u64(s, 5);
	all.workload.opaque_ns = u64(s, 6);
	all.workload.wall_ns = db_col_null(s, 7) ? -1 : db_col_i64(s, 7);
	all.workload.n_ops = (size_t)u64(s, 8);
	if (db_run(db->db, s, e) < 0 || read_work_ops(&r, &all) < 0)
		return -1;
	*out = all.workload;
	return failed ? no_memory(e) : 0;
}
