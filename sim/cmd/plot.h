/* plot.h - what the plots of the command line share: where the picture goes, and sending it there. */
#ifndef NPUSIM_SIM_CMD_PLOT_H
#define NPUSIM_SIM_CMD_PLOT_H

#include "results/plot/plot.h"
#include "sim/cmd/cmd.h"

struct cmd_plot {
	const char *to;
	bool script;
};

/* Rows for the option table of a plot whose options are in struct cmd_plot *P. */
#define CMD_PLOT_OPTS(P) \
	{ 'o', "output", OPT_TEXT, &(P)->to, "FILE", "the picture: .svg, .png or .pdf" }, \
	{ \
		0, "script", OPT_FLAG, &(P)->script, NULL, \
			"print the gnuplot script instead, for the kind of FILE or svg" \
	}

/* Before any work is done: is it said where to? */
int cmd_plot_check(const struct cmd_plot *o, struct err *e);
/* Draws it, or prints the script; frees the chart in any case. */
int cmd_plot_put(const struct cmd_plot *o, struct plot *p, struct str *out, struct err *e);

cmd_fn cmd_plot_roofline, cmd_plot_hist, cmd_plot_breakdown, cmd_plot_error, cmd_plot_latency, cmd_plot_sweep,
	cmd_plot_pareto, cmd_plot_tornado;

#endif
