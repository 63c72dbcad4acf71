/* t_bound.c - rooflines: which configuration, the rule of the classes, counters joined to launches, sums by name. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include <math.h>
#include <stdlib.h>

#include "sim/profile/hist.h"
#include "traces/read/format.h"
#include "validate/tests/tracebed.h"

static const char table[] =
	"rules:\n"
	"- {name: k, kernel: '.', kind: elementwise, shape: elementwise, fn: mul, family: elementwise}\n";

TEST(a_device_is_called_like_its_configuration_word_by_word)
{
	CHECK(roof_is_named("NVIDIA H200", "h200"));
	CHECK(roof_is_named("NVIDIA GeForce RTX 5090", "rtx5090"));
	CHECK(roof_is_named("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000"));
	CHECK(roof_is_named("NVIDIA A100-SXM4-80GB", "a100"));
	CHECK(roof_is_named("NVIDIA L40S", "l40s"));
	CHECK(!roof_is_named("NVIDIA L40S", "l4"));
	CHECK(!roof_is_named("NVIDIA GB200", "b200"));
	CHECK(!roof_is_named("NVIDIA GeForce RTX 4090 D", "rtx5090"));
	CHECK(!roof_is_named("", "h200"));
}

/* 132 SMs: bf16 4096 FLOP at 1.664 GHz, fp32 250 at 1.98 GHz; 4814.304 GB/s, of which 4600 are read. */
TEST(peaks_and_ridges_are_of_the_configuration)
{
	struct trace_device d = { .name = "NVIDIA H200" };
	struct trace t = { .devices = &d, .n_devices = 1 };
	struct err e = ERR_INIT;
	struct roof r;

	CHECK_OK(roof_load(NULL, &t, &r, &e), e);
	CHECK_STR(r.name, "h200");
	CHECK(fabs(r.flops[ROOF_BF16] - 132.0 * 4096 * 1.664e9) < 1);
	CHECK(fabs(r.flops[ROOF_FP32] - 132.0 * 250 * 1.98e9) < 1);
	CHECK(fabs(r.bandwidth - 4814.304e9) < 1);
	CHECK(fabs(roof_ridge(&r, ROOF_BF16) - r.flops[ROOF_BF16] / r.effective) < 1e-9);
	d.name = "GPU of compute capability 12.0";
	CHECK(roof_load(NULL, &t, &r, &e) == -1);
	CHECK_HAS(e.msg, "'-c FILE'");
	err_clear(&e);
	t.n_devices = 0;
	CHECK(roof_load(NULL, &t, &r, &e) == -1);
	CHECK_HAS(e.msg, "does not say which device");
}

TEST(another_cards_peaks_are_not_borrowed)
{
	static const char *const others[] = {
		"NVIDIA H100 PCIe",
		"NVIDIA H100 NVL",
		"NVIDIA GeForce RTX 4090 Laptop GPU",
		"NVIDIA A100-PCIE-40GB",
		"NVIDIA GeForce RTX 4090 D",
		"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
		"NVIDIA A100-SXM4-40GB",
		"NVIDIA H800 PCIe",
		"Tesla V100-SXM2-32GB",
		"Tesla T4",
		"AMD Instinct MI300X",
		"NVIDIA GeForce RTX 3080",
		"NVIDIA H100 MIG 1g.10gb",
		"NVIDIA GB300",
	};
	struct trace_device d[2] = { { .id = 5, .name = "a card for the screen" },
		                     { .name = "NVIDIA H100 80GB HBM3" } };
	struct trace_launch l = { .device = 0 };
	struct trace t = { .devices = d, .n_devices = 2, .launches = &l, .n_launches = 1 };
	struct err e = ERR_INIT;
	struct roof r;

	CHECK_OK(roof_load(NULL, &t, &r, &e), e); /* of the device that the launches ran on */
	CHECK_STR(r.name, "h100");
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		d[1].name = others[i];
		if (roof_load(NULL, &t, &r, &e) == 0)
			test_fail(__FILE__, __LINE__, "'%s' has the peaks of %s", others[i], r.name);
		CHECK_HAS(e.msg, others[i]);
		CHECK_HAS(e.msg, "'--peak'");
		err_clear(&e);
	}
	d[1] = (struct trace_device){ .name = "NVIDIA H100 80GB HBM3", .sms = 132, .sm_major = 9 };
	CHECK_OK(roof_load(NULL, &t, &r, &e), e);
	d[1].sms = 114;
	CHECK(roof_load(NULL, &t, &r, &e) == -1);
	CHECK_HAS(e.msg, "has 114 SMs of compute capability 9.0 and configs/gpu/h100.yaml 132 of 9.0");
	err_clear(&e);
	d[1] = (struct trace_device){
		.name = "NVIDIA A100-PG509-200", .mem_bytes = 42505273344, .sms = 108, .sm_major = 8
	};
	CHECK(roof_load(NULL, &t, &r, &e) == -1);
	CHECK_HAS(e.msg, "has 42.5 GB of memory and configs/gpu/a100.yaml 85.9 GB");
	err_clear(&e);
	d[1].mem_bytes *= 2;
	CHECK_OK(roof_load(NULL, &t, &r, &e), e);
	d[1].name = "";
	CHECK(roof_load(NULL, &t, &r, &e) == -1);
	CHECK_HAS(e.msg, "does not say which device");
}

TEST(peaks_can_be_given_and_those_not_given_are_unknown)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "'' is no bandwidth" },
		{ "bf16 989", "'bf16 989' is no bandwidth" },
		{ "0 GB/s", "is no bandwidth" },
		{ "3 TB/s, bf17 1", "'bf17 1' is no peak" },
		{ "3 TB/s, bf16", "'bf16' is no peak" },
		{ "3 TB/s, bf16 many", "'bf16 many' is no peak" },
		{ "3 TB/s, bf16 -1", "is no peak" },
		{ "3 TB/s, bf16 nan", "is no peak" },
		{ "3 TB/s, bf16 1, bf16 2", "'bf16' comes twice" },
		{ "3 TB/s,", "'' is no peak" },
	};
	struct err e = ERR_INIT;
	struct roof r;

	CHECK_OK(roof_parse("5.3 TB/s, fp32 163.4,bf16 1307", &r, &e), e);
	CHECK(r.bandwidth == 5.3e12 && r.effective == 5.3e12);
	CHECK(fabs(r.flops[ROOF_FP32] - 163.4e12) < 1 && fabs(r.flops[ROOF_BF16] - 1307e12) < 1);
	CHECK(isnan(r.flops[ROOF_TF32]) && isnan(r.flops[ROOF_FP8]));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CHECK(roof_parse(bad[i].text, &r, &e) == -1);
		CHECK_HAS(e.msg, bad[i].why);
		err_clear(&e);
	}
}

TEST(classes_follow_the_rule_at_its_thresholds)
{
	const struct roof_rule rule = ROOF_RULE;

	CHECK(roof_classify(&rule, 1, 100, 9.99, 9.99) == ROOF_LATENCY);
	CHECK(roof_classify(&rule, 1, 100, 10, 0) == ROOF_MEMORY);
	CHECK(roof_classify(&rule, 1, 100, 30, 20) == ROOF_MEMORY);
	CHECK(roof_classify(&rule, 1, 100, 29.9, 20) == ROOF_BALANCED);
	CHECK(roof_classify(&rule, 99.9, 100, 30, 60) ==
	      ROOF_BALANCED); /* math is used, and intensity says it need not */
	CHECK(roof_classify(&rule, 100, 100, 20, 30) == ROOF_COMPUTE);
	CHECK(roof_classify(&rule, 100, 100, 60, 30) == ROOF_BALANCED);
	CHECK(roof_classify(&rule, NAN, 100, 60, 30) == ROOF_MEMORY);   /* intensity unknown: use decides */
	CHECK(roof_classify(&rule, NAN, 100, 30, 60) == ROOF_BALANCED); /* and never says compute */
	CHECK(roof_classify(&rule, 0, 100, 30, 60) == ROOF_MEMORY);     /* no operations */
}

/* --- counters ---------------------------------------------------------------------------------------------- */

static void put(struct bed *b, const char *name, int64_t start, int64_t dur, uint32_t grid)
{
	const struct trace_launch l = { .name = name,
		                        .start_ns = start,
		                        .dur_ns = dur,
		                        .grid = { grid, 1, 1 },
		                        .block = { 128, 1, 1 },
		                        .bytes = -1 };

	CHECK_OK(tracedb_put_launch(b->db, &l, 0, &b->e), b->e);
}

static void metric(struct bed *b, const char *name, double v)
{
	CHECK_OK(tracedb_put_metric(b->db, name, v, "", &b->e), b->e);
}

static void counted(struct bed *b, double read, double dram, double sm, double ffma)
{
	metric(b, "dram__bytes_read.sum", read);
	metric(b, "dram__throughput.avg.pct_of_peak_sustained_elapsed", dram);
	metric(b, "sm__throughput.avg.pct_of_peak_sustained_elapsed", sm);
	metric(b, "gpu__time_duration.sum", 2000);
	metric(b, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", ffma);
}

/* A timeline of three launches of k<1> and one of other, and two profiled launches of k<1>. */
static void both(struct bed *b)
{
	const struct trace_import line = { "a", "nsys", "d1", 0, -1, true, NULL },
				  ncu = { "b", "ncu-csv", "d2", 0, -1, true, NULL };
	const struct trace_device d = { .name = "NVIDIA H200" };

	bed_open(b, ":memory:", DB_WRITE);
	CHECK_OK(tracedb_begin(b->db, &line, &b->e), b->e);
	CHECK_OK(tracedb_put_device(b->db, &d, &b->e), b->e);
	put(b, "void at::native::k<(int)1>(int)", 0, 1000, 4);
	put(b, "void at::native::k<(int)1>(int)", 2000, 1100, 4);
	put(b, "void at::native::k<(int)1>(int)", 4000, 1200, 4);
	put(b, "void at::native::k<(int)1>(int)", 6000, 1300, 8); /* another grid was not profiled */
	CHECK_OK(tracedb_finish(b->db, &line, NULL, &b->e), b->e);
	CHECK_OK(tracedb_begin(b->db, &ncu, &b->e), b->e);
	put(b, "void at::k<1>(int)", 0, 2000, 4);
	counted(b, 1000, 50, 10, 100);
	put(b, "void at::k<1>(int)", 2000, 2000, 4);
	counted(b, 3000, 5, 2, 300);
	CHECK_OK(tracedb_finish(b->db, &ncu, NULL, &b->e), b->e);
}

TEST(counters_join_launches_of_name_and_geometry_in_order_and_come_round)
{
	struct counters *c;
	struct counted m;
	const double read[] = { 1000, 3000, 1000 };
	unsigned bits;
	double v;
	struct bed b;

	both(&b);
	bed_load(&b, NULL);
	CHECK((c = counters_load(b.db, &b.e)) != NULL);
	CHECK(counters_count(c) == 2 && b.t.n_launches == 4); /* those that were profiled are none of the trace */
	for (size_t i = 0; i < b.t.n_launches; i++) {
		const struct counted *x = counters_next(c, &b.t.launches[i]);

		CHECK(!counters_own(c, b.t.launches[i].id));
		CHECK((x != NULL) == (i < 3));
		if (x)
			CHECK(counted_bytes(x, &v) && v == read[i]);
	}
	CHECK(counters_mean(c, "void at::native::k<1>(int)", &m));
	CHECK(counted_bytes(&m, &v) && v == 2000);
	CHECK(counted_flops(&m, &v, &bits) && v == 400 && bits == 33);
	CHECK(isnan(m.v[COUNTER_L1_PCT]));
	CHECK(!counters_mean(c, "void at::native::k<2>(int)", &m));
	counters_free(c);
	bed_close(&b);
}

TEST(counted_bytes_go_to_the_ops_of_their_launches)
{
	struct op_launch launches[4] = { { 0 } };
	struct op ops[2] = { { .first_launch = 0, .n_launches = 3 }, { .first_launch = 3, .n_launches = 1 } };
	const struct op_stream s = { .ops = ops, .n_ops = 2, .launches = launches, .n_launches = 4 };
	struct counted_ops out;
	struct counters *c;
	struct bed b;

	both(&b);
	bed_load(&b, NULL);
	for (size_t i = 0; i < 4; i++)
		launches[i].trace_id = b.t.launches[i].id;
	CHECK((c = counters_load(b.db, &b.e)) != NULL);
	CHECK_OK(counters_ops(c, &b.t, &s, b.a, &out, &b.e), b.e);
	CHECK(out.bytes[0] == 1000 + 3000 + 1000 && out.bytes[1] == 0);
	CHECK_U64(out.ns[0], 3300);
	CHECK_U64(out.ns[1], 0);
	counters_free(c);
	CHECK_OK(counters_ops(NULL, &b.t, &s, b.a, &out, &b.e), b.e);
	CHECK(out.bytes[0] == 0 && out.ns[0] == 0);
	bed_close(&b);
}

TEST(profiled_launches_lend_their_counters_and_are_no_kernels)
{
	const struct roof_rule rule = ROOF_RULE;
	struct rules *rules;
	struct counters *c;
	struct roof roof;
	struct bound out;
	struct hist h;
	struct bed b;

	both(&b);
	bed_load(&b, NULL);
	CHECK((rules = rules_parse(table, strlen(table), "table", &b.e)) != NULL);
	CHECK((c = counters_load(b.db, &b.e)) != NULL);
	CHECK_OK(roof_load(NULL, &b.t, &roof, &b.e), b.e);
	CHECK_OK(bound_trace(&b.t, &(struct bound_criteria){ rules, c, &roof, &rule }, b.a, &out, &b.e), b.e);
	CHECK_U64(out.count, 4);
	CHECK_U64(out.ns, 4600);
	CHECK_U64(out.counted_ns, 3300);
	CHECK(out.n_kernels == 1 && out.kernels[0].count == 4);
	CHECK_U64(out.class_ns[ROOF_MEMORY], 1000 + 1200);
	CHECK_U64(out.class_ns[ROOF_LATENCY], 1100);
	CHECK_U64(out.class_ns[ROOF_UNKNOWN], 1300);
	CHECK(out.kernels[0].class == ROOF_MEMORY);
	CHECK(out.kernels[0].bytes == 5000 && out.kernels[0].flops == 1000);
	CHECK(fabs(out.kernels[0].memory - (50.0 * 2200 + 5.0 * 1100) / 3300) < 1e-9);
	CHECK_OK(hist_of(&out, COUNTER_DURATION_US, &h, &b.e), b.e);
	CHECK(h.n == 4 && h.counted == 3 && h.n_bins == 1 && h.from[0] == 1 && h.to[0] == 1.5 && h.count[0] == 4);
	CHECK(h.min == 1 && h.median == 1.1 && h.max == 1.3 && fabs(h.mean - 1.15) < 1e-12);
	CHECK_OK(hist_of(&out, COUNTER_DRAM_PCT, &h, &b.e), b.e);
	CHECK(h.n == 3 && h.n_bins == 20 && h.count[1] == 1 && h.count[10] == 2); /* 5, and twice 50 */
	CHECK_OK(hist_of(&out, COUNTER_L2_PCT, &h, &b.e), b.e);
	CHECK(h.n == 0);
	counters_free(c);
	rules_free(rules);
	bed_close(&b);
}

static void add_one(struct bound_build *x, const struct trace *whole, size_t i, struct err *e)
{
	struct trace_launch l = whole->launches[i];
	struct trace piece = *whole;
	char *name = strdup(l.name); /* a piece's texts go with it */

	CHECK(name != NULL);
	l.name = name;
	piece.launches = &l;
	piece.n_launches = 1;
	CHECK_OK(bound_add(x, &piece, e), *e);
	memset(name, '?', strlen(name));
	free(name);
}

TEST(piece_by_piece_the_sums_are_those_of_the_whole)
{
	const struct roof_rule rule = ROOF_RULE;
	struct bound whole, sum;
	struct bound_build *x;
	struct counters *c[2];
	struct hist h[2];
	struct rules *rules;
	struct roof roof;
	struct bed b;

	both(&b);
	bed_load(&b, NULL);
	CHECK((rules = rules_parse(table, strlen(table), "table", &b.e)) != NULL);
	for (int i = 0; i < 2; i++)
		CHECK((c[i] = counters_load(b.db, &b.e)) != NULL);
	CHECK_OK(roof_load(NULL, &b.t, &roof, &b.e), b.e);
	CHECK_OK(bound_trace(&b.t, &(struct bound_criteria){ rules, c[0], &roof, &rule }, b.a, &whole, &b.e), b.e);
	CHECK((x = bound_begin(&(struct bound_criteria){ rules, c[1], &roof, &rule }, b.a, &sum, &b.e)) != NULL);
	for (size_t i = 0; i < b.t.n_launches; i++)
		add_one(x, &b.t, i, &b.e);
	CHECK_OK(bound_end(x, &b.t, &b.e), b.e);
	bound_free(x);
	CHECK(sum.count == whole.count && sum.ns == whole.ns && sum.counted_ns == whole.counted_ns);
	CHECK(sum.n_kernels == 1 && sum.n_same == whole.n_same);
	CHECK_STR(sum.kernels[0].name, whole.kernels[0].name);
	CHECK(memcmp(sum.class_ns, whole.class_ns, sizeof sum.class_ns) == 0);
	CHECK(sum.kernels[0].bytes == whole.kernels[0].bytes && sum.kernels[0].memory == whole.kernels[0].memory);
	for (int k = 0; k < COUNTERS_SHOWN; k++) {
		CHECK_OK(hist_of(&whole, (enum counter)k, &h[0], &b.e), b.e);
		CHECK_OK(hist_of(&sum, (enum counter)k, &h[1], &b.e), b.e);
		CHECK(memcmp(&h[0], &h[1], sizeof h[0]) == 0);
	}
	for (int i = 0; i < 2; i++)
		counters_free(c[i]);
	rules_free(rules);
	bed_close(&b);
}

TEST(tensor_instructions_without_their_operations_leave_the_flops_unknown)
{
	struct counted x;
	unsigned bits;
	double v;

	for (int i = 0; i < COUNTERS; i++)
		x.v[i] = NAN;
	CHECK(!counted_flops(&x, &v, &bits) && !counted_bytes(&x, &v));
	x.v[COUNTER_FFMA] = 10;
	CHECK(counted_flops(&x, &v, &bits) && v == 20 && bits == 33);
	x.v[COUNTER_TENSOR_INST] = 1;
	CHECK(!counted_flops(&x, &v, &bits));
	x.v[COUNTER_TENSOR16] = 4096;
	CHECK(counted_flops(&x, &v, &bits) && v == 4116 && bits == 16);
	x.v[COUNTER_FFMA] = NAN;
	x.v[COUNTER_TENSOR16] = 0;
	CHECK(!counted_flops(&x, &v, &bits)); /* an idle tensor pipe says nothing of the cores */
}

/* Nobody timed the rows of a table of ops: each has its intensity, and the side of the ridge it is on. Of two rows of one
 * name both count. */
TEST(ops_that_nobody_timed_have_intensities_and_a_side_of_the_ridge)
{
	static const char rows[] = "op,name,m,n,k,elements,dtype,measured_us\n"
				   "gemm,narrow,1,4096,4096,,bf16,\n"
				   "gemm,wide,4096,4096,4096,,bf16,\n"
				   "elementwise:mul,mul,,,,4096,bf16,\n"
				   "gemm,timed,1,4096,4096,,bf16,10\n"
				   "gemm,wide,4096,4096,4096,,bf16,\n";
	const struct roof roof = { .name = "by hand",
		                   .bandwidth = 4e12,
		                   .effective = 4e12,
		                   .flops = { 60e12, 400e12, 800e12, 1600e12, NAN } };
	const struct roof_rule rule = ROOF_RULE;
	struct bound_criteria by = { .roof = &roof, .rule = &rule };
	const struct bound_kernel *k;
	char path[512];
	struct bound b;
	struct bed bed;
	FILE *f = fopen(test_path(path, sizeof path, "ops.csv"), "w");

	CHECK(f && fputs(rows, f) >= 0 && fclose(f) == 0);
	bed_open(&bed, ":memory:", DB_WRITE);
	CHECK_OK(format_import(bed.db, FORMAT_AUTO, path, NULL, NULL, &bed.st, &bed.e), bed.e);
	bed_load(&bed, NULL);
	CHECK((by.rules = rules_load(NULL, &bed.e)));
	CHECK_OK(bound_trace(&bed.t, &by, bed.a, &b, &bed.e), bed.e);
	CHECK_U64(b.n_kernels, 4);
	CHECK_U64(b.class_count[ROOF_UNKNOWN], 0);
	k = b.kernels; /* the one with a time first, then by name */
	CHECK_STR(k[0].friendly, "timed");
	CHECK(k[0].class == ROOF_MEMORY && k[0].pipe == ROOF_BF16 && k[0].time > 9e-6);
	CHECK_STR(k[1].friendly, "mul");
	CHECK(k[1].class == ROOF_MEMORY && k[1].pipe == ROOF_FP32 && k[1].time == 0);
	CHECK_STR(k[2].friendly, "narrow");
	CHECK(k[2].class == ROOF_MEMORY && k[2].pipe == ROOF_BF16);
	CHECK(fabs(k[2].flops / k[2].bytes - 2.0 * 4096 * 4096 / (2.0 * (4096 * 4096 + 2 * 4096))) < 1e-9);
	CHECK_STR(k[3].friendly, "wide");
	CHECK(k[3].class == ROOF_COMPUTE && k[3].known == 2);
	CHECK(fabs(k[3].flops - 2 * 2.0 * 4096 * 4096 * 4096) < 1);
	rules_free(by.rules);
	bed_close(&bed);
}

SUITE(t_bound, T(ops_that_nobody_timed_have_intensities_and_a_side_of_the_ridge),
      T(a_device_is_called_like_its_configuration_word_by_word), T(peaks_and_ridges_are_of_the_configuration),
      T(another_cards_peaks_are_not_borrowed), T(peaks_can_be_given_and_those_not_given_are_unknown),
      T(classes_follow_the_rule_at_its_thresholds),
      T(counters_join_launches_of_name_and_geometry_in_order_and_come_round),
      T(counted_bytes_go_to_the_ops_of_their_launches), T(profiled_launches_lend_their_counters_and_are_no_kernels),
      T(piece_by_piece_the_sums_are_those_of_the_whole),
      T(tensor_instructions_without_their_operations_leave_the_flops_unknown));
