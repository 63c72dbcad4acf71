/* trace_stalls.c - npusim trace stalls: why warps did not issue. */
#include "sim/cli/cmd.h"
#include "sim/report/stalls_doc.h"

static int stalls(void *most, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct tracedb *db = cmd_trace_open(args->v[0], e);
	struct rules *rules = db ? rules_load(NULL, e) : NULL;
	struct arena *a = arena_new(MEASURED_MEMORY);
	struct stalls s;
	int rc = -1;

	if (!a)
		err_nomem(e, "for the stall reasons");
	else if (rules && (rc = stalls_of(db, rules, a, &s, e)) == 0)
		stalls_doc(d, &s, cmd_first(*(uint64_t *)most, s.n));
	arena_free(a);
	rules_free(rules);
	tracedb_free(db);
	return rc;
}

int cmd_trace_stalls(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	uint64_t n = 15;
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &n, "N", "the N kernels with most time; 15 by default" },
		{ 0, "format", OPT_TEXT, &format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has a row a kernel and reason" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace stalls T.db [-n N]",
		"Why the warps of each kernel did not issue, as Nsight Compute sampled it: of the cycles that warps were there,"
		" the part that each reason took, by time. 'selected' is the part in which they issued. Such metrics are in a"
		" file of 'ncu --section WarpStateStats --csv --page raw' or of '--set full'.",
		"npusim trace stalls /tmp/counted.db\n"
		"npusim trace stalls counted.csv --format csv\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &format, stalls, &n, argc, argv, out, e);
}
