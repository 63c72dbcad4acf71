/* plot_int.h - a chart in memory: shared by plot.c (building it), plot_script.c and plot_run.c. */
#ifndef NPUSIM_RESULTS_PLOT_PLOT_INT_H
#define NPUSIM_RESULTS_PLOT_PLOT_INT_H

#include "results/plot/plot.h"

/* LINE, POINTS: x, y. BUBBLES: x, y, to is the size. STEPS: x, to, y. BAND: x, y, to. BARS, STACK: x is the value, y the category. */
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
	int n_series, n_categories, n_marks, n_texts, turn;
	double diagonal; /* percent; below 0: none */
	const char *failed;
};

#endif
