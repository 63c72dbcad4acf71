/* trace_hist.c - npusim trace hist and npusim plot hist: the profile report's thirteen histograms. */
#include "sim/cli/bound.h"

#include <string.h>

#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/report/hist_doc.h"

struct options {
	struct bound_options b;
	const char *metric, *format;
	struct picture_to plot;
};

/* -1: none named. */
static int metric_of(const char *name, int *k, struct err *e)
{
	const char *names[COUNTERS_SHOWN], *near;

	*k = -1;
	for (int i = 0; i < COUNTERS_SHOWN; i++) {
		names[i] = counter_name((enum counter)i);
		if (name && strcmp(name, names[i]) == 0)
			*k = i;
	}
	if (!name || *k >= 0)
		return 0;
	near = str_nearest(name, names, COUNTERS_SHOWN);
	return err_set(e, ERR_USAGE, "there is no metric '%s'%s%s%s", name, near ? "; did you mean '" : "",
	               near ? near : "", near ? "'?" : ": 'npusim trace hist T.db' lists them");
}

/* --- the commands ------------------------------------------------------------------------------------------ */

static int hist(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct bound_input in = { .rules = NULL };
	struct hist h[COUNTERS_SHOWN];
	int rc = -1, only;
	size_t n = 0;

	if (metric_of(o->metric, &only, e) < 0)
		return -1;
	if (bound_input_read(&in, args->v[0], &o->b, e) == 0) {
		rc = 0;
		for (int i = 0; rc == 0 && i < COUNTERS_SHOWN; i++)
			if (only < 0 || only == i)
				rc = hist_of(&in.b, (enum counter)i, &h[n++], e);
	}
	if (rc == 0)
		hist_doc(d, &in.t.trace, &in.b, h, n);
	bound_input_free(&in);
	return rc;
}

static int trace_hist_draw(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct bound_input in = { .rules = NULL };
	struct hist h;
	int rc = -1, k;

	if (picture_check(&o->plot, e) < 0 || metric_of(o->metric, &k, e) < 0)
		return -1;
	if (bound_input_read(&in, args->v[0], &o->b, e) == 0 && hist_of(&in.b, (enum counter)k, &h, e) == 0) {
		if (h.n)
			rc = picture_put(&o->plot, hist_chart(&in.b, &h), d->to, e);
		else
			err_set(e, ERR_IO, "no kernel in '%s' has the metric '%s'", args->v[0], o->metric);
	}
	bound_input_free(&in);
	return rc;
}

int cmd_trace_hist(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .metric = NULL };
	const struct opt opts[] = {
		{ 'm', "metric", OPT_TEXT, &o.metric, "METRIC", "only this one; by default all thirteen" },
		BOUND_OPTS(&o.b),
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the bins alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = { "npusim trace hist T.db [--metric METRIC] [--range NAME]",
		                     "How metrics are distributed over the kernels: durations, throughputs, hit rates, "
		                     "occupancies, thirteen in all."
		                     " Most are counters of Nsight Compute, which has to be imported into the database "
		                     "too; duration, memory"
		                     " throughput and occupancy (by launch geometry, 'trace waves') are known without.",
		                     "npusim trace hist /tmp/t.db\n"
		                     "npusim trace hist /tmp/t.db --metric duration_us --format csv\n",
		                     opts,
		                     1,
		                     1 };

	return cmd_do(&cmd, &o.format, hist, &o, argc, argv, out, e);
}

int cmd_plot_hist(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .metric = "duration_us" };
	const struct opt opts[] = {
		{ 'm', "metric", OPT_TEXT, &o.metric, "METRIC",
		  "which; duration_us by default, 'npusim trace hist' lists them" },
		BOUND_OPTS(&o.b),
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot hist T.db -o FILE [--metric METRIC]",
		"Draws what 'npusim trace hist' counts: how a metric is distributed over the kernels." PICTURE_NEEDS,
		"npusim plot hist /tmp/t.db -o /tmp/duration.svg\n"
		"npusim plot hist /tmp/t.db --metric l2_hit_rate_pct -o /tmp/l2.png\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, NULL, trace_hist_draw, &o, argc, argv, out, e);
}
