/* Samples of a trace, how a benchmark's rotation decides what is warm, scores, the fit and the accuracy file. */
#include <stdio.h>

#include "sim/accuracy/accuracy.h"
#include "sim/accuracy/cases.h"
#include "sim/accuracy/fit.h"

#include "arch/machine/machine_gpu.h"
#include "validate/tests/mktrace.h"

#define EW "void at::native::vectorized_elementwise_kernel<4, at::native::neg_kernel_cuda>"
#define DEVICE \
	"kind: gpu\nname: toy\nclock: 1 GHz\ncores: 100\nl2: {size: 48 MiB, ways: 16}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 4 TB/s}\ngpu: {launch: 700 ns}\n"

struct bed {
	struct mk m;
	struct trace_range ranges[64];
	struct machine_conf *conf;
	struct rules *rules;
	struct kernels *kernels;
	struct cases_rules *case_rules;
	struct cases set;
	struct err e;
};

static void bed_up(struct bed *b)
{
	memset(b, 0, sizeof *b);
	mk_open(&b->m);
	b->m.t.ranges = b->ranges;
	b->conf = machine_conf_parse(DEVICE, strlen(DEVICE), "toy", NULL, 0, &b->e);
	CHECK_OK(b->conf ? 0 : -1, b->e);
	b->rules = rules_load(NULL, &b->e);
	b->kernels = kernels_load(NULL, &b->e);
	b->case_rules = cases_rules_load(NULL, &b->e);
	CHECK_OK(b->rules && b->kernels && b->case_rules ? 0 : -1, b->e);
}

static void bed_down(struct bed *b)
{
	cases_rules_free(b->case_rules);
	kernels_free(b->kernels);
	rules_free(b->rules);
	machine_conf_free(b->conf);
	mk_close(&b->m);
}

/* One repetition of a case: a kernel of `ns` that negates n bf16 numbers. */
static void rep(struct bed *b, const char *range, uint64_t n, int64_t ns)
{
	struct trace_range *r = &b->ranges[b->m.t.n_ranges++];
	char args[64];
	struct trace_launch *l;

	snprintf(args, sizeof args, "bf16[%llu]", (unsigned long long)n);
	r->name = range;
	r->start_ns = b->m.now;
	l = mk_kernel(&b->m, EW, "aten::neg", args);
	l->dur_ns = ns;
	l->host_start_ns = r->start_ns + 10;
	l->block[0] = 128;
	l->block[1] = l->block[2] = 1;
	l->registers = 32;
	l->grid[0] = (uint32_t)((n + 1023) / 1024);
	r->dur_ns = ns + 100;
	b->m.now += ns;
}

static void ready(struct bed *b)
{
	struct gpu g = machine_gpu(&b->conf->cfg);

	CHECK_OK(cases_make(&b->m.t, b->rules, b->kernels, b->m.a, &b->set, &b->e), b->e);
	CHECK_OK(cases_move(&b->set, b->case_rules, &b->conf->cfg, &b->e), b->e);
	cases_time(&b->set, &g);
}

TEST(a_case_is_the_median_of_its_repetitions)
{
	struct bed b;

	bed_up(&b);
	rep(&b, "case|ew_neg_bf16|n=4096|0", 4096, 2000);
	rep(&b, "case|ew_neg_bf16|n=4096|1", 4096, 9000);
	rep(&b, "case|ew_neg_bf16|n=4096|2", 4096, 3000);
	rep(&b, "case|ew_neg_bf16|n=8192|0", 8192, 4000);
	rep(&b, "case|ew_neg_bf16|n=8192|1", 8192, 5000);
	ready(&b);
	CHECK_U64(b.set.n, 2);
	CHECK_STR(b.set.v[0].name, "ew_neg_bf16 n=4096");
	CHECK_STR(b.set.v[0].cls, "elementwise");
	CHECK_STR(b.set.v[0].group, "ew_neg_bf16");
	CHECK_U64(b.set.v[0].measured_ns, 3000);
	CHECK_U64(b.set.v[0].low_ns, 2000);
	CHECK_U64(b.set.v[0].high_ns, 9000);
	CHECK_U64(b.set.v[1].measured_ns, 4500);
	CHECK(b.set.v[0].time.total >= 700 * PS_NS);
	bed_down(&b);
}

static void with_cases(struct bed *b, const char *text)
{
	char path[512];
	FILE *f = fopen(test_path(path, sizeof path, "cases.yaml"), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	cases_rules_free(b->case_rules);
	b->case_rules = cases_rules_load(path, &b->e);
	CHECK_OK(b->case_rules ? 0 : -1, b->e);
}

/* ew_* rotates min(64, ceil(300 MB / (2 b))) copies of b bytes: 64 copies of 128 KiB stay in 48 MiB, 64 of 2 MiB not.
 */
TEST(copies_that_fit_the_l2_are_warm_and_others_cold)
{
	struct bed b;
	const struct gpu_mem *m;

	bed_up(&b);
	with_cases(&b, "cases:\n- {kind: ^ew_, rotates: [0], copies: 64, budget: 300 MB, times: 2}\n");
	rep(&b, "case|ew_neg_bf16|n=65536|0", 65536, 3000);
	rep(&b, "case|ew_neg_bf16|n=1048576|0", 1048576, 3000);
	ready(&b);
	m = &b.set.work.launches[0].mem;
	CHECK_U64(m->read, 2 * 65536);
	CHECK_U64(m->read_hit, m->read);
	CHECK_U64(m->write, 2 * 65536);
	m = &b.set.work.launches[1].mem;
	CHECK_U64(m->read, 2 * 1048576);
	CHECK_U64(m->read_hit, 0);
	bed_down(&b);
}

/* With seven calls in all, 64 copies are called once each and 3 copies (60 MB) more than once. */
TEST(a_copy_that_is_called_once_is_cold)
{
	struct bed b;

	bed_up(&b);
	with_cases(&b, "cases:\n- {kind: ^ew_, rotates: [0], copies: 64, budget: 300 MB, times: 2, calls: 7}\n"
	               "- {kind: ^few_, rotates: [0], copies: 3, budget: 300 MB, calls: 7}\n"
	               "- {kind: ^warm_, rotates: none, copies: 64, budget: 300 MB, calls: 7}\n");
	rep(&b, "case|ew_neg_bf16|n=65536|0", 65536, 3000);
	rep(&b, "case|few_neg_bf16|n=65536|0", 65536, 3000);
	rep(&b, "case|warm_neg_bf16|n=65536|0", 65536, 3000);
	ready(&b);
	CHECK_U64(b.set.work.launches[0].mem.read_hit, 0);
	CHECK_U64(b.set.work.launches[1].mem.read_hit, 2 * 65536);
	CHECK_U64(b.set.work.launches[2].mem.read_hit, 2 * 65536);
	bed_down(&b);
}

/* A copy is said to be as it was made only where its row says so, and only where that operand rotates. */
TEST(a_copy_read_for_the_first_time_is_fresh)
{
	struct bed b;

	bed_up(&b);
	with_cases(&b, "cases:\n- {kind: ^ew_, rotates: [0], copies: 64, budget: 300 MB, times: 2, fresh: 1}\n"
	               "- {kind: ^old_, rotates: [0], copies: 64, budget: 300 MB, times: 2}\n"
	               "- {kind: ^warm_, rotates: none, copies: 64, budget: 300 MB, fresh: 1}\n");
	rep(&b, "case|ew_neg_bf16|n=65536|0", 65536, 3000);
	rep(&b, "case|old_neg_bf16|n=65536|0", 65536, 3000);
	rep(&b, "case|warm_neg_bf16|n=65536|0", 65536, 3000);
	ready(&b);
	CHECK_U64(b.set.work.launches[0].fresh, 2 * 65536);
	CHECK_U64(b.set.work.launches[1].fresh, 0);
	CHECK_U64(b.set.work.launches[2].fresh, 0);
	bed_down(&b);
}

TEST(scores_are_those_of_the_textbook)
{
	struct bed b;
	struct score *s;

	bed_up(&b);
	rep(&b, "case|ew_neg_bf16|n=4096|0", 4096, 1000);
	rep(&b, "case|ew_neg_bf16|n=8192|0", 8192, 4000);
	ready(&b);
	b.set.v[0].time.total = 1100 * PS_NS; /* +10 % of 1 us, -5 % of 4 us */
	b.set.v[1].time.total = 3800 * PS_NS;
	CHECK_U64(score_samples(&b.set, 1, SAMPLE_ALL, SCORE_CLASS, b.m.a, &s, &b.e), 1);
	CHECK_U64(s->n, 2);
	CHECK_U64(s->mape * 1000 + 0.5, 7500);
	CHECK_U64(s->median_ape * 1000 + 0.5, 7500);
	CHECK_U64(s->bias * 1000 + 0.5, 2500);
	CHECK_U64(s->weighted_ape * 1000 + 0.5, 6000); /* 0.1 + 0.2 of 5 us */
	bed_down(&b);
}

#define PLAN_FILE "plan.yaml"

static struct fit_plan *plan(struct bed *b, const char *text)
{
	char path[4096];
	FILE *f;

	test_path(path, sizeof path, PLAN_FILE);
	f = fopen(path, "w");
	CHECK(f);
	fputs(text, f);
	fclose(f);
	return fit_plan_load(path, b->conf, b->kernels, &b->e);
}

/* The measured times are the model's own at launch = 700 ns; a search that starts elsewhere must come back to it. */
TEST(a_fit_finds_the_value_the_samples_were_made_with)
{
	struct bed b;
	struct fit_plan *p;
	struct fit_report r;

	bed_up(&b);
	for (int i = 0; i < 30; i++) {
		char *name = arena_printf(b.m.a, "case|ew_neg_bf16|n=%d|0", 4096 << (i % 10) | i);

		rep(&b, name, (uint64_t)(4096 << (i % 10)), 1000);
	}
	ready(&b);
	for (size_t i = 0; i < b.set.n; i++)
		b.set.v[i].measured_ns = b.set.v[i].time.total / 1000;
	p = plan(&b, "calibrate: 1\nfit:\n- {key: gpu.launch, from: 200 ns, to: 3 us, start: 2 us, reason: test}\n");
	CHECK_OK(p ? 0 : -1, b.e);
	CHECK_OK(fit_run(p, b.conf, &(struct fit_data){ .sets = &b.set, .n_sets = 1, .folds = 3 }, &r, &b.e), b.e);
	CHECK(p->fit[0].value >= 697 * PS_NS && p->fit[0].value <= 703 * PS_NS);
	/* Measured times are whole nanoseconds, so folds may lie beside the value by one. */
	CHECK(p->fit[0].low <= p->fit[0].value + PS_NS && p->fit[0].value <= p->fit[0].high + PS_NS);
	CHECK(r.mape < 0.5 && r.cv_mape < 0.5);
	CHECK(p->fit[0].sensitivity > 0);
	CHECK_U64(b.conf->cfg.gpu.common.launch, p->fit[0].value);
	fit_plan_free(p);
	bed_down(&b);
}

static void refused(const char *text, int line, const char *part)
{
	struct bed b;
	struct fit_plan *p;

	bed_up(&b);
	p = plan(&b, text);
	if (p)
		test_fail(__FILE__, __LINE__, "\"%s\" was taken", text);
	CHECK_HAS(b.e.msg, part);
	CHECK_U64(b.e.line, line);
	bed_down(&b);
}

TEST(a_plans_faults_are_placed)
{
	refused("fit: []\n", 1, "calibrate: 1");
	refused("calibrate: 1\nfitt: []\n", 2, "'fit'");
	refused("calibrate: 1\nfit:\n- {key: gpu.lunch, from: 1 ns, to: 2 ns, start: 1 ns, reason: x}\n", 3,
	        "gpu.launch");
	refused("calibrate: 1\nfit:\n- {key: gpu.launch, from: 1 ns, to: 2 ns, start: 3 ns, reason: x}\n", 3,
	        "from <= start");
	refused("calibrate: 1\nfit:\n- {key: gpu.launch, from: 1, to: 2 ns, start: 1 ns, reason: x}\n", 3, "unit");
	refused("calibrate: 1\nfit:\n- {key: gpu.launch, from: 1 ns, to: 2 ns, reason: x}\n", 3, "'start'");
	refused("calibrate: 1\nmeasured:\n- {key: gpu.step_l2, csv: traces/h200/micro/latency.csv, name: no, params: "
	        "x}\n",
	        0, "no row 'no'");
	refused("calibrate: 1\nmeasured:\n- {key: gpu.step_l2, csv: nowhere.csv, name: no, params: x}\n", 0,
	        "nowhere.csv");
}

TEST(values_are_rounded_to_four_digits)
{
	CHECK_U64(fit_round(1234), 1234);
	CHECK_U64(fit_round(12344), 12340);
	CHECK_U64(fit_round(12345), 12350);
	CHECK_U64(fit_round(999960), 1000000);
	CHECK_U64(fit_round(0), 0);
}

TEST(an_accuracy_file_reads_back_as_written)
{
	struct arena *a = arena_new(0);
	struct score classes[] = { { .cls = "gemm",
		                     .n = 7,
		                     .mape = 3.25,
		                     .median_ape = 2.5,
		                     .p90_ape = 9,
		                     .bias = -0.75,
		                     .weighted_ape = 2 } };
	struct accuracy in = { .device = "toy",
		               .config = "toy.yaml",
		               .split = "held-out",
		               .build = "b",
		               .model = "00ff",
		               .digest = "12",
		               .all = classes[0],
		               .classes = classes,
		               .n = 1 },
			out;
	struct err e = ERR_INIT;
	struct str text = STR_INIT;
	char path[4096];
	FILE *f;

	accuracy_write(&in, &text);
	test_path(path, sizeof path, "a.yaml");
	f = fopen(path, "w");
	CHECK(f && fwrite(str_c(&text), 1, text.len, f) == text.len && fclose(f) == 0);
	CHECK_U64(accuracy_load(path, a, &out, &e), 1);
	CHECK_STR(out.device, "toy");
	CHECK_STR(out.model, "00ff");
	CHECK_U64(out.n, 1);
	CHECK(accuracy_of(&out, "gemm")->mape == 3.25 && accuracy_of(&out, "gemm")->bias == -0.75);
	CHECK(accuracy_of(&out, "sort") == NULL);
	str_free(&text);
	arena_free(a);
}

SUITE(t_validate, T(a_case_is_the_median_of_its_repetitions), T(copies_that_fit_the_l2_are_warm_and_others_cold),
      T(a_copy_that_is_called_once_is_cold), T(a_copy_read_for_the_first_time_is_fresh),
      T(scores_are_those_of_the_textbook), T(a_fit_finds_the_value_the_samples_were_made_with),
      T(a_plans_faults_are_placed), T(values_are_rounded_to_four_digits), T(an_accuracy_file_reads_back_as_written));
