/* plot.c - npusim plot: what can be drawn. */
#include "sim/cli/plot.h"

const struct cmd cmd_plot_table[] = {
	{ "roofline", cmd_plot_roofline, NULL, "kernels of a trace under their device's roofs" },
	{ "hist", cmd_plot_hist, NULL, "how a metric is distributed over the kernels of a trace" },
	{ "breakdown", cmd_plot_breakdown, NULL, "time by kind of op: measured against simulated" },
	{ "error", cmd_plot_error, NULL, "kernel times of a GPU: simulated against measured" },
	{ "fidelity", cmd_plot_fidelity, NULL, "closed form beside events, at mappings that nobody chose" },
	{ "latency", cmd_plot_latency, NULL, "a machine's pointer chase over growing working sets" },
	{ "link", cmd_plot_link, NULL, "what a collective takes by size, measured beside simulated" },
	{ "curve", cmd_plot_curve, NULL, "what a user gets of a server beside what the machine makes" },
	{ "serve", cmd_plot_serve, NULL, "requests that a real server answered, measured beside simulated" },
	{ "sweep", cmd_plot_sweep, NULL, "the points of a sweep over one of its axes" },
	{ "pareto", cmd_plot_pareto, NULL, "the front of a sweep, and its knee" },
	{ "tornado", cmd_plot_tornado, NULL, "what matters in a sweep, axis by axis" },
	{ NULL, NULL, NULL, NULL }
};
