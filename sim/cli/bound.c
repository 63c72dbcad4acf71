/* bound.c - reading a trace with its counters and peaks. */
#include "sim/cli/bound.h"

#include <stdlib.h>
#include <string.h>

static int bound_number(const char *text, const char *option, double least, double most, double *v, struct err *e)
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

static int bound_check_options(const struct bound_options *o, struct roof_rule *rule, struct err *e)
{
	if (o->peak && o->config)
		return err_set(e, ERR_USAGE, "'--peak' and '--config' both say which peaks count: give one");
	return bound_number(o->margin, "margin", 1, 100, &rule->margin, e) < 0 ||
	                       bound_number(o->low, "low", 0, 100, &rule->low, e) < 0
	               ? -1
	               : 0;
}

/* Which device's peaks count is known when the trace's are. */
static int cmd_bound_begin(struct reading *r, const struct trace *t, struct err *e)
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

	return !r->build && cmd_bound_begin(r, piece, e) < 0 ? -1 : bound_add(r->build, piece, e);
}

int bound_input_read(struct bound_input *in, const char *path, const struct bound_options *o, struct err *e)
{
	struct reading r = { .in = in, .o = o, .rule = ROOF_RULE };
	int rc = -1;

	memset(in, 0, sizeof *in);
	if (bound_check_options(o, &r.rule, e) == 0 && (in->rules = rules_load(o->rules, e)) &&
	    cmd_measured((struct measured_from){ path, o->range, .each = add_piece, .each_arg = &r }, &in->t, e) == 0 &&
	    (r.build || cmd_bound_begin(&r, &in->t.trace, e) == 0))
		rc = bound_end(r.build, &in->t.trace, e);
	bound_free(r.build);
	return rc;
}

int bound_input_whole(struct bound_input *in, const char *path, const struct bound_options *o, struct err *e)
{
	memset(in, 0, sizeof *in);
	in->b.rule = (struct roof_rule)ROOF_RULE;
	if (bound_check_options(o, &in->b.rule, e) == 0 && (in->rules = rules_load(o->rules, e)) &&
	    cmd_measured((struct measured_from){ .path = path, .range = o->range }, &in->t, e) == 0)
		return roof_of_options(o, &in->t.trace, &in->b.roof, e);
	return -1;
}

void bound_input_free(struct bound_input *in)
{
	measured_free(&in->t);
	rules_free(in->rules);
}
