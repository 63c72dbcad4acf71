#include "sim/serve/latency.h"

#include <math.h>
#include <stdlib.h>

const char *latency_name(enum latency_of l)
{
	static const char *const names[] = { "ttft", "tpot", "total", "queue" };

	return names[l];
}

ps_t latency_one(enum latency_of l, const struct arrival *a, const struct sched_request *r)
{
	if (r->gone)
		return PS_NEVER;
	switch (l) {
	case LATENCY_TTFT:
		return r->first - r->at;
	case LATENCY_TPOT:
		return a->output > 1 ? (r->last - r->first) / (a->output - 1) : PS_NEVER;
	case LATENCY_TOTAL:
		return r->last - r->at;
	case LATENCY_QUEUE:
		return r->begun - r->at;
	case LATENCIES:
		break;
	}
	return PS_NEVER;
}

static int latency_by_value(const void *x, const void *y)
{
	const ps_t a = *(const ps_t *)x, b = *(const ps_t *)y;

	return a < b ? -1 : a > b;
}

static ps_t rank(const ps_t *v, size_t n, unsigned percent)
{
	const size_t r = (n * percent + 99) / 100;

	return v[r ? r - 1 : 0];
}

static void stat(ps_t *v, size_t n, struct latency_stat *out)
{
	sched_u128 sum = 0;

	*out = (struct latency_stat){ .n = n };
	if (!n)
		return;
	qsort(v, n, sizeof *v, latency_by_value);
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	out->mean = (ps_t)(sum / n);
	out->p50 = rank(v, n, 50);
	out->p90 = rank(v, n, 90);
	out->p95 = rank(v, n, 95);
	out->p99 = rank(v, n, 99);
	out->max = v[n - 1];
}

/* The least of the class that has the rank. */
static ps_t gap_rank(const uint64_t *gaps, uint64_t n, unsigned percent)
{
	const uint64_t want = (n * percent + 99) / 100;
	uint64_t below = 0;

	for (uint32_t c = 0; c < SCHED_GAPS; c++)
		if ((below += gaps[c]) >= want)
			return sched_gap(c);
	return 0;
}

static void gap_stat(const uint64_t *gaps, struct latency_stat *out)
{
	sched_u128 sum = 0;
	uint64_t n = 0;

	for (uint32_t c = 0; c < SCHED_GAPS; c++) {
		n += gaps[c];
		sum += (sched_u128)gaps[c] * sched_gap(c);
	}
	*out = (struct latency_stat){ .n = n };
	if (n)
		*out = (struct latency_stat){ n,
			                      (ps_t)(sum / n),
			                      gap_rank(gaps, n, 50),
			                      gap_rank(gaps, n, 90),
			                      gap_rank(gaps, n, 95),
			                      gap_rank(gaps, n, 99),
			                      gap_rank(gaps, n, 100) };
}

int latency_sum(const struct arrivals *a, const struct sched_result *r, struct latency *out, struct err *e)
{
	ps_t *v = calloc(a->n ? a->n : 1, sizeof *v);

	if (!v)
		return err_nomem(e, "for latencies");
	for (int l = 0; l < LATENCIES; l++) {
		size_t n = 0;

		for (size_t i = 0; i < a->n; i++)
			if ((v[n] = latency_one((enum latency_of)l, &a->v[i], &r->v[i])) != PS_NEVER)
				n++;
		stat(v, n, &out->of[l]);
	}
	out->itl = (struct latency_stat){ .n = 0 };
	if (r->gaps)
		gap_stat(r->gaps, &out->itl);
	free(v);
	return 0;
}

ps_t latency_measured(enum latency_of l, const struct arrival *a)
{
	if (!a->total || l == LATENCY_QUEUE)
		return PS_NEVER;
	return l == LATENCY_TTFT    ? a->ttft
	       : l == LATENCY_TOTAL ? a->total
	       : a->output > 1      ? (a->total - a->ttft) / (a->output - 1)
	                            : PS_NEVER;
}

int latency_beside(enum latency_of l, const struct arrivals *a, const struct sched_result *r, struct latency_off *out,
                   struct err *e)
{
	ps_t *v = calloc(2 * a->n + 1, sizeof *v), *w = v + a->n;
	struct latency_stat is, was;

	*out = (struct latency_off){ .n = 0 };
	if (!v)
		return err_nomem(e, "for latencies");
	for (size_t i = 0; i < a->n; i++) {
		const ps_t x = latency_one(l, &a->v[i], &r->v[i]), y = latency_measured(l, &a->v[i]);
		const double off = 100 * ((double)x / (double)y - 1);

		if (x == PS_NEVER || y == PS_NEVER || !y)
			continue;
		out->mean += fabs(off);
		out->bias += off;
		v[out->n] = x;
		w[out->n++] = y;
	}
	stat(v, out->n, &is);
	stat(w, out->n, &was);
	free(v);
	if (out->n) {
		out->mean /= (double)out->n;
		out->bias /= (double)out->n;
		out->p50 = 100 * ((double)is.p50 / (double)was.p50 - 1);
	}
	return 0;
}

size_t latency_within(const struct arrivals *a, const struct sched_result *r, ps_t ttft, ps_t tpot)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		const ps_t one = latency_one(LATENCY_TPOT, &a->v[i], &r->v[i]);

		n += !r->v[i].gone && (!ttft || latency_one(LATENCY_TTFT, &a->v[i], &r->v[i]) <= ttft) &&
		     (!tpot || one == PS_NEVER || one <= tpot);
	}
	return n;
}
