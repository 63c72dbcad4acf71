/* limits_run.c - runs rows, side by side where there are workers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/pool.h"
#include "sim/engine/real.h"
#include "sim/engine/run_memo.h"
#include "sim/study/limits_int.h"

#define UNSEEN UINT32_MAX

/* A part's share of what a row answers. */
static void add_part(const struct run_result *x, double weight, struct limits_seen *seen)
{
	seen->total_ps += (ps_t)llround(weight * (double)x->total_ps);
	seen->dram_bytes += (uint64_t)llround(weight * (double)(x->dram_read_bytes + x->dram_write_bytes));
	seen->energy_fj += (uint64_t)llround(weight * (double)x->energy_fj);
	for (int k = 0; k < RES_COUNT; k++)
		seen->stall_ps[k] += (ps_t)llround(weight * (double)x->stall_ps[k]);
	seen->bound = (uint32_t)x->roofline_bound;
	seen->area_nm2 = x->area_nm2;
}

static void limits_run_simulate(const struct limits_job *job, const struct machine_conf *c, struct run_memo *memo,
                                struct limits_seen *seen, struct err *e)
{
	const struct limits_part one = { job->q->stream, 1 }, *parts = job->q->n_parts ? job->q->parts : &one;
	const size_t n = job->q->n_parts ? job->q->n_parts : 1;
	struct run_opts how = job->q->run;
	struct run_result x;

	how.fidelity = job->fidelity;
	how.memo = memo;
	for (size_t i = 0; i < n && !e->kind; i++) {
		struct arena *a = arena_new(0);

		if (!a)
			err_nomem(e, NULL);
		else if (run_stream(parts[i].stream, c, &how, a, &x, e) == 0)
			add_part(&x, parts[i].weight, seen);
		arena_free(a);
	}
}

int limits_run_one(const struct limits_job *job, const char *const *sets, size_t n_sets, struct run_memo *memo,
                   struct limits_seen *seen)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_base_conf(job->machines, sets, (int)n_sets, &e);
	struct real_beyond beyond[REAL_MOST];

	memset(seen, 0, sizeof *seen);
	if (c) {
		limits_run_simulate(job, c, memo, seen, &e);
		if (real_machine(&c->cfg, 1, beyond))
			snprintf(seen->beyond, sizeof seen->beyond, "%s", beyond[0].words);
	}
	machine_conf_free(c);
	seen->kind = (uint32_t)e.kind;
	snprintf(seen->why, sizeof seen->why, "%.639s", e.msg);
	return e.kind ? -1 : 0;
}

/* --- rows, by a pool --------------------------------------------------------------------------------------- */

struct rows {
	const struct limits_job *job;
	const struct limits_row *const *v;
	struct limits_seen *seen;
};

/* Workers are made for these rows, and know them by number. */
static void limits_run_row_of(void *arg, size_t i, struct str *to)
{
	(void)arg;
	str_addn(to, (const char *)&i, sizeof i);
}

/* Without it every row is one by itself. */
static void *limits_run_start(void *arg)
{
	const struct rows *r = arg;
	struct err none = ERR_INIT;

	return run_memo_new_from(machine_base_source(r->job->machines), &none);
}

static void end(void *arg, void *memo)
{
	(void)arg;
	run_memo_free(memo);
}

static void work(void *arg, void *memo, const char *job, size_t n, struct str *result)
{
	const struct rows *r = arg;
	struct limits_seen seen;
	size_t i;

	(void)n;
	memcpy(&i, job, sizeof i);
	limits_run_one(r->job, r->v[i]->sets, r->v[i]->n_sets, memo, &seen);
	str_addn(result, (const char *)&seen, sizeof seen);
}

static int seen(void *arg, size_t i, const struct pool_result *x, struct err *e)
{
	const struct rows *r = arg;

	(void)e;
	if (!x->lost)
		memcpy(&r->seen[i], x->bytes, sizeof r->seen[i]);
	return 0;
}

static int progress(void *arg, size_t done, struct err *e)
{
	const struct rows *r = arg;
	const struct limits_question *q = r->job->q;

	(void)e;
	if (q->progress)
		q->progress(q->arg, r->job->done + done, r->job->of);
	return 0;
}

/* Rows of workers that could not be made, or that died (out of memory, killed), are run here: whatever it was, it then
 * happens to the command itself. */
static void rest(const struct limits_job *job, const struct limits_row *const *rows, size_t n, struct limits_seen *seen)
{
	for (size_t i = 0; i < n; i++)
		if (seen[i].kind == UNSEEN)
			limits_run_one(job, rows[i]->sets, rows[i]->n_sets, NULL, &seen[i]);
}

int limits_run_rows(const struct limits_job *job, const struct limits_row *const *rows, size_t n,
                    struct limits_seen *out, struct err *e)
{
	struct rows r = { job, rows, out };
	const size_t jobs = job->q->jobs < n ? job->q->jobs : n;
	const struct pool_how how = { .backend = job->q->backend,
		                      .workers = jobs > 1 ? (unsigned)jobs : 0,
		                      .frame_max = sizeof *out,
		                      .start = limits_run_start,
		                      .end = end,
		                      .work = work,
		                      .arg = &r };
	const struct pool_batch batch = {
		.n = n, .job = limits_run_row_of, .result = seen, .progress = progress, .arg = &r
	};
	struct pool *pool = pool_new(&how, e);
	struct err none = ERR_INIT;

	if (!pool)
		return -1;
	for (size_t i = 0; i < n; i++)
		out[i].kind = UNSEEN;
	pool_run(pool, &batch, &none);
	pool_free(pool);
	rest(job, rows, n, out);
	for (size_t i = 0; i < n; i++)
		if (out[i].kind && out[i].kind != ERR_CONFIG && out[i].kind != ERR_STUCK)
			return err_set(e, (enum err_kind)out[i].kind, "%s, with '%s'", out[i].why,
			               rows[i]->n_sets ? rows[i]->sets[0] : "nothing changed");
	return 0;
}
