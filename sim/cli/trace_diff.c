/* trace_diff.c - npusim trace diff: two traces side by side, by family and by kernel: what got slower. */
#include "sim/cli/cmd.h"
#include "sim/report/diff_doc.h"

struct options {
	const char *range, *range_b, *rules, *format;
	uint64_t n;
};

struct side {
	struct measured t;
	struct classify c;
};

static int read_side(struct side *s, const char *path, const char *range, struct rules *r, struct err *e)
{
	if (cmd_measured((struct measured_from){ .path = path, .range = range, .load = tracedb_load_groups }, &s->t,
	                 e) < 0)
		return -1;
	return classify_trace(&s->t.trace, r, s->t.arena, &s->c, e);
}

static int diff(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct side s[2] = { { .c = { 0 } }, { .c = { 0 } } };
	struct diff x = { .kernels = { NULL, 0 } };
	struct rules *rules = rules_load(o->rules, e);
	int rc = -1;

	if (rules && read_side(&s[0], args->v[0], o->range, rules, e) == 0 &&
	    read_side(&s[1], args->v[1], o->range_b ? o->range_b : o->range, rules, e) == 0 &&
	    diff_of(&s[0].c, &s[1].c, &x, e) == 0) {
		const struct diff_side both[2] = { { &s[0].t.trace, &s[0].c }, { &s[1].t.trace, &s[1].c } };

		diff_doc(d, both, &x, cmd_first(o->n, x.kernels.n));
		rc = 0;
	}
	diff_free(&x);
	measured_free(&s[0].t);
	measured_free(&s[1].t);
	rules_free(rules);
	return rc;
}

int cmd_trace_diff(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = UINT64_MAX };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels that lose most time; all of them by default" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", "only what was launched inside this annotation, in both" },
		{ 0, "range-b", OPT_TEXT, &o.range_b, "NAME", "another one in B" },
		{ 0, "rules", OPT_READ, &o.rules, "FILE", CMD_FAMILIES_HELP },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the kernels alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace diff A.db B.db [-n N] [--range NAME] [--range-b NAME]",
		"What got slower from A to B, two devices or two versions of the same work: families, then kernels, "
		"with counts"
		" and times of both; what lost most time comes first. Kernels are paired by their full name. Libraries "
		"choose"
		" other kernels on another device: the share of time in names that only one has is printed, and "
		"families compare"
		" across it.",
		"npusim trace diff /tmp/old.db /tmp/new.db -n 20\n"
		"npusim trace diff /tmp/t.db /tmp/t.db --range decode_step_0 --range-b decode_step_1\n",
		opts,
		2,
		2
	};

	return cmd_do(&cmd, &o.format, diff, &o, argc, argv, out, e);
}
