#include "sim/study/limits.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/engine.h"
#include "sim/engine/real.h"
#include "sim/study/limits_int.h"

#define PPM 1000000u

/* Of the base's time: what costs less costs nothing, and what a pair saves less beyond its two is no find. */
#define FREE_PPM   500
#define BEYOND_PPM 5000

static const char *const move_names[LIMITS_MOVES] = { "more", "less", "switch", "add", "remove", "pair" };

const char *limits_move_name(enum limits_move m)
{
	return move_names[m];
}

/* --- what rows say ------------------------------------------------------------------------------------------------- */

bool limits_by_events(const struct limits_result *r, const struct limits_row *row)
{
	return r->event_ps && row->event_ps;
}

static double gain_of(const struct limits_result *r, const struct limits_row *row)
{
	return limits_by_events(r, row) ? limits_part_saved(r->event_ps, row->event_ps)
	                                : limits_part_saved(r->base_ps, row->total_ps);
}

double limits_gain(const struct limits_result *r, const struct limits_row *row, uint32_t fraction_ppm)
{
	const double gain = row->refused ? 0 : gain_of(r, row);

	return row->step > 0 ? gain / row->step * fraction_ppm / PPM : gain;
}

static bool left_out(const struct limits_row *row)
{
	return limits_left_out(row->sets, row->n_sets);
}

static double limits_size_of(double x)
{
	return x < 0 ? -x : x;
}

static bool nothing(double gain)
{
	return limits_size_of(gain) * PPM <= FREE_PPM;
}

bool limits_within(const struct limits_result *r, const struct limits_row *row)
{
	const double e = gain_of(r, row), f = limits_part_saved(r->base_ps, row->total_ps);

	if (row->refused || !limits_by_events(r, row) || left_out(row) || (nothing(e) && nothing(f)))
		return false;
	return limits_size_of(e) <= limits_size_of(e - f);
}

static ps_t saved(const struct limits_result *r, ps_t total)
{
	return total < r->base_ps ? r->base_ps - total : 0;
}

double limits_beyond(const struct limits_result *r, const struct limits_row *pair)
{
	const ps_t alone = saved(r, pair->alone_ps[0]) + saved(r, pair->alone_ps[1]);

	if (pair->refused || !r->base_ps)
		return 0;
	return ((double)saved(r, pair->total_ps) - (double)alone) / (double)r->base_ps;
}

bool limits_costs_nothing(const struct limits_result *r, const struct limits_row *row)
{
	const bool form = !row->refused && row->total_ps <= r->base_ps + r->base_ps / (PPM / FREE_PPM);

	if (!limits_by_events(r, row))
		return form;
	return (form || left_out(row)) && row->event_ps <= r->event_ps + r->event_ps / (PPM / FREE_PPM);
}

/* What is within error is worth nothing that one could tell. */
static double surely(const struct limits_result *r, const struct limits_row *row, uint32_t ppm)
{
	return limits_within(r, row) ? 0 : limits_gain(r, row, ppm);
}

const struct limits_row *limits_best(const struct limits_result *r, enum limits_move m)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].move == m)
			return surely(r, &r->rows[i], PPM) > 0 ? &r->rows[i] : NULL;
	return NULL;
}

/* Pairs by what they save beyond their two, to a hundredth; of equals the one that says most closely where it goes. */
static bool pair_before(const struct limits_result *r, const struct limits_row *a, const struct limits_row *b)
{
	const int beyond_a = (int)(100 * limits_beyond(r, a)), beyond_b = (int)(100 * limits_beyond(r, b));
	int wide = 0;

	for (int k = 0; k < RES_COUNT; k++)
		wide += (int)(a->serves >> k & 1) - (int)(b->serves >> k & 1);
	if (beyond_a != beyond_b)
		return beyond_a > beyond_b;
	return wide ? wide < 0 : a->total_ps < b->total_ps;
}

static bool limits_before(const struct limits_result *r, const struct limits_row *a, const struct limits_row *b,
                          uint32_t ppm)
{
	if (a->move != b->move)
		return a->move < b->move;
	if (!a->refused != !b->refused)
		return !a->refused;
	if (a->move == LIMITS_PAIR)
		return pair_before(r, a, b);
	return surely(r, a, ppm) > surely(r, b, ppm);
}

/* By insertion, the machine's order breaking ties: there are a few hundred rows, and the order must not depend on the
 * host. */
static void sort_rows(struct limits_result *r, uint32_t ppm)
{
	for (size_t i = 1; i < r->n; i++) {
		struct limits_row x = r->rows[i];
		size_t k = i;

		for (; k > 0 && limits_before(r, &x, &r->rows[k - 1], ppm); k--)
			r->rows[k] = r->rows[k - 1];
		r->rows[k] = x;
	}
}

/* --- asking -------------------------------------------------------------------------------------------------------- */

struct asked {
	const struct limits_question *q;
	struct machine_base *machines;
	struct limits_result *out;
	struct limits_rows rows;
	struct arena *a;
	struct err *e;
	struct limits_crew *crew;
	bool beyond; /* nobody builds what there is */
	size_t done; /* runs, for progress */
};

static struct limits_job limits_job_of(const struct asked *x, enum run_fidelity fidelity)
{
	return (struct limits_job){ .q = x->q, .machines = x->machines, .fidelity = fidelity };
}

static int run_rows(struct asked *x, const struct limits_job *how, struct limits_row **rows, size_t n,
                    struct limits_seen *seen)
{
	struct limits_job job = *how;

	job.done = x->done;
	job.of = x->done += n;
	return limits_crew_run(x->crew, &job, (const struct limits_row *const *)rows, n, seen, x->e);
}

/* `singles`: with events, too, those that are too near the base. */
static int limits_fill(struct asked *x, struct limits_row **rows, size_t n, bool singles)
{
	struct limits_seen *seen = calloc(n + 1, sizeof *seen);
	struct limits_job job = limits_job_of(x, x->q->run.fidelity);
	int rc;

	if (singles) {
		job.base_ps = x->out->base_ps;
		job.event_ps = x->out->event_ps;
	}
	rc = seen ? run_rows(x, &job, rows, n, seen) : err_nomem(x->e, NULL);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		rows[i]->total_ps = seen[i].total_ps;
		rows[i]->event_ps = seen[i].event_ps;
		x->out->event_runs += seen[i].event_ps > 0;
		memcpy(rows[i]->stall_ps, seen[i].stall_ps, sizeof rows[i]->stall_ps);
		if ((seen[i].kind && !(rows[i]->refused = arena_strdup(x->a, seen[i].why))) ||
		    (seen[i].beyond[0] && !x->beyond && !(rows[i]->beyond = arena_strdup(x->a, seen[i].beyond))))
			rc = err_nomem(x->e, NULL);
	}
	x->out->runs += n;
	free(seen);
	return rc;
}

/* Rows from the i-th on, and one more behind them; NULL: out of memory. */
static struct limits_row **pointers(struct asked *x, size_t from, struct limits_row *last)
{
	struct limits_row **v = arena_array(x->a, x->rows.n - from + 1, sizeof *v);

	for (size_t i = from; v && i < x->rows.n; i++)
		v[i - from] = &x->rows.v[i];
	if (v)
		v[x->rows.n - from] = last;
	else
		err_nomem(x->e, NULL);
	return v;
}

static int ask_base(struct asked *x, const struct machine_conf *c)
{
	const struct limits_job job = limits_job_of(x, x->q->run.fidelity), events = limits_job_of(x, RUN_EVENT);
	struct real_beyond beyond[REAL_MOST];
	struct limits_seen seen;

	if (limits_crew_one(x->crew, &job, &seen) < 0)
		return err_set(x->e, (enum err_kind)seen.kind, "%s", seen.why);
	x->beyond = real_machine(&c->cfg, 1, beyond) > 0;
	x->out->base_ps = seen.total_ps;
	x->out->bound = (enum res)seen.bound;
	memcpy(x->out->stall_ps, seen.stall_ps, sizeof seen.stall_ps);
	x->out->runs = 1;
	if (!x->q->events)
		return 0;
	if (limits_crew_one(x->crew, &events, &seen) < 0)
		return err_set(x->e, ERR_STUCK, "%s", seen.why);
	x->out->event_ps = seen.total_ps;
	x->out->event_runs = 1;
	return 0;
}

static int run_events(struct asked *x, struct limits_row **rows, size_t n)
{
	const struct limits_job job = limits_job_of(x, RUN_EVENT);
	struct limits_seen *seen = calloc(n + 1, sizeof *seen);
	int rc = seen ? run_rows(x, &job, rows, n, seen) : err_nomem(x->e, NULL);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		rows[i]->event_ps = seen[i].total_ps;
		if (seen[i].kind && !(rows[i]->refused = arena_strdup(x->a, seen[i].why)))
			rc = err_nomem(x->e, NULL);
	}
	x->out->event_runs += n;
	free(seen);
	return rc;
}

static int ask_singles(struct asked *x, const struct machine_conf *c)
{
	struct limits_row **v;

	if (limits_moves(x->q, c, &x->rows, x->e) < 0 || !(v = pointers(x, 0, NULL)))
		return -1;
	return limits_fill(x, v, x->rows.n, true);
}

/* All that costs nothing alone, as one row. */
static int find_free(struct asked *x)
{
	struct limits_result *out = x->out;
	const char **sets = arena_array(x->a, x->rows.n + 1, sizeof *sets);

	if (!sets || !(out->free = arena_array(x->a, x->rows.n + 1, sizeof *out->free)))
		return err_nomem(x->e, NULL);
	for (size_t i = 0; i < x->rows.n; i++)
		if (x->rows.v[i].move == LIMITS_LESS && limits_costs_nothing(out, &x->rows.v[i])) {
			out->free[out->n_free] = x->rows.v[i].key;
			sets[out->n_free++] = x->rows.v[i].sets[0];
		}
	out->all_free = (struct limits_row){ .move = LIMITS_LESS, .sets = sets, .n_sets = out->n_free };
	return 0;
}

/* Pairs that are no find go. */
static void keep_finds(struct asked *x, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < x->rows.n; i++)
		if (!x->rows.v[i].refused && limits_beyond(x->out, &x->rows.v[i]) >= (double)BEYOND_PPM / PPM)
			x->rows.v[kept++] = x->rows.v[i];
	x->out->pairs_tried = x->rows.n - first;
	x->rows.n = kept;
}

static int ask_pairs(struct asked *x)
{
	const size_t singles = x->rows.n;
	struct limits_row **v;

	if (find_free(x) < 0 || limits_pairs(x->q, x->out, &x->rows, x->e) < 0 ||
	    !(v = pointers(x, singles, &x->out->all_free)) ||
	    limits_fill(x, v, x->rows.n - singles + (x->out->n_free > 0), false) < 0)
		return -1;
	keep_finds(x, singles);
	return 0;
}

/* The best of each kind that were too clear for it, and all that is free together. What is best by events may not have been by
 * the closed form: until the best was run. */
static int ask_best(struct asked *x)
{
	for (bool again = x->q->events; again;) {
		struct limits_row *v[LIMITS_MOVES + 1];
		size_t n = 0;

		for (int m = 0; m < LIMITS_MOVES; m++) {
			const struct limits_row *best = limits_best(x->out, (enum limits_move)m);

			if (best && m != LIMITS_LESS && m != LIMITS_REMOVE && !best->event_ps)
				v[n++] = &x->out->rows[best - x->out->rows];
		}
		if (x->out->n_free && !x->out->all_free.event_ps && !x->out->all_free.refused)
			v[n++] = &x->out->all_free;
		again = n > 0;
		if (run_events(x, v, n) < 0)
			return -1;
		sort_rows(x->out, x->q->step_ppm);
	}
	return 0;
}

static int limits_ask(struct asked *x)
{
	struct machine_conf *c = machine_base_conf(x->machines, NULL, 0, x->e);
	int rc = -1;

	if (!c)
		return -1;
	if (machine_runs(&c->cfg) != MACHINE_COMMANDS)
		err_set(x->e, ERR_CONFIG, "'%s' is a machine of kind %s: limits are asked of an NPU", x->q->config,
		        machine_kind_name((enum machine_kind)c->cfg.kind));
	else if (ask_base(x, c) == 0 && ask_singles(x, c) == 0)
		rc = ask_pairs(x);
	machine_conf_free(c);
	x->out->rows = x->rows.v;
	x->out->n = x->rows.n;
	if (rc < 0)
		return -1;
	sort_rows(x->out, x->q->step_ppm);
	return ask_best(x);
}

int limits_run_on(const struct limits_question *q, struct machine_base *machines, struct arena *a,
                  struct limits_result *out, struct err *e)
{
	struct asked x = { .q = q, .out = out, .rows = { .a = a }, .a = a, .e = e, .machines = machines };
	const struct limits_job job = limits_job_of(&x, q->run.fidelity);
	int rc = -1;

	memset(out, 0, sizeof *out);
	if ((x.crew = limits_crew_new(&job, LIMITS_JOBS, e)))
		rc = limits_ask(&x);
	limits_crew_free(x.crew);
	return rc;
}

int limits_run(const struct limits_question *q, struct arena *a, struct limits_result *out, struct err *e)
{
	struct machine_base *machines = machine_base_load(q->config, q->sets, q->n_sets, e);
	const int rc = machines ? limits_run_on(q, machines, a, out, e) : -1;

	machine_base_free(machines);
	return rc;
}
