/* trace_top.c - npusim trace top: kernels and families of kernels by time. */
#include "sim/cli/trace_by.h"
#include "sim/report/top_doc.h"

struct options {
	const char *range, *rules, *format, *by, *sort, *filter;
	uint64_t n;
};

static int top(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct trace_by by = { .range = o->range, .rules = o->rules, .filter = o->filter, .n = o->n };
	struct measured t = { .arena = NULL };
	struct classify k;
	int rc = -1;

	if (sums_order_parse(o->sort, &by.sort, e) < 0 || (o->by && sums_parse(o->by, &by.by, e) < 0))
		return -1;
	if (o->by)
		return trace_by(args->v[0], &by, d, e);
	if (cmd_measured((struct measured_from){ .path = args->v[0],
	                                         .range = o->range,
	                                         .load = tracedb_load_groups,
	                                         .rules = o->rules ? o->rules : "" },
	                 &t, e) == 0 &&
	    (!o->filter || sums_filter(&t.trace, o->filter, t.rules, e) == 0) &&
	    classify_trace(&t.trace, t.rules, t.arena, &k, e) == 0)
		rc = top_doc(
			d,
			&(struct top_doc){ &t.trace, &k, t.counters, by.sort, cmd_first(o->n, k.n_kernels), t.arena },
			e);
	measured_free(&t);
	return rc;
}

int cmd_trace_top(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = UINT64_MAX };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels with most time; all of them by default" },
		{ 0, "by", OPT_TEXT, &o.by, "op|layer|stream|family",
		  "sum kernels by the framework op that launched them, by layer, stream or family, in place of their names" },
		{ 0, "sort", OPT_TEXT, &o.sort, "total|count|mean|longest|name", "the order; total time by default" },
		{ 0, "filter", OPT_TEXT, &o.filter, "REGEX",
		  "only kernels with a match in their name, friendly name or family (POSIX extended, blind to case); shares are"
		  " of what is left" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", CMD_RANGE_HELP },
		{ 0, "rules", OPT_READ, &o.rules, "FILE", CMD_FAMILIES_HELP },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the kernels alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace top T.db [-n N] [--range NAME]",
		"Where the GPU's time went: kernels by name, longest first, and families of kernels (what a kernel is for,"
		" by the rule table). Shares are of kernel time; copies and sets stand apart. A kernel whose name serves"
		" several families has the one with most of its time in its row, while families are summed launch by"
		" launch. cum_pct is the share of a row and of all above it.",
		"npusim trace top -n 10 /tmp/t.db\n"
		"npusim trace top /tmp/t.db --sort longest -n 10\n"
		"npusim trace top /tmp/t.db --by layer\n"
		"npusim trace top /tmp/t.db --by op --filter 'gemm|gemv'\n"
		"npusim trace top /tmp/t.db --range decode_step_1 --format json\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, top, &o, argc, argv, out, e);
}
