/* Closed forms of the compute units: exact cycles, and more of a unit is never slower. */
#include "arch/npu/unit_gemv.h"
#include "arch/npu/unit_matrix.h"
#include "arch/npu/unit_vector.h"
#include "sim/base/rng.h"
#include "validate/tests/test.h"

#define GHZ 1000000 /* kHz: one cycle is one nanosecond */

static const struct sram_cfg wide = { .size = 1 << 20, .banks = 1024, .bank_width = 256, .ports = 2 };

static struct gemv_cfg gemv(uint32_t units, uint32_t lanes)
{
	return (struct gemv_cfg){ .units = units,
		                  .lanes = lanes,
		                  .macs_bf16 = 1,
		                  .macs_8bit = 2,
		                  .macs_4bit = 4,
		                  .macs_fp32 = 1,
		                  .depth = 6 };
}

TEST(gemv_spreads_rows_over_units_and_adds_tree_and_depth)
{
	struct gemv_cfg c = gemv(4, 32);
	uint32_t split;

	/* 64 rows over 4 units x 1 core: 16 rows a unit, 128 / 32 cycles each, tree 5, depth 6 */
	CHECK_U64(gemv_span(&c, &wide, 1, GHZ, DT_BF16, 1, 64, 128, &split), (16 * 4 + 5 + 6) * PS_NS);
	CHECK_U64(split, 1);
}

TEST(gemv_splits_k_when_rows_are_fewer_than_units)
{
	struct gemv_cfg c = gemv(8, 32);
	uint32_t split;

	/* one row of 4096: 8 ways of 512, 16 cycles, one log2(8) tree more */
	CHECK_U64(gemv_span(&c, &wide, 1, GHZ, DT_BF16, 1, 1, 4096, &split), (16 + 3 + 5 + 6) * PS_NS);
	CHECK_U64(split, 8);
}

TEST(gemv_rate_follows_the_weight_format)
{
	struct gemv_cfg c = gemv(4, 32);

	CHECK_U64(gemv_peak(&c, 2, DT_BF16), 256);
	CHECK_U64(gemv_peak(&c, 2, DT_FP8), 512);
	CHECK_U64(gemv_peak(&c, 2, DT_INT4), 1024);
	CHECK_U64(gemv_peak(&c, 2, DT_FP32), 256);
}

TEST(gemv_is_held_back_by_a_narrow_scratchpad)
{
	struct gemv_cfg c = gemv(4, 32);
	struct sram_cfg narrow = { .size = 1 << 20, .banks = 1, .bank_width = 16, .ports = 2 };

	/* 64 x 128 bf16 = 16 KiB at 16 B a cycle */
	CHECK_U64(gemv_span(&c, &narrow, 1, GHZ, DT_BF16, 1, 64, 128, NULL), (1024 + 5 + 6) * PS_NS);
}

TEST(more_gemv_units_lanes_or_cores_are_never_slower)
{
	struct rng r;

	rng_seed(&r, test_seed(), "gemv");
	for (int i = 0; i < 2000; i++) {
		uint32_t units = 1 + (uint32_t)rng_below(&r, 16), lanes = 1u << rng_below(&r, 8),
			 cores = 1 + (uint32_t)rng_below(&r, 80);
		uint64_t m = 1 + rng_below(&r, 4), rows = 1 + rng_below(&r, 5000), cols = 1 + rng_below(&r, 9000);
		struct gemv_cfg a = gemv(units, lanes), b = gemv(units + 1, lanes), l = gemv(units, lanes * 2);
		ps_t t = gemv_span(&a, &wide, cores, GHZ, DT_BF16, m, rows, cols, NULL);

		CHECK(gemv_span(&b, &wide, cores, GHZ, DT_BF16, m, rows, cols, NULL) <= t);
		CHECK(gemv_span(&a, &wide, cores + 1, GHZ, DT_BF16, m, rows, cols, NULL) <= t);
		/* twice the lanes make the tree one level deeper */
		CHECK(gemv_span(&l, &wide, cores, GHZ, DT_BF16, m, rows, cols, NULL) <= t + PS_NS);
		CHECK(t >= clock_span(m * rows * cols / gemv_peak(&a, cores, DT_BF16), GHZ));
	}
}

TEST(matrix_fold_costs_the_longer_of_stream_and_weight_load)
{
	struct matrix_cfg c = { .units = 1, .rows = 64, .cols = 64 };

	/* one fold: 128 vectors stream, fill and drain 64 + 64 */
	CHECK_U64(matrix_span(&c, &wide, 1, GHZ, DT_BF16, 128, 64, 64), (128 + 128) * PS_NS);
	/* 8-bit weights: 128 rows of k in one fold */
	CHECK_U64(matrix_span(&c, &wide, 1, GHZ, DT_INT8, 128, 64, 128), (128 + 128) * PS_NS);
}

TEST(a_larger_array_is_never_slower_and_no_array_beats_its_peak)
{
	struct rng r;

	rng_seed(&r, test_seed(), "matrix");
	for (int i = 0; i < 2000; i++) {
		struct matrix_cfg a = { 1 + (uint32_t)rng_below(&r, 4), 1u << (2 + rng_below(&r, 6)),
			                1u << (2 + rng_below(&r, 6)) };
		struct matrix_cfg b = a, c = a;
		uint64_t m = 1 + rng_below(&r, 600), n = 1 + rng_below(&r, 4000), k = 1 + rng_below(&r, 4000);
		ps_t t = matrix_span(&a, &wide, 8, GHZ, DT_BF16, m, n, k);

		b.rows *= 2;
		c.cols *= 2;
		CHECK(matrix_span(&b, &wide, 8, GHZ, DT_BF16, m, n, k) <= t);
		CHECK(matrix_span(&c, &wide, 8, GHZ, DT_BF16, m, n, k) <= t);
		CHECK(matrix_span(&a, &wide, 9, GHZ, DT_BF16, m, n, k) <= t);
		CHECK(t >= clock_span(m * n * k / matrix_peak(&a, 8, DT_BF16), GHZ));
	}
}

static const struct vector_cfg lanes = { .units = 4, .lanes = 32, .sfu = 4, .converters = 16, .div_cycles = 8 };

static struct vector_env env(uint32_t cores)
{
	return (struct vector_env){ &lanes, &wide, cores, 8, 32, GHZ, 10 * PS_NS };
}

TEST(vector_map_takes_the_slowest_pipe_and_the_pipeline_once)
{
	struct vector_env x = env(1);

	CHECK_U64(vector_map_span(&x, 1280, 1, 0, 0, 0), (10 + 8) * PS_NS); /* 1280 / 128 lanes */
	CHECK_U64(vector_map_span(&x, 1280, 1, 1, 0, 0), (80 + 8) * PS_NS); /* 1280 / 16 SFU */
	CHECK_U64(vector_map_span(&x, 1280, 0, 0, 1, 0), (20 + 8) * PS_NS); /* 1280 / 64 converters */
	CHECK_U64(vector_map_span(&x, 1, 1, 0, 0, 0), (1 + 8) * PS_NS);
}

TEST(a_short_row_is_reduced_on_one_core)
{
	struct vector_env x = env(64);

	/* 128 elements: one pass of 128 lanes, tree 5 + 2, depth 8; spread over cores it would pay two hops */
	CHECK_U64(vector_reduce_span(&x, 1, 128, 1, 0, 0), (1 + 5 + 2 + 8) * PS_NS);
}

TEST(more_cores_never_slow_a_reduction_a_map_or_a_sort)
{
	struct rng r;

	rng_seed(&r, test_seed(), "vector");
	for (int i = 0; i < 2000; i++) {
		uint32_t cores = 1 + (uint32_t)rng_below(&r, 64);
		struct vector_env a = env(cores), b = env(cores + 1);
		uint64_t rows = 1 + rng_below(&r, 100), cols = 1 + rng_below(&r, 100000);

		CHECK(vector_map_span(&b, rows * cols, 2, 1, 0, rows) <=
		      vector_map_span(&a, rows * cols, 2, 1, 0, rows));
		CHECK(vector_reduce_span(&b, rows, cols, 2, 1, rows) <= vector_reduce_span(&a, rows, cols, 2, 1, rows));
		CHECK(vector_sort_span(&b, rows, cols, 0) <= vector_sort_span(&a, rows, cols, 0));
	}
}

TEST(scratchpad_refuses_what_does_not_fit_and_takes_it_later)
{
	struct sram_cfg c = { .size = 1024, .banks = 1, .bank_width = 1, .ports = 2, .pin = 24 };
	struct sram s;

	sram_init(&s, &c, 2);
	CHECK(sram_take(&s, 2000));
	CHECK(!sram_take(&s, 1));
	sram_give(&s, 500);
	CHECK(sram_take(&s, 500));
	CHECK_U64(s.peak, 2000);
}

TEST(banks_ports_and_width_let_tiles_through_and_more_is_never_slower)
{
	struct sram_cfg c = { .size = 1 << 20, .banks = 16, .bank_width = 8, .ports = 2 };

	CHECK_U64(sram_rate(&c, 4), 4 * 16 * 8);
	c.ports = 1; /* in and out take turns */
	CHECK_U64(sram_rate(&c, 4), 4 * 16 * 8 / 2);
	c.ports = 4;
	CHECK_U64(sram_rate(&c, 4), 4 * 16 * 8 * 2);
	c = (struct sram_cfg){ .size = 1024, .banks = 1, .bank_width = 1, .ports = 1 };
	CHECK_U64(sram_rate(&c, 1), 1);
	for (c.banks = 1; c.banks <= 1024; c.banks *= 2)
		for (c.ports = 1; c.ports <= 8; c.ports++) {
			struct sram_cfg banks = c, ports = c, width = c;

			banks.banks *= 2;
			ports.ports++;
			width.bank_width *= 2;
			CHECK(sram_rate(&banks, 3) >= sram_rate(&c, 3));
			CHECK(sram_rate(&ports, 3) >= sram_rate(&c, 3));
			CHECK(sram_rate(&width, 3) >= sram_rate(&c, 3));
		}
}

SUITE(t_units,
      T(banks_ports_and_width_let_tiles_through_and_more_is_never_slower)
              T(gemv_spreads_rows_over_units_and_adds_tree_and_depth) T(gemv_splits_k_when_rows_are_fewer_than_units)
                      T(gemv_rate_follows_the_weight_format) T(gemv_is_held_back_by_a_narrow_scratchpad)
                              T(more_gemv_units_lanes_or_cores_are_never_slower)
                                      T(matrix_fold_costs_the_longer_of_stream_and_weight_load) T(
					      a_larger_array_is_never_slower_and_no_array_beats_its_peak)
                                              T(vector_map_takes_the_slowest_pipe_and_the_pipeline_once) T(
						      a_short_row_is_reduced_on_one_core)
                                                      T(more_cores_never_slow_a_reduction_a_map_or_a_sort) T(
							      scratchpad_refuses_what_does_not_fit_and_takes_it_later));
