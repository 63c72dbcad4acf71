/* picture.c - a picture's way out: into its file, or as the script that draws it. */
#include "sim/cli/picture.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define CHAR_WIDTH  0.0175 /* of an axis */
#define LINE_HEIGHT 0.04

void picture_place(struct picture_names *t, const char *text, bool left, double *x, double *y)
{
	const double width = CHAR_WIDTH * (double)strlen(text);

	assert(t->n < PICTURE_NAMES);
	*x = left ? fmax(0, *x - width - CHAR_WIDTH) : fmin(*x, 1 - width);
	for (int i = 0; i < t->n; i++)
		if (fabs(t->y[i] - *y) < 0.99 * LINE_HEIGHT /* rounded */ && t->x[i] < *x + width && *x < t->end[i]) {
			*y = t->y[i] - LINE_HEIGHT;
			i = -1; /* anew: the place below may be another's */
		}
	t->x[t->n] = *x, t->y[t->n] = *y, t->end[t->n] = *x + width;
	t->n++;
}

int picture_check(const struct picture_to *o, struct err *e)
{
	enum plot_format f;

	if (!o->to && !o->script)
		return err_set(e, ERR_USAGE, "the picture's file is missing: -o FILE.svg (or .png, .pdf)");
	return o->to ? plot_format_of(o->to, &f, e) : 0;
}

int picture_put(const struct picture_to *o, struct plot *p, struct str *out, struct err *e)
{
	enum plot_format f = PLOT_SVG;
	int rc;

	if (o->script)
		rc = o->to && plot_format_of(o->to, &f, e) < 0 ? -1 : plot_script(p, f, out, e);
	else
		rc = plot_draw(p, o->to, e);
	plot_free(p);
	return rc;
}
