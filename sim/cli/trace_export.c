/* trace_export.c - npusim trace export: a trace as a timeline, or its launches as CSV. */
#include "sim/cli/cmd.h"

#include <string.h>
#include <strings.h>

#include "sim/report/chrome_trace.h"
#include "sim/report/launches.h"

struct options {
	const char *to, *range;
};

static int kind_of(const char *path, bool *csv, struct err *e)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	if (!path)
		return err_set(e, ERR_USAGE, "the file to write is missing: -o FILE.json (a timeline) or -o FILE.csv");
	*csv = dot && strcasecmp(dot, ".csv") == 0;
	if (*csv || (dot && strcasecmp(dot, ".json") == 0))
		return 0;
	return err_set(e, ERR_USAGE, "'%s' ends in neither .json nor .csv, which say what to write", path);
}

struct export
{
	const char *to;
	bool csv, open;
	struct outfile file;
	struct chrome_trace t;
	size_t n;
};

/* The file is made when there is something to write. */
static int write_piece(void *arg, const struct trace *piece, struct err *e)
{
	struct export *x = arg;

	if (!x->open) {
		if (outfile_open(&x->file, x->to, e) < 0)
			return -1;
		x->open = true;
		if (x->csv)
			launches_head(&x->file);
		else
			chrome_trace_begin(&x->t, &x->file);
	}
	x->n += piece->n_launches;
	return x->csv ? launches_rows(&x->file, piece, e) : chrome_trace_piece(&x->t, piece, e);
}

static int trace_export(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	const char *path = args->v[0];
	struct export x = { .to = o->to };
	struct measured t;
	int rc;

	if (kind_of(o->to, &x.csv, e) < 0)
		return -1;
	rc = cmd_measured((struct measured_from){ path, o->range, .each = write_piece, .each_arg = &x }, &t, e);
	if (rc == 0 && !x.open)
		rc = err_set(e, ERR_IO,
		             "no launches in '%s': its %zu kernels are known only as statistics; 'trace top' shows"
		             " them",
		             path, t.trace.n_stats);
	if (rc == 0 && !x.csv)
		rc = chrome_trace_end(&x.t, &t.trace, e);
	if ((rc = outfile_close(&x.file, rc, e)) == 0)
		doc_say(d, "%zu launches of '%s' are in '%s'%s\n", x.n, path, o->to,
		        x.csv ? "" : ": open it at ui.perfetto.dev");
	chrome_trace_free(&x.t);
	measured_free(&t);
	return rc;
}

int cmd_trace_export(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { NULL, NULL };
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.to, "FILE",
		  "what to write: .json is a timeline in Chrome's format, .csv a row a"
		  " launch" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", CMD_RANGE_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace export T.db -o FILE [--range NAME]",
		"Writes a trace for other tools. The timeline has a process a device with a thread a stream, and the "
		"host with its"
		" ops, annotations and launch calls, from which arrows lead to what they launched; ui.perfetto.dev and"
		" chrome://tracing open it. Times in CSV are ns from the trace's first event.",
		"npusim trace export /tmp/t.db -o /tmp/t.json --range decode_step_1\n"
		"npusim trace export /tmp/t.db -o /tmp/launches.csv\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, NULL, trace_export, &o, argc, argv, out, e);
}
