/* compare_doc_sums.c - runs side by side: totals, resources, energy; and the difference of two in sentences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/figure.h"
#include "sim/report/compare_doc_int.h"
#include "sim/report/kinds.h"
#include "sim/ui/units.h"

/* A name with a value of each run; NaN: it is not known. */
struct sum {
	const char *name, *unit;
	double v[COMPARE_DOC_MOST];
};

struct sums {
	const struct compare_showing *s;
	const struct sum *v;
	const char *name; /* of the first column */
	double most;      /* of all differences */
	int digits;
};

static double apart(const struct sum *x, size_t n)
{
	double most = 0;

	for (size_t k = 1; k < n; k++)
		if (isfinite(x->v[k] - x->v[0]))
			most = fmax(most, fabs(x->v[k] - x->v[0]));
	return most;
}

static void row(struct doc *d, const void *of, size_t i)
{
	const struct sums *x = of;
	const struct sum *r = d->heads ? NULL : &x->v[i];
	const size_t n = x->s->n;
	char title[40];

	doc_text(d, x->name, r->name);
	if (r ? r->unit != NULL : x->v[0].unit != NULL)
		doc_text(d, "unit", r->unit);
	if (d->format == OUT_JSON) {
		doc_open(d, "values", '[');
		for (size_t k = 0; k < n; k++)
			doc_real_if(d, NULL, x->digits, isfinite(r->v[k]), r->v[k]);
		doc_close(d, ']');
		return;
	}
	for (size_t k = 0; k < n; k++) {
		snprintf(title, sizeof title, "run %lld", (long long)x->s->runs[k]->run.id);
		doc_real_if(d, title, x->digits, isfinite(r->v[k]), r->v[k]);
	}
	if (n != 2)
		return;
	doc_real_if(d, "more", x->digits, isfinite(r->v[1] - r->v[0]), r->v[1] - r->v[0]);
	if (r && x->most > 0 && isfinite(r->v[1] - r->v[0]))
		doc_mark(d, OUT_PLAIN, (r->v[1] - r->v[0]) / x->most);
}

static void put(struct doc *d, const char *key, const char *title, struct sums *x, size_t n, bool bars)
{
	x->most = 0;
	for (size_t i = 0; bars && i < n; i++)
		x->most = fmax(x->most, apart(&x->v[i], x->s->n));
	if (n)
		doc_table(d, key, title, n, row, x);
	if (n)
		doc_say(d, "\n");
}

/* --- what is summed ------------------------------------------------------------------------------------------------- */

static const char *const names[] = { "latency_us", "energy_uj",   "power_w",   "area_mm2",
	                             "cost_usd",   "roofline_us", "dram_bytes" };
#define NAMES (sizeof names / sizeof *names)

static double figure_of(const char *name, const struct res_run *r)
{
	const struct figure *f = figure_named(name);
	const struct figure_value v = figure_value(f, &r->figures, NULL);

	if (strcmp(name, "power_w") == 0)
		return r->energy_fj ? (double)r->energy_fj / (double)r->total_ps / 1e3 : NAN;
	if (strcmp(name, "dram_bytes") == 0)
		return (double)(r->dram_read_bytes + r->dram_write_bytes) / 1e6;
	if (!v.known || (f->zero != FIGURE_ZERO && !(v.whole ? (double)v.n : v.x)))
		return NAN;
	return v.whole ? (double)v.n : v.x;
}

static size_t totals(const struct compare_showing *s, struct sum v[NAMES])
{
	static const char *const units[NAMES] = { "us", "uJ", "W", "mm2", "USD", "us", "MB" };
	size_t n = 0;

	for (size_t i = 0; i < NAMES; i++) {
		bool any = false;

		v[n] = (struct sum){ .name = names[i], .unit = units[i] };
		for (size_t k = 0; k < s->n; k++) {
			v[n].v[k] = figure_of(names[i], &s->runs[k]->run);
			any |= isfinite(v[n].v[k]);
		}
		n += any;
	}
	return n;
}

static struct sum *named(struct sum *v, size_t *n, size_t most, size_t runs, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(v[i].name, name) == 0)
			return &v[i];
	if (*n == most)
		return NULL;
	v[*n] = (struct sum){ .name = name };
	for (size_t k = 0; k < runs; k++)
		v[*n].v[k] = 0;
	return &v[(*n)++];
}

static int farthest(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;
	const double da = fabs(a->v[1] - a->v[0]), db = fabs(b->v[1] - b->v[0]);

	return da != db ? (da > db ? -1 : 1) : strcmp(a->name, b->name);
}

/* What of two differs most comes first. */
static size_t by_resource(const struct compare_showing *s, struct sum v[RES_COUNT])
{
	size_t n = 0;

	for (size_t k = 0; k < s->n; k++)
		for (size_t i = 0; i < s->runs[k]->run.n_resources; i++) {
			const struct res_resource *r = &s->runs[k]->run.resources[i];
			struct sum *x = r->stall_ps ? named(v, &n, RES_COUNT, s->n, r->name) : NULL;

			if (x)
				x->v[k] += unit_ps_us(r->stall_ps);
		}
	qsort(v, n, sizeof *v, farthest);
	return n;
}

#define BLOCKS 64
static size_t by_block(const struct compare_showing *s, struct sum v[BLOCKS])
{
	size_t n = 0;

	for (size_t k = 0; k < s->n; k++)
		for (size_t i = 0; i < s->runs[k]->run.n_energy; i++) {
			const struct res_energy *e = &s->runs[k]->run.energy[i];
			struct sum *x = named(v, &n, BLOCKS, s->n, e->block);

			if (x)
				x->v[k] += (double)e->fj / 1e9;
		}
	qsort(v, n, sizeof *v, farthest);
	return n;
}

void compare_doc_sums(struct doc *d, const struct compare_showing *s)
{
	struct sum v[BLOCKS];
	struct sums x = { .s = s, .v = v, .digits = 2 };
	size_t n = totals(s, v);

	x.name = "figure";
	put(d, "totals", "what each takes", &x, n, false);
	x.name = "resource";
	x.digits = 3;
	put(d, "by_resource", "by what was waited for, us", &x, by_resource(s, v), true);
	x.name = "block";
	x.digits = 1;
	put(d, "by_block", "energy by block, uJ", &x, by_block(s, v), true);
}

/* --- in sentences ---------------------------------------------------------------------------------------------------- */

#define SAME  0.002 /* of a time: a difference that is none */
#define WHOLE 1.05  /* a part of a difference that may be a share of it, roundings included */

static bool alike(ps_t a, ps_t b)
{
	return fabs((double)a - (double)b) <= SAME * (double)a;
}

static void say_ratio(const struct compare_ratios *r, struct str *s)
{
	const struct res_run *a = &r->s->runs[0]->run, *b = &r->s->runs[1]->run;
	const double times = b->total_ps ? (double)a->total_ps / (double)b->total_ps : 0;

	if (alike(a->total_ps, b->total_ps))
		str_addf(s, "run %lld takes as long as run %lld", (long long)b->id, (long long)a->id);
	else
		str_addf(s, "run %lld is %.3g times as fast as run %lld", (long long)b->id, times, (long long)a->id);
	if (r->v[1].low > 0 && !alike(a->total_ps, b->total_ps))
		str_addf(s, " (%.2g to %.2g, four times in five)", times * r->v[1].low, times * r->v[1].high);
	str_addf(s, ": %.4g us instead of %.4g", unit_ps_us(b->total_ps), unit_ps_us(a->total_ps));
}

/* What one part changes by. Where others go the other way it may be more than the difference: then it is no share of it. */
static void say_share(const struct sum *x, double all, const char *of, struct str *out)
{
	const double share = (x->v[1] - x->v[0]) / all;

	if (out->len)
		str_add(out, "; ");
	if (share >= 0 && share <= WHOLE)
		str_addf(out, "%.0f %% %s %s (%+.4g us)", 100 * share, of, x->name, x->v[1] - x->v[0]);
	else
		str_addf(out, "%s alone %+.4g us, which others make up for", x->name, x->v[1] - x->v[0]);
}

/* Which kind of op most of the difference is of. */
static void say_kind(const struct compare_showing *s, double all, struct str *out)
{
	struct kinds_row rows[OP_KINDS];
	struct sum v[OP_KINDS];
	size_t n = 0;

	for (size_t k = 0; k < 2; k++) {
		const size_t of = kinds_of(s->runs[k], rows);

		for (size_t i = 0; i < of; i++) {
			struct sum *x = named(v, &n, OP_KINDS, s->n, rows[i].name);

			if (x)
				x->v[k] += unit_ps_us(rows[i].span_ps);
		}
	}
	qsort(v, n, sizeof *v, farthest);
	if (n && v[0].v[1] != v[0].v[0])
		say_share(&v[0], all, "of the difference is in", out);
}

static void say_resource(const struct compare_showing *s, double all, struct str *out)
{
	struct sum v[RES_COUNT];

	if (by_resource(s, v) && v[0].v[1] != v[0].v[0])
		say_share(&v[0], all, "is time that was waited for", out);
}

static void say_price(const struct compare_showing *s, struct str *out)
{
	static const struct {
		const char *name, *unit;
		double per;
	} of[] = { { "energy_uj", "mJ", 1e3 }, { "power_w", "W", 1 }, { "area_mm2", "mm2", 1 } };

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		const double a = figure_of(of[i].name, &s->runs[0]->run) / of[i].per,
			     b = figure_of(of[i].name, &s->runs[1]->run) / of[i].per;

		if (isfinite(a) && isfinite(b))
			str_addf(out, "%s%.4g %s instead of %.4g", out->len ? ", " : "it takes ", b, of[i].unit, a);
	}
}

int compare_doc_said(const struct compare_ratios *r, struct str lines[COMPARE_DOC_SAID])
{
	const struct compare_showing *s = r->s;
	const double all = unit_ps_us(s->runs[1]->run.total_ps) - unit_ps_us(s->runs[0]->run.total_ps);
	int n = 0;

	say_ratio(r, &lines[n++]);
	if (!alike(s->runs[0]->run.total_ps, s->runs[1]->run.total_ps)) {
		say_kind(s, all, &lines[n]);
		say_resource(s, all, &lines[n]);
		n += lines[n].len > 0;
	}
	say_price(s, &lines[n]);
	return n + (lines[n].len > 0);
}
