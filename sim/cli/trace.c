/* trace.c - npusim trace: the table of its commands, and trace show. */
#include "sim/cli/cmd.h"

#include <math.h>
#include <stdio.h>

#include "traces/db/tracedb_sum.h"

const struct cmd cmd_trace_table[] = {
	{ "import", cmd_trace_import, NULL, "read profiler files into a trace database" },
	{ "record", cmd_trace_record, NULL, "run a CUDA program and record what it does on the GPU" },
	{ "show", cmd_trace_show, NULL, "its files, devices and ranges" },
	{ "top", cmd_trace_top, NULL, "kernels and families of kernels by time" },
	{ "classify", cmd_trace_classify, NULL,
	  "what holds each kernel back: memory, math or latency, and by which rule" },
	{ "roofline", cmd_trace_roofline, NULL, "operations a byte and a second of each kernel, under its roof" },
	{ "hist", cmd_trace_hist, NULL, "how durations, throughputs, hit rates and occupancies are distributed" },
	{ "gaps", cmd_trace_gaps, NULL, "when the device was idle, and what it waited for" },
	{ "stages", cmd_trace_stages, NULL, "vision, prefill and decode: time, families and roofline of each" },
	{ "waves", cmd_trace_waves, NULL, "how kernels fill the device: blocks, waves, occupancy and what limits it" },
	{ "stalls", cmd_trace_stalls, NULL, "why warps did not issue, as Nsight Compute sampled it" },
	{ "ops", cmd_trace_ops, NULL, "what was computed: the op stream, and how much of the time it covers" },
	{ "diff", cmd_trace_diff, NULL, "two traces side by side: what got slower, by family and kernel" },
	{ "export", cmd_trace_export, NULL, "a timeline for ui.perfetto.dev, or a table of launches" },
	{ "review", cmd_trace_review, NULL, "a published report held against the tables it was made from" },
	{ NULL, NULL, NULL, NULL }
};

/* --- show -------------------------------------------------------------------------------------------------- */

/* Where a row goes: into a table or a JSON document, under columns that are named once for both. */
struct row {
	struct out_table *table; /* NULL: into the document */
	struct out_json *json;
	const struct out_col *cols, *next;
};

static void row_begin(struct row *r)
{
	r->next = r->cols;
	if (!r->table)
		out_json_open(r->json, NULL, '{');
}

static void row_text(struct row *r, const char *v)
{
	if (r->table)
		out_text(r->table, v);
	else
		out_json_text(r->json, r->next->name, v);
	r->next++;
}

static void row_int(struct row *r, int64_t v)
{
	if (r->table)
		out_int(r->table, v);
	else
		out_json_int(r->json, r->next->name, v);
	r->next++;
}

/* Nanoseconds, in us; below 0: null. */
static void row_us(struct row *r, int64_t ns)
{
	const double us = ns < 0 ? NAN : cmd_us(ns);

	if (r->table)
		out_real_or_null(r->table, us);
	else
		out_json_real(r->json, r->next->name, us);
	r->next++;
}

static int row_end(struct row *r)
{
	if (!r->table)
		out_json_close(r->json, '}');
	return 0;
}

static const struct out_col file_cols[] = {
	{ "file", OUT_TEXT, 0 },    { "tool", OUT_TEXT, 0 },   { "profiled", OUT_TEXT, 0 }, { "kernels", OUT_INT, 0 },
	{ "copies", OUT_INT, 0 },   { "sets", OUT_INT, 0 },    { "ops", OUT_INT, 0 },       { "syncs", OUT_INT, 0 },
	{ "wall_us", OUT_REAL, 3 }, { "digest", OUT_TEXT, 0 },
};

static int file_row(void *arg, const struct tracedb_file *f, struct err *e)
{
	struct row *r = arg;

	(void)e;
	row_begin(r);
	row_text(r, f->file);
	row_text(r, f->tool);
	row_text(r, f->profiled ? "yes" : "no");
	row_int(r, f->kernels);
	row_int(r, f->copies);
	row_int(r, f->sets);
	row_int(r, f->ops);
	row_int(r, f->syncs);
	row_us(r, f->wall_ns);
	row_text(r, f->digest);
	return row_end(r);
}

static int files(struct tracedb *t, struct row *r, struct err *e)
{
	return tracedb_each_file(t, file_row, r, e);
}

static const struct out_col device_cols[] = {
	{ "device", OUT_INT, 0 },      { "name", OUT_TEXT, 0 },       { "compute", OUT_TEXT, 0 },
	{ "sms", OUT_INT, 0 },         { "mem_bytes", OUT_BYTES, 0 }, { "smem_per_sm", OUT_BYTES, 0 },
	{ "regs_per_sm", OUT_INT, 0 },
};

static int device_row(void *arg, const struct trace_device *d, struct err *e)
{
	struct row *r = arg;
	char compute[32];

	(void)e;
	snprintf(compute, sizeof compute, "%d.%d", (int)d->sm_major, (int)d->sm_minor);
	row_begin(r);
	row_int(r, d->id);
	row_text(r, d->name);
	row_text(r, compute);
	row_int(r, d->sms);
	row_int(r, d->mem_bytes);
	row_int(r, d->smem_per_sm);
	row_int(r, d->regs_per_sm);
	return row_end(r);
}

static int devices(struct tracedb *t, struct row *r, struct err *e)
{
	return tracedb_each_device(t, device_row, r, e);
}

static const struct out_col range_cols[] = {
	{ "range", OUT_TEXT, 0 },   { "count", OUT_INT, 0 },      { "launches", OUT_INT, 0 },
	{ "kernels", OUT_INT, 0 },  { "kernel_us", OUT_REAL, 3 }, { "copy_us", OUT_REAL, 3 },
	{ "span_us", OUT_REAL, 3 }, { "wall_us", OUT_REAL, 3 },
};

static int range_row(void *arg, const struct tracedb_ranges *x, struct err *e)
{
	struct row *r = arg;

	(void)e;
	row_begin(r);
	row_text(r, x->name);
	row_int(r, x->count);
	row_int(r, x->launches);
	row_int(r, x->kernels);
	row_us(r, x->kernel_ns);
	row_us(r, x->other_ns);
	row_us(r, x->span_ns);
	row_us(r, x->wall_ns);
	return row_end(r);
}

static int ranges(struct tracedb *t, struct row *r, struct err *e)
{
	return tracedb_each_range(t, range_row, r, e);
}

static const struct part {
	const char *key, *title;
	const struct out_col *cols;
	int n_cols;
	int (*rows)(struct tracedb *t, struct row *r, struct err *e);
} parts[] = {
	{ "sources", "files", file_cols, sizeof file_cols / sizeof *file_cols, files },
	{ "devices", "devices", device_cols, sizeof device_cols / sizeof *device_cols, devices },
	{ "ranges",
	  "ranges (span_us is the annotation's length under the profiler, which stretches it: no measure of speed)",
	  range_cols, sizeof range_cols / sizeof *range_cols, ranges },
};
enum { RANGES = 2, N_PARTS = sizeof parts / sizeof *parts };

static int show_table(struct tracedb *t, const struct part *p, bool titled, enum out_format f, struct str *out,
                      struct err *e)
{
	struct row row = { .table = out_table_new(p->cols, p->n_cols, titled ? p->title : NULL), .cols = p->cols };
	int rc = p->rows(t, &row, e);

	if (rc == 0)
		out_table_write(row.table, f, out);
	out_table_free(row.table);
	return rc;
}

static int show_tables(struct tracedb *t, const struct tracedb_totals *sum, struct str *out, struct err *e)
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

static int show_json(struct tracedb *t, const struct tracedb_totals *sum, struct str *out, struct err *e)
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
		struct row row = { .json = &j, .cols = parts[i].cols };

		out_json_open(&j, parts[i].key, '[');
		if (parts[i].rows(t, &row, e) < 0)
			return -1;
		out_json_close(&j, ']');
	}
	out_json_close(&j, '}');
	return 0;
}

static int show(const char *path, enum out_format f, struct str *out, struct err *e)
{
	struct tracedb *t = cmd_trace_open(path, e);
	struct tracedb_totals sum;
	int rc = t ? tracedb_totals(t, &sum, e) : -1;

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
