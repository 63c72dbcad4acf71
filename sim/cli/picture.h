/* picture.h - what all commands that draw share: where the picture goes, and sending it there. */
#ifndef NPUSIM_SIM_CLI_PICTURE_H
#define NPUSIM_SIM_CLI_PICTURE_H

#include "results/plot/plot.h"
#include "sim/cli/cmd.h"
#include "sim/report/page.h"

struct picture_to {
	const char *to;
	bool spec;
};

#define PICTURE_NEEDS " Needs Node.js, and for PNG and PDF rsvg-convert."
/* Rows for the option table of a plot whose options are in struct picture_to *P. */
#define PICTURE_OPTS(P) \
	{ 'o', "output", OPT_WRITE, &(P)->to, "FILE", "the picture: .svg, .png or .pdf" }, \
	{ \
		0, "script", OPT_FLAG, &(P)->spec, NULL, \
			"print what is drawn instead: a Vega-Lite specification with its data, for an editor of such" \
	}

/* Before any work is done: is it said where to? */
int picture_check(const struct picture_to *o, struct err *e);
/* Draws it, or prints what is drawn; frees the chart in any case. */
int picture_put(const struct picture_to *o, struct plot *p, struct str *out, struct err *e);
/* The same of a chart that a page of these data has. */
int picture_put_page(const struct picture_to *o, const char *title, page_put *put, void *arg, const char *chart,
                     struct str *out, struct err *e);

#endif
