/* trace_import.c - npusim trace import: profiler files into a trace database.
 *
 * --wall is what one step takes without the profiler, which stretches the spans it records (twice, here). It is kept
 * with every step annotation of the file (see tracedb_steps for what a step is), or with the annotations named by
 * --range, and the file itself gets the sum over its steps. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#include "sim/base/path.h"
#include "sim/cli/cmd.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/ui/progress.h"
#include "traces/read/format.h"

struct options {
	const char *db, *from, *range, *format;
	uint64_t context; /* 0: not given */
	ps_t wall;        /* PS_NEVER: not given */
	bool redact;
};

static int set_wall(struct tracedb *t, const struct options *o, const char *file, bool fresh, struct err *e)
{
	const int64_t ns = (int64_t)(o->wall / PS_NS);
	int rc = o->range ? tracedb_set_wall(t, file, fresh, o->range, ns, e)
	                  : tracedb_set_step_walls(t, file, fresh, ns, e);

	if (rc == 1)
		rc = err_set(e, ERR_USAGE,
		             "'%s' is in '%s' under another name: say which annotation '--wall' is for"
		             " with '--range'",
		             file, o->db);
	return rc;
}

void cmd_trace_private_note(const char *file, const struct trace_import_stats *st, bool redact)
{
	if (st->command || st->texts)
		fprintf(stderr, "npusim: note: '%s' has %s%s%s: %s\n", file, st->command ? "a command line" : "",
		        st->command && st->texts ? " and " : "",
		        st->texts ? "concrete inputs of operators that are text" : "",
		        redact ? "left out" : "stored as read; '--redact' leaves it out");
}

/* --- importing --------------------------------------------------------------------------------------------- */

struct watch {
	struct progress *line;
	bool tried;
};

static void show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct watch *w = arg;

	if (!w->tried)
		w->line = progress_new("importing", "bytes", total);
	w->tried = true;
	progress_set(w->line, done);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add_row(struct out_table *t, const char *file, int rc, const struct trace_import_stats *st)
{
	const int64_t launches = st->kernels + st->copies + st->sets;
	const int64_t counts[] = { st->kernels, st->copies, st->sets, st->ops, st->ranges, st->syncs };

	out_text(t, file);
	out_text(t, rc == 0 ? "imported" : "was there already");
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		if (rc == 0)
			out_int(t, counts[i]);
		else
			out_null(t);
	}
	if (rc == 0)
		out_real(t, cmd_pct((double)st->linked, (double)launches));
	else
		out_null(t);
	if (rc == 0)
		out_int(t, st->dropped_args);
	else
		out_null(t);
}

static int import_one(struct tracedb *t, const char *file, const struct options *o, struct out_table *rows,
                      struct err *e)
{
	struct trace_import_stats st = { 0 };
	struct watch w = { NULL, false };
	const double begin = seconds();
	const struct format_options how = { (int64_t)o->context, show_progress, &w, path_source.temp() };
	enum trace_format from;
	double took;
	int rc;

	if (format_parse(o->from, &from, e) < 0)
		return -1;
	rc = format_import_with(t, from, file, &how, &st, e);
	progress_free(w.line);
	if (rc < 0)
		return -1;
	took = seconds() - begin;
	if (rc == 0 && st.stats)
		fprintf(stderr,
		        "npusim: note: '%s' is aggregated: its kernels are known only as statistics of %lld names;"
		        " they can be ranked and not run\n",
		        file, (long long)st.stats);
	if (rc == 0 && st.context)
		fprintf(stderr, "npusim: note: '%s' replays a table of kernels, with a context of %lld tokens%s\n",
		        file, (long long)st.context, o->context ? "" : " that it assumes; '--context' changes it");
	if (rc == 0 && st.untimed)
		fprintf(stderr,
		        "npusim: note: %lld of %lld kernels in '%s' have no duration among their metrics: they are"
		        " stored with 0\n",
		        (long long)st.untimed, (long long)st.kernels, file);
	if (rc == 0 && st.unlisted)
		fprintf(stderr,
		        "npusim: note: %lld of %lld kernels in '%s' are no ops that are known here, or their shapes do not go"
		        " together: nothing is modelled of those ('npusim trace ops --all' lists them)\n",
		        (long long)st.unlisted, (long long)st.kernels, file);
	if (rc == 0 && st.refuted)
		fprintf(stderr,
		        "npusim: note: in '%s' the ids of %lld launches name operators that are not around their calls; they"
		        " do not count, and %lld launches are linked by nesting\n",
		        file, (long long)st.refuted, (long long)st.nested);
	if (rc == 0) {
		cmd_trace_capture_note(file, &st);
		cmd_trace_private_note(file, &st, o->redact);
	} else if (o->redact) {
		fprintf(stderr, "npusim: note: '%s' is in '%s' already, and stays as it was stored\n", file, o->db);
	}
	if (rc == 0 && isatty(STDERR_FILENO) && st.json_bytes && took > 0)
		fprintf(stderr, "%s: %.1f MB of JSON in %.2f s, %.0f MB/s\n", file, (double)st.json_bytes / 1e6, took,
		        (double)st.json_bytes / 1e6 / took);
	if (o->wall != PS_NEVER && set_wall(t, o, file, rc == 0, e) < 0)
		return -1;
	add_row(rows, file, rc, &st);
	return 0;
}

static int check_options(const struct options *o, enum out_format *f, struct err *e)
{
	enum trace_format from;

	if (!o->db)
		return err_set(e, ERR_USAGE,
		               "the database to import into is missing: npusim trace import FILE... -o T.db");
	if (format_parse(o->from, &from, e) < 0)
		return -1;
	if (o->range && o->wall == PS_NEVER)
		return err_set(e, ERR_USAGE,
		               "'--range' says what '--wall' is the time of, and there is no '--wall'; the whole"
		               " file is imported, and the commands that read it take a '--range'");
	if (o->wall != PS_NEVER && o->wall < PS_NS)
		return err_set(e, ERR_USAGE, "a wall time below 1 ns cannot be right, for option '--wall'");
	return cmd_format(o->format, f, e);
}

static int import_all(const struct options *o, const struct opt_list *files, enum out_format f, struct str *out,
                      struct err *e)
{
	static const struct out_col cols[] = {
		{ "file", OUT_TEXT, 0 },        { "state", OUT_TEXT, 0 }, { "kernels", OUT_INT, 0 },
		{ "copies", OUT_INT, 0 },       { "sets", OUT_INT, 0 },   { "ops", OUT_INT, 0 },
		{ "ranges", OUT_INT, 0 },       { "syncs", OUT_INT, 0 },  { "linked_pct", OUT_REAL, 2 },
		{ "dropped_args", OUT_INT, 0 },
	};
	struct tracedb *t = tracedb_open(o->db, DB_WRITE, e);
	struct out_table *rows = t ? out_table_new(cols, sizeof cols / sizeof *cols, NULL) : NULL;
	int rc = t ? 0 : -1;

	if (rc == 0 && o->redact)
		tracedb_redact(t);
	if (rc == 0 && o->range)
		tracedb_expect_wall(t, o->range, (int64_t)(o->wall / PS_NS));
	for (int i = 0; rc == 0 && i < files->n; i++) {
		rc = import_one(t, files->v[i], o, rows, e);
		if (rc < 0 && files->n > 1)
			err_add(e, "importing file %d of %d; those before it are in", i + 1, files->n);
	}
	if (rc == 0)
		out_table_write(rows, f, out);
	out_table_free(rows);
	return tracedb_close(t, rc, e);
}

int cmd_trace_import(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .from = "auto", .wall = PS_NEVER };
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.db, "T.db",
		  "the trace database; made when it is not there, else added to" },
		{ 0, "from", OPT_TEXT, &o.from,
		  "auto|kineto|nsys|nsys-csv|ncu-csv|counters|capture|replay|ops|tt-metal|ascend|xplane|rocprof",
		  "what the files are: auto (default: by their content), kineto"
		  " (PyTorch profiler JSON), nsys (Nsight Systems SQLite), nsys-csv (nsys stats, cuda_gpu_kern_sum), ncu-csv"
		  " (Nsight Compute, details or raw page), counters (CSV whose header begins with 'kernel,': a table of such counters;"
		  " traces/README.md has the columns), capture (what a killed 'npusim trace record' left), replay (YAML:"
		  " a table of kernels in the order of another trace), ops (CSV whose header begins with 'op,': ops by their"
		  " sizes, without a trace; traces/README.md has the columns), or of other devices tt-metal (its ops report,"
		  " CSV), ascend (kernel_details.csv, op_summary.csv), xplane (XLA's trace viewer JSON: JAX, TensorFlow) or rocprof"
		  " (tables of kernels, which have no shapes)" },
		{ 0, "context", OPT_COUNT, &o.context, "TOKENS",
		  "of a replay (traces/rtx5090/dsocr.yaml): the tokens attended over, in place of what it assumes" },
		{ 0, "wall", OPT_PS, &o.wall, "TIME",
		  "what one step takes without the profiler, \"11.34 ms\" say: it becomes"
		  " the measured wall time that simulated time is compared with. Spans recorded under a profiler are"
		  " stretched, so they are never used for that" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME",
		  "the annotation that --wall is the time of; by default each"
		  " step, that is each of the outermost annotations which share the commonest name up to a trailing"
		  " number" },
		{ 0, "redact", OPT_FLAG, &o.redact, NULL, CMD_REDACT_HELP },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace import FILE... -o T.db [--wall TIME [--range NAME]]",
		"Reads profiler files into a trace database, where all other commands find them. One file is one transaction:"
		" a file that cannot be read leaves the database as it was. A file that is in already is noticed. Any of them may"
		" be gzipped. Of an aggregated profile (nsys-csv) only statistics are known, and 'kernels' counts them all. Under"
		" 'linked_pct' stands how many device activities are known to belong to an operation of the framework: those"
		" without one have no shapes. Command lines of captures and the concrete inputs of operators are stored as they"
		" are, unless '--redact' is given.",
		"npusim trace import traces/h200/kineto_dsocr_b1_c1024.json.gz -o /tmp/t.db\n"
		"npusim trace import traces/h200/kineto_dsocr_b1_c1024.json.gz -o /tmp/t.db --wall '11.34 ms'\n"
		"npusim trace import traces/rtx5090/dsocr.yaml --context 1890 -o /tmp/r.db\n"
		"npusim trace import workloads/ops/llama1b-decode.csv -o /tmp/ops.db\n",
		opts,
		1,
		-1
	};
	struct opt_list files = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &files, out, e);

	if (rc == 0 && (rc = check_options(&o, &f, e)) == 0)
		rc = import_all(&o, &files, f, out, e);
	opt_list_free(&files);
	return rc < 0 ? -1 : 0;
}
