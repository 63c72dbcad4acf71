/* arrive_make.c - lists of requests that are drawn: times and lengths by their distributions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/serve/arrive.h"
#include "traces/text/decimal.h"

#define LN2 0.69314718055994530942

/* --- logarithm and exponential by sums and products alone, so the same to the bit on every host ------------------------- */

/* Of x > 0: 2 artanh((x - 1) / (x + 1)), x between 2/3 and 4/3 after halving and doubling. */
static double ln(double x)
{
	double z, z2, term, sum = 0;
	int halved = 0;

	for (; x > 4.0 / 3; halved++)
		x /= 2;
	for (; x < 2.0 / 3; halved--)
		x *= 2;
	z = (x - 1) / (x + 1);
	z2 = z * z;
	term = z;
	for (int k = 1; k < 40; k += 2, term *= z2)
		sum += term / k;
	return 2 * sum + halved * LN2;
}

/* Taylor's around 0 after as many doublings as bring it there; |x| < 700. */
static double ex(double x)
{
	double term = 1, sum = 1;
	int doubled = 0;

	for (; x > LN2 / 2; doubled++)
		x -= LN2;
	for (; x < -LN2 / 2; doubled--)
		x += LN2;
	for (int k = 1; k < 24; k++) {
		term *= x / k;
		sum += term;
	}
	for (; doubled > 0; doubled--)
		sum *= 2;
	for (; doubled < 0; doubled++)
		sum /= 2;
	return sum;
}

/* Above 0, at most 1. */
static double even(struct rng *r)
{
	return ((double)(rng_u64(r) >> 11) + 1) / 9007199254740992.0;
}

/* Sum of twelve even draws: a normal one to what lengths of prompts are known to (within 6 deviations). */
static double normal(struct rng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += even(r);
	return sum;
}

/* --- lengths and times -------------------------------------------------------------------------------------------------- */

static uint32_t length(const struct arrive_length *l, struct rng *r)
{
	double x = l->a;

	switch (l->shape) {
	case ARRIVE_UNIFORM:
		return l->a + (uint32_t)rng_below(r, (uint64_t)l->b - l->a + 1);
	case ARRIVE_EXP:
		x = -ln(even(r)) * l->a;
		break;
	case ARRIVE_LOGNORMAL:
		x = l->a * ex(normal(r) * l->b / 1000.0);
		break;
	case ARRIVE_FIXED:
		break;
	}
	x += 0.5;
	return x < 1 ? 1 : x > ARRIVE_TOKENS ? ARRIVE_TOKENS : (uint32_t)x;
}

static void arrive_make_cut(struct arrival *a, uint32_t context, struct arrivals *of)
{
	if (!context)
		return;
	if (a->prompt > context - 1) {
		a->prompt = context - 1;
		of->prompts_cut++;
	}
	if (a->output > context - a->prompt) {
		a->output = context - a->prompt;
		of->outputs_cut++;
	}
}

/* The shortest that may be drawn. */
static uint32_t least(const struct arrive_length *l)
{
	return l->shape == ARRIVE_FIXED || l->shape == ARRIVE_UNIFORM ? l->a : 1;
}

static int check_lengths(const struct arrive_plan *p, struct err *e)
{
	const uint32_t prompt = least(&p->prompt), output = least(&p->output);

	if (!p->context || (uint64_t)prompt + output <= p->context)
		return 0;
	return err_set(e, ERR_USAGE,
	               "a prompt of %u and an output of %u tokens are more than the %u that the model takes", prompt,
	               output, p->context);
}

int arrive_make(const struct arrive_plan *p, struct arrivals *out, struct err *e)
{
	struct rng times, prompts, outputs;
	double at = 0;

	*out = (struct arrivals)ARRIVALS_INIT;
	if (check_lengths(p, e) < 0)
		return -1;
	if (!(out->v = calloc(p->n ? p->n : 1, sizeof *out->v)))
		return err_nomem(e, "for a list of requests");
	out->n = p->n;
	rng_seed(&times, p->seed, "arrivals");
	rng_seed(&prompts, p->seed, "prompts");
	rng_seed(&outputs, p->seed, "outputs");
	for (size_t i = 0; i < p->n; i++) {
		struct arrival *a = &out->v[i];

		a->line = (uint32_t)i + 1;
		a->at = (ps_t)at;
		at += p->when == ARRIVE_POISSON    ? -ln(even(&times)) * (double)p->gap
		      : p->when == ARRIVE_CONSTANT ? (double)p->gap
		                                   : 0;
		a->prompt = length(&p->prompt, &prompts);
		a->output = length(&p->output, &outputs);
		arrive_make_cut(a, p->context, out);
		if (at > (double)ARRIVE_LATEST) {
			arrive_free(out);
			return err_set(e, ERR_USAGE, "%zu requests at that rate take more than 30 days to arrive",
			               p->n);
		}
	}
	return 0;
}

/* --- words --------------------------------------------------------------------------------------------------------------- */

/* A decimal number of `n` characters times ten to the shift. */
static bool arrive_make_number(const char *s, size_t n, int shift, int64_t *out)
{
	return n && *s != '-' && decimal_scaled(s, n, shift, out) == 0;
}

static int no_length(const char *text, const char *option, struct err *e)
{
	return err_set(e, ERR_USAGE,
	               "'%s' is no length in tokens, for option '--%s': it is 512, uniform:128:1024, exp:512 or"
	               " lognormal:512:0.8 (median, sigma)",
	               text, option);
}

int arrive_length_parse(const char *text, const char *option, struct arrive_length *out, struct err *e)
{
	static const struct {
		const char *word;
		enum arrive_shape shape;
		int shift; /* of the second number; ABSENT: there is none */
	} shapes[] = { { "", ARRIVE_FIXED, -1 },
		       { "uniform:", ARRIVE_UNIFORM, 0 },
		       { "exp:", ARRIVE_EXP, -1 },
		       { "lognormal:", ARRIVE_LOGNORMAL, 3 } };
	size_t i = 3;
	const char *a, *colon;
	int64_t x, y = 0;

	while (i && !str_prefix(text, shapes[i].word))
		i--;
	a = text + strlen(shapes[i].word);
	colon = strchr(a, ':');
	if ((shapes[i].shift < 0) != !colon || !arrive_make_number(a, colon ? (size_t)(colon - a) : strlen(a), 0, &x) ||
	    strspn(a, "0123456789") != (colon ? (size_t)(colon - a) : strlen(a)) ||
	    (colon && !arrive_make_number(colon + 1, strlen(colon + 1), shapes[i].shift, &y)))
		return no_length(text, option, e);
	if (x < 1 || x > ARRIVE_TOKENS || (shapes[i].shape == ARRIVE_UNIFORM && (y < x || y > ARRIVE_TOKENS)) ||
	    (shapes[i].shape == ARRIVE_LOGNORMAL && y > 4000))
		return no_length(text, option, e);
	*out = (struct arrive_length){ shapes[i].shape, (uint32_t)x, (uint32_t)y };
	return 0;
}

int arrive_rate_parse(const char *text, ps_t *gap, struct err *e)
{
	const char *slash = strchr(text, '/');
	const bool minute = slash && (strcmp(slash, "/min") == 0 || strcmp(slash, "/minute") == 0);
	double mean;
	int64_t v;

	if (!slash || (!minute && strcmp(slash, "/s") != 0) ||
	    !arrive_make_number(text, (size_t)(slash - text), 6, &v) || v < 1 || v > INT64_C(1000000000000))
		return err_set(
			e, ERR_USAGE,
			"'%s' is no rate of arrivals, for option '--rate': it is 4/s, 0.5/s or 30/min, up to 1000000/s",
			text);
	mean = (minute ? 60.0 : 1.0) * 1e18 / (double)v;
	if (mean > (double)ARRIVE_LATEST)
		return err_set(e, ERR_USAGE, "at '%s' not one request arrives in 30 days, for option '--rate'", text);
	*gap = (ps_t)mean;
	return 0;
}
