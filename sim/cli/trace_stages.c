/* trace_stages.c - npusim trace stages: what a trace's time was for, and where each stage is under the roofline. */
#include "sim/cli/bound.h"

#include <math.h>
#include <stdio.h>

#include "sim/profile/stages.h"

#define FAMILIES_SHOWN 4

struct options {
	struct bound_options b;
	const char *format;
	uint64_t n;
};

static double share(const struct stages *s, const struct stage_sum *x)
{
	return unit_pct((double)x->ns, (double)s->ns);
}

static double per_second(double what, const struct stage_sum *x)
{
	return x->time > 0 ? what / x->time : NAN;
}

/* Of what is known: a stage half of whose kernels have no shapes says so by known_pct. */
static double of_roof(const struct stage_sum *x)
{
	return x->time > 0 && x->roof > 0 ? 100 * x->roof / x->time : NAN;
}

static void queries_text(const struct stage_row *r, char *to, size_t n)
{
	if (r->q_max == 0)
		snprintf(to, n, "-");
	else if (r->q_min == r->q_max)
		snprintf(to, n, "%llu", (unsigned long long)r->q_max);
	else
		snprintf(to, n, "%llu-%llu", (unsigned long long)r->q_min, (unsigned long long)r->q_max);
}

static void write_stages(const struct stages *s, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "stage", OUT_TEXT, 0 },   { "passes", OUT_INT, 0 },  { "queries", OUT_TEXT, 0 },
		{ "keys", OUT_INT, 0 },     { "kernels", OUT_INT, 0 }, { "us", OUT_REAL, 1 },
		{ "pass_us", OUT_REAL, 1 }, { "pct", OUT_REAL, 1 },    { "ai", OUT_REAL, 2 },
		{ "tflops", OUT_REAL, 2 },  { "gbps", OUT_REAL, 0 },   { "of_roof", OUT_REAL, 1 },
		{ "class", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	char text[64];

	for (int i = 0; i < STAGES; i++) {
		const struct stage_row *r = &s->row[i];
		const double us = unit_us((int64_t)r->sum.ns);

		if (!r->launches)
			continue;
		queries_text(r, text, sizeof text);
		out_text(t, stage_name((enum stage)i));
		out_int(t, (int64_t)r->passes);
		out_text(t, text);
		if (r->kv_max)
			out_int(t, (int64_t)r->kv_max);
		else
			out_null(t);
		out_int(t, (int64_t)r->sum.kernels);
		out_real(t, us);
		out_real(t, us / (double)(r->passes ? r->passes : 1));
		out_real(t, share(s, &r->sum));
		out_real_or_null(t, r->sum.known ? bound_intensity(r->sum.flops, r->sum.bytes) : NAN);
		out_real_or_null(t, per_second(r->sum.flops, &r->sum) / 1e12);
		out_real_or_null(t, per_second(r->sum.bytes, &r->sum) / 1e9);
		out_real_or_null(t, of_roof(&r->sum));
		out_text(t, roof_class_name(stage_class(&r->sum)));
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void write_families(const struct stages *s, uint64_t most, struct str *out)
{
	static const struct out_col cols[] = {
		{ "stage", OUT_TEXT, 0 },  { "family", OUT_TEXT, 0 }, { "kernels", OUT_INT, 0 },
		{ "us", OUT_REAL, 1 },     { "pct", OUT_REAL, 1 },    { "ai", OUT_REAL, 2 },
		{ "tflops", OUT_REAL, 2 }, { "gbps", OUT_REAL, 0 },   { "of_roof", OUT_REAL, 1 },
		{ "class", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (int i = 0; i < STAGES; i++) {
		const struct stage_row *r = &s->row[i];

		for (size_t k = 0; k < cmd_first(most, r->n_families); k++) {
			const struct stage_family *x = &r->families[k];

			out_text(t, stage_name((enum stage)i));
			out_text(t, x->name);
			out_int(t, (int64_t)x->sum.kernels);
			out_real(t, unit_us((int64_t)x->sum.ns));
			out_real(t, unit_pct((double)x->sum.ns, (double)r->sum.ns));
			out_real_or_null(t, x->sum.known ? bound_intensity(x->sum.flops, x->sum.bytes) : NAN);
			out_real_or_null(t, per_second(x->sum.flops, &x->sum) / 1e12);
			out_real_or_null(t, per_second(x->sum.bytes, &x->sum) / 1e9);
			out_real_or_null(t, of_roof(&x->sum));
			out_text(t, roof_class_name(stage_class(&x->sum)));
		}
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_tables(const struct trace *t, const struct stages *s, uint64_t most, struct str *out)
{
	uint64_t named = 0, all = 0;

	for (int i = 0; i < STAGES; i++) {
		named += s->row[i].named;
		all += s->row[i].launches;
	}
	str_addf(
		out,
		"%s%s%skernels %.3f us, copies and sets %.3f us\nof the launches annotations tell the stage of %.0f %%, attention of the rest\n",
		t->range ? "range " : "", t->range ? t->range : "", t->range ? ": " : "", unit_us((int64_t)s->ns),
		unit_us((int64_t)s->copy_ns), unit_pct((double)named, (double)all));
	str_addf(out, "roof of %s: %.0f GB/s effective, bf16 %.1f TFLOP/s, ridge %.1f FLOP/byte\n\n", s->roof.name,
	         s->roof.effective / 1e9, s->roof.flops[ROOF_BF16] / 1e12, roof_ridge(&s->roof, ROOF_BF16));
	write_stages(s, OUT_TABLE, out);
	for (int i = 0; i < STAGES; i++) {
		const struct stage_sum *x = &s->row[i].sum;

		if (x->kernels && unit_pct((double)x->known_ns, (double)x->ns) < 95)
			str_addf(
				out,
				"(of %s %.1f %% of the time is of kernels with shapes or counters, and under the roof)\n",
				stage_name((enum stage)i), unit_pct((double)x->known_ns, (double)x->ns));
	}
	str_addc(out, '\n');
	write_families(s, most, out);
}

static void json_sum(struct out_json *j, const struct stage_sum *x)
{
	out_json_u64(j, "kernels", x->kernels);
	out_json_real(j, "us", unit_us((int64_t)x->ns));
	out_json_real(j, "known_pct", unit_pct((double)x->known_ns, (double)x->ns));
	out_json_real(j, "gflop", x->flops / 1e9);
	out_json_real(j, "gbytes", x->bytes / 1e9);
	out_json_real(j, "ai", x->known ? bound_intensity(x->flops, x->bytes) : NAN);
	out_json_real(j, "tflops", per_second(x->flops, x) / 1e12);
	out_json_real(j, "gbps", per_second(x->bytes, x) / 1e9);
	out_json_real(j, "roof_us", x->known ? x->roof * 1e6 : NAN);
	out_json_real(j, "of_roof_pct", of_roof(x));
	out_json_text(j, "class", roof_class_name(stage_class(x)));
	out_json_open(j, "classes_us", '{');
	for (int i = 0; i < ROOF_CLASSES; i++)
		out_json_real(j, roof_class_name((enum roof_class)i), unit_us((int64_t)x->class_ns[i]));
	out_json_close(j, '}');
}

static void json_stage(struct out_json *j, const struct stages *s, enum stage is)
{
	const struct stage_row *r = &s->row[is];

	out_json_open(j, NULL, '{');
	out_json_text(j, "stage", stage_name(is));
	out_json_u64(j, "passes", r->passes);
	out_json_u64(j, "launches", r->launches);
	out_json_u64(j, "annotated", r->named);
	out_json_u64(j, "batch", r->batch);
	out_json_u64(j, "queries_min", r->q_min);
	out_json_u64(j, "queries_max", r->q_max);
	out_json_u64(j, "keys_max", r->kv_max);
	out_json_real(j, "copy_us", unit_us((int64_t)r->copy_ns));
	out_json_real(j, "span_us", unit_us((int64_t)r->span_ns));
	out_json_real(j, "share_pct", share(s, &r->sum));
	json_sum(j, &r->sum);
	out_json_open(j, "families", '[');
	for (size_t i = 0; i < r->n_families; i++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "family", r->families[i].name);
		json_sum(j, &r->families[i].sum);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_close(j, '}');
}

static void write_json(const struct trace *t, const struct stages *s, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "range", t->range);
	out_json_text(&j, "config", s->roof.name);
	out_json_real(&j, "kernel_us", unit_us((int64_t)s->ns));
	out_json_real(&j, "copy_us", unit_us((int64_t)s->copy_ns));
	out_json_open(&j, "stages", '[');
	for (int i = 0; i < STAGES; i++)
		if (s->row[i].launches)
			json_stage(&j, s, (enum stage)i);
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static int stages(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct bound_input in = { .rules = NULL };
	struct stages s;
	enum out_format f;
	int rc = -1;

	if (cmd_format(o->format, &f, e) == 0 && bound_input_whole(&in, path, &o->b, e) == 0) {
		const struct bound_criteria by = { in.rules, in.t.counters, &in.b.roof, &in.b.rule };

		rc = stages_of(&in.t.trace, &by, in.t.arena, &s, e);
		if (rc == 0 && f == OUT_JSON)
			write_json(&in.t.trace, &s, out);
		else if (rc == 0 && f == OUT_CSV)
			write_stages(&s, f, out);
		else if (rc == 0)
			write_tables(&in.t.trace, &s, o->n, out);
	}
	bound_input_free(&in);
	return rc;
}

int cmd_trace_stages(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = FAMILIES_SHOWN };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N families with most time of each stage; 4 by default" },
		BOUND_OPTS(&o.b),
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the stages alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace stages T.db [-n N] [--range NAME] [-c GPU.yaml]",
		"What a trace's time was for: vision, prefill and decode side by side, with their queries and keys, times,"
		" operations and bytes a second, how near that is to the roofline, and the families of kernels with most"
		" time. An annotation with a word for one stage (vision, visual, image, vit; prefill, prompt; decode,"
		" decoding) tells the stage of what was launched inside it. Elsewhere attention tells: a few queries over"
		" many keys are decode, causal attention is prefill, and where all see all it is an encoder, vision. A pass"
		" begins at an annotation, at a lookup of tokens or where the stage changes. of_roof is the time that bytes"
		" or operations need at the device's rates, whichever is longer, in percent of the measured; bytes are each"
		" operand once, or Nsight Compute's.",
		"npusim trace stages /tmp/t.db\n"
		"npusim trace stages /tmp/t.db --range decode_step_1 -n 8\n"
		"npusim trace stages /tmp/t.db --format json\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = stages(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
