/* res_read.c - reading runs back. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/db/res_int.h"
#include "results/db/res_sweep.h"
#include "sim/base/str.h"

#define WHAT "runs"

static int damaged(struct res_reader *r, int64_t id)
{
	return err_set(r->e, ERR_IO, "'%s' is damaged: the rows of run %lld do not fit together", db_path(r->db),
	               (long long)id);
}

/* --- heads ------------------------------------------------------------------------------------------------- */

#define WORKLOAD "w.source, w.digest, w.range, w.rules, w.kernel_ns, w.measured_ns, w.opaque_ns, w.wall_ns, w.ops"
#define HEAD \
	"select r.id, c.hash, c.text, r.config_name, r.config_path, r.build, r.fidelity, r.start, r.seed," \
	" r.reuse_ppm, r.host_us, r.roofline_bound" RES_COLUMNS ", w.id, " WORKLOAD \
	" from run r join config c on c.id = r.config join workload w on w.id = r.workload"

/* WORKLOAD, from column i on. */
static void read_workload(struct res_reader *r, struct sqlite3_stmt *s, int i, struct res_workload *out)
{
	out->source = res_text(r, s, i);
	out->digest = res_text(r, s, i + 1);
	out->range = res_text(r, s, i + 2);
	out->rules_hash = strtoull(db_col_text(s, i + 3), NULL, 16);
	out->kernel_ns = res_u64(s, i + 4);
	out->measured_ns = res_u64(s, i + 5);
	out->opaque_ns = res_u64(s, i + 6);
	out->wall_ns = db_col_null(s, i + 7) ? -1 : db_col_i64(s, i + 7);
	out->n_ops = (size_t)res_u64(s, i + 8);
}

static void read_head(struct res_reader *r, struct sqlite3_stmt *s, struct res_stored *out)
{
	int i = 0;

	memset(out, 0, sizeof *out);
	out->run.id = db_col_i64(s, i++);
	out->run.config_hash = strtoull(db_col_text(s, i++), NULL, 16);
	out->run.config_text = res_text(r, s, i++);
	out->run.config_name = res_text(r, s, i++);
	out->run.config_path = res_text(r, s, i++);
	out->run.build = res_text(r, s, i++);
	out->run.fidelity = res_text(r, s, i++);
	out->run.start = res_text(r, s, i++);
	out->run.seed = res_u64(s, i++);
	out->run.reuse_ppm = (uint32_t)res_u64(s, i++);
	out->run.host_ns = res_u64(s, i++) * 1000;
	out->run.roofline_bound = res_text(r, s, i++);
	i = res_read_figures(s, i, &out->run.figures);
	out->workload_id = db_col_i64(s, i++);
	read_workload(r, s, i, &out->workload);
}

static int take_head(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	(void)ctx;
	read_head(r, s, row);
	return 0;
}

int res_list(struct resdb *db, struct arena *a, struct res_stored **out, size_t *n, struct err *e)
{
	static const struct res_rows runs = { "select count(*) from run where id > ?",
		                              HEAD " where r.id > ? order by r.id", sizeof(struct res_stored),
		                              take_head };
	struct res_reader r = { db->db, a, e, WHAT, false };
	struct res_found all;
	int rc = res_read_rows(&r, &runs, 0, NULL, &all);

	*out = all.v;
	*n = all.n;
	return rc;
}

/* --- rows of one run --------------------------------------------------------------------------------------- */

/* Ops of a workload, or of a run over it: numbered without gaps, as many as the workload says. */
struct ops {
	int64_t run;
	size_t n, read;
};

/* The next op, or the file is damaged. */
static int next_op(struct res_reader *r, struct sqlite3_stmt *s, struct ops *ops)
{
	return ops->read < ops->n && res_u64(s, 0) == ops->read++ ? 0 : damaged(r, ops->run);
}

static int read_ops_of(struct res_reader *r, const struct res_rows *of, int64_t id, const struct res_stored *out,
                       struct res_found *all)
{
	struct ops ops = { out->run.id, out->workload.n_ops, 0 };

	if (res_read_rows(r, of, id, &ops, all) < 0)
		return -1;
	return all->n == ops.n ? 0 : damaged(r, ops.run);
}

static int take_work_op(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	*(struct res_work_op *)row = (struct res_work_op){ .name = res_text(r, s, 1),
		                                           .kind = res_text(r, s, 2),
		                                           .family = res_text(r, s, 3),
		                                           .rule = res_text(r, s, 4),
		                                           .layer = (int32_t)db_col_i64(s, 5),
		                                           .n_launches = (uint32_t)res_u64(s, 6),
		                                           .launch = db_col_null(s, 7) ? -1 : db_col_i64(s, 7),
		                                           .measured_ns = res_u64(s, 8),
		                                           .read_bytes = res_u64(s, 9),
		                                           .write_bytes = res_u64(s, 10),
		                                           .flops = res_u64(s, 11) };
	return next_op(r, s, ctx);
}

static int read_work_ops(struct res_reader *r, struct res_stored *out)
{
	static const struct res_rows ops = { "select count(*) from op_stream where workload = ?",
		                             "select op, name, kind, family, rule, layer, launches, launch,"
		                             " measured_ns, read_bytes, write_bytes, flops from op_stream"
		                             " where workload = ? order by op",
		                             sizeof(struct res_work_op), take_work_op };
	struct res_found all;
	int rc = read_ops_of(r, &ops, out->workload_id, out, &all);

	out->workload.ops = all.v;
	return rc;
}

static int take_op(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	struct res_op *o = row;

	*o = (struct res_op){ .bound = res_text(r, s, 1) };
	res_read_op(s, 2, o);
	return next_op(r, s, ctx);
}

/* A run, and its ops, of which the stalls and some figures are. */
struct with_ops {
	struct res_stored *of;
	struct res_op *ops;
};

static int take_stall(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	const struct with_ops *x = ctx;
	const uint64_t op = res_u64(s, 0);
	struct res_stall *v = row;

	if (op >= x->of->workload.n_ops)
		return damaged(r, x->of->run.id);
	if (!x->ops[op].n_stalls++)
		x->ops[op].stalls = v;
	*v = (struct res_stall){ res_text(r, s, 1), (uint32_t)res_u64(s, 2) };
	return 0;
}

static int read_ops(struct res_reader *r, struct with_ops *x)
{
	static const struct res_rows ops = { "select count(*) from op_result where run = ?",
		                             "select op, bound" RES_OP_COLUMNS
		                             " from op_result where run = ? order by op",
		                             sizeof(struct res_op), take_op };
	static const struct res_rows stalls = { "select count(*) from op_stall where run = ?",
		                                "select op, resource, ppm from op_stall where run = ?"
		                                " order by op, resource",
		                                sizeof(struct res_stall), take_stall };
	struct res_run *run = &x->of->run;
	struct res_found all, rest;

	if (read_ops_of(r, &ops, run->id, x->of, &all) < 0)
		return -1;
	x->ops = all.v;
	run->ops = all.v;
	run->n_ops = all.n;
	return res_read_rows(r, &stalls, run->id, x, &rest);
}

static int take_resource(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	(void)ctx;
	*(struct res_resource *)row = (struct res_resource){ res_text(r, s, 0), res_u64(s, 1), res_u64(s, 2) };
	return 0;
}

/* The figures among them come last. */
static int take_stat(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	const struct with_ops *x = ctx;
	struct res_run *run = &x->of->run;
	struct res_stat *v = row;

	*v = (struct res_stat){ res_text(r, s, 0), res_text(r, s, 1), res_u64(s, 2), db_col_i64(s, 3) != 0 };
	if (v->name && !res_take_row(v, &run->figures) && !res_take_op_row(op_figure_table, v, x->ops, run->n_ops))
		run->n_stats++;
	return 0;
}

static int read_sums(struct res_reader *r, struct with_ops *x)
{
	static const struct res_rows resources = { "select count(*) from resource where run = ?",
		                                   "select name, stall_ps, peak_ps from resource where run = ?"
		                                   " order by place",
		                                   sizeof(struct res_resource), take_resource };
	static const struct res_rows stats = { "select count(*) from stat where run = ?",
		                               "select name, unit, value, level from stat where run = ?"
		                               " order by place",
		                               sizeof(struct res_stat), take_stat };
	struct res_run *run = &x->of->run;
	struct res_found all;

	if (res_read_rows(r, &resources, run->id, NULL, &all) < 0)
		return -1;
	run->resources = all.v;
	run->n_resources = all.n;
	if (res_read_rows(r, &stats, run->id, x, &all) < 0)
		return -1;
	run->stats = all.v;
	return 0;
}

static int take_limit(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	struct res_limits *l = ctx;

	*(struct res_limit *)row = (struct res_limit){ .key = res_text(r, s, 0),
		                                       .now = res_text(r, s, 1),
		                                       .then = res_text(r, s, 2),
		                                       .step = db_col_f64(s, 3),
		                                       .total_ps = res_u64(s, 5),
		                                       .refused = res_text(r, s, 6),
		                                       .move = res_text(r, s, 7),
		                                       .base_ps = res_u64(s, 8),
		                                       .fidelity = res_text(r, s, 9),
		                                       .within = res_u64(s, 10) != 0 };
	l->per_ppm = (uint32_t)res_u64(s, 4);
	return 0;
}

static int read_limits(struct res_reader *r, struct res_stored *out)
{
	static const struct res_rows limits = {
		"select count(*) from run_limit where run = ?",
		"select key, now, next, step, per_ppm, total_ps, refused, move, base_ps, fidelity, within"
		" from run_limit where run = ? order by place",
		sizeof(struct res_limit), take_limit
	};
	struct res_found all;

	if (res_read_rows(r, &limits, out->run.id, &out->run.limits, &all) < 0)
		return -1;
	out->run.limits.rows = all.v;
	out->run.limits.n = all.n;
	return 0;
}

static int take_warning(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	(void)ctx;
	*(struct res_warning *)row = (struct res_warning){ res_text(r, s, 0), res_text(r, s, 1) };
	return 0;
}

static int read_warnings(struct res_reader *r, struct res_stored *out)
{
	static const struct res_rows warnings = { "select count(*) from run_warning where run = ?",
		                                  "select what, text from run_warning where run = ? order by place",
		                                  sizeof(struct res_warning), take_warning };
	struct res_found all;

	if (res_read_rows(r, &warnings, out->run.id, NULL, &all) < 0)
		return -1;
	out->run.warnings = all.v;
	out->run.n_warnings = all.n;
	return 0;
}

static int take_energy(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	(void)ctx;
	*(struct res_energy *)row = (struct res_energy){ res_text(r, s, 0), res_text(r, s, 1), res_u64(s, 2) };
	return 0;
}

static int read_energy(struct res_reader *r, struct res_stored *out)
{
	static const struct res_rows energy = { "select count(*) from run_energy where run = ?",
		                                "select block, name, fj from run_energy where run = ? order by place",
		                                sizeof(struct res_energy), take_energy };
	struct res_found all;

	if (res_read_rows(r, &energy, out->run.id, NULL, &all) < 0)
		return -1;
	out->run.energy = all.v;
	out->run.n_energy = all.n;
	return 0;
}

static double known_f64(struct sqlite3_stmt *s, int i)
{
	return db_col_null(s, i) ? NAN : db_col_f64(s, i);
}

static int take_next(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	(void)ctx;
	*(struct res_next *)row = (struct res_next){ .kind = res_text(r, s, 0),
		                                     .key = res_text(r, s, 1),
		                                     .now = res_text(r, s, 2),
		                                     .then = res_text(r, s, 3),
		                                     .saves = known_f64(s, 4),
		                                     .low = known_f64(s, 5),
		                                     .high = known_f64(s, 6),
		                                     .mm2 = known_f64(s, 7),
		                                     .watts = known_f64(s, 8),
		                                     .beyond = res_text(r, s, 9) };
	return 0;
}

static int take_asked(struct res_reader *r, struct sqlite3_stmt *s, void *row, void *ctx)
{
	(void)ctx;
	((const char **)row)[0] = res_text(r, s, 0);
	((const char **)row)[1] = res_text(r, s, 1);
	return 0;
}

static int read_late(struct res_reader *r, struct res_stored *out)
{
	static const struct res_rows next = {
		"select count(*) from run_next where run = ?",
		"select kind, key, now, next, saves, low, high, mm2, watts, beyond from run_next where run = ? order by place",
		sizeof(struct res_next), take_next
	};
	static const struct res_rows asked = { "select count(*) from run_asked where run = ?",
		                               "select text, given from run_asked where run = ?", 2 * sizeof(char *),
		                               take_asked };
	struct res_found all;

	if (res_read_rows(r, &next, out->run.id, NULL, &all) < 0)
		return -1;
	out->run.next = all.v;
	out->run.n_next = all.n;
	if (res_read_rows(r, &asked, out->run.id, NULL, &all) < 0)
		return -1;
	out->run.asked = all.n ? ((const char *const *)all.v)[0] : NULL;
	out->run.given = all.n ? ((const char *const *)all.v)[1] : NULL;
	return 0;
}

static int unknown_run(struct res_reader *r, int64_t id)
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

static int get(struct res_reader *r, int64_t id, struct res_stored *out)
{
	struct sqlite3_stmt *s = res_query(r, HEAD " where r.id = ?", id);
	struct with_ops x = { out, NULL };
	int rc;

	if (!s || (rc = db_step(r->db, s, r->e)) < 0)
		return -1;
	if (rc == 0)
		return unknown_run(r, id);
	read_head(r, s, out);
	if (db_run(r->db, s, r->e) < 0)
		return -1;
	return read_work_ops(r, out) < 0 || read_ops(r, &x) < 0 || read_sums(r, &x) < 0 || read_limits(r, out) < 0 ||
	                       read_warnings(r, out) < 0 || read_energy(r, out) < 0 || read_late(r, out) < 0
	               ? -1
	               : 0;
}

int res_get(struct resdb *db, int64_t id, struct arena *a, struct res_stored *out, struct err *e)
{
	struct res_reader r = { db->db, a, e, WHAT, false };
	int rc;

	if (db_exec(db->db, "begin", e) < 0) /* one state of the file from the first statement to the last */
		return -1;
	rc = get(&r, id, out);
	db_rollback(db->db);
	return rc;
}

int res_get_workload(struct resdb *db, int64_t id, struct arena *a, struct res_workload *out, struct err *e)
{
	struct res_reader r = { db->db, a, e, WHAT, false };
	struct sqlite3_stmt *s = res_query(&r, "select " WORKLOAD " from workload w where w.id = ?", id);
	struct res_stored all = { .workload_id = id };
	int rc;

	if (!s)
		return -1;
	if ((rc = db_step(db->db, s, e)) != 1)
		return rc < 0 ? -1
		              : err_set(e, ERR_IO, "'%s' is damaged: it has no workload %" PRId64, db_path(db->db), id);
	read_workload(&r, s, 0, &all.workload);
	if (db_run(db->db, s, e) < 0 || read_work_ops(&r, &all) < 0)
		return -1;
	*out = all.workload;
	return 0;
}
