/* sweep_chart.h - stored points of a sweep as lines over one axis.
 *
 * One line for every y, or for every value of `by`. What differs between the points of one line other than by x would
 * be drawn over each other, so it is refused: the axis is named, and a condition can pick one of its values. Conditions
 * must all hold. */
#ifndef NPUSIM_SIM_REPORT_SWEEP_CHART_H
#define NPUSIM_SIM_REPORT_SWEEP_CHART_H

#include "results/db/res_sweep.h"
#include "results/plot/plot.h"

struct sweep_chart {
	const char *x, *y;                       /* an axis or an expression; expressions between commas */
	const char *by;                          /* NULL: one line a y */
	const char *title, *x_label, *y_label;   /* NULL: what they are called */
	const char *const *where, *const *marks; /* marks: "X=TEXT" */
	int n_where, n_marks;
	bool percent, linear;
	int64_t sweep; /* 0: the last */
};
struct plot *sweep_chart(const struct sweep_chart *o, struct resdb *db, struct err *e);

#endif
