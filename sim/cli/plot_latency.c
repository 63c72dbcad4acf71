/* plot_latency.c - npusim plot latency: the curve of a pointer chase. */
#include "sim/cli/picture.h"
#include "sim/cli/plot.h"

#include <stdio.h>

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/probe_curve.h"

struct options {
	const char *config, *largest, *beside;
	struct opt_list sets;
	uint64_t samples;
	struct picture_to plot;
};

/* `m`, what was measured, may be NULL. */
static struct plot *plot_latency_chart(const struct machine_cfg *c, const struct probe_mem_point *x, int n,
                                       const struct probe_curve *m)
{
	char text[CFG_STR_MAX + 64];
	struct plot *p;
	int s;

	snprintf(text, sizeof text, "%s: one line at a time, each asked for when the one before has come", c->name);
	p = plot_new("Pointer chase", text);
	plot_axis(p, PLOT_X, PLOT_BYTES, "working set");
	plot_axis(p, PLOT_Y, PLOT_LINEAR, "latency (ns)");
	if (c->mem.l2.size) {
		snprintf(text, sizeof text, "L2 %.6g MiB", (double)c->mem.l2.size / (1 << 20));
		plot_mark(p, PLOT_X, (double)c->mem.l2.size, text);
	}
	s = m ? plot_series(p, PLOT_DOTTED_LINE, PLOT_GREY, "measured") : -1;
	for (int i = 0; m && i < m->n; i++)
		plot_xy(p, s, (double)m->bytes[i], m->ns[i]);
	s = plot_series(p, PLOT_LINE, PLOT_BLUE, "simulated");
	for (int i = 0; i < n; i++)
		if (!m || probe_curve_counted(m, i))
			plot_xy(p, s, (double)x[i].ws_bytes, x[i].mean_ns);
	if (m && !probe_curve_counted(m, 0))
		plot_text(p, (double)m->bytes[0], m->ns[0], "in L1");
	return p;
}

static int plot_latency(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct machine_conf *c;
	struct probe_mem_point points[PROBE_MEM_POINTS];
	struct probe_mem_opts r, w = { .seed = 1, .samples = (uint32_t)o->samples };
	struct probe_curve m;
	int rc = -1, n;

	(void)args;
	if (picture_check(&o->plot, e) < 0)
		return -1;
	if (!o->config)
		return opt_machine_missing(e);
	if (o->samples > 100000000)
		return err_set(e, ERR_USAGE, "at most 100000000 accesses, for option '--samples'");
	if (o->largest && cfg_parse_value(CFG_T_BYTES, o->largest, &w.largest, e) < 0) {
		e->kind = ERR_USAGE;
		return err_add(e, "reading an option");
	}
	c = machine_conf_load(o->config, o->sets.v, o->sets.n, e);
	if (!c || (o->beside && probe_curve_load(&m, o->beside, c->cfg.clock, e) < 0))
		goto out;
	if (o->beside) {
		w.sets = m.bytes;
		w.n_sets = m.n;
	}
	if ((n = probe_mem_latency(&c->cfg, &w, &r, points, e)) > 0)
		rc = picture_put(&o->plot, plot_latency_chart(&c->cfg, points, n, o->beside ? &m : NULL), d->to, e);
out:
	machine_conf_free(c);
	return rc;
}

int cmd_plot_latency(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .config = NULL };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG", "the machine, in YAML" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 0, "largest", OPT_TEXT, &o.largest, "BYTES",
		  "the last working set; by default eight times the caches" },
		{ 0, "samples", OPT_COUNT, &o.samples, "N", "accesses of a pointer chase; 4000 by default" },
		{ 0, "beside", OPT_READ, &o.beside, "FILE",
		  "a measured curve, at whose footprints the chase is simulated: validate/data/latency" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = { "npusim plot latency -c CONFIG -o FILE [--set KEY=VALUE]... [options]",
		                     "Draws what 'npusim probe latency' finds: the latency of one access at random "
		                     "places of a growing working"
		                     " set. Its plateaus are the latencies of L2 and DRAM." PICTURE_NEEDS,
		                     "npusim plot latency -c configs/npu/dsocr.yaml -o /tmp/latency.svg\n"
		                     "npusim plot latency -c configs/gpu/h200.yaml --beside "
		                     "traces/h200/micro/latency.csv -o /tmp/latency.png\n"
		                     "npusim plot latency -c configs/npu/dsocr.yaml --set 'l2.size=64 MiB' --script\n",
		                     opts,
		                     0,
		                     0 };

	return cmd_do(&cmd, NULL, plot_latency, &o, argc, argv, out, e);
}
