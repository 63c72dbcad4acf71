#include "sim/accuracy/score.h"

#include <stdlib.h>
#include <string.h>

struct point {
	const char *key;
	double measured, simulated, spread;
};

static const struct {
	uint64_t below_ns;
	const char *name;
} sizes[] = {
	{ 2000, "below 2 us" },     { 5000, "2 to 5 us" },          { 20000, "5 to 20 us" },
	{ 100000, "20 to 100 us" }, { UINT64_MAX, "above 100 us" },
};
#define SIZES (sizeof sizes / sizeof *sizes)

static const char *score_size_of(uint64_t ns)
{
	size_t i = 0;

	while (i + 1 < SIZES && ns >= sizes[i].below_ns)
		i++;
	return sizes[i].name;
}

static const char *score_key_of(const struct sample *x, enum score_by by)
{
	switch (by) {
	case SCORE_CLASS:
		return x->cls;
	case SCORE_GROUP:
		return x->group;
	case SCORE_SIZE:
		return score_size_of(x->measured_ns);
	case SCORE_BOUND:
		return res_name(x->time.bound);
	default:
		return "";
	}
}

static int by_real(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which `part` of them lie, between the two neighbours. */
static double quantile(const double *sorted, size_t n, double part)
{
	double at = part * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

static struct score score_of(const struct point *p, size_t n, const char *key, double *room)
{
	struct score s = { .cls = key, .spread = -1 };
	size_t reps = 0;

	for (size_t i = 0; i < n; i++) {
		double ape = 100 * (p[i].simulated - p[i].measured) / p[i].measured;

		if (p[i].key != key && strcmp(p[i].key, key) != 0)
			continue;
		s.bias += ape;
		ape = ape < 0 ? -ape : ape;
		s.mape += ape;
		s.weighted_ape += ape * p[i].measured;
		s.measured_us += p[i].measured;
		s.simulated_us += p[i].simulated;
		room[s.n++] = ape;
	}
	qsort(room, s.n, sizeof *room, by_real);
	s.mape /= (double)s.n;
	s.bias /= (double)s.n;
	s.weighted_ape /= s.measured_us;
	s.median_ape = quantile(room, s.n, 0.5);
	s.p90_ape = quantile(room, s.n, 0.9);
	for (size_t i = 0; i < n; i++)
		if (p[i].spread >= 0 && strcmp(p[i].key, key) == 0)
			room[reps++] = p[i].spread;
	qsort(room, reps, sizeof *room, by_real);
	if (reps)
		s.spread = quantile(room, reps, 0.5);
	return s;
}

double sample_error(const struct sample *x)
{
	return 100 * ((double)x->time.total / 1e3 - (double)x->measured_ns) / (double)x->measured_ns;
}

int score_samples(const struct cases *sets, size_t n_sets, enum sample_split split, enum score_by by, struct arena *a,
                  struct score **out, struct err *e)
{
	size_t most = 1, n = 0, n_keys = 0;
	struct point *p;
	double *room;

	for (size_t i = 0; i < n_sets; i++)
		most += sets[i].n;
	p = arena_array(a, most, sizeof *p);
	room = arena_array(a, most, sizeof *room);
	*out = arena_array(a, most, sizeof **out);
	if (!p || !room || !*out)
		return err_set(e, ERR_NOMEM, "out of memory for scores");
	for (size_t i = 0; i < n_sets; i++)
		for (size_t k = 0; k < sets[i].n; k++) {
			const struct sample *x = &sets[i].v[k];

			if (!sample_split_has(split, x->split) || !x->measured_ns)
				continue;
			p[n++] = (struct point){
				score_key_of(x, by), (double)x->measured_ns / 1e3, (double)x->time.total / 1e6,
				x->reps > 1 ? 50.0 * (double)(x->high_ns - x->low_ns) / (double)x->measured_ns : -1
			};
		}
	for (size_t i = 0; by == SCORE_SIZE && i < SIZES; i++) /* in their own order */
		for (size_t k = 0; k < n; k++)
			if (p[k].key == sizes[i].name) {
				(*out)[n_keys++] = score_of(p, n, p[k].key, room);
				break;
			}
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < n_keys && strcmp((*out)[k].cls, p[i].key) != 0)
			k++;
		if (k == n_keys)
			(*out)[n_keys++] = score_of(p, n, p[i].key, room);
	}
	return (int)n_keys;
}

int score_check(const struct cases *sets, size_t n_sets, enum sample_split split, double most, struct err *e)
{
	struct arena *a = arena_new(0);
	struct score *s;
	int n = a ? score_samples(sets, n_sets, split, SCORE_ALL, a, &s, e) : err_nomem(e, "for scores");

	if (n == 0)
		n = err_set(e, ERR_BOUND, "no sample to validate");
	else if (n > 0 && most >= 0 && s[0].mape > most)
		n = err_set(e, ERR_BOUND, "the mean error is %.2f %%, more than --max-mape allows (%.2f %%)", s[0].mape,
		            most);
	arena_free(a);
	return n < 0 ? -1 : 0;
}
