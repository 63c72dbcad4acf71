#include "sim/accuracy/picks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/rng.h"

#define DRAWS 10

struct draw {
	const struct picks_asked *q;
	uint64_t rows[PICKS_EXPERTS];
	uint32_t *of_token; /* top of each: the experts it picks */
};

/* One row more or less on each chip in turn, of its emptiest expert that has room or of its fullest. */
static void go_round(struct draw *d, uint64_t rows, bool more)
{
	const uint32_t each = d->q->experts / d->q->chips;

	for (bool moved = true; rows && moved;) {
		moved = false;
		for (uint32_t c = 0; c < d->q->chips && rows; c++) {
			uint64_t *at = d->rows + c * each, *best = NULL;

			for (uint32_t i = 0; i < each; i++)
				if (more ? at[i] < d->q->tokens && (!best || at[i] < *best)
				         : at[i] > 0 && (!best || at[i] > *best))
					best = &at[i];
			if (!best)
				continue;
			*best += more ? 1 : (uint64_t)-1;
			rows--;
			moved = true;
		}
	}
}

static void draw_loads(struct draw *d, struct rng *r)
{
	const struct picks_asked *q = d->q;
	const uint64_t all = q->tokens * q->top;
	const double low = all > q->experts ? 1 : 0.01, high = all > q->experts ? 0.8 * (double)q->tokens : 2,
		     e = 1 - q->alpha, a = pow(low, e), b = pow(high, e);
	double load[PICKS_EXPERTS], sum = 0;
	uint64_t got = 0, over = 0;

	for (uint32_t i = 0; i < q->experts; i++) {
		const double u = (double)(rng_u64(r) >> 11) / 9007199254740992.0;

		load[i] = pow((b - a) * u + a, 1 / e);
		sum += load[i];
	}
	for (uint32_t i = 0; i < q->experts; i++) {
		const uint64_t want = (uint64_t)(load[i] / sum * (double)all + 0.5);

		d->rows[i] = want < q->tokens ? want : q->tokens;
		over += want - d->rows[i];
	}
	go_round(d, over, true);
	for (uint32_t i = 0; i < q->experts; i++)
		got += d->rows[i];
	go_round(d, got < all ? all - got : got - all, got < all);
}

/* The chip with the most rows changes places with the first. */
static void fullest_first(struct draw *d)
{
	const uint32_t each = d->q->experts / d->q->chips;
	uint64_t most = 0, at[PICKS_EXPERTS];
	uint32_t chip = 0;

	for (uint32_t c = 0; c < d->q->chips; c++) {
		uint64_t n = 0;

		for (uint32_t i = 0; i < each; i++)
			n += d->rows[c * each + i];
		if (n <= most)
			continue;
		most = n;
		chip = c;
	}
	memcpy(at, d->rows, each * sizeof *at);
	memmove(d->rows, d->rows + chip * each, each * sizeof *at);
	memcpy(d->rows + chip * each, at, each * sizeof *at);
}

/* The fullest expert's rows are the first tokens' first picks, and so on. */
static void tokens_of_loads(struct draw *d)
{
	const struct picks_asked *q = d->q;
	bool done[PICKS_EXPERTS] = { false };
	uint64_t at = 0;

	for (uint32_t n = 0; n < q->experts; n++) {
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < q->experts; i++)
			if (!done[i] && (best == UINT32_MAX || d->rows[i] > d->rows[best]))
				best = i;
		done[best] = true;
		for (uint64_t i = 0; i < d->rows[best] && at < q->tokens * q->top; i++, at++)
			d->of_token[at % q->tokens * q->top + at / q->tokens] = best;
	}
}

static void tokens_evenly(struct draw *d)
{
	const struct picks_asked *q = d->q;
	const uint64_t stride = div_up(q->experts, q->top);

	for (uint64_t i = 0; i < q->tokens; i++)
		for (uint32_t j = 0; j < q->top; j++)
			d->of_token[i * q->top + j] =
				(uint32_t)(((q->tokens >= stride ? i : i * stride / q->tokens) + j * stride) %
			                   q->experts);
}

/* Groups by their two best scores, the first where alike; then the picks in them, and the first experts for the others. */
static void keep_groups(const struct picks_asked *q, uint32_t *picks)
{
	const uint32_t size = q->experts / q->groups;
	uint32_t in[PICKS_EXPERTS] = { 0 }, n = 0;
	bool keeps[PICKS_EXPERTS] = { false }, picked[PICKS_EXPERTS] = { false };

	for (uint32_t j = 0; j < q->top; j++) {
		picked[picks[j]] = true;
		in[picks[j] / size]++;
	}
	for (uint32_t k = 0; k < q->kept; k++) {
		uint32_t best = UINT32_MAX;

		for (uint32_t g = 0; g < q->groups; g++)
			if (!keeps[g] &&
			    (best == UINT32_MAX || (in[g] < 2 ? in[g] : 2) > (in[best] < 2 ? in[best] : 2)))
				best = g;
		keeps[best] = true;
	}
	for (uint32_t j = 0; j < q->top; j++)
		if (keeps[picks[j] / size])
			picks[n++] = picks[j];
	for (uint32_t i = 0; i < q->experts && n < q->top; i++)
		if (keeps[i / size] && !picked[i])
			picks[n++] = i;
}

static int by_rows(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* Sums of `n` draws that lie fullest first, to their means; those with a row. */
static uint32_t means(uint64_t *rows, uint32_t n, uint64_t draws)
{
	uint32_t hit = 0;

	while (hit < n && 2 * rows[hit] >= draws) {
		rows[hit] = (2 * rows[hit] + draws) / (2 * draws);
		hit++;
	}
	return hit;
}

static void add_sorted(uint64_t *sum, uint64_t *rows, uint32_t n)
{
	qsort(rows, n, sizeof *rows, by_rows);
	for (uint32_t i = 0; i < n; i++)
		sum[i] += rows[i];
}

bool picks_draw(const struct picks_asked *q, struct picks *out)
{
	const bool by_token = q->alpha == 0 || q->groups;
	const uint32_t own = q->experts / q->chips, draws = q->alpha == 0 ? 1 : DRAWS;
	struct draw d = { .q = q };
	struct rng r;

	memset(out, 0, sizeof *out);
	if (by_token && !(d.of_token = calloc(q->tokens * q->top, sizeof *d.of_token)))
		return false;
	rng_seed(&r, 0, "picks");
	for (uint32_t n = 0; n < draws; n++) {
		if (q->alpha == 0) {
			tokens_evenly(&d);
		} else {
			draw_loads(&d, &r);
			fullest_first(&d);
			if (by_token)
				tokens_of_loads(&d);
		}
		if (by_token) {
			memset(d.rows, 0, sizeof d.rows);
			for (uint64_t i = 0; i < q->tokens; i++) {
				if (q->groups)
					keep_groups(q, d.of_token + i * q->top);
				for (uint32_t j = 0; j < q->top; j++)
					d.rows[d.of_token[i * q->top + j]]++;
			}
		}
		add_sorted(out->own, d.rows, own);
		add_sorted(out->others, d.rows + own, q->experts - own);
	}
	free(d.of_token);
	out->n_own = means(out->own, own, draws);
	out->n_others = means(out->others, q->experts - own, draws);
	if (!out->n_own)
		out->own[out->n_own++] = 1;
	return true;
}
