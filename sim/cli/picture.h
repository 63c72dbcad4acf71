/* picture.h - what all commands that draw share: where the picture goes, and sending it there. */
#ifndef NPUSIM_SIM_CLI_PICTURE_H
#define NPUSIM_SIM_CLI_PICTURE_H

#include "results/plot/plot.h"
#include "sim/cli/cmd.h"

struct picture_to {
	const char *to;
	bool script;
};

/* Rows for the option table of a plot whose options are in struct picture_to *P. */
#define PICTURE_OPTS(P) \
	{ 'o', "output", OPT_WRITE, &(P)->to, "FILE", "the picture: .svg, .png or .pdf" }, \
	{ \
		0, "script", OPT_FLAG, &(P)->script, NULL, \
			"print the gnuplot script instead, for the kind of FILE or svg" \
	}

/* Before any work is done: is it said where to? */
int picture_check(const struct picture_to *o, struct err *e);
/* Draws it, or prints the script; frees the chart in any case. */
int picture_put(const struct picture_to *o, struct plot *p, struct str *out, struct err *e);

#endif
