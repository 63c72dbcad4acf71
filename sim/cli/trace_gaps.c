/* trace_gaps.c - npusim trace gaps: how busy the device was, and what it waited for. */
#include "sim/cli/cmd.h"
#include "sim/report/gaps_doc.h"

struct options {
	const char *range, *format;
	uint64_t n;
};

static int gaps(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct measured t = { 0 };
	struct gaps g;
	int rc;

	if (cmd_measured((struct measured_from){ .path = args->v[0], .range = o->range }, &t, e) < 0)
		return -1;
	if ((rc = gaps_of(&t.trace, t.arena, &g, e)) == 0)
		rc = gaps_doc(d, &(struct gaps_doc){ &t.trace, &g, t.arena, o->n }, e);
	measured_free(&t);
	return rc;
}

int cmd_trace_gaps(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = 5 };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N longest gaps; 5 by default" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", CMD_RANGE_HELP },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS,
		  CMD_FORMAT_HELP "; csv has all gaps in order of time" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace gaps T.db [-n N] [--range NAME]",
		"When the device did nothing, and what it waited for: how much of the time it was busy, idle time by cause,"
		" streams, gaps by length, and the longest. Each nanosecond of a gap has one cause, by when the host called"
		" for the launch that ends it. Before the call it is 'host', where launching is what is slow, or as far as"
		" the host had waited before, 'copy' (for a copy's result, as .item() and .tolist() do) or 'sync'. From the"
		" call on it is 'launch', the way to an idle device; of a launch that was queued 'stream', 'other_stream' or"
		" 'graph'. alone_us is a stream's time with no other busy.",
		"npusim trace gaps /tmp/t.db --range decode_step_1\n"
		"npusim trace gaps /tmp/t.db -n 20\n"
		"npusim trace gaps /tmp/t.db --format csv\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, gaps, &o, argc, argv, out, e);
}
