/* plot_names.h - names beside points, as parts of the two axes: kept inside of the chart and apart from each other. */
#ifndef NPUSIM_RESULTS_PLOT_PLOT_NAMES_H
#define NPUSIM_RESULTS_PLOT_PLOT_NAMES_H

#include <stdbool.h>

#define PLOT_NAMES 8
struct plot_names {
	double x[PLOT_NAMES], y[PLOT_NAMES], end[PLOT_NAMES];
	int n;
};
/* Where the text of a point at *x, *y begins; `left` of the point, else from it on. */
void plot_names_place(struct plot_names *t, const char *text, bool left, double *x, double *y);

#endif
