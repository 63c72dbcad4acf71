#include "sim/study/sweep_view.h"

#include <stdlib.h>

#define PPM 1000000u

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

bool *sweep_view_promising(struct sweep_view *v, uint32_t share_ppm, size_t *n, struct err *e)
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
