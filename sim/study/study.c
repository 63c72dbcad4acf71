/* study.c - objectives over stored points, the front, the knee, effects of axes. */
#include "sim/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ----------------------------------------------------------------------------------------------- */

static int add_goal(struct study *t, const char *text, struct expr *x, bool more, struct err *e)
{
	struct expr_value *values;

	if (t->n_goals == STUDY_GOALS)
		return err_set(e, ERR_USAGE, "more than %d objectives", STUDY_GOALS);
	if (!x && !(x = expr_new(t->v.s->exprs, text, sweep_find, t->v.s, e))) {
		if (e->kind == ERR_CONFIG)
			e->kind = ERR_USAGE;
		return err_add(e, "reading an objective");
	}
	if (sweep_view_values(&t->v, x, &values, e) < 0)
		return -1;
	t->goals[t->n_goals++] = (struct study_goal){ text, more, values };
	return 0;
}

static int add_goals(struct study *t, const struct study_ask *ask, struct err *e)
{
	const struct sweep *s = t->v.s;

	for (int i = 0; i < ask->n_less; i++)
		if (add_goal(t, ask->less[i], NULL, false, e) < 0)
			return -1;
	for (int i = 0; i < ask->n_more; i++)
		if (add_goal(t, ask->more[i], NULL, true, e) < 0)
			return -1;
	for (size_t c = 0; ask->n_less + ask->n_more == 0 && c < s->n_columns; c++)
		if (s->columns[c].goal != SWEEP_COLUMN &&
		    add_goal(t, s->columns[c].name, s->columns[c].x, s->columns[c].goal == SWEEP_MAXIMIZE, e) < 0)
			return -1;
	return t->n_goals ? 0 : add_goal(t, "latency_us", NULL, false, e);
}

int study_open(struct study *t, struct resdb *db, const struct study_ask *ask, struct err *e)
{
	bool *feasible, *wanted;

	memset(t, 0, sizeof *t);
	t->narrowed = ask->n_where > 0;
	if (sweep_view_open(&t->v, db, ask->sweep, e) < 0 || add_goals(t, ask, e) < 0 ||
	    sweep_view_feasible(&t->v, &feasible, e) < 0 ||
	    sweep_view_where(&t->v, ask->where, ask->n_where, &wanted, e) < 0)
		return -1;
	t->points = arena_array(t->v.a, t->v.n + 1, sizeof *t->points);
	t->all = arena_array(t->v.a, t->v.n + 1, sizeof *t->all);
	if (!t->points || !t->all)
		return err_nomem(e, "for the points");
	for (size_t i = 0; i < t->v.n; i++) {
		bool known = feasible[i] && wanted[i];

		if (wanted[i] && !t->v.points[i].failed && t->goals[0].values[i].type == EXPR_NUMBER)
			t->all[t->n_all++] = i;
		for (int g = 0; g < t->n_goals; g++)
			known &= t->goals[g].values[i].type == EXPR_NUMBER;
		if (known)
			t->points[t->n++] = i;
	}
	return 0;
}

int study_some(const struct study *t, struct err *e)
{
	if (t->n)
		return 0;
	return err_set(e, ERR_IO,
	               "no point of this sweep is done, meets its constraints%s and has a value for every objective",
	               t->narrowed ? " and every --where" : "");
}

int study_any(const struct study *t, struct err *e)
{
	if (t->n_all)
		return 0;
	return err_set(e, ERR_IO, "no point of this sweep is done%s and has a value for '%s'",
	               t->narrowed ? ", meets every --where" : "", t->goals[0].name);
}

void study_free(struct study *t)
{
	sweep_view_free(&t->v);
}

double study_cost(const struct study *t, int goal, size_t point)
{
	double v = t->goals[goal].values[point].number;

	return t->goals[goal].more ? -v : v;
}

/* --- order, front, knee ------------------------------------------------------------------------------------ */

/* By the first objective, then the others, then the number: insertion, so that the order is the same everywhere. */
static bool study_before(const struct study *t, size_t a, size_t b)
{
	for (int g = 0; g < t->n_goals; g++)
		if (study_cost(t, g, a) < study_cost(t, g, b) || study_cost(t, g, a) > study_cost(t, g, b))
			return study_cost(t, g, a) < study_cost(t, g, b);
	return a < b;
}

void study_sort(struct study *t)
{
	for (size_t i = 1; i < t->n; i++) {
		size_t x = t->points[i], k = i;

		for (; k > 0 && study_before(t, x, t->points[k - 1]); k--)
			t->points[k] = t->points[k - 1];
		t->points[k] = x;
	}
}

/* --- front ------------------------------------------------------------------------------------------------ */

static bool dominates(const struct study *t, size_t a, size_t b)
{
	bool better = false;

	for (int g = 0; g < t->n_goals; g++) {
		if (study_cost(t, g, a) > study_cost(t, g, b))
			return false;
		better |= study_cost(t, g, a) < study_cost(t, g, b);
	}
	return better;
}

static int study_find_beyond(struct study *t, struct err *e)
{
	if (!(t->beyond = arena_array(t->v.a, t->v.n + 1, sizeof *t->beyond)))
		return err_nomem(e, "for the front");
	for (size_t i = 0; i < t->n; i++)
		sweep_view_beyond(&t->v, &t->v.points[t->points[i]], &t->beyond[t->points[i]]);
	return 0;
}

int study_keep_front(struct study *t, struct err *e)
{
	size_t kept = 0, *front = arena_array(t->v.a, t->n + 1, sizeof *front);

	if (!front)
		return err_nomem(e, "for the front");
	for (size_t i = 0; i < t->n; i++) {
		bool beaten = false;

		for (size_t k = 0; k < t->n && !beaten; k++)
			beaten = dominates(t, t->points[k], t->points[i]);
		if (!beaten)
			front[kept++] = t->points[i];
	}
	t->points = front;
	t->n = kept;
	return study_find_beyond(t, e);
}

size_t study_knee(const struct study *t)
{
	double least = INFINITY;
	size_t at = 0, real = 0;

	for (size_t i = 0; t->beyond && i < t->n; i++)
		real += !t->beyond[t->points[i]];
	for (size_t i = 0; i < t->n; i++) {
		double sum = 0;

		if (real && t->beyond[t->points[i]])
			continue;

		for (int g = 0; g < t->n_goals; g++) {
			double low = INFINITY, high = -INFINITY, x;

			for (size_t k = 0; k < t->n; k++) {
				low = fmin(low, study_cost(t, g, t->points[k]));
				high = fmax(high, study_cost(t, g, t->points[k]));
			}
			x = high > low ? (study_cost(t, g, t->points[i]) - low) / (high - low) : 0;
			sum += x * x;
		}
		if (sum < least) {
			least = sum;
			at = i;
		}
	}
	return at;
}

/* --- sensitivity ------------------------------------------------------------------------------------------- */

/* A continuous axis has other values in every point: it is looked at in so many parts of its range. */
#define PARTS 5

/* One place more than values: a point may have one that the file does not list. */
static size_t places(const struct sweep_axis *x)
{
	return x->continuous ? PARTS : x->n + 1;
}

static uint64_t part_end(const struct sweep_axis *x, size_t part)
{
	const double from = (double)x->from, to = (double)x->to, f = (double)part / PARTS;

	return (uint64_t)(x->log ? from * pow(to / from, f) : from + (to - from) * f);
}

static size_t study_place_of(const struct study *t, size_t point, size_t axis)
{
	const struct sweep_axis *x = &t->v.s->axes[axis];
	const struct res_value *v = &t->v.points[point].values[axis];
	size_t i = 0;

	if (x->continuous)
		while (i < PARTS - 1 && v->number >= sweep_number(x->field->type, part_end(x, i + 1)))
			i++;
	else
		while (i < x->n && strcmp(x->values[i].text, v->text) != 0)
			i++;
	return i;
}

static const char *place_name(const struct study *t, size_t axis, size_t place)
{
	const struct sweep_axis *x = &t->v.s->axes[axis];
	struct str text = STR_INIT;
	const char *copy;

	if (!x->continuous)
		return place < x->n ? x->values[place].text : "?";
	cfg_format_value(x->field->type, part_end(x, place), &text);
	str_add(&text, " to ");
	cfg_format_value(x->field->type, part_end(x, place + 1), &text);
	copy = arena_strdup(t->v.a, str_c(&text));
	str_free(&text);
	return copy ? copy : "?";
}

/* Sum over cells of n (mean - all)^2, where a cell is one value of a and one of b (b == a: of a alone). */
static int between(const struct study *t, struct study_term *x, double mean, double *out, struct err *e)
{
	const size_t na = places(&t->v.s->axes[x->a]), nb = x->a == x->b ? 1 : places(&t->v.s->axes[x->b]);
	double *sum = calloc(na * nb, sizeof *sum);
	size_t *n = calloc(na * nb, sizeof *n);

	*out = 0;
	x->low = INFINITY;
	x->high = -INFINITY;
	for (size_t i = 0; sum && n && i < t->n_all; i++) {
		size_t cell =
			study_place_of(t, t->all[i], x->a) * nb + (nb > 1 ? study_place_of(t, t->all[i], x->b) : 0);

		sum[cell] += t->goals[0].values[t->all[i]].number;
		n[cell]++;
	}
	for (size_t c = 0; sum && n && c < na * nb; c++) {
		double m = n[c] ? sum[c] / (double)n[c] : mean;

		*out += (double)n[c] * (m - mean) * (m - mean);
		if (n[c] && m < x->low) {
			x->low = m;
			x->at_low = place_name(t, x->a, c / nb);
		}
		if (n[c] && m > x->high) {
			x->high = m;
			x->at_high = place_name(t, x->a, c / nb);
		}
	}
	free(sum);
	free(n);
	return sum && n ? 0 : err_nomem(e, "for the means");
}

/* Most of the variance first, axes in the file's order where two are equal. */
static void sort_terms(struct study_term *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct study_term x = v[i];
		size_t k = i;

		for (; k > 0 && v[k - 1].share < x.share; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* An axis of one value explains nothing. */
static bool several(const struct sweep_axis *x)
{
	return x->n > 1 || x->continuous;
}

int study_effects(struct study *t, struct study_term **out, size_t *n, double *mean_out, struct err *e)
{
	const size_t axes = t->v.s->n_axes;
	struct study_term *terms = arena_array(t->v.a, axes * (axes + 1) / 2, sizeof *terms);
	double mean = 0, total = 0, ss, *alone = arena_array(t->v.a, axes, sizeof *alone);
	size_t k = 0;

	if (!terms || !alone)
		return err_nomem(e, "for the effects");
	for (size_t i = 0; i < t->n_all; i++)
		mean += t->goals[0].values[t->all[i]].number / (double)t->n_all;
	for (size_t i = 0; i < t->n_all; i++) {
		double d = t->goals[0].values[t->all[i]].number - mean;

		total += d * d;
	}
	for (size_t a = 0; a < axes; a++) {
		if (!several(&t->v.s->axes[a]))
			continue;
		terms[k] = (struct study_term){ .a = a, .b = a };
		if (between(t, &terms[k], mean, &ss, e) < 0)
			return -1;
		alone[a] = terms[k++].share = total > 0 ? ss / total : 0;
	}
	for (size_t a = 0; a < axes; a++)
		for (size_t b = a + 1; b < axes; b++) {
			if (!several(&t->v.s->axes[a]) || !several(&t->v.s->axes[b]))
				continue;
			terms[k] = (struct study_term){ .a = a, .b = b };
			if (between(t, &terms[k], mean, &ss, e) < 0)
				return -1;
			terms[k++].share = total > 0 ? ss / total - alone[a] - alone[b] : 0;
		}
	sort_terms(terms, k);
	*out = terms;
	*n = k;
	*mean_out = mean;
	return 0;
}
