#include "sim/report/gaps_doc.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/profile/classify.h"
#include "sim/ui/units.h"

#define STREAMS_SHOWN 4
#define NAME_SHOWN    26

struct view {
	const struct trace *t;
	const struct gaps *g;
	struct arena *a;
	const struct gap **order;
};

static double pct(const struct view *v, int64_t ns)
{
	return unit_pct((double)ns, (double)v->g->span_ns);
}

/* --- sums ---------------------------------------------------------------------------------------------------------- */

static void say_head(struct doc *d, const struct view *v)
{
	const struct gaps *g = v->g;

	doc_say(d, "%s%s%sbusy %.1f %% of %.3f us\n", v->t->range ? "range " : "", v->t->range ? v->t->range : "",
	        v->t->range ? ": " : "", pct(v, g->kernel_ns + g->other_ns), unit_us(g->span_ns));
	doc_say(d, "kernels %.3f us, copies and sets alone %.3f us, idle %.3f us\n", unit_us(g->kernel_ns),
	        unit_us(g->other_ns), unit_us(g->idle_ns));
	doc_say(d, "%zu gaps, median %.3f us\n", g->n, unit_us(g->median_ns));
	if (g->calls)
		doc_say(d, "calls take the host %.3f us; the median launch starts %.3f us behind its call\n",
		        unit_us(g->call_ns), unit_us(g->lead_ns));
	else
		doc_say(d, "the profile has no calls, so causes are not known\n");
	if (v->t->wall_ns >= 0)
		doc_say(d, "wall without a profiler %.3f us: busy %.1f %% of that\n", unit_us(v->t->wall_ns),
		        unit_pct((double)(g->kernel_ns + g->other_ns), (double)v->t->wall_ns));
	else
		doc_say(d, "a profiler makes calls slower, and so these gaps longer ('--wall' of the import says how"
		           " much)\n");
	doc_say(d, "\n");
}

static void gaps_doc_sums(struct doc *d, const struct view *v)
{
	const struct gaps *g = v->g;

	doc_text(d, "range", v->t->range);
	doc_count(d, "device_count", g->devices);
	doc_count(d, "kernel_count", g->kernels);
	doc_count(d, "copy_count", g->others);
	doc_ns(d, "span_us", 3, g->span_ns);
	doc_ns(d, "kernel_busy_us", 3, g->kernel_ns);
	doc_ns(d, "copy_busy_us", 3, g->other_ns);
	doc_ns(d, "idle_us", 3, g->idle_ns);
	doc_real(d, "busy_pct", 1, pct(v, g->kernel_ns + g->other_ns));
	doc_ns(d, "overlap_us", 3, g->overlap_ns);
	doc_ns(d, "between_us", 3, g->between_ns);
	doc_count(d, "gap_count", g->n);
	doc_ns(d, "median_us", 3, g->median_ns);
	doc_count(d, "call_count", g->calls);
	doc_ns(d, "call_us", 3, g->call_ns);
	doc_ns(d, "lead_us", 3, g->lead_ns);
	doc_real_if(d, "wall_us", 3, v->t->wall_ns >= 0, unit_us(v->t->wall_ns));
}

/* --- rows ---------------------------------------------------------------------------------------------------------- */

/* People see those that occur. */
static void cause(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct gap_sum *s = &v->g->cause[i];
	const bool json = d->format == OUT_JSON;

	if (!json && !d->heads && !s->ns)
		return;
	doc_text(d, json ? "cause" : "idle by cause", gap_cause_name((enum gap_cause)i));
	doc_count(d, "gaps", s->count);
	doc_ns(d, "us", 3, s->ns);
	doc_real(d, "span_pct", 1, pct(v, s->ns));
	if (!json)
		doc_text(d, "what", gap_cause_text((enum gap_cause)i));
}

static void stream(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct gap_stream *s = &v->g->streams[i];
	const bool json = d->format == OUT_JSON;

	if (!json)
		doc_int(d, "stream", s->stream);
	doc_int(d, "device", s->device);
	if (json)
		doc_int(d, "stream", s->stream);
	doc_count(d, "kernels", s->kernels);
	doc_count(d, "copies", s->others);
	doc_ns(d, "busy_us", 3, s->busy_ns);
	if (!json)
		doc_real(d, "span_pct", 1, pct(v, s->busy_ns));
	doc_ns(d, "alone_us", 3, s->alone_ns);
}

static void bin_members(struct doc *d, const struct gap_bin *x)
{
	doc_ns(d, "from_us", 3, x->from_ns);
	doc_real_if(d, "to_us", 3, x->to_ns != INT64_MAX, unit_us(x->to_ns));
	doc_count(d, "gaps", x->count);
	doc_ns(d, "us", 3, x->ns);
}

/* For people those that occur, with a bar. */
static void bin(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct gap_bin *x = &v->g->bin[i];
	const int bar = (int)(40 * unit_pct((double)x->ns, (double)v->g->idle_ns) / 100 + 0.5);
	char length[64], part[48];

	if (d->format == OUT_JSON) {
		bin_members(d, x);
		return;
	}
	if (!d->heads && !x->count)
		return;
	if (x->to_ns == INT64_MAX)
		snprintf(length, sizeof length, "%g us and more", unit_us(x->from_ns));
	else
		snprintf(length, sizeof length, "%g to %g us", unit_us(x->from_ns), unit_us(x->to_ns));
	snprintf(part, sizeof part, "%.*s", bar ? bar : 1, "########################################");
	doc_text(d, "gap", length);
	doc_count(d, "gaps", x->count);
	doc_ns(d, "us", 3, x->ns);
	doc_text(d, "of_idle", part);
}

static void name(struct doc *d, const char *key, const struct view *v, const struct trace_launch *l)
{
	const char *brief = d->format == OUT_TABLE && !d->heads ? classify_short_name(l->name, v->a) : NULL;

	doc_name(d, key, NAME_SHOWN, brief ? brief : l->name);
}

static void gap(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct gap *x = d->heads ? NULL : v->order[i];

	doc_ns(d, "at_us", 3, x->start_ns);
	doc_ns(d, "gap_us", 3, x->ns);
	doc_text(d, "cause", gap_cause_name(x->cause));
	doc_int(d, "device", x->end->device);
	doc_int(d, "stream", x->end->stream);
	doc_text(d, "op", x->end->op ? x->end->op->name : d->format == OUT_JSON ? NULL : "");
	name(d, "behind", v, d->heads ? NULL : x->before);
	name(d, "kernel", v, d->heads ? NULL : x->end);
}

/* --- the document -------------------------------------------------------------------------------------------------- */

static int by_length(const void *x, const void *y)
{
	const struct gap *const *a = x, *const *b = y;

	if ((*a)->ns != (*b)->ns)
		return (*a)->ns > (*b)->ns ? -1 : 1;
	return (*a)->start_ns < (*b)->start_ns ? -1 : (*a)->start_ns > (*b)->start_ns;
}

static void streams(struct doc *d, const struct view *v)
{
	const size_t all = v->g->n_streams, n = d->format == OUT_JSON || all < STREAMS_SHOWN ? all : STREAMS_SHOWN;

	doc_table(d, "streams", NULL, n, stream, v);
	if (n < all)
		doc_say(d, "(%zu more; json has all)\n", all - n);
	doc_say(d, "\n");
}

int gaps_doc(struct doc *d, const struct gaps_doc *of, struct err *e)
{
	const size_t all = of->g->n, n = of->longest < all ? (size_t)of->longest : all;
	struct view v = { of->t, of->g, of->a, arena_array(of->a, all + 1, sizeof *v.order) };

	if (!v.order)
		return err_nomem(e, "for the gaps");
	for (size_t i = 0; i < all; i++)
		v.order[i] = &of->g->v[i];
	if (d->format == OUT_CSV) {
		doc_table(d, NULL, NULL, all, gap, &v);
		return 0;
	}
	qsort(v.order, all, sizeof *v.order, by_length);
	doc_open(d, NULL, '{');
	say_head(d, &v);
	gaps_doc_sums(d, &v);
	doc_table(d, "causes", NULL, GAP_CAUSES, cause, &v);
	doc_say(d, "\n");
	streams(d, &v);
	doc_table(d, "histogram", NULL, GAP_BINS, bin, &v);
	doc_say(d, "\n");
	doc_table(d, "longest", NULL, n, gap, &v);
	doc_close(d, '}');
	return 0;
}
