/* What the closed forms of a GPU's launches share, and the launch as a whole. */
#include "arch/gpu.h"

#include "sim/machine.h"
#include "validate/tests/test.h"

TEST(overlap_lies_between_the_larger_and_the_sum)
{
	CHECK_U64(gpu_overlap(4, 0, 5000), 5000);
	CHECK_U64(gpu_overlap(1, 3000000, 4000000), 7000000);
	CHECK_U64(gpu_overlap(2, 3000000, 4000000), 5000000); /* 3-4-5 */
	CHECK_U64(gpu_overlap(4, 1000000, 1000000), 1189207); /* 2^(1/4) */
	CHECK_U64(gpu_overlap(8, 1000000, 1000000), 1090507); /* 2^(1/8) */
	CHECK_U64(gpu_overlap(4, 1000, 1000000000), 1000000000);
	for (ps_t a = 1; a < UINT64_C(1) << 40; a = a * 3 + 1)
		for (ps_t b = 1; b <= a; b = b * 7 + 1) {
			ps_t x = gpu_overlap(4, a, b), y = gpu_overlap(8, a, b);

			CHECK(gpu_overlap(4, b, a) == x);
			CHECK(x >= a - a / 1000000 && x <= a + b && y <= x + 1);
		}
}

TEST(overlap_never_falls_when_a_part_grows)
{
	ps_t last = 0;

	for (ps_t b = 0; b < 3000000; b += 997) {
		ps_t x = gpu_overlap(4, 1000000, b);

		CHECK(x >= last);
		last = x;
	}
}

static struct machine_cfg cfg;

static struct gpu device(void)
{
	struct err e = ERR_INIT;
	struct cfg *c = machine_schema(&cfg, MACHINE_GPU, &e);

	CHECK_OK(c ? 0 : -1, e);
	cfg_free(c);
	cfg.clock = 1000000; /* a cycle is a nanosecond */
	cfg.cores = 100;
	cfg.gpu.dram_read = 4000000000000; /* 4 bytes a picosecond */
	cfg.gpu.dram_write = 2000000000000;
	cfg.gpu.l2_rate = 8000000000000;
	cfg.gpu.step_l2 = 200000;
	cfg.gpu.step_dram = 400000;
	return machine_gpu(&cfg);
}

TEST(memory_time_is_drams_or_the_l2s)
{
	struct gpu g = device();

	CHECK_U64(gpu_memory_time(&g, &(struct gpu_mem){ .read = 4000000 }), 1000000);
	CHECK_U64(gpu_memory_time(&g, &(struct gpu_mem){ .read = 4000000, .read_hit = 4000000 }), 500000);
	CHECK_U64(gpu_memory_time(&g, &(struct gpu_mem){ .read = 4000000, .write = 4000000, .write_back = 2000000 }),
	          2000000);
}

TEST(a_step_lies_between_l2_and_dram_by_what_hits)
{
	struct gpu g = device();

	CHECK_U64(gpu_step(&g, &(struct gpu_mem){ .read = 1000 }), 400000);
	CHECK_U64(gpu_step(&g, &(struct gpu_mem){ .read = 1000, .read_hit = 1000 }), 200000);
	CHECK_U64(gpu_step(&g, &(struct gpu_mem){ .read = 1000, .read_hit = 500 }), 300000);
	CHECK_U64(gpu_step(&g, &(struct gpu_mem){ .read = 0 }), 200000);
}

TEST(math_runs_on_the_pipe_of_its_format)
{
	struct gpu g = device();

	cfg.gpu.clock_tensor = 500000; /* two nanoseconds a cycle */
	CHECK_U64(gpu_math_time(&g, DT_BF16, 4096 / 2 * 100, 100), 2 * PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_FP8, 8192 / 2 * 100, 100), 2 * PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_TF32, 2048 / 2 * 100, 100), 2 * PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_FP32, 250 / 2 * 100, 100), PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_FP32, 250 / 2 * 100, 50), 2 * PS_NS);
}

TEST(a_barrier_costs_more_with_more_threads)
{
	struct gpu g = device();

	CHECK_U64(gpu_barrier(&g, 32), 20000);
	CHECK_U64(gpu_barrier(&g, 128), 20000);
	CHECK_U64(gpu_barrier(&g, 1024), 76000);
}

/* --- CTAs with a head and a loop -------------------------------------------------------------------------------------
 */

static struct op_launch geometry(uint32_t ctas, uint32_t threads)
{
	return (struct op_launch){ .grid = { ctas, 1, 1 }, .block = { threads, 1, 1 }, .registers = 32 };
}

TEST(a_flow_of_one_round_is_launch_head_and_bytes)
{
	struct gpu g = device();
	struct op_launch at = geometry(1, 128);
	struct gpu_launch l = { .at = &at, .mem = { .read = 40000000 } };
	struct gpu_flow f = { .grid = gpu_grid_of(&g, &l), .head = 3000000 };
	struct gpu_time t = { 0 };

	cfg.gpu.launch = 500000;
	gpu_flow_time(&g, &l, &f, &t);
	CHECK_U64(t.launch, 500000);
	CHECK_U64(t.start, 3000000);
	CHECK_U64(t.body, 10000000); /* 40 MB at 4 bytes a picosecond; one CTA's ramp is lost in that */
	/* What is stored counts as DRAM's too, beyond the buffer at the rate of turned writes. */
	l.mem = (struct gpu_mem){ .write = 20000000 };
	cfg.stream.write_buffer = 16000000;
	gpu_flow_time(&g, &l, &f, &t);
	CHECK_U64(t.body, 4000000 + 2000000);
}

/* 100 SMs, c CTAs of 2048 / c threads on each: heads of one CTA an SM are not hidden, of many they are. */
TEST(rounds_hide_heads_under_the_bytes_of_other_ctas)
{
	struct gpu g = device();
	ps_t last = PS_NEVER;

	cfg.gpu.launch = 0;
	cfg.gpu.cta_rate = UINT64_C(1) << 49;
	for (uint32_t c = 2; c <= 32; c *= 2) {
		struct op_launch at = geometry(100 * c * 10, 2048 / c);
		struct gpu_launch l = { .at = &at, .mem = { .read = 400000000 } };
		struct gpu_flow f = { .grid = gpu_grid_of(&g, &l), .head = 10000000 };
		struct gpu_time t = { 0 };

		at.registers = 16;
		f.grid = gpu_grid_of(&g, &l);
		CHECK_U64(f.grid.per_sm, c);
		CHECK_U64(f.grid.rounds, 10);
		gpu_flow_time(&g, &l, &f, &t);
		/* M = Z = 10 us: a round takes 10 (1 + 1 / sqrt(c)). */
		CHECK(t.body > 10 * 10000000 && t.body < last);
		last = t.body;
		if (c == 4)
			CHECK_U64(t.body, 10000000 + 9 * 15000000);
		if (c == 16)
			CHECK_U64(t.body, 10000000 + 9 * 12500000);
	}
}

TEST(ctas_in_order_pay_their_loop_once)
{
	struct gpu g = device();
	struct op_launch at = geometry(1000, 1024);
	struct gpu_launch l = { .at = &at };
	struct gpu_flow f = { .grid = gpu_grid_of(&g, &l), .head = 1000000, .loop = 50000000 };
	struct gpu_time one = { 0 }, all = { 0 };

	cfg.gpu.cta_rate = UINT64_C(1) << 49;
	CHECK_U64(f.grid.rounds, 5);
	gpu_flow_time(&g, &l, &f, &all);
	f.in_order = true;
	gpu_flow_time(&g, &l, &f, &one);
	CHECK_U64(one.body, 50000000);
	CHECK(all.body >= 5 * 50000000);
}

SUITE(t_gpu, T(overlap_lies_between_the_larger_and_the_sum) T(overlap_never_falls_when_a_part_grows)
                     T(memory_time_is_drams_or_the_l2s) T(a_step_lies_between_l2_and_dram_by_what_hits)
                             T(math_runs_on_the_pipe_of_its_format) T(a_barrier_costs_more_with_more_threads)
                                     T(a_flow_of_one_round_is_launch_head_and_bytes)
                                             T(rounds_hide_heads_under_the_bytes_of_other_ctas)
                                                     T(ctas_in_order_pay_their_loop_once));
