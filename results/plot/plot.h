/* plot.h - charts: series on two axes, written as a gnuplot script and drawn by gnuplot to SVG, PNG or PDF.
 *
 *   struct plot *p = plot_new("Pointer chase", "one line at a time");
 *   plot_axis(p, PLOT_X, PLOT_BYTES, "working set");
 *   plot_axis(p, PLOT_Y, PLOT_LINEAR, "latency (ns)");
 *   int s = plot_series(p, PLOT_LINE, PLOT_BLUE, "simulated");
 *   plot_xy(p, s, 65536, 148);
 *   rc = plot_draw(p, "latency.svg", e);
 *   plot_free(p);
 *
 * What it draws: lines, points, points of a size, bands between two curves, steps of a histogram, and bars by category, side by side or
 * stacked; reference lines, a diagonal with a band of +-x % (simulated against measured), text at a place. Lines are
 * labelled at their right end, labels that would overlap are moved apart; other kinds have a legend above the chart.
 * Axes are linear, logarithmic, or logarithmic in bytes (ticks in KiB, MiB); their ends are computed here, so that a
 * script says all there is and the picture does not depend on gnuplot's choice. Colours are the eight of Okabe and Ito
 * (jfly.uni-koeln.de/color, 2008), told apart by the colour-blind too.
 * Texts may hold anything: they become quoted strings without escapes, with control bytes and broken UTF-8 replaced.
 * What is not finite, or not above 0 on a logarithmic axis, is not drawn.
 * Nothing fails before plot_script or plot_draw: a plot without memory remembers it.
 *
 * gnuplot (Debian: gnuplot-nox) is found by PATH when it is needed, and run without a shell. The picture goes to a file
 * beside the target that is renamed over it when it is whole: a failure leaves what was there. */
#ifndef NPUSIM_RESULTS_PLOT_PLOT_H
#define NPUSIM_RESULTS_PLOT_PLOT_H

#include <stdbool.h>

#include "sim/base/err.h"
#include "sim/base/str.h"

struct plot;

enum plot_axis { PLOT_X, PLOT_Y };
enum plot_scale { PLOT_LINEAR, PLOT_LOG, PLOT_BYTES };
enum plot_kind {
	PLOT_LINE,        /* plot_xy */
	PLOT_DOTTED_LINE, /* plot_xy: a line with a dot at each point */
	PLOT_POINTS,      /* plot_xy */
	PLOT_BUBBLES,     /* plot_sized: points whose areas say something too */
	PLOT_STEPS,       /* plot_box: x from, x to, y */
	PLOT_BAND,        /* plot_band: x, y from, y to */
	PLOT_BARS,        /* plot_bar: side by side in their category */
	PLOT_STACK        /* plot_bar: one after the other in their category */
};
/* clang-format off */
enum plot_colour {
	PLOT_AUTO, PLOT_GREY, PLOT_BLUE, PLOT_RED, PLOT_GREEN, PLOT_PURPLE, PLOT_SKY, PLOT_ORANGE, PLOT_YELLOW, PLOT_BLACK
};
/* clang-format on */
enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF };

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
/* `size` from 0 to 1: of the largest bubble's area. */
void plot_sized(struct plot *p, int series, double x, double y, double size);
void plot_box(struct plot *p, int series, double x_from, double x_to, double y);
void plot_band(struct plot *p, int series, double x, double y_from, double y_to);
/* The next category from the top; its number. */
int plot_category(struct plot *p, const char *label);
/* `note` stands at the bar's end; NULL: none. */
void plot_bar(struct plot *p, int series, int category, double value, const char *note);

/* A dashed line across the chart, with its text (may be NULL). */
void plot_mark(struct plot *p, enum plot_axis axis, double at, const char *text);
void plot_text(struct plot *p, double x, double y, const char *text);
/* y = x with a band of this many percent, and both axes alike. */
void plot_diagonal(struct plot *p, double percent);

/* By the ending of the file's name; another one is ERR_USAGE. */
int plot_format_of(const char *path, enum plot_format *f, struct err *e);
/* The script; it writes the picture to gnuplot's stdout. ERR_IO when there is nothing to draw. */
int plot_script(const struct plot *p, enum plot_format f, struct str *out, struct err *e);
int plot_draw(const struct plot *p, const char *path, struct err *e);

#endif
