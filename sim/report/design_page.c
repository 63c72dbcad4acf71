#include "sim/report/design_page.h"

#include <math.h>
#include <string.h>

#include "results/figure.h"
#include "sim/report/page_int.h"

#define CHARTS 3 /* bounds with a chart each */

/* --- designs as points: a bound's figure, or the die's area where there are none, and the objective ------------------- */

struct plot {
	const struct design_doc *x;
	size_t bound;
	const char *name; /* of what lies across */
	bool more;        /* of it is better */
};

static double area(const struct design_one *one)
{
	const struct figure_measured none = { .wall_ns = -1 };
	const struct figure_value v = figure_value(figure_named("area_mm2"), &one->figures, &none);

	return v.known ? v.x : NAN;
}

static double across(const struct plot *p, const struct design_one *one)
{
	return p->x->n_bounds ? one->bound[p->bound].value : area(one);
}

/* It meets all that is asked but what lies across. */
static bool meets_others(const struct plot *p, const struct design_one *one)
{
	for (size_t i = 0; i < p->x->n_bounds; i++)
		if (i != p->bound && one->bound[i].margin < 0)
			return false;
	return true;
}

static double cost(const struct plot *p, const struct design_one *one)
{
	return p->x->maximise ? -one->objective : one->objective;
}

static double need(const struct plot *p, const struct design_one *one)
{
	return p->more ? -across(p, one) : across(p, one);
}

/* No other that was run the same way is as good in both and better in one; what was run with events is no rival of closed forms. */
static bool on_front(const struct plot *p, const struct design_one *one)
{
	const struct design_result *r = p->x->r;

	if (one->by_events != r->best.by_events || !meets_others(p, one))
		return false;
	for (size_t i = 0; i < r->n_tried; i++) {
		const struct design_one *o = r->tried[i];

		if (o->by_events == one->by_events && meets_others(p, o) && cost(p, o) <= cost(p, one) &&
		    need(p, o) <= need(p, one) && (cost(p, o) < cost(p, one) || need(p, o) < need(p, one)))
			return false;
	}
	return true;
}

static bool same(const struct design_result *r, const struct design_one *a, const struct design_one *b)
{
	for (size_t i = 0; i < r->s->n_axes; i++)
		if (strcmp(a->sets[i], b->sets[i]) != 0)
			return false;
	return true;
}

static const char *role(const struct design_result *r, const struct design_one *one)
{
	if (same(r, one, &r->best))
		return "best";
	if (r->has_second && same(r, one, &r->second))
		return "runner-up";
	for (size_t i = 0; i < r->n_beside; i++)
		if (same(r, one, &r->beside[i].one))
			return "beside";
	return same(r, one, &r->base) ? "base" : "";
}

static void put_point(struct out_json *j, const struct plot *p, const struct design_one *one, const char *role)
{
	struct str changes = STR_INIT;

	if (!isfinite(across(p, one)) || !isfinite(one->objective))
		return;
	design_doc_changes(p->x->r->s, one, &p->x->r->base, DESIGN_AXES, &changes);
	out_json_open(j, NULL, '[');
	out_json_real(j, NULL, across(p, one));
	out_json_real(j, NULL, one->objective);
	out_json_bool(j, NULL, on_front(p, one));
	out_json_text(j, NULL, role);
	out_json_bool(j, NULL, one->meets);
	out_json_bool(j, NULL, one->by_events);
	out_json_text(j, NULL, str_c(&changes));
	out_json_close(j, ']');
	str_free(&changes);
}

static void put_plot(struct out_json *j, const struct plot *p)
{
	const struct design_result *r = p->x->r;
	bool base = r->base.failed;

	out_json_open(j, NULL, '{');
	out_json_text(j, "x", p->name);
	out_json_bool(j, "more", p->more);
	out_json_text(j, "bound", p->x->n_bounds ? p->x->bounds[p->bound] : NULL);
	out_json_open(j, "points", '[');
	for (size_t i = 0; i < r->n_tried; i++) {
		const char *is = role(r, r->tried[i]);

		base |= strcmp(is, "base") == 0;
		put_point(j, p, r->tried[i], is);
	}
	if (!base && !same(r, &r->base, &r->best))
		put_point(j, p, &r->base, "base");
	out_json_close(j, ']');
	out_json_close(j, '}');
}

/* The bound's sign of comparison: left is to be more. */
static bool more(const char *bound)
{
	return strchr(bound, '>') != NULL;
}

static void put_plots(struct out_json *j, const struct design_doc *x)
{
	struct plot p = { x, 0, "area_mm2", false };

	out_json_open(j, "plots", '[');
	if (!x->n_bounds && strcmp(x->objective, p.name) != 0)
		put_plot(j, &p);
	for (p.bound = 0; p.bound < x->n_bounds && p.bound < CHARTS; p.bound++) {
		p.name = x->r->best.bound[p.bound].left;
		p.more = more(x->bounds[p.bound]);
		if (strcmp(p.name, x->objective) != 0)
			put_plot(j, &p);
	}
	out_json_close(j, ']');
}

/* --- the page ------------------------------------------------------------------------------------------------------- */

static int put_answer(struct out_json *j, const struct design_doc *x, struct err *e)
{
	struct str json = STR_INIT, yaml = STR_INIT;
	struct doc d;
	int rc;

	doc_init(&d, OUT_JSON, 0, &json);
	design_doc(&d, x);
	doc_end(&d);
	out_json_document(j, "answer", str_c(&json));
	if ((rc = design_doc_yaml(x, &yaml, e)) == 0)
		out_json_text(j, "yaml", str_c(&yaml));
	if (rc == 0 && (json.failed || yaml.failed))
		rc = err_nomem(e, "for a design");
	str_free(&json);
	str_free(&yaml);
	return rc;
}

static int put_design(struct out_json *j, void *arg, struct err *e)
{
	const struct design_doc *x = arg;
	int rc;

	page_none_stored(j);
	out_json_open(j, "designs", '[');
	out_json_open(j, NULL, '{');
	out_json_text(j, "machine", x->machine);
	out_json_text(j, "workload", x->workload);
	out_json_text(j, "objective", x->objective);
	put_plots(j, x);
	rc = put_answer(j, x, e);
	out_json_close(j, '}');
	out_json_close(j, ']');
	return rc;
}

int design_page(const struct page_template *t, const struct design_doc *x, struct str *html, struct err *e)
{
	struct design_doc of = *x;
	struct str title = STR_INIT;
	int rc;

	str_addf(&title, "npusim design: %s, %s", x->machine, x->workload);
	rc = page_compose(t, str_c(&title), put_design, &of, html, e);
	str_free(&title);
	return rc;
}
