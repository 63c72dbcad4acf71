/* plot_study.c - npusim plot pareto and plot tornado: the front of a stored sweep, and what matters in it. What is
 * drawn is what npusim pareto and npusim sensitivity print. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/cli/sweep.h"
#include "sim/study/study.h"

struct options {
	struct opt_list less, more, where;
	const char *of, *title;
	uint64_t sweep;
	struct picture_to plot;
};

static struct plot *new_chart(const struct study *t, const struct options *o, const char *under)
{
	char name[SWEEP_NAME_MAX];

	sweep_stem(t->v.head.name, name);
	return plot_new(o->title ? o->title : name, under);
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

static struct plot *front(struct study *t, const struct options *o, struct err *e)
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
	p = new_chart(t, o, under);
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

static struct plot *tornado(struct study *t, const struct options *o, struct err *e)
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
	p = new_chart(t, o, under);
	plot_axis(p, PLOT_X, PLOT_LINEAR, o->of);
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

/* --- options ----------------------------------------------------------------------------------------------- */

typedef struct plot *chart_fn(struct study *t, const struct options *o, struct err *e);

static int draw(const char *path, const struct options *o, chart_fn *chart, struct str *out, struct err *e)
{
	const char *name = o->of;
	const struct study_ask ask = { .sweep = (int64_t)o->sweep,
		                       .less = name ? &name : o->less.v,
		                       .n_less = name ? 1 : o->less.n,
		                       .more = o->more.v,
		                       .n_more = o->more.n,
		                       .where = o->where.v,
		                       .n_where = o->where.n };
	struct resdb *db = res_open(path, DB_READ, e);
	struct plot *p = NULL;
	struct study t;
	int rc = -1;

	memset(&t, 0, sizeof t);
	if (db && study_open(&t, db, &ask, e) == 0)
		p = chart(&t, o, e);
	if (p)
		rc = picture_put(&o->plot, p, out, e);
	study_free(&t);
	res_free(db);
	return rc;
}

static int command(const struct opt_cmd *cmd, struct options *o, chart_fn *chart, int argc, char **argv,
                   struct str *out, struct err *e)
{
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = picture_check(&o->plot, e)) == 0)
		rc = draw(args.v[0], o, chart, out, e);
	opt_list_free(&args);
	opt_list_free(&o->less);
	opt_list_free(&o->more);
	opt_list_free(&o->where);
	return rc < 0 ? -1 : 0;
}

#define SWEEP_OPTS \
	{ 0, "where", OPT_LIST, &o.where, "EXPR", SWEEP_WHERE_HELP }, \
		{ 0, "title", OPT_TEXT, &o.title, "TEXT", "instead of the name of the sweep's file" }, \
	{ \
		0, "sweep", OPT_COUNT, &o.sweep, "N", "which of the file's sweeps; the last by default" \
	}

int cmd_plot_pareto(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .of = NULL };
	const struct opt opts[] = {
		{ 0, "minimize", OPT_LIST, &o.less, "EXPR",
		  "an objective, instead of the sweep's own; the first is drawn upwards, the second to the right" },
		{ 0, "maximize", OPT_LIST, &o.more, "EXPR", "the same, where more is better" },
		SWEEP_OPTS,
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot pareto R.db [--minimize EXPR]... [--maximize EXPR]... [--where EXPR]... -o FILE",
		"Draws the points of a stored sweep by its first two objectives, with the front "
		"that no point beats and "
		"its knee."
		" Needs gnuplot.",
		"npusim plot pareto /tmp/sweep.db -o /tmp/front.svg\n",
		opts,
		1,
		1
	};

	return command(&cmd, &o, front, argc, argv, out, e);
}

int cmd_plot_tornado(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .of = "latency_us" };
	const struct opt opts[] = {
		{ 0, "of", OPT_TEXT, &o.of, "EXPR", "of what; latency_us by default" },
		SWEEP_OPTS,
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot tornado R.db [--of EXPR] [--where EXPR]... -o FILE",
		"Draws what matters in a stored sweep: for every axis how far its best and its "
		"worst value lie from the "
		"mean of all"
		" points (also of those that miss a constraint), most of the variance first. Needs gnuplot.",
		"npusim plot tornado /tmp/sweep.db -o /tmp/tornado.svg\n"
		"npusim plot tornado /tmp/sweep.db --of dram_bytes -o /tmp/tornado.png\n",
		opts,
		1,
		1
	};

	return command(&cmd, &o, tornado, argc, argv, out, e);
}
