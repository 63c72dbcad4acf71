/* compare_points.c - npusim compare --sweep: designs of a sweep side by side. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/compare.h"
#include "sim/cli/sweep.h"

/* One number of every design; `has` says of which. */
struct row {
	const char *part, *name, *unit;
	double v[COMPARE_MAX];
	bool has[COMPARE_MAX];
	size_t place; /* in order of appearance */
};

struct rows {
	struct row *v;
	size_t n, cap;
	struct arena *a;
	int cols;
};

static struct row *row_of(struct rows *t, const char *part, const char *name, const char *unit)
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

static int put(struct rows *t, int col, const char *part, const char *name, const char *unit, double value)
{
	struct row *r = row_of(t, part, name, unit);

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

		rc = put(t, col, "total", f->name, f->unit, figure_value(f, &p->figures, NULL).x);
	}
	for (size_t i = 0; rc == 0 && i < p->n_kinds; i++)
		rc = put(t, col, "kind", p->kinds[i].kind, "us", cmd_ps_us(p->kinds[i].span_ps));
	for (size_t i = 0; rc == 0 && i < p->n_resources; i++)
		rc = put(t, col, "stall", p->resources[i].name, "us", cmd_ps_us(p->resources[i].stall_ps));
	for (size_t i = 0; rc == 0 && i < p->n_stats; i++)
		rc = put(t, col, "statistic", p->stats[i].name, p->stats[i].unit, (double)p->stats[i].value);
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

static void numbers(const struct rows *t, const struct row *r, struct out_table *o)
{
	for (int k = 0; k < t->cols; k++) {
		if (r->has[k])
			out_real(o, r->v[k]);
		else
			out_null(o);
	}
}

/* Times of one part, longest in the first design first, with how many times the first is of the others. */
static int part_table(const struct rows *t, const char *part, const char *head, const char *title,
                      const char *const *names, struct str *out)
{
	struct out_col cols[1 + 2 * COMPARE_MAX] = { { head, OUT_TEXT, 0 } };
	const struct row **order = arena_array(t->a, t->n + 1, sizeof *order);
	char ratio[COMPARE_MAX][80];
	struct out_table *o;
	size_t n = 0;
	int width = 1;

	if (!order)
		return -1;
	for (int k = 0; k < t->cols; k++)
		cols[width++] = (struct out_col){ names[k], OUT_REAL, 3 };
	for (int k = 1; k < t->cols; k++) {
		snprintf(ratio[k], sizeof ratio[k], "%.30s/%.30s", names[0], names[k]);
		cols[width++] = (struct out_col){ ratio[k], OUT_REAL, 3 };
	}
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].part, part) == 0)
			order[n++] = &t->v[i];
	qsort(order, n, sizeof *order, by_first);
	o = out_table_new(cols, width, title);
	for (size_t i = 0; i < n; i++) {
		bool any = false;

		for (int k = 0; k < t->cols; k++)
			any |= order[i]->v[k] > 0;
		if (!any)
			continue;
		out_text(o, order[i]->name);
		numbers(t, order[i], o);
		for (int k = 1; k < t->cols; k++) {
			if (order[i]->v[k] > 0)
				out_real(o, order[i]->v[0] / order[i]->v[k]);
			else
				out_null(o);
		}
	}
	out_table_write(o, OUT_TABLE, out);
	out_table_free(o);
	return 0;
}

static int stats_table(const struct rows *t, uint64_t top, const char *const *names, struct str *out)
{
	struct out_col cols[2 + COMPARE_MAX] = { { "statistic", OUT_TEXT, 0 }, { "unit", OUT_TEXT, 0 } };
	struct spread *order = arena_array(t->a, t->n + 1, sizeof *order);
	struct out_table *o;
	size_t n = 0;

	if (!order)
		return -1;
	for (int k = 0; k < t->cols; k++)
		cols[2 + k] = (struct out_col){ names[k], OUT_REAL, 0 };
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].part, "statistic") == 0)
			order[n++] = (struct spread){ spread(t, &t->v[i]), &t->v[i] };
	qsort(order, n, sizeof *order, by_spread);
	o = out_table_new(cols, 2 + t->cols, "statistics that differ most");
	for (size_t i = 0; i < n && i < top && order[i].by > 0; i++) {
		out_text(o, order[i].r->name);
		out_text(o, order[i].r->unit);
		numbers(t, order[i].r, o);
	}
	out_table_write(o, OUT_TABLE, out);
	out_table_free(o);
	return 0;
}

static int settings_table(const struct sweep_view *v, const struct res_point *const *p, int n, struct str *out)
{
	struct out_col *cols = arena_array(v->a, v->head.n_axes + 5, sizeof *cols);
	struct out_table *o;
	int width = 0;

	if (!cols)
		return -1;
	cols[width++] = (struct out_col){ "point", OUT_INT, 0 };
	for (size_t i = 0; i < v->head.n_axes; i++)
		cols[width++] = (struct out_col){ v->head.axes[i].key, OUT_TEXT, 0 };
	cols[width++] = (struct out_col){ "latency_us", OUT_REAL, 3 };
	cols[width++] = (struct out_col){ "roofline_us", OUT_REAL, 3 };
	cols[width++] = (struct out_col){ "roofline", OUT_TEXT, 0 };
	cols[width++] = (struct out_col){ "dram_bytes", OUT_BYTES, 0 };
	o = out_table_new(cols, width, NULL);
	for (int k = 0; k < n; k++) {
		out_int(o, (int64_t)p[k]->point);
		for (size_t i = 0; i < v->head.n_axes; i++)
			out_text(o, p[k]->values[i].text);
		out_real(o, cmd_ps_us(p[k]->total_ps));
		out_real(o, cmd_ps_us(p[k]->roofline_ps));
		out_text(o, p[k]->roofline_bound);
		out_int(o, (int64_t)(p[k]->dram_read_bytes + p[k]->dram_write_bytes));
	}
	out_table_write(o, OUT_TABLE, out);
	out_table_free(o);
	return 0;
}

static int everything(const struct rows *t, const char *const *names, enum out_format f, struct str *out)
{
	struct out_col cols[3 + COMPARE_MAX] = { { "part", OUT_TEXT, 0 },
		                                 { "name", OUT_TEXT, 0 },
		                                 { "unit", OUT_TEXT, 0 } };
	struct out_table *o;

	for (int k = 0; k < t->cols; k++)
		cols[3 + k] = (struct out_col){ names[k], OUT_REAL, 3 };
	o = out_table_new(cols, 3 + t->cols, NULL);
	for (size_t i = 0; i < t->n; i++) {
		out_text(o, t->v[i].part);
		out_text(o, t->v[i].name);
		out_text(o, t->v[i].unit);
		numbers(t, &t->v[i], o);
	}
	out_table_write(o, f, out);
	out_table_free(o);
	return 0;
}

/* --- what is compared -------------------------------------------------------------------------------------- */

static const struct res_point *find(const struct sweep_view *v, int64_t number, struct err *e)
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

int compare_points(struct resdb *db, const struct compare_designs *d, enum out_format f, struct str *out, struct err *e)
{
	const struct res_point *p[COMPARE_MAX];
	const char *names[COMPARE_MAX];
	struct rows t = { .cols = d->n };
	struct sweep_view v;
	int rc = sweep_view_open(&v, db, d->sweep, e);

	t.a = v.a;
	for (int k = 0; rc == 0 && k < d->n; k++) {
		if (!(p[k] = find(&v, d->points[k], e)))
			rc = -1;
		else if (!(names[k] = arena_printf(v.a, "point %" PRId64, d->points[k])) || put_point(&t, k, p[k]) < 0)
			rc = err_set(e, ERR_NOMEM, "no memory for the comparison");
	}
	if (rc == 0 && f != OUT_TABLE) {
		rc = everything(&t, names, f, out);
	} else if (rc == 0) {
		rc = settings_table(&v, p, d->n, out);
		str_addc(out, '\n');
		rc = rc < 0 ? rc : part_table(&t, "kind", "kind", "by kind of op, us", names, out);
		str_addc(out, '\n');
		rc = rc < 0 ? rc : part_table(&t, "stall", "resource", "by what held it back, us", names, out);
		str_addc(out, '\n');
		rc = rc < 0 ? rc : stats_table(&t, d->top, names, out);
	}
	if (rc < 0 && !e->kind)
		err_set(e, ERR_NOMEM, "no memory for the comparison");
	sweep_view_free(&v);
	return rc;
}
