#include "sim/report/sweep_doc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/figure_doc.h"

struct printer {
	struct sweep_view *v;
	struct expr_value **columns; /* of s->columns, by point */
	int *digits;                 /* of them */
	bool *feasible, any_failed, wide;
	bool *own; /* of s->columns: not there already under its name */
};

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

/* Is a column of that name there before the sweep's own column c? */
static bool is_there(const struct printer *p, size_t c)
{
	const struct sweep *s = p->v->s;
	const char *name = s->columns[c].name;
	bool there = strcmp(name, "point") == 0 ||
	             (p->wide && (strcmp(name, "status") == 0 || strcmp(name, "roofline_bound") == 0));

	for (size_t i = 0; i < s->n_axes; i++)
		there |= strcmp(name, s->axes[i].key) == 0;
	for (const struct figure *f = figure_after(NULL, s->traffic); f; f = figure_after(f, s->traffic))
		there |= (p->wide || f->brief) && strcmp(name, f->name) == 0;
	for (size_t i = 0; i < c; i++)
		there |= strcmp(name, s->columns[i].name) == 0;
	return there;
}

static void hash(struct doc *d, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%016" PRIx64, v);
	doc_text(d, "config_hash", text);
}

static void sweep_doc_point(struct doc *d, const void *of, size_t i)
{
	const struct printer *p = of;
	const struct sweep *s = p->v->s;
	const struct res_point *x = &p->v->points[i];
	const bool ok = d->heads || !x->failed;

	doc_count(d, "point", x->point);
	for (size_t k = 0; k < s->n_axes; k++)
		doc_text(d, s->axes[k].key, x->values[k].text);
	if (p->wide)
		doc_text(d, "status", ok ? "done" : "failed");
	for (const struct figure *f = figure_after(NULL, s->traffic); f; f = figure_after(f, s->traffic)) {
		if (p->wide || f->brief)
			figure_doc(d, f, ok, &x->figures);
		if (p->wide && is_roofline(f))
			doc_text(d, "roofline_bound", x->roofline_bound);
	}
	for (size_t c = 0; c < s->n_columns; c++)
		if (p->own[c])
			doc_real_if(d, s->columns[c].name, p->digits[c], p->columns[c][i].type == EXPR_NUMBER,
			            p->columns[c][i].number);
	if (s->n_constraints || p->wide)
		doc_text(d, "feasible", p->feasible[i] ? "yes" : "no");
	if (p->wide)
		hash(d, d->heads ? 0 : x->config_hash);
	if (p->any_failed || p->wide)
		doc_text(d, "reason", ok ? NULL : x->reason);
}

static void say_beyond(const struct printer *p, size_t at, struct doc *d)
{
	const char *words, *why = sweep_view_beyond(p->v, &p->v->points[at], &words);

	if (why)
		doc_say(d, "  beyond what anybody builds: %s\n", why);
}

/* The best feasible point of every objective, the lower number where two are equal. */
static void say_best(const struct printer *p, struct doc *d)
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
		doc_say(d, "%s %s: point %" PRIu64 ", %.6g", x->goal == SWEEP_MINIMIZE ? "least" : "most", x->name,
		        v->points[at].point, values[at].number);
		for (size_t k = 0; k < v->s->n_axes; k++)
			doc_say(d, "%s%s=%s", k ? ", " : " with ", v->s->axes[k].key, v->points[at].values[k].text);
		doc_say(d, "\n");
		say_beyond(p, at, d);
	}
}

static int evaluate(struct printer *p, struct sweep_totals *t, struct err *e)
{
	struct sweep_view *v = p->v;

	p->columns = arena_array(v->a, v->s->n_columns + 1, sizeof *p->columns);
	p->own = arena_array(v->a, v->s->n_columns + 1, sizeof *p->own);
	p->digits = arena_array(v->a, v->s->n_columns + 1, sizeof *p->digits);
	if (!p->columns || !p->own || !p->digits)
		return err_nomem(e, "for the table");
	for (size_t c = 0; c < v->s->n_columns; c++)
		if (sweep_view_values(v, v->s->columns[c].x, &p->columns[c], e) < 0)
			return -1;
	for (size_t c = 0; c < v->s->n_columns; c++)
		p->own[c] = !is_there(p, c), p->digits[c] = digits_of(p->columns[c], v->n);
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

int sweep_doc(struct doc *d, struct sweep_view *v, uint64_t rows, struct sweep_totals *t, struct err *e)
{
	struct printer p = { .v = v, .wide = d->format != OUT_TABLE };
	const size_t shown = !p.wide && rows < v->n ? (size_t)rows : v->n;

	if (evaluate(&p, t, e) < 0)
		return -1;
	doc_table(d, NULL, NULL, shown, sweep_doc_point, &p);
	if (p.wide)
		return 0;
	if (shown < v->n)
		doc_say(d, "... %zu more; --rows N shows more, and --format csv all\n", v->n - shown);
	doc_say(d, "\n");
	say_best(&p, d);
	return 0;
}

/* --- what would be run ---------------------------------------------------------------------------------------- */

static void listed(struct doc *d, const void *of, size_t p)
{
	const struct sweep *s = of;

	doc_count(d, "point", p);
	for (size_t i = 0; i < s->n_axes; i++)
		doc_text(d, s->axes[i].key, s->axes[i].values[s->index[p * s->n_axes + i]].text);
	if (s->n_refused)
		doc_text(d, "reason", s->refused[p]);
}

void sweep_list_doc(struct doc *d, const struct sweep *s)
{
	doc_table(d, NULL, NULL, s->n_points, listed, s);
}
