/* plot.c - npusim plot: what can be drawn, and the picture's way out. */
#include "sim/cmd/plot.h"

const struct cmd cmd_plot_table[] = {
	{ "roofline", cmd_plot_roofline, NULL, "kernels of a trace under their device's roofs" },
	{ "hist", cmd_plot_hist, NULL, "how a metric is distributed over the kernels of a trace" },
	{ "breakdown", cmd_plot_breakdown, NULL, "time by kind of op: measured against simulated" },
	{ "error", cmd_plot_error, NULL, "kernel times of a GPU: simulated against measured" },
	{ "latency", cmd_plot_latency, NULL, "a machine's pointer chase over growing working sets" },
	{ "sweep", cmd_plot_sweep, NULL, "the points of a sweep over one of its axes" },
	{ "pareto", cmd_plot_pareto, NULL, "the front of a sweep, and its knee" },
	{ "tornado", cmd_plot_tornado, NULL, "what matters in a sweep, axis by axis" },
	{ NULL, NULL, NULL, NULL }
};

int cmd_plot_check(const struct cmd_plot *o, struct err *e)
{
	enum plot_format f;

	if (!o->to && !o->script)
		return err_set(e, ERR_USAGE, "the picture's file is missing: -o FILE.svg (or .png, .pdf)");
	return o->to ? plot_format_of(o->to, &f, e) : 0;
}

int cmd_plot_put(const struct cmd_plot *o, struct plot *p, struct str *out, struct err *e)
{
	enum plot_format f = PLOT_SVG;
	int rc;

	if (o->script)
		rc = o->to && plot_format_of(o->to, &f, e) < 0 ? -1 : plot_script(p, f, out, e);
	else
		rc = plot_draw(p, o->to, e);
	plot_free(p);
	return rc;
}
