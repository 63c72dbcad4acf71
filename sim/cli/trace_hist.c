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

static void write_summary(const struct hist *h, int n, struct str *out)
{
	static const struct out_col cols[] = {
		{ "metric", OUT_TEXT, 0 }, { "kernels", OUT_INT, 0 }, { "counted", OUT_INT, 0 }, { "min", OUT_REAL, 3 },
		{ "median", OUT_REAL, 3 }, { "mean", OUT_REAL, 3 },   { "p90", OUT_REAL, 3 },    { "max", OUT_REAL, 3 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (int i = 0; i < n; i++) {
		const double v[] = { h[i].min, h[i].median, h[i].mean, h[i].p90, h[i].max };

		out_text(t, counter_name(h[i].metric));
		out_int(t, (int64_t)h[i].n);
		out_int(t, (int64_t)h[i].counted);
		for (size_t k = 0; k < sizeof v / sizeof *v; k++) {
			if (h[i].n)
				out_real(t, v[k]);
			else
				out_null(t);
		}
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_bars(const struct hist *h, struct str *out)
{
	int from = 0, to = h->n_bins; /* without the empty ones at both ends */
	uint64_t most = 1;

	for (int i = 0; i < h->n_bins; i++)
		most = h->count[i] > most ? h->count[i] : most;
	while (to > from && !h->count[from])
		from++;
	while (to > from && !h->count[to - 1])
		to--;
	str_addf(out, "\n%s\n", counter_name(h->metric));
	for (int i = from; i < to; i++) {
		const int n = (int)((double)h->count[i] / (double)most * BAR + 0.5);

		str_addf(out, "%8g to %-8g %8" PRIu64 "%s%.*s\n", h->from[i], h->to[i], h->count[i],
		         h->count[i] ? "  " : "", h->count[i] && !n ? 1 : n,
		         "########################################");
	}
}

static void write_csv(const struct hist *h, int n, struct str *out)
{
	static const struct out_col cols[] = {
		{ "metric", OUT_TEXT, 0 },
		{ "from", OUT_REAL, 3 },
		{ "to", OUT_REAL, 3 },
		{ "kernels", OUT_INT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (int i = 0; i < n; i++)
		for (int k = 0; h[i].n && k < h[i].n_bins; k++) {
			out_text(t, counter_name(h[i].metric));
			out_real(t, h[i].from[k]);
			out_real(t, h[i].to[k]);
			out_int(t, (int64_t)h[i].count[k]);
		}
	out_table_write(t, OUT_CSV, out);
	out_table_free(t);
}

static void json_one(const struct hist *h, struct out_json *j)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, "metric", counter_name(h->metric));
	out_json_u64(j, "kernels", h->n);
	out_json_u64(j, "counted", h->counted);
	if (h->n) {
		out_json_real(j, "min", h->min);
		out_json_real(j, "median", h->median);
		out_json_real(j, "mean", h->mean);
		out_json_real(j, "p90", h->p90);
		out_json_real(j, "max", h->max);
	}
	out_json_open(j, "bins", '[');
	for (int k = 0; h->n && k < h->n_bins; k++) {
		out_json_open(j, NULL, '{');
		out_json_real(j, "from", h->from[k]);
		out_json_real(j, "to", h->to[k]);
		out_json_u64(j, "kernels", h->count[k]);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_close(j, '}');
}

static void write_json(const struct trace *t, const struct hist *h, int n, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "range", t->range);
	out_json_open(&j, "metrics", '[');
	for (int i = 0; i < n; i++)
		json_one(&h[i], &j);
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static void write_text(const struct bound *b, const struct hist *h, int n, struct str *out)
{
	str_addf(out,
	         "%" PRIu64
	         " kernels; counted: by Nsight Compute, the rest from times, geometry and what the ops need; metrics"
	         " without data have no histogram\n\n",
	         b->count);
	write_summary(h, n, out);
	for (int i = 0; i < n; i++)
		if (h[i].n)
			write_bars(&h[i], out);
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

static int hist(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct bound_input in = { .rules = NULL };
	struct hist h[COUNTERS_SHOWN];
	enum out_format f;
	int rc = -1, only, n = 0;

	if (cmd_format(o->format, &f, e) < 0 || metric_of(o->metric, &only, e) < 0)
		return -1;
	if (bound_input_read(&in, path, &o->b, e) == 0) {
		rc = 0;
		for (int i = 0; rc == 0 && i < COUNTERS_SHOWN; i++)
			if (only < 0 || only == i)
				rc = hist_of(&in.b, (enum counter)i, &h[n++], e);
	}
	if (rc == 0 && f == OUT_JSON)
		write_json(&in.t.trace, h, n, out);
	else if (rc == 0 && f == OUT_CSV)
		write_csv(h, n, out);
	else if (rc == 0)
		write_text(&in.b, h, n, out);
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
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = hist(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
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
