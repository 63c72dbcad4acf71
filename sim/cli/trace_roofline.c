/* trace_roofline.c - npusim trace roofline and npusim plot roofline: kernels against their device's roofs. */
#include "sim/cli/bound.h"

#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/report/roofline_doc.h"

struct options {
	struct bound_options b;
	const char *format;
	uint64_t n;
	bool normalised;
	struct picture_to plot;
};

static int roofline(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct bound_input in = { .rules = NULL };
	const int rc = bound_input_read(&in, args->v[0], &o->b, e);

	if (rc == 0)
		roofline_doc(d, &in.t.trace, &in.b, cmd_first(o->n, in.b.n_kernels));
	bound_input_free(&in);
	return rc;
}

struct drawn {
	const struct bound_input *in;
	bool normalised;
};

static int put_roofline(struct out_json *j, void *arg, struct err *e)
{
	const struct drawn *x = arg;

	(void)e;
	page_none_stored(j);
	out_json_open(j, "rooflines", '[');
	roofline_page(j, &x->in->t.trace, &x->in->b, x->normalised);
	out_json_close(j, ']');
	return 0;
}

static int trace_roofline_draw(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct bound_input in = { .rules = NULL };
	int rc;

	if (picture_check(&o->plot, e) < 0)
		return -1;
	rc = bound_input_read(&in, args->v[0], &o->b, e);
	if (rc == 0 && roofline_placed_ns(&in.b) == 0)
		rc = err_set(e, ERR_IO,
		             "of no kernel in '%s' operations and bytes are known: import a PyTorch profile with"
		             " shapes, or counters of Nsight Compute",
		             args->v[0]);
	if (rc == 0)
		rc = picture_put_page(&o->plot, roofline_title(o->normalised), put_roofline,
		                      &(struct drawn){ &in, o->normalised }, "roofline0", d->to, e);
	bound_input_free(&in);
	return rc;
}

int cmd_trace_roofline(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = UINT64_MAX };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels with most time; all of them by default" },
		BOUND_OPTS(&o.b),
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = { "npusim trace roofline T.db [-n N] [--range NAME] [-c GPU.yaml]",
		                     "Where each kernel stands under its device's roofline: operations a byte, "
		                     "operations a second, and the roof there,"
		                     " which is the lower of its pipe's peak and the effective bandwidth times the "
		                     "intensity. Classes, peaks and the"
		                     " rule are those of 'npusim trace classify'. 'npusim plot roofline' draws it.",
		                     "npusim trace roofline -n 10 /tmp/t.db --range decode_step_1\n"
		                     "npusim trace roofline /tmp/t.db --format csv\n",
		                     opts,
		                     1,
		                     1 };

	return cmd_do(&cmd, &o.format, roofline, &o, argc, argv, out, e);
}

int cmd_plot_roofline(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = 0 };
	const struct opt opts[] = {
		{ 0, "normalised", OPT_FLAG, &o.normalised, NULL,
		  "each kernel against the peak and the ridge of its own pipe:"
		  " one roof for all" },
		BOUND_OPTS(&o.b),
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = { "npusim plot roofline T.db -o FILE [--normalised] [--range NAME] [-c GPU.yaml]",
		                     "Draws what 'npusim trace roofline' prints: kernels by intensity and operations a "
		                     "second, coloured by class, with"
		                     " areas by time, under the compute roofs (horizontal) and the bandwidth roof "
		                     "(diagonal), both axes logarithmic." PICTURE_NEEDS,
		                     "npusim plot roofline /tmp/t.db --range decode_step_1 -o /tmp/roofline.svg\n"
		                     "npusim plot roofline /tmp/t.db --normalised -o /tmp/normalised.png\n",
		                     opts,
		                     1,
		                     1 };

	return cmd_do(&cmd, NULL, trace_roofline_draw, &o, argc, argv, out, e);
}
