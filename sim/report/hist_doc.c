#include "sim/report/hist_doc.h"

#include <inttypes.h>
#include <stdio.h>

#define BAR 40 /* characters of the longest */

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

void hist_doc(struct doc *d, const struct trace *t, const struct bound *b, const struct hist *h, size_t n)
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

struct plot *hist_chart(const struct bound *b, const struct hist *h)
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
