#include "sim/study/marginal.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/engine/analytic.h"
#include "sim/engine/engine.h"
#include "sim/engine/picks.h"
#include "sim/engine/run_memo.h"
#include "sim/study/limits_int.h"

struct asked {
	const struct marginal_question *from;
	const struct run_result *x;
	struct arena *a;
};

/* --- a run in closed form ------------------------------------------------------------------------------------------------ */

/* The program as it is, on another machine; 0: it cannot be run there. */
static ps_t held(const struct asked *k, const struct machine_conf *c)
{
	const struct isa_prog *p = &k->x->map->prog;
	struct cp_result *res = arena_array(k->a, p->n_cmds + 1, sizeof *res);
	struct err ignored = ERR_INIT;
	struct analytic *m = NULL;
	struct picks picks;
	struct rng rng;
	ps_t took = 0;

	if (!res || !p->n_cmds || picks_new(&picks, k->from->q.stream, k->a, &ignored) < 0 ||
	    !(m = analytic_new(&c->cfg, p, &ignored)))
		return 0;
	rng_seed(&rng, k->from->q.run.seed, "experts");
	picks_first(&picks, k->from->q.stream, &rng, k->x->reuse_ppm);
	if (k->from->q.run.start != RUN_COLD) {
		analytic_warm(m, (const uint32_t *const *)picks.now);
		picks_next(&picks, k->from->q.stream, &rng, k->x->reuse_ppm);
	}
	if (analytic_times_only(m, &ignored) == 0 &&
	    analytic_step(m, (const uint32_t *const *)picks.now, res, &ignored) == 0)
		took = res[p->n_cmds - 1].retired;
	analytic_free(m);
	return took;
}

/* Another memory or dispatch changes nothing of what a program does. */
static bool keeps_the_program(const char *key)
{
	static const char *const sections[] = { "dram.", "l2.", "kv_buffer.", "noc.", "dispatch." };

	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		if (strncmp(key, sections[i], strlen(sections[i])) == 0)
			return true;
	return false;
}

static ps_t held_with(const struct asked *k, const char *const *sets, int n_sets)
{
	struct err ignored = ERR_INIT;
	struct machine_conf *c = machine_base_conf(k->from->machines, sets, n_sets, &ignored);
	const ps_t took = c ? held(k, c) : 0;

	machine_conf_free(c);
	return took;
}

ps_t marginal_time(const struct marginal_question *q, const struct run_result *x, const char *const *sets, int n_sets,
                   struct arena *a)
{
	const struct asked k = { .from = q, .x = x, .a = a };
	const ps_t base = x->map ? held(&k, q->conf) : 0;

	return base ? (ps_t)((double)x->total_ps * (double)held_with(&k, sets, n_sets) / (double)base) : 0;
}

/* --- which to try -------------------------------------------------------------------------------------------------------- */

/* Bytes that a capacity doubled holds more of: no more than these over the pins, or `most`. */
static ps_t capacity_bound(const struct machine_conf *c, const char *key, ps_t most)
{
	static const char *const sizes[] = { "l2.size", "kv_buffer.size" };
	uint64_t peak[RES_COUNT];
	struct err ignored = ERR_INIT;
	size_t i, k = 0;

	while (k < sizeof sizes / sizeof *sizes && strcmp(key, sizes[k]) != 0)
		k++;
	if (k == sizeof sizes / sizeof *sizes || cfg_find(c->raw, key, &i, &ignored) < 0)
		return most;
	machine_peaks(&c->cfg, peak);
	return ps_min(most, clock_transfer(cfg_raw(c->raw, i), peak[RES_DRAM]));
}

static ps_t bound_of(const struct machine_conf *c, const struct limits_row *row, const struct run_result *x)
{
	ps_t waits = 0;

	for (int r = 0; r < RES_COUNT; r++)
		if (row->serves >> r & 1)
			waits += x->stall_ps[r];
	return capacity_bound(c, row->key, waits);
}

struct candidate {
	const struct limits_row *row;
	ps_t bound;
};

static int by_bound(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->bound != b->bound)
		return a->bound > b->bound ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static size_t candidates(const struct machine_conf *c, const struct limits_rows *rows, const struct run_result *x,
                         struct candidate *v)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].move == LIMITS_MORE && keeps_the_program(rows->v[i].key))
			v[n++] = (struct candidate){ &rows->v[i], bound_of(c, &rows->v[i], x) };
	qsort(v, n, sizeof *v, by_bound);
	return n;
}

/* The best of those that keep the program: run on it. */
static const struct limits_row *best_kept(const struct asked *k, const struct candidate *v, size_t n)
{
	const struct limits_row *best = NULL;
	const ps_t base = held(k, k->from->conf);
	ps_t saved = 0;

	for (size_t i = 0; base && i < n && i < MARGINAL_TRIES && v[i].bound > saved; i++) {
		const ps_t took = held_with(k, v[i].row->sets, (int)v[i].row->n_sets);

		if (!took || took + saved >= base)
			continue;
		saved = base - took;
		best = v[i].row;
	}
	return best;
}

/* Those that need another mapping, by the part that so much more may save of what is waited for. */
static size_t mapped(const struct machine_conf *c, const struct limits_rows *rows, const struct run_result *x,
                     struct candidate *v)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct limits_row *row = &rows->v[i];
		const double part = row->step / (1 + row->step);

		if (row->move == LIMITS_MORE && !keeps_the_program(row->key))
			v[n++] = (struct candidate){ row, (ps_t)((double)bound_of(c, row, x) * part) };
	}
	qsort(v, n, sizeof *v, by_bound);
	return n;
}

/* Switches by what they may save, but those of which the closed form knows nothing. */
static size_t switches(const struct machine_conf *c, const struct limits_rows *rows, const struct run_result *x,
                       struct candidate *v)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].move == LIMITS_SWITCH && engine_form_covers(rows->v[i].sets[0]))
			v[n++] = (struct candidate){ &rows->v[i], bound_of(c, &rows->v[i], x) };
	qsort(v, n, sizeof *v, by_bound);
	return n;
}

/* --- what they do and take ------------------------------------------------------------------------------------------------ */

struct trial {
	struct limits_job job;
	struct run_memo *memo;
	struct limits_seen base;
	const struct marginal_question *from;
	bool has_range;   /* of the run that was last */
	double low, high; /* of how many times as fast, true over simulated */
};

static void see(void *trial, const struct machine_conf *c, const struct run_result *x)
{
	struct trial *t = trial;

	t->has_range = t->from->range(t->from->arg, c, x, &t->low, &t->high);
}

static double watts(const struct limits_seen *s)
{
	return (double)energy_power(s->energy_fj, s->total_ps) / 1e6;
}

/* In full, mapped for its own machine; it stays if it saves more than what was there. */
static void try_buy(struct trial *t, const struct limits_row *row, struct marginal *best)
{
	const struct limits_seen *base = &t->base;
	struct limits_seen s;
	double saves;

	if (!row || limits_run_one(&t->job, row->sets, row->n_sets, t->memo, &s) < 0)
		return;
	saves = 1 - (double)s.total_ps / (double)base->total_ps;
	if (saves <= best->saves || saves < MARGINAL_LEAST)
		return;
	*best = (struct marginal){ .key = row->key, .now = row->now, .then = row->then, .saves = saves };
	best->has_range = t->has_range;
	if (best->has_range) {
		best->low = 1 - (1 - saves) / t->low;
		best->high = 1 - (1 - saves) / t->high;
	}
	if (s.beyond[0] && !base->beyond[0])
		memcpy(best->beyond, s.beyond, sizeof best->beyond);
	best->has_mm2 = base->area_nm2 && s.area_nm2;
	best->has_watts = base->energy_fj && s.energy_fj;
	if (best->has_mm2)
		best->mm2 = ((double)s.area_nm2 - (double)base->area_nm2) / 1e12;
	if (best->has_watts)
		best->watts = watts(&s) - watts(base);
}

/* The first few that may save more than what was found. */
static void try_few(struct trial *t, const struct candidate *v, size_t n, struct marginal *best)
{
	for (size_t i = 0; i < n && i < MARGINAL_MAPPED; i++)
		if ((double)v[i].bound > best->saves * (double)t->base.total_ps)
			try_buy(t, v[i].row, best);
}

static void try_all(const struct asked *k, struct trial *t, const struct limits_rows *rows, struct candidate *v,
                    struct buys *out)
{
	const struct machine_conf *c = k->from->conf;

	try_buy(t, best_kept(k, v, candidates(c, rows, k->x, v)), &out->amount);
	try_few(t, v, mapped(c, rows, k->x, v), &out->amount);
	try_few(t, v, switches(c, rows, k->x, v), &out->choice);
}

int marginal_best(const struct marginal_question *q, const struct run_result *x, struct arena *a, struct buys *out,
                  struct err *e)
{
	const struct asked k = { .from = q, .x = x, .a = a };
	struct trial t = { .job = { .q = &q->q,
		                    .machines = q->machines,
		                    .fidelity = RUN_ANALYTIC,
		                    .seen = q->range ? see : NULL,
		                    .arg = &t },
		           .from = q };
	struct limits_rows rows = { .a = a };
	struct candidate *v;

	*out = (struct buys){ .amount = { .key = NULL } };
	if (!x->map || !x->total_ps)
		return 0;
	if (limits_moves(&q->q, q->conf, &rows, e) < 0)
		return -1;
	if (!(v = arena_array(a, rows.n + 1, sizeof *v)))
		return err_nomem(e, NULL);
	if (!(t.memo = run_memo_new_from(q->conf->source, e)))
		return -1;
	if (limits_run_one(&t.job, NULL, 0, t.memo, &t.base) == 0 && t.base.total_ps)
		try_all(&k, &t, &rows, v, out);
	run_memo_free(t.memo);
	return 0;
}
