/* trace_waves.c - npusim trace waves: how kernels fill their device. */
#include "sim/cli/bound.h"
#include "sim/report/waves_doc.h"

struct options {
	struct bound_options b;
	const char *format;
	uint64_t n;
};

static int waves(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct bound_input in = { .rules = NULL };
	struct waves w;
	int rc = bound_input_whole(&in, args->v[0], &o->b, e);

	if (rc == 0)
		rc = waves_trace(&in.t.trace, &in.b.roof, in.rules, in.t.counters, in.t.arena, &w, e);
	if (rc == 0)
		waves_doc(d, &in.t.trace, &in.b.roof, &w, cmd_first(o->n, w.n));
	bound_input_free(&in);
	return rc;
}

int cmd_trace_waves(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = 15 };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels with most time; 15 by default" },
		{ 'c', "config", OPT_READ, &o.b.config, "CONFIG",
		  "the device; by default the one in configs/gpu that describes the trace's device" },
		{ 0, "range", OPT_TEXT, &o.b.range, "NAME", CMD_RANGE_HELP },
		{ 0, "rules", OPT_READ, &o.b.rules, "FILE", CMD_RULES_HELP },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the kernels alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace waves T.db [-n N] [--range NAME] [-c GPU.yaml]",
		"How kernels fill their device, by grid, block, registers and shared memory: how many blocks an SM holds at"
		" once and what limits that (per_sm, limit), how many waves of them the grid is, and the occupancy that"
		" follows. theory is what an SM can hold, active what those hold that have blocks, device the mean over all SMs"
		" (PyTorch's profiler estimates it as 'achieved'), achieved what Nsight Compute counted of active ones. Below one wave SMs are idle; of 1.1 waves the"
		" last runs on a tenth of them.",
		"npusim trace waves /tmp/t.db --range decode_step_1\n"
		"npusim trace waves /tmp/t.db -n 5 --format json\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, waves, &o, argc, argv, out, e);
}
