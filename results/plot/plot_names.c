#include "results/plot/plot_names.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define CHAR_WIDTH  0.0175 /* of an axis */
#define LINE_HEIGHT 0.04

void plot_names_place(struct plot_names *t, const char *text, bool left, double *x, double *y)
{
	const double width = CHAR_WIDTH * (double)strlen(text);

	assert(t->n < PLOT_NAMES);
	*x = left ? fmax(0, *x - width - CHAR_WIDTH) : fmin(*x, 1 - width);
	for (int i = 0; i < t->n; i++)
		if (fabs(t->y[i] - *y) < 0.99 * LINE_HEIGHT /* rounded */ && t->x[i] < *x + width && *x < t->end[i]) {
			*y = t->y[i] - LINE_HEIGHT;
			i = -1; /* anew: the place below may be another's */
		}
	t->x[t->n] = *x, t->y[t->n] = *y, t->end[t->n] = *x + width;
	t->n++;
}
