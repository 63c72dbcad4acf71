#include "sim/serve/capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST   1.0  /* requests/s */
#define BESIDE  1.02 /* where the rate is about known, what is tried next to it; then further away, at most by */
#define FAR     2.0
#define TRIES   256
#define LONGER  4     /* times as many requests, until the rate is within */
#define STILL   1.01  /* of what it was, or there are */
#define LONGEST 16000 /* of them */

/* A rate that was tried, and the share of the requests that it kept each limit for. */
struct
try {
	double rate, kept[CAPACITY_LIMITS];
};

struct finder {
	struct serve_run *r;
	const struct arrivals *base;
	double base_rate, least;
	double near, step;    /* where to begin, and how far from there to go on */
	struct arrivals list; /* of the rate that is tried */
	struct try tried[TRIES];
	size_t n;
	struct err *e;
};

static void at_rate(const struct finder *f, double rate, struct arrival *to)
{
	const double scale = rate < CAPACITY_MOST ? f->base_rate / rate : 0;

	for (size_t i = 0; i < f->base->n; i++)
		to[i].at = (ps_t)((double)f->base->v[i].at * scale);
}

static const struct try *serve_at(struct finder *f, double rate)
{
	const ps_t ttft = f->r->o->slo_ttft, tpot = f->r->o->slo_tpot;
	const double n = (double)f->base->n;
	struct sched_result x;
	struct try *t = &f->tried[f->n];

	for (size_t i = 0; i < f->n; i++)
		if (fabs(f->tried[i].rate / rate - 1) < 1e-9)
			return &f->tried[i];
	if (f->n == TRIES) {
		err_set(f->e, ERR_BOUND, "no largest rate is found in %d tries", TRIES);
		return NULL;
	}
	at_rate(f, rate, f->list.v);
	*t = (struct try){ .rate = rate };
	if (serve_list(f->r, &f->list, &x, f->e) == 0) {
		t->kept[CAPACITY_BOTH] = (double)latency_within(&f->list, &x, ttft, tpot) / n;
		t->kept[CAPACITY_TTFT] = (double)latency_within(&f->list, &x, ttft, 0) / n;
		t->kept[CAPACITY_TPOT] = (double)latency_within(&f->list, &x, 0, tpot) / n;
		f->n++;
	}
	sched_free(&x);
	return f->e->kind ? NULL : t;
}

static bool kept(const struct finder *f, const struct try *t, enum capacity_limit l)
{
	return t->kept[l] * 1e6 >= f->r->o->slo_ppm - 1e-6;
}

/* The lowest rate so far that misses it, INFINITY: none, and the highest below that which keeps it, 0: none. */
static void bracket(const struct finder *f, enum capacity_limit l, double *low, double *high)
{
	*low = 0;
	*high = INFINITY;
	for (size_t i = 0; i < f->n; i++)
		if (!kept(f, &f->tried[i], l))
			*high = fmin(*high, f->tried[i].rate);
	for (size_t i = 0; i < f->n; i++)
		if (f->tried[i].rate < *high)
			*low = fmax(*low, f->tried[i].rate);
}

/* Between the two of the bracket, or beyond what was tried; 0: there is nothing more to try. */
static double next_rate(struct finder *f, double low, double high)
{
	const double step = f->step;

	if (low > 0 && isfinite(high))
		return high / low <= CAPACITY_APART ? 0 : sqrt(low * high);
	if (low <= 0 && isinf(high))
		return f->near;
	f->step = fmin(step * step, FAR);
	if (isinf(high))
		return low >= CAPACITY_MOST ? 0 : fmin(step * low, CAPACITY_MOST);
	return high <= f->least ? 0 : fmax(high / step, f->least);
}

static int find(struct finder *f, enum capacity_limit l, double *rate)
{
	double low, high, next;

	f->step = f->near < FIRST || f->near > FIRST ? BESIDE : FAR;
	for (;;) {
		bracket(f, l, &low, &high);
		if ((next = next_rate(f, low, high)) <= 0)
			break;
		if (!serve_at(f, next))
			return -1;
	}
	*rate = low >= CAPACITY_MOST ? INFINITY : low;
	return 0;
}

static int of_list(struct finder *f, const struct arrivals *base)
{
	const ps_t span = base->v[base->n - 1].at - base->v[0].at;

	f->base = base;
	f->n = 0;
	f->list.priorities = base->priorities;
	f->list.give_up = base->give_up;
	f->list.pages = base->pages;
	f->list.n_pages = base->n_pages;
	f->list.page_kinds = base->page_kinds;
	f->list.pages_lent = true;
	if (!span)
		return err_set(
			f->e, ERR_USAGE,
			"the requests come all at once, so there is no rate of them to change: option '--find-rate'");
	/* Drawn ones come at the rate that they were drawn for, not at what the draw made of it. */
	f->base_rate = f->r->o->requests ? (double)(base->n - 1) / ((double)span / 1e12) : FIRST;
	f->least = fmax(f->base_rate * (double)base->v[base->n - 1].at / (double)ARRIVE_LATEST, 1e-6);
	memcpy(f->list.v, base->v, base->n * sizeof *base->v);
	return 0;
}

static int first_list(struct finder *f, struct capacity *out)
{
	const ps_t limit[CAPACITY_LIMITS] = { 1, f->r->o->slo_ttft, f->r->o->slo_tpot };

	if (of_list(f, &f->r->arrivals) < 0)
		return -1;
	for (int l = 0; l < CAPACITY_LIMITS; l++) {
		out->rate[l] = INFINITY;
		if (limit[l] && find(f, (enum capacity_limit)l, &out->rate[l]) < 0)
			return -1;
	}
	out->runs += f->n;
	out->above = INFINITY;
	for (size_t i = 0; i < f->n; i++)
		if (f->tried[i].rate < out->above && !kept(f, &f->tried[i], CAPACITY_BOTH)) {
			out->above = f->tried[i].rate;
			memcpy(out->kept, f->tried[i].kept, sizeof out->kept);
		}
	return 0;
}

static int room(struct finder *f, size_t n)
{
	struct arrival *v = realloc(f->list.v, n * sizeof *v);

	if (!v)
		return err_nomem(f->e, "for a list of requests");
	f->list.v = v;
	f->list.n = n;
	return 0;
}

/* Another draw of that many. */
static int redraw(struct finder *f, uint64_t seed, size_t n)
{
	struct arrivals other;

	if (serve_draw(f->r, seed, n, &other, f->e) < 0)
		return -1;
	arrive_free(&f->r->arrivals);
	f->r->arrivals = other;
	return room(f, n);
}

/* A list that is as long as it takes for the rate to stay. */
static int long_enough(struct finder *f, struct capacity *out)
{
	size_t n = f->r->arrivals.n;
	double before = 0, rate = 0;

	do {
		before = rate;
		if ((before > 0 && redraw(f, f->r->o->seed, n *= LONGER) < 0) || of_list(f, &f->r->arrivals) < 0 ||
		    find(f, CAPACITY_BOTH, &rate) < 0)
			return -1;
		out->runs += f->n;
		if (rate <= 0 || isinf(rate))
			return 0;
		f->near = rate;
	} while ((before > rate * STILL || before < rate / STILL) && n * LONGER <= LONGEST);
	return 0;
}

/* The one whose rate is the median of all stays. */
static int several_draws(struct finder *f, unsigned draws, struct capacity *out)
{
	const size_t n = f->r->arrivals.n;
	double rate[CAPACITY_DRAWS];
	unsigned middle = 0;

	for (unsigned i = 0; i < draws; i++) {
		if (redraw(f, f->r->o->seed + i, n) < 0 || of_list(f, &f->r->arrivals) < 0 ||
		    find(f, CAPACITY_BOTH, &rate[i]) < 0)
			return -1;
		out->runs += f->n;
		out->low = fmin(out->low, rate[i]);
		out->high = fmax(out->high, rate[i]);
	}
	for (unsigned i = 0; i < draws; i++) {
		unsigned below = 0;

		for (unsigned k = 0; k < draws; k++)
			below += rate[k] < rate[i] || (rate[k] <= rate[i] && k < i);
		if (below == draws / 2)
			middle = i;
	}
	out->seed += middle;
	return redraw(f, out->seed, n);
}

static int find_all(struct finder *f, unsigned draws, struct capacity *out)
{
	const bool drawn = !f->r->o->requests;

	if (room(f, f->r->arrivals.n) < 0 || (drawn && draws && !f->r->o->n && long_enough(f, out) < 0) ||
	    (drawn && draws > 1 && several_draws(f, draws, out) < 0) || first_list(f, out) < 0 ||
	    of_list(f, &f->r->arrivals) < 0)
		return -1;
	at_rate(f, out->rate[CAPACITY_BOTH] > 0 ? out->rate[CAPACITY_BOTH] : f->least, f->r->arrivals.v);
	return 0;
}

int capacity_find(struct serve_run *r, unsigned draws, double near, struct capacity *out, struct err *e)
{
	struct finder *f = calloc(1, sizeof *f);
	int rc = -1;

	*out = (struct capacity){ .low = NAN, .high = NAN, .seed = r->o->seed };
	if (!f)
		return err_nomem(e, "for a list of requests");
	f->r = r;
	f->near = near > 0 ? near : FIRST;
	f->e = e;
	rc = find_all(f, draws, out);
	free(f->list.v);
	free(f);
	return rc;
}

double capacity_beside(const struct capacity *c)
{
	const double rate = c->rate[CAPACITY_BOTH];

	return rate > 0 && isfinite(c->above) ? c->above : isfinite(rate) ? rate : 0;
}

enum capacity_limit capacity_held_by(const struct capacity *c)
{
	const double t = c->rate[CAPACITY_TTFT], o = c->rate[CAPACITY_TPOT];

	return isinf(t) && isinf(o) ? CAPACITY_BOTH : t < o ? CAPACITY_TTFT : CAPACITY_TPOT;
}
