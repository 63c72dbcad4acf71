/* trace_stages.c - npusim trace stages: what a trace's time was for, and where each stage is under the roofline. */
#include "sim/cli/bound.h"
#include "sim/report/stages_doc.h"

#define FAMILIES_SHOWN 4

struct options {
	struct bound_options b;
	const char *format;
	uint64_t n;
};

static int stages(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct bound_input in = { .rules = NULL };
	struct stages s;
	int rc = bound_input_whole(&in, args->v[0], &o->b, e);

	if (rc == 0) {
		const struct bound_criteria by = { in.rules, in.t.counters, &in.b.roof, &in.b.rule };

		rc = stages_of(&in.t.trace, &by, in.t.arena, &s, e);
	}
	if (rc == 0)
		stages_doc(d, &in.t.trace, &s, o->n);
	bound_input_free(&in);
	return rc;
}

int cmd_trace_stages(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = FAMILIES_SHOWN };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N families with most time of each stage; 4 by default" },
		BOUND_OPTS(&o.b),
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the stages alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace stages T.db [-n N] [--range NAME] [-c GPU.yaml]",
		"What a trace's time was for: vision, prefill and decode side by side, with their queries and keys, times,"
		" operations and bytes a second, how near that is to the roofline, and the families of kernels with most"
		" time. An annotation with a word for one stage (vision, visual, image, vit; prefill, prompt; decode,"
		" decoding) tells the stage of what was launched inside it. Elsewhere attention tells: a few queries over"
		" many keys are decode, causal attention is prefill, and where all see all it is an encoder, vision. A pass"
		" begins at an annotation, at a lookup of tokens or where the stage changes. of_roof is the time that bytes"
		" or operations need at the device's rates, whichever is longer, in percent of the measured; bytes are each"
		" operand once, or Nsight Compute's.",
		"npusim trace stages /tmp/t.db\n"
		"npusim trace stages /tmp/t.db --range decode_step_1 -n 8\n"
		"npusim trace stages /tmp/t.db --format json\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, stages, &o, argc, argv, out, e);
}
