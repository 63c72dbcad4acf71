/* plot_error.c - npusim plot error: simulated times against measured ones, of a GPU's kernels or of tables of ops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/score.h"
#include "sim/cli/ops_rows.h"
#include "sim/cli/picture.h"
#include "sim/cli/plot.h"

#define BAND    10 /* percent, as in the targets */
#define CLASSES 7  /* with a colour of their own; the rest are grey */
#define NAMED   6  /* of tables, the worst rows */

struct options {
	struct gpu_options gpu;
	const char *split, *start, *fidelity;
	struct picture_to plot;
};

static bool kept(const struct sample *x, const char *split)
{
	if (!x->measured_ns || !x->time.total)
		return false;
	return strcmp(split, "all") == 0 || (strcmp(split, "held-out") == 0) == (x->split == SAMPLE_HELD_OUT);
}

static void points(struct plot *p, const struct cases *sets, size_t n_sets, const char *split,
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
			if (kept(x, split))
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

static bool is_held_out(const struct sample *x)
{
	return kept(x, "held-out");
}

static bool is_fitted(const struct sample *x)
{
	return kept(x, "fitted");
}

static int run(const struct options *o, struct str *out, struct err *e)
{
	bool (*keep)(const struct sample *) = strcmp(o->split, "held-out") == 0 ? is_held_out
	                                      : strcmp(o->split, "fitted") == 0 ? is_fitted
	                                                                        : NULL;
	struct arena *a = arena_new(0);
	const char *classes[CLASSES];
	struct score *all, *by_class;
	struct gpu_inputs in;
	struct plot *p;
	char text[256];
	int n, rc = -1;

	if (gpu_inputs_read(&in, &o->gpu, e) < 0 || (n = score_samples(in.sets, in.n, keep, SCORE_ALL, a, &all, e)) < 0)
		goto out;
	if (n == 0) {
		err_set(e, ERR_IO, "no sample of split '%s' to draw", o->split);
		goto out;
	}
	if ((n = score_samples(in.sets, in.n, keep, SCORE_CLASS, a, &by_class, e)) < 0)
		goto out;
	snprintf(text, sizeof text, "%s, %zu samples (%s): mean error %.1f %%, median %.1f %%", in.conf->cfg.name,
	         all->n, o->split, all->mape, all->median_ape);
	p = plot_new("Kernel time, simulated against measured", text);
	plot_axis(p, PLOT_X, PLOT_LOG, "measured (us)");
	plot_axis(p, PLOT_Y, PLOT_LOG, "simulated (us)");
	plot_diagonal(p, BAND);
	points(p, in.sets, in.n, o->split, classes, commonest(by_class, n, classes));
	rc = picture_put(&o->plot, p, out, e);
out:
	gpu_inputs_free(&in);
	arena_free(a);
	return rc;
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

/* In decades of both axes, which are alike; on the side away from the diagonal. */
static void place_name(struct picture_names *t, double from, double to, struct plot *p, const struct sample *s,
                       const char *text)
{
	const double across = log10(unit_us((int64_t)s->measured_ns)), up = log10(unit_ps_us(s->time.total));
	double x = (across - from) / (to - from), y = (up - from) / (to - from);

	picture_place(t, text, up > across, &x, &y);
	plot_text(p, pow(10, from + x * (to - from)), pow(10, from + y * (to - from)), text);
}

/* The rows furthest off, by name, beside their points. */
static int name_worst(struct plot *p, const struct cases *c, struct arena *a, struct err *e)
{
	const struct sample **at = arena_array(a, c->n + 1, sizeof *at);
	struct picture_names t = { .n = 0 };
	double from = INFINITY, to = -INFINITY;
	char text[128];

	if (!at)
		return err_nomem(e, "for a chart");
	for (size_t i = 0; i < c->n; i++) {
		const double m = log10(unit_us((int64_t)c->v[i].measured_ns)),
			     s = log10(unit_ps_us(c->v[i].time.total));

		at[i] = &c->v[i];
		from = floor(fmin(from, fmin(m, s)));
		to = ceil(fmax(to, fmax(m, s)));
	}
	qsort(at, c->n, sizeof *at, by_off);
	for (size_t i = 0; i < NAMED && i < c->n; i++) {
		snprintf(text, sizeof text, "%.60s %+.0f %%", at[i]->name,
		         100 * ((double)at[i]->time.total / 1e3 / (double)at[i]->measured_ns - 1));
		place_name(&t, from, to, p, at[i], text);
	}
	return 0;
}

static int draw_tables(const struct options *o, const struct ops_rows *t, struct str *out, struct err *e)
{
	const struct cases *c = &t->rows.sim.all;
	const char *classes[CLASSES];
	struct score *all, *by_class;
	struct plot *p;
	char text[256];
	int n;

	if (score_samples(c, 1, NULL, SCORE_ALL, t->arena, &all, e) < 0 ||
	    (n = score_samples(c, 1, NULL, SCORE_CLASS, t->arena, &by_class, e)) < 0)
		return -1;
	snprintf(text, sizeof text, "%s, %zu rows%s: mean error %.1f %%, median %.1f %%", t->conf->cfg.name, all->n,
	         o->start && strcmp(o->start, "resident") == 0 ? " on chip" : "", all->mape, all->median_ape);
	p = plot_new("Time of ops, simulated against measured", text);
	plot_axis(p, PLOT_X, PLOT_LOG, "measured (us)");
	plot_axis(p, PLOT_Y, PLOT_LOG, "simulated (us)");
	plot_diagonal(p, BAND);
	points(p, c, 1, "all", classes, commonest(by_class, n, classes));
	if (name_worst(p, c, t->arena, e) < 0) {
		plot_free(p);
		return -1;
	}
	return picture_put(&o->plot, p, out, e);
}

static int run_tables(const struct options *o, struct str *out, struct err *e)
{
	struct ops_rows_how how = { .split = !o->split || strcmp(o->split, "all") == 0 ? -1
		                             : strcmp(o->split, "fitted") == 0         ? (int)SAMPLE_FITTED
		                                                                       : (int)SAMPLE_HELD_OUT };
	struct ops_rows t = { .conf = NULL };
	int rc = -1;

	if (run_start_parse(o->start ? o->start : "cold", &how.start, e) < 0 ||
	    run_fidelity_parse(o->fidelity ? o->fidelity : "event", &how.fidelity, e) < 0)
		return -1;
	if (how.start == RUN_STEADY)
		return err_set(e, ERR_USAGE, "a row alone has no steady state: '--start' is cold or resident");
	if (ops_rows_run(&t, &o->gpu, &how, e) == 0)
		rc = draw_tables(o, &t, out, e);
	ops_rows_free(&t);
	return rc;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int draw(struct options *o, struct str *out, struct err *e)
{
	const int tables = ops_rows_asked(&o->gpu, e);

	if (tables != 0)
		return tables < 0 ? -1 : run_tables(o, out, e);
	if (o->start || o->fidelity)
		return err_set(e, ERR_USAGE, "'--%s' is for tables of ops", o->start ? "start" : "fidelity");
	o->split = o->split ? o->split : "held-out";
	return run(o, out, e);
}

int cmd_plot_error(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .split = NULL };
	const struct opt opts[] = {
		GPU_OPTIONS(o.gpu),
		{ 0, "split", OPT_TEXT, &o.split, "held-out|fitted|all",
		  "held-out (default; of a table of ops all is), fitted or all" },
		{ 0, "start", OPT_TEXT, &o.start, "cold|resident",
		  "of a table of ops: each row's operands in DRAM (cold, the default), or on chip as far as they fit" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "of a table of ops: as for 'npusim run'; event by default" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot error -c MACHINE.yaml -t T.db|OPS.csv... -o FILE [options]",
		"Draws what 'npusim validate' counts: every sample's simulated time over its measured time, with the "
		"band of"
		" 10 % around equality. Of tables of ops and of blocks the worst rows are named. Needs gnuplot.",
		"npusim plot error -c configs/npu/dsocr.yaml -t workloads/ops/llama1b-decode.csv -o /tmp/ops.svg\n"
		"npusim plot error -c configs/gpu/h200.yaml -t build/h200/operators.db -o /tmp/error.svg\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = picture_check(&o.plot, e)) == 0 && (rc = gpu_options_check(&o.gpu, e)) == 0) {
		if (o.split && strcmp(o.split, "all") != 0 && strcmp(o.split, "fitted") != 0 &&
		    strcmp(o.split, "held-out") != 0)
			rc = err_set(e, ERR_USAGE, "unknown split '%s': it is held-out, fitted or all", o.split);
		else
			rc = draw(&o, out, e);
	}
	opt_list_free(&args);
	gpu_options_free(&o.gpu);
	return rc < 0 ? -1 : 0;
}
