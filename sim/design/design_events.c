/* design_events.c - the best designs of the search again with events, and what lies beside the best.
 *
 * Closed forms are off events by about as much for designs near each other, so what they are off where both were run is taken
 * from all their scores (x->shift), and the search goes on from there. Events are run of what then should be better than the
 * best that events know, until nothing should. */
#include <math.h>
#include <string.h>

#include "sim/design/design_int.h"

#define BATCH  4
#define ROUNDS 4     /* of shifting and searching on */
#define MORE   16    /* designs in closed form then, of DESIGN_FORMS so many parts */
#define SAME   0.002 /* a shift that changes no more is none */
#define LATEST 6     /* designs that it is the mean of */
#define NEAR   0.05  /* a design that misses by more in closed form needs no events */
#define EQUAL  1e-6  /* prices that are the same, in logarithms */
#define STEPS  12    /* from best to best beside it */

/* By what events differ at the designs that are best by events, figure by figure; returns the largest change. */
static double find_shift(struct design_search *x)
{
	double sum[DESIGN_FIGURES] = { 0 }, most = 0;
	struct design_seen *v[LATEST];
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		struct design_seen *d = x->v[i];

		if (d->event.known && !d->event.fails && !d->form.fails)
			n = design_among(&x->goal, RUN_EVENT, v, n, LATEST, d);
	}
	for (size_t f = 0; n && f <= x->goal.n_bounds; f++) {
		for (size_t i = 0; i < n; i++)
			sum[f] += v[i]->event.figure[f] - v[i]->form.figure[f];
		sum[f] /= (double)n;
		most = fmax(most, fabs(sum[f]));
	}
	for (size_t f = 0; f <= x->goal.n_bounds; f++) {
		x->shift[f] += sum[f];
		for (size_t i = 0; i < x->n; i++)
			if (x->v[i]->form.known && !x->v[i]->form.fails)
				x->v[i]->form.figure[f] += sum[f];
	}
	return most;
}

/* Those that should be better than the best that events know; returns how many of them, up to a batch. */
static size_t promising(struct design_search *x, struct design_seen **out)
{
	const struct design_seen *best = design_best(x, RUN_EVENT, NULL);
	const size_t left = x->q->events - x->out->events, most = left < BATCH ? left : BATCH;
	size_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		struct design_seen *d = x->v[i];

		if (d->form.known && !d->form.fails && !d->event.known &&
		    (!best || design_better(&x->goal, &d->form, &best->event)))
			n = design_among(&x->goal, RUN_ANALYTIC, out, n, most, d);
	}
	return n;
}

static bool events_left(const struct design_search *x)
{
	return x->out->events < x->q->events;
}

int design_search_events(struct design_search *x)
{
	struct design_seen *v[BATCH];
	size_t n;

	for (int round = 0; round < ROUNDS && events_left(x); round++) {
		double changed = 0;

		while (events_left(x) && (n = promising(x, v)) > 0) {
			if (design_run_seen(x, v, n, RUN_EVENT) < 0)
				return -1;
			changed = fmax(changed, find_shift(x));
		}
		if (changed <= SAME)
			break;
		if (design_search_forms(x, x->out->forms + x->q->forms / MORE) < 0)
			return -1;
	}
	return 0;
}

/* --- beside ------------------------------------------------------------------------------------------------------- */

/* What lies a step beside it and costs less, or may. */
static int run_beside(struct design_search *x, struct design_seen *best, enum run_fidelity by)
{
	struct design_seen *v[2 * DESIGN_AXES] = { NULL }, *d;
	const size_t price = x->goal.n_bounds;
	size_t n = 0, kept = 0;

	for (size_t k = 0; k < x->dims; k++)
		for (int to = -1; to <= 1; to += 2) {
			if (design_moved(x, best, k, to, &d) < 0)
				return -1;
			if (d && !d->out && !(x->goal.early && d->early.figure[price] >= best->form.figure[price]))
				v[n++] = d;
		}
	if (design_run_seen(x, v, n, RUN_ANALYTIC) < 0)
		return -1;
	for (size_t i = 0; by == RUN_EVENT && i < n; i++)
		if (!v[i]->form.fails && design_misses(&x->goal, &v[i]->form) < NEAR &&
		    v[i]->form.figure[price] < best->form.figure[price])
			v[kept++] = v[i];
	return by == RUN_EVENT ? design_run_seen(x, v, kept, RUN_EVENT) : 0;
}

int design_polish(struct design_search *x, enum run_fidelity by)
{
	struct design_seen *best = design_best(x, by, NULL), *was = NULL;

	for (int i = 0; best && best != was && i < STEPS; i++) {
		was = best;
		if (run_beside(x, best, by) < 0)
			return -1;
		best = design_best(x, by, NULL);
	}
	return 0;
}

/* --- no change without need ------------------------------------------------------------------------------------------ */

/* The value of a dimension that the machine has already; false: the axis has it not, or the design has it. */
static bool own_value(const struct design_search *x, const struct design_seen *d, size_t dim, uint32_t *at)
{
	size_t i = 0;

	while (x->s->axes[i].dim != dim)
		i++;
	for (uint32_t k = 0; k < x->s->axes[i].n; k++)
		if (strcmp(x->s->axes[i].sets[k], x->out->base.sets[i]) == 0) {
			*at = k;
			return k != d->at[dim];
		}
	return false;
}

/* As good, with one dimension as the machine has it; NULL in *out: there is none. */
static int simpler(struct design_search *x, const struct design_seen *best, enum run_fidelity by,
                   struct design_seen **out)
{
	const size_t price = x->goal.n_bounds;

	*out = NULL;
	for (size_t k = 0; k < x->dims && !*out; k++) {
		uint32_t at[DESIGN_AXES];
		struct design_seen *d;
		const struct design_score *is, *was;

		memcpy(at, best->at, sizeof at);
		if (!own_value(x, best, k, &at[k]))
			continue;
		if (!(d = design_look(x, at)))
			return -1;
		if (d->out || (x->goal.early && d->early.figure[price] > best->form.figure[price] + EQUAL))
			continue;
		if (design_run_seen(x, &d, 1, RUN_ANALYTIC) < 0)
			return -1;
		if (by == RUN_EVENT && !d->form.fails && design_misses(&x->goal, &d->form) < NEAR &&
		    design_run_seen(x, &d, 1, RUN_EVENT) < 0)
			return -1;
		is = by == RUN_EVENT ? &d->event : &d->form;
		was = by == RUN_EVENT ? &best->event : &best->form;
		if (is->known && !is->fails && design_misses(&x->goal, is) <= design_misses(&x->goal, was) &&
		    is->figure[price] <= was->figure[price] + EQUAL)
			*out = d;
	}
	return 0;
}

int design_simplify(struct design_search *x, enum run_fidelity by, struct design_seen **best)
{
	struct design_seen *next;

	for (size_t i = 0; i < x->dims; i++) {
		if (simpler(x, *best, by, &next) < 0)
			return -1;
		if (!next)
			return 0;
		*best = next;
	}
	return 0;
}
