/* CTAs an SM holds, against the limits worked out by hand for compute capability 9.0. */
#include "arch/gpu/occupancy.h"
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

static struct occupancy of(uint32_t threads, uint32_t registers, uint64_t smem, uint32_t cluster)
{
	struct sm_cfg c;

	bed_cfg(sm_schema, &c, "{}");
	return occupancy_of(&c, 132, threads, registers, smem, cluster);
}

TEST(each_of_the_four_limits_holds)
{
	struct occupancy o = of(512, 32, 0, 1);

	CHECK_U64(o.ctas, 4); /* 2048 / 512; registers: 65536 / (32 * 512) = 4 as well */
	CHECK_STR(o.limit, "threads");
	o = of(32, 16, 0, 1);
	CHECK_U64(o.ctas, 32);
	CHECK_STR(o.limit, "ctas");
	o = of(256, 168, 0, 1);
	CHECK_U64(o.ctas, 1); /* 8 warps of 5376 registers: 43008 of 65536 */
	CHECK_STR(o.limit, "registers");
	o = of(128, 32, 100 << 10, 1);
	CHECK_U64(o.ctas, 2); /* 228 KiB over 101 KiB */
	CHECK_STR(o.limit, "shared memory");
}

TEST(registers_are_given_in_whole_units_of_a_warp)
{
	/* 33 registers x 32 threads = 1056, rounded to 1280; 16 warps a CTA: 20480 of 65536 */
	CHECK_U64(of(512, 33, 0, 1).ctas, 3);
	CHECK_U64(of(512, 40, 0, 1).ctas, 3);
	CHECK_U64(of(512, 41, 0, 1).ctas, 2);
}

TEST(what_does_not_fit_at_all_is_zero)
{
	CHECK_U64(of(128, 32, 228 << 10, 1).ctas, 0); /* 1 KiB is the system's */
	CHECK_U64(of(128, 32, 227 << 10, 1).ctas, 1);
}

TEST(clusters_leave_the_rest_of_a_gpc_empty)
{
	/* 132 SMs in GPCs of 18: seven full ones and six SMs */
	CHECK_U64(of(128, 32, 0, 1).sms, 132);
	CHECK_U64(of(128, 32, 0, 2).sms, 132);
	CHECK_U64(of(128, 32, 0, 4).sms, 7 * 16 + 4);
	CHECK_U64(of(128, 32, 0, 8).sms, 7 * 16);
}

SUITE(t_occupancy, T(each_of_the_four_limits_holds), T(registers_are_given_in_whole_units_of_a_warp),
      T(what_does_not_fit_at_all_is_zero), T(clusters_leave_the_rest_of_a_gpc_empty));
