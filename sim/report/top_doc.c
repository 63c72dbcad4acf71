#include "sim/report/top_doc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ui/units.h"

#define NAME_SHOWN 60 /* a template's full name has hundreds of characters; csv and json have all of them */

struct view {
	const struct trace *t;
	const struct classify *c;
	const struct counters *counters;
	const uint64_t *sums_ns; /* of a kernel and of those above it */
};

static double share(const struct classify *c, uint64_t ns)
{
	return unit_pct((double)ns, (double)c->kernel_ns);
}

static double mean_us(uint64_t ns, uint64_t n)
{
	return n ? unit_us((int64_t)ns) / (double)n : 0;
}

/* With a range: how often it was entered; without: the trace's steps. */
static int64_t steps_of(const struct trace *t)
{
	int64_t n = 0;

	if (!t->range)
		return t->steps;
	for (size_t i = 0; i < t->n_ranges; i++)
		n += strcmp(t->ranges[i].name, t->range) == 0;
	return n ? n : 1; /* an annotation of the device alone is in no list */
}

/* Means over the launches of a name that Nsight Compute profiled. */
static void counted(struct doc *d, const struct view *x, const char *name)
{
	struct counted m;

	if (!x->counters || !counters_mean(x->counters, name, &m))
		return;
	doc_open(d, "counted", '{');
	for (int n = 0; n < COUNTERS_SHOWN; n++)
		doc_real(d, counter_name((enum counter)n), 0, m.v[n]);
	doc_close(d, '}');
}

static void top_doc_kernel(struct doc *d, const void *of, size_t i)
{
	const struct view *x = of;
	const struct classify_kernel *k = &x->c->kernels[i];

	doc_count(d, "rank", i + 1);
	if (d->format == OUT_JSON)
		doc_text(d, "name", k->name);
	doc_text(d, "friendly", k->friendly);
	doc_text(d, "library", k->library);
	doc_text(d, "family", k->family);
	doc_count(d, "count", k->count);
	doc_ns(d, "total_us", 3, k->total_ns);
	doc_real(d, "mean_us", 3, mean_us(k->total_ns, k->count));
	doc_ns(d, "longest_us", 3, k->longest_ns);
	doc_real(d, "share_pct", 2, share(x->c, k->total_ns));
	doc_real(d, d->format == OUT_JSON ? "cumulative_pct" : "cum_pct", 2, share(x->c, x->sums_ns[i]));
	if (d->format == OUT_JSON)
		counted(d, x, k->name);
	else
		doc_name(d, "name", NAME_SHOWN, k->name);
}

static void family(struct doc *d, const void *of, size_t i)
{
	const struct view *x = of;
	const struct classify_family *f = &x->c->families[i];

	doc_text(d, "family", f->name);
	doc_count(d, "count", f->count);
	doc_ns(d, "total_us", 3, f->total_ns);
	if (d->format != OUT_JSON)
		doc_real(d, "mean_us", 3, mean_us(f->total_ns, f->count));
	doc_real(d, "share_pct", 2, share(x->c, f->total_ns));
}

static void copy(struct doc *d, const void *of, size_t i)
{
	const struct view *x = of;
	const struct classify_copy *k = &x->c->copies[i];

	doc_text(d, d->format == OUT_JSON ? "kind" : "copies and sets", k->name);
	doc_count(d, "count", k->count);
	doc_ns(d, "total_us", 3, k->total_ns);
	doc_bytes(d, "bytes", k->bytes);
}

static void counted_row(struct doc *d, const void *of, size_t i)
{
	const struct view *x = of;
	struct counted m;

	if (!d->heads && !counters_mean(x->counters, x->c->kernels[i].name, &m))
		return;
	doc_count(d, "rank", i + 1);
	doc_text(d, "friendly", x->c->kernels[i].friendly);
	doc_real(d, "sm_pct", 2, m.v[COUNTER_SM_PCT]);
	doc_real(d, "dram_pct", 2, m.v[COUNTER_DRAM_PCT]);
	doc_real(d, "gbps", 1, m.v[COUNTER_MEM_GBS]);
	doc_real(d, "l2_hit_pct", 2, m.v[COUNTER_L2_HIT_PCT]);
	doc_real(d, "occupancy_pct", 2, m.v[COUNTER_OCCUPANCY_PCT]);
	doc_real(d, "profiled_us", 3, m.v[COUNTER_DURATION_US]);
}

static void say_counted(struct doc *d, const struct view *x, size_t n)
{
	uint64_t ns = 0;
	struct counted m;

	if (!x->counters || d->format != OUT_TABLE)
		return;
	for (size_t i = 0; i < x->c->n_kernels; i++)
		ns += counters_mean(x->counters, x->c->kernels[i].name, &m) ? x->c->kernels[i].total_ns : 0;
	doc_say(d, "\n");
	doc_table(d, NULL, "counted by Nsight Compute: means over a name's profiled launches", n, counted_row, x);
	doc_say(d, "(names with counters take %.2f %% of the kernel time)\n", share(x->c, ns));
}

static void head(struct doc *d, const struct view *x)
{
	const struct trace *t = x->t;
	const struct classify *c = x->c;

	doc_text(d, "range", t->range);
	doc_ns(d, "total_us", 3, c->kernel_ns);
	doc_count(d, "kernel_count", c->kernel_count);
	doc_count(d, "aggregated_count", c->stat_count);
	doc_count_if(d, "step_count", t->n_grouped, (uint64_t)steps_of(t));
	doc_count(d, "name_count", c->n_kernels);
	doc_say(d, "%s%s%s%" PRIu64 " kernels of %zu names in %.3f us", t->range ? "range " : "",
	        t->range ? t->range : "", t->range ? ": " : "", c->kernel_count, c->n_kernels,
	        unit_us((int64_t)c->kernel_ns));
	if (t->n_grouped)
		doc_say(d, ", %lld steps", (long long)steps_of(t));
	doc_say(d, "; shares are of kernel time\n");
	if (c->stat_count)
		doc_say(d,
		        "%" PRIu64
		        " of the kernels come from an aggregated profile: how often and how long is known, in"
		        " which order and with which shapes is not\n",
		        c->stat_count);
	doc_say(d, "\n");
}

static void put(struct doc *d, const struct view *x, size_t n)
{
	const struct classify *c = x->c;

	doc_open(d, NULL, '{');
	head(d, x);
	doc_table(d, "kernels", NULL, n, top_doc_kernel, x);
	doc_say_more(d, n, c->n_kernels);
	say_counted(d, x, n);
	doc_say(d, "\n");
	doc_table(d, "families", "families", c->n_families, family, x);
	doc_open(d, "copies", '{');
	doc_count(d, "count", c->copy_count);
	doc_ns(d, "total_us", 3, c->copy_ns);
	doc_count(d, "bytes", c->copy_bytes);
	if (c->n_copies || d->format == OUT_JSON) {
		doc_say(d, "\n");
		doc_table(d, "kinds", NULL, c->n_copies, copy, x);
	}
	doc_close(d, '}');
	doc_close(d, '}');
}

/* --- order ---------------------------------------------------------------------------------------------------------- */

struct ranked {
	struct sums_value v;
	enum sums_order order;
	struct classify_kernel k;
};

static int by_rank(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return sums_compare(a->order, &a->v, &b->v);
}

static int sort_kernels(struct classify *c, enum sums_order order, struct arena *a, struct err *e)
{
	struct ranked *v = arena_array(a, c->n_kernels + 1, sizeof *v);

	if (!v)
		return err_nomem(e, "for the table of kernels");
	for (size_t i = 0; i < c->n_kernels; i++) {
		const struct classify_kernel *k = &c->kernels[i];

		v[i] = (struct ranked){ { k->name, k->count, k->total_ns, k->longest_ns }, order, *k };
	}
	qsort(v, c->n_kernels, sizeof *v, by_rank);
	for (size_t i = 0; i < c->n_kernels; i++)
		c->kernels[i] = v[i].k;
	return 0;
}

int top_doc(struct doc *d, const struct top_doc *v, struct err *e)
{
	uint64_t *sums_ns = arena_array(v->a, v->c->n_kernels + 1, sizeof *sums_ns), sum = 0;

	if (!sums_ns)
		return err_nomem(e, "for the table of kernels");
	if (v->order != SUMS_TOTAL && sort_kernels(v->c, v->order, v->a, e) < 0)
		return -1;
	for (size_t i = 0; i < v->c->n_kernels; i++)
		sums_ns[i] = sum += v->c->kernels[i].total_ns;
	put(d, &(struct view){ v->t, v->c, v->counters, sums_ns }, v->n);
	return 0;
}
