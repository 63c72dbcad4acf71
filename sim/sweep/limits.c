#include "sim/sweep/limits.h"

#include <stdlib.h>
#include <string.h>

#include "sim/sweep/limits_int.h"

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

double limits_gain(const struct limits_result *r, const struct limits_row *row, uint32_t fraction_ppm)
{
	double gain;

	if (row->refused || !r->base_ps)
		return 0;
	gain = ((double)r->base_ps - (double)row->total_ps) / (double)r->base_ps;
	return row->step > 0 ? gain / row->step * fraction_ppm / PPM : gain;
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
	return !row->refused && row->total_ps <= r->base_ps + r->base_ps / (PPM / FREE_PPM);
}

const struct limits_row *limits_best(const struct limits_result *r, enum limits_move m)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].move == m)
			return !r->rows[i].refused && r->rows[i].total_ps < r->base_ps ? &r->rows[i] : NULL;
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

static bool before(const struct limits_result *r, const struct limits_row *a, const struct limits_row *b, uint32_t ppm)
{
	if (a->move != b->move)
		return a->move < b->move;
	if (!a->refused != !b->refused)
		return !a->refused;
	if (a->move == LIMITS_PAIR)
		return pair_before(r, a, b);
	return limits_gain(r, a, ppm) > limits_gain(r, b, ppm);
}

/* By insertion, the machine's order breaking ties: there are a few hundred rows, and the order must not depend on the
 * host. */
static void sort_rows(struct limits_result *r, uint32_t ppm)
{
	for (size_t i = 1; i < r->n; i++) {
		struct limits_row x = r->rows[i];
		size_t k = i;

		for (; k > 0 && before(r, &x, &r->rows[k - 1], ppm); k--)
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
	size_t done; /* runs, for progress */
};

/* Runs `n` rows in place. */
static int run_rows(struct asked *x, enum run_fidelity fidelity, struct limits_row **rows, size_t n,
                    struct limits_seen *seen)
{
	const struct limits_job job = { x->q, x->machines, fidelity, x->done, x->done + n };

	x->done += n;
	return limits_crew_run(&job, (const struct limits_row *const *)rows, n, seen, x->e);
}

static int fill(struct asked *x, struct limits_row **rows, size_t n)
{
	struct limits_seen *seen = calloc(n + 1, sizeof *seen);
	int rc = seen ? run_rows(x, x->q->run.fidelity, rows, n, seen) : err_nomem(x->e, NULL);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		rows[i]->total_ps = seen[i].total_ps;
		memcpy(rows[i]->stall_ps, seen[i].stall_ps, sizeof rows[i]->stall_ps);
		if (seen[i].kind && !(rows[i]->refused = arena_strdup(x->a, seen[i].why)))
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
	struct arena *own = arena_new(0);
	struct run_result r;
	int rc = own ? run_stream(x->q->stream, c, &x->q->run, own, &r, x->e) : err_nomem(x->e, NULL);

	if (rc == 0) {
		x->out->base_ps = r.total_ps;
		x->out->bound = r.roofline_bound;
		memcpy(x->out->stall_ps, r.stall_ps, sizeof r.stall_ps);
		x->out->runs = 1;
	}
	arena_free(own); /* the totals are in r itself */
	return rc;
}

static int ask_singles(struct asked *x, const struct machine_conf *c)
{
	struct limits_row **v;

	if (limits_moves(x->q, c, &x->rows, x->e) < 0 || !(v = pointers(x, 0, NULL)))
		return -1;
	return fill(x, v, x->rows.n);
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
	    fill(x, v, x->rows.n - singles + (x->out->n_free > 0)) < 0)
		return -1;
	keep_finds(x, singles);
	return 0;
}

/* The base and the best of each kind once more, with events. */
static int ask_events(struct asked *x)
{
	struct limits_row base = { .n_sets = 0 }, *v[LIMITS_MOVES + 2] = { &base };
	struct limits_seen seen[LIMITS_MOVES + 2];
	size_t n = 1;

	if (!x->q->events)
		return 0;
	for (int m = 0; m < LIMITS_MOVES; m++) {
		const struct limits_row *best = limits_best(x->out, (enum limits_move)m);

		if (best && m != LIMITS_LESS && m != LIMITS_REMOVE)
			v[n++] = &x->out->rows[best - x->out->rows];
	}
	if (x->out->n_free)
		v[n++] = &x->out->all_free;
	if (run_rows(x, RUN_EVENT, v, n, seen) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		v[i]->event_ps = seen[i].total_ps;
	x->out->event_ps = base.event_ps;
	x->out->event_runs = n;
	return 0;
}

static int ask(struct asked *x)
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
	return ask_events(x);
}

int limits_run(const struct limits_question *q, struct arena *a, struct limits_result *out, struct err *e)
{
	struct asked x = { .q = q, .out = out, .rows = { .a = a }, .a = a, .e = e };
	int rc;

	memset(out, 0, sizeof *out);
	if (!(x.machines = machine_base_load(q->config, q->sets, q->n_sets, e)))
		return -1;
	rc = ask(&x);
	machine_base_free(x.machines);
	return rc;
}
