#include "sim/build/build_picks.h"

#include <math.h>

#include "workloads/experts.h"

uint64_t build_picks_rows(const struct build_picks *x, uint32_t slot)
{
	if (x->first)
		return x->first[slot + 1] - x->first[slot];
	return x->rows / x->hit + (slot < x->rows % x->hit);
}

uint64_t build_picks_first(const struct build_picks *x, uint32_t slot)
{
	const uint64_t more = x->rows % x->hit;

	if (x->first)
		return x->first[slot];
	return x->rows / x->hit * slot + (slot < more ? slot : more);
}

/* --- picks that are skewed ------------------------------------------------------------------------------------------- */

/* Chances that a token picks each expert, the likeliest first: as (i + 1)^-skew, none above 1, `top` together. */
static void chances(double *p, uint32_t experts, uint32_t top, double skew)
{
	uint32_t sure = 0;

	for (uint32_t i = 0; i < experts; i++)
		p[i] = pow(i + 1, -skew);
	for (;;) {
		double sum = 0, scale;

		for (uint32_t i = sure; i < experts; i++)
			sum += p[i];
		scale = (top - sure) / sum;
		if (sure == top || p[sure] * scale <= 1) {
			for (uint32_t i = sure; i < experts; i++)
				p[i] *= scale;
			return;
		}
		p[sure++] = 1;
	}
}

static uint32_t hit_of(const double *p, uint32_t n, uint64_t tokens)
{
	double hit = 0;

	for (uint32_t i = 0; i < n; i++)
		hit += 1 - pow(1 - p[i], (double)tokens);
	return (uint32_t)(hit + 0.5);
}

/* Each slot has a row, and the others by its expert's chance, at most one a token. */
static uint64_t *shares(struct arena *a, const struct build_picks *x, uint64_t tokens, const double *p)
{
	uint64_t *first = arena_array(a, x->hit + 1u, sizeof *first), left = x->rows;
	double sum = 0;

	if (!first)
		return NULL;
	for (uint32_t s = 0; s < x->hit; s++)
		sum += p[s];
	first[0] = 0;
	for (uint32_t s = 0; s < x->hit; s++) {
		const uint32_t behind = x->hit - s - 1;
		const double share = sum > 0 ? (double)left * p[s] / sum : 0;
		uint64_t n = (uint64_t)(share + 0.5);

		n = n < 1 ? 1 : n;
		n = n > tokens ? tokens : n;
		n = n + behind > left ? left - behind : n;
		n = behind ? n : left;
		first[s + 1] = first[s] + n;
		left -= n;
		sum -= p[s];
	}
	return first;
}

/* A chip with some of the experts has likely and unlikely ones alike. */
static int skewed(struct arena *a, const struct build_router *r, uint64_t tokens, struct build_picks *x)
{
	double *p = arena_array(a, r->experts, sizeof *p), picks = 0;

	if (!p)
		return -1;
	chances(p, r->experts, r->top, r->skew / 1000.0);
	for (uint32_t i = 0; i < r->here; i++)
		picks += p[i] = p[(uint64_t)i * r->experts / r->here];
	picks *= (double)tokens;
	if (r->here < r->experts)
		x->rows = picks < 1 ? 1 : (uint64_t)(picks + 0.5);
	x->hit = hit_of(p, r->here, tokens);
	x->hit = x->hit < 1 ? 1 : x->hit > x->rows ? (uint32_t)x->rows : x->hit;
	while (x->hit * tokens < x->rows)
		x->hit++;
	x->first = shares(a, x, tokens, p);
	return x->first ? 0 : -1;
}

int build_picks_make(struct arena *a, const struct build_router *r, uint64_t tokens, struct build_picks *x)
{
	const uint64_t n = r->experts;

	*x = (struct build_picks){ .rows = (tokens * r->top * r->here + n / 2) / n };
	x->rows = x->rows ? x->rows : 1;
	x->hit = experts_hit(r->experts, r->top, tokens);
	x->hit = (uint32_t)(((uint64_t)x->hit * r->here + n / 2) / n);
	x->hit = x->hit < 1 ? 1 : x->hit > x->rows ? (uint32_t)x->rows : x->hit;
	return r->skew ? skewed(a, r, tokens, x) : 0;
}
