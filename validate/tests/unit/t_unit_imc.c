/* In-memory units in closed form: exact cycles, and more of a unit is never slower. */
#include "sim/base/rng.h"
#include "validate/tests/unitbed.h"

static void up(struct unitbed *b, const char *yaml)
{
	unitbed_up(b, UNIT_IMC, imc_schema, yaml);
}

static struct unit_plan product(const struct unitbed *b, enum dtype d, enum dtype with, uint64_t m, uint64_t n,
                                uint64_t k, bool kept)
{
	return unitbed_plan(b, &(struct unit_job){ .work = UNIT_PRODUCT,
	                                           .dtype = d,
	                                           .with = with,
	                                           .m = m,
	                                           .n = n,
	                                           .k = k,
	                                           .held = kept ? 1 + UNIT_IMC : 0 });
}

/* An array of 256 x 256 bits is 32 weights of 8 bits across. 256 x 32: one tile; its rows are written in 256 cycles, and a
 * vector passes in the 8 cycles of its bits. Kept, it is only passed. */
TEST(a_tile_is_written_and_then_passed_bit_by_bit)
{
	struct unitbed b;

	up(&b, "units: 1\nrows: 256\ncols: 256\nactive: 256\n");
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 256, false).span, (256 + 5 * 8) * PS_NS);
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 256, true).span, 5 * 8 * PS_NS);
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 256, true).work, 5 * 32 * 256);
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 256, true).latency, 8 * PS_NS); /* the adder tree of 256 rows */
	CHECK_STR(product(&b, DT_INT8, DT_INT8, 5, 32, 256, true).why, "in memory, weights stay");
	/* 100 rows are written and used */
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 100, false).span, (100 + 5 * 8) * PS_NS);
}

/* 64 of 256 rows at once: four turns. Four bits of an activation at once: a quarter of them. Eight columns an ADC: eight
 * times. Four rows written a cycle: a quarter of the 256. */
TEST(rows_bits_and_converters_take_turns)
{
	struct unitbed b;

	up(&b, "units: 1\nrows: 256\ncols: 256\nactive: 64\n");
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 256, true).span, 5 * 4 * 8 * PS_NS);
	up(&b, "units: 1\nrows: 256\ncols: 256\nactive: 64\ninput_bits: 4\n");
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 256, true).span, 5 * 4 * 2 * PS_NS);
	up(&b, "units: 1\nrows: 256\ncols: 256\nactive: 64\ninput_bits: 4\nshare: 8\nwrite: 4\n");
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 256, true).span, 5 * 4 * 2 * 8 * PS_NS);
	/* one array: halves of its rows would be two rounds */
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 5, 32, 256, false).span, (64 + 5 * 4 * 2 * 8) * PS_NS);
}

/* Weights across and cycles of a vector, by both formats. */
TEST(each_pair_of_formats_has_its_columns_and_its_bits)
{
	static const struct {
		enum dtype weight, with;
		const char *also;
		uint64_t across, beats;
	} pairs[] = {
		{ DT_INT8, DT_INT8, "", 32, 8 },
		{ DT_INT4, DT_INT4, "", 64, 4 },
		{ DT_BF16, DT_BF16, "", 16, 16 },
		{ DT_FP32, DT_FP32, "", 8, 32 },
		{ DT_INT4, DT_BF16, "", 16, 16 }, /* widened to the activations */
		{ DT_INT4, DT_BF16, "w4a16: true", 64, 16 },
		{ DT_INT8, DT_BF16, "w8a16: true", 32, 16 },
		{ DT_INT4, DT_INT8, "w4a8: true", 64, 8 },
		{ DT_BF16, DT_INT8, "", 16, 8 },
	};
	struct unitbed b;

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		char yaml[100];

		snprintf(yaml, sizeof yaml, "units: 1\nrows: 256\ncols: 256\n%s\n", pairs[i].also);
		up(&b, yaml);
		CHECK_U64(product(&b, pairs[i].weight, pairs[i].with, 3, pairs[i].across, 256, false).span,
		          (256 + 3 * pairs[i].beats) * PS_NS);
		/* one column more is another round */
		CHECK_U64(product(&b, pairs[i].weight, pairs[i].with, 3, pairs[i].across + 1, 256, false).span,
		          2 * (256 + 3 * pairs[i].beats) * PS_NS);
		CHECK(b.ops->native(&b.env, pairs[i].weight, pairs[i].with) == (pairs[i].also[0] != 0) ||
		      dtype_bits(pairs[i].weight) >= dtype_bits(pairs[i].with));
	}
}

/* Eight arrays. 128 columns of int8 are 4 tiles. Written at once, two copies of them have half of 10 vectors each.
 * Written row by row it is shorter to use half of an array's rows: 8 tiles, written in 128 cycles, all vectors past each,
 * and a cycle to add up both halves. 256 columns are 8 tiles; 257 are 9, or 18 halves in three rounds. */
TEST(tiles_go_over_all_arrays_and_copies_share_the_vectors)
{
	struct unitbed b;

	up(&b, "units: 8\nrows: 256\ncols: 256\nwrite: 256\n");
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 10, 128, 256, false).span, (1 + 5 * 8) * PS_NS);
	up(&b, "units: 8\nrows: 256\ncols: 256\n");
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 10, 128, 256, false).span, (128 + 10 * 8 + 1) * PS_NS);
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 10, 256, 256, false).span, (256 + 10 * 8) * PS_NS);
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 10, 257, 256, false).span, (3 * (128 + 10 * 8) + 1) * PS_NS);
	/* kept there are no copies */
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 10, 128, 256, true).span, 10 * 8 * PS_NS);
	/* and 9 tiles are two to an array */
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 10, 257, 256, true).span, 2 * 10 * 8 * PS_NS);
	/* written while it multiplies: 36 quarters in five rounds of 80 cycles, the first written before, two levels of sums */
	up(&b, "units: 8\nrows: 256\ncols: 256\nwrite_beside: true\n");
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 10, 257, 256, false).span, (64 + 5 * 80 + 2) * PS_NS);
}

/* 1,024 of k are four arrays, which are added in two levels, each all outputs' 8 bytes through the scratchpad of 262,144 B
 * a cycle: 40 x 8,192 x 8 B in 10 cycles. */
TEST(arrays_along_k_are_added_up)
{
	struct unitbed b;

	up(&b, "units: 2048\nrows: 256\ncols: 256\n");
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 40, 8192, 1024, true).span, (40 * 8 + 2 * 10) * PS_NS);
}

/* 12 arrays of 256 rows, 64 of them at once: 48 times 256 places. 257 x 33 int8 are 5 times 64 rows, 33 times 8 columns. */
TEST(what_stays_takes_places_of_active_rows)
{
	const struct unit_job j = {
		.work = UNIT_PRODUCT, .dtype = DT_INT8, .with = DT_INT8, .m = 1, .n = 33, .k = 257
	};
	struct unitbed b;

	up(&b, "units: 12\nrows: 256\ncols: 256\nactive: 64\n");
	CHECK_U64(b.ops->holds(&b.env), 48 * 256);
	CHECK_U64(b.ops->takes(&b.env, &j), 5 * 33 * 8);
	/* as 5 x 2 tiles of 64 rows over 12 arrays: 8 cycles, and three levels of sums */
	CHECK_U64(b.ops->written(&b.env, &j), 64 * PS_NS);
	CHECK_U64(product(&b, DT_INT8, DT_INT8, 1, 33, 257, true).span, (8 + 3) * PS_NS);
	up(&b, "units: 4\nkeep: false\n");
	CHECK_U64(b.ops->holds(&b.env), 0);
	/* a weight wider than an array is none of its */
	up(&b, "units: 4\ncols: 4\n");
	CHECK_U64(b.ops->takes(&b.env, &j), UINT64_MAX);
	CHECK(!b.ops->plan(&b.env, &j, &(struct unit_plan){ 0 }));
}

static uint32_t draw(struct rng *r, uint32_t most_log2)
{
	return 1u << rng_below(r, most_log2 + 1);
}

/* Random arrays and products: never under the peak, and more of anything is never slower. */
TEST(more_of_it_is_never_slower_and_none_is_under_its_peak)
{
	struct rng r;

	rng_seed(&r, test_seed(), "imc");
	for (int i = 0; i < 4000; i++) {
		const uint32_t units = 1 + (uint32_t)rng_below(&r, 40), rows = draw(&r, 10), cols = 16 * draw(&r, 6),
			       active = draw(&r, 8), bits = draw(&r, 3), write = draw(&r, 3);
		const uint32_t more[][6] = {
			{ units, rows, cols, active, bits, write },     { units + 1, rows, cols, active, bits, write },
			{ units, 2 * rows, cols, active, bits, write }, { units, rows, 2 * cols, active, bits, write },
			{ units, rows, cols, 2 * active, bits, write }, { units, rows, cols, active, 2 * bits, write },
			{ units, rows, cols, active, bits, 2 * write },
		};
		const uint64_t m = 1 + rng_below(&r, 60), n = 1 + rng_below(&r, 3000), k = 1 + rng_below(&r, 3000);
		ps_t first = 0;

		for (size_t x = 0; x < sizeof more / sizeof *more; x++) {
			struct unitbed b;
			struct unit_plan p;
			char yaml[160];

			snprintf(yaml, sizeof yaml,
			         "units: %u\nrows: %u\ncols: %u\nactive: %u\ninput_bits: %u\nwrite: %u\n", more[x][0],
			         more[x][1], more[x][2], more[x][3], more[x][4], more[x][5]);
			up(&b, yaml);
			p = product(&b, DT_INT8, DT_INT8, m, n, k, false);
			CHECK(p.span / PS_NS * b.ops->peak(&b.env, DT_INT8, DT_INT8) >= p.work);
			first = x ? first : p.span;
			if (p.span > first)
				test_fail(__FILE__, __LINE__, "%zu: %llu, %llu ps: %s m %llu n %llu k %llu", x,
				          (unsigned long long)p.span, (unsigned long long)first, yaml,
				          (unsigned long long)m, (unsigned long long)n, (unsigned long long)k);
		}
	}
}

SUITE(t_unit_imc, T(a_tile_is_written_and_then_passed_bit_by_bit), T(rows_bits_and_converters_take_turns),
      T(each_pair_of_formats_has_its_columns_and_its_bits), T(tiles_go_over_all_arrays_and_copies_share_the_vectors),
      T(arrays_along_k_are_added_up), T(what_stays_takes_places_of_active_rows),
      T(more_of_it_is_never_slower_and_none_is_under_its_peak));
