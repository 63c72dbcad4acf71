/* trace.c - npusim trace: the table of its commands, and trace show. */
#include "sim/cli/cmd.h"

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

/* Nanoseconds below 0 are not known. */
static void file(struct doc *d, const void *of, size_t i)
{
	const struct tracedb_file *f = of;

	(void)i;
	doc_text(d, "file", f->file);
	doc_text(d, "tool", f->tool);
	doc_text(d, "profiled", f->profiled ? "yes" : "no");
	doc_int(d, "kernels", f->kernels);
	doc_int(d, "copies", f->copies);
	doc_int(d, "sets", f->sets);
	doc_int(d, "ops", f->ops);
	doc_int(d, "syncs", f->syncs);
	doc_real_if(d, "wall_us", 3, f->wall_ns >= 0, unit_us(f->wall_ns));
	doc_text(d, "digest", f->digest);
}

static void device(struct doc *d, const void *of, size_t i)
{
	const struct trace_device *x = of;
	char compute[32];

	(void)i;
	if (!d->heads)
		snprintf(compute, sizeof compute, "%d.%d", (int)x->sm_major, (int)x->sm_minor);
	doc_int(d, "device", x->id);
	doc_text(d, "name", x->name);
	doc_text(d, "compute", compute);
	doc_int(d, "sms", x->sms);
	doc_bytes(d, "mem_bytes", (uint64_t)x->mem_bytes);
	doc_bytes(d, "smem_per_sm", (uint64_t)x->smem_per_sm);
	doc_int(d, "regs_per_sm", x->regs_per_sm);
}

static void range(struct doc *d, const void *of, size_t i)
{
	const struct tracedb_ranges *x = of;

	(void)i;
	doc_text(d, "range", x->name);
	doc_int(d, "count", x->count);
	doc_int(d, "launches", x->launches);
	doc_int(d, "kernels", x->kernels);
	doc_real_if(d, "kernel_us", 3, x->kernel_ns >= 0, unit_us(x->kernel_ns));
	doc_real_if(d, "copy_us", 3, x->other_ns >= 0, unit_us(x->other_ns));
	doc_real_if(d, "span_us", 3, x->span_ns >= 0, unit_us(x->span_ns));
	doc_real_if(d, "wall_us", 3, x->wall_ns >= 0, unit_us(x->wall_ns));
}

static int each_file(void *d, const struct tracedb_file *f, struct err *e)
{
	(void)e;
	doc_row(d, file, f, 0);
	return 0;
}

static int each_device(void *d, const struct trace_device *x, struct err *e)
{
	(void)e;
	doc_row(d, device, x, 0);
	return 0;
}

static int each_range(void *d, const struct tracedb_ranges *x, struct err *e)
{
	(void)e;
	doc_row(d, range, x, 0);
	return 0;
}

static void totals(struct doc *d, const struct tracedb_totals *sum)
{
	doc_int(d, "step_count", sum->steps);
	doc_int(d, "kernel_count", sum->kernels);
	doc_int(d, "aggregated_count", sum->aggregated);
	doc_int(d, "copy_count", sum->copies);
	doc_int(d, "set_count", sum->sets);
	doc_int(d, "sync_count", sum->syncs);
	doc_ns(d, "kernel_us", 3, sum->kernel_ns);
	doc_ns(d, "copy_us", 3, sum->other_ns);
	doc_say(d,
	        "%lld kernels in %.3f us, %lld copies and sets in %.3f us, %lld host synchronisations,"
	        " %lld steps\n",
	        (long long)sum->kernels, unit_us(sum->kernel_ns), (long long)(sum->copies + sum->sets),
	        unit_us(sum->other_ns), (long long)sum->syncs, (long long)sum->steps);
	if (sum->aggregated)
		doc_say(d, "%lld of the kernels are known only as statistics, from an aggregated profile\n",
		        (long long)sum->aggregated);
	doc_say(d, "\n");
}

static int ranges(struct doc *d, struct tracedb *t, struct err *e)
{
	int rc;

	doc_table_open(d, "ranges",
	               "ranges (span_us is the annotation's length under the profiler, which stretches it: no measure"
	               " of speed)");
	rc = tracedb_each_range(t, each_range, d, e);
	doc_table_close(d, range, NULL);
	return rc;
}

static int trace_print(struct doc *d, struct tracedb *t, const struct tracedb_totals *sum, struct err *e)
{
	int rc;

	if (d->format == OUT_CSV) /* the ranges alone */
		return ranges(d, t, e);
	doc_open(d, NULL, '{');
	totals(d, sum);
	doc_table_open(d, "sources", "files");
	rc = tracedb_each_file(t, each_file, d, e);
	doc_table_close(d, file, NULL);
	doc_say(d, "\n");
	doc_table_open(d, "devices", "devices");
	rc = rc < 0 ? rc : tracedb_each_device(t, each_device, d, e);
	doc_table_close(d, device, NULL);
	doc_say(d, "\n");
	rc = rc < 0 ? rc : ranges(d, t, e);
	doc_close(d, '}');
	return rc;
}

static int trace_show(void *o, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct tracedb *t = cmd_trace_open(args->v[0], e);
	struct tracedb_totals sum;
	int rc = t ? tracedb_totals(t, &sum, e) : -1;

	(void)o;
	if (rc == 0)
		rc = trace_print(d, t, &sum, e);
	if (rc < 0)
		doc_drop(d);
	tracedb_free(t);
	return rc;
}

int cmd_trace_show(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	const struct opt opts[] = {
		{ 0, "format", OPT_TEXT, &format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the ranges alone" },
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

	return cmd_do(&cmd, &format, trace_show, NULL, argc, argv, out, e);
}
