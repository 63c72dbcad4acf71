/* draw.h - a chart of a page (sim/report/page.h) as a file: SVG, PNG or PDF.
 *
 * What draws is the page's own script: Node.js (Debian: nodejs) runs it without a browser (results/report/draw.js) and writes SVG;
 * rsvg-convert (Debian: librsvg2-bin) makes PNG and PDF of that. Both are found by PATH when they are needed, and run without a shell.
 * The picture goes to a file beside the target that is renamed over it when it is whole: a failure leaves what was there. */
#ifndef NPUSIM_RESULTS_PLOT_DRAW_H
#define NPUSIM_RESULTS_PLOT_DRAW_H

#include "sim/base/err.h"
#include "sim/base/str.h"

enum draw_format { DRAW_SVG, DRAW_PNG, DRAW_PDF };

struct draw {
	const char *script;     /* of draw.js */
	const struct str *page; /* with its data */
	const char *chart;      /* its name there */
};

/* By the ending of the file's name; another one is ERR_USAGE. */
int draw_format_of(const char *path, enum draw_format *f, struct err *e);
int draw_file(const struct draw *d, const char *path, struct err *e);
/* What is drawn: a Vega-Lite specification with its data, as JSON. */
int draw_spec(const struct draw *d, struct str *out, struct err *e);

#endif
