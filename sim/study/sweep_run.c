/* sweep_run.c - workers that simulate, one process that stores. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/pool.h"
#include "sim/base/version.h"
#include "sim/engine/run_memo.h"
#include "sim/serve/traffic.h"
#include "sim/study/split.h"
#include "sim/study/sweep_int.h"

#define FRAME_MAX ((size_t)64 << 20)
#define BATCH     256 /* rows a transaction, where many come at once */

/* --- one point --------------------------------------------------------------------------------------------- */

static int add_kinds(const struct run_result *x, struct arena *a, struct res_point *out, struct err *e)
{
	struct res_kind *kinds = arena_array(a, OP_KINDS, sizeof *kinds),
			sums[OP_KINDS] = { { NULL, 0, 0, 0, 0, 0, 0 } };

	if (!kinds)
		return sweep_no_memory(e);
	for (size_t i = 0; i < x->stream->n_ops; i++) {
		struct res_kind *k = &sums[x->stream->ops[i].kind];
		const struct run_op *o = &x->ops[i];

		k->ops++;
		k->span_ps += o->span_ps;
		k->limit_ps += o->limit_ps;
		k->dram_bytes += o->dram_bytes;
		k->mem_bytes += o->mem_bytes;
		k->flops += o->flops;
	}
	for (int k = 0; k < OP_KINDS; k++)
		if (sums[k].ops) {
			kinds[out->n_kinds] = sums[k];
			kinds[out->n_kinds++].kind = op_kind_name((enum op_kind)k);
		}
	out->kinds = kinds;
	return 0;
}

static int add_sums(const struct run_result *x, struct arena *a, struct res_point *out, struct err *e)
{
	struct res_resource *res = arena_array(a, RES_COUNT, sizeof *res);
	struct res_stat *stats = arena_array(a, x->n_stats ? x->n_stats : 1, sizeof *stats);

	if (!res || !stats)
		return sweep_no_memory(e);
	for (int k = 0; k < RES_COUNT; k++)
		if (x->stall_ps[k] || x->peak_ps[k])
			res[out->n_resources++] =
				(struct res_resource){ res_name((enum res)k), x->stall_ps[k], x->peak_ps[k] };
	for (size_t i = 0; i < x->n_stats; i++)
		stats[out->n_stats++] =
			(struct res_stat){ x->stats[i].name, x->stats[i].unit, x->stats[i].value, x->stats[i].level };
	out->resources = res;
	out->stats = stats;
	return 0;
}

/* Where axes are the workload's, or its split is the machine's, a stream of the point's own. */
static int sweep_run_stream_of(const struct sweep *s, const struct sweep_job *job, const char *const *sets,
                               const struct machine_conf *c, struct arena *a, const struct op_stream **stream,
                               struct err *e)
{
	struct op_stream *own;
	struct workload_spec w = job->spec;
	uint32_t tried;

	*stream = job->stream;
	if (!sweep_workload_varies(s) && !split_asked(&w))
		return 0;
	if (!(own = arena_alloc(a, sizeof *own)))
		return sweep_no_memory(e);
	*stream = own;
	sweep_workload_of(s, sets, &w);
	if (split_asked(&w) && split_best(&w, c, &job->how, job->build, job->build_arg, a, &tried, e) < 0)
		return -1;
	return job->build(job->build_arg, &w, a, own, e);
}

/* One run of one stream, as a row. */
static int run_row(const struct op_stream *stream, const struct machine_conf *c, const struct run_opts *how,
                   sweep_look *look, void *arg, struct arena *a, struct res_point *out, struct err *e)
{
	struct run_result x;

	if (run_stream(stream, c, how, a, &x, e) < 0)
		return -1;
	out->figures = x.figures;
	out->roofline_bound = res_name(x.roofline_bound);
	if (look)
		look(arg, c, &x, out);
	return add_kinds(&x, a, out, e) < 0 ? -1 : add_sums(&x, a, out, e);
}

static int run_parts(const struct sweep_job *job, const struct machine_conf *c, sweep_look *look, void *arg,
                     struct arena *a, struct res_point *out, struct err *e)
{
	struct res_point *rows = arena_array(a, job->n_parts, sizeof *rows);

	if (!rows)
		return sweep_no_memory(e);
	for (size_t i = 0; i < job->n_parts; i++) {
		struct run_opts how = job->how;

		how.memo = job->memos ? job->memos[i] : NULL;
		if (run_row(job->parts[i].stream, c, &how, look, arg, a, &rows[i], e) < 0)
			return err_add(e, "running '%s'", job->parts[i].name);
	}
	return sweep_mix(job->parts, rows, job->n_parts, a, out, e);
}

/* The machine under the job's traffic, as a row. One process: the rows are what runs side by side. */
static int serve_row(const struct sweep *s, const struct sweep_job *job, const char *const *sets,
                     const struct machine_conf *c, struct arena *a, struct res_point *out, struct err *e)
{
	struct res_resource *res = arena_array(a, RES_COUNT, sizeof *res);
	struct serve_ask ask = *job->serve;
	struct traffic_point x;

	if (!res)
		return sweep_no_memory(e);
	ask.machine = c;
	ask.jobs = 1;
	ask.check = 0;
	ask.how.fidelity = job->how.fidelity;
	ask.how.memo = job->how.memo;
	if (job->how.start != RUN_STEADY) {
		ask.how.start = job->how.start;
		ask.start_given = true;
	}
	sweep_workload_of(s, sets, &ask.workload);
	if (traffic_point(&ask, &x, e) < 0)
		return -1;
	out->figures = x.figures;
	for (int k = 0; k < RES_COUNT; k++)
		if (x.stall[k])
			res[out->n_resources++] = (struct res_resource){ res_name((enum res)k), x.stall[k], 0 };
	out->resources = res;
	return 0;
}

int sweep_eval(const struct sweep *s, const struct sweep_job *job, const char *const *sets, sweep_look *look, void *arg,
               struct arena *a, struct res_point *out, struct err *e)
{
	const struct op_stream *stream = job->stream;
	struct run_opts how = job->how;
	struct machine_conf *c = sweep_conf(s, sets, e);
	int rc;

	if (!c)
		return -1;
	if (job->serve) {
		rc = serve_row(s, job, sets, c, a, out, e);
	} else if (job->n_parts) {
		rc = run_parts(job, c, look, arg, a, out, e);
	} else if ((rc = sweep_run_stream_of(s, job, sets, c, a, &stream, e)) == 0) {
		if (stream != job->stream)
			how.memo = NULL; /* it keeps what it knows of one stream */
		rc = run_row(stream, c, &how, look, arg, a, out, e);
	}
	machine_conf_free(c);
	return rc;
}

static int sweep_run_simulate(const struct sweep *s, const struct sweep_job *job, size_t point, struct arena *a,
                              struct res_point *out, struct err *e)
{
	const char **sets = arena_array(a, s->n_axes, sizeof *sets);

	if (!sets)
		return sweep_no_memory(e);
	sweep_sets(s, point, sets);
	return sweep_eval(s, job, sets, NULL, NULL, a, out, e);
}

static struct res_point failed_point(const struct sweep *s, size_t point, const char *reason)
{
	return (struct res_point){ .point = point, .config_hash = s->hashes[point], .failed = true, .reason = reason };
}

void sweep_point(const struct sweep *s, const struct sweep_job *job, size_t point, struct arena *a,
                 struct res_point *out)
{
	struct err e = ERR_INIT;

	*out = (struct res_point){ .point = point, .config_hash = s->hashes[point] };
	if (s->refused[point])
		*out = failed_point(s, point, s->refused[point]);
	else if (sweep_run_simulate(s, job, point, a, out, &e) < 0)
		*out = failed_point(s, point, arena_strdup(a, e.kind ? e.msg : "out of memory"));
}

/* --- workers ----------------------------------------------------------------------------------------------- */

struct workers {
	const struct sweep *s;
	const struct sweep_job *job;
	size_t *todo, n_todo; /* points to run, in order */
	struct resdb *db;
	struct sweep_done *d;
	struct arena *a; /* of the rows that came together: */
	struct res_point rows[POOL_WORKERS];
	size_t n_rows;
};

/* Workers are made for this sweep's points, and know them by number. */
static void job_of(void *arg, size_t i, struct str *to)
{
	const struct workers *c = arg;
	const uint64_t point = c->todo[i];

	str_addn(to, (const char *)&point, sizeof point);
}

/* One for each stream; without them every point is one by itself. */
struct run_memo **sweep_memos(const struct sweep_job *job)
{
	const size_t n = job->n_parts ? job->n_parts : 1;
	struct run_memo **v = calloc(n + 1, sizeof *v);
	struct err none = ERR_INIT;

	for (size_t i = 0; v && i < n; i++)
		v[i] = run_memo_new(&none);
	return v;
}

void sweep_memos_free(const struct sweep_job *job, struct run_memo **v)
{
	const size_t n = job->n_parts ? job->n_parts : 1;

	for (size_t i = 0; v && i < n; i++)
		run_memo_free(v[i]);
	free(v);
}

static void *sweep_run_start(void *arg)
{
	return sweep_memos(((const struct workers *)arg)->job);
}

static void end(void *arg, void *memos)
{
	sweep_memos_free(((const struct workers *)arg)->job, memos);
}

static void work(void *arg, void *state, const char *job, size_t n, struct str *result)
{
	struct run_memo *const *memos = state;
	const struct workers *c = arg;
	struct sweep_job mine = *c->job;
	struct arena *a = arena_new(0);
	struct res_point p;
	uint64_t point;

	(void)n;
	memcpy(&point, job, sizeof point);
	mine.memos = memos;
	mine.how.memo = memos ? memos[0] : NULL;
	if (a)
		sweep_point(c->s, &mine, (size_t)point, a, &p);
	else
		p = failed_point(c->s, (size_t)point, "out of memory");
	sweep_pack(&p, result);
	arena_free(a);
}

/* --- the writer -------------------------------------------------------------------------------------------- */

static int add_values(const struct sweep *s, struct res_point *p, struct arena *a, struct err *e)
{
	struct res_value *v = arena_array(a, s->n_axes, sizeof *v);

	if (!v)
		return sweep_no_memory(e);
	for (size_t i = 0; i < s->n_axes; i++)
		v[i] = s->axes[i].values[s->index[p->point * s->n_axes + i]];
	p->values = v;
	p->build = npusim_build_id();
	return 0;
}

/* One at a time of each worker, so there are never more rows than workers. */
static int take_row(void *arg, size_t i, const struct pool_result *r, struct err *e)
{
	struct workers *c = arg;
	struct res_point *row = &c->rows[c->n_rows];

	if (r->lost) {
		*row = failed_point(c->s, c->todo[i],
		                    arena_printf(c->a, "%s%s", r->died ? RES_DIED " twice: " : "", r->lost));
		if (!row->reason)
			return sweep_no_memory(e);
	} else if (sweep_unpack(r->bytes, r->n, c->a, row) < 0) {
		return sweep_no_memory(e);
	}
	c->n_rows++;
	return add_values(c->s, row, c->a, e);
}

/* Stores all rows that came together as one transaction. */
static int put_rows(void *arg, size_t done, struct err *e)
{
	struct workers *c = arg;
	const struct sweep_job *job = c->job;

	for (size_t i = 0; job->row && i < c->n_rows; i++)
		job->row(job->row_arg, &c->rows[i]);
	if (res_put_points(c->db, c->d->id, c->rows, c->n_rows, c->s->n_axes, e) < 0)
		return -1;
	c->d->ran = done;
	c->n_rows = 0;
	arena_reset(c->a);
	if (job->progress)
		job->progress(job->arg, done, c->n_todo);
	return 0;
}

static int run_all(struct workers *c, struct err *e)
{
	const struct sweep_job *job = c->job;
	const struct pool_how how = { .backend = &pool_processes,
		                      .workers = job->jobs ? job->jobs : 1, /* a point may kill who runs it */
		                      .frame_max = FRAME_MAX,
		                      .start = sweep_run_start,
		                      .end = end,
		                      .work = work,
		                      .arg = c };
	const struct pool_batch batch = {
		.n = c->n_todo, .job = job_of, .result = take_row, .progress = put_rows, .arg = c
	};
	struct pool *pool = NULL;
	int rc;

	if (!c->n_todo)
		return 0;
	if (job->progress)
		job->progress(job->arg, 0, c->n_todo);
	if (!(c->a = arena_new(0)))
		return sweep_no_memory(e);
	rc = (pool = pool_new(&how, e)) ? pool_run(pool, &batch, e) : -1;
	pool_free(pool);
	arena_free(c->a);
	return rc;
}

/* Points that cannot be built need no worker: their rows are written first. */
static int put_refused(struct workers *c, struct resdb *db, struct sweep_done *d, struct err *e)
{
	struct arena *a = arena_new(0);
	struct res_point *rows = a ? arena_array(a, BATCH, sizeof *rows) : NULL;
	size_t kept = 0, n = 0;
	int rc = rows ? 0 : sweep_no_memory(e);

	for (size_t i = 0; rc == 0 && i < c->n_todo; i++) {
		const size_t p = c->todo[i];

		if (!c->s->refused[p]) {
			c->todo[kept++] = p;
			continue;
		}
		rows[n] = failed_point(c->s, p, c->s->refused[p]);
		rc = add_values(c->s, &rows[n++], a, e);
		if (rc == 0 && n == BATCH) {
			rc = res_put_points(db, d->id, rows, n, c->s->n_axes, e);
			d->there += n;
			n = 0;
		}
	}
	if (rc == 0 && n)
		rc = res_put_points(db, d->id, rows, n, c->s->n_axes, e);
	d->there += n;
	c->n_todo = kept;
	arena_free(a);
	return rc;
}

/* Points that an earlier sweep of the file has, one with a coarser grid say, are copied from there. */
static int adopt(struct workers *c, struct resdb *db, struct sweep_done *d, struct err *e)
{
	struct arena *a = arena_new(0);
	struct res_point *rows = a ? arena_array(a, BATCH, sizeof *rows) : NULL;
	bool taken[BATCH];
	size_t kept = 0;
	int rc = rows ? 0 : sweep_no_memory(e);

	for (size_t i = 0; rc == 0 && i < c->n_todo; i += BATCH) {
		const size_t n = c->n_todo - i < BATCH ? c->n_todo - i : BATCH;

		for (size_t k = 0; rc == 0 && k < n; k++) {
			rows[k] = (struct res_point){ .point = c->todo[i + k],
				                      .config_hash = c->s->hashes[c->todo[i + k]] };
			rc = add_values(c->s, &rows[k], a, e);
		}
		if (rc == 0)
			rc = res_adopt_points(db, d->id, rows, n, c->s->n_axes, taken, e);
		for (size_t k = 0; rc == 0 && k < n; k++) {
			if (taken[k])
				d->there++;
			else
				c->todo[kept++] = c->todo[i + k];
		}
	}
	if (rc == 0)
		c->n_todo = kept;
	arena_free(a);
	return rc;
}

/* What sweep_number counts in. */
static const char *sweep_run_unit_of(enum cfg_type t)
{
	switch (t) {
	case CFG_T_FREQ:
		return "Hz";
	case CFG_T_ENERGY:
		return "pJ";
	case CFG_T_POWER:
		return "W";
	case CFG_T_PPM:
		return "";
	default:
		return cfg_unit(t);
	}
}

static int put_sweep(const struct sweep *s, const struct sweep_job *job, struct resdb *db, struct res_sweep *head,
                     struct err *e)
{
	const bool guided = s->sample == SWEEP_GUIDED;
	struct res_axis *axes = calloc(s->n_axes, sizeof *axes);
	int rc;

	if (!axes)
		return sweep_no_memory(e);
	for (size_t i = 0; i < s->n_axes; i++)
		axes[i] = (struct res_axis){ s->axes[i].key, sweep_run_unit_of(s->axes[i].field->type) };
	*head = (struct res_sweep){ .name = s->path,
		                    .text = s->text,
		                    .base_path = s->base,
		                    .base_text = s->base_text,
		                    .start = s->start,
		                    .fidelity = s->fidelity,
		                    .seed = job->how.seed,
		                    .configs_hash = sweep_hash(s),
		                    .reuse_ppm = job->reuse_ppm,
		                    .n_points = guided ? (size_t)s->sample_n : s->n_points,
		                    .n_axes = s->n_axes,
		                    .axes = axes };
	rc = res_put_sweep(db, job->workload, head, npusim_build_id(), job->mixed, &head->id, e);
	free(axes);
	head->axes = NULL;
	return rc;
}

int sweep_run(const struct sweep *s, const struct sweep_job *job, struct resdb *db, struct sweep_done *d, struct err *e)
{
	uint8_t *status = calloc((s->sample == SWEEP_GUIDED ? (size_t)s->sample_n : s->n_points) + 1, 1);
	struct workers *c = calloc(1, sizeof *c);
	struct res_sweep head;
	int rc = -1;

	memset(d, 0, sizeof *d);
	if (!c || !status || !(c->todo = calloc(s->n_points ? s->n_points : 1, sizeof *c->todo))) {
		sweep_no_memory(e);
		goto out;
	}
	c->s = s;
	c->job = job;
	c->db = db;
	c->d = d;
	if (put_sweep(s, job, db, &head, e) < 0 || res_get_status(db, &head, status, e) < 0)
		goto out;
	d->id = head.id;
	for (size_t p = 0; p < s->n_points; p++) {
		if (p % job->shards != job->shard - 1 || (job->only && !job->only[p]))
			continue;
		d->mine++;
		if (status[p] == 0 || status[p] == 3 || (status[p] == 2 && job->retry && !s->refused[p]))
			c->todo[c->n_todo++] = p;
	}
	d->there = d->mine - c->n_todo;
	if (put_refused(c, db, d, e) < 0 || adopt(c, db, d, e) < 0)
		goto out;
	if (job->before)
		job->before(job->arg, c->todo, c->n_todo);
	rc = run_all(c, e);
out:
	if (c)
		free(c->todo);
	free(c);
	free(status);
	return rc;
}

/* --- shards --------------------------------------------------------------------------------------------------------- */

int sweep_shard(const char *text, uint64_t *i, uint64_t *n, struct err *e)
{
	char *end;

	*i = *n = 1;
	if (!text)
		return 0;
	*i = strtoull(text, &end, 10);
	if (end == text || *end != '/' || end[1] < '0' || end[1] > '9')
		return err_set(e, ERR_USAGE, "'%s' is no shard: write 1/4 for the first of four, for option '--shard'",
		               text);
	*n = strtoull(end + 1, &end, 10);
	if (*end || *n == 0 || *n > 1000000)
		return err_set(e, ERR_USAGE, "'%s' is no shard: write 1/4 for the first of four, for option '--shard'",
		               text);
	if (*i < 1 || *i > *n)
		return err_set(e, ERR_USAGE, "there is no shard %" PRIu64 " of %" PRIu64 ": they are 1 to %" PRIu64, *i,
		               *n, *n);
	return 0;
}
