#include "sim/report/sweep_again_doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static const struct res_point *sweep_again_doc_find(const struct sweep_view *v, uint64_t point)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->points[i].point == point)
			return &v->points[i];
	return NULL;
}

struct pair {
	const struct res_point *wide, *again;
};

static int fastest_first(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->again->total_ps != y->again->total_ps)
		return x->again->total_ps < y->again->total_ps ? -1 : 1;
	return x->again->point < y->again->point ? -1 : x->again->point > y->again->point;
}

static const char *const figures[] = { "analytic_us", "event_us", "apart_pct", "roofline_us" };
#define SHOWN_FIGURES (sizeof figures / sizeof *figures)

struct pairs {
	const struct sweep_view *v;
	const struct pair *p;
	struct expr_value **own; /* of the sweep's columns, by point; NULL: a figure or an axis of that name is there */
};

/* People have no room for the sweep's own columns. */
static bool is_own(const struct sweep *s, size_t c)
{
	bool there = strcmp(s->columns[c].name, "point") == 0;

	for (size_t i = 0; i < s->n_axes; i++)
		there |= strcmp(s->axes[i].key, s->columns[c].name) == 0;
	for (size_t i = 0; i < SHOWN_FIGURES; i++)
		there |= strcmp(figures[i], s->columns[c].name) == 0;
	for (size_t i = 0; i < c; i++)
		there |= strcmp(s->columns[i].name, s->columns[c].name) == 0;
	return !there;
}

static int own_values(struct sweep_view *v, bool wide, struct expr_value ***own, struct err *e)
{
	const struct sweep *s = v->s;

	if (!(*own = arena_array(v->a, s->n_columns + 1, sizeof **own)))
		return err_nomem(e, "for the table");
	for (size_t c = 0; wide && c < s->n_columns; c++)
		if (is_own(s, c) && sweep_view_values(v, s->columns[c].x, &(*own)[c], e) < 0)
			return -1;
	return 0;
}

static void pair(struct doc *d, const void *of, size_t i)
{
	const struct pairs *x = of;
	const struct sweep *s = x->v->s;
	const struct pair *p = &x->p[i];
	const double a = d->heads ? 0 : (double)p->wide->total_ps, b = d->heads ? 0 : (double)p->again->total_ps;

	doc_count(d, "point", p->again->point);
	for (size_t k = 0; k < s->n_axes; k++)
		doc_text(d, s->axes[k].key, p->again->values[k].text);
	doc_real(d, figures[0], 3, a / 1e6);
	doc_real(d, figures[1], 3, b / 1e6);
	doc_real(d, figures[2], 3, b > 0 ? 100 * (a - b) / b : 0);
	doc_real(d, figures[3], 3, (double)p->again->roofline_ps / 1e6);
	for (size_t c = 0; c < s->n_columns; c++)
		if (x->own[c]) {
			const struct expr_value *v = d->heads ? NULL : &x->own[c][p->again - x->v->points];

			doc_real_if(d, s->columns[c].name, 3, v->type == EXPR_NUMBER, v->number);
		}
}

static void say_apart(const struct sweep_view *wide, const struct pair *p, const double *apart, size_t n,
                      struct str *said)
{
	size_t least = 0;

	for (size_t i = 1; i < n; i++)
		if (p[i].wide->total_ps < p[least].wide->total_ps)
			least = i;
	str_addf(said,
	         "%zu of %zu points again with events: they are %.3f %% apart in the median, %.3f %% at p90, "
	         "%.3f %% at"
	         " most; the fastest is point %" PRIu64 " (analytic: point %" PRIu64 ")\n",
	         n, wide->n, apart[n / 2], apart[div_up(9 * n, 10) - 1], apart[n - 1], p[0].again->point,
	         p[least].again->point);
}

int sweep_again_doc(struct doc *d, struct sweep_view *wide, struct sweep_view *again, uint64_t rows, struct str *said,
                    struct err *e)
{
	struct pair *p = arena_array(again->a, again->n + 1, sizeof *p);
	double *apart = arena_array(again->a, again->n + 1, sizeof *apart);
	struct pairs x = { again, p, NULL };
	size_t n = 0;

	if (!p || !apart)
		return err_nomem(e, "for the table");
	if (own_values(again, d->format != OUT_TABLE, &x.own, e) < 0)
		return -1;
	for (size_t i = 0; i < again->n; i++) {
		const struct res_point *a = &again->points[i], *w = sweep_again_doc_find(wide, a->point);

		if (a->failed || !w || w->failed)
			continue;
		p[n] = (struct pair){ w, a };
		apart[n++] = fabs(100 * ((double)w->total_ps - (double)a->total_ps) /
		                  (double)(a->total_ps ? a->total_ps : 1));
	}
	qsort(p, n, sizeof *p, fastest_first);
	qsort(apart, n, sizeof *apart, by_size);
	doc_table(d, NULL, NULL, d->format == OUT_TABLE && rows < n ? (size_t)rows : n, pair, &x);
	if (n)
		say_apart(wide, p, apart, n, said);
	return 0;
}
