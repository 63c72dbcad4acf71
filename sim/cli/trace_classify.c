/* trace_classify.c - npusim trace classify: what holds each kernel back, by a rule that is printed. */
#include "sim/cli/bound.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NAME_SHOWN 48

struct options {
	struct bound_options b;
	const char *format;
	uint64_t n;
};

static double mean_us(const struct bound_kernel *k)
{
	return k->count ? cmd_us((int64_t)k->ns) / (double)k->count : 0;
}

static void write_kernels(const struct bound *b, size_t n, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "rank", OUT_INT, 0 },        { "friendly", OUT_TEXT, 0 }, { "family", OUT_TEXT, 0 },
		{ "count", OUT_INT, 0 },       { "total_us", OUT_REAL, 3 }, { "mean_us", OUT_REAL, 3 },
		{ "share_pct", OUT_REAL, 2 },  { "ai", OUT_REAL, 3 },       { "ridge", OUT_REAL, 1 },
		{ "memory_pct", OUT_REAL, 2 }, { "math_pct", OUT_REAL, 2 }, { "class", OUT_TEXT, 0 },
		{ "name", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < n; i++) {
		const struct bound_kernel *k = &b->kernels[i];

		out_int(t, (int64_t)i + 1);
		out_text(t, k->friendly);
		out_text(t, k->family);
		out_int(t, (int64_t)k->count);
		out_real(t, cmd_us((int64_t)k->ns));
		out_real(t, mean_us(k));
		out_real(t, cmd_pct((double)k->ns, (double)b->ns));
		out_real_or_null(t, bound_intensity(k->flops, k->bytes));
		out_real(t, roof_ridge(&b->roof, k->pipe));
		out_real_or_null(t, k->memory);
		out_real_or_null(t, k->math);
		out_text(t, roof_class_name(k->class));
		cmd_out_name(t, k->name, NAME_SHOWN, f);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void write_classes(const struct bound *b, struct str *out)
{
	static const struct out_col cols[] = {
		{ "class", OUT_TEXT, 0 },
		{ "kernels", OUT_INT, 0 },
		{ "total_us", OUT_REAL, 3 },
		{ "share_pct", OUT_REAL, 2 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (int i = 0; i < ROOF_CLASSES; i++) {
		out_text(t, roof_class_name((enum roof_class)i));
		out_int(t, (int64_t)b->class_count[i]);
		out_real(t, cmd_us((int64_t)b->class_ns[i]));
		out_real(t, cmd_pct((double)b->class_ns[i], (double)b->ns));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

/* The report's table of means: a metric a row, a class a column. */
static void write_means(const struct bound *b, struct str *out)
{
	struct out_col cols[ROOF_CLASSES + 2] = { { "mean of kernels", OUT_TEXT, 0 } };
	struct out_table *t;

	for (int c = 0; c < ROOF_CLASSES; c++)
		cols[c + 1] = (struct out_col){ roof_class_name((enum roof_class)c), OUT_REAL, 2 };
	cols[ROOF_CLASSES + 1] = (struct out_col){ "all", OUT_REAL, 2 };
	t = out_table_new(cols, ROOF_CLASSES + 2, NULL);
	for (int k = 0; k < COUNTERS_SHOWN; k++) {
		if (isnan(bound_mean(b, ROOF_CLASSES, (enum counter)k)))
			continue;
		out_text(t, counter_name((enum counter)k));
		for (int c = 0; c <= ROOF_CLASSES; c++)
			out_real_or_null(t, bound_mean(b, c, (enum counter)k));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void json_means(const struct bound *b, int class, struct out_json *j)
{
	out_json_open(j, "means", '{');
	for (int k = 0; k < COUNTERS_SHOWN; k++)
		out_json_real(j, counter_name((enum counter)k), bound_mean(b, class, (enum counter)k));
	out_json_close(j, '}');
}

static void json_kernel(struct out_json *j, const struct bound *b, size_t i)
{
	const struct bound_kernel *k = &b->kernels[i];

	out_json_open(j, NULL, '{');
	out_json_int(j, "rank", (int64_t)i + 1);
	out_json_text(j, "name", k->name);
	out_json_text(j, "friendly", k->friendly);
	out_json_text(j, "library", k->library);
	out_json_text(j, "family", k->family);
	out_json_u64(j, "count", k->count);
	out_json_real(j, "total_us", cmd_us((int64_t)k->ns));
	out_json_real(j, "mean_us", mean_us(k));
	out_json_real(j, "share_pct", cmd_pct((double)k->ns, (double)b->ns));
	out_json_real(j, "ai", bound_intensity(k->flops, k->bytes));
	out_json_real(j, "ridge", roof_ridge(&b->roof, k->pipe));
	out_json_text(j, "class", roof_class_name(k->class));
	out_json_text(j, "pipe", roof_pipe_name(k->pipe));
	out_json_real(j, "memory_pct", k->memory);
	out_json_real(j, "math_pct", k->math);
	out_json_real(j, "counted_pct", cmd_pct((double)k->counted_ns, (double)k->ns));
	out_json_close(j, '}');
}

static void write_json(const struct trace *t, const struct bound *b, size_t n, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "range", t->range);
	out_json_real(&j, "total_us", cmd_us((int64_t)b->ns));
	out_json_u64(&j, "kernel_count", b->count);
	bound_json_rule(b, &j);
	out_json_open(&j, "classes", '[');
	for (int i = 0; i < ROOF_CLASSES; i++) {
		out_json_open(&j, NULL, '{');
		out_json_text(&j, "class", roof_class_name((enum roof_class)i));
		out_json_u64(&j, "count", b->class_count[i]);
		out_json_real(&j, "total_us", cmd_us((int64_t)b->class_ns[i]));
		out_json_real(&j, "share_pct", cmd_pct((double)b->class_ns[i], (double)b->ns));
		json_means(b, i, &j);
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	json_means(b, ROOF_CLASSES, &j);
	out_json_open(&j, "kernels", '[');
	for (size_t i = 0; i < n; i++)
		json_kernel(&j, b, i);
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static int classify(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct bound_input in = { .rules = NULL };
	enum out_format f;
	int rc = -1;
	size_t n;

	if (cmd_format(o->format, &f, e) == 0 && (rc = bound_input_read(&in, path, &o->b, e)) == 0) {
		n = cmd_first(o->n, in.b.n_kernels);
		if (f == OUT_JSON)
			write_json(&in.t.trace, &in.b, n, out);
		else if (f == OUT_CSV)
			write_kernels(&in.b, n, f, out);
		else {
			bound_print_rule(&in.b, out);
			str_addf(out, "\n%" PRIu64 " kernels in %.3f us\n", in.b.count, cmd_us((int64_t)in.b.ns));
			write_classes(&in.b, out);
			str_addc(out, '\n');
			write_means(&in.b, out);
			str_addc(out, '\n');
			write_kernels(&in.b, n, f, out);
			cmd_print_more(n, in.b.n_kernels, out);
		}
	}
	bound_input_free(&in);
	return rc;
}

int cmd_trace_classify(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = UINT64_MAX };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels with most time; all of them by default" },
		BOUND_OPTS(&o.b),
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the kernels alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace classify T.db [-n N] [--range NAME] [-c GPU.yaml]",
		"What holds each kernel back: memory, math, neither (balanced), or latency: launch, round trips and "
		"too few"
		" threads. The rule, its thresholds, the peaks and the ridge are printed. Launches that Nsight Compute "
		"counted are"
		" judged by their counters; import its file into the same database and its counters join the kernels "
		"of the other"
		" by name, geometry and order. Others are judged by the bytes and operations of their op over the "
		"measured time."
		" A name's class is the one most of its time is in; classes are summed launch by launch. Means are over the launches"
		" of a class that have the metric, each counted once, however long it ran.",
		"npusim trace classify -n 10 /tmp/t.db\n"
		"npusim trace classify /tmp/t.db --range decode_step_1 --format json\n"
		"npusim trace classify /tmp/t.db -c configs/gpu/rtx5090.yaml --low 20 --margin 2\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = classify(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
