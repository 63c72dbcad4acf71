#include "sim/report/points_doc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/sweep_view.h"
#include "sim/ui/units.h"

/* One number of every design; `has` says of which. */
struct row {
	const char *part, *name, *unit;
	double v[POINTS_DOC_MOST];
	bool has[POINTS_DOC_MOST];
	size_t place; /* in order of appearance */
};

struct rows {
	struct row *v;
	size_t n, cap;
	struct arena *a;
	int cols;
	const char *const *names; /* of the designs */
};

static struct row *points_doc_row_of(struct rows *t, const char *part, const char *name, const char *unit)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].part, part) == 0 && strcmp(t->v[i].name, name) == 0)
			return &t->v[i];
	if (t->n == t->cap) {
		const size_t cap = t->cap ? 2 * t->cap : 128;
		struct row *v = arena_array(t->a, cap, sizeof *v);

		if (!v)
			return NULL;
		if (t->n)
			memcpy(v, t->v, t->n * sizeof *v);
		t->v = v;
		t->cap = cap;
	}
	t->v[t->n] = (struct row){ .part = part, .name = name, .unit = unit, .place = t->n };
	return &t->v[t->n++];
}

static int points_doc_put(struct rows *t, int col, const char *part, const char *name, const char *unit, double value)
{
	struct row *r = points_doc_row_of(t, part, name, unit);

	if (!r)
		return -1;
	r->v[col] = value;
	r->has[col] = true;
	return 0;
}

static int put_point(struct rows *t, int col, const struct res_point *p)
{
	static const char *const totals[] = { "latency_us",       "roofline_us", "dram_read_bytes",
		                              "dram_write_bytes", "flops",       "cycles" };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof totals / sizeof *totals; i++) {
		const struct figure *f = figure_named(totals[i]);

		rc = points_doc_put(t, col, "total", f->name, f->unit, figure_value(f, &p->figures, NULL).x);
	}
	for (size_t i = 0; rc == 0 && i < p->n_kinds; i++)
		rc = points_doc_put(t, col, "kind", p->kinds[i].kind, "us", unit_ps_us(p->kinds[i].span_ps));
	for (size_t i = 0; rc == 0 && i < p->n_resources; i++)
		rc = points_doc_put(t, col, "stall", p->resources[i].name, "us", unit_ps_us(p->resources[i].stall_ps));
	for (size_t i = 0; rc == 0 && i < p->n_stats; i++)
		rc = points_doc_put(t, col, "statistic", p->stats[i].name, p->stats[i].unit, (double)p->stats[i].value);
	return rc;
}

/* --- tables ------------------------------------------------------------------------------------------------ */

/* How far a row's numbers are apart, of the largest. */
static double spread(const struct rows *t, const struct row *r)
{
	double least = r->v[0], most = r->v[0];

	for (int k = 1; k < t->cols; k++) {
		least = r->v[k] < least ? r->v[k] : least;
		most = r->v[k] > most ? r->v[k] : most;
	}
	return most > 0 ? (most - least) / most : 0;
}

static int by_first(const void *x, const void *y)
{
	const struct row *a = *(const struct row *const *)x, *b = *(const struct row *const *)y;

	if (a->v[0] != b->v[0])
		return a->v[0] > b->v[0] ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

struct spread {
	double by;
	const struct row *r;
};

static int by_spread(const void *x, const void *y)
{
	const struct spread *a = x, *b = y;

	if (a->by != b->by)
		return a->by > b->by ? -1 : 1;
	return a->r->place < b->r->place ? -1 : a->r->place > b->r->place;
}

static void numbers(struct doc *d, const struct rows *t, const struct row *r, int digits)
{
	for (int k = 0; k < t->cols; k++)
		doc_real_if(d, t->names[k], digits, r->has[k], r->v[k]);
}

/* Times of one part, longest in the first design first, with how many times the first is of the others. */
struct part {
	const struct rows *t;
	const char *head;
	const struct row **order;
};

static void part_row(struct doc *d, const void *of, size_t i)
{
	const struct part *x = of;
	const struct rows *t = x->t;
	const struct row *r = d->heads ? NULL : x->order[i];
	bool any = d->heads;

	for (int k = 0; r && k < t->cols; k++)
		any |= r->v[k] > 0;
	if (!any)
		return;
	doc_text(d, x->head, r->name);
	numbers(d, t, r, 3);
	for (int k = 1; k < t->cols; k++) {
		char ratio[80];

		snprintf(ratio, sizeof ratio, "%.30s/%.30s", t->names[0], t->names[k]);
		doc_real_if(d, ratio, 3, r->v[k] > 0, r->v[0] / r->v[k]);
	}
}

static int part_table(struct doc *d, const struct rows *t, const char *part, const char *head, const char *title)
{
	struct part x = { t, head, arena_array(t->a, t->n + 1, sizeof *x.order) };
	size_t n = 0;

	if (!x.order)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].part, part) == 0)
			x.order[n++] = &t->v[i];
	qsort(x.order, n, sizeof *x.order, by_first);
	doc_table(d, NULL, title, n, part_row, &x);
	doc_say(d, "\n");
	return 0;
}

struct statistics {
	const struct rows *t;
	struct spread *order;
};

static void statistic(struct doc *d, const void *of, size_t i)
{
	const struct statistics *x = of;
	const struct row *r = d->heads ? NULL : x->order[i].r;

	doc_text(d, "statistic", r->name);
	doc_text(d, "unit", r->unit);
	numbers(d, x->t, r, 0);
}

static int stats_table(struct doc *d, const struct rows *t, uint64_t top)
{
	struct statistics x = { t, arena_array(t->a, t->n + 1, sizeof *x.order) };
	size_t n = 0, shown = 0;

	if (!x.order)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].part, "statistic") == 0)
			x.order[n++] = (struct spread){ spread(t, &t->v[i]), &t->v[i] };
	qsort(x.order, n, sizeof *x.order, by_spread);
	while (shown < n && shown < top && x.order[shown].by > 0)
		shown++;
	doc_table(d, NULL, "statistics that differ most", shown, statistic, &x);
	return 0;
}

struct settings {
	const struct sweep_view *v;
	const struct res_point *const *p;
};

static void setting(struct doc *d, const void *of, size_t i)
{
	const struct settings *x = of;
	const struct res_point *p = x->p[i];

	doc_count(d, "point", p->point);
	for (size_t k = 0; k < x->v->head.n_axes; k++)
		doc_text(d, x->v->head.axes[k].key, p->values[k].text);
	doc_ps(d, "latency_us", 3, p->total_ps);
	doc_ps(d, "roofline_us", 3, p->roofline_ps);
	doc_text(d, "roofline", p->roofline_bound);
	doc_bytes(d, "dram_bytes", p->dram_read_bytes + p->dram_write_bytes);
}

/* For programs: all numbers. */
static void points_doc_number(struct doc *d, const void *of, size_t i)
{
	const struct rows *t = of;
	const struct row *r = &t->v[i];

	doc_text(d, "part", r->part);
	doc_text(d, "name", r->name);
	doc_text(d, "unit", r->unit);
	numbers(d, t, r, 3);
}

static int write_points(struct doc *d, const struct rows *t, const struct settings *x, uint64_t top)
{
	if (d->format != OUT_TABLE) {
		doc_table(d, NULL, NULL, t->n, points_doc_number, t);
		return 0;
	}
	doc_table(d, NULL, NULL, (size_t)t->cols, setting, x);
	doc_say(d, "\n");
	if (part_table(d, t, "kind", "kind", "by kind of op, us") < 0 ||
	    part_table(d, t, "stall", "resource", "by what held it back, us") < 0)
		return -1;
	return stats_table(d, t, top);
}

/* --- what is compared -------------------------------------------------------------------------------------- */

static const struct res_point *points_doc_find(const struct sweep_view *v, int64_t number, struct err *e)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct res_point *p = &v->points[i];

		if (p->point != (uint64_t)number)
			continue;
		if (!p->failed)
			return p;
		err_set(e, ERR_IO, "point %" PRId64 " failed: %s", number, p->reason);
		return NULL;
	}
	err_set(e, ERR_USAGE,
	        "sweep %" PRId64 " has no point %" PRId64 " yet: %zu of its %zu are there, numbered from 0", v->head.id,
	        number, v->n, v->head.n_points);
	return NULL;
}

int points_doc(struct doc *d, struct resdb *db, const struct points_doc *of, struct err *e)
{
	const struct res_point *p[POINTS_DOC_MOST];
	const char *names[POINTS_DOC_MOST];
	struct rows t = { .cols = of->n, .names = names };
	struct sweep_view v;
	int rc = sweep_view_open(&v, db, of->sweep, e);

	t.a = v.a;
	for (int k = 0; rc == 0 && k < of->n; k++) {
		if (!(p[k] = points_doc_find(&v, of->points[k], e)))
			rc = -1;
		else if (!(names[k] = arena_printf(v.a, "point %" PRId64, of->points[k])) || put_point(&t, k, p[k]) < 0)
			rc = err_nomem(e, "for the comparison");
	}
	if (rc == 0 && write_points(d, &t, &(struct settings){ &v, p }, of->top) < 0)
		rc = err_nomem(e, "for the comparison");
	sweep_view_free(&v);
	return rc;
}
