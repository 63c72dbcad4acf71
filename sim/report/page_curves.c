/* page_curves.c - a whole grid as lines over one of its axes, and the knee of each.
 *
 * x is the numeric axis with most values, there is a line for each value of the axis with most of the rest, and a panel
 * for each value of a third. Samples, and grids in which four axes or more change, are no lines.
 *
 * The knee of a line is the point farthest on the good side of the straight way from its first point to its last, both
 * directions scaled to the line's span (Satopaa et al., "Finding a Kneedle in a Haystack", 2011): up to there x buys
 * more than it does on the whole, beyond it less. A line that is nearly straight, gains next to nothing, or gets worse
 * with x has none. */
#include <math.h>
#include <string.h>

#include "sim/report/page_int.h"

#define LINES_MAX  12 /* lines a person can tell apart */
#define PANELS_MAX 6
#define KNEE_FROM  3    /* two points have no knee */
#define KNEE_BEND  0.05 /* least distance from the straight way, of the line's span */
#define KNEE_GAIN  0.01 /* least gain over the whole line */

static bool numeric(const struct page_axis *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (!x->values[i]->is_number)
			return false;
	return x->n > 0;
}

/* The axis with most values among those not taken; -1: none changes. */
static int widest(const struct page_points *r, const int *taken, int n_taken, bool number, size_t most)
{
	int best = -1;

	for (size_t i = 0; i < r->n_axes; i++) {
		bool is_free = r->axes[i].n > 1 && r->axes[i].n <= most && !r->axes[i].follows &&
		               (!number || numeric(&r->axes[i]));

		for (int k = 0; k < n_taken; k++)
			is_free &= taken[k] != (int)i;
		if (is_free && (best < 0 || r->axes[i].n > r->axes[best].n))
			best = (int)i;
	}
	return best;
}

static size_t changing(const struct page_points *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_axes; i++)
		n += r->axes[i].n > 1 && !r->axes[i].follows;
	return n;
}

/* What the picture's parts are by: axes of the sweep, -1 for none. */
struct axes {
	int x, by, panel;
};

/* The points of one value of `by` in one panel, by x. */
struct line {
	size_t by_value, panel_value;
	size_t *points;
	size_t n;
};

/* Place in the line, or -1. */
static int knee_of(const struct page_points *r, const struct line *l, int x_axis)
{
	double most = KNEE_BEND, y0, x0, dx, dy;
	int at = -1;

	if (l->n < KNEE_FROM)
		return -1;
	x0 = r->t->v.points[l->points[0]].values[x_axis].number;
	dx = r->t->v.points[l->points[l->n - 1]].values[x_axis].number - x0;
	y0 = study_cost(r->t, 0, l->points[0]);
	dy = y0 - study_cost(r->t, 0, l->points[l->n - 1]);
	if (!(dx > 0) || !(dy > KNEE_GAIN * fabs(y0)))
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		const double x = (r->t->v.points[l->points[i]].values[x_axis].number - x0) / dx;
		const double gained = (y0 - study_cost(r->t, 0, l->points[i])) / dy;

		if (gained - x > most) {
			most = gained - x;
			at = (int)i;
		}
	}
	return at;
}

static bool has_value(const struct page_points *r, size_t point, int axis, size_t value)
{
	return axis < 0 || r->value[point * r->n_axes + (size_t)axis] == value;
}

static void page_curves_gather(struct line *l, const struct page_points *r, const struct axes *a)
{
	const struct res_point *all = r->t->v.points;

	l->n = 0;
	for (size_t i = 0; i < r->t->n; i++) {
		const size_t p = r->t->points[i];
		size_t k = l->n;

		if (!has_value(r, p, a->by, l->by_value) || !has_value(r, p, a->panel, l->panel_value))
			continue;
		for (; k > 0 && all[l->points[k - 1]].values[a->x].number > all[p].values[a->x].number; k--)
			l->points[k] = l->points[k - 1];
		l->points[k] = p;
		l->n++;
	}
}

static void axis_or_null(struct out_json *j, const char *key, int axis)
{
	if (axis < 0)
		out_json_null(j, key);
	else
		out_json_int(j, key, axis);
}

/* The text of an axis' value; NULL where there is no such axis. */
static const char *value_text(const struct page_points *r, int axis, size_t value)
{
	return axis < 0 ? NULL : r->axes[axis].values[value]->text;
}

static void put_line(struct out_json *j, const struct page_points *r, const struct line *l, const struct axes *a)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, "by", value_text(r, a->by, l->by_value));
	out_json_text(j, "panel", value_text(r, a->panel, l->panel_value));
	axis_or_null(j, "knee", knee_of(r, l, a->x));
	out_json_open(j, "points", '[');
	for (size_t i = 0; i < l->n; i++)
		out_json_u64(j, NULL, r->t->v.points[l->points[i]].point);
	out_json_close(j, ']');
	out_json_open(j, "xy", '[');
	for (size_t i = 0; i < l->n; i++) {
		out_json_open(j, NULL, '[');
		out_json_text(j, NULL, r->t->v.points[l->points[i]].values[a->x].text);
		out_json_real(j, NULL, r->t->v.points[l->points[i]].values[a->x].number);
		out_json_real(j, NULL, r->t->goals[0].values[l->points[i]].number);
		out_json_close(j, ']');
	}
	out_json_close(j, ']');
	out_json_close(j, '}');
}

/* 0: these axes do; -1: the sweep is no lines. */
static int choose_axes(const struct page_points *r, struct axes *a)
{
	int taken[2] = { -1, -1 };

	if (r->t->v.s->sample != SWEEP_GRID || changing(r) > 3 || (a->x = widest(r, taken, 0, true, SIZE_MAX)) < 0)
		return -1;
	taken[0] = a->x;
	taken[1] = a->by = widest(r, taken, 1, false, LINES_MAX);
	a->panel = a->by < 0 ? -1 : widest(r, taken, 2, false, PANELS_MAX);
	return changing(r) > 1 + (size_t)(a->by >= 0) + (size_t)(a->panel >= 0) ? -1 : 0;
}

static size_t values_of(const struct page_points *r, int axis)
{
	return axis < 0 ? 1 : r->axes[axis].n;
}

int page_curves(struct out_json *j, const struct page_points *r, struct err *e)
{
	struct axes a;
	struct line l;

	if (choose_axes(r, &a) < 0) {
		out_json_null(j, "curves");
		return 0;
	}
	if (!(l.points = arena_array(r->t->v.a, r->t->n + 1, sizeof *l.points)))
		return err_set(e, ERR_NOMEM, "no memory for the report");
	out_json_open(j, "curves", '{');
	axis_or_null(j, "x", a.x);
	axis_or_null(j, "by", a.by);
	axis_or_null(j, "panel", a.panel);
	out_json_open(j, "lines", '[');
	for (l.panel_value = 0; l.panel_value < values_of(r, a.panel); l.panel_value++)
		for (l.by_value = 0; l.by_value < values_of(r, a.by); l.by_value++) {
			page_curves_gather(&l, r, &a);
			if (l.n)
				put_line(j, r, &l, &a);
		}
	out_json_close(j, ']');
	out_json_close(j, '}');
	return 0;
}
