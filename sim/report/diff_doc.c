#include "sim/report/diff_doc.h"

#include <inttypes.h>
#include <math.h>

#include "sim/ui/units.h"

#define NAME_SHOWN 60

static double mean_us(const struct diff_pair *p, int k)
{
	return p->count[k] ? (double)p->ns[k] / 1e3 / (double)p->count[k] : NAN;
}

static void pair(struct doc *d, const void *of, size_t i)
{
	const struct diff_pair *p = (const struct diff_pair *)of + i;
	const bool json = d->format == OUT_JSON;

	if (json) {
		doc_text(d, "name", p->name);
		if (p->friendly)
			doc_text(d, "friendly", p->friendly);
	}
	doc_count(d, "count_a", p->count[0]);
	doc_count(d, "count_b", p->count[1]);
	doc_ns(d, "a_us", 3, p->ns[0]);
	doc_ns(d, "b_us", 3, p->ns[1]);
	doc_ns(d, "delta_us", 3, diff_ns(p));
	doc_real_if(d, json ? "ratio" : "b/a", 3, p->ns[0] && p->ns[1], (double)p->ns[1] / (double)p->ns[0]);
	if (json)
		return;
	doc_real(d, "mean_a_us", 3, mean_us(p, 0));
	doc_real(d, "mean_b_us", 3, mean_us(p, 1));
}

static void diff_doc_kernel(struct doc *d, const void *of, size_t i)
{
	const struct diff_pair *p = (const struct diff_pair *)of + i;

	if (d->format != OUT_JSON)
		doc_text(d, "kernel", p->friendly);
	pair(d, of, i);
	if (d->format != OUT_JSON)
		doc_name(d, "name", NAME_SHOWN, p->name);
}

static void family(struct doc *d, const void *of, size_t i)
{
	if (d->format != OUT_JSON)
		doc_text(d, "family", ((const struct diff_pair *)of)[i].name);
	pair(d, of, i);
}

static const char *device(const struct diff_side *s)
{
	return s->t->n_devices ? s->t->devices[0].name : NULL;
}

static void side(struct doc *d, const char *key, const struct diff_side *s)
{
	doc_open(d, key, '{');
	doc_text(d, "device", device(s));
	doc_text(d, "range", s->t->range);
	doc_count(d, "kernel_count", s->c->kernel_count);
	doc_ns(d, "total_us", 3, s->c->kernel_ns);
	doc_close(d, '}');
}

static void say_sides(struct doc *d, const struct diff_side s[2], const struct diff_pairs *k)
{
	uint64_t only[2] = { 0, 0 };

	for (size_t i = 0; i < k->n; i++)
		for (int x = 0; x < 2; x++)
			only[x] += k->v[i].count[!x] ? 0 : k->v[i].ns[x];
	for (int i = 0; i < 2; i++)
		doc_say(d, "%s: %s%s%s, %" PRIu64 " kernels in %.3f us; names that only %s has: %.2f %% of its time\n",
		        i ? "B" : "A", device(&s[i]) ? device(&s[i]) : "unknown device",
		        s[i].t->range ? ", range " : "", s[i].t->range ? s[i].t->range : "", s[i].c->kernel_count,
		        (double)s[i].c->kernel_ns / 1e3, i ? "B" : "A",
		        unit_pct((double)only[i], (double)s[i].c->kernel_ns));
	doc_say(d, "B takes %.3f us %s (b/a %.3f)\n\n",
	        fabs((double)s[1].c->kernel_ns - (double)s[0].c->kernel_ns) / 1e3,
	        s[1].c->kernel_ns < s[0].c->kernel_ns ? "less" : "more",
	        s[0].c->kernel_ns ? (double)s[1].c->kernel_ns / (double)s[0].c->kernel_ns : 0);
}

void diff_doc(struct doc *d, const struct diff_side s[2], const struct diff *x, size_t n)
{
	doc_open(d, NULL, '{');
	side(d, "a", &s[0]);
	side(d, "b", &s[1]);
	say_sides(d, s, &x->kernels);
	if (d->format != OUT_CSV) /* which has the kernels */
		doc_table(d, "families", NULL, x->families.n, family, x->families.v);
	doc_say(d, "\n");
	doc_table(d, "kernels", NULL, n, diff_doc_kernel, x->kernels.v);
	doc_say_more(d, n, x->kernels.n);
	doc_close(d, '}');
}
