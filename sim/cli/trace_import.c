/* trace_import.c - npusim trace import: profiler files into a trace database.
 *
 * --wall is what one step takes without the profiler, which stretches the spans it records (twice, here). It is kept
 * with every step annotation of the file (see tracedb_steps for what a step is), or with the annotations named by
 * --range, and the file itself gets the sum over its steps. */
#define _POSIX_C_SOURCE 200809L /* isatty */
#include "sim/base/path.h"
#include "sim/cli/cmd.h"

#include <stdio.h>
#include <unistd.h>

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

/* --- importing --------------------------------------------------------------------------------------------- */

struct row {
	const char *file;
	bool fresh;
	struct trace_import_stats st;
};

static void trace_import_row(struct doc *d, const void *of, size_t i)
{
	const struct row *x = of;
	const struct trace_import_stats *st = &x->st;

	(void)i;
	doc_text(d, "file", x->file);
	doc_text(d, "state", x->fresh ? "imported" : "was there already");
	doc_count_if(d, "kernels", x->fresh, (uint64_t)st->kernels);
	doc_count_if(d, "copies", x->fresh, (uint64_t)st->copies);
	doc_count_if(d, "sets", x->fresh, (uint64_t)st->sets);
	doc_count_if(d, "ops", x->fresh, (uint64_t)st->ops);
	doc_count_if(d, "ranges", x->fresh, (uint64_t)st->ranges);
	doc_count_if(d, "syncs", x->fresh, (uint64_t)st->syncs);
	doc_real_if(d, "linked_pct", 2, x->fresh,
	            unit_pct((double)st->linked, (double)(st->kernels + st->copies + st->sets)));
	doc_count_if(d, "dropped_args", x->fresh, (uint64_t)st->dropped_args);
}

static int import_one(struct tracedb *t, const char *file, const struct options *o, struct doc *d, struct err *e)
{
	struct trace_import_stats st = { 0 };
	struct progress *line = NULL;
	const uint64_t began = progress_now_ns();
	const struct format_options how = { (int64_t)o->context, cmd_show_bytes, &line, path_source.temp() };
	enum trace_format from;
	double took;
	int rc;

	if (format_parse(o->from, &from, e) < 0)
		return -1;
	rc = format_import_with(t, from, file, &how, &st, e);
	progress_free(line);
	if (rc < 0)
		return -1;
	took = (double)(progress_now_ns() - began) / 1e9;
	if (rc == 0)
		cmd_trace_import_note(file, &st, o->context);
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
	doc_row(d, trace_import_row, &(struct row){ file, rc == 0, st }, 0);
	return 0;
}

static int trace_import_check_options(const struct options *o, struct err *e)
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
	return 0;
}

static int import_all(void *options, const struct opt_list *files, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct tracedb *t;
	int rc = 0;

	if (trace_import_check_options(o, e) < 0 || !(t = tracedb_open(o->db, DB_WRITE, e)))
		return -1;
	if (o->redact)
		tracedb_redact(t);
	if (o->range)
		tracedb_expect_wall(t, o->range, (int64_t)(o->wall / PS_NS));
	doc_table_open(d, NULL, NULL);
	for (int i = 0; rc == 0 && i < files->n; i++) {
		rc = import_one(t, files->v[i], o, d, e);
		if (rc < 0 && files->n > 1)
			err_add(e, "importing file %d of %d; those before it are in", i + 1, files->n);
	}
	doc_table_close(d, trace_import_row, NULL);
	if (rc < 0)
		doc_drop(d);
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
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
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

	return cmd_do(&cmd, &o.format, import_all, &o, argc, argv, out, e);
}
