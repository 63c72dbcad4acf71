#include "sim/report/study_chart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct plot *new_chart(const struct study *t, const char *title, const char *under)
{
	char name[SWEEP_NAME_MAX];

	sweep_stem(t->v.head.name, name);
	return plot_new(title ? title : name, under);
}

/* --- the front --------------------------------------------------------------------------------------------- */

static void put_points(struct plot *p, const struct study *t, int series, const size_t *points, size_t n)
{
	/* Best in the first objective last: at its right end a front has its label. */
	for (size_t i = n; i-- > 0;)
		plot_xy(p, series, t->goals[1].values[points[i]].number, t->goals[0].values[points[i]].number);
}

/* " (energy_uj not drawn)": a front of three objectives, seen along the third. */
static void not_drawn(const struct study *t, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (int i = 2; i < t->n_goals && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%.24s%s", i == 2 ? " (" : ", ", t->goals[i].name,
		                      i + 1 == t->n_goals ? " not drawn)" : "");
}

struct plot *study_front_chart(struct study *t, const char *title, struct err *e)
{
	const size_t n = t->n;
	size_t *all = arena_array(t->v.a, n, sizeof *all), knee;
	char under[400], hidden[160];
	struct plot *p;

	if (study_some(t, e) < 0)
		return NULL;
	if (t->n_goals < 2) {
		err_set(e, ERR_USAGE, "a front takes two objectives, and '%s' is the only one: --minimize EXPR",
		        t->goals[0].name);
		return NULL;
	}
	if (!all) {
		err_nomem(e, "for the points");
		return NULL;
	}
	memcpy(all, t->points, n * sizeof *all);
	if (study_keep_front(t, e) < 0)
		return NULL;
	study_sort(t);
	knee = t->points[study_knee(t)];
	not_drawn(t, hidden, sizeof hidden);
	snprintf(under, sizeof under, "%zu of %zu points that no other beats%s; knee: point %" PRIu64 ", %.6g and %.6g",
	         t->n, n, hidden, t->v.points[knee].point, t->goals[1].values[knee].number,
	         t->goals[0].values[knee].number);
	p = new_chart(t, title, under);
	plot_axis(p, PLOT_X, PLOT_LINEAR, t->goals[1].name);
	plot_axis(p, PLOT_Y, PLOT_LINEAR, t->goals[0].name);
	put_points(p, t, plot_series(p, PLOT_POINTS, PLOT_GREY, "points"), all, n);
	/* In two of three objectives a front is a cloud. */
	put_points(p, t, plot_series(p, t->n_goals == 2 ? PLOT_DOTTED_LINE : PLOT_POINTS, PLOT_BLUE, "front"),
	           t->points, t->n);
	put_points(p, t, plot_series(p, PLOT_POINTS, PLOT_RED, "knee"), &knee, 1);
	return p;
}

/* --- what matters ------------------------------------------------------------------------------------------ */

struct plot *study_tornado_chart(struct study *t, const char *of, const char *title, struct err *e)
{
	struct study_term *terms;
	struct plot *p;
	char under[200];
	size_t n, bars = 0;
	double mean;
	int least, most;

	if (study_any(t, e) < 0 || study_effects(t, &terms, &n, &mean, e) < 0)
		return NULL;
	snprintf(under, sizeof under, "means over %zu points by the values of one axis, from the mean of all: %.6g",
	         t->n_all, mean);
	p = new_chart(t, title, under);
	plot_axis(p, PLOT_X, PLOT_LINEAR, of);
	least = plot_series(p, PLOT_BARS, PLOT_BLUE, "least mean");
	most = plot_series(p, PLOT_BARS, PLOT_ORANGE, "largest mean");
	for (size_t i = 0; i < n; i++) {
		const struct study_term *x = &terms[i];
		char note[200];
		int c;

		if (x->a != x->b)
			continue;
		c = plot_category(p, t->v.s->axes[x->a].key);
		snprintf(note, sizeof note, "%s (least: %s), %.0f %%", x->at_high, x->at_low, 100 * x->share);
		plot_bar(p, least, c, x->low - mean, NULL);
		plot_bar(p, most, c, x->high - mean, note);
		bars++;
	}
	if (bars)
		return p;
	plot_free(p);
	err_set(e, ERR_IO, "no axis of this sweep takes several values");
	return NULL;
}
