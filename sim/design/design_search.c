/* design_search.c - in closed form: which design to run next, by all that were run.
 *
 * First a few designs spread over the space (a Latin hypercube) and the one nearest the machine as it is; then batches. Of each
 * figure that needs a run a model says what it is likely to be (design_model.h). While no design meets the goal, those are
 * taken that are likely to come nearest; then those whose improvement is likely to be large: the expected improvement of the
 * objective times the chance that each bound holds (Gardner et al., Bayesian Optimization with Inequality Constraints, ICML
 * 2014). What is known of a design without a run (its area) is no guess. Candidates are all designs where these are few, else
 * those around the best, a step or two away in one axis or two, and some drawn at random.
 *
 * Draws come of the seed; a batch is as large whatever the workers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/rng.h"
#include "sim/design/design_int.h"

#define FEW       3000 /* designs: all are candidates */
#define AT_RANDOM 200  /* candidates besides */
#define AROUND    4    /* of so many best */
#define BATCH     4
#define EVERY     16 /* designs: scales are found anew, once there are SETTLED */
#define SETTLED   60
#define NOTHING   1e-6 /* an improvement that is none */
#define OFF       3    /* deviations that a model is off at the most, where it is as sure as it says */
#define DOUBT     4    /* the part of all runs that goes on where nothing is hoped for */
#define TRIES     50   /* for a design that can be */

struct candidate {
	struct design_seen *d;
	double worth;
};
struct candidates {
	struct candidate *v;
	size_t n, cap;
};

static double fraction(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) / 9007199254740992.0;
}

/* --- the first ------------------------------------------------------------------------------------------------ */

/* The value of a dimension next to the machine's own. */
static uint32_t nearest(const struct design_search *x, size_t dim)
{
	const struct sweep_axis *a = x->s->axes;
	const char *now;
	uint32_t best = 0;
	double least = HUGE_VAL, number = 0;
	uint64_t raw = 0;
	struct err none = ERR_INIT;

	while (a->dim != dim)
		a++;
	now = design_value(x->out->base.sets[a - x->s->axes]);
	if (cfg_parse_value(a->field->type, now, &raw, &none) == 0)
		number = sweep_number(a->field->type, raw);
	for (uint32_t i = 0; i < a->n; i++) {
		const double far = strcmp(a->values[i].text, now) == 0 ? -1
		                   : a->values[i].is_number            ? fabs(a->values[i].number - number)
		                                                       : HUGE_VAL;

		if (far < least) {
			least = far;
			best = i;
		}
	}
	return best;
}

static int first(struct design_search *x, struct rng *r)
{
	size_t n = 2 * x->dims + 2, have = 0;
	uint32_t at[DESIGN_AXES], order[DESIGN_AXES][2 * DESIGN_AXES + 2];
	struct design_seen *v[2 * DESIGN_AXES + 3], *d;

	n = n < x->q->forms ? n : x->q->forms;
	for (size_t k = 0; k < x->dims; k++) {
		at[k] = nearest(x, k);
		for (size_t i = 0; i < n; i++)
			order[k][i] = (uint32_t)i;
		for (size_t i = n; i > 1; i--) {
			const size_t j = (size_t)rng_below(r, i);
			const uint32_t t = order[k][i - 1];

			order[k][i - 1] = order[k][j];
			order[k][j] = t;
		}
	}
	if (!(v[have++] = design_look(x, at)))
		return -1;
	for (size_t i = 0; i < n; i++) {
		d = NULL;
		for (int tries = 0; tries < TRIES && (!d || d->out); tries++) {
			for (size_t k = 0; k < x->dims; k++) {
				const double u = tries ? fraction(r) : ((double)order[k][i] + fraction(r)) / (double)n;

				at[k] = (uint32_t)(u * (double)x->count[k]);
			}
			if (!(d = design_look(x, at)))
				return -1;
		}
		v[have++] = d;
	}
	return design_run_seen(x, v, have, RUN_ANALYTIC);
}

/* --- candidates ------------------------------------------------------------------------------------------------ */

static int offer(struct design_search *x, struct candidates *c, const uint32_t *at)
{
	struct design_seen *d = design_look(x, at);

	if (!d)
		return -1;
	if (d->out || d->form.known || d->offered == x->round || c->n == c->cap)
		return 0;
	d->offered = x->round;
	c->v[c->n++] = (struct candidate){ d, 0 };
	return 0;
}

static int offer_all(struct design_search *x, struct candidates *c)
{
	uint32_t at[DESIGN_AXES] = { 0 };

	for (;;) {
		struct design_seen *d = design_look(x, at);
		size_t k = 0;

		if (!d)
			return -1;
		if (!d->out && !d->form.known)
			c->v[c->n++] = (struct candidate){ d, 0 };
		while (k < x->dims && ++at[k] == x->count[k])
			at[k++] = 0;
		if (k == x->dims)
			return 0;
	}
}

/* `at` with a dimension moved; false: there is no such value. */
static bool move(const struct design_search *x, uint32_t *at, size_t k, int by)
{
	const int64_t to = (int64_t)at[k] + by;

	if (to < 0 || to >= (int64_t)x->count[k])
		return false;
	at[k] = (uint32_t)to;
	return true;
}

static int offer_around(struct design_search *x, struct candidates *c, const struct design_seen *d)
{
	static const int ways[] = { -1, 1, -2, 2 }; /* of two axes at once the first two */
	uint32_t at[DESIGN_AXES];

	for (size_t k = 0; k < x->dims; k++)
		for (size_t w = 0; w < 4; w++) {
			memcpy(at, d->at, sizeof at);
			if (!move(x, at, k, ways[w]))
				continue;
			if (offer(x, c, at) < 0)
				return -1;
			for (size_t j = 0; j < k && w < 2; j++)
				for (size_t v = 0; v < 2; v++) {
					uint32_t two[DESIGN_AXES];

					memcpy(two, at, sizeof two);
					if (move(x, two, j, ways[v]) && offer(x, c, two) < 0)
						return -1;
				}
		}
	return 0;
}

size_t design_among(const struct design_goal *g, enum run_fidelity by, struct design_seen **best, size_t n, size_t most,
                    struct design_seen *d)
{
	size_t k = n;

	while (k > 0 && (by == RUN_EVENT ? design_better(g, &d->event, &best[k - 1]->event)
	                                 : design_better(g, &d->form, &best[k - 1]->form)))
		k--;
	if (k == most)
		return n;
	n += n < most;
	for (size_t j = n - 1; j > k; j--)
		best[j] = best[j - 1];
	best[k] = d;
	return n;
}

static int gather(struct design_search *x, struct rng *r, struct candidates *c)
{
	struct design_seen *best[AROUND];
	size_t n = 0;
	uint32_t at[DESIGN_AXES];

	c->n = 0;
	x->round++;
	if (x->out->space <= FEW)
		return offer_all(x, c);
	for (size_t i = 0; i < x->n; i++) {
		struct design_seen *d = x->v[i];

		if (d->form.known && !d->form.fails)
			n = design_among(&x->goal, RUN_ANALYTIC, best, n, AROUND, d);
	}
	for (size_t i = 0; i < n; i++)
		if (offer_around(x, c, best[i]) < 0)
			return -1;
	for (size_t i = 0; i < AT_RANDOM; i++) {
		for (size_t k = 0; k < x->dims; k++)
			at[k] = (uint32_t)rng_below(r, x->count[k]);
		if (offer(x, c, at) < 0)
			return -1;
	}
	return 0;
}

/* --- what they promise ------------------------------------------------------------------------------------------- */

static bool known_early(const struct design_search *x, size_t figure)
{
	return figure < x->goal.n_bounds ? x->goal.bounds[figure].early : x->goal.early;
}

/* Rows that the models are of: all, or those nearest to the best. */
static size_t rows_of(struct design_search *x, const struct design_seen *best, struct design_seen **v)
{
	double far[DESIGN_MODEL_MOST];
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		struct design_seen *d = x->v[i];
		double sum = 0;
		size_t k;

		if (!d->form.known || d->form.fails)
			continue;
		for (k = 0; best && k < x->dims; k++)
			sum += (d->x[k] - best->x[k]) * (d->x[k] - best->x[k]);
		for (k = n; k > 0 && far[k - 1] > sum; k--)
			;
		if (k == DESIGN_MODEL_MOST)
			continue;
		n += n < DESIGN_MODEL_MOST;
		for (size_t j = n - 1; j > k; j--) {
			v[j] = v[j - 1];
			far[j] = far[j - 1];
		}
		v[k] = d;
		far[k] = sum;
	}
	return n;
}

static void fit(struct design_search *x, struct design_seen *const *rows, size_t n, const double **places, bool search)
{
	double y[DESIGN_MODEL_MOST];

	for (size_t i = 0; i < n; i++)
		places[i] = rows[i]->x;
	for (size_t f = 0; f <= x->goal.n_bounds; f++) {
		if (known_early(x, f))
			continue;
		for (size_t i = 0; i < n; i++)
			y[i] = rows[i]->form.figure[f];
		design_model_fit(x->model[f], places, y, n, search);
	}
}

static double below(double z) /* of a normal distribution */
{
	return erfc(-z / sqrt(2)) / 2;
}

static double density(double z)
{
	return exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
}

/* While nothing meets the goal: how near it is likely to come, hopefully said. */
static double nearness(struct design_search *x, const struct design_seen *d)
{
	double sum = 0, mean, deviation;

	for (size_t f = 0; f < x->goal.n_bounds; f++) {
		if (known_early(x, f)) {
			mean = d->early.figure[f];
			deviation = 0;
		} else {
			design_model_at(x->model[f], d->x, &mean, &deviation);
		}
		sum += fmin(0, mean + deviation);
	}
	return sum;
}

/* Deviations that a model is off at the most, by what it was off where rows were left out. */
static double off(const struct design_search *x, size_t figure)
{
	return OFF * fmax(1, x->model[figure]->off);
}

/* Where nothing promises more: how much better than the best it is, should the models be off as far as they ever are; below 0 it
 * is not. */
static double hope(struct design_search *x, const struct design_seen *d, double best)
{
	double mean, deviation;

	for (size_t f = 0; f < x->goal.n_bounds; f++) {
		if (known_early(x, f)) {
			if (d->early.figure[f] < 0)
				return -1;
			continue;
		}
		design_model_at(x->model[f], d->x, &mean, &deviation);
		if (mean + off(x, f) * deviation < 0)
			return -1;
	}
	if (known_early(x, x->goal.n_bounds))
		return best - d->early.figure[x->goal.n_bounds];
	design_model_at(x->model[x->goal.n_bounds], d->x, &mean, &deviation);
	return best - (mean - off(x, x->goal.n_bounds) * deviation);
}

static double promise(struct design_search *x, const struct design_seen *d, double best)
{
	double chance = 1, mean, deviation, z;

	for (size_t f = 0; f < x->goal.n_bounds; f++) {
		if (known_early(x, f)) {
			if (d->early.figure[f] < 0)
				return 0;
			continue;
		}
		design_model_at(x->model[f], d->x, &mean, &deviation);
		chance *= below(mean / deviation);
	}
	if (known_early(x, x->goal.n_bounds))
		return chance * fmax(0, best - d->early.figure[x->goal.n_bounds]);
	design_model_at(x->model[x->goal.n_bounds], d->x, &mean, &deviation);
	z = (best - mean) / deviation;
	return chance * ((best - mean) * below(z) + deviation * density(z));
}

/* What is like one that was taken promises less. */
static double likeness(const struct design_search *x, const struct design_seen *a, const struct design_seen *b)
{
	double most = 0;

	for (size_t f = 0; f <= x->goal.n_bounds; f++)
		if (!known_early(x, f))
			most = fmax(most, design_model_alike(x->model[f], a->x, b->x));
	return most * most;
}

/* The next batch; returns how many. */
static size_t take_best(const struct design_search *x, struct candidates *c, bool near, struct design_seen **out)
{
	size_t n = 0;

	while (n < BATCH && c->n) {
		size_t best = 0;

		for (size_t i = 1; i < c->n; i++)
			if (c->v[i].worth > c->v[best].worth)
				best = i;
		if (!near && c->v[best].worth <= NOTHING)
			break;
		out[n++] = c->v[best].d;
		for (size_t i = 0; i < c->n; i++) {
			const double alike = likeness(x, c->v[i].d, out[n - 1]);

			c->v[i].worth *= near ? 1 + alike : 1 - alike; /* nearness is below 0 */
		}
		c->v[best] = c->v[--c->n];
	}
	return n;
}

static int next(struct design_search *x, struct rng *r, struct candidates *c, bool search, struct design_seen **out)
{
	struct design_seen *best = design_best(x, RUN_ANALYTIC, NULL), *rows[DESIGN_MODEL_MOST];
	const bool near = !best || !design_meets(&x->goal, &best->form);
	const double *places[DESIGN_MODEL_MOST];
	const size_t n = rows_of(x, best, rows);
	size_t got;

	if (gather(x, r, c) < 0)
		return -1;
	fit(x, rows, n, places, search);
	for (size_t i = 0; i < c->n; i++)
		c->v[i].worth =
			near ? nearness(x, c->v[i].d) : promise(x, c->v[i].d, best->form.figure[x->goal.n_bounds]);
	got = take_best(x, c, near, out);
	if (got)
		return (int)got;
	for (size_t i = 0; i < c->n; i++)
		c->v[i].worth = hope(x, c->v[i].d, best->form.figure[x->goal.n_bounds]);
	if ((got = take_best(x, c, false, out)) || x->hopeless >= x->q->forms / DOUBT)
		return (int)got;
	x->hopeless += BATCH;
	return (int)take_best(x, c, true, out);
}

int design_search_forms(struct design_search *x, size_t quota)
{
	struct candidates c = { .cap = FEW + AROUND * 4 * DESIGN_AXES * DESIGN_AXES + AT_RANDOM };
	struct design_seen *batch[BATCH];
	size_t searched = 0;
	struct rng r;
	int n = 1;

	rng_seed(&r, hash_mix(hash_u64(hash_u64(HASH_INIT, x->q->seed), x->round)), "design");
	if (!x->begun && first(x, &r) < 0)
		return -1;
	x->begun = true;
	if (!(c.v = arena_array(x->a, c.cap, sizeof *c.v)))
		return design_no_memory(x->e);
	for (size_t ran = SIZE_MAX; x->out->forms < quota && x->out->forms != ran && n > 0;) {
		const bool search = x->out->forms < SETTLED || x->out->forms >= searched + EVERY;

		if (search)
			searched = x->out->forms;
		if ((n = next(x, &r, &c, search, batch)) < 0)
			return -1;
		if ((size_t)n > quota - x->out->forms)
			n = (int)(quota - x->out->forms);
		ran = x->out->forms; /* no run may be left for the batch */
		if (design_run_seen(x, batch, (size_t)n, RUN_ANALYTIC) < 0)
			return -1;
	}
	return 0;
}
