/* trace_classify.c - npusim trace classify: what holds each kernel back, by a rule that is printed. */
#include "sim/cli/bound.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/report/bound_doc.h"

#define NAME_SHOWN 48

struct options {
	struct bound_options b;
	const char *format;
	uint64_t n;
};

static double mean_us(const struct bound_kernel *k)
{
	return k->count ? unit_us((int64_t)k->ns) / (double)k->count : 0;
}

static void trace_classify_kernel(struct doc *d, const void *of, size_t i)
{
	const struct bound *b = of;
	const struct bound_kernel *k = &b->kernels[i];
	const bool json = d->format == OUT_JSON;

	doc_count(d, "rank", i + 1);
	if (json)
		doc_text(d, "name", k->name);
	doc_text(d, "friendly", k->friendly);
	if (json)
		doc_text(d, "library", k->library);
	doc_text(d, "family", k->family);
	doc_count(d, "count", k->count);
	doc_ns(d, "total_us", 3, k->ns);
	doc_real(d, "mean_us", 3, mean_us(k));
	doc_real(d, "share_pct", 2, unit_pct((double)k->ns, (double)b->ns));
	doc_real(d, "ai", 3, bound_intensity(k->flops, k->bytes));
	doc_real(d, "ridge", 1, roof_ridge(&b->roof, k->pipe));
	if (json) {
		doc_text(d, "class", roof_class_name(k->class));
		doc_text(d, "pipe", roof_pipe_name(k->pipe));
	}
	doc_real(d, "memory_pct", 2, k->memory);
	doc_real(d, "math_pct", 2, k->math);
	if (json) {
		doc_real(d, "counted_pct", 2, unit_pct((double)k->counted_ns, (double)k->ns));
		return;
	}
	doc_text(d, "class", roof_class_name(k->class));
	doc_name(d, "name", NAME_SHOWN, k->name);
}

static void means(struct doc *d, const struct bound *b, int class)
{
	if (d->format != OUT_JSON)
		return;
	doc_open(d, "means", '{');
	for (int k = 0; k < COUNTERS_SHOWN; k++)
		doc_real(d, counter_name((enum counter)k), 2, bound_mean(b, class, (enum counter)k));
	doc_close(d, '}');
}

/* For people as the profile report has it: a metric a row, a class a column. */
static void metric(struct doc *d, const void *of, size_t i)
{
	const struct bound *b = of;
	const enum counter k = (enum counter)i;

	if (!d->heads && isnan(bound_mean(b, ROOF_CLASSES, k)))
		return;
	doc_text(d, "mean of kernels", counter_name(k));
	for (int c = 0; c < ROOF_CLASSES; c++)
		doc_real(d, roof_class_name((enum roof_class)c), 2, bound_mean(b, c, k));
	doc_real(d, "all", 2, bound_mean(b, ROOF_CLASSES, k));
}

static void class(struct doc *d, const void *of, size_t i)
{
	const struct bound *b = of;

	doc_text(d, "class", roof_class_name((enum roof_class)i));
	doc_count(d, d->format == OUT_JSON ? "count" : "kernels", b->class_count[i]);
	doc_ns(d, "total_us", 3, b->class_ns[i]);
	doc_real(d, "share_pct", 2, unit_pct((double)b->class_ns[i], (double)b->ns));
	means(d, b, (int)i);
}

static void trace_classify_print(struct doc *d, const struct trace *t, const struct bound *b, size_t n)
{
	doc_open(d, NULL, '{');
	doc_text(d, "range", t->range);
	doc_ns(d, "total_us", 3, b->ns);
	doc_count(d, "kernel_count", b->count);
	bound_doc(d, b);
	doc_say(d, "\n%" PRIu64 " kernels in %.3f us\n", b->count, unit_us((int64_t)b->ns));
	if (d->format != OUT_CSV) /* which has the kernels */
		doc_table(d, "classes", NULL, ROOF_CLASSES, class, b);
	means(d, b, ROOF_CLASSES);
	doc_say(d, "\n");
	if (d->format == OUT_TABLE) {
		doc_table(d, NULL, NULL, COUNTERS_SHOWN, metric, b);
		doc_say(d, "\n");
	}
	doc_table(d, "kernels", NULL, n, trace_classify_kernel, b);
	doc_say_more(d, n, b->n_kernels);
	doc_close(d, '}');
}

static int classify(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct bound_input in = { .rules = NULL };
	const int rc = bound_input_read(&in, args->v[0], &o->b, e);

	if (rc == 0)
		trace_classify_print(d, &in.t.trace, &in.b, cmd_first(o->n, in.b.n_kernels));
	bound_input_free(&in);
	return rc;
}

int cmd_trace_classify(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = UINT64_MAX };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels with most time; all of them by default" },
		BOUND_OPTS(&o.b),
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the kernels alone" },
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

	return cmd_do(&cmd, &o.format, classify, &o, argc, argv, out, e);
}
