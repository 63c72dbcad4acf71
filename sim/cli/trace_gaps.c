/* trace_gaps.c - npusim trace gaps: how busy the device was, and what it waited for. */
#include "sim/cli/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/profile/classify.h"
#include "sim/profile/gaps.h"

#define STREAMS_SHOWN 4
#define NAME_SHOWN    26

struct view {
	const struct trace *t;
	struct arena *a;
	const struct gaps *g;
	const struct gap **longest;
	size_t n;
};

static double pct(const struct view *v, int64_t ns)
{
	return cmd_pct((double)ns, (double)v->g->span_ns);
}

static const char *name_of(const struct view *v, const struct trace_launch *l)
{
	const char *name = classify_short_name(l->name, v->a);

	return name ? name : l->name;
}

static int by_length(const void *x, const void *y)
{
	const struct gap *const *a = x, *const *b = y;

	if ((*a)->ns != (*b)->ns)
		return (*a)->ns > (*b)->ns ? -1 : 1;
	return (*a)->start_ns < (*b)->start_ns ? -1 : (*a)->start_ns > (*b)->start_ns;
}

/* --- table ------------------------------------------------------------------------------------------------- */

static void write_head(const struct view *v, struct str *out)
{
	const struct gaps *g = v->g;

	str_addf(out, "%s%s%sbusy %.1f %% of %.3f us\n", v->t->range ? "range " : "", v->t->range ? v->t->range : "",
	         v->t->range ? ": " : "", pct(v, g->kernel_ns + g->other_ns), cmd_us(g->span_ns));
	str_addf(out, "kernels %.3f us, copies and sets alone %.3f us, idle %.3f us\n", cmd_us(g->kernel_ns),
	         cmd_us(g->other_ns), cmd_us(g->idle_ns));
	str_addf(out, "%zu gaps, median %.3f us\n", g->n, cmd_us(g->median_ns));
	if (g->calls)
		str_addf(out, "calls take the host %.3f us; the median launch starts %.3f us behind its call\n",
		         cmd_us(g->call_ns), cmd_us(g->lead_ns));
	else
		str_add(out, "the profile has no calls, so causes are not known\n");
	if (v->t->wall_ns >= 0)
		str_addf(out, "wall without a profiler %.3f us: busy %.1f %% of that\n", cmd_us(v->t->wall_ns),
		         cmd_pct((double)(g->kernel_ns + g->other_ns), (double)v->t->wall_ns));
	else
		str_add(out, "a profiler makes calls slower, and so these gaps longer ('--wall' of the import says how"
		             " much)\n");
}

static void write_causes(const struct view *v, struct str *out)
{
	static const struct out_col cols[] = {
		{ "idle by cause", OUT_TEXT, 0 }, { "gaps", OUT_INT, 0 },  { "us", OUT_REAL, 3 },
		{ "span_pct", OUT_REAL, 1 },      { "what", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (int c = 0; c < GAP_CAUSES; c++) {
		if (!v->g->cause[c].ns)
			continue;
		out_text(t, gap_cause_name((enum gap_cause)c));
		out_int(t, (int64_t)v->g->cause[c].count);
		out_real(t, cmd_us(v->g->cause[c].ns));
		out_real(t, pct(v, v->g->cause[c].ns));
		out_text(t, gap_cause_text((enum gap_cause)c));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_streams(const struct view *v, struct str *out)
{
	static const struct out_col cols[] = {
		{ "stream", OUT_INT, 0 },    { "device", OUT_INT, 0 },   { "kernels", OUT_INT, 0 },
		{ "copies", OUT_INT, 0 },    { "busy_us", OUT_REAL, 3 }, { "span_pct", OUT_REAL, 1 },
		{ "alone_us", OUT_REAL, 3 },
	};
	const size_t n = cmd_first(STREAMS_SHOWN, v->g->n_streams);
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < n; i++) {
		const struct gap_stream *s = &v->g->streams[i];

		out_int(t, s->stream);
		out_int(t, s->device);
		out_int(t, (int64_t)s->kernels);
		out_int(t, (int64_t)s->others);
		out_real(t, cmd_us(s->busy_ns));
		out_real(t, pct(v, s->busy_ns));
		out_real(t, cmd_us(s->alone_ns));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	if (n < v->g->n_streams)
		str_addf(out, "(%zu more; json has all)\n", v->g->n_streams - n);
}

static void write_bins(const struct view *v, struct str *out)
{
	static const struct out_col cols[] = {
		{ "gap", OUT_TEXT, 0 },
		{ "gaps", OUT_INT, 0 },
		{ "us", OUT_REAL, 3 },
		{ "of_idle", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	char text[64];

	for (int b = 0; b < GAP_BINS; b++) {
		const struct gap_bin *x = &v->g->bin[b];
		const int bar = (int)(40 * cmd_pct((double)x->ns, (double)v->g->idle_ns) / 100 + 0.5);

		if (!x->count)
			continue;
		if (x->to_ns == INT64_MAX)
			snprintf(text, sizeof text, "%g us and more", cmd_us(x->from_ns));
		else
			snprintf(text, sizeof text, "%g to %g us", cmd_us(x->from_ns), cmd_us(x->to_ns));
		out_text(t, text);
		out_int(t, (int64_t)x->count);
		out_real(t, cmd_us(x->ns));
		snprintf(text, sizeof text, "%.*s", bar ? bar : 1, "########################################");
		out_text(t, text);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

/* Of all formats: the table has those that are longest, csv all in order of time. */
static void write_gaps(const struct view *v, bool all, struct str *out)
{
	static const struct out_col cols[] = {
		{ "at_us", OUT_REAL, 3 },  { "gap_us", OUT_REAL, 3 }, { "cause", OUT_TEXT, 0 },
		{ "device", OUT_INT, 0 },  { "stream", OUT_INT, 0 },  { "op", OUT_TEXT, 0 },
		{ "behind", OUT_TEXT, 0 }, { "kernel", OUT_TEXT, 0 },
	};
	const size_t n = all ? v->g->n : v->n;
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < n; i++) {
		const struct gap *x = all ? &v->g->v[i] : v->longest[i];
		const enum out_format f = all ? OUT_CSV : OUT_TABLE;

		out_real(t, cmd_us(x->start_ns));
		out_real(t, cmd_us(x->ns));
		out_text(t, gap_cause_name(x->cause));
		out_int(t, x->end->device);
		out_int(t, x->end->stream);
		out_text(t, x->end->op ? x->end->op->name : "");
		cmd_out_name(t, all ? x->before->name : name_of(v, x->before), NAME_SHOWN, f);
		cmd_out_name(t, all ? x->end->name : name_of(v, x->end), NAME_SHOWN, f);
	}
	out_table_write(t, all ? OUT_CSV : OUT_TABLE, out);
	out_table_free(t);
}

/* --- json -------------------------------------------------------------------------------------------------- */

static void json_sums(struct out_json *j, const struct view *v)
{
	const struct gaps *g = v->g;

	out_json_text(j, "range", v->t->range);
	out_json_u64(j, "device_count", g->devices);
	out_json_u64(j, "kernel_count", g->kernels);
	out_json_u64(j, "copy_count", g->others);
	out_json_real(j, "span_us", cmd_us(g->span_ns));
	out_json_real(j, "kernel_busy_us", cmd_us(g->kernel_ns));
	out_json_real(j, "copy_busy_us", cmd_us(g->other_ns));
	out_json_real(j, "idle_us", cmd_us(g->idle_ns));
	out_json_real(j, "busy_pct", pct(v, g->kernel_ns + g->other_ns));
	out_json_real(j, "overlap_us", cmd_us(g->overlap_ns));
	out_json_real(j, "between_us", cmd_us(g->between_ns));
	out_json_u64(j, "gap_count", g->n);
	out_json_real(j, "median_us", cmd_us(g->median_ns));
	out_json_u64(j, "call_count", g->calls);
	out_json_real(j, "call_us", cmd_us(g->call_ns));
	out_json_real(j, "lead_us", cmd_us(g->lead_ns));
	if (v->t->wall_ns >= 0)
		out_json_real(j, "wall_us", cmd_us(v->t->wall_ns));
	else
		out_json_null(j, "wall_us");
}

static void json_gap(struct out_json *j, const struct gap *x)
{
	out_json_open(j, NULL, '{');
	out_json_real(j, "at_us", cmd_us(x->start_ns));
	out_json_real(j, "gap_us", cmd_us(x->ns));
	out_json_text(j, "cause", gap_cause_name(x->cause));
	out_json_int(j, "device", x->end->device);
	out_json_int(j, "stream", x->end->stream);
	out_json_text(j, "op", x->end->op ? x->end->op->name : NULL);
	out_json_text(j, "behind", x->before->name);
	out_json_text(j, "kernel", x->end->name);
	out_json_close(j, '}');
}

static void write_json(const struct view *v, struct str *out)
{
	const struct gaps *g = v->g;
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	json_sums(&j, v);
	out_json_open(&j, "causes", '[');
	for (int c = 0; c < GAP_CAUSES; c++) {
		out_json_open(&j, NULL, '{');
		out_json_text(&j, "cause", gap_cause_name((enum gap_cause)c));
		out_json_u64(&j, "gaps", g->cause[c].count);
		out_json_real(&j, "us", cmd_us(g->cause[c].ns));
		out_json_real(&j, "span_pct", pct(v, g->cause[c].ns));
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_open(&j, "streams", '[');
	for (size_t i = 0; i < g->n_streams; i++) {
		out_json_open(&j, NULL, '{');
		out_json_int(&j, "device", g->streams[i].device);
		out_json_int(&j, "stream", g->streams[i].stream);
		out_json_u64(&j, "kernels", g->streams[i].kernels);
		out_json_u64(&j, "copies", g->streams[i].others);
		out_json_real(&j, "busy_us", cmd_us(g->streams[i].busy_ns));
		out_json_real(&j, "alone_us", cmd_us(g->streams[i].alone_ns));
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_open(&j, "histogram", '[');
	for (int b = 0; b < GAP_BINS; b++) {
		out_json_open(&j, NULL, '{');
		out_json_real(&j, "from_us", cmd_us(g->bin[b].from_ns));
		if (g->bin[b].to_ns == INT64_MAX)
			out_json_null(&j, "to_us");
		else
			out_json_real(&j, "to_us", cmd_us(g->bin[b].to_ns));
		out_json_u64(&j, "gaps", g->bin[b].count);
		out_json_real(&j, "us", cmd_us(g->bin[b].ns));
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_open(&j, "longest", '[');
	for (size_t i = 0; i < v->n; i++)
		json_gap(&j, v->longest[i]);
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

/* --- the command ------------------------------------------------------------------------------------------- */

struct options {
	const char *range, *format;
	uint64_t n;
};

static int sort_gaps(struct view *v, uint64_t asked, struct err *e)
{
	v->longest = arena_array(v->a, v->g->n ? v->g->n : 1, sizeof *v->longest);
	if (!v->longest)
		return err_nomem(e, "for the gaps");
	for (size_t i = 0; i < v->g->n; i++)
		v->longest[i] = &v->g->v[i];
	qsort(v->longest, v->g->n, sizeof *v->longest, by_length);
	v->n = cmd_first(asked, v->g->n);
	return 0;
}

static void write_tables(const struct view *v, struct str *out)
{
	write_head(v, out);
	str_addc(out, '\n');
	write_causes(v, out);
	str_addc(out, '\n');
	write_streams(v, out);
	str_addc(out, '\n');
	write_bins(v, out);
	str_addc(out, '\n');
	write_gaps(v, false, out);
}

static int gaps(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct measured t = { 0 };
	struct gaps g;
	struct view v;
	enum out_format f;
	int rc = -1;

	if (cmd_format(o->format, &f, e) < 0 ||
	    cmd_measured((struct measured_from){ .path = path, .range = o->range }, &t, e) < 0)
		return -1;
	v = (struct view){ .t = &t.trace, .a = t.arena, .g = &g };
	if (gaps_of(&t.trace, t.arena, &g, e) == 0 && (rc = sort_gaps(&v, o->n, e)) == 0) {
		if (f == OUT_JSON)
			write_json(&v, out);
		else if (f == OUT_CSV)
			write_gaps(&v, true, out);
		else
			write_tables(&v, out);
	}
	measured_free(&t);
	return rc;
}

int cmd_trace_gaps(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = 5 };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N longest gaps; 5 by default" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", CMD_RANGE_HELP },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json",
		  CMD_FORMAT_HELP "; csv has all gaps in order of time" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace gaps T.db [-n N] [--range NAME]",
		"When the device did nothing, and what it waited for: how much of the time it was busy, idle time by cause,"
		" streams, gaps by length, and the longest. Each nanosecond of a gap has one cause, by when the host called"
		" for the launch that ends it. Before the call it is 'host', where launching is what is slow, or as far as"
		" the host had waited before, 'copy' (for a copy's result, as .item() and .tolist() do) or 'sync'. From the"
		" call on it is 'launch', the way to an idle device; of a launch that was queued 'stream', 'other_stream' or"
		" 'graph'. alone_us is a stream's time with no other busy.",
		"npusim trace gaps /tmp/t.db --range decode_step_1\n"
		"npusim trace gaps /tmp/t.db -n 20\n"
		"npusim trace gaps /tmp/t.db --format csv\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = gaps(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
