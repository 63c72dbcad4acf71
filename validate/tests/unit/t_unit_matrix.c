/* Matrix units in closed form: exact cycles, and a larger array is never slower. */
#include "sim/base/rng.h"
#include "validate/tests/unitbed.h"

static void up(struct unitbed *b, uint64_t units, uint64_t rows, uint64_t cols)
{
	char yaml[96];

	snprintf(yaml, sizeof yaml, "units: %d\nrows: %d\ncols: %d\n", (int)units, (int)rows, (int)cols);
	unitbed_up(b, UNIT_MATRIX, matrix_schema, yaml);
}

TEST(a_fold_costs_the_longer_of_stream_and_weight_load)
{
	struct unitbed b;

	up(&b, 1, 64, 64);
	/* one fold: 128 vectors stream, fill and drain 64 + 64 */
	CHECK_U64(unitbed_product(&b, DT_BF16, 128, 64, 64), (128 + 128) * PS_NS);
	/* 8-bit weights: 128 rows of k in one fold */
	CHECK_U64(unitbed_product(&b, DT_INT8, 128, 64, 128), (128 + 128) * PS_NS);
	CHECK_U64(b.ops->grain(&b.env), 64);
}

TEST(a_larger_array_is_never_slower_and_none_beats_its_peak)
{
	struct rng r;

	rng_seed(&r, test_seed(), "matrix");
	for (int i = 0; i < 2000; i++) {
		uint64_t units = 1 + rng_below(&r, 4), rows = UINT64_C(1) << (2 + rng_below(&r, 6)),
			 cols = UINT64_C(1) << (2 + rng_below(&r, 6));
		uint64_t m = 1 + rng_below(&r, 600), n = 1 + rng_below(&r, 4000), k = 1 + rng_below(&r, 4000);
		struct unitbed a, tall, wide;
		ps_t t;

		up(&a, units, rows, cols);
		up(&tall, units, rows * 2, cols);
		up(&wide, units, rows, cols * 2);
		a.env.cores = tall.env.cores = wide.env.cores = 8;
		t = unitbed_product(&a, DT_BF16, m, n, k);
		CHECK(unitbed_product(&tall, DT_BF16, m, n, k) <= t);
		CHECK(unitbed_product(&wide, DT_BF16, m, n, k) <= t);
		CHECK(t >= clock_span(m * n * k / a.ops->peak(&a.env, DT_BF16), a.env.clock_khz));
		a.env.cores++;
		CHECK(unitbed_product(&a, DT_BF16, m, n, k) <= t);
	}
}

SUITE(t_unit_matrix, T(a_fold_costs_the_longer_of_stream_and_weight_load),
      T(a_larger_array_is_never_slower_and_none_beats_its_peak));
