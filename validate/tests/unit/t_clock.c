/* t_clock.c - exact picoseconds. Expected values come from 128-bit arithmetic or are written out. */
#include "sim/base/clock.h"

#include "sim/base/rng.h"
#include "validate/tests/test.h"

__extension__ typedef unsigned __int128 u128;

TEST(edges_of_a_period_that_is_whole_are_multiples_of_it)
{
	for (uint64_t n = 0; n < 10000; n++)
		CHECK_U64(clock_edge(n, 1000000), n * 1000);
}

TEST(an_edge_is_never_late_and_less_than_one_picosecond_early)
{
	static const uint64_t khz[] = { 1, 3, 7, 999, 32768, 1700000, 1980000, 2617000, 3999999, 18000000 };
	struct rng r;

	rng_seed(&r, test_seed(), "edge");
	for (size_t k = 0; k < sizeof khz / sizeof *khz; k++)
		for (int i = 0; i < 2000; i++) {
			uint64_t n = rng_below(&r, UINT64_C(1) << (1 + rng_below(&r, 33)));
			u128 exact = (u128)n * 1000000000;
			u128 edge = (u128)clock_edge(n, khz[k]) * khz[k];

			CHECK(edge <= exact && exact - edge < khz[k]);
		}
}

TEST(a_billion_cycles_at_1980_mhz_do_not_drift)
{
	CHECK_U64(clock_edge(1980000000, 1980000), UINT64_C(1000000000000));
	CHECK_U64(clock_edge(UINT64_C(1980000) * 3600 * 1000, 1980000), UINT64_C(3600) * 1000000000000);
}

TEST(a_span_is_rounded_up)
{
	CHECK_U64(clock_span(0, 1980000), 0);
	CHECK_U64(clock_span(1, 1980000), 506); /* 505.05 */
	CHECK_U64(clock_span(1980, 1980000), 1000000);
	CHECK_U64(clock_span(1, 1000000), 1000);
	CHECK_U64(clock_span(3, 3000000), 1000);
}

TEST(transfers_take_bytes_over_rate_rounded_up)
{
	CHECK_U64(clock_transfer(0, 1), 0);
	CHECK_U64(clock_transfer(1, UINT64_C(1000000000000)), 1);
	CHECK_U64(clock_transfer(1, UINT64_C(2000000000000)), 1);
	CHECK_U64(clock_transfer(4800, UINT64_C(4800000000000)), 1000);
	CHECK_U64(clock_transfer(64, UINT64_C(3350000000000)), 20); /* 19.1 */
}

TEST(transfers_agree_with_128_bit_arithmetic_on_both_sides_of_the_fast_path)
{
	struct rng r;

	rng_seed(&r, test_seed(), "transfer");
	CHECK_U64(clock_transfer(18446744, 3), (uint64_t)(((u128)18446744 * 1000000000000 + 2) / 3));
	CHECK_U64(clock_transfer(18446745, 3), (uint64_t)(((u128)18446745 * 1000000000000 + 2) / 3));
	for (int i = 0; i < 20000; i++) {
		uint64_t bytes = rng_below(&r, UINT64_C(1) << (1 + rng_below(&r, 50)));
		uint64_t rate = UINT64_C(1000000000) + rng_below(&r, UINT64_C(20000000000000));

		CHECK_U64(clock_transfer(bytes, rate), (uint64_t)(((u128)bytes * 1000000000000 + rate - 1) / rate));
	}
}

TEST(a_transfer_beyond_all_time_is_never)
{
	CHECK_U64(clock_transfer(UINT64_C(1) << 50, 1), PS_NEVER);
	CHECK_U64(clock_transfer(UINT64_MAX, 1), PS_NEVER);
}

TEST(cycles_are_whole_and_rounded_up)
{
	CHECK_U64(clock_cycles(0, 1980000), 0);
	CHECK_U64(clock_cycles(1, 1980000), 1);
	CHECK_U64(clock_cycles(1000, 1000000), 1);
	CHECK_U64(clock_cycles(1001, 1000000), 2);
	CHECK_U64(clock_cycles(UINT64_C(3600) * 1000000000000, 1980000), UINT64_C(1980000) * 3600 * 1000);
}

TEST(cycles_undo_a_span)
{
	struct rng r;

	rng_seed(&r, test_seed(), "cycles");
	for (int i = 0; i < 20000; i++) {
		uint64_t khz = 1 + rng_below(&r, 4000000), n = rng_below(&r, UINT64_C(1) << 40) % (khz * 10000);

		CHECK_U64(clock_cycles(clock_edge(n, khz), khz), n);
	}
}

TEST(integer_helpers_hold_at_the_edges)
{
	CHECK_U64(div_up(0, 5), 0);
	CHECK_U64(div_up(1, 5), 1);
	CHECK_U64(div_up(5, 5), 1);
	CHECK_U64(div_up(UINT64_MAX, 2), UINT64_C(1) << 63);
	CHECK_U64(round_up(0, 32), 0);
	CHECK_U64(round_up(33, 32), 64);
	CHECK_U64(ps_max(3, PS_NEVER), PS_NEVER);
	CHECK_U64(ps_min(3, PS_NEVER), 3);
}

SUITE(t_clock, T(edges_of_a_period_that_is_whole_are_multiples_of_it),
      T(an_edge_is_never_late_and_less_than_one_picosecond_early), T(a_billion_cycles_at_1980_mhz_do_not_drift),
      T(a_span_is_rounded_up), T(transfers_take_bytes_over_rate_rounded_up),
      T(transfers_agree_with_128_bit_arithmetic_on_both_sides_of_the_fast_path), T(a_transfer_beyond_all_time_is_never),
      T(cycles_are_whole_and_rounded_up), T(cycles_undo_a_span), T(integer_helpers_hold_at_the_edges));
