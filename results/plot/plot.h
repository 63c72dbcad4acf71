/* plot.h - charts as data: series on two axes, which results/report/figure.js draws, in the browser as in a file (draw.h).
 *
 *   struct plot *p = plot_new("Pointer chase", "one line at a time");
 *   plot_axis(p, PLOT_X, PLOT_BYTES, "working set");
 *   plot_axis(p, PLOT_Y, PLOT_LINEAR, "latency (ns)");
 *   int s = plot_series(p, PLOT_LINE, PLOT_BLUE, "simulated");
 *   plot_xy(p, s, 65536, 148);
 *   rc = plot_put(p, j, e);
 *   plot_free(p);
 *
 * There are lines, points, steps of a histogram, and bars by category, side by side; reference lines, a diagonal with a band of +-x %
 * (simulated against measured), text at a place. Axes are linear, logarithmic, or logarithmic in bytes (ticks in KiB, MiB).
 * What is not finite, or not above 0 on a logarithmic axis, is left out.
 * Nothing fails before plot_put: a plot without memory remembers it. */
#ifndef NPUSIM_RESULTS_PLOT_PLOT_H
#define NPUSIM_RESULTS_PLOT_PLOT_H

#include <stdbool.h>

#include "sim/base/err.h"
#include "sim/base/out_json.h"

struct plot;

enum plot_axis { PLOT_X, PLOT_Y };
enum plot_scale { PLOT_LINEAR, PLOT_LOG, PLOT_BYTES };
enum plot_kind {
	PLOT_LINE,        /* plot_xy */
	PLOT_DOTTED_LINE, /* plot_xy: a line with a dot at each point */
	PLOT_POINTS,      /* plot_xy */
	PLOT_STEPS,       /* plot_box: x from, x to, y */
	PLOT_BARS         /* plot_bar: side by side in their category */
};
enum plot_colour { PLOT_AUTO, PLOT_GREY, PLOT_BLUE, PLOT_RED, PLOT_GREEN, PLOT_PURPLE, PLOT_ORANGE };

/* Either text may be NULL. */
struct plot *plot_new(const char *title, const char *subtitle);
void plot_free(struct plot *p);

/* Bars run to the right: their values are on PLOT_X, their categories on PLOT_Y from the top. */
void plot_axis(struct plot *p, enum plot_axis axis, enum plot_scale scale, const char *label);
/* The ends of an axis; without it they follow the data. A linear axis begins at 0 when no value is below. */
void plot_range(struct plot *p, enum plot_axis axis, double from, double to);

/* A new series, drawn over those before it; PLOT_AUTO takes colours in turn. Its number, for what follows. */
int plot_series(struct plot *p, enum plot_kind kind, enum plot_colour colour, const char *label);
void plot_xy(struct plot *p, int series, double x, double y);
void plot_box(struct plot *p, int series, double x_from, double x_to, double y);
/* The next category from the top; its number. */
int plot_category(struct plot *p, const char *label);
/* `note` stands at the bar's end; NULL: none. */
void plot_bar(struct plot *p, int series, int category, double value, const char *note);

/* A dashed line across the chart, with its text (may be NULL). */
void plot_mark(struct plot *p, enum plot_axis axis, double at, const char *text);
void plot_text(struct plot *p, double x, double y, const char *text);
/* y = x with a band of this many percent, and both axes alike. */
void plot_diagonal(struct plot *p, double percent);

const char *plot_title(const struct plot *p); /* "": none */
/* One more object of the open array. ERR_IO when there is nothing to draw. */
int plot_put(const struct plot *p, struct out_json *j, struct err *e);

#endif
