/* trace_ops.c - npusim trace ops: the op stream a trace is lowered to, and how much of the time it covers. */
#include "sim/cli/cmd.h"
#include "sim/report/ops_doc.h"

struct options {
	struct workload_spec asked; /* its model: over which kernels without operators are laid */
	const char *format;
	bool all;
};

static int ops(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	struct workload_spec *asked = &o->asked;
	struct workload w = { .model = NULL };
	int rc;

	asked->trace = args->v[0];
	if (!asked->model && (asked->batch || asked->context))
		return err_set(e, ERR_USAGE, "options '--batch' and '--context' are of the model that ran (-m MODEL)");
	if (workload_values(asked, WORKLOAD_RUN, e) < 0)
		return -1;
	if ((rc = cmd_workload_read(asked, NULL, &w, e)) == 0)
		ops_doc(d, &w, o->all);
	workload_free(&w);
	return rc;
}

int cmd_trace_ops(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { 0 };
	const struct opt opts[] = {
		{ 0, "range", OPT_TEXT, &o.asked.range, "NAME", CMD_RANGE_HELP },
		{ 'a', "all", OPT_FLAG, &o.all, NULL,
		  "list every op: layer, rule, time, bytes, the ops it must wait for, and how its framework op is known" },
		{ 'm', "model", OPT_READ, &o.asked.model, "MODEL",
		  "of kernels that no operator is known of (a CUDA graph's, a served model's): the model that ran, over which"
		  " they are laid" },
		{ 0, "batch", OPT_COUNT, &o.asked.batch, "B",
		  "with -m: sequences side by side; by default as the kernels' grids say" },
		{ 0, "context", OPT_COUNT, &o.asked.context, "TOKENS",
		  "with -m: the tokens in the cache; by default as the kernels' grids say, or attention's time" },
		{ 0, "rules", OPT_READ, &o.asked.rules, "FILE", CMD_RULES_HELP },
		{ 0, "dtype", OPT_TEXT, &o.asked.dtype, workload_rows[WORKLOAD_KEY_DTYPE].arg,
		  workload_rows[WORKLOAD_KEY_DTYPE].help },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS,
		  CMD_FORMAT_HELP "; csv has the kinds, or with --all the ops; of a table of ops its rows" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace ops T.db [--range NAME] [-m MODEL] [--all]",
		"What was computed: every device activity becomes an operation with shapes, operands and dependencies, by the"
		" rule table. This is what 'run' replays on another machine. What no rule knows is opaque: its measured time is"
		" carried along and stays outside every bound, so the coverage printed here should be close to 100 %. Shapes are"
		" those of the framework's operators. A kernel's operator is the one of the profiler's id where that operator"
		" is around the kernel's launch, on its thread and in time; else the innermost one around the launch (nesting);"
		" else none. Of a graph it is the one around the call that made the kernel's node, where the profiler noted that (node). "
		"Where the recording has sizes and no types (emit_nvtx), types and numbers of the ops are inferred; how, and of"
		" how many, is said. Of a table of ops (CSV whose header begins with 'op,') each row is listed with its operations a byte,"
		" from its sizes and formats alone.",
		"npusim trace ops workloads/ops/gb200-decode.csv\n"
		"npusim trace ops /tmp/t.db --range decode_step_1\n"
		"npusim trace ops /tmp/t.db --range decode_step_1 --all --format csv\n"
		"npusim trace ops served.json -m llama-3.1-8b --all\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, ops, &o, argc, argv, out, e);
}
