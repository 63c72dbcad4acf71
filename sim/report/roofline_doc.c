#include "sim/report/roofline_doc.h"

#include <math.h>
#include <stdio.h>

#include "sim/report/bound_doc.h"
#include "sim/ui/units.h"

/* Where a kernel stands; false: it does no arithmetic that is known, or its pipe's peak is not, and has no place. */
struct spot {
	double ai, flops, roof;
};
static bool spot_of(const struct bound *b, const struct bound_kernel *k, struct spot *s)
{
	const double peak = b->roof.flops[k->pipe];

	*s = (struct spot){ NAN, NAN, NAN };
	if (!(k->flops > 0) || !(k->bytes > 0))
		return false;
	s->ai = k->flops / k->bytes;
	if (k->time > 0)
		s->flops = k->flops / k->time;
	if (isnan(peak))
		return false;
	s->roof = fmin(peak, s->ai * b->roof.effective);
	return k->time > 0;
}

/* --- printing ---------------------------------------------------------------------------------------------- */

static void roofline_doc_point(struct doc *d, const void *of, size_t i)
{
	const struct bound *b = of;
	const struct bound_kernel *k = &b->kernels[i];
	const bool json = d->format == OUT_JSON;
	struct spot s;

	if (!d->heads)
		spot_of(b, k, &s);
	doc_count(d, "rank", i + 1);
	if (json)
		doc_text(d, "name", k->name);
	doc_text(d, "friendly", k->friendly);
	doc_text(d, "class", roof_class_name(k->class));
	if (json)
		doc_text(d, "pipe", roof_pipe_name(k->pipe));
	doc_count(d, "count", k->count);
	doc_ns(d, "total_us", 3, k->ns);
	if (!json)
		doc_text(d, "pipe", roof_pipe_name(k->pipe));
	doc_real(d, "ai", 3, s.ai);
	doc_real(d, "gflops", 1, s.flops / 1e9);
	doc_real(d, "roof_gflops", 1, s.roof / 1e9);
	if (!json)
		doc_real(d, "of_roof_pct", 2, 100 * s.flops / s.roof);
	doc_real(d, "ai_over_ridge", 5, s.ai / roof_ridge(&b->roof, k->pipe));
	if (json)
		doc_real(d, "of_peak", 0, s.flops / b->roof.flops[k->pipe]);
	else
		doc_real(d, "of_peak_pct", 3, 100 * s.flops / b->roof.flops[k->pipe]);
}

uint64_t roofline_placed_ns(const struct bound *b)
{
	uint64_t ns = 0;
	struct spot s;

	for (size_t i = 0; i < b->n_kernels; i++)
		ns += spot_of(b, &b->kernels[i], &s) ? b->kernels[i].ns : 0;
	return ns;
}

/* --- drawing ----------------------------------------------------------------------------------------------- */

struct ends {
	double from, to;
	bool pipes[ROOF_PIPES];
};

/* Of the intensities, or of them over the ridge, with the ridges of the pipes in use. */
static struct ends look(const struct bound *b, bool normalised)
{
	struct ends x = { normalised ? 1 : INFINITY, normalised ? 1 : 0, { false } };
	struct spot s;

	for (size_t i = 0; i < b->n_kernels; i++) {
		const enum roof_pipe p = b->kernels[i].pipe;
		const double ridge = roof_ridge(&b->roof, p);

		if (!spot_of(b, &b->kernels[i], &s))
			continue;
		x.pipes[p] = true;
		s.ai = normalised ? s.ai / ridge : s.ai;
		x.from = fmin(x.from, fmin(s.ai, normalised ? 1 : ridge));
		x.to = fmax(x.to, fmax(s.ai, normalised ? 1 : ridge));
	}
	x.from /= 2;
	x.to *= 3;
	return x;
}

static void roofs(const struct bound *b, const struct ends *x, struct plot *p)
{
	double highest = 0;
	char text[80];
	int s;

	for (int i = 0; i < ROOF_PIPES; i++) {
		if (!x->pipes[i])
			continue;
		snprintf(text, sizeof text, "%s %.4g TFLOP/s", roof_pipe_name((enum roof_pipe)i),
		         b->roof.flops[i] / 1e12);
		s = plot_series(p, PLOT_LINE, PLOT_BLACK, text);
		plot_xy(p, s, roof_ridge(&b->roof, (enum roof_pipe)i), b->roof.flops[i] / 1e12);
		plot_xy(p, s, x->to, b->roof.flops[i] / 1e12);
		highest = fmax(highest, roof_ridge(&b->roof, (enum roof_pipe)i));
	}
	s = plot_series(p, PLOT_LINE, PLOT_BLACK, NULL);
	plot_xy(p, s, x->from, x->from * b->roof.effective / 1e12);
	plot_xy(p, s, highest, highest * b->roof.effective / 1e12);
}

struct plot *roofline_chart(const struct trace *t, const struct bound *b, bool normalised)
{
	static const enum plot_colour colours[ROOF_CLASSES] = { PLOT_BLUE, PLOT_RED, PLOT_GREEN, PLOT_ORANGE,
		                                                PLOT_GREY };
	const struct ends x = look(b, normalised);
	int series[ROOF_CLASSES], line;
	uint64_t most = b->n_kernels ? b->kernels[0].ns : 1;
	char text[200];
	struct plot *p;
	struct spot s;

	snprintf(text, sizeof text, "%.32s%s%s, %.0f GB/s; a point a kernel name, area and shares by time",
	         t->range ? t->range : "", t->range ? ", " : "", b->roof.name, b->roof.effective / 1e9);
	p = plot_new(normalised ? "Roofline, normalised to each pipe's peak and ridge" : "Roofline", text);
	plot_axis(p, PLOT_X, PLOT_LOG, normalised ? "intensity over the ridge" : "intensity (FLOP/byte)");
	plot_axis(p, PLOT_Y, PLOT_LOG, normalised ? "FLOP/s over the peak" : "TFLOP/s");
	plot_range(p, PLOT_X, x.from, x.to);
	if (normalised) {
		line = plot_series(p, PLOT_LINE, PLOT_BLACK, "peak");
		plot_xy(p, line, x.from, x.from);
		plot_xy(p, line, 1, 1);
		plot_xy(p, line, x.to, 1);
	} else {
		roofs(b, &x, p);
	}
	for (int i = 0; i < ROOF_CLASSES; i++) {
		snprintf(text, sizeof text, "%s %.1f %%", roof_class_name((enum roof_class)i),
		         unit_pct((double)b->class_ns[i], (double)b->ns));
		series[i] = b->class_ns[i] ? plot_series(p, PLOT_BUBBLES, colours[i], text) : -1;
	}
	for (size_t i = 0; i < b->n_kernels; i++) {
		const struct bound_kernel *k = &b->kernels[i];
		const double ridge = roof_ridge(&b->roof, k->pipe), peak = b->roof.flops[k->pipe];

		if (spot_of(b, k, &s))
			plot_sized(p, series[k->class], normalised ? s.ai / ridge : s.ai,
			           normalised ? s.flops / peak : s.flops / 1e12, (double)k->ns / (double)most);
	}
	return p;
}

/* --- the document ------------------------------------------------------------------------------------------ */

void roofline_doc(struct doc *d, const struct trace *t, const struct bound *b, size_t n)
{
	doc_open(d, NULL, '{');
	doc_text(d, "range", t->range);
	doc_count(d, "kernel_count", b->count);
	bound_doc(d, b);
	if (b->ns == 0)
		doc_say(d, "nobody timed these: where each could be at most, by the roof over it\n\n");
	else
		doc_say(d,
		        "kernels with operations and bytes that are known, and so a place: %.2f %% of the kernel"
		        " time\n\n",
		        unit_pct((double)roofline_placed_ns(b), (double)b->ns));
	doc_table(d, "points", NULL, n, roofline_doc_point, b);
	doc_close(d, '}');
}
