/* sweep_print.c - points as a table, csv or json: a header and one row a point. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/figure_out.h"
#include "sim/cli/sweep.h"

/* Beside axes, figures (of which every row may be one) and columns of the file. */
#define FIXED_COLUMNS (FIGURE_ROWS + 6)

struct printer {
	struct sweep_view *v;
	struct out_col *cols;
	int n;
	struct expr_value **columns; /* of s->columns, by point */
	bool *feasible, any_failed, wide;
	bool *own; /* of s->columns: not there already under its name */
};

static void head(struct printer *p, const char *name, enum out_type type, int digits)
{
	p->cols[p->n++] = (struct out_col){ name, type, digits };
}

/* Digits after the point so that the largest shows some four; whole numbers show none. */
static int digits_of(const struct expr_value *v, size_t n)
{
	double most = 0;
	bool whole = true;

	for (size_t i = 0; i < n; i++) {
		double x = v[i].type == EXPR_NUMBER ? v[i].number < 0 ? -v[i].number : v[i].number : 0;

		most = x > most ? x : most;
		whole &= x < 9e15 && x == (double)(int64_t)x;
	}
	return whole ? 0 : most < 1 ? 5 : most < 100 ? 3 : most < 1e5 ? 2 : 0;
}

/* The resource that bounds it stands beside. */
static bool is_roofline(const struct figure *f)
{
	return f->member && f->at == offsetof(struct figures, roofline_ps);
}

static void heads(struct printer *p)
{
	const struct sweep *s = p->v->s;

	head(p, "point", OUT_INT, 0);
	for (size_t i = 0; i < s->n_axes; i++)
		head(p, s->axes[i].key, OUT_TEXT, 0);
	if (p->wide)
		head(p, "status", OUT_TEXT, 0);
	for (const struct figure *f = figure_after(NULL); f; f = figure_after(f)) {
		if (p->wide || f->brief)
			p->cols[p->n++] = figure_col(f);
		if (p->wide && is_roofline(f))
			head(p, "roofline_bound", OUT_TEXT, 0);
	}
	for (size_t c = 0; c < s->n_columns; c++) {
		p->own[c] = true;
		for (int i = 0; i < p->n; i++)
			p->own[c] &= strcmp(p->cols[i].name, s->columns[c].name) != 0;
		if (p->own[c])
			head(p, s->columns[c].name, OUT_REAL, digits_of(p->columns[c], p->v->n));
	}
	if (s->n_constraints || p->wide)
		head(p, "feasible", OUT_TEXT, 0);
	if (p->wide)
		head(p, "config_hash", OUT_TEXT, 0);
	if (p->any_failed || p->wide)
		head(p, "reason", OUT_TEXT, 0);
}

static void real(struct out_table *t, bool known, double v)
{
	if (known)
		out_real(t, v);
	else
		out_null(t);
}

static void hex(struct out_table *t, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%016" PRIx64, v);
	out_text(t, text);
}

static void row(const struct printer *p, size_t i, struct out_table *t)
{
	const struct sweep *s = p->v->s;
	const struct res_point *x = &p->v->points[i];
	const bool ok = !x->failed;

	out_int(t, (int64_t)x->point);
	for (size_t k = 0; k < s->n_axes; k++)
		out_text(t, x->values[k].text);
	if (p->wide)
		out_text(t, ok ? "done" : "failed");
	for (const struct figure *f = figure_after(NULL); f; f = figure_after(f)) {
		if (p->wide || f->brief)
			figure_cell(t, f, ok, &x->figures);
		if (p->wide && is_roofline(f))
			out_text(t, x->roofline_bound);
	}
	for (size_t c = 0; c < s->n_columns; c++)
		if (p->own[c])
			real(t, p->columns[c][i].type == EXPR_NUMBER, p->columns[c][i].number);
	if (s->n_constraints || p->wide)
		out_text(t, p->feasible[i] ? "yes" : "no");
	if (p->wide)
		hex(t, x->config_hash);
	if (p->any_failed || p->wide)
		out_text(t, ok ? NULL : x->reason);
}

/* The best feasible point of every objective, the lower number where two are equal. */
static void best(const struct printer *p, struct str *out)
{
	const struct sweep_view *v = p->v;

	for (size_t c = 0; c < v->s->n_columns; c++) {
		const struct sweep_column *x = &v->s->columns[c];
		const struct expr_value *values = p->columns[c];
		size_t at = v->n;

		for (size_t i = 0; x->goal != SWEEP_COLUMN && i < v->n; i++)
			if (p->feasible[i] && values[i].type == EXPR_NUMBER &&
			    (at == v->n || (x->goal == SWEEP_MINIMIZE ? values[i].number < values[at].number
			                                              : values[i].number > values[at].number)))
				at = i;
		if (at == v->n)
			continue;
		str_addf(out, "%s %s: point %" PRIu64 ", %.6g", x->goal == SWEEP_MINIMIZE ? "least" : "most", x->name,
		         v->points[at].point, values[at].number);
		for (size_t k = 0; k < v->s->n_axes; k++)
			str_addf(out, "%s%s=%s", k ? ", " : " with ", v->s->axes[k].key, v->points[at].values[k].text);
		str_addc(out, '\n');
	}
}

static int evaluate(struct printer *p, struct sweep_totals *t, struct err *e)
{
	struct sweep_view *v = p->v;

	p->columns = arena_array(v->a, v->s->n_columns + 1, sizeof *p->columns);
	p->own = arena_array(v->a, v->s->n_columns + 1, sizeof *p->own);
	p->cols = arena_array(v->a, v->s->n_axes + v->s->n_columns + FIXED_COLUMNS, sizeof *p->cols);
	if (!p->columns || !p->own || !p->cols)
		return err_nomem(e, "for the table");
	for (size_t c = 0; c < v->s->n_columns; c++)
		if (sweep_view_values(v, v->s->columns[c].x, &p->columns[c], e) < 0)
			return -1;
	if (sweep_view_feasible(v, &p->feasible, e) < 0)
		return -1;
	*t = (struct sweep_totals){ .missing = v->head.n_points - v->n, .bounded = v->s->n_constraints > 0 };
	for (size_t i = 0; i < v->n; i++) {
		t->failed += v->points[i].failed;
		t->died += res_point_died(&v->points[i]);
		t->done += !v->points[i].failed;
		t->feasible += p->feasible[i];
	}
	p->any_failed = t->failed > 0;
	return 0;
}

int sweep_print(struct sweep_view *v, enum out_format f, uint64_t rows, struct sweep_totals *t, struct str *out,
                struct err *e)
{
	struct printer p = { .v = v, .wide = f != OUT_TABLE };
	struct out_table *table;
	size_t shown = f == OUT_TABLE && rows < v->n ? (size_t)rows : v->n;

	if (evaluate(&p, t, e) < 0)
		return -1;
	heads(&p);
	if (!(table = out_table_new(p.cols, p.n, NULL)))
		return err_nomem(e, "for the table");
	for (size_t i = 0; i < shown; i++)
		row(&p, i, table);
	out_table_write(table, f, out);
	out_table_free(table);
	if (f != OUT_TABLE)
		return 0;
	if (shown < v->n)
		str_addf(out, "... %zu more; --rows N shows more, and --format csv all\n", v->n - shown);
	str_addc(out, '\n');
	best(&p, out);
	return 0;
}
