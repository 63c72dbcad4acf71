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

static void class_text(const struct bound *b, int class, char text[64])
{
	snprintf(text, 64, "%s %.1f %%", roof_class_name((enum roof_class) class),
	         unit_pct((double)b->class_ns[class], (double)b->ns));
}

static void put_roof(struct out_json *j, const char *kind, const char *name, double peak, const char *text)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, "kind", kind);
	out_json_text(j, "name", name);
	out_json_real(j, "peak", peak);
	if (text)
		out_json_text(j, "text", text);
	out_json_close(j, '}');
}

/* Those of the pipes in use; normalised one alone. */
static void put_roofs(struct out_json *j, const struct bound *b, bool normalised)
{
	bool used[ROOF_PIPES] = { false };
	struct spot s;

	for (size_t i = 0; i < b->n_kernels; i++)
		used[b->kernels[i].pipe] |= spot_of(b, &b->kernels[i], &s);
	out_json_open(j, "roofs", '[');
	put_roof(j, "bytes", "DRAM", normalised ? 1 : b->roof.effective, normalised ? "bandwidth" : NULL);
	for (int i = 0; i < ROOF_PIPES && !normalised; i++)
		if (used[i])
			put_roof(j, "flops", roof_pipe_name((enum roof_pipe)i), b->roof.flops[i], NULL);
	if (normalised)
		put_roof(j, "flops", "peak", 1, "peak of the pipe");
	out_json_close(j, ']');
}

static void roofline_doc_put_points(struct out_json *j, const struct bound *b, bool normalised)
{
	char text[64];

	out_json_open(j, "classes", '[');
	for (int i = 0; i < ROOF_CLASSES; i++)
		if (b->class_ns[i]) {
			class_text(b, i, text);
			out_json_text(j, NULL, text);
		}
	out_json_close(j, ']');
	out_json_open(j, "points", '[');
	for (size_t i = 0; i < b->n_kernels; i++) {
		const struct bound_kernel *k = &b->kernels[i];
		struct spot s;

		if (!spot_of(b, k, &s))
			continue;
		class_text(b, (int)k->class, text);
		out_json_open(j, NULL, '{');
		out_json_text(j, "kind", text);
		out_json_real(j, "x", normalised ? s.ai / roof_ridge(&b->roof, k->pipe) : s.ai);
		out_json_real(j, "y", normalised ? s.flops / b->roof.flops[k->pipe] : s.flops);
		out_json_real(j, "us", (double)k->ns / 1e3);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

void roofline_page(struct out_json *j, const struct trace *t, const struct bound *b, bool normalised)
{
	char text[256];

	out_json_open(j, NULL, '{');
	out_json_text(j, "title", roofline_title(normalised));
	snprintf(text, sizeof text, "%.32s%s%s, %.0f GB/s; a point a kernel name, area and shares by time",
	         t->range ? t->range : "", t->range ? ", " : "", b->roof.name, b->roof.effective / 1e9);
	out_json_text(j, "subtitle", text);
	out_json_open(j, "axes", '{');
	out_json_text(j, "x", normalised ? "intensity over the ridge" : "intensity (FLOP/byte)");
	out_json_text(j, "y", normalised ? "FLOP/s over the peak" : "FLOP/s");
	out_json_text(j, "legend", "class, share of the time");
	if (normalised) {
		out_json_open(j, "format", '{');
		out_json_text(j, "format", "~g");
		out_json_close(j, '}');
	}
	out_json_close(j, '}');
	put_roofs(j, b, normalised);
	roofline_doc_put_points(j, b, normalised);
	out_json_close(j, '}');
}

const char *roofline_title(bool normalised)
{
	return normalised ? "Roofline, normalised to each pipe's peak and ridge" : "Roofline";
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
