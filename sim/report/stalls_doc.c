#include "sim/report/stalls_doc.h"

#define REASONS_SHOWN 3

/* For people: its first reasons. */
static void brief(struct doc *d, const struct stalls_row *r)
{
	static const char *const place[REASONS_SHOWN] = { "first", "second", "third" };

	doc_text(d, "kernel", r->friendly);
	doc_count(d, "count", r->count);
	doc_ns(d, "us", 2, r->ns);
	for (size_t k = 0; k < REASONS_SHOWN; k++) {
		doc_real(d, "pct", 1, k < r->n ? r->share[k].pct : 0);
		doc_text(d, place[k], k < r->n ? r->share[k].reason : NULL);
	}
}

static void stalls_doc_members(struct doc *d, const struct stalls_row *r)
{
	doc_text(d, "name", r->name);
	doc_text(d, "friendly", r->friendly);
	doc_count(d, "count", r->count);
	doc_ns(d, "us", 2, r->ns);
	doc_open(d, "reasons_pct", '{');
	for (size_t i = 0; i < r->n; i++)
		doc_real(d, r->share[i].reason, 1, r->share[i].pct);
	doc_close(d, '}');
}

static void stalls_doc_kernel(struct doc *d, const void *of, size_t i)
{
	const struct stalls_row *r = (const struct stalls_row *)of + i;

	if (d->format == OUT_JSON)
		stalls_doc_members(d, r);
	else
		brief(d, r);
}

/* A reason over all kernels, with its meaning. */
static void reason(struct doc *d, const void *of, size_t i)
{
	const struct stalls_row *r = of;

	doc_text(d, "all kernels", r->share[i].reason);
	doc_real(d, "pct", 1, r->share[i].pct);
	doc_text(d, "what", stall_text(r->share[i].reason));
}

static void kernel_reason(struct doc *d, const void *of, size_t i)
{
	const struct stalls_row *r = of;

	doc_text(d, "name", r->name);
	doc_count(d, "count", r->count);
	doc_ns(d, "us", 3, r->ns);
	doc_text(d, "reason", r->share[i].reason);
	doc_real(d, "pct", 3, r->share[i].pct);
}

static void csv(struct doc *d, const struct stalls *s, size_t n)
{
	doc_table_open(d, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < s->v[i].n; k++)
			doc_row(d, kernel_reason, &s->v[i], k);
	doc_table_close(d, kernel_reason, &s->all);
}

void stalls_doc(struct doc *d, const struct stalls *s, size_t n)
{
	if (d->format == OUT_CSV) {
		csv(d, s, n);
		return;
	}
	doc_open(d, NULL, '{');
	if (d->format == OUT_JSON)
		doc_record(d, "all", stalls_doc_kernel, &s->all);
	else
		doc_table(d, NULL, NULL, s->all.n, reason, &s->all);
	doc_say(d, "\n");
	doc_table(d, "kernels", NULL, n, stalls_doc_kernel, s->v);
	doc_say_more(d, n, s->n);
	doc_close(d, '}');
}
