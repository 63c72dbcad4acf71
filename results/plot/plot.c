#define _POSIX_C_SOURCE 200809L /* strdup */
#include "results/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* LINE, POINTS: x, y. STEPS: x, to, y. BARS: x is the value, y the category. */
struct plot_point {
	double x, y, to;
	char *note;
};

struct plot_curve {
	enum plot_kind kind;
	enum plot_colour colour;
	char *label;
	struct plot_point *v;
	int n, room;
};

struct plot_note {
	enum plot_axis axis; /* of a mark */
	double x, y;         /* a mark: at x */
	char *text;          /* NULL: none */
};

struct plot_ax {
	enum plot_scale scale;
	char *label;
	bool given;
	double from, to;
};

#define PLOT_SERIES_MAX     16
#define PLOT_CATEGORIES_MAX 64
#define PLOT_NOTES_MAX      64

struct plot {
	char *title, *subtitle;
	struct plot_ax ax[2];
	struct plot_curve s[PLOT_SERIES_MAX];
	char *category[PLOT_CATEGORIES_MAX];
	struct plot_note mark[PLOT_NOTES_MAX], text[PLOT_NOTES_MAX];
	int n_series, n_categories, n_marks, n_texts;
	double diagonal; /* percent; below 0: none */
	const char *failed;
};

static void plot_fail(struct plot *p, const char *why)
{
	if (!p->failed)
		p->failed = why;
}

static char *plot_copy(struct plot *p, const char *text)
{
	char *c = text ? strdup(text) : NULL;

	if (text && !c)
		plot_fail(p, "out of memory");
	return c;
}

struct plot *plot_new(const char *title, const char *subtitle)
{
	struct plot *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->title = plot_copy(p, title);
	p->subtitle = plot_copy(p, subtitle);
	p->diagonal = -1;
	return p;
}

void plot_free(struct plot *p)
{
	if (!p)
		return;
	free(p->title);
	free(p->subtitle);
	free(p->ax[PLOT_X].label);
	free(p->ax[PLOT_Y].label);
	for (int i = 0; i < p->n_series; i++) {
		for (int k = 0; k < p->s[i].n; k++)
			free(p->s[i].v[k].note);
		free(p->s[i].v);
		free(p->s[i].label);
	}
	for (int i = 0; i < p->n_categories; i++)
		free(p->category[i]);
	for (int i = 0; i < p->n_marks; i++)
		free(p->mark[i].text);
	for (int i = 0; i < p->n_texts; i++)
		free(p->text[i].text);
	free(p);
}

void plot_axis(struct plot *p, enum plot_axis axis, enum plot_scale scale, const char *label)
{
	if (!p)
		return;
	free(p->ax[axis].label);
	p->ax[axis].label = plot_copy(p, label);
	p->ax[axis].scale = scale;
}

void plot_range(struct plot *p, enum plot_axis axis, double from, double to)
{
	if (!p)
		return;
	p->ax[axis].given = true;
	p->ax[axis].from = from;
	p->ax[axis].to = to;
}

int plot_series(struct plot *p, enum plot_kind kind, enum plot_colour colour, const char *label)
{
	struct plot_curve *s;

	if (!p)
		return -1;
	if (p->n_series == PLOT_SERIES_MAX) {
		plot_fail(p, "more series than a chart can tell apart");
		return -1;
	}
	s = &p->s[p->n_series];
	*s = (struct plot_curve){ .kind = kind, .colour = colour, .label = plot_copy(p, label) };
	return p->n_series++;
}

static void plot_add(struct plot *p, int series, struct plot_point v)
{
	struct plot_curve *s;

	if (!p || series < 0 || series >= p->n_series) {
		free(v.note);
		return;
	}
	s = &p->s[series];
	if (s->n == s->room) {
		int room = s->room ? 2 * s->room : 64;
		struct plot_point *more = realloc(s->v, (size_t)room * sizeof *more);

		if (!more) {
			free(v.note);
			plot_fail(p, "out of memory");
			return;
		}
		s->v = more;
		s->room = room;
	}
	s->v[s->n++] = v;
}

void plot_xy(struct plot *p, int series, double x, double y)
{
	plot_add(p, series, (struct plot_point){ x, y, y, NULL });
}

void plot_box(struct plot *p, int series, double x_from, double x_to, double y)
{
	plot_add(p, series, (struct plot_point){ x_from, y, x_to, NULL });
}

int plot_category(struct plot *p, const char *label)
{
	if (!p)
		return -1;
	if (p->n_categories == PLOT_CATEGORIES_MAX) {
		plot_fail(p, "more categories than fit under each other");
		return -1;
	}
	p->category[p->n_categories] = plot_copy(p, label ? label : "");
	return p->n_categories++;
}

void plot_bar(struct plot *p, int series, int category, double value, const char *note)
{
	if (p && category >= 0)
		plot_add(p, series, (struct plot_point){ value, category, value, plot_copy(p, note) });
}

static void note(struct plot *p, struct plot_note *list, int *n, struct plot_note v, const char *text)
{
	if (*n == PLOT_NOTES_MAX) {
		plot_fail(p, "more texts than fit into a chart");
		return;
	}
	v.text = plot_copy(p, text);
	list[(*n)++] = v;
}

void plot_mark(struct plot *p, enum plot_axis axis, double at, const char *text)
{
	if (p)
		note(p, p->mark, &p->n_marks, (struct plot_note){ axis, at, 0, NULL }, text);
}

void plot_text(struct plot *p, double x, double y, const char *text)
{
	if (p)
		note(p, p->text, &p->n_texts, (struct plot_note){ PLOT_X, x, y, NULL }, text);
}

void plot_diagonal(struct plot *p, double percent)
{
	if (p)
		p->diagonal = percent;
}

/* --- as JSON ----------------------------------------------------------------------------------------------- */

static bool drawable(const struct plot *p, enum plot_axis a, double v)
{
	return isfinite(v) && (p->ax[a].scale == PLOT_LINEAR || v > 0);
}

static bool point_drawable(const struct plot *p, const struct plot_curve *s, const struct plot_point *v)
{
	return drawable(p, PLOT_X, v->x) && (s->kind == PLOT_BARS || drawable(p, PLOT_Y, v->y)) &&
	       (s->kind != PLOT_STEPS || drawable(p, PLOT_X, v->to));
}

static void put_axis(struct out_json *j, const char *key, const struct plot_ax *a)
{
	static const char *const scales[] = { "linear", "log", "bytes" };

	out_json_open(j, key, '{');
	out_json_text(j, "title", a->label);
	out_json_text(j, "scale", scales[a->scale]);
	if (a->given) {
		out_json_real(j, "from", a->from);
		out_json_real(j, "to", a->to);
	}
	out_json_close(j, '}');
}

static size_t put_points(struct out_json *j, const struct plot *p, const struct plot_curve *s)
{
	size_t n = 0;

	out_json_open(j, "points", '[');
	for (int i = 0; i < s->n; i++) {
		const struct plot_point *v = &s->v[i];

		if (!point_drawable(p, s, v))
			continue;
		out_json_open(j, NULL, '{');
		out_json_real(j, "x", v->x);
		out_json_real(j, "y", v->y);
		if (s->kind == PLOT_STEPS)
			out_json_real(j, "to", v->to);
		if (v->note)
			out_json_text(j, "note", v->note);
		out_json_close(j, '}');
		n++;
	}
	out_json_close(j, ']');
	return n;
}

static size_t put_series(struct out_json *j, const struct plot *p)
{
	static const char *const kinds[] = { "line", "dotted", "points", "steps", "bars" };
	static const char *const colours[] = { NULL, "grey", "blue", "red", "green", "purple", "orange" };
	size_t n = 0;

	out_json_open(j, "series", '[');
	for (int i = 0; i < p->n_series; i++) {
		const struct plot_curve *s = &p->s[i];

		out_json_open(j, NULL, '{');
		out_json_text(j, "kind", kinds[s->kind]);
		out_json_text(j, "label", s->label);
		out_json_text(j, "color", colours[s->colour]);
		n += put_points(j, p, s);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	return n;
}

static void put_notes(struct out_json *j, const char *key, const struct plot_note *v, int n)
{
	out_json_open(j, key, '[');
	for (int i = 0; i < n; i++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "axis", v[i].axis == PLOT_X ? "x" : "y");
		out_json_real(j, "x", v[i].x);
		out_json_real(j, "y", v[i].y);
		out_json_text(j, "text", v[i].text);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

const char *plot_title(const struct plot *p)
{
	return p && p->title ? p->title : "";
}

int plot_put(const struct plot *p, struct out_json *j, struct err *e)
{
	size_t n;

	if (!p)
		return err_set(e, ERR_NOMEM, "out of memory for a chart");
	if (p->failed)
		return err_set(e, ERR_IO, "no chart: %s", p->failed);
	out_json_open(j, NULL, '{');
	out_json_text(j, "title", p->title);
	out_json_text(j, "subtitle", p->subtitle);
	put_axis(j, "x", &p->ax[PLOT_X]);
	put_axis(j, "y", &p->ax[PLOT_Y]);
	out_json_open(j, "categories", '[');
	for (int i = 0; i < p->n_categories; i++)
		out_json_text(j, NULL, p->category[i]);
	out_json_close(j, ']');
	n = put_series(j, p);
	put_notes(j, "marks", p->mark, p->n_marks);
	put_notes(j, "texts", p->text, p->n_texts);
	if (p->diagonal >= 0)
		out_json_real(j, "diagonal", p->diagonal);
	out_json_close(j, '}');
	return n ? 0 : err_set(e, ERR_IO, "there is nothing to draw");
}
