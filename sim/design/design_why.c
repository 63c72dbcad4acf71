/* design_why.c - why the answer is one: the way to it, what lies beside it, at which ends it lies, and the next best. */
#include <math.h>
#include <string.h>

#include "sim/design/design_int.h"

#define DEARER 1e-4 /* a price that is another, in logarithms */

/* The first axis of a dimension speaks for those that move with it. */
static size_t axis_of(const struct design_search *x, size_t dim)
{
	size_t i = 0;

	while (x->s->axes[i].dim != dim)
		i++;
	return i;
}

/* What a design misses most. */
static const char *fails_by(const struct design_search *x, const struct design_one *one)
{
	const char *text = NULL;
	double least = 0;

	if (one->failed)
		return one->why;
	for (size_t i = 0; i < x->goal.n_bounds; i++)
		if (one->bound[i].margin < least) {
			least = one->bound[i].margin;
			text = one->bound[i].text;
		}
	return text;
}

/* --- beside --------------------------------------------------------------------------------------------------------- */

static int beside(struct design_search *x, const struct design_seen *best)
{
	struct design_result *out = x->out;

	if (!(out->beside = arena_array(x->a, 2 * x->dims + 1, sizeof *out->beside)))
		return design_no_memory(x->e);
	for (size_t k = 0; k < x->dims; k++)
		for (int to = -1; to <= 1; to += 2) {
			const size_t i = axis_of(x, k);
			struct design_beside *b = &out->beside[out->n_beside];
			struct design_seen *d;

			if (design_moved(x, best, k, to, &d) < 0)
				return -1;
			if (!d || d->out || !d->one)
				continue;
			if (x->goal.maximise ? d->one->objective <= best->one->objective
			                     : d->one->objective >= best->one->objective)
				continue;
			*b = (struct design_beside){ x->s->axes[i].key, design_value(best->sets[i]),
				                     design_value(d->sets[i]), *d->one, fails_by(x, d->one) };
			out->n_beside += b->fails != NULL;
		}
	return 0;
}

static int ends(struct design_search *x, const struct design_seen *best)
{
	struct design_result *out = x->out;

	if (!(out->ends = arena_array(x->a, x->dims + 1, sizeof *out->ends)))
		return design_no_memory(x->e);
	for (size_t k = 0; k < x->dims; k++) {
		const size_t i = axis_of(x, k);
		const bool first = best->at[k] == 0, last = best->at[k] + 1 == x->count[k];

		if (x->apart[k] || x->count[k] < 2 || (!first && !last))
			continue;
		if (!(out->ends[out->n_ends++] =
		              arena_printf(x->a, "%s %s", x->s->axes[i].key, design_value(best->sets[i]))))
			return design_no_memory(x->e);
	}
	return 0;
}

/* --- the way ---------------------------------------------------------------------------------------------------------- */

struct way {
	const char **now, **try;   /* assignments, one an axis */
	bool changed[DESIGN_AXES]; /* dimensions that still differ */
	size_t left;
};

static void take(const struct design_search *x, const struct design_seen *best, size_t dim, const char **sets)
{
	for (size_t i = 0; i < x->s->n_axes; i++)
		if (x->s->axes[i].dim == dim)
			sets[i] = best->sets[i];
}

/* The change that comes next: of those left the one that brings the goal nearest, then the price lowest. */
static int next(struct design_search *x, const struct design_seen *best, struct way *w, size_t *dim)
{
	struct design_score least = { .known = false }, score;
	struct design_one one;
	const size_t n = x->s->n_axes;

	*dim = x->dims;
	for (size_t k = 0; k < x->dims; k++) {
		if (!w->changed[k])
			continue;
		memcpy(w->try, w->now, n * sizeof *w->try);
		take(x, best, k, w->try);
		if (w->left > 1 && design_run_sets(x, w->try, RUN_ANALYTIC, &one, &score) < 0)
			return -1;
		if (*dim == x->dims || (w->left > 1 && design_better(&x->goal, &score, &least))) {
			*dim = k;
			least = score;
		}
	}
	return 0;
}

static int step(struct design_search *x, const struct design_seen *best, struct way *w, struct design_step *to)
{
	const size_t n = x->s->n_axes;
	struct design_score score;
	const char **sets = arena_array(x->a, n, sizeof *sets);
	size_t dim, i;

	if (!sets)
		return design_no_memory(x->e);
	if (next(x, best, w, &dim) < 0)
		return -1;
	i = axis_of(x, dim);
	*to = (struct design_step){ .key = x->s->axes[i].key,
		                    .from = design_value(w->now[i]),
		                    .to = design_value(best->sets[i]) };
	take(x, best, dim, w->now);
	memcpy(sets, w->now, n * sizeof *sets);
	w->changed[dim] = false;
	w->left--;
	if (w->left == 0) {
		to->after = *best->one;
		return 0;
	}
	return design_run_sets(x, sets, x->q->job.how.fidelity, &to->after, &score);
}

static int steps(struct design_search *x, const struct design_seen *best)
{
	const size_t n = x->s->n_axes;
	struct design_result *out = x->out;
	struct way w = { .left = 0 };

	if (!(w.now = arena_array(x->a, n, sizeof *w.now)) || !(w.try = arena_array(x->a, n, sizeof *w.try)) ||
	    !(out->steps = arena_array(x->a, x->dims + 1, sizeof *out->steps)))
		return design_no_memory(x->e);
	memcpy(w.now, out->base.sets, n * sizeof *w.now);
	for (size_t i = 0; i < n; i++)
		if (strcmp(out->base.sets[i], best->sets[i]) != 0 && !w.changed[x->s->axes[i].dim]) {
			w.changed[x->s->axes[i].dim] = true;
			w.left++;
		}
	out->changed = w.left > 0;
	while (w.left) {
		if (step(x, best, &w, &out->steps[out->n_steps]) < 0)
			return -1;
		out->n_steps++;
	}
	return 0;
}

/* Of those that meet the goal at a higher price the best. */
static const struct design_seen *next_best(const struct design_search *x, const struct design_seen *best,
                                           enum run_fidelity by)
{
	const struct design_seen *second = NULL;
	const size_t price = x->goal.n_bounds;
	const double least = (by == RUN_EVENT ? &best->event : &best->form)->figure[price] + DEARER;

	for (size_t i = 0; i < x->n; i++) {
		const struct design_score *s = by == RUN_EVENT ? &x->v[i]->event : &x->v[i]->form;

		if (design_meets(&x->goal, s) && s->figure[price] >= least &&
		    (!second || design_better(&x->goal, s, by == RUN_EVENT ? &second->event : &second->form)))
			second = x->v[i];
	}
	return second;
}

static int tried(struct design_search *x)
{
	struct design_result *out = x->out;

	if (!(out->tried = arena_array(x->a, x->n + 1, sizeof *out->tried)))
		return design_no_memory(x->e);
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i]->one && !x->v[i]->one->failed)
			out->tried[out->n_tried++] = x->v[i]->one;
	return 0;
}

int design_why(struct design_search *x, const struct design_seen *best)
{
	struct design_result *out = x->out;
	const enum run_fidelity by = x->q->job.how.fidelity;
	const struct design_seen *second = next_best(x, best, by);

	out->best = *best->one;
	out->reached = out->best.meets;
	out->has_second = second != NULL;
	if (out->has_second)
		out->second = *second->one;
	return tried(x) < 0 || beside(x, best) < 0 || ends(x, best) < 0 ? -1 : steps(x, best);
}
