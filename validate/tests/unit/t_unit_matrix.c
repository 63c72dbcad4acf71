/* Matrix units in closed form: exact cycles of the three dataflows, and a larger array is never slower. */
#include "sim/base/rng.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/unitbed.h"

static void up(struct unitbed *b, uint64_t units, uint64_t rows, uint64_t cols, const char *more)
{
	char yaml[160];

	snprintf(yaml, sizeof yaml, "units: %d\nrows: %d\ncols: %d\n%s", (int)units, (int)rows, (int)cols, more);
	unitbed_up(b, UNIT_MATRIX, matrix_schema, yaml);
}

static struct unit_plan product(const struct unitbed *b, enum dtype d, enum dtype with, uint64_t m, uint64_t n,
                                uint64_t k)
{
	return unitbed_plan(
		b, &(struct unit_job){ .work = UNIT_PRODUCT, .dtype = d, .with = with, .m = m, .n = n, .k = k });
}

/* Cycles, as the bed's clock is 1 GHz. */
static uint64_t cycles(const struct unitbed *b, uint64_t m, uint64_t n, uint64_t k)
{
	return product(b, DT_BF16, DT_BF16, m, n, k).span / PS_NS;
}

TEST(a_fold_costs_the_longer_of_stream_and_weight_load_and_filling_is_latency)
{
	struct unitbed b;

	up(&b, 1, 128, 128, "");
	CHECK_U64(cycles(&b, 16, 896, 1280), 7 * 10 * 128);
	CHECK_U64(cycles(&b, 128, 1280, 1280), 10 * 10 * 128);
	CHECK_U64(cycles(&b, 512, 4096, 4096), 32 * 32 * 512);
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 16, 896, 1280).latency, (64 + 128) * PS_NS); /* 20 folds of 64 rows */
	CHECK_U64(b.ops->grain(&b.env), 128);
}

TEST(with_one_buffer_it_takes_scale_sims_cycles)
{
	struct unitbed b;

	up(&b, 1, 128, 128, "weight_buffers: 1\n");
	/* folds x (2 rows + cols + m - 2) - 1, as SCALE-Sim v3 printed for these */
	CHECK_U64(cycles(&b, 1, 4096, 4096), 392191);
	CHECK_U64(cycles(&b, 16, 4096, 4096), 407551);
	CHECK_U64(cycles(&b, 128, 4096, 4096), 522239);
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 16, 4096, 4096).latency, 0);
}

TEST(a_whole_array_is_loaded_some_rows_a_cycle_and_the_stream_comes_in_groups)
{
	struct unitbed b;

	up(&b, 1, 256, 256, "shift: 2\nwhole_folds: true\ngroup: 8\n");
	CHECK_U64(cycles(&b, 16, 512, 1024), 2 * 4 * 128); /* weights take longer than 16 vectors */
	CHECK_U64(cycles(&b, 16, 300, 1), 2 * 1 * 128);    /* padded to whole arrays */
	CHECK_U64(cycles(&b, 129, 256, 256), 136);
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 129, 300, 20).latency, 512 * PS_NS);
	up(&b, 1, 256, 256, "shift: 4\n");
	CHECK_U64(cycles(&b, 16, 256, 512), 2 * 64);
}

TEST(outputs_stay_and_k_streams)
{
	struct unitbed b;

	up(&b, 1, 32, 64, "dataflow: os\n");
	/* 4 folds of 32 rows of m, 3 of 64 columns of n, 1,000 cycles of k each */
	CHECK_U64(cycles(&b, 128, 192, 1000), 4 * 3 * 1000);
	CHECK_STR(product(&b, DT_BF16, DT_BF16, 128, 192, 1000).why, "systolic, output-stationary");
	up(&b, 1, 32, 64, "dataflow: os\nweight_buffers: 1\n");
	CHECK_U64(cycles(&b, 128, 192, 1000), 4 * 3 * (2 * 32 + 64 + 1000 - 2) - 1);
}

TEST(activations_stay_and_weights_stream)
{
	struct unitbed b;

	up(&b, 1, 32, 64, "dataflow: is\n");
	/* k along rows: 10 folds; m along columns: 2; 500 rows of weights stream past each */
	CHECK_U64(cycles(&b, 128, 500, 320), 10 * 2 * 500);
}

/* 24 rows by 40 columns, m = 50, n = 100, k = 70, in each dataflow. ws: 3 folds of k (24, 24, 22), 3 of n (34), 50 vectors.
 * os: 3 of m (17), 3 of n (34), 70 of k. is: 3 of k (24), 2 of m (25), 100 rows of weights. */
TEST(shapes_that_are_no_powers_of_two)
{
	static const struct {
		const char *flow;
		uint64_t folds, stream, fill;
	} flows[] = { { "dataflow: ws\n", 3 * 3, 50, 24 + 34 },
		      { "dataflow: os\n", 3 * 3, 70, 17 + 34 },
		      { "dataflow: is\n", 3 * 2, 100, 24 + 25 } };
	char more[64];
	struct unitbed b;

	for (int i = 0; i < 3; i++) {
		const uint64_t one = 2 * 24 + 40 - 2;

		up(&b, 1, 24, 40, flows[i].flow);
		CHECK_U64(cycles(&b, 50, 100, 70), flows[i].folds * flows[i].stream);
		CHECK_U64(product(&b, DT_BF16, DT_BF16, 50, 100, 70).latency, flows[i].fill * PS_NS);
		CHECK_U64(product(&b, DT_BF16, DT_BF16, 50, 100, 70).work, 50 * 100 * 70);
		snprintf(more, sizeof more, "%sweight_buffers: 1\n", flows[i].flow);
		up(&b, 1, 24, 40, more);
		CHECK_U64(cycles(&b, 50, 100, 70), flows[i].folds * (one + flows[i].stream) - 1);
		CHECK_U64(product(&b, DT_BF16, DT_BF16, 50, 100, 70).latency, 0);
	}
}

/* What streams is shorter than a fold's rows take to come in. ws, one vector: 70 of k in 3 folds of 24 rows are 72 cycles; in
 * 5 of 14, 7 of 10 or 14 of 5 they are 70, and the last fill the array soonest. os, 5 of k: 50 rows of m in 3 folds of 17 are
 * 51; in 5 of 10, or 10 of 5, 50. */
TEST(a_short_stream_waits_for_the_rows_to_come_in)
{
	struct unitbed b;

	up(&b, 1, 24, 40, "");
	CHECK_U64(cycles(&b, 1, 40, 70), 14 * 5);
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 1, 40, 70).latency, (5 + 40) * PS_NS);
	CHECK_U64(cycles(&b, 1, 120, 72), 3 * 3 * 24);
	CHECK_U64(cycles(&b, 1, 4, 1), 1);
	up(&b, 1, 24, 40, "dataflow: os\n");
	CHECK_U64(cycles(&b, 50, 40, 5), 10 * 5);
}

/* 8 bits: two of k a row and cycle; 4: four; 32: each vector passes twice. 64 x 64: 4,096 of k, 64 columns, 100 vectors. */
TEST(each_pair_of_formats_has_its_cycles)
{
	static const struct {
		enum dtype weight, with;
		uint64_t folds, native, stream;
	} pairs[] = {
		{ DT_BF16, DT_BF16, 64, 64, 100 }, { DT_INT8, DT_INT8, 32, 32, 100 }, { DT_FP8, DT_BF16, 64, 32, 100 },
		{ DT_INT4, DT_INT4, 16, 16, 100 }, { DT_INT4, DT_BF16, 64, 16, 100 }, { DT_FP4, DT_FP8, 32, 16, 100 },
		{ DT_FP32, DT_FP32, 64, 64, 200 }, { DT_INT8, DT_FP32, 64, 64, 200 },
	};
	struct unitbed bare, native;

	up(&bare, 1, 64, 64, "");
	up(&native, 1, 64, 64, "w8a16: true\nw4a16: true\nw4a8: true\n");
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		CHECK_U64(product(&bare, pairs[i].weight, pairs[i].with, 100, 64, 4096).span,
		          pairs[i].folds * pairs[i].stream * PS_NS);
		CHECK_U64(product(&native, pairs[i].weight, pairs[i].with, 100, 64, 4096).span,
		          pairs[i].native * pairs[i].stream * PS_NS);
	}
}

TEST(arrays_share_columns_then_the_stream_and_partial_sums_of_k_are_paid)
{
	struct unitbed b;

	up(&b, 4, 64, 64, "");
	CHECK_U64(cycles(&b, 1024, 256, 64), 1024);    /* a column block each */
	CHECK_U64(cycles(&b, 1024, 64, 64), 1024 / 4); /* one block: a quarter of the vectors each */
	/* 16 vectors cannot be shared below the load of 64 rows: k is, and its partial sums cross SRAM */
	b.sram = (struct sram_cfg){ .size = 1 << 20, .banks = 16, .bank_width = 64, .ports = 2 };
	/* in 25 folds of 41 rows, not 16 of 64: a cycle longer, and 23 rows less to fill */
	CHECK_U64(cycles(&b, 16, 64, 4096), 25 * 41 + 2 * (8 * 16 * 64 / 1024));
}

TEST(the_wider_operand_sets_the_rate_and_the_peak_is_kept)
{
	struct unitbed b;

	up(&b, 1, 64, 64, "");
	/* 8 bits: 128 of k in one fold */
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 128, 64, 128).span, 128 * PS_NS);
	CHECK_U64(product(&b, DT_INT4, DT_BF16, 128, 64, 128).span, 2 * 128 * PS_NS);
	CHECK_U64(b.ops->peak(&b.env, DT_INT4, DT_BF16), 64 * 64);
	up(&b, 1, 64, 64, "w4a16: true\n");
	CHECK_U64(product(&b, DT_INT4, DT_BF16, 128, 64, 256).span, 128 * PS_NS);
}

/* An array whose rate is of two passes: what passes once is twice as fast, four times half as fast, whatever its format says. */
TEST(a_product_takes_the_passes_that_it_says)
{
	struct unit_job j = { .work = UNIT_PRODUCT, .dtype = DT_BF16, .with = DT_BF16, .m = 128, .n = 64, .k = 256 };
	struct unit_plan p;
	struct unitbed b;

	up(&b, 1, 64, 64, "passes: 2\n");
	CHECK(b.ops->plan(&b.env, &j, &p));
	CHECK_U64(p.span, 4 * 128 * PS_NS);
	for (j.passes = 1; j.passes <= 4; j.passes *= 2) {
		CHECK(b.ops->plan(&b.env, &j, &p));
		CHECK_U64(p.span, 2 * j.passes * 128 * PS_NS);
		CHECK_U64(unit_peak(b.ops, &b.env, DT_BF16, DT_BF16, j.passes), 2 * 64 * 64 / j.passes);
	}
	j.passes = 2, j.dtype = j.with = DT_FP8;
	CHECK(b.ops->plan(&b.env, &j, &p));
	CHECK_U64(p.span, 4 * 128 * PS_NS);
	CHECK_U64(unit_peak(b.ops, &b.env, DT_FP8, DT_FP8, 0), 2 * 64 * 64);
}

/* 2 of 4 along k: 1,280 of k are 640 that are there, 5 folds of 128 instead of 10; of those multiply-adds half are done. A unit
 * that is not sparse multiplies the zeros. */
TEST(weights_that_are_left_out_take_no_rows)
{
	const struct unit_job j = { .work = UNIT_PRODUCT,
		                    .dtype = DT_BF16,
		                    .with = DT_BF16,
		                    .m = 200,
		                    .n = 128,
		                    .k = 1280,
		                    .keep = 2,
		                    .of = 4 };
	const struct words flows = words_of(matrix_schema, "dataflow");

	for (size_t i = 0; i < flows.n; i++) {
		struct unitbed b;
		char more[60];

		snprintf(more, sizeof more, "dataflow: %s\nsparse: true\n", flows.v[i]);
		up(&b, 1, 128, 128, more);
		CHECK(b.ops->sparse(&b.env));
		CHECK_U64(unitbed_plan(&b, &j).span, cycles(&b, 200, 128, 640) * PS_NS);
		CHECK_U64(unitbed_plan(&b, &j).work, 200 * 128 * 640);
		*strchr(more, '\n') = 0;
		up(&b, 1, 128, 128, more);
		CHECK(!b.ops->sparse(&b.env));
		CHECK_U64(unitbed_plan(&b, &j).span, cycles(&b, 200, 128, 1280) * PS_NS);
		CHECK_U64(unitbed_plan(&b, &j).work, 200 * 128 * 1280);
	}
	/* 1 of 8, and a k that is no multiple: 1,283 of k are 161 */
	struct unitbed b;
	struct unit_job odd = j;

	odd.keep = 1, odd.of = 8, odd.k = 1283;
	up(&b, 1, 128, 128, "sparse: true\n");
	CHECK_U64(unitbed_plan(&b, &odd).work, 200 * 128 * 161);
}

TEST(equal_macs_in_other_shapes_take_what_their_folds_take)
{
	static const struct {
		uint64_t rows, cols;
	} shapes[] = { { 128, 128 }, { 32, 512 }, { 16, 1024 }, { 8, 2048 } };
	struct unitbed b;

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		up(&b, 1, shapes[i].rows, shapes[i].cols, "");
		CHECK_U64(cycles(&b, 512, 4096, 4096), 1024 * 512);
	}
}

#define WORST_PPM 400000

struct larger {
	size_t tried, slower; /* by more than a hundredth */
	ps_t worst;           /* ppm */
};

static void compare(struct larger *x, ps_t before, ps_t now)
{
	const ps_t ppm = now > before ? (now - before) * 1000000 / before : 0;

	x->tried++;
	x->slower += ppm > 10000;
	x->worst = ps_max(x->worst, ppm);
}

/* Known: folds are whole, and other sizes can leave a rest: up to a hundredth worse. Of some thousand products one or two are worse than
 * that, small ones by up to a third (NPUSIM_SEED=9 and 11). */
TEST(a_larger_array_is_never_slower_and_none_beats_its_peak)
{
	struct larger x = { 0, 0, 0 };
	const struct words flows = words_of(matrix_schema, "dataflow");
	struct rng r;

	rng_seed(&r, test_seed(), "matrix");
	for (int i = 0; i < 3000; i++) {
		uint64_t units = 1 + rng_below(&r, 4), rows = 1 + rng_below(&r, 128), cols = 1 + rng_below(&r, 128);
		uint64_t m = 1 + rng_below(&r, 600), n = 1 + rng_below(&r, 4000), k = 1 + rng_below(&r, 4000);
		struct unitbed a, tall, wide;
		char flow[64];
		ps_t t;

		snprintf(flow, sizeof flow, "dataflow: %s\n", flows.v[(size_t)i % flows.n]);
		up(&a, units, rows, cols, flow);
		up(&tall, units, rows * 2, cols, flow);
		up(&wide, units, rows, cols * 2, flow);
		a.env.cores = tall.env.cores = wide.env.cores = 8;
		t = unitbed_product(&a, DT_BF16, m, n, k);
		compare(&x, t, unitbed_product(&tall, DT_BF16, m, n, k));
		compare(&x, t, unitbed_product(&wide, DT_BF16, m, n, k));
		CHECK(unitbed_product(&a, DT_BF16, m, n, k) >=
		      clock_span(m * n * k / a.ops->peak(&a.env, DT_BF16, DT_BF16), a.env.clock_khz));
		a.env.cores *= 2;
		compare(&x, t, unitbed_product(&a, DT_BF16, m, n, k));
	}
	printf("%zu of %zu slower by more than 1 %%, the worst by %llu ppm\n", x.slower, x.tried,
	       (unsigned long long)x.worst);
	CHECK(x.worst <= WORST_PPM && test_share(x.slower, x.tried, 1));
}

TEST(what_brings_operands_from_sram_may_be_narrower_than_the_arrays)
{
	struct unitbed b;

	/* Wormhole's: 1,024 multiply-adds a cycle, 64 B a cycle into registers of 32 x 64 sums. A tile of 32 cubed takes 32 cycles to
	 * multiply, and 1.5 tiles to bring: 48 at 16 bits, 24 at 8. */
	up(&b, 4, 16, 16, "shift: 16\ngroup: 8\nfeed: 64 B\n");
	CHECK_U64(cycles(&b, 256, 256, 512), 8 * 8 * 16 * 48);
	CHECK_U64(product(&b, DT_FP8, DT_FP8, 256, 256, 512).span, 8 * 8 * 16 * 24 * PS_NS);
	up(&b, 4, 16, 16, "shift: 16\ngroup: 8\nfeed: 128 B\n"); /* the arrays are slower */
	CHECK_U64(cycles(&b, 256, 256, 512), 8 * 8 * 16 * 32);
	up(&b, 4, 16, 16, "shift: 16\ngroup: 8\nfeed: 64 B\nblock_rows: 64\n"); /* 64 x 64: a tile of each */
	CHECK_U64(cycles(&b, 256, 256, 512), 8 * 8 * 16 * 32);
	up(&b, 4, 16, 16, "shift: 16\ngroup: 8\n"); /* not limited */
	CHECK_U64(cycles(&b, 256, 256, 512), 8 * 8 * 16 * 32);
}

SUITE(t_unit_matrix, T(what_brings_operands_from_sram_may_be_narrower_than_the_arrays),
      T(shapes_that_are_no_powers_of_two), T(a_short_stream_waits_for_the_rows_to_come_in),
      T(each_pair_of_formats_has_its_cycles),
      T(a_fold_costs_the_longer_of_stream_and_weight_load_and_filling_is_latency),
      T(with_one_buffer_it_takes_scale_sims_cycles),
      T(a_whole_array_is_loaded_some_rows_a_cycle_and_the_stream_comes_in_groups), T(outputs_stay_and_k_streams),
      T(activations_stay_and_weights_stream), T(arrays_share_columns_then_the_stream_and_partial_sums_of_k_are_paid),
      T(a_product_takes_the_passes_that_it_says), T(the_wider_operand_sets_the_rate_and_the_peak_is_kept),
      T(weights_that_are_left_out_take_no_rows), T(equal_macs_in_other_shapes_take_what_their_folds_take),
      T(a_larger_array_is_never_slower_and_none_beats_its_peak));
