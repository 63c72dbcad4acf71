/* trace_top.c - npusim trace top: kernels and families of kernels by time. */
#include "sim/cli/trace_by.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/profile/classify.h"

#define NAME_SHOWN 60 /* a template's full name has hundreds of characters; csv and json have all of them */

struct options {
	const char *range, *rules, *format, *by, *sort, *filter;
	uint64_t n;
};

static double share(const struct classify *c, uint64_t ns)
{
	return cmd_pct((double)ns, (double)c->kernel_ns);
}

static double mean_us(uint64_t ns, uint64_t n)
{
	return n ? cmd_us((int64_t)ns) / (double)n : 0;
}

/* With a range: how often it was entered; without: the trace's steps. */
static int64_t steps_of(const struct trace *t)
{
	int64_t n = 0;

	if (!t->range)
		return t->steps;
	for (size_t i = 0; i < t->n_ranges; i++)
		n += strcmp(t->ranges[i].name, t->range) == 0;
	return n ? n : 1; /* an annotation of the device alone is in no list */
}

/* --- json -------------------------------------------------------------------------------------------------- */

static void json_kernel(struct out_json *j, const struct classify *c, const struct counters *x, size_t i, uint64_t *sum)
{
	const struct classify_kernel *k = &c->kernels[i];
	struct counted m;

	out_json_open(j, NULL, '{');
	out_json_int(j, "rank", (int64_t)i + 1);
	out_json_text(j, "name", k->name);
	out_json_text(j, "friendly", k->friendly);
	out_json_text(j, "library", k->library);
	out_json_text(j, "family", k->family);
	out_json_u64(j, "count", k->count);
	out_json_real(j, "total_us", cmd_us((int64_t)k->total_ns));
	out_json_real(j, "mean_us", mean_us(k->total_ns, k->count));
	out_json_real(j, "longest_us", cmd_us((int64_t)k->longest_ns));
	out_json_real(j, "share_pct", share(c, k->total_ns));
	out_json_real(j, "cumulative_pct", share(c, *sum += k->total_ns));
	if (x && counters_mean(x, k->name, &m)) {
		out_json_open(j, "counted", '{');
		for (int n = 0; n < COUNTERS_SHOWN; n++)
			out_json_real(j, counter_name((enum counter)n), m.v[n]);
		out_json_close(j, '}');
	}
	out_json_close(j, '}');
}

static void json_copies(struct out_json *j, const struct classify *c)
{
	out_json_open(j, "copies", '{');
	out_json_u64(j, "count", c->copy_count);
	out_json_real(j, "total_us", cmd_us((int64_t)c->copy_ns));
	out_json_u64(j, "bytes", c->copy_bytes);
	out_json_open(j, "kinds", '[');
	for (size_t i = 0; i < c->n_copies; i++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "kind", c->copies[i].name);
		out_json_u64(j, "count", c->copies[i].count);
		out_json_real(j, "total_us", cmd_us((int64_t)c->copies[i].total_ns));
		out_json_u64(j, "bytes", c->copies[i].bytes);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_close(j, '}');
}

static void write_json(const struct trace *t, const struct classify *c, const struct counters *x, size_t n,
                       struct str *out)
{
	struct out_json j;
	uint64_t sum = 0;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "range", t->range);
	out_json_real(&j, "total_us", cmd_us((int64_t)c->kernel_ns));
	out_json_u64(&j, "kernel_count", c->kernel_count);
	out_json_u64(&j, "aggregated_count", c->stat_count);
	if (t->n_grouped)
		out_json_int(&j, "step_count", steps_of(t));
	else
		out_json_null(&j, "step_count");
	out_json_u64(&j, "name_count", c->n_kernels);
	out_json_open(&j, "kernels", '[');
	for (size_t i = 0; i < n; i++)
		json_kernel(&j, c, x, i, &sum);
	out_json_close(&j, ']');
	out_json_open(&j, "families", '[');
	for (size_t i = 0; i < c->n_families; i++) {
		out_json_open(&j, NULL, '{');
		out_json_text(&j, "family", c->families[i].name);
		out_json_u64(&j, "count", c->families[i].count);
		out_json_real(&j, "total_us", cmd_us((int64_t)c->families[i].total_ns));
		out_json_real(&j, "share_pct", share(c, c->families[i].total_ns));
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	json_copies(&j, c);
	out_json_close(&j, '}');
}

/* --- tables ------------------------------------------------------------------------------------------------ */

static void write_kernels(const struct classify *c, size_t n, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "rank", OUT_INT, 0 },     { "friendly", OUT_TEXT, 0 },   { "library", OUT_TEXT, 0 },
		{ "family", OUT_TEXT, 0 },  { "count", OUT_INT, 0 },       { "total_us", OUT_REAL, 3 },
		{ "mean_us", OUT_REAL, 3 }, { "longest_us", OUT_REAL, 3 }, { "share_pct", OUT_REAL, 2 },
		{ "cum_pct", OUT_REAL, 2 }, { "name", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct classify_kernel *k = &c->kernels[i];

		out_int(t, (int64_t)i + 1);
		out_text(t, k->friendly);
		out_text(t, k->library);
		out_text(t, k->family);
		out_int(t, (int64_t)k->count);
		out_real(t, cmd_us((int64_t)k->total_ns));
		out_real(t, mean_us(k->total_ns, k->count));
		out_real(t, cmd_us((int64_t)k->longest_ns));
		out_real(t, share(c, k->total_ns));
		out_real(t, share(c, sum += k->total_ns));
		cmd_out_name(t, k->name, NAME_SHOWN, f);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void write_families(const struct classify *c, struct str *out)
{
	static const struct out_col cols[] = {
		{ "family", OUT_TEXT, 0 },  { "count", OUT_INT, 0 },      { "total_us", OUT_REAL, 3 },
		{ "mean_us", OUT_REAL, 3 }, { "share_pct", OUT_REAL, 2 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, "families");

	for (size_t i = 0; i < c->n_families; i++) {
		out_text(t, c->families[i].name);
		out_int(t, (int64_t)c->families[i].count);
		out_real(t, cmd_us((int64_t)c->families[i].total_ns));
		out_real(t, mean_us(c->families[i].total_ns, c->families[i].count));
		out_real(t, share(c, c->families[i].total_ns));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_copies(const struct classify *c, struct str *out)
{
	static const struct out_col cols[] = {
		{ "copies and sets", OUT_TEXT, 0 },
		{ "count", OUT_INT, 0 },
		{ "total_us", OUT_REAL, 3 },
		{ "bytes", OUT_BYTES, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < c->n_copies; i++) {
		out_text(t, c->copies[i].name);
		out_int(t, (int64_t)c->copies[i].count);
		out_real(t, cmd_us((int64_t)c->copies[i].total_ns));
		out_int(t, (int64_t)c->copies[i].bytes);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

/* Means over the launches of a name that Nsight Compute profiled. */
static void write_counted(const struct classify *c, const struct counters *x, size_t n, struct str *out)
{
	static const enum counter shown[] = { COUNTER_SM_PCT, COUNTER_DRAM_PCT, COUNTER_MEM_GBS, COUNTER_L2_HIT_PCT,
		                              COUNTER_OCCUPANCY_PCT };
	static const struct out_col cols[] = {
		{ "rank", OUT_INT, 0 },           { "friendly", OUT_TEXT, 0 },    { "sm_pct", OUT_REAL, 2 },
		{ "dram_pct", OUT_REAL, 2 },      { "gbps", OUT_REAL, 1 },        { "l2_hit_pct", OUT_REAL, 2 },
		{ "occupancy_pct", OUT_REAL, 2 }, { "profiled_us", OUT_REAL, 3 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols,
	                                    "counted by Nsight Compute: means over a name's profiled launches");
	uint64_t counted_ns = 0;
	struct counted m;

	for (size_t i = 0; i < c->n_kernels; i++) {
		if (!counters_mean(x, c->kernels[i].name, &m))
			continue;
		counted_ns += c->kernels[i].total_ns;
		if (i >= n)
			continue;
		out_int(t, (int64_t)i + 1);
		out_text(t, c->kernels[i].friendly);
		for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
			out_real_or_null(t, m.v[shown[k]]);
		out_real_or_null(t, m.v[COUNTER_DURATION_US]);
	}
	str_addc(out, '\n');
	out_table_write(t, OUT_TABLE, out);
	str_addf(out, "(names with counters take %.2f %% of the kernel time)\n", share(c, counted_ns));
	out_table_free(t);
}

static void write_tables(const struct trace *t, const struct classify *c, const struct counters *x, size_t n,
                         struct str *out)
{
	str_addf(out, "%s%s%s%" PRIu64 " kernels of %zu names in %.3f us", t->range ? "range " : "",
	         t->range ? t->range : "", t->range ? ": " : "", c->kernel_count, c->n_kernels,
	         cmd_us((int64_t)c->kernel_ns));
	if (t->n_grouped)
		str_addf(out, ", %lld steps", (long long)steps_of(t));
	str_add(out, "; shares are of kernel time\n");
	if (c->stat_count)
		str_addf(out,
		         "%" PRIu64
		         " of the kernels come from an aggregated profile: how often and how long is known, in"
		         " which order and with which shapes is not\n",
		         c->stat_count);
	str_addc(out, '\n');
	write_kernels(c, n, OUT_TABLE, out);
	cmd_print_more(n, c->n_kernels, out);
	if (x)
		write_counted(c, x, n, out);
	str_addc(out, '\n');
	write_families(c, out);
	if (c->n_copies) {
		str_addc(out, '\n');
		write_copies(c, out);
	}
}

struct ranked {
	struct sums_value v;
	enum sums_order order;
	struct classify_kernel k;
};

static int by_rank(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return sums_compare(a->order, &a->v, &b->v);
}

static int sort_kernels(struct classify *c, enum sums_order order, struct arena *a, struct err *e)
{
	struct ranked *v = arena_array(a, c->n_kernels + 1, sizeof *v);

	if (!v)
		return err_nomem(e, "for the table of kernels");
	for (size_t i = 0; i < c->n_kernels; i++) {
		const struct classify_kernel *k = &c->kernels[i];

		v[i] = (struct ranked){ { k->name, k->count, k->total_ns, k->longest_ns }, order, *k };
	}
	qsort(v, c->n_kernels, sizeof *v, by_rank);
	for (size_t i = 0; i < c->n_kernels; i++)
		c->kernels[i] = v[i].k;
	return 0;
}

static int top(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct trace_by by = { .range = o->range, .rules = o->rules, .filter = o->filter, .n = o->n };
	struct measured t = { 0 };
	struct classify c;
	enum out_format f;
	size_t n;
	int rc = -1;

	if (cmd_format(o->format, &f, e) < 0 || sums_order_parse(o->sort, &by.sort, e) < 0 ||
	    (o->by && sums_parse(o->by, &by.by, e) < 0))
		return -1;
	if (o->by)
		return trace_by(path, &by, f, out, e);
	if (cmd_measured(
		    (struct measured_from){ path, o->range, tracedb_load_groups, .rules = o->rules ? o->rules : "" },
		    &t, e) < 0 ||
	    (o->filter && sums_filter(&t.trace, o->filter, t.rules, e) < 0) ||
	    classify_trace(&t.trace, t.rules, t.arena, &c, e) < 0 ||
	    (by.sort != SUMS_TOTAL && sort_kernels(&c, by.sort, t.arena, e) < 0))
		goto out;
	n = cmd_first(o->n, c.n_kernels);
	if (f == OUT_JSON)
		write_json(&t.trace, &c, t.counters, n, out);
	else if (f == OUT_CSV)
		write_kernels(&c, n, f, out);
	else
		write_tables(&t.trace, &c, t.counters, n, out);
	rc = 0;
out:
	measured_free(&t);
	return rc;
}

int cmd_trace_top(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = UINT64_MAX };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels with most time; all of them by default" },
		{ 0, "by", OPT_TEXT, &o.by, "op|layer|stream|family",
		  "sum kernels by the framework op that launched them, by layer, stream or family, in place of their names" },
		{ 0, "sort", OPT_TEXT, &o.sort, "total|count|mean|longest|name", "the order; total time by default" },
		{ 0, "filter", OPT_TEXT, &o.filter, "REGEX",
		  "only kernels with a match in their name, friendly name or family (POSIX extended, blind to case); shares are"
		  " of what is left" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", CMD_RANGE_HELP },
		{ 0, "rules", OPT_READ, &o.rules, "FILE", CMD_FAMILIES_HELP },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the kernels alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace top T.db [-n N] [--range NAME]",
		"Where the GPU's time went: kernels by name, longest first, and families of kernels (what a kernel is for,"
		" by the rule table). Shares are of kernel time; copies and sets stand apart. A kernel whose name serves"
		" several families has the one with most of its time in its row, while families are summed launch by"
		" launch. cum_pct is the share of a row and of all above it.",
		"npusim trace top -n 10 /tmp/t.db\n"
		"npusim trace top /tmp/t.db --sort longest -n 10\n"
		"npusim trace top /tmp/t.db --by layer\n"
		"npusim trace top /tmp/t.db --by op --filter 'gemm|gemv'\n"
		"npusim trace top /tmp/t.db --range decode_step_1 --format json\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = top(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
