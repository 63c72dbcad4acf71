/* trace.c - npusim trace: the table of its commands, and trace show. */
#include "sim/cmd/cmd.h"

#include <string.h>

const struct cmd cmd_trace_table[] = {
	{ "import", cmd_trace_import, NULL, "read profiler files into a trace database" },
	{ "record", cmd_trace_record, NULL, "run a CUDA program and record what it does on the GPU" },
	{ "show", cmd_trace_show, NULL, "its files, devices and ranges" },
	{ "top", cmd_trace_top, NULL, "kernels and families of kernels by time" },
	{ "classify", cmd_trace_classify, NULL,
	  "what holds each kernel back: memory, math or latency, and by which rule" },
	{ "roofline", cmd_trace_roofline, NULL, "operations a byte and a second of each kernel, under its roof" },
	{ "hist", cmd_trace_hist, NULL, "how durations, throughputs, hit rates and occupancies are distributed" },
	{ "ops", cmd_trace_ops, NULL, "what was computed: the op stream, and how much of the time it covers" },
	{ "diff", cmd_trace_diff, NULL, "two traces side by side: what got slower, by family and kernel" },
	{ "export", cmd_trace_export, NULL, "a timeline for ui.perfetto.dev, or a table of launches" },
	{ "review", cmd_trace_review, NULL, "a published report held against the tables it was made from" },
	{ NULL, NULL, NULL, NULL }
};

/* --- show -------------------------------------------------------------------------------------------------- */

/* One query is one table: its columns come out as they are named, in the order of the query. */
struct part {
	const char *key, *title, *sql;
	struct out_col cols[12];
	int n_cols;
};

/* Sums by range go by the launches' at_ns, as every selection does (see tracedb.h). */
/* clang-format off */
static const struct part parts[] = {
	{ "sources", "files",
	  "select s.file, s.tool, iif(s.profiled, 'yes', 'no'),"
	  " (select count(*) from launch l where l.source = s.id and l.kind = 0)"
	  " + (select coalesce(sum(k.instances), 0) from kernel_stat k where k.source = s.id),"
	  " (select count(*) from launch l where l.source = s.id and l.kind = 1),"
	  " (select count(*) from launch l where l.source = s.id and l.kind = 2),"
	  " (select count(*) from op o where o.source = s.id),"
	  " (select count(*) from call c where c.source = s.id and c.kind = 2),"
	  " s.wall_ns / 1e3, s.digest from source s order by s.id",
	  { { "file", OUT_TEXT, 0 }, { "tool", OUT_TEXT, 0 }, { "profiled", OUT_TEXT, 0 }, { "kernels", OUT_INT, 0 },
	    { "copies", OUT_INT, 0 }, { "sets", OUT_INT, 0 }, { "ops", OUT_INT, 0 }, { "syncs", OUT_INT, 0 },
	    { "wall_us", OUT_REAL, 3 }, { "digest", OUT_TEXT, 0 } }, 10 },
	{ "devices", "devices",
	  "select id, name, sm_major || '.' || sm_minor, sms, mem_bytes, smem_per_sm, regs_per_sm from device"
	  " group by id order by id",
	  { { "device", OUT_INT, 0 }, { "name", OUT_TEXT, 0 }, { "compute", OUT_TEXT, 0 }, { "sms", OUT_INT, 0 },
	    { "mem_bytes", OUT_INT, 0 }, { "smem_per_sm", OUT_INT, 0 }, { "regs_per_sm", OUT_INT, 0 } }, 7 },
	{ "ranges",
	  "ranges (span_us is the annotation's length under the profiler, which stretches it: no measure of speed)",
	  "select n.text, count(*), sum(k.launches), sum(k.kernels), sum(k.kernel_ns) / 1e3, sum(k.other_ns) / 1e3,"
	  " sum(r.dur_ns) / 1e3, iif(count(r.wall_ns) = count(*), sum(r.wall_ns) / 1e3, null)"
	  " from range r join name n on n.id = r.name join"
	  " (select q.id as range, count(l.id) as launches, count(iif(l.kind = 0, 1, null)) as kernels,"
	  "  total(iif(l.kind = 0, l.dur_ns, 0)) as kernel_ns, total(iif(l.kind = 0, 0, l.dur_ns)) as other_ns"
	  "  from range q left join launch l on l.source = q.source and l.at_ns >= q.start_ns"
	  "  and l.at_ns < q.start_ns + q.dur_ns where q.on_device = 0 group by q.id) k on k.range = r.id"
	  " where r.on_device = 0 group by r.name order by min(r.start_ns), n.text",
	  { { "range", OUT_TEXT, 0 }, { "count", OUT_INT, 0 }, { "launches", OUT_INT, 0 }, { "kernels", OUT_INT, 0 },
	    { "kernel_us", OUT_REAL, 3 }, { "copy_us", OUT_REAL, 3 }, { "span_us", OUT_REAL, 3 },
	    { "wall_us", OUT_REAL, 3 } }, 8 },
};
/* clang-format on */

enum { RANGES = 2, N_PARTS = sizeof parts / sizeof *parts };

static int for_each_row(struct tracedb *t, const struct part *p, struct err *e,
                        void (*row)(void *arg, const struct part *p, struct sqlite3_stmt *s), void *arg)
{
	struct sqlite3_stmt *s = db_stmt(tracedb_db(t), p->sql, e);
	int rc;

	if (!s)
		return -1;
	while ((rc = db_step(tracedb_db(t), s, e)) == 1)
		row(arg, p, s);
	return rc;
}

static void table_row(void *arg, const struct part *p, struct sqlite3_stmt *s)
{
	for (int i = 0; i < p->n_cols; i++) {
		if (db_col_null(s, i))
			out_null(arg);
		else if (p->cols[i].type == OUT_TEXT)
			out_text(arg, db_col_text(s, i));
		else if (p->cols[i].type == OUT_INT)
			out_int(arg, db_col_i64(s, i));
		else
			out_real(arg, db_col_f64(s, i));
	}
}

static void json_row(void *arg, const struct part *p, struct sqlite3_stmt *s)
{
	struct out_json *j = arg;

	out_json_open(j, NULL, '{');
	for (int i = 0; i < p->n_cols; i++) {
		if (db_col_null(s, i))
			out_json_null(j, p->cols[i].name);
		else if (p->cols[i].type == OUT_TEXT)
			out_json_text(j, p->cols[i].name, db_col_text(s, i));
		else if (p->cols[i].type == OUT_INT)
			out_json_int(j, p->cols[i].name, db_col_i64(s, i));
		else
			out_json_real(j, p->cols[i].name, db_col_f64(s, i));
	}
	out_json_close(j, '}');
}

struct totals {
	int64_t steps, kernels, copies, sets, syncs, kernel_ns, other_ns, aggregated;
};

static int read_totals(struct tracedb *t, struct totals *sum, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(tracedb_db(t),
	                                 "select count(iif(kind = 0, 1, null))"
	                                 " + (select coalesce(sum(instances), 0) from kernel_stat),"
	                                 " count(iif(kind = 1, 1, null)), count(iif(kind = 2, 1, null)),"
	                                 " coalesce(sum(iif(kind = 0, dur_ns, 0)), 0)"
	                                 " + (select coalesce(sum(total_ns), 0) from kernel_stat),"
	                                 " coalesce(sum(iif(kind = 0, 0, dur_ns)), 0),"
	                                 " (select count(*) from call where kind = 2),"
	                                 " (select coalesce(sum(instances), 0) from kernel_stat) from launch",
	                                 e);

	if (!s || db_step(tracedb_db(t), s, e) < 0)
		return -1;
	*sum = (struct totals){ 0,
		                db_col_i64(s, 0),
		                db_col_i64(s, 1),
		                db_col_i64(s, 2),
		                db_col_i64(s, 5),
		                db_col_i64(s, 3),
		                db_col_i64(s, 4),
		                db_col_i64(s, 6) };
	return db_run(tracedb_db(t), s, e) < 0 ? -1 : tracedb_steps(t, &sum->steps, e);
}

static int show_table(struct tracedb *t, const struct part *p, bool titled, enum out_format f, struct str *out,
                      struct err *e)
{
	struct out_table *table = out_table_new(p->cols, p->n_cols, titled ? p->title : NULL);
	int rc = for_each_row(t, p, e, table_row, table);

	if (rc == 0)
		out_table_write(table, f, out);
	out_table_free(table);
	return rc;
}

static int show_tables(struct tracedb *t, const struct totals *sum, struct str *out, struct err *e)
{
	str_addf(out,
	         "%lld kernels in %.3f us, %lld copies and sets in %.3f us, %lld host synchronisations,"
	         " %lld steps\n",
	         (long long)sum->kernels, cmd_us(sum->kernel_ns), (long long)(sum->copies + sum->sets),
	         cmd_us(sum->other_ns), (long long)sum->syncs, (long long)sum->steps);
	if (sum->aggregated)
		str_addf(out, "%lld of the kernels are known only as statistics, from an aggregated profile\n",
		         (long long)sum->aggregated);
	str_addc(out, '\n');
	for (int i = 0; i < N_PARTS; i++) {
		str_add(out, i ? "\n" : "");
		if (show_table(t, &parts[i], true, OUT_TABLE, out, e) < 0)
			return -1;
	}
	return 0;
}

static int show_json(struct tracedb *t, const struct totals *sum, struct str *out, struct err *e)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_int(&j, "step_count", sum->steps);
	out_json_int(&j, "kernel_count", sum->kernels);
	out_json_int(&j, "aggregated_count", sum->aggregated);
	out_json_int(&j, "copy_count", sum->copies);
	out_json_int(&j, "set_count", sum->sets);
	out_json_int(&j, "sync_count", sum->syncs);
	out_json_real(&j, "kernel_us", cmd_us(sum->kernel_ns));
	out_json_real(&j, "copy_us", cmd_us(sum->other_ns));
	for (int i = 0; i < N_PARTS; i++) {
		out_json_open(&j, parts[i].key, '[');
		if (for_each_row(t, &parts[i], e, json_row, &j) < 0)
			return -1;
		out_json_close(&j, ']');
	}
	out_json_close(&j, '}');
	return 0;
}

static int show(const char *path, enum out_format f, struct str *out, struct err *e)
{
	struct tracedb *t = cmd_trace_open(path, 0, e);
	struct totals sum;
	int rc = t ? read_totals(t, &sum, e) : -1;

	if (rc == 0 && f == OUT_TABLE)
		rc = show_tables(t, &sum, out, e);
	else if (rc == 0 && f == OUT_JSON)
		rc = show_json(t, &sum, out, e);
	else if (rc == 0)
		rc = show_table(t, &parts[RANGES], false, f, out, e);
	if (rc < 0)
		str_clear(out);
	tracedb_free(t);
	return rc;
}

int cmd_trace_show(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	const struct opt opts[] = {
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP "; csv has the ranges alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace show T.db",
		"What a trace database holds: the files imported into it, the devices they ran on, and the ranges, that is the"
		" annotations of the host's code, which '--range' of the other commands takes. Ranges of one name are summed."
		" A range has the kernels that were launched inside it, whenever they ran. wall_us is the time without a"
		" profiler, where '--wall' of the import gave one.",
		"npusim trace show /tmp/t.db\nnpusim trace show /tmp/t.db --format json\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0)
		rc = show(args.v[0], f, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
