/* page_sweep.c - a stored sweep as the page gets it. */
#include "sim/report/page_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/report/baseline.h"
#include "sim/report/run.h"
#include "sim/ui/units.h"
#include "workloads/op.h"

#define BEST_SHOWN     5
#define FAILURES_SHOWN 10

/* --- axes -------------------------------------------------------------------------------------------------- */

static int find_value(struct page_axis *x, const struct res_value *v)
{
	for (size_t i = 0; i < x->n; i++)
		if (strcmp(x->values[i]->text, v->text) == 0)
			return (int)i;
	return -1;
}

static void add_value(struct page_axis *x, const struct res_value *v)
{
	size_t k = x->n++;

	for (; v->is_number && k > 0 && x->values[k - 1]->is_number && x->values[k - 1]->number > v->number; k--)
		x->values[k] = x->values[k - 1];
	x->values[k] = v;
}

static int read_axes(struct page_points *r, struct err *e)
{
	const struct sweep_view *v = &r->t->v;

	r->n_axes = v->s->n_axes;
	r->axes = arena_array(v->a, r->n_axes, sizeof *r->axes);
	r->value = arena_array(v->a, (v->n + 1) * r->n_axes, sizeof *r->value);
	if (!r->axes || !r->value)
		return err_nomem(e, "for the report");
	for (size_t a = 0; a < r->n_axes; a++) {
		struct page_axis *x = &r->axes[a];

		*x = (struct page_axis){ .values = arena_array(v->a, r->t->n + 1, sizeof *x->values) };
		if (!x->values)
			return err_nomem(e, "for the report");
		for (size_t i = 0; i < r->t->n; i++)
			if (find_value(x, &v->points[r->t->points[i]].values[a]) < 0)
				add_value(x, &v->points[r->t->points[i]].values[a]);
		for (size_t i = 0; i < r->t->n; i++) {
			const size_t p = r->t->points[i];

			r->value[p * r->n_axes + a] = (uint32_t)find_value(x, &v->points[p].values[a]);
		}
		for (size_t b = 0; b < a; b++)
			x->follows |= v->s->axes[a].dim == v->s->axes[b].dim;
	}
	return 0;
}

static const char *type_name(enum cfg_type t)
{
	switch (t) {
	case CFG_T_BYTES:
		return "bytes";
	case CFG_T_RATE:
		return "rate";
	case CFG_T_FREQ:
		return "freq";
	case CFG_T_PS:
		return "time";
	case CFG_T_ENUM:
	case CFG_T_STR:
	case CFG_T_BOOL:
		return "text";
	default:
		return "number";
	}
}

/* Does every combination of the values count? */
static bool whole_grid(const struct page_points *r)
{
	double points = 1;

	for (size_t a = 0; a < r->n_axes; a++)
		points *= r->axes[a].follows ? 1 : (double)r->axes[a].n;
	return (double)r->t->n == points;
}

static void put_axes(struct out_json *j, const struct page_points *r)
{
	out_json_bool(j, "whole", whole_grid(r));
	out_json_open(j, "axes", '[');
	for (size_t a = 0; a < r->n_axes; a++) {
		const struct sweep_axis *x = &r->t->v.s->axes[a];

		out_json_open(j, NULL, '{');
		out_json_text(j, "key", x->key);
		out_json_text(j, "type", type_name(x->field->type));
		out_json_bool(j, "follows", r->axes[a].follows);
		out_json_open(j, "values", '[');
		for (size_t i = 0; i < r->axes[a].n; i++) {
			const struct res_value *v = r->axes[a].values[i];

			out_json_open(j, NULL, '[');
			out_json_text(j, NULL, v->text);
			if (v->is_number)
				out_json_real(j, NULL, v->number);
			else
				out_json_null(j, NULL);
			out_json_close(j, ']');
		}
		out_json_close(j, ']');
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

/* --- points ------------------------------------------------------------------------------------------------ */

/* Columns of the sweep that are no objective, as far as they are numbers. */
struct more {
	const char *name;
	const struct expr_value *values;
};

static int read_columns(struct page_points *r, struct more *m, size_t *n, struct err *e)
{
	const struct sweep *s = r->t->v.s;

	*n = 0;
	for (size_t i = 0; i < s->n_columns; i++) {
		struct expr_value *values;

		if (s->columns[i].goal != SWEEP_COLUMN)
			continue;
		if (sweep_view_values(&r->t->v, s->columns[i].x, &values, e) < 0)
			return -1;
		m[(*n)++] = (struct more){ s->columns[i].name, values };
	}
	return 0;
}

static void put_number(struct out_json *j, const struct expr_value *v)
{
	if (v->type == EXPR_NUMBER)
		out_json_real(j, NULL, v->number);
	else
		out_json_null(j, NULL);
}

static void put_point(struct out_json *j, const struct page_points *r, const struct more *m, size_t n_more, size_t p,
                      bool front)
{
	out_json_open(j, NULL, '[');
	out_json_u64(j, NULL, r->t->v.points[p].point);
	out_json_int(j, NULL, front);
	out_json_open(j, NULL, '[');
	for (size_t a = 0; a < r->n_axes; a++)
		out_json_u64(j, NULL, r->value[p * r->n_axes + a]);
	out_json_close(j, ']');
	out_json_open(j, NULL, '[');
	for (int g = 0; g < r->t->n_goals; g++)
		put_number(j, &r->t->goals[g].values[p]);
	out_json_close(j, ']');
	out_json_open(j, NULL, '[');
	for (size_t c = 0; c < n_more; c++)
		put_number(j, &m[c].values[p]);
	out_json_close(j, ']');
	out_json_close(j, ']');
}

/* All of a small sweep; of a large one the front, and of the rest every so many-th. */
static void page_sweep_choose(const struct page_points *r, const bool *front, bool *drawn)
{
	size_t n_front = 0, seen = 0, step;

	for (size_t i = 0; i < r->t->n; i++)
		n_front += front[r->t->points[i]];
	step = n_front < PAGE_POINTS ? (r->t->n - n_front + PAGE_POINTS - n_front - 1) / (PAGE_POINTS - n_front) : 0;
	for (size_t i = 0; i < r->t->n; i++) {
		const size_t p = r->t->points[i];

		drawn[p] = front[p] || (step && seen % step == 0);
		seen += !front[p];
	}
}

static int put_points(struct out_json *j, struct page_points *r, const bool *front, struct err *e)
{
	struct more *m = arena_array(r->t->v.a, r->t->v.s->n_columns + 1, sizeof *m);
	bool *drawn = arena_array(r->t->v.a, r->t->v.n + 1, sizeof *drawn);
	size_t n;

	if (!m || !drawn)
		return err_nomem(e, "for the report");
	if (read_columns(r, m, &n, e) < 0)
		return -1;
	page_sweep_choose(r, front, drawn);
	out_json_open(j, "columns", '[');
	for (size_t i = 0; i < n; i++)
		out_json_text(j, NULL, m[i].name);
	out_json_close(j, ']');
	out_json_open(j, "points", '[');
	for (size_t i = 0; i < r->t->n; i++)
		if (drawn[r->t->points[i]])
			put_point(j, r, m, n, r->t->points[i], front[r->t->points[i]]);
	out_json_close(j, ']');
	return 0;
}

/* --- the front, and designs to copy ------------------------------------------------------------------------ */

static int put_design(struct out_json *j, struct page_points *r, size_t p, const char *why, struct err *e)
{
	struct sweep_view *v = &r->t->v;
	struct machine_conf *c = sweep_view_conf(v, &v->points[p], e);
	struct str text = STR_INIT;

	if (!c)
		return -1;
	cfg_dump(c->raw, &text);
	machine_conf_free(c);
	out_json_open(j, NULL, '{');
	out_json_text(j, "why", why);
	out_json_u64(j, "point", v->points[p].point);
	out_json_open(j, "values", '[');
	for (int g = 0; g < r->t->n_goals; g++)
		put_number(j, &r->t->goals[g].values[p]);
	out_json_close(j, ']');
	out_json_open(j, "settings", '[');
	for (size_t a = 0; a < r->n_axes; a++) {
		out_json_open(j, NULL, '[');
		out_json_text(j, NULL, v->s->axes[a].key);
		out_json_text(j, NULL, v->points[p].values[a].text);
		out_json_close(j, ']');
	}
	out_json_close(j, ']');
	out_json_open(j, "parts", '[');
	for (size_t i = 0; i < v->s->mix.n; i++) {
		const struct mix_part *part = &v->s->mix.v[i];

		out_json_open(j, NULL, '{');
		out_json_text(j, "name", part->name);
		out_json_real(j, "weight", part->weight);
		out_json_real(j, "us", sweep_part_us(part->name, &v->points[p], v->a));
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_text(j, "yaml", str_c(&text));
	out_json_close(j, '}');
	str_free(&text);
	return 0;
}

/* What to build, then the best of each objective. */
static int put_designs(struct out_json *j, struct page_points *r, size_t build, struct err *e)
{
	char why[300];
	int rc = 0;

	out_json_open(j, "designs", '[');
	if (r->t->n_goals > 1)
		rc = put_design(j, r, build, "build this", e);
	for (int g = 0; rc == 0 && g < r->t->n_goals && g < BEST_SHOWN; g++) {
		size_t best = r->t->points[0];

		for (size_t i = 1; i < r->t->n; i++)
			if (study_cost(r->t, g, r->t->points[i]) < study_cost(r->t, g, best) ||
			    (study_cost(r->t, g, r->t->points[i]) <= study_cost(r->t, g, best) && g > 0 &&
			     study_cost(r->t, 0, r->t->points[i]) < study_cost(r->t, 0, best)))
				best = r->t->points[i];
		snprintf(why, sizeof why, "%s %s", r->t->goals[g].more ? "most" : "least", r->t->goals[g].name);
		rc = put_design(j, r, best, why, e);
	}
	out_json_close(j, ']');
	return rc;
}

/* Of the points on the front those that can be built, where there are any. */
static void keep_buildable(struct study *front)
{
	const char *words;
	size_t kept = 0;

	for (size_t i = 0; i < front->n; i++)
		if (!sweep_view_beyond(&front->v, &front->v.points[front->points[i]], &words))
			front->points[kept++] = front->points[i];
	front->n = kept ? kept : front->n;
}

/* Which points are on the front, the knee of all, and what of them can be built: `t->points` stay as they are. */
static int find_front(struct study *t, bool **out, size_t *knee, struct study *can, struct err *e)
{
	struct study front = *t;
	bool *on = arena_array(t->v.a, t->v.n + 1, sizeof *on);

	if (!on)
		return err_nomem(e, "for the report");
	memset(on, 0, (t->v.n + 1) * sizeof *on);
	if (study_keep_front(&front, e) < 0)
		return -1;
	study_sort(&front);
	for (size_t i = 0; i < front.n; i++)
		on[front.points[i]] = true;
	*knee = front.points[study_knee(&front)];
	*can = front;
	keep_buildable(can);
	*out = on;
	return 0;
}

/* --- the answer -------------------------------------------------------------------------------------------- */

static void add_settings(const struct page_points *r, size_t p, struct str *to)
{
	bool any = false;

	for (size_t a = 0; a < r->n_axes; a++)
		if (r->axes[a].n > 1) {
			str_addf(to, "%s%s %s", any ? ", " : "", r->t->v.s->axes[a].key,
			         r->t->v.points[p].values[a].text);
			any = true;
		}
}

static double goal_of(const struct study *t, int g, size_t p)
{
	return t->goals[g].values[p].number;
}

static void add_figures(const struct study *t, size_t p, struct str *to)
{
	for (int g = 0; g < t->n_goals; g++)
		str_addf(to, "%s%s %.5g", g ? ", " : "", t->goals[g].name, goal_of(t, g, p));
}

/* What a design has less of than another, and what more: "power_w +3.1 %". */
static void add_lacks(const struct study *t, size_t p, size_t than, bool worse, struct str *to)
{
	bool any = false;

	for (int g = 0; g < t->n_goals; g++) {
		const double was = goal_of(t, g, than), is = goal_of(t, g, p);
		const bool is_worse = study_cost(t, g, p) > study_cost(t, g, than);

		if (was == 0 || is_worse != worse || study_cost(t, g, p) == study_cost(t, g, than))
			continue;
		str_addf(to, "%s%s %+.*f %%", any ? ", " : "", t->goals[g].name, fabs(is / was - 1) < 0.1 ? 1 : 0,
		         100 * (is / was - 1));
		any = true;
	}
	str_add(to, any ? "" : "nothing");
}

/* The best of one objective that can be built; of several the knee of what can be built of the front, in its order. */
static size_t built_at(const struct study *can)
{
	return can->n_goals > 1 ? study_knee(can) : 0;
}

/* What to build, how sure its time is, and what the next design of the front has more and less of. */
static int put_verdict(struct out_json *j, const struct page_points *r, struct study *can, size_t at, size_t knee,
                       struct err *e)
{
	const size_t build = can->points[at];
	const struct res_point *p = &can->v.points[build];
	const char *words, *beyond = sweep_view_beyond(&can->v, p, &words);
	struct str line = STR_INIT;
	bool failed;

	out_json_open(j, "verdict", '[');
	str_addf(&line, "Build design %llu: ", (unsigned long long)p->point);
	add_settings(r, build, &line);
	out_json_text(j, NULL, str_c(&line));
	str_clear(&line);
	str_add(&line, r->t->n_goals > 1 ? "The knee of the front" : "The best of all");
	if (r->t->n_goals > 1 && knee != build && !beyond)
		str_addf(&line, " that can be built (design %llu is that of all)",
		         (unsigned long long)r->t->v.points[knee].point);
	str_add(&line, ": ");
	add_figures(r->t, build, &line);
	out_json_text(j, NULL, str_c(&line));
	if (p->spread_ppm) {
		const double us = (double)p->total_ps / 1e6;

		str_clear(&line);
		str_addf(&line, "Four times in five its time lies between %.4g and %.4g us",
		         us * exp(-(double)(p->spread_down_ppm ? p->spread_down_ppm : p->spread_ppm) / 1e6),
		         us * exp((double)p->spread_ppm / 1e6));
		out_json_text(j, NULL, str_c(&line));
	}
	if (beyond) {
		str_clear(&line);
		str_addf(&line, "No design of the front can be built: of this one %s", beyond);
		out_json_text(j, NULL, str_c(&line));
	}
	if (can->n > 1) {
		const size_t next = can->points[at + 1 < can->n ? at + 1 : at - 1];

		str_clear(&line);
		str_addf(&line, "Next to it, design %llu (", (unsigned long long)can->v.points[next].point);
		add_settings(r, next, &line);
		str_add(&line, ") is better in ");
		add_lacks(r->t, next, build, false, &line);
		str_add(&line, ", and worse in ");
		add_lacks(r->t, next, build, true, &line);
		out_json_text(j, NULL, str_c(&line));
	}
	out_json_close(j, ']');
	failed = line.failed;
	str_free(&line);
	return failed ? err_nomem(e, "for the report") : 0;
}

/* --- effects ----------------------------------------------------------------------------------------------- */

static int put_effects(struct out_json *j, struct page_points *r, struct err *e)
{
	struct study_term *terms;
	double mean;
	size_t n;

	if (study_effects(r->t, &terms, &n, &mean, e) < 0)
		return -1;
	out_json_real(j, "mean", mean);
	out_json_open(j, "effects", '[');
	for (size_t i = 0; i < n; i++) {
		const struct study_term *x = &terms[i];

		if (r->axes[x->a].n < 2 || r->axes[x->b].n < 2)
			continue;
		out_json_open(j, NULL, '{');
		out_json_u64(j, "a", x->a);
		out_json_u64(j, "b", x->b);
		out_json_real(j, "share", x->share < 1e-12 && x->share > -1e-12 ? 0 : x->share);
		if (x->a == x->b) {
			out_json_real(j, "low", x->low);
			out_json_text(j, "at_low", x->at_low);
			out_json_real(j, "high", x->high);
			out_json_text(j, "at_high", x->at_high);
		}
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	return 0;
}

/* --- the sweep --------------------------------------------------------------------------------------------- */

static int page_sweep_put_head(struct out_json *j, const char *from, const struct study *t, struct err *e)
{
	const struct sweep_view *v = &t->v;
	struct run_made made = { .launches = false };
	struct baseline *b;
	struct str trust = STR_INIT;
	bool failed;

	out_json_text(j, "from", from);
	out_json_int(j, "id", v->head.id);
	out_json_text(j, "name", v->head.name);
	out_json_text(j, "base", v->head.base_path);
	out_json_text(j, "fidelity", v->head.fidelity);
	out_json_text(j, "start", v->head.start);
	out_json_text(j, "workload", v->workload.source);
	out_json_text(j, "range", v->workload.range);
	out_json_real(j, "kernels_us", unit_us((int64_t)v->workload.kernel_ns));
	out_json_u64(j, "asked", v->head.n_points);
	out_json_u64(j, "done", v->head.done);
	out_json_u64(j, "failed", v->head.failed);
	out_json_u64(j, "count", t->n);
	out_json_text(j, "build", v->n ? v->points[0].build : NULL);
	for (size_t i = 0; i < v->workload.n_ops; i++) {
		run_made_add(&made, v->workload.ops[i].kind, v->workload.ops[i].family, v->workload.ops[i].measured_ns);
		run_made_part(&made, v->workload.ops[i].kind, strcmp(v->workload.ops[i].family, "gemv") == 0,
		              v->workload.ops[i].measured_ns);
	}
	b = baseline_new(&path_source, NULL);
	run_made_trust(&made, b, &trust);
	baseline_free(b);
	out_json_lines(j, "trust", str_c(&trust));
	failed = trust.failed;
	str_free(&trust);
	return failed ? err_nomem(e, "for the report") : 0;
}

static void put_asked(struct out_json *j, const struct study *t)
{
	out_json_open(j, "goals", '[');
	for (int g = 0; g < t->n_goals; g++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "name", t->goals[g].name);
		out_json_bool(j, "more", t->goals[g].more);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_open(j, "constraints", '[');
	for (size_t i = 0; i < t->v.s->n_constraints; i++)
		out_json_text(j, NULL, expr_text(t->v.s->constraints[i]));
	out_json_close(j, ']');
}

static void put_failures(struct out_json *j, const struct sweep_view *v)
{
	size_t shown = 0;

	out_json_open(j, "failures", '[');
	for (size_t i = 0; i < v->n && shown < FAILURES_SHOWN; i++) {
		if (!v->points[i].failed)
			continue;
		shown++;
		out_json_open(j, NULL, '[');
		out_json_u64(j, NULL, v->points[i].point);
		out_json_text(j, NULL, v->points[i].reason);
		out_json_close(j, ']');
	}
	out_json_close(j, ']');
}

static int put_results(struct out_json *j, struct study *t, struct err *e)
{
	struct page_points r = { .t = t };
	struct study can;
	size_t knee = 0, at, best;
	bool *front = NULL;

	if (t->n == 0)
		return 0;
	if (find_front(t, &front, &knee, &can, e) < 0 || read_axes(&r, e) < 0)
		return -1;
	at = built_at(&can);
	best = can.points[at];
	put_axes(j, &r);
	if (put_verdict(j, &r, &can, at, knee, e) < 0)
		return -1;
	if (t->n_goals > 1)
		out_json_u64(j, "best", t->v.points[best].point);
	else
		out_json_null(j, "best");
	if (put_points(j, &r, front, e) < 0 || put_designs(j, &r, best, e) < 0 || put_effects(j, &r, e) < 0)
		return -1;
	return page_curves(j, &r, e);
}

int page_study(struct out_json *j, const char *from, struct study *t, struct err *e)
{
	int rc;

	out_json_open(j, NULL, '{');
	if ((rc = page_sweep_put_head(j, from, t, e)) == 0) {
		put_asked(j, t);
		put_failures(j, &t->v);
		rc = put_results(j, t, e);
	}
	out_json_close(j, '}');
	return rc;
}

int page_sweep(struct out_json *j, const char *from, struct resdb *db, int64_t id, struct err *e)
{
	struct study t;
	int rc = study_open(&t, db, &(struct study_ask){ .sweep = id }, e);

	if (rc == 0)
		rc = page_study(j, from, &t, e);
	study_free(&t);
	return rc;
}
