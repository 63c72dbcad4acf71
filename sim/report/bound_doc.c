#include "sim/report/bound_doc.h"

#include <math.h>

#include "sim/ui/units.h"

/* fp4 only of devices that have it. */
static void say_pipe(struct doc *d, enum roof_pipe p, double v)
{
	if (isnan(v) && p == ROOF_FP4)
		return;
	doc_say(d, "%s %s ", p ? "," : "", roof_pipe_name(p));
	if (isnan(v))
		doc_say(d, "-");
	else
		doc_say(d, "%.1f", v);
}

static void peaks(struct doc *d, const struct roof *r)
{
	doc_open(d, "peaks", '{');
	doc_text(d, "config", r->name);
	doc_real(d, "gbps", 0, r->bandwidth / 1e9);
	doc_real(d, "effective_gbps", 0, r->effective / 1e9);
	doc_say(d, "peaks of %s: %.0f GB/s at the pins, %.0f GB/s effective;", r->name, r->bandwidth / 1e9,
	        r->effective / 1e9);
	for (int i = 0; i < ROOF_PIPES; i++) {
		doc_real(d, roof_pipe_name((enum roof_pipe)i), 1, r->flops[i] / 1e12);
		say_pipe(d, (enum roof_pipe)i, r->flops[i] / 1e12);
	}
	doc_close(d, '}');
	doc_say(d, " TFLOP/s\nridge, peak over effective bandwidth:");
	doc_open(d, "ridges", '{');
	for (int i = 0; i < ROOF_PIPES; i++) {
		doc_real(d, roof_pipe_name((enum roof_pipe)i), 1, roof_ridge(r, (enum roof_pipe)i));
		say_pipe(d, (enum roof_pipe)i, roof_ridge(r, (enum roof_pipe)i));
	}
	doc_close(d, '}');
}

void bound_doc(struct doc *d, const struct bound *b)
{
	const double counted = unit_pct((double)b->counted_ns, (double)b->ns);

	peaks(d, &b->roof);
	doc_open(d, "rule", '{');
	doc_real(d, "low_pct", 0, b->rule.low);
	doc_real(d, "margin", 0, b->rule.margin);
	doc_text(d, "latency-bound", "memory and math below low_pct");
	doc_text(d, "memory-bound", "intensity below the ridge and memory at least margin times math");
	doc_text(d, "compute-bound", "intensity at or above the ridge and math at least margin times memory");
	doc_text(d, "balanced", "neither clearly higher");
	doc_close(d, '}');
	doc_real(d, "counted_pct", 2, counted);
	doc_say(d,
	        " FLOP/byte\n"
	        "rule: latency-bound  both use less than %g %% of their peaks\n"
	        "      memory-bound   intensity below the ridge, and memory used at least %g times as much as math\n"
	        "      compute-bound  intensity at or above it, and math used at least %g times as much as memory\n"
	        "      balanced       the rest; unknown: neither counters nor shapes\n"
	        "by counters: %.2f %% of the kernel time; the rest by what the ops need, operands once each, over the"
	        " measured time\n",
	        b->rule.low, b->rule.margin, b->rule.margin, counted);
}
