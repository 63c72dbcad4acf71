/* limits_run.c - runs rows, side by side where there are workers.
 *
 * Most of a row's time is its mapping, which both fidelities share: so whether events are asked, too, is decided where the
 * closed form ran. Workers are forked with what the base was mapped with, and stay from round to round. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/pool.h"
#include "sim/engine/engine.h"
#include "sim/engine/real.h"
#include "sim/engine/run_memo.h"
#include "sim/study/limits_int.h"

#define UNSEEN    UINT32_MAX
#define FRAME_MAX ((size_t)1 << 20) /* bytes of a row with all its sets */

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

/* A request's time; what it is waited for are shares of that as of the machine's. */
static void serve_one(const struct limits_job *job, const struct machine_conf *c, struct run_memo *memo,
                      struct limits_seen *seen, struct err *e)
{
	struct serve_ask ask = *job->q->serve;
	struct traffic_point x;

	ask.machine = c;
	ask.jobs = 1;
	ask.check = 0;
	ask.how.fidelity = job->fidelity;
	ask.how.memo = memo;
	if (job->q->served(&ask, &x, e) < 0)
		return;
	seen->total_ps = x.latency;
	for (int k = 0; k < RES_COUNT; k++)
		seen->stall_ps[k] = (ps_t)((double)x.stall[k] / (double)x.figures.total_ps * (double)x.latency);
	seen->energy_fj = x.figures.energy_fj;
	seen->area_nm2 = x.figures.area_nm2;
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
		else if (run_stream(parts[i].stream, c, &how, a, &x, e) == 0) {
			add_part(&x, parts[i].weight, seen);
			if (job->seen)
				job->seen(job->arg, c, &x);
		}
		arena_free(a);
	}
}

bool limits_left_out(const char *const *sets, size_t n_sets)
{
	return n_sets == 1 && !engine_form_covers(sets[0]);
}

/* Under twice what the closed form is off events on the base. */
static bool too_near(const struct limits_job *job, const char *const *sets, size_t n_sets, ps_t total)
{
	const double off = fabs(limits_part_saved(job->event_ps, job->base_ps));

	if (!job->event_ps)
		return false;
	return limits_left_out(sets, n_sets) ||
	       fabs(limits_part_saved(job->base_ps, total)) < 2 * (off > LIMITS_SPREAD ? off : LIMITS_SPREAD);
}

static void with_events(const struct limits_job *job, const struct machine_conf *c, struct run_memo *memo,
                        struct limits_seen *seen, struct err *e)
{
	struct limits_seen x = { .total_ps = 0 };
	struct limits_job how = *job;

	how.fidelity = RUN_EVENT;
	limits_run_simulate(&how, c, memo, &x, e);
	seen->event_ps = e->kind ? 0 : x.total_ps;
}

int limits_run_one(const struct limits_job *job, const char *const *sets, size_t n_sets, struct run_memo *memo,
                   struct limits_seen *seen)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_base_conf(job->machines, sets, (int)n_sets, &e);
	struct real_beyond beyond[REAL_MOST];

	memset(seen, 0, sizeof *seen);
	if (c) {
		(job->q->serve ? serve_one : limits_run_simulate)(job, c, memo, seen, &e);
		if (!e.kind && too_near(job, sets, n_sets, seen->total_ps))
			with_events(job, c, memo, seen, &e);
		if (real_machine(&c->cfg, 1, beyond))
			snprintf(seen->beyond, sizeof seen->beyond, "%s", beyond[0].words);
	}
	machine_conf_free(c);
	seen->kind = (uint32_t)e.kind;
	snprintf(seen->why, sizeof seen->why, "%.639s", e.msg);
	return e.kind ? -1 : 0;
}

/* --- rows, by a pool --------------------------------------------------------------------------------------- */

struct limits_crew {
	struct limits_job job;
	struct run_memo *memo; /* a worker's is what this one was when it was forked */
	struct pool *pool;
	const struct limits_row *const *rows; /* of this round, with their answers */
	struct limits_seen *seen;
};

/* What a worker is told; the row's sets follow, each with its end. */
struct order {
	uint64_t fidelity, base_ps, event_ps, n_sets;
};

static void limits_run_row_of(void *arg, size_t i, struct str *to)
{
	const struct limits_crew *c = arg;
	const struct limits_row *row = c->rows[i];
	const struct order o = { c->job.fidelity, c->job.base_ps, c->job.event_ps, row->n_sets };

	str_addn(to, (const char *)&o, sizeof o);
	for (size_t k = 0; k < row->n_sets; k++)
		str_addn(to, row->sets[k], strlen(row->sets[k]) + 1);
}

static void *limits_run_start(void *arg)
{
	return ((const struct limits_crew *)arg)->memo;
}

static void work(void *arg, void *memo, const char *text, size_t n, struct str *result)
{
	const struct limits_crew *c = arg;
	struct limits_job how = c->job;
	struct limits_seen seen = { .kind = ERR_NOMEM, .why = "out of memory" };
	const char **sets, *at = text + sizeof(struct order);
	struct order o;

	(void)n;
	memcpy(&o, text, sizeof o);
	how.fidelity = (enum run_fidelity)o.fidelity;
	how.base_ps = o.base_ps;
	how.event_ps = o.event_ps;
	if ((sets = calloc(o.n_sets + 1, sizeof *sets))) {
		for (size_t i = 0; i < o.n_sets; i++, at += strlen(at) + 1)
			sets[i] = at;
		limits_run_one(&how, sets, o.n_sets, memo, &seen);
	}
	free(sets);
	str_addn(result, (const char *)&seen, sizeof seen);
}

static int seen(void *arg, size_t i, const struct pool_result *x, struct err *e)
{
	const struct limits_crew *c = arg;

	(void)e;
	if (!x->lost)
		memcpy(&c->seen[i], x->bytes, sizeof c->seen[i]);
	return 0;
}

static int progress(void *arg, size_t done, struct err *e)
{
	const struct limits_crew *c = arg;
	const struct limits_question *q = c->job.q;

	(void)e;
	if (q->progress)
		q->progress(q->arg, c->job.done + done, c->job.of);
	return 0;
}

struct limits_crew *limits_crew_new(const struct limits_job *job, size_t most, struct err *e)
{
	struct limits_crew *c = calloc(1, sizeof *c);
	const size_t jobs = job->q->jobs < most ? job->q->jobs : most;
	const struct pool_how how = { .backend = job->q->backend,
		                      .workers = jobs > 1 ? (unsigned)jobs : 0,
		                      .frame_max = FRAME_MAX,
		                      .start = limits_run_start,
		                      .work = work,
		                      .arg = c };
	struct err none = ERR_INIT;

	if (!c) {
		err_nomem(e, "for workers");
		return NULL;
	}
	c->job = *job;
	c->memo = run_memo_new_from(machine_base_source(job->machines), &none); /* without it every row is by itself */
	if ((c->pool = pool_new(&how, e)))
		return c;
	limits_crew_free(c);
	return NULL;
}

void limits_crew_free(struct limits_crew *c)
{
	if (!c)
		return;
	if (c->pool)
		pool_free(c->pool);
	run_memo_free(c->memo);
	free(c);
}

int limits_crew_one(struct limits_crew *c, const struct limits_job *job, struct limits_seen *seen)
{
	return limits_run_one(job, NULL, 0, c->memo, seen);
}

/* Rows of workers that could not be made, or that died (out of memory, killed), are run here: whatever it was, it then
 * happens to the command itself. */
static void rest(const struct limits_crew *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c->seen[i].kind == UNSEEN)
			limits_run_one(&c->job, c->rows[i]->sets, c->rows[i]->n_sets, NULL, &c->seen[i]);
}

int limits_crew_run(struct limits_crew *c, const struct limits_job *job, const struct limits_row *const *rows, size_t n,
                    struct limits_seen *out, struct err *e)
{
	const struct pool_batch batch = {
		.n = n, .job = limits_run_row_of, .result = seen, .progress = progress, .arg = c
	};
	struct err none = ERR_INIT;

	c->job = *job;
	c->rows = rows;
	c->seen = out;
	for (size_t i = 0; i < n; i++)
		out[i].kind = UNSEEN;
	pool_run(c->pool, &batch, &none);
	rest(c, n);
	for (size_t i = 0; i < n; i++)
		if (out[i].kind && out[i].kind != ERR_CONFIG && out[i].kind != ERR_STUCK)
			return err_set(e, (enum err_kind)out[i].kind, "%s, with '%s'", out[i].why,
			               rows[i]->n_sets ? rows[i]->sets[0] : "nothing changed");
	return 0;
}
