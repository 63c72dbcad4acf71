/* trace_import.c - npusim trace import: profiler files into a trace database.
 *
 * --wall is what one step takes without the profiler, which stretches the spans it records (twice, here). It is kept
 * with every step annotation of the file (see tracedb_steps for what a step is), or with the annotations named by
 * --range, and the file itself gets the sum over its steps. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#include "sim/cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/ui/progress.h"
#include "traces/read/format.h"

struct options {
	const char *db, *from, *range, *format;
	uint64_t context; /* 0: not given */
	ps_t wall;        /* PS_NEVER: not given */
};

/* --- the unprofiled wall time ------------------------------------------------------------------------------ */

struct step {
	int64_t id;
	char *stem;
};
struct steps {
	struct step *v;
	size_t n, cap;
};

static void steps_free(struct steps *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].stem);
	free(s->v);
}

static int steps_add(struct steps *s, int64_t id, const char *name, size_t stem, struct err *e)
{
	char *copy = malloc(stem + 1);

	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct step *v = realloc(s->v, cap * sizeof *v);

		if (!v) {
			free(copy);
			copy = NULL;
		} else {
			s->v = v;
			s->cap = cap;
		}
	}
	if (!copy)
		return err_set(e, ERR_NOMEM, "no memory for the annotations");
	memcpy(copy, name, stem);
	copy[stem] = '\0';
	s->v[s->n++] = (struct step){ id, copy };
	return 0;
}

/* The outermost annotations of a file that end in a number, with their names up to it. */
static int numbered(struct db *db, int64_t source, struct steps *out, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(db,
	                                 "select r.id, n.text, r.thread, r.start_ns, r.start_ns + r.dur_ns"
	                                 " from range r join name n on n.id = r.name"
	                                 " where r.on_device = 0 and r.source = ?"
	                                 " order by r.thread, r.start_ns, r.dur_ns desc, r.id",
	                                 e);
	int64_t thread = 0, end = INT64_MIN;
	int rc;

	if (!s)
		return -1;
	db_bind_i64(s, 1, source);
	while ((rc = db_step(db, s, e)) == 1) {
		const char *name = db_col_text(s, 1);
		size_t n = strlen(name), stem = n;

		while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9')
			stem--;
		if (db_col_i64(s, 2) != thread)
			end = INT64_MIN;
		thread = db_col_i64(s, 2);
		if (stem == n || db_col_i64(s, 3) < end)
			continue;
		end = db_col_i64(s, 4);
		if (steps_add(out, db_col_i64(s, 0), name, stem, e) < 0)
			return -1;
	}
	return rc;
}

static int by_stem(const void *x, const void *y)
{
	const struct step *a = x, *b = y;

	return strcmp(a->stem, b->stem);
}

/* Keeps those of the commonest name. */
static void commonest(struct steps *s, size_t *first, size_t *count)
{
	*first = *count = 0;
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, by_stem);
	for (size_t i = 0, from = 0; i < s->n; i++) {
		if (strcmp(s->v[i].stem, s->v[from].stem) != 0)
			from = i;
		if (i - from + 1 > *count) {
			*count = i - from + 1;
			*first = from;
		}
	}
}

static int set_one(struct db *db, const char *sql, int64_t wall_ns, int64_t id, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(db, sql, e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, wall_ns);
	db_bind_i64(s, 2, id);
	return db_run(db, s, e);
}

static int put_walls(struct db *db, int64_t source, int64_t wall_ns, struct err *e)
{
	struct steps all = { NULL, 0, 0 };
	size_t first, n;
	int rc;

	if ((rc = numbered(db, source, &all, e)) == 0) {
		commonest(&all, &first, &n);
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = set_one(db, "update range set wall_ns = ? where id = ?", wall_ns, all.v[first + i].id, e);
		if (rc == 0)
			rc = set_one(db, "update source set wall_ns = ? where id = ?", wall_ns * (int64_t)(n ? n : 1),
			             source, e);
	}
	steps_free(&all);
	return rc;
}

static int wall_of_steps(struct tracedb *t, int64_t source, int64_t wall_ns, struct err *e)
{
	struct db *db = tracedb_db(t);

	if (db_begin(db, e) < 0)
		return -1;
	if (put_walls(db, source, wall_ns, e) == 0 && db_commit(db, e) == 0)
		return 0;
	db_rollback(db);
	return -1;
}

/* The file just imported, or the one of that name that was there before; 0: none. */
static int find_source(struct tracedb *t, const char *file, bool fresh, int64_t *id, struct err *e)
{
	struct db *db = tracedb_db(t);
	struct sqlite3_stmt *s = db_stmt(db,
	                                 "select coalesce(max(id), 0) from source where ?1 or file = ?2"
	                                 " or (select count(*) from source) = 1",
	                                 e);

	if (!s)
		return -1;
	db_bind_i64(s, 1, fresh);
	db_bind_text(s, 2, file);
	if (db_step(db, s, e) < 0)
		return -1;
	*id = db_col_i64(s, 0);
	return db_run(db, s, e);
}

static int set_wall(struct tracedb *t, const struct options *o, const char *file, bool fresh, struct err *e)
{
	const int64_t ns = (int64_t)(o->wall / PS_NS);
	int64_t source;

	if (o->range)
		return tracedb_set_wall(t, o->range, ns, e);
	if (find_source(t, file, fresh, &source, e) < 0)
		return -1;
	if (!source)
		return err_set(e, ERR_USAGE,
		               "'%s' is in '%s' under another name: say which annotation '--wall' is for"
		               " with '--range'",
		               file, o->db);
	return wall_of_steps(t, source, ns, e);
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
	const struct format_options how = { (int64_t)o->context };
	enum trace_format from;
	double took;
	int rc;

	if (format_parse(o->from, &from, e) < 0)
		return -1;
	rc = format_import_with(t, from, file, &how, show_progress, &w, &st, e);
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
	if (rc == 0)
		cmd_trace_capture_note(file, &st);
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

	for (int i = 0; rc == 0 && i < files->n; i++) {
		rc = import_one(t, files->v[i], o, rows, e);
		if (rc < 0 && files->n > 1)
			err_add(e, "importing file %d of %d; those before it are in", i + 1, files->n);
	}
	if (rc == 0)
		out_table_write(rows, f, out);
	out_table_free(rows);
	tracedb_free(t);
	return rc;
}

int cmd_trace_import(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .from = "auto", .wall = PS_NEVER };
	const struct opt opts[] = {
		{ 'o', "output", OPT_TEXT, &o.db, "T.db",
		  "the trace database; made when it is not there, else added to" },
		{ 0, "from", OPT_TEXT, &o.from, "auto|kineto|nsys|nsys-csv|ncu-csv|capture|replay",
		  "what the files are: auto (default: by their content), kineto"
		  " (PyTorch profiler JSON), nsys (Nsight Systems SQLite), nsys-csv (nsys stats, cuda_gpu_kern_sum), ncu-csv"
		  " (Nsight Compute, details or raw page), capture (what a killed 'npusim trace record' left) or replay (YAML:"
		  " a table of kernels in the order of another trace)" },
		{ 0, "context", OPT_U64, &o.context, "TOKENS", CMD_CONTEXT_HELP },
		{ 0, "wall", OPT_PS, &o.wall, "TIME",
		  "what one step takes without the profiler, \"11.34 ms\" say: it becomes"
		  " the measured wall time that simulated time is compared with. Spans recorded under a profiler are"
		  " stretched, so they are never used for that" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME",
		  "the annotation that --wall is the time of; by default each"
		  " step, that is each of the outermost annotations which share the commonest name up to a trailing"
		  " number" },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace import FILE... -o T.db [--wall TIME [--range NAME]]",
		"Reads profiler files into a trace database, where all other commands find them. One file is one transaction:"
		" a file that cannot be read leaves the database as it was. A file that is in already is noticed. Any of them may"
		" be gzipped. Of an aggregated profile (nsys-csv) only statistics are known, and 'kernels' counts them all. Under"
		" 'linked_pct' stands how many device activities are known to belong to an operation of the framework: those"
		" without one have no shapes.",
		"npusim trace import traces/h200/kineto_dsocr_b1_c1024.json.gz -o /tmp/t.db\n"
		"npusim trace import traces/h200/kineto_dsocr_b1_c1024.json.gz -o /tmp/t.db --wall '11.34 ms'\n"
		"npusim trace import traces/rtx5090/dsocr.yaml --context 1890 -o /tmp/r.db\n",
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
