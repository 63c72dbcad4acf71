/* plot_error.c - npusim plot error: simulated times of a GPU's kernels against measured ones. */
#include <stdio.h>
#include <string.h>

#include "sim/cmd/gpu.h"
#include "sim/cmd/picture.h"
#include "sim/cmd/plot.h"
#include "validate/score/score.h"

#define BAND    10 /* percent, as in the targets */
#define CLASSES 7  /* with a colour of their own; the rest are grey */

struct options {
	struct gpu_options gpu;
	const char *split;
	struct picture_to plot;
};

static bool kept(const struct sample *x, const char *split)
{
	if (!x->measured_ns || !x->time.total)
		return false;
	return strcmp(split, "all") == 0 || (strcmp(split, "held-out") == 0) == (x->split == SAMPLE_HELD_OUT);
}

static void points(struct plot *p, const struct gpu_inputs *in, const char *split, const char *const *classes, int n)
{
	int series[CLASSES + 1];

	series[n] = plot_series(p, PLOT_POINTS, PLOT_GREY, "others");
	for (int i = 0; i < n; i++)
		series[i] = plot_series(p, PLOT_POINTS, PLOT_AUTO, classes[i]);
	for (size_t i = 0; i < in->n; i++)
		for (size_t k = 0; k < in->sets[i].n; k++) {
			const struct sample *x = &in->sets[i].v[k];
			int c = 0;

			while (c < n && strcmp(classes[c], x->cls) != 0)
				c++;
			if (kept(x, split))
				plot_xy(p, series[c], cmd_us((int64_t)x->measured_ns), cmd_ps_us(x->time.total));
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
	points(p, &in, o->split, classes, commonest(by_class, n, classes));
	rc = picture_put(&o->plot, p, out, e);
out:
	gpu_inputs_free(&in);
	arena_free(a);
	return rc;
}

int cmd_plot_error(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .split = "held-out" };
	const struct opt opts[] = {
		GPU_OPTIONS(o.gpu),
		{ 0, "split", OPT_TEXT, &o.split, "held-out|fitted|all", "held-out (default), fitted or all" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot error -c GPU.yaml -t T.db -o FILE [options]",
		"Draws what 'npusim validate' counts: every sample's simulated time over its measured time, with the "
		"band of"
		" 10 % around equality. Needs gnuplot.",
		"npusim plot error -c configs/gpu/h200.yaml -t build/h200/operators.db -o /tmp/error.svg\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = picture_check(&o.plot, e)) == 0 && (rc = gpu_options_check(&o.gpu, e)) == 0) {
		if (strcmp(o.split, "all") != 0 && strcmp(o.split, "fitted") != 0 && strcmp(o.split, "held-out") != 0)
			rc = err_set(e, ERR_USAGE, "unknown split '%s': it is held-out, fitted or all", o.split);
		else
			rc = run(&o, out, e);
	}
	opt_list_free(&args);
	gpu_options_free(&o.gpu);
	return rc < 0 ? -1 : 0;
}
