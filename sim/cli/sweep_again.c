/* sweep_again.c - the promising points of a wide sweep, once more with events: which they are, and what changed.
 *
 * Promising are the feasible points that the fewest others dominate over the sweep's objectives: the front first, then
 * what lies behind it. With one objective that is the order it gives. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/sweep.h"

#define PPM 1000000u

/* --- which ------------------------------------------------------------------------------------------------- */

struct candidate {
	const double *goals; /* less is better */
	size_t at, before;   /* in the view; how many dominate it */
};

static bool dominates(const struct candidate *x, const struct candidate *y, size_t n)
{
	bool better = false;

	for (size_t k = 0; k < n; k++) {
		if (x->goals[k] > y->goals[k])
			return false;
		better |= x->goals[k] < y->goals[k];
	}
	return better;
}

static int in_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	if (x->goals[0] != y->goals[0])
		return x->goals[0] < y->goals[0] ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* The feasible points with their objectives' values; without objectives, the simulated time. */
static int candidates(struct sweep_view *v, struct candidate **out, size_t *n, size_t *n_goals, struct err *e)
{
	const struct sweep *s = v->s;
	struct expr_value **values = arena_array(v->a, s->n_columns + 1, sizeof *values);
	double *goals = arena_array(v->a, v->n ? v->n * (s->n_columns + 1) : 1, sizeof *goals);
	struct candidate *c = arena_array(v->a, v->n ? v->n : 1, sizeof *c);
	bool *feasible;

	*n = *n_goals = 0;
	if (!values || !goals || !c)
		return err_set(e, ERR_NOMEM, "out of memory for the promising points");
	if (sweep_view_feasible(v, &feasible, e) < 0)
		return -1;
	for (size_t k = 0; k < s->n_columns; k++) {
		if (s->columns[k].goal != SWEEP_COLUMN && sweep_view_values(v, s->columns[k].x, &values[k], e) < 0)
			return -1;
		*n_goals += s->columns[k].goal != SWEEP_COLUMN;
	}
	for (size_t i = 0; i < v->n; i++) {
		double *g = goals;
		bool known = feasible[i];

		for (size_t k = 0; k < s->n_columns; k++) {
			const struct expr_value *x = values[k] ? &values[k][i] : NULL;

			if (!x)
				continue;
			known &= x->type == EXPR_NUMBER;
			*g++ = s->columns[k].goal == SWEEP_MAXIMIZE ? -x->number : x->number;
		}
		if (*n_goals == 0)
			*g++ = (double)v->points[i].total_ps;
		if (known) {
			c[(*n)++] = (struct candidate){ goals, i, 0 };
			goals = g;
		}
	}
	*n_goals += *n_goals == 0;
	*out = c;
	return 0;
}

bool *sweep_promising(struct sweep_view *v, uint32_t share_ppm, size_t *n, struct err *e)
{
	bool *only = arena_array(v->a, v->head.n_points + 1, sizeof *only);
	struct candidate *c = NULL;
	size_t n_goals;

	if (!only) {
		err_set(e, ERR_NOMEM, "out of memory for the promising points");
		return NULL;
	}
	if (candidates(v, &c, n, &n_goals, e) < 0)
		return NULL;
	for (size_t i = 0; n_goals > 1 && i < *n; i++)
		for (size_t k = 0; k < *n; k++)
			c[i].before += dominates(&c[k], &c[i], n_goals);
	qsort(c, *n, sizeof *c, in_order);
	*n = (size_t)(((uint64_t)*n * share_ppm + PPM - 1) / PPM);
	for (size_t i = 0; i < *n; i++)
		only[v->points[c[i].at].point] = true;
	return only;
}

/* --- how far apart ----------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static const struct res_point *find(const struct sweep_view *v, uint64_t point)
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

static const struct out_col figures[] = { { "analytic_us", OUT_REAL, 3 },
	                                  { "event_us", OUT_REAL, 3 },
	                                  { "apart_pct", OUT_REAL, 3 },
	                                  { "roofline_us", OUT_REAL, 3 } };
#define SHOWN_FIGURES (sizeof figures / sizeof *figures)

/* A table and what stands in it of the sweep's own columns: by column values by point, NULL where a figure or an axis of
 * that name stands there, and everywhere in a table for people, which has no room for them. */
struct pairs_table {
	struct out_table *t;
	struct expr_value **own;
};

static int new_table(struct sweep_view *v, bool wide, struct pairs_table *x, struct err *e)
{
	const struct sweep *s = v->s;
	struct out_col *cols = arena_array(v->a, 1 + s->n_axes + SHOWN_FIGURES + s->n_columns, sizeof *cols);
	size_t n = 0;

	x->own = arena_array(v->a, s->n_columns + 1, sizeof *x->own);
	if (!cols || !x->own)
		return err_nomem(e, "for the table");
	cols[n++] = (struct out_col){ "point", OUT_INT, 0 };
	for (size_t i = 0; i < s->n_axes; i++)
		cols[n++] = (struct out_col){ s->axes[i].key, OUT_TEXT, 0 };
	for (size_t i = 0; i < SHOWN_FIGURES; i++)
		cols[n++] = figures[i];
	for (size_t c = 0; wide && c < s->n_columns; c++) {
		bool there = false;

		for (size_t i = 0; i < n; i++)
			there |= strcmp(cols[i].name, s->columns[c].name) == 0;
		if (!there && sweep_view_values(v, s->columns[c].x, &x->own[c], e) < 0)
			return -1;
		if (!there)
			cols[n++] = (struct out_col){ s->columns[c].name, OUT_REAL, 3 };
	}
	x->t = out_table_new(cols, (int)n, NULL);
	return x->t ? 0 : err_nomem(e, "for the table");
}

static void put_own(const struct sweep_view *v, size_t point, const struct pairs_table *x)
{
	for (size_t c = 0; c < v->s->n_columns; c++)
		if (x->own[c] && x->own[c][point].type == EXPR_NUMBER)
			out_real(x->t, x->own[c][point].number);
		else if (x->own[c])
			out_null(x->t);
}

static void print_pairs(const struct sweep_view *v, const struct pair *p, size_t n, uint64_t rows, enum out_format f,
                        const struct pairs_table *to, struct str *out)
{
	const struct sweep *s = v->s;
	struct out_table *t = to->t;

	for (size_t i = 0; i < n && (f != OUT_TABLE || i < rows); i++) {
		double a = (double)p[i].wide->total_ps, x = (double)p[i].again->total_ps;

		out_int(t, (int64_t)p[i].again->point);
		for (size_t k = 0; k < s->n_axes; k++)
			out_text(t, p[i].again->values[k].text);
		out_real(t, a / 1e6);
		out_real(t, x / 1e6);
		out_real(t, x > 0 ? 100 * (a - x) / x : 0);
		out_real(t, (double)p[i].again->roofline_ps / 1e6);
		put_own(v, (size_t)(p[i].again - v->points), to);
	}
	out_table_write(t, f, out);
}

int sweep_print_again(struct sweep_view *wide, struct sweep_view *again, enum out_format f, uint64_t rows,
                      struct str *out, struct err *e)
{
	struct pairs_table t = { NULL, NULL };
	struct pair *p = arena_array(again->a, again->n + 1, sizeof *p);
	double *apart = arena_array(again->a, again->n + 1, sizeof *apart);
	size_t n = 0, least = 0;

	if (!p || !apart)
		return err_nomem(e, "for the table");
	if (new_table(again, f != OUT_TABLE, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < again->n; i++) {
		const struct res_point *x = &again->points[i], *w = find(wide, x->point);

		if (x->failed || !w || w->failed)
			continue;
		p[n] = (struct pair){ w, x };
		apart[n] = 100 * ((double)w->total_ps - (double)x->total_ps) / (double)(x->total_ps ? x->total_ps : 1);
		apart[n] = apart[n] < 0 ? -apart[n] : apart[n];
		n++;
	}
	qsort(p, n, sizeof *p, fastest_first);
	qsort(apart, n, sizeof *apart, by_size);
	print_pairs(again, p, n, rows, f, &t, out);
	out_table_free(t.t);
	if (n == 0)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (p[i].wide->total_ps < p[least].wide->total_ps)
			least = i;
	fprintf(stderr,
	        "npusim: %zu of %zu points again with events: they are %.3f %% apart in the median, %.3f %% at p90, "
	        "%.3f %% at"
	        " most; the fastest is point %" PRIu64 " (analytic: point %" PRIu64 ")\n",
	        n, wide->n, apart[n / 2], apart[div_up(9 * n, 10) - 1], apart[n - 1], p[0].again->point,
	        p[least].again->point);
	return 0;
}
