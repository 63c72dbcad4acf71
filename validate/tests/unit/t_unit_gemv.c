/* GEMV units in closed form: exact cycles, and more of a unit is never slower. */
#include "sim/base/rng.h"
#include "validate/tests/unitbed.h"

static void up(struct unitbed *b, uint64_t units, uint64_t lanes, const char *more)
{
	char yaml[160];

	snprintf(yaml, sizeof yaml, "units: %d\nlanes: %d\nmacs_bf16: 1\nmacs_8bit: 2\nmacs_4bit: 4\ndepth: 6\n%s",
	         (int)units, (int)lanes, more);
	unitbed_up(b, UNIT_GEMV, gemv_schema, yaml);
}

static struct unit_plan product(const struct unitbed *b, enum dtype d, enum dtype with, uint64_t m, uint64_t n,
                                uint64_t k)
{
	return unitbed_plan(
		b, &(struct unit_job){ .work = UNIT_PRODUCT, .dtype = d, .with = with, .m = m, .n = n, .k = k });
}

static struct unit_plan one_row(const struct unitbed *b, uint64_t n, uint64_t k)
{
	return product(b, DT_BF16, DT_BF16, 1, n, k);
}

TEST(rows_spread_over_units_and_tree_and_depth_are_latency)
{
	struct unitbed b;

	up(&b, 4, 32, "");
	/* 64 rows over 4 units x 1 core: 16 rows a unit, 128 / 32 cycles each; then tree 5, depth 6 */
	CHECK_U64(one_row(&b, 64, 128).span, 16 * 4 * PS_NS);
	CHECK_U64(one_row(&b, 64, 128).latency, (5 + 6) * PS_NS);
	CHECK_U64(one_row(&b, 64, 128).work, 64 * 128);
	CHECK_STR(one_row(&b, 64, 128).why, "gemv, rows over units");
}

TEST(k_is_split_when_rows_are_fewer_than_units)
{
	struct unitbed b;

	up(&b, 8, 32, "");
	/* one row of 4096: 8 ways of 512, 16 cycles; one log2(8) tree more */
	CHECK_U64(one_row(&b, 1, 4096).span, 16 * PS_NS);
	CHECK_U64(one_row(&b, 1, 4096).latency, (3 + 5 + 6) * PS_NS);
	CHECK_STR(one_row(&b, 1, 4096).why, "gemv, k split over units");
	/* over two cores the last level is an exchange, a hop away */
	b.env.cores = 2;
	CHECK_U64(one_row(&b, 1, 4096).span, 8 * PS_NS);
	CHECK_U64(one_row(&b, 1, 4096).latency, (3 + 5 + 6) * PS_NS);
	CHECK_U64(one_row(&b, 1, 4096).exchange_latency, b.env.hop);
}

/* One row to sixteen: 48 rows of weights over 4 units are 12 a unit, 64 of k in 2 cycles of 32 lanes: 24 a vector. */
TEST(every_row_of_activations_takes_the_units_once_more)
{
	struct unitbed b;

	up(&b, 4, 32, "");
	for (uint64_t m = 1; m <= 16; m++) {
		const struct unit_plan p = product(&b, DT_BF16, DT_BF16, m, 48, 64);

		CHECK_U64(p.span, m * 12 * 2 * PS_NS);
		CHECK_U64(p.latency, (5 + 6) * PS_NS);
		CHECK_U64(p.work, m * 48 * 64);
	}
	/* 50 rows: 13 a unit, and 65 of k are 3 cycles */
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 16, 50, 65).span, 16 * 13 * 3 * PS_NS);
}

/* 10 rows over 8 units: two rounds of 4 cycles for 128 of k. In pairs: 3 rows a pair, 2 cycles each: 6. In fours: 5 rows,
 * 1 cycle each. All eight: 10 rows, of which a cycle holds twice what there is. Five cycles in fours: two levels more. */
TEST(k_is_split_as_far_as_it_pays)
{
	struct unitbed b;

	up(&b, 8, 32, "");
	CHECK_U64(one_row(&b, 10, 128).span, 5 * PS_NS);
	CHECK_U64(one_row(&b, 10, 128).latency, (2 + 5 + 6) * PS_NS);
	/* 8 rows: 4 cycles whichever way, and without a split the fewest levels */
	CHECK_U64(one_row(&b, 8, 128).span, 4 * PS_NS);
	CHECK_U64(one_row(&b, 8, 128).latency, (5 + 6) * PS_NS);
	CHECK_STR(one_row(&b, 8, 128).why, "gemv, rows over units");
}

/* 64 rows over 4 units, 128 of k of which 2 of 4 are there: 2 cycles of 32 lanes each instead of 4. */
TEST(weights_that_are_left_out_take_no_lanes)
{
	const struct unit_job j = {
		.work = UNIT_PRODUCT, .dtype = DT_BF16, .with = DT_BF16, .m = 1, .n = 64, .k = 128, .keep = 2, .of = 4
	};
	struct unitbed b;

	up(&b, 4, 32, "sparse: true\n");
	CHECK_U64(unitbed_plan(&b, &j).span, 16 * 2 * PS_NS);
	CHECK_U64(unitbed_plan(&b, &j).work, 64 * 64);
	up(&b, 4, 32, "");
	CHECK_U64(unitbed_plan(&b, &j).span, 16 * 4 * PS_NS);
	CHECK_U64(unitbed_plan(&b, &j).work, 64 * 128);
}

/* 4 units a core, 8 cores, one row of 4,096: 32 ways of 128, 4 cycles; of 5 levels 3 are between cores, a hop each. */
TEST(a_split_over_cores_pays_a_hop_a_level)
{
	struct unitbed b;

	up(&b, 4, 32, "");
	b.env.cores = 8;
	b.env.hop = 3 * PS_NS;
	CHECK_U64(one_row(&b, 1, 4096).span, 4 * PS_NS);
	CHECK_U64(one_row(&b, 1, 4096).latency, (2 + 5 + 6) * PS_NS);
	CHECK_U64(one_row(&b, 1, 4096).exchange_latency, 3 * b.env.hop);
	/* 8 rows: 4 ways each, all in one core: 1,024 of k in 32 cycles, no hop */
	CHECK_U64(one_row(&b, 8, 4096).span, 4096 / 128 * PS_NS);
	CHECK_U64(one_row(&b, 8, 4096).latency, (2 + 5 + 6) * PS_NS);
}

/* 16 rows a unit, 1,024 of k; 32 lanes do 1, 2, 4 values a cycle of 16, 8, 4 bits, and one of 32. */
TEST(each_pair_of_formats_has_its_cycles)
{
	static const struct {
		enum dtype weight, with;
		uint64_t bare, native; /* cycles of 16 rows; where the unit names all pairs */
	} pairs[] = {
		{ DT_BF16, DT_BF16, 16 * 32, 16 * 32 }, { DT_FP16, DT_BF16, 16 * 32, 16 * 32 },
		{ DT_FP8, DT_FP8, 16 * 16, 16 * 16 },   { DT_INT8, DT_INT8, 16 * 16, 16 * 16 },
		{ DT_FP8, DT_BF16, 16 * 32, 16 * 16 },  { DT_INT8, DT_BF16, 16 * 32, 16 * 16 },
		{ DT_INT4, DT_INT4, 16 * 8, 16 * 8 },   { DT_FP4, DT_FP4, 16 * 8, 16 * 8 },
		{ DT_INT4, DT_BF16, 16 * 32, 16 * 8 },  { DT_FP4, DT_FP8, 16 * 16, 16 * 8 },
		{ DT_FP32, DT_FP32, 16 * 32, 16 * 32 }, { DT_INT8, DT_FP32, 16 * 32, 16 * 32 },
		{ DT_BF16, DT_INT8, 16 * 32, 16 * 32 },
	};
	struct unitbed bare, native;

	up(&bare, 4, 32, "");
	up(&native, 4, 32, "w8a16: true\nw4a16: true\nw4a8: true\n");
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		CHECK_U64(product(&bare, pairs[i].weight, pairs[i].with, 1, 64, 1024).span, pairs[i].bare * PS_NS);
		CHECK_U64(product(&native, pairs[i].weight, pairs[i].with, 1, 64, 1024).span, pairs[i].native * PS_NS);
	}
}

TEST(the_wider_operand_sets_the_rate)
{
	struct unitbed b;

	up(&b, 4, 32, "");
	b.env.cores = 2;
	CHECK_U64(b.ops->peak(&b.env, DT_BF16, DT_BF16), 256);
	CHECK_U64(b.ops->peak(&b.env, DT_FP8, DT_FP8), 512);
	CHECK_U64(b.ops->peak(&b.env, DT_INT4, DT_INT4), 1024);
	CHECK_U64(b.ops->peak(&b.env, DT_FP32, DT_FP32), 256);
	CHECK_U64(b.ops->peak(&b.env, DT_INT4, DT_BF16), 256);
	CHECK_U64(b.ops->peak(&b.env, DT_INT4, DT_FP8), 512);
	CHECK(!b.ops->native(&b.env, DT_INT4, DT_BF16));
	CHECK_U64(b.ops->grain(&b.env), 8);
}

TEST(a_pair_that_the_unit_names_runs_at_the_weights_rate)
{
	struct unitbed b;

	up(&b, 4, 32, "w4a16: true\n");
	CHECK(b.ops->native(&b.env, DT_INT4, DT_BF16) && !b.ops->native(&b.env, DT_INT8, DT_BF16));
	/* 64 rows of 128: 16 a unit, one cycle each at four times the lanes */
	CHECK_U64(product(&b, DT_INT4, DT_BF16, 1, 64, 128).span, 16 * PS_NS);
	CHECK_U64(product(&b, DT_INT8, DT_BF16, 1, 64, 128).span, 64 * PS_NS);
}

TEST(a_narrow_scratchpad_holds_it_back_and_weights_stream_once_for_the_rows_it_holds)
{
	struct unitbed b;

	up(&b, 4, 4096, "vectors: 4\n");
	b.sram = (struct sram_cfg){ .size = 1 << 20, .banks = 1, .bank_width = 16, .ports = 2 };
	/* 64 x 128 bf16 = 16 KiB at 16 B a cycle */
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 1, 64, 128).span, 1024 * PS_NS);
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 4, 64, 128).span, 1024 * PS_NS);
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 5, 64, 128).span, 2048 * PS_NS);
}

/* 4 units of 32 lanes. Along k: 32 rows each, 1,280 / 32 cycles a row, a tree of 5 levels. A row a lane: 128 rows at once,
 * 1,280 cycles and no tree. SRAM of 32 banks of 16 bytes: the weights' 327,680 bytes pass along rows in 640 cycles, which
 * nobody waits for; rows of 2,560 bytes lie in one bank, and down their columns it takes 320 + 320 x 32. Padded by a word
 * they lie in all. 1,288 values are 2,576 bytes: nothing to pad. Short rows are not padded: 16 bytes to each 64 is much. */
TEST(lanes_with_a_row_each_read_columns_and_padded_rows_meet_all_banks)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 4, 32, "rows_over_lanes: true\n");
	b.sram = (struct sram_cfg){ .size = 1 << 20, .banks = 32, .bank_width = 16, .ports = 2, .pad = true };
	p = product(&b, DT_BF16, DT_BF16, 1, 128, 1280);
	CHECK_U64(p.span, 1280 * PS_NS);
	CHECK_U64(p.latency, 6 * PS_NS);
	CHECK_U64(p.pad, 16);
	b.sram.pad = false;
	p = product(&b, DT_BF16, DT_BF16, 1, 128, 1280);
	CHECK_U64(p.span, (320 + 320 * 32) * PS_NS);
	CHECK_U64(p.pad, 0);
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 1, 128, 1288).span, 1288 * PS_NS);
	b.sram.pad = true;
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 1, 128, 1288).pad, 0);
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 1, 1024, 32).pad, 0);
	/* Sixteen rows of activations hide it: nobody waits, nothing is padded. */
	CHECK_U64(product(&b, DT_BF16, DT_BF16, 16, 128, 1280).pad, 0);
	up(&b, 4, 32, "");
	b.sram = (struct sram_cfg){ .size = 1 << 20, .banks = 32, .bank_width = 16, .ports = 2, .pad = true };
	p = product(&b, DT_BF16, DT_BF16, 1, 128, 1280);
	CHECK_U64(p.span, 1280 * PS_NS);
	CHECK_U64(p.latency, 11 * PS_NS);
	CHECK_U64(p.pad, 0);
}

TEST(only_products_are_its_work)
{
	struct unitbed b;
	struct unit_plan p;

	up(&b, 4, 32, "");
	CHECK(!b.ops->plan(&b.env, &(struct unit_job){ .work = UNIT_MAP, .elems = 10, .alu = 1 }, &p));
	CHECK(!b.ops->plan(&b.env, &(struct unit_job){ .work = UNIT_SORT, .rows = 1, .cols = 9 }, &p));
}

/* By what cores and units are chosen: a level of a tree more is half of it. */
static ps_t cost(const struct unitbed *b, uint64_t m, uint64_t n, uint64_t k)
{
	const struct unit_plan p = product(b, DT_BF16, DT_BF16, m, n, k);

	return p.span + p.exchange + (p.latency + p.exchange_latency) / 2;
}

TEST(more_units_lanes_or_cores_are_never_slower)
{
	struct rng r;

	rng_seed(&r, test_seed(), "gemv");
	for (int i = 0; i < 2000; i++) {
		uint64_t units = 1 + rng_below(&r, 16), lanes = UINT64_C(1) << rng_below(&r, 8);
		uint32_t cores = 1 + (uint32_t)rng_below(&r, 80);
		uint64_t m = 1 + rng_below(&r, 40), n = 1 + rng_below(&r, 5000), k = 1 + rng_below(&r, 9000);
		struct unitbed a, more, wide;
		ps_t t;

		up(&a, units, lanes, "");
		up(&more, units + 1, lanes, "");
		up(&wide, units, lanes * 2, "");
		a.env.cores = more.env.cores = wide.env.cores = cores;
		t = cost(&a, m, n, k);
		CHECK(cost(&more, m, n, k) <= t + PS_NS);
		CHECK(cost(&wide, m, n, k) <= t + PS_NS);
		CHECK(unitbed_product(&a, DT_BF16, m, n, k) >=
		      clock_span(m * n * k / a.ops->peak(&a.env, DT_BF16, DT_BF16), a.env.clock_khz));
		a.env.cores++;
		CHECK(cost(&a, m, n, k) <= t);
	}
}

SUITE(t_unit_gemv, T(lanes_with_a_row_each_read_columns_and_padded_rows_meet_all_banks),
      T(rows_spread_over_units_and_tree_and_depth_are_latency), T(k_is_split_when_rows_are_fewer_than_units),
      T(every_row_of_activations_takes_the_units_once_more), T(k_is_split_as_far_as_it_pays),
      T(weights_that_are_left_out_take_no_lanes), T(a_split_over_cores_pays_a_hop_a_level),
      T(each_pair_of_formats_has_its_cycles), T(the_wider_operand_sets_the_rate),
      T(a_pair_that_the_unit_names_runs_at_the_weights_rate),
      T(a_narrow_scratchpad_holds_it_back_and_weights_stream_once_for_the_rows_it_holds), T(only_products_are_its_work),
      T(more_units_lanes_or_cores_are_never_slower));
