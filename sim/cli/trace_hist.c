/* trace_hist.c - npusim trace hist and npusim plot hist: the profile report's thirteen histograms. */
#include "sim/cli/bound.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/profile/hist.h"

#define BAR 40 /* characters of the longest */

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

/* --- printing ---------------------------------------------------------------------------------------------- */

struct bin {
	const struct hist *h;
	int at;
};

/* CSV has the bins alone. */
static void bin(struct doc *d, const void *of, size_t i)
{
	const struct bin *b = (const struct bin *)of + i;

	if (d->format == OUT_CSV)
		doc_text(d, "metric", counter_name(b->h->metric));
	doc_real(d, "from", 3, b->h->from[b->at]);
	doc_real(d, "to", 3, b->h->to[b->at]);
	doc_count(d, "kernels", b->h->count[b->at]);
}

static size_t bins_of(const struct hist *h, struct bin *v)
{
	size_t n = 0;

	for (int k = 0; h->n && k < h->n_bins; k++)
		v[n++] = (struct bin){ h, k };
	return n;
}

static void metric(struct doc *d, const void *of, size_t i)
{
	const struct hist *h = (const struct hist *)of + i;
	struct bin v[HIST_BINS];

	doc_text(d, "metric", counter_name(h->metric));
	doc_count(d, "kernels", h->n);
	doc_count(d, "counted", h->counted);
	if (d->format != OUT_JSON || h->n) {
		doc_real_if(d, "min", 3, h->n, h->min);
		doc_real_if(d, "median", 3, h->n, h->median);
		doc_real_if(d, "mean", 3, h->n, h->mean);
		doc_real_if(d, "p90", 3, h->n, h->p90);
		doc_real_if(d, "max", 3, h->n, h->max);
	}
	doc_table(d, "bins", NULL, bins_of(h, v), bin, v);
}

static void say_bars(struct doc *d, const struct hist *h)
{
	int from = 0, to = h->n_bins; /* without the empty ones at both ends */
	uint64_t most = 1;

	for (int i = 0; i < h->n_bins; i++)
		most = h->count[i] > most ? h->count[i] : most;
	while (to > from && !h->count[from])
		from++;
	while (to > from && !h->count[to - 1])
		to--;
	doc_say(d, "\n%s\n", counter_name(h->metric));
	for (int i = from; i < to; i++) {
		const int n = (int)((double)h->count[i] / (double)most * BAR + 0.5);

		doc_say(d, "%8g to %-8g %8" PRIu64 "%s%.*s\n", h->from[i], h->to[i], h->count[i],
		        h->count[i] ? "  " : "", h->count[i] && !n ? 1 : n, "########################################");
	}
}

static void print(struct doc *d, const struct trace *t, const struct bound *b, const struct hist *h, size_t n)
{
	doc_open(d, NULL, '{');
	doc_text(d, "range", t->range);
	doc_say(d,
	        "%" PRIu64
	        " kernels; counted: by Nsight Compute, the rest from times, geometry and what the ops need; metrics"
	        " without data have no histogram\n\n",
	        b->count);
	if (d->format == OUT_CSV) {
		struct bin v[HIST_BINS * COUNTERS_SHOWN];
		size_t bins = 0;

		for (size_t i = 0; i < n; i++)
			bins += bins_of(&h[i], v + bins);
		doc_table(d, "bins", NULL, bins, bin, v);
	}
	doc_table(d, "metrics", NULL, n, metric, h);
	for (size_t i = 0; i < n; i++)
		if (h[i].n)
			say_bars(d, &h[i]);
	doc_close(d, '}');
}

/* --- drawing ----------------------------------------------------------------------------------------------- */

static struct plot *chart(const struct bound *b, const struct hist *h)
{
	static const char *const titles[COUNTERS_SHOWN] = {
		"Kernel duration",
		"SM throughput",
		"DRAM throughput",
		"Memory throughput",
		"Memory throughput",
		"L1 hit rate",
		"L1 throughput",
		"L2 hit rate",
		"L2 throughput",
		"Achieved occupancy",
		"Theoretical occupancy",
		"Memory busy",
		"Largest bandwidth of a memory unit",
	};
	const char *unit = h->metric == COUNTER_DURATION_US ? "us" : h->metric == COUNTER_MEM_GBS ? "GB/s" : "percent";
	char text[160];
	struct plot *p;
	int s;

	snprintf(text, sizeof text, "%s: %" PRIu64 " of %" PRIu64 " kernels; median %.3g, mean %.3g, largest %.3g %s",
	         b->roof.name, h->n, b->count, h->median, h->mean, h->max, unit);
	p = plot_new(titles[h->metric], text);
	plot_axis(p, PLOT_X, h->log ? PLOT_LOG : PLOT_LINEAR, unit);
	plot_axis(p, PLOT_Y, PLOT_LINEAR, "kernels");
	if (!h->log)
		plot_range(p, PLOT_X, 0, 100);
	s = plot_series(p, PLOT_STEPS, PLOT_BLUE, NULL);
	for (int i = 0; i < h->n_bins; i++)
		plot_box(p, s, h->from[i], h->to[i], (double)h->count[i]);
	return p;
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
		print(d, &in.t.trace, &in.b, h, n);
	bound_input_free(&in);
	return rc;
}

static int draw(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct bound_input in = { .rules = NULL };
	struct hist h;
	int rc = -1, k;

	if (metric_of(o->metric, &k, e) < 0)
		return -1;
	if (bound_input_read(&in, path, &o->b, e) == 0 && hist_of(&in.b, (enum counter)k, &h, e) == 0) {
		if (h.n)
			rc = picture_put(&o->plot, chart(&in.b, &h), out, e);
		else
			err_set(e, ERR_IO, "no kernel in '%s' has the metric '%s'", path, o->metric);
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
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the bins alone" },
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
		"Draws what 'npusim trace hist' counts: how a metric is distributed over the kernels. Needs gnuplot.",
		"npusim plot hist /tmp/t.db -o /tmp/duration.svg\n"
		"npusim plot hist /tmp/t.db --metric l2_hit_rate_pct -o /tmp/l2.png\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = picture_check(&o.plot, e)) == 0)
		rc = draw(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
