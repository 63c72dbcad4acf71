/* hist.c - values by launch, sorted, then counted. */
#include "sim/profile/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct value {
	double v;
	uint64_t count;
};

static int hist_by_value(const void *x, const void *y)
{
	const struct value *a = x, *b = y;

	return a->v < b->v ? -1 : a->v > b->v;
}

/* The value with `part` of the launches at or below it. */
static double quantile(const struct value *v, size_t n, uint64_t total, double part)
{
	const double want = part * (double)total;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += v[i].count;
		if ((double)sum >= want)
			return v[i].v;
	}
	return n ? v[n - 1].v : NAN;
}

#define HEADS 6
/* The i-th of 1, 1.5, 2, 3, 5, 7, 10, ...; below 0 of 0.7, 0.5, ... */
static double hist_step(int i)
{
	static const double heads[HEADS] = { 1, 1.5, 2, 3, 5, 7 };
	const int decade = (i - (i < 0 ? HEADS - 1 : 0)) / HEADS;
	double v = heads[i - HEADS * decade];

	for (int k = 0; k < abs(decade); k++)
		v = decade < 0 ? v / 10 : v * 10;
	return v;
}

static void make_bins(struct hist *h)
{
	int i = -8 * HEADS;

	if (!h->log) {
		for (h->n_bins = 0; h->n_bins < 20; h->n_bins++) {
			h->from[h->n_bins] = 5.0 * h->n_bins;
			h->to[h->n_bins] = 5.0 * (h->n_bins + 1);
		}
		return;
	}
	while (i < 20 * HEADS && hist_step(i + 1) <= h->min)
		i++;
	do {
		h->from[h->n_bins] = hist_step(i);
		h->to[h->n_bins++] = hist_step(++i);
	} while (h->n_bins < HIST_BINS && hist_step(i) <= h->max);
}

static void hist_fill(struct hist *h, const struct value *v, size_t n)
{
	double sum = 0;
	int at = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i].v * (double)v[i].count;
	h->mean = sum / (double)h->n;
	h->min = v[0].v;
	h->max = v[n - 1].v;
	h->median = quantile(v, n, h->n, 0.5);
	h->p90 = quantile(v, n, h->n, 0.9);
	make_bins(h);
	for (size_t i = 0; i < n; i++) {
		while (at + 1 < h->n_bins && v[i].v >= h->to[at])
			at++;
		h->count[at] += v[i].count;
	}
}

int hist_of(const struct bound *b, enum counter metric, struct hist *h, struct err *e)
{
	struct value *v = calloc(b->n_same ? b->n_same : 1, sizeof *v);
	const bool by_geometry = metric == COUNTER_OCCUPANCY_PCT || metric == COUNTER_THEORETICAL_PCT;
	size_t n = 0;

	memset(h, 0, sizeof *h);
	h->metric = metric;
	h->log = metric == COUNTER_DURATION_US || metric == COUNTER_MEM_GBS;
	if (!v)
		return err_nomem(e, "for a histogram");
	for (size_t i = 0; i < b->n_same; i++) {
		const struct bound_same *l = &b->same[i];
		const double x = bound_value(l, metric);

		if (!isfinite(x) || (h->log && !(x > 0)))
			continue;
		v[n++] = (struct value){ x, l->count };
		h->n += l->count;
		h->counted += (l->counted && !by_geometry) || (l->x && !isnan(l->x->v[metric])) ? l->count : 0;
	}
	if (n) {
		qsort(v, n, sizeof *v, hist_by_value);
		hist_fill(h, v, n);
	}
	free(v);
	return 0;
}
