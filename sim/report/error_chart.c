#include "sim/report/error_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/score.h"
#include "sim/ui/units.h"

#define BAND    10 /* percent, as in the targets */
#define CLASSES 7  /* with a colour of their own; the rest are grey */
#define NAMED   6  /* of tables, the worst rows */

static void points(struct plot *p, const struct cases *sets, size_t n_sets, enum sample_split split,
                   const char *const *classes, int n)
{
	int series[CLASSES + 1];

	series[n] = plot_series(p, PLOT_POINTS, PLOT_GREY, "others");
	for (int i = 0; i < n; i++)
		series[i] = plot_series(p, PLOT_POINTS, PLOT_AUTO, classes[i]);
	for (size_t i = 0; i < n_sets; i++)
		for (size_t k = 0; k < sets[i].n; k++) {
			const struct sample *x = &sets[i].v[k];
			int c = 0;

			while (c < n && strcmp(classes[c], x->cls) != 0)
				c++;
			if (sample_split_has(split, x->split) && x->measured_ns && x->time.total)
				plot_xy(p, series[c], unit_us((int64_t)x->measured_ns), unit_ps_us(x->time.total));
		}
}

/* The classes with most samples, in their order. */
static int commonest(const struct score *s, int n, const char **classes)
{
	int m = 0;

	for (; m < CLASSES && m < n; m++) {
		int best = -1;

		for (int i = 0; i < n; i++) {
			bool taken = false;

			for (int k = 0; k < m; k++)
				taken |= classes[k] == s[i].cls;
			if (!taken && (best < 0 || s[i].n > s[best].n))
				best = i;
		}
		classes[m] = s[best].cls;
	}
	return m;
}

static struct plot *new_chart(const char *title, const char *under)
{
	struct plot *p = plot_new(title, under);

	plot_axis(p, PLOT_X, PLOT_LOG, "measured (us)");
	plot_axis(p, PLOT_Y, PLOT_LOG, "simulated (us)");
	plot_diagonal(p, BAND);
	return p;
}

struct plot *error_chart(const struct cases *sets, size_t n_sets, enum sample_split split, const char *machine,
                         struct arena *a, struct err *e)
{
	const char *classes[CLASSES];
	struct score *all, *by_class;
	struct plot *p;
	char text[256];
	int n = score_samples(sets, n_sets, split, SCORE_ALL, a, &all, e);

	if (n == 0)
		err_set(e, ERR_IO, "no sample of split '%s' to draw", sample_split_name(split));
	if (n <= 0 || (n = score_samples(sets, n_sets, split, SCORE_CLASS, a, &by_class, e)) < 0)
		return NULL;
	snprintf(text, sizeof text, "%s, %zu samples (%s): mean error %.1f %%, median %.1f %%", machine, all->n,
	         sample_split_name(split), all->mape, all->median_ape);
	p = new_chart("Kernel time, simulated against measured", text);
	points(p, sets, n_sets, split, classes, commonest(by_class, n, classes));
	return p;
}

/* --- tables of ops ------------------------------------------------------------------------------------------------ */

static double off(const struct sample *x)
{
	const double ratio = (double)x->time.total / 1e3 / (double)x->measured_ns;

	return ratio > 1 ? ratio : 1 / ratio;
}

static int by_off(const void *a, const void *b)
{
	const struct sample *const *x = a, *const *y = b;
	const double p = off(*x), q = off(*y);

	return p != q ? (p < q ? 1 : -1) : strcmp((*x)->name, (*y)->name);
}

/* The rows furthest off, by name, beside their points. */
static int name_worst(struct plot *p, const struct cases *c, struct arena *a, struct err *e)
{
	const struct sample **at = arena_array(a, c->n + 1, sizeof *at);
	char text[128];

	if (!at)
		return err_nomem(e, "for a chart");
	for (size_t i = 0; i < c->n; i++)
		at[i] = &c->v[i];
	qsort(at, c->n, sizeof *at, by_off);
	for (size_t i = 0; i < NAMED && i < c->n; i++) {
		snprintf(text, sizeof text, "%.60s %+.0f %%", at[i]->name,
		         100 * ((double)at[i]->time.total / 1e3 / (double)at[i]->measured_ns - 1));
		plot_text(p, unit_us((int64_t)at[i]->measured_ns), unit_ps_us(at[i]->time.total), text);
	}
	return 0;
}

struct plot *error_rows_chart(const struct cases *c, const char *machine, bool on_chip, struct arena *a, struct err *e)
{
	const char *classes[CLASSES];
	struct score *all, *by_class;
	struct plot *p;
	char text[256];
	int n;

	if (score_samples(c, 1, SAMPLE_ALL, SCORE_ALL, a, &all, e) < 0 ||
	    (n = score_samples(c, 1, SAMPLE_ALL, SCORE_CLASS, a, &by_class, e)) < 0)
		return NULL;
	snprintf(text, sizeof text, "%s, %zu rows%s: mean error %.1f %%, median %.1f %%", machine, all->n,
	         on_chip ? " on chip" : "", all->mape, all->median_ape);
	p = new_chart("Time of ops, simulated against measured", text);
	points(p, c, 1, SAMPLE_ALL, classes, commonest(by_class, n, classes));
	if (name_worst(p, c, a, e) < 0) {
		plot_free(p);
		return NULL;
	}
	return p;
}
