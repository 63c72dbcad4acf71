/* plot_link.c - npusim plot link: what a collective takes by size of its message, measured beside simulated. */
#include <stdio.h>

#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/cli/probe_link.h"

struct options {
	struct probe_link_options probe;
	struct picture_to plot;
};

/* Rows of a collective on so many chips, as they stand. */
static void draw_line(struct plot *p, const struct probe_link *x, uint32_t chips, bool measured,
                      enum plot_colour colour, const char *label)
{
	const int s = plot_series(p, measured ? PLOT_POINTS : PLOT_LINE, colour, label);

	for (size_t i = 0; i < x->n; i++)
		if (x->row[i].ask.chips == chips)
			plot_xy(p, s, (double)x->row[i].ask.bytes,
			        measured ? x->row[i].us : (double)x->row[i].time.total / 1e6);
}

static bool drawn_before(const struct probe_link *x, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (x->row[k].ask.chips == x->row[i].ask.chips)
			return true;
	return false;
}

static struct plot *link_chart(const struct probe_link *x, const char *name, const char *beside)
{
	static const enum plot_colour colours[] = { PLOT_BLUE, PLOT_RED, PLOT_GREEN, PLOT_PURPLE, PLOT_ORANGE };
	const char *what = link_collective_name(x->row[0].ask.what);
	char text[600];
	struct plot *p;
	size_t n = 0;

	snprintf(text, sizeof text, "%s: %s, %s%s", name, what,
	         beside ? "lines simulated, points measured: " : "in closed form", beside ? beside : "");
	p = plot_new("Collectives by size", text);
	plot_axis(p, PLOT_X, PLOT_BYTES, "message");
	plot_axis(p, PLOT_Y, PLOT_LOG, "time (us)");
	for (size_t i = 0; i < x->n; i++) {
		const uint32_t chips = x->row[i].ask.chips;
		const enum plot_colour colour = colours[n % (sizeof colours / sizeof *colours)];

		if (drawn_before(x, i))
			continue;
		snprintf(text, sizeof text, "%u chips", chips);
		draw_line(p, x, chips, false, colour, text);
		snprintf(text, sizeof text, "%u measured", chips);
		if (x->row[i].us > 0)
			draw_line(p, x, chips, true, colour, text);
		n++;
	}
	return p;
}

static int plot_link(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct arena *a;
	struct probe_link x;
	const char *name;
	int rc;

	(void)args;
	if (picture_check(&o->plot, e) < 0)
		return -1;
	if (!(a = arena_new(0)))
		return err_nomem(e, "for a picture");
	rc = probe_link_ask(&o->probe, false, a, &name, &x, e);
	if (rc == 0 && !x.n)
		rc = err_set(e, ERR_IO, "'%s' has no row of that collective", o->probe.beside);
	if (rc == 0)
		rc = picture_put(&o->plot, link_chart(&x, name, o->probe.beside), d->to, e);
	arena_free(a);
	return rc;
}

int cmd_plot_link(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .probe = { .config = NULL } };
	const struct opt opts[] = {
		PROBE_LINK_OPTS(&o.probe),
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot link -c SYSTEM -o FILE [--collective NAME] [--chips N] [--beside TABLE] [options]",
		"Draws what 'npusim probe link' finds: what a collective (an all-reduce unless another is named) takes by size of its"
		" message, a line for each number of chips, with the measured times of a table as points." PICTURE_NEEDS,
		"npusim plot link -c hgx-h200 --beside validate/data/links/nccl_h200.csv -o /tmp/links.svg\n"
		"npusim plot link -c dsocr-8 --collective all-to-all -o /tmp/links.png\n"
		"npusim plot link -c tpu-v6e-8 --script\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, NULL, plot_link, &o, argc, argv, out, e);
}
