/* simulated.c - profiled launches found in a simulated stream, and sums by kernel. */
#include "sim/profile/simulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/profile/classify.h"
#include "sim/profile/waves.h"

enum counter simulated_counter(enum simulated_metric m)
{
	static const enum counter of[SIM_METRICS] = {
		[SIM_US] = COUNTER_DURATION_US,          [SIM_READ] = COUNTER_READ,
		[SIM_WRITTEN] = COUNTER_WRITTEN,         [SIM_HIT] = COUNTER_L2_HIT_PCT,
		[SIM_OCCUPANCY] = COUNTER_OCCUPANCY_PCT,
	};

	return of[m];
}

bool simulated_is_percent(enum simulated_metric m)
{
	return m == SIM_HIT || m == SIM_OCCUPANCY;
}

double simulated_error(const struct simulated_sum *s, enum simulated_metric m)
{
	if (!s->n)
		return NAN;
	if (simulated_is_percent(m))
		return (s->simulated - s->counted) / (double)s->n;
	if (m != SIM_US && s->counted < SIMULATED_LEAST)
		return NAN;
	return s->counted > 0 ? 100 * (s->simulated - s->counted) / s->counted : NAN;
}

double simulated_absolute(const struct simulated_sum *s)
{
	return s->n_errors ? s->absolute / (double)s->n_errors : NAN;
}

/* --- one launch -------------------------------------------------------------------------------------------- */

static void simulated_add(struct simulated_sum *s, enum simulated_metric m, double counted, double simulated)
{
	const bool small = (m == SIM_READ || m == SIM_WRITTEN) && counted < SIMULATED_LEAST;

	if (isnan(counted) || isnan(simulated))
		return;
	s->n++;
	s->counted += counted;
	s->simulated += simulated;
	if (simulated_is_percent(m)) {
		s->n_errors++;
		s->absolute += fabs(simulated - counted);
	} else if (counted > 0 && !small) {
		s->n_errors++;
		s->absolute += 100 * fabs(simulated - counted) / counted;
	}
}

static double of_model(enum simulated_metric m, const struct gpu_launch *l, const struct gpu *g, double occupancy)
{
	const double asked = (double)l->mem.read + (double)l->mem.write;

	switch (m) {
	case SIM_US:
		return (double)gpu_time(g, l).total / 1e6;
	case SIM_READ:
		return (double)(l->mem.read - l->mem.read_hit);
	case SIM_WRITTEN:
		return (double)l->mem.write_back;
	case SIM_HIT:
		return asked > 0 ? 100 * ((double)l->mem.read_hit + (double)l->mem.write) / asked : NAN;
	default:
		return occupancy;
	}
}

struct join {
	int64_t id;
	const struct gpu_launch *l;
};
static int by_id(const void *x, const void *y)
{
	const struct join *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* A profiled launch, and which of the trace came to it; the first of them counts. */
struct pair {
	const struct counted *x;
	size_t launch;
};
static int by_profiled(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return a->launch < b->launch ? -1 : a->launch > b->launch;
}
static int by_launch(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	return a->launch < b->launch ? -1 : a->launch > b->launch;
}

static size_t find_pairs(const struct trace *t, struct counters *c, struct pair *v)
{
	const bool lend = counters_lend(c);
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];
		const struct counted *x;

		if (l->kind != TRACE_KERNEL || (lend && counters_own(c, l->id)))
			continue;
		if ((x = counters_next(c, l)))
			v[n++] = (struct pair){ x, i };
	}
	qsort(v, n, sizeof *v, by_profiled);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i].x != v[i - 1].x)
			v[kept++] = v[i];
	qsort(v, kept, sizeof *v, by_launch);
	return kept;
}

/* --- by kernel --------------------------------------------------------------------------------------------- */

static struct simulated_row *simulated_row_of(struct simulated *s, const struct trace_launch *l, struct rules *rules,
                                              struct arena *a)
{
	const struct rule *rule = rules_match(rules, l);
	struct simulated_row *r = s->v;

	while (r < s->v + s->n && strcmp(r->name, l->name) != 0)
		r++;
	if (r < s->v + s->n)
		return r;
	s->n++;
	r->name = l->name;
	r->friendly = rule && rule->friendly && *rule->friendly ? rule->friendly : classify_short_name(l->name, a);
	return r->friendly ? r : NULL;
}

static int simulated_by_time(const void *x, const void *y)
{
	const struct simulated_row *a = x, *b = y;

	return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : strcmp(a->name, b->name);
}

int simulated_of(const struct trace *t, struct counters *c, const struct gpu_work *w, const struct gpu *g,
                 const struct roof *r, struct rules *rules, struct arena *a, struct simulated *out, struct err *e)
{
	struct pair *pairs = arena_array(a, t->n_launches + 1, sizeof *pairs);
	struct join *ids = arena_array(a, w->n + 1, sizeof *ids);
	size_t n;

	*out = (struct simulated){ .all = { .name = "all", .friendly = "all" } };
	if (!c)
		return err_set(
			e, ERR_IO,
			"'%s' has no counters: import Nsight Compute's file of the same program into it, taken with"
			" 'ncu --csv --page raw --cache-control none --clock-control none'",
			t->path);
	if (!pairs || !ids)
		return err_nomem(e, "for the counters");
	for (size_t i = 0; i < w->n; i++)
		ids[i] = (struct join){ w->launches[i].at->trace_id, &w->launches[i] };
	qsort(ids, w->n, sizeof *ids, by_id);
	n = find_pairs(t, c, pairs);
	if (!(out->v = arena_array(a, n + 1, sizeof *out->v)))
		return err_nomem(e, "for the counters");
	for (size_t i = 0; i < n; i++) {
		const struct trace_launch *l = &t->launches[pairs[i].launch];
		const struct join want = { .id = l->id };
		const struct join *at = bsearch(&want, ids, w->n, sizeof *ids, by_id);
		struct simulated_row *row;
		double occupancy;

		out->profiled++;
		if (!at || at->l->op->kind == OP_OPAQUE) {
			out->opaque++;
			continue;
		}
		if (!(row = simulated_row_of(out, l, rules, a)))
			return err_nomem(e, "for the counters");
		occupancy = waves_of(r, l).active;
		row->count++;
		row->ns += (uint64_t)l->dur_ns;
		out->all.count++;
		out->all.ns += (uint64_t)l->dur_ns;
		for (int m = 0; m < SIM_METRICS; m++) {
			const enum simulated_metric k = (enum simulated_metric)m;
			const double counted = pairs[i].x->v[simulated_counter(k)],
				     got = of_model(k, at->l, g, occupancy);

			simulated_add(&row->m[m], k, counted, got);
			simulated_add(&out->all.m[m], k, counted, got);
		}
	}
	if (!out->all.count)
		return err_set(
			e, ERR_IO,
			"none of the kernels in '%s' has counters of a kernel of its name, grid and block that is"
			" modelled",
			t->path);
	qsort(out->v, out->n, sizeof *out->v, simulated_by_time);
	return 0;
}
