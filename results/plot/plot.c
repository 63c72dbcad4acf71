#define _POSIX_C_SOURCE 200809L /* strdup */
#include "results/plot/plot_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
	if (colour == PLOT_AUTO)
		colour = (enum plot_colour)(PLOT_BLUE + p->turn++ % (PLOT_BLACK - PLOT_BLUE + 1));
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

void plot_sized(struct plot *p, int series, double x, double y, double size)
{
	plot_add(p, series, (struct plot_point){ x, y, size, NULL });
}

void plot_band(struct plot *p, int series, double x, double y_from, double y_to)
{
	plot_add(p, series, (struct plot_point){ x, y_from, y_to, NULL });
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

int plot_format_of(const char *path, enum plot_format *f, struct err *e)
{
	static const char *const endings[] = { ".svg", ".png", ".pdf" };
	size_t n = strlen(path);

	for (int i = 0; i < 3; i++)
		if (n > 4 && strcasecmp(path + n - 4, endings[i]) == 0) {
			*f = (enum plot_format)i;
			return 0;
		}
	return err_set(e, ERR_USAGE, "'%s' ends in none of .svg, .png and .pdf, which say what to draw", path);
}
