/* bound.c - reading a trace with its counters and peaks, and saying by which rule it was classified. */
#include "sim/cli/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *text, const char *option, double least, double most, double *v, struct err *e)
{
	char *end;

	if (!text)
		return 0;
	*v = strtod(text, &end);
	if (*end || end == text || !(*v >= least && *v <= most))
		return err_set(e, ERR_USAGE, "'%s' is no number from %g to %g, for option '--%s'", text, least, most,
		               option);
	return 0;
}

struct reading {
	struct bound_input *in;
	const struct bound_options *o;
	struct roof_rule rule;
	struct bound_build *build;
};

static int roof_of_options(const struct bound_options *o, const struct trace *t, struct roof *roof, struct err *e)
{
	return o->peak ? roof_parse(o->peak, roof, e) : roof_load(o->config, t, roof, e);
}

static int check_options(const struct bound_options *o, struct roof_rule *rule, struct err *e)
{
	if (o->peak && o->config)
		return err_set(e, ERR_USAGE, "'--peak' and '--config' both say which peaks count: give one");
	return number(o->margin, "margin", 1, 100, &rule->margin, e) < 0 ||
	                       number(o->low, "low", 0, 100, &rule->low, e) < 0
	               ? -1
	               : 0;
}

/* Which device's peaks count is known when the trace's are. */
static int begin(struct reading *r, const struct trace *t, struct err *e)
{
	struct bound_input *in = r->in;
	struct roof roof;
	const struct bound_criteria by = { in->rules, in->t.counters, &roof, &r->rule };

	if (roof_of_options(r->o, t, &roof, e) < 0)
		return -1;
	r->build = bound_begin(&by, in->t.arena, &in->b, e);
	return r->build ? 0 : -1;
}

static int add_piece(void *arg, const struct trace *piece, struct err *e)
{
	struct reading *r = arg;

	return !r->build && begin(r, piece, e) < 0 ? -1 : bound_add(r->build, piece, e);
}

int bound_input_read(struct bound_input *in, const char *path, const struct bound_options *o, struct err *e)
{
	struct reading r = { .in = in, .o = o, .rule = ROOF_RULE };
	int rc = -1;

	memset(in, 0, sizeof *in);
	if (check_options(o, &r.rule, e) == 0 && (in->rules = rules_load(o->rules, e)) &&
	    cmd_measured((struct measured_from){ path, o->range, .each = add_piece, .each_arg = &r }, &in->t, e) == 0 &&
	    (r.build || begin(&r, &in->t.trace, e) == 0))
		rc = bound_end(r.build, &in->t.trace, e);
	bound_free(r.build);
	return rc;
}

int bound_input_whole(struct bound_input *in, const char *path, const struct bound_options *o, struct err *e)
{
	memset(in, 0, sizeof *in);
	in->b.rule = (struct roof_rule)ROOF_RULE;
	if (check_options(o, &in->b.rule, e) == 0 && (in->rules = rules_load(o->rules, e)) &&
	    cmd_measured((struct measured_from){ .path = path, .range = o->range }, &in->t, e) == 0)
		return roof_of_options(o, &in->t.trace, &in->b.roof, e);
	return -1;
}

void bound_input_free(struct bound_input *in)
{
	measured_free(&in->t);
	rules_free(in->rules);
}

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

void bound_rule(struct doc *d, const struct bound *b)
{
	const double counted = cmd_pct((double)b->counted_ns, (double)b->ns);

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
