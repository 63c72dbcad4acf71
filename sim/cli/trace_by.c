/* trace_by.c - kernels summed by op, layer, stream or family. */
#include "sim/cli/trace_by.h"

#include <inttypes.h>
#include <stdlib.h>

struct ranked {
	struct sums_value v;
	enum sums_order order;
	const struct sums_row *row;
};

static int by_rank(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return sums_compare(a->order, &a->v, &b->v);
}

static const char *shown(const struct sums_row *r)
{
	return *r->key ? r->key : "(no framework op)";
}

struct view {
	const struct sums *s;
	struct ranked *v;
	uint64_t *sum_ns; /* of a row and of those above it */
};

static void row(struct doc *d, const void *of, size_t i)
{
	const struct view *x = of;
	const struct sums_row *r = x->v[i].row;
	const bool json = d->format == OUT_JSON;

	doc_count(d, "rank", i + 1);
	doc_text(d, "key", json ? r->key : shown(r));
	doc_count(d, "count", r->count);
	doc_ns(d, "total_us", 3, r->ns);
	doc_real(d, "mean_us", 3, cmd_us((int64_t)r->ns) / (double)r->count);
	doc_ns(d, "longest_us", 3, r->longest_ns);
	doc_real(d, "share_pct", 2, cmd_pct((double)r->ns, (double)x->s->ns));
	doc_real(d, "cumulative_pct", 2, cmd_pct((double)x->sum_ns[i], (double)x->s->ns));
	doc_text(d, json ? "family" : "most", r->family);
}

static void show(struct doc *d, const struct trace *t, const struct view *x, size_t n)
{
	doc_open(d, NULL, '{');
	doc_text(d, "range", t->range);
	doc_ns(d, "total_us", 3, x->s->ns);
	doc_count(d, "kernel_count", x->s->count);
	doc_say(d, "%s%s%s%" PRIu64 " kernels in %.3f us; most: the family that most of a row's time went to\n\n",
	        t->range ? "range " : "", t->range ? t->range : "", t->range ? ": " : "", x->s->count,
	        cmd_us((int64_t)x->s->ns));
	doc_table(d, "rows", NULL, n, row, x);
	cmd_say_more(d, n, x->s->n);
	doc_close(d, '}');
}

int trace_by(const char *path, const struct trace_by *o, struct doc *d, struct err *e)
{
	struct measured t = { 0 };
	struct sums s;
	struct view x = { .s = &s };
	uint64_t sum = 0;
	int rc = -1;

	if (cmd_measured((struct measured_from){ .path = path, .range = o->range, .rules = o->rules ? o->rules : "" },
	                 &t, e) < 0 ||
	    sums_of(&t.trace, o->by, o->filter, t.rules, t.arena, &s, e) < 0)
		goto out;
	x.v = arena_array(t.arena, s.n + 1, sizeof *x.v);
	x.sum_ns = arena_array(t.arena, s.n + 1, sizeof *x.sum_ns);
	if (!x.v || !x.sum_ns) {
		err_nomem(e, "for the sums");
		goto out;
	}
	for (size_t i = 0; i < s.n; i++)
		x.v[i] =
			(struct ranked){ { s.v[i].key, s.v[i].count, s.v[i].ns, s.v[i].longest_ns }, o->sort, &s.v[i] };
	if (o->sort != SUMS_TOTAL)
		qsort(x.v, s.n, sizeof *x.v, by_rank);
	for (size_t i = 0; i < s.n; i++)
		x.sum_ns[i] = sum += x.v[i].row->ns;
	show(d, &t.trace, &x, cmd_first(o->n, s.n));
	rc = 0;
out:
	measured_free(&t);
	return rc;
}
