#include "sim/report/series.h"

#include <stdlib.h>

#include "sim/base/ratio.h"

int series_init(struct series *s, size_t n, struct err *e)
{
	*s = (struct series){ .width = SERIES_WIDTH, .n = n, .v = calloc(n * SERIES_BINS, sizeof *s->v) };
	return s->v ? 0 : err_nomem(e, "for counters over time");
}

void series_free(struct series *s)
{
	free(s->v);
	s->v = NULL;
}

static void double_width(struct series *s)
{
	for (size_t k = 0; k < s->n; k++) {
		uint64_t *v = s->v + k * SERIES_BINS;

		for (size_t i = 0; i < SERIES_BINS / 2; i++)
			v[i] = v[2 * i] + v[2 * i + 1];
		for (size_t i = SERIES_BINS / 2; i < SERIES_BINS; i++)
			v[i] = 0;
	}
	s->width *= 2;
	s->used = (s->used + 1) / 2;
}

/* The bin of a time, made if it is not there yet. */
static size_t bin_of(struct series *s, ps_t t)
{
	while (t / s->width >= SERIES_BINS)
		double_width(s);
	if (t / s->width >= s->used)
		s->used = t / s->width + 1;
	return (size_t)(t / s->width);
}

/* amount * part / whole, where part <= whole. */
static uint64_t series_share(uint64_t amount, uint64_t part, uint64_t whole)
{
	while (whole >> 32) {
		whole >>= 1;
		part >>= 1;
	}
	return ratio_of(amount, part, whole);
}

void series_add(struct series *s, size_t k, ps_t from, ps_t to, uint64_t amount)
{
	const size_t last = bin_of(s, to > from ? to - 1 : from);
	uint64_t done = 0;

	for (size_t i = bin_of(s, from); i < last; i++) {
		const uint64_t upto = series_share(amount, (i + 1) * s->width - from, to - from);

		s->v[k * SERIES_BINS + i] += upto - done;
		done = upto;
	}
	s->v[k * SERIES_BINS + last] += amount - done;
}

void series_hold(struct series *s, size_t k, ps_t from, ps_t to, uint64_t level)
{
	size_t last;

	if (to <= from || level == 0)
		return;
	last = bin_of(s, to - 1);
	for (size_t i = bin_of(s, from); i <= last; i++) {
		const ps_t end = ps_min(to, (i + 1) * s->width);

		s->v[k * SERIES_BINS + i] += (end - ps_max(from, i * s->width)) * level;
	}
}
