/* plot.h - npusim plot: the pictures there are. */
#ifndef NPUSIM_SIM_CLI_PLOT_H
#define NPUSIM_SIM_CLI_PLOT_H

#include "sim/cli/cmd.h"

cmd_fn cmd_plot_roofline, cmd_plot_hist, cmd_plot_breakdown, cmd_plot_error, cmd_plot_fidelity, cmd_plot_latency,
	cmd_plot_link, cmd_plot_curve, cmd_plot_serve, cmd_plot_sweep, cmd_plot_pareto, cmd_plot_tornado;

#endif
