#include "sim/report/study_doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- tables of points -------------------------------------------------------------------------------------- */

/* An objective that is an axis stands there already. */
static bool is_axis(const struct study *t, int goal)
{
	for (size_t i = 0; i < t->v.s->n_axes; i++)
		if (strcmp(t->v.s->axes[i].key, t->goals[goal].name) == 0)
			return true;
	return false;
}

/* A column of the sweep that is no objective stands beside them. */
static bool is_own(const struct study *t, size_t column)
{
	const struct sweep_column *c = &t->v.s->columns[column];

	for (int g = 0; g < t->n_goals; g++)
		if (strcmp(t->goals[g].name, c->name) == 0)
			return false;
	return c->goal == SWEEP_COLUMN;
}

/* Values of the sweep's own columns, by column; NULL: it is none. */
static int own_values(struct study *t, struct expr_value ***out, struct err *e)
{
	const struct sweep *s = t->v.s;

	if (!(*out = arena_array(t->v.a, s->n_columns + 1, sizeof **out)))
		return err_nomem(e, "for the table");
	for (size_t c = 0; c < s->n_columns; c++)
		if (is_own(t, c) && sweep_view_values(&t->v, s->columns[c].x, &(*out)[c], e) < 0)
			return -1;
	return 0;
}

/* What is shown of a point. */
struct points {
	const struct study *t;
	struct expr_value *const *own; /* of the sweep's own columns; NULL: it is none */
	size_t knee;
	bool notes; /* a last column that says which is the knee */
};

static void study_doc_point(struct doc *d, const void *of, size_t k)
{
	const struct points *x = of;
	const struct study *t = x->t;
	const size_t i = d->heads ? 0 : t->points[k];
	const struct sweep *s = t->v.s;

	doc_count(d, "point", t->v.points[i].point);
	for (size_t a = 0; a < s->n_axes; a++)
		doc_text(d, s->axes[a].key, t->v.points[i].values[a].text);
	for (int g = 0; g < t->n_goals; g++)
		if (!is_axis(t, g))
			doc_real(d, t->goals[g].name, 3, t->goals[g].values[i].number);
	for (size_t c = 0; c < s->n_columns; c++)
		if (x->own[c])
			doc_real_if(d, s->columns[c].name, 3, x->own[c][i].type == EXPR_NUMBER, x->own[c][i].number);
	if (x->notes)
		doc_text(d, "note",
		         !d->heads && t->beyond[i]        ? t->beyond[i]
		         : t->n_goals > 1 && k == x->knee ? "knee"
		                                          : NULL);
}

/* --- ends of axes ------------------------------------------------------------------------------------------ */

/* The best among points whose axis has not the value that the best of all has there. */
static double best_elsewhere(const struct study *t, size_t axis, double value)
{
	double best = INFINITY;

	for (size_t i = 0; i < t->n; i++)
		if (t->v.points[t->points[i]].values[axis].number != value)
			best = fmin(best, study_cost(t, 0, t->points[i]));
	return best;
}

/* Says where the best design lies on the end of what was tried and the axis matters: what lies beyond nobody knows. */
static void say_ends(const struct study *t, struct doc *d)
{
	const size_t at = t->n ? t->points[0] : 0;
	const double best = t->n ? study_cost(t, 0, at) : 0;
	bool said = false;

	for (size_t k = 0; t->n && k < t->v.s->n_axes; k++) {
		const struct res_value *v = &t->v.points[at].values[k];
		double low = v->number, high = v->number;

		for (size_t i = 0; v->is_number && i < t->n; i++) {
			low = fmin(low, t->v.points[t->points[i]].values[k].number);
			high = fmax(high, t->v.points[t->points[i]].values[k].number);
		}
		if (!v->is_number || low == high || (v->number != low && v->number != high) ||
		    strcmp(t->goals[0].name, t->v.s->axes[k].key) == 0 ||
		    best_elsewhere(t, k, v->number) - best <= 1e-3 * fabs(best))
			continue;
		doc_say(d, "%s%s is best at %s, the end of what was tried: %s may be better still\n", said ? "" : "\n",
		        t->v.s->axes[k].key, v->text, v->number == high ? "more" : "less");
		said = true;
	}
}

/* Whether anybody could build the best. */
static void say_beyond(struct study *t, struct doc *d)
{
	const char *words, *why = t->n ? sweep_view_beyond(&t->v, &t->v.points[t->points[0]], &words) : NULL;

	if (why)
		doc_say(d, "\npoint %" PRIu64 " is beyond what anybody builds: %s\n", t->v.points[t->points[0]].point,
		        why);
}

/* --- the front ----------------------------------------------------------------------------------------------- */

int study_front_doc(struct doc *d, struct study *t, struct err *e)
{
	struct expr_value **own;
	const size_t all = t->n;

	if (study_keep_front(t, e) < 0 || own_values(t, &own, e) < 0)
		return -1;
	study_sort(t);
	doc_say(d, "%zu of %zu points: no other is as good in every objective and better in one\n\n", t->n, all);
	doc_table(d, NULL, NULL, t->n, study_doc_point, &((struct points){ t, own, study_knee(t), true }));
	return 0;
}

/* --- best -------------------------------------------------------------------------------------------------- */

int study_best_doc(struct doc *d, struct study *t, uint64_t most, struct err *e)
{
	struct expr_value **own;

	if (own_values(t, &own, e) < 0)
		return -1;
	study_sort(t);
	doc_say(d, "%s %s first, of %zu points\n\n", t->goals[0].more ? "most" : "least", t->goals[0].name, t->n);
	doc_table(d, NULL, NULL, most < t->n ? (size_t)most : t->n, study_doc_point,
	          &((struct points){ .t = t, .own = own }));
	say_ends(t, d);
	say_beyond(t, d);
	return 0;
}

/* --- what matters ------------------------------------------------------------------------------------------- */

struct terms {
	const struct study *t;
	const struct study_term *v;
};

static void term(struct doc *d, const void *of, size_t i)
{
	const struct terms *x = of;
	const struct study_term *t = d->heads ? NULL : &x->v[i];
	const struct sweep_axis *axes = x->t->v.s->axes;
	const bool alone = t && t->a == t->b;
	char name[160];

	if (t)
		snprintf(name, sizeof name, "%s%s%s", axes[t->a].key, alone ? "" : " x ", alone ? "" : axes[t->b].key);
	doc_text(d, "axis", name);
	doc_real(d, "variance_pct", 2,
	         fabs(t->share) < 1e-12 ? 0 : 100 * t->share); /* what rounding leaves of nothing */
	doc_real_if(d, "least_mean", 3, alone, t->low);
	doc_text(d, "at", alone ? t->at_low : NULL);
	doc_real_if(d, "most_mean", 3, alone, t->high);
	doc_text(d, "at_most", alone ? t->at_high : NULL);
}

/* And how many of the points miss a constraint: best and pareto leave those out. */
static void say_over(const struct study *t, const char *of, struct doc *d)
{
	const size_t missed = t->n_all - t->n;

	doc_say(d, "%s over %zu points: which axis explains how much of its variance, alone and two together\n", of,
	        t->n_all);
	if (missed)
		doc_say(d, "%zu of them miss%s a constraint\n", missed, missed == 1 ? "es" : "");
	doc_say(d, "\n");
}

int study_terms_doc(struct doc *d, struct study *t, const char *of, struct err *e)
{
	struct study_term *terms;
	double mean;
	size_t n;

	if (study_effects(t, &terms, &n, &mean, e) < 0)
		return -1;
	say_over(t, of, d);
	doc_table(d, NULL, NULL, n, term, &((struct terms){ t, terms }));
	return 0;
}
