/* interval_pair.c - how sure the ratio of two machines' times for one workload is: what both are wrong about in the same way is no
 * error of it. */
#include <math.h>
#include <string.h>

#include "sim/accuracy/interval.h"

static double of_class(const struct interval_shares *s, const char *cls)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].cls, cls) == 0)
			return s->v[i].time;
	return 0;
}

static double product(const struct interval_shares *a, const struct interval_shares *b)
{
	double sum = 0;

	for (size_t i = 0; i < a->n; i++)
		sum += a->v[i].time * of_class(b, a->v[i].cls);
	return sum;
}

void interval_weigh(const struct accuracy *acc, const struct interval_shares *s, struct interval_shares *out)
{
	out->n = 0;
	out->all = 0;
	for (size_t i = 0; i < s->n; i++)
		interval_add(out, s->v[i].cls,
		             acc ? s->v[i].time * interval_class_spread(acc, s->v[i].cls) : s->v[i].time);
}

/* The part of their errors that two machines have in common. */
static double common(const struct interval_side *a, const struct interval_side *b, double shared)
{
	const double own = product(&a->errors, &a->errors) * product(&b->errors, &b->errors);

	if (a->hash == b->hash)
		return 1;
	if (!*a->group || strcmp(a->group, b->group) != 0 || !(own > 0))
		return 0;
	return fmin(1, shared * product(&a->errors, &b->errors) / sqrt(own));
}

struct interval_range interval_pair_range(const struct interval_side *a, const struct interval_side *b, double shared)
{
	const double up_a = log(a->time.high), down_a = -log(a->time.low), up_b = log(b->time.high),
		     down_b = -log(b->time.low);
	const double both = common(a, b, shared) * (up_a * up_b + down_a * down_b);

	return (struct interval_range){ exp(-sqrt(fmax(0, down_a * down_a + up_b * up_b - both))),
		                        exp(sqrt(fmax(0, up_a * up_a + down_b * down_b - both))) };
}

double interval_shared(const struct interval_total *v, size_t n, const struct accuracy *acc, const char *model)
{
	double errors = 0, spreads = 0, apart = 0, together = 0;
	size_t pairs = 0;

	for (size_t i = 0; i < n; i++) {
		const double e = log(v[i].simulated_us / v[i].measured_us);

		errors += e * e;
		spreads += v[i].spread * v[i].spread;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			struct interval_shares a, b;
			double d, c;

			if (!interval_is_pair(&v[i], &v[k]) || (model && strcmp(v[i].model, model) == 0))
				continue;
			interval_weigh(acc, &v[i].shares, &a);
			interval_weigh(acc, &v[k].shares, &b);
			d = log(v[i].simulated_us / v[i].measured_us) - log(v[k].simulated_us / v[k].measured_us);
			c = product(&a, &b) / v[i].shares.all / v[k].shares.all;
			apart += errors / spreads * (v[i].spread * v[i].spread + v[k].spread * v[k].spread) - d * d;
			together += errors / spreads * 2 * c;
			pairs++;
		}
	if (!pairs || !(together > 0))
		return 0;
	return fmax(0, fmin(1, apart / together)) * (double)pairs / (double)(pairs + INTERVAL_PRIOR);
}

bool interval_is_pair(const struct interval_total *a, const struct interval_total *b)
{
	return strcmp(a->device, b->device) != 0 && strcmp(a->step, b->step) == 0 && strcmp(a->way, b->way) == 0;
}
