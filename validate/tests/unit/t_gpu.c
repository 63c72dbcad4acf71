/* What the closed forms of a GPU's launches share, and the launch as a whole. */
#include "arch/gpu/gpu_flow.h"
#include "arch/gpu/gpu_form.h"

#include "arch/gpu/gpu_work.h"
#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "traces/trace.h"
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
	cfg.gpu.common.dram_read = 4000000000000; /* 4 bytes a picosecond */
	cfg.gpu.common.dram_write = 2000000000000;
	cfg.gpu.common.l2_rate = 8000000000000;
	cfg.gpu.common.step_l2 = 200000;
	cfg.gpu.common.step_dram = 400000;
	cfg.gpu.rows.step_l1 = 20000;
	cfg.gpu.rows.l1 = 131072;
	cfg.gpu.rows.join = 600000;
	cfg.gpu.stream.apart = 50;
	cfg.gpu.stream.odd = 3000000;
	cfg.mem.l2.size = 40000 << 10;
	cfg.gpu.rows.resident = 800000; /* 32,768,000 bytes */
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

	cfg.gpu.common.clock_tensor = 500000; /* two nanoseconds a cycle */
	CHECK_U64(gpu_math_time(&g, DT_BF16, 4096 / 2 * 100, 100), 2 * PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_FP8, 8192 / 2 * 100, 100), 2 * PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_TF32, 2048 / 2 * 100, 100), 2 * PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_FP32, 250 / 2 * 100, 100), PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_FP32, 250 / 2 * 100, 50), 2 * PS_NS);
	/* int8 has fp8's rate where none of its own is given: GeForce halves that of sums in fp32 alone */
	CHECK_U64(gpu_math_time(&g, DT_INT8, 8192 / 2 * 100, 100), 2 * PS_NS);
	cfg.gpu.common.flop_int8 = 16384;
	CHECK_U64(gpu_math_time(&g, DT_INT8, 16384 / 2 * 100, 100), 2 * PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_FP8, 8192 / 2 * 100, 100), 2 * PS_NS);
	CHECK_U64(gpu_math_time(&g, DT_INT4, 8192 / 2 * 100, 100), 2 * PS_NS);
}

/* Tiles against a count of every query's keys. */
TEST(blocks_of_queries_see_the_tiles_their_keys_lie_in)
{
	for (uint64_t i = 0; i < 300; i++) {
		const struct op_shape s = { .q_len = 1 + i * 7 % 90,
			                    .kv_len = 1 + i * 7 % 90 + i % 3 * 41,
			                    .causal = i % 2,
			                    .window = i % 2 && i % 5 < 3 ? 1 + i * 13 % 70 : 0 };
		const uint64_t shared = 1 + i % 4, rows = 16, keys = 8, past = s.kv_len - s.q_len;
		const struct gpu_tiles t = gpu_tiles_of(&s, rows, keys, shared);
		uint64_t all = 0, longest = 0;

		for (uint64_t b = 0; b < t.blocks; b++) {
			uint64_t n = 0;

			for (uint64_t k = 0; k * keys < s.kv_len; k++) {
				bool seen = false;

				for (uint64_t r = b * rows; r < (b + 1) * rows && r < s.q_len * shared; r++)
					for (uint64_t j = k * keys; j < (k + 1) * keys && j < s.kv_len; j++) {
						const uint64_t at = past + r / shared;

						seen |= !s.causal || (j <= at && (!s.window || j + s.window > at));
					}
				n += seen;
			}
			all += n;
			longest = n > longest ? n : longest;
		}
		CHECK_U64(t.blocks, div_up(s.q_len * shared, rows));
		CHECK_U64(t.all, all);
		CHECK_U64(t.longest, longest);
	}
}

/* Keys and values come from shared memory as fast on any device: slow tensor cores wait for them less. */
TEST(attention_takes_turns_between_shared_memory_and_matrix_instructions)
{
	struct gpu g = device();
	const struct op_shape shape = {
		.batch = 1, .heads = 1, .kv_heads = 1, .q_len = 128, .kv_len = 64, .head_dim = 64, .v_dim = 64
	};
	const struct op o = { .kind = OP_ATTENTION, .dtype = DT_BF16, .shape = shape };
	const struct op_launch at = { .grid = { 1, 1, 1 }, .block = { 128, 1, 1 }, .cluster = { 1, 1, 1 } };
	const struct gpu_launch l = { .op = &o,
		                      .at = &at,
		                      .kernel = { .form = KERNEL_FLASH, .tile_n = 128, .tile_k = 64, .stages = 2 } };
	const uint64_t flop = 2 * 128 * 64 * 128;
	struct gpu_time t = { 0 };

	cfg.gpu.flash.instructions = 0;
	cfg.gpu.flash.store = 0;
	cfg.gpu.flash.feed = 2048;
	cfg.gpu.flash.flop_mma = 2048;
	gpu_flash(&g, &l, &t);
	CHECK_U64(t.pipe, 2 * flop / 2048 * PS_NS);
	cfg.gpu.common.flop_bf16 = 512;
	gpu_flash(&g, &l, &t);
	CHECK_U64(t.pipe, (flop / 512 + flop / 2048) * PS_NS);
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

	cfg.gpu.common.launch = 500000;
	gpu_flow_time(&g, &l, &f, &t);
	CHECK_U64(t.launch, 500000);
	CHECK_U64(t.start, 3000000);
	CHECK_U64(t.body, 10000000); /* 40 MB at 4 bytes a picosecond; one CTA's ramp is lost in that */
	/* What is stored counts as DRAM's too, beyond the buffer at the rate of turned writes. */
	l.mem = (struct gpu_mem){ .write = 20000000 };
	cfg.gpu.stream.write_buffer = 390625; /* 16 MB of the L2 */
	gpu_flow_time(&g, &l, &f, &t);
	CHECK_U64(t.body, 4000000 + 2000000);
}

/* 100 SMs, c CTAs of 2048 / c threads on each, ten rounds: heads of few CTAs an SM, which are in step, are not hidden; of
 * many they are. */
TEST(rounds_hide_heads_under_the_bytes_of_other_ctas)
{
	struct gpu g = device();
	ps_t last = PS_NEVER;

	cfg.gpu.common.launch = 0;
	cfg.gpu.common.cta_rate = UINT64_C(1) << 49;
	for (uint32_t c = 2; c <= 32; c *= 2) {
		struct op_launch at = geometry(100 * c * 10, 2048 / c);
		struct gpu_launch l = { .at = &at, .mem = { .read = 400000000 } };
		struct gpu_flow f = { .head = 10000000 };
		struct gpu_time t = { 0 };

		at.registers = 16;
		f.grid = gpu_grid_of(&g, &l);
		CHECK_U64(f.grid.per_sm, c);
		CHECK_U64(f.grid.rounds, 10);
		gpu_flow_time(&g, &l, &f, &t);
		/* M = Z = 10 us: a round takes 10 (1 + 1 / sqrt(n)), of c CTAs n = c^2 / 16 out of step, and c from 16 on. */
		CHECK(t.body > 10 * 10000000 && t.body <= last);
		last = t.body;
		if (c <= 4)
			CHECK_U64(t.body, 10000000 + 9 * 20000000);
		if (c == 8)
			CHECK_U64(t.body, 10000000 + 9 * 15000000);
		if (c == 16)
			CHECK_U64(t.body, 10000000 + 9 * 12500000);
		/* What the last CTA alone does is under its round's bytes, or not. */
		f.tail = 5000000;
		gpu_flow_time(&g, &l, &f, &t);
		CHECK_U64(t.body, last);
		f.tail = 30000000;
		gpu_flow_time(&g, &l, &f, &t);
		CHECK_U64(t.body, last + 20000000);
	}
}

/* Launches go on beside everything else: they are the time where they are slower than all of it. */
TEST(a_flow_takes_no_less_than_its_ctas_launches)
{
	struct gpu g = device();
	struct op_launch at = geometry(160000, 128);
	struct gpu_launch l = { .at = &at, .mem = { .write = 4 } };
	struct gpu_flow f = { 0 };
	struct gpu_time t = { 0 };

	cfg.gpu.common.cta_rate = 1000000000; /* 160 us; a round's 1600 CTAs take 1.6 */
	f.grid = gpu_grid_of(&g, &l);
	gpu_flow_time(&g, &l, &f, &t);
	CHECK_U64(t.body, 160000000);
}

TEST(ctas_in_order_pay_their_loop_once)
{
	struct gpu g = device();
	struct op_launch at = geometry(1000, 1024);
	struct gpu_launch l = { .at = &at };
	struct gpu_flow f = { .grid = gpu_grid_of(&g, &l), .head = 1000000, .loop = 50000000 };
	struct gpu_time one = { 0 }, all = { 0 };

	cfg.gpu.common.cta_rate = UINT64_C(1) << 49;
	CHECK_U64(f.grid.rounds, 5);
	gpu_flow_time(&g, &l, &f, &all);
	f.in_order = true;
	gpu_flow_time(&g, &l, &f, &one);
	CHECK_U64(one.body, 50000000);
	CHECK(all.body >= 5 * 50000000);
}

/* --- how forms count -----------------------------------------------------------------------------------------------
 */

static struct gpu_time form(enum kernel_form f, const struct op *op, const struct op_launch *at, struct kernel k,
                            struct gpu_mem mem)
{
	struct gpu g = device();
	struct gpu_launch l = { .op = op, .at = at, .kernel = k, .mem = mem, .count = 1 };

	cfg.gpu.common.launch = 0;
	l.kernel.form = f;
	return gpu_time(&g, &l);
}

TEST(guarded_ends_and_serial_elements_are_counted_from_the_grid)
{
	static const struct {
		uint64_t elems;
		ps_t head, tail, chain;
	} cases[] = {
		{ 640, 300000, 50000, 0 },      { 1, 300000, 10000, 0 },        { 1023, 300000, 80000, 0 },
		{ 512, 100000, 0, 4 * 250000 }, { 300, 100000, 0, 3 * 250000 }, { 128, 100000, 0, 250000 },
	};
	struct kernel ends = { .start = 1, .items = 8, .cycles = 100, .tail_cycles = 10 };
	struct kernel serial = { .steps = 1, .items = 4, .cycles = 100, .loop_cycles = 50 };
	struct op_launch at = geometry(1, 128);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct op op = { .kind = OP_ELEMENTWISE, .shape = { .elems = cases[i].elems } };
		struct gpu_time t = form(KERNEL_STREAM, &op, &at, cases[i].chain ? serial : ends,
		                         (struct gpu_mem){ .read = 2048, .read_hit = 2048 });

		CHECK_U64(t.start, cases[i].head);
		CHECK_U64(t.chain, cases[i].chain);
		if (cases[i].tail) /* in the only CTA, beside bytes that take less */
			CHECK_U64(t.body, clock_transfer(1, cfg.gpu.common.cta_rate) + cases[i].tail);
	}
}

TEST(first_loads_wait_for_the_slowest_operand)
{
	struct op op = { .kind = OP_ELEMENTWISE, .shape = { .elems = 1024 } };
	struct op_launch at = geometry(1, 128);
	struct kernel k = { .start = 1, .items = 8 };

	CHECK_U64(form(KERNEL_STREAM, &op, &at, k, (struct gpu_mem){ 4096, 4096, 0, 0 }).start, 200000);
	CHECK_U64(form(KERNEL_STREAM, &op, &at, k, (struct gpu_mem){ 4096, 2048, 0, 0 }).start, 400000);
	CHECK_U64(form(KERNEL_STREAM, &op, &at, k, (struct gpu_mem){ 0, 0, 4096, 0 }).start, 0);
}

TEST(rows_are_shared_by_the_threads_that_the_geometry_says)
{
	struct kernel k = { .steps = 1, .items = 4, .unroll = 4, .tree_cycles = 10, .index_cycles = 7 };
	struct gpu_mem mem = { .read = 4096, .read_hit = 4096 };
	struct op op = { .kind = OP_REDUCE, .dtype = DT_FP32, .shape = { .rows = 1, .cols = 4096 } };
	struct op_launch at = geometry(1, 512);
	struct gpu_time t = form(KERNEL_ROWS, &op, &at, k, mem);

	CHECK_U64(t.chain, 2 * 200000); /* 512 threads of 4 */
	CHECK_U64(t.start, 4 * 10000);  /* 16 warps: four levels */
	at.block[0] = 32;
	at.block[1] = 16;
	op.shape.rows = 16;
	t = form(KERNEL_ROWS, &op, &at, k, mem);
	CHECK_U64(t.chain, 32 * 200000); /* a warp each */
	CHECK_U64(t.start, 7000);
	at.block[1] = 4;
	op.shape = (struct op_shape){ .rows = 128, .cols = 64, .strided = true };
	CHECK_U64(form(KERNEL_ROWS, &op, &at, k, mem).chain, 16 * 200000);
	at.smem_dynamic = 2064; /* to join four parts */
	CHECK_U64(form(KERNEL_ROWS, &op, &at, k, mem).chain, 4 * 200000);
	at.grid[1] = 2; /* and two more */
	t = form(KERNEL_ROWS, &op, &at, k, mem);
	CHECK_U64(t.chain, 2 * 200000);
	CHECK_U64(t.start, 600000 + 200000 + 2 * 2 * 10000); /* join, the other part, two trees of two levels */
}

TEST(an_unrolled_warp_row_pays_for_its_guards_and_loads_in_groups)
{
	struct kernel k = { .start = 1,
		            .steps = 1,
		            .row_warps = 1,
		            .items = 1,
		            .turns = 11,
		            .group = 8,
		            .loop_cycles = 100,
		            .tail_cycles = 30 };
	struct gpu_mem mem = { .read = 4096, .read_hit = 4096 };
	struct op op = { .kind = OP_SOFTMAX, .dtype = DT_BF16, .shape = { .rows = 1, .cols = 1280 } };
	struct op_launch at = geometry(1, 128);

	/* 40 elements a lane, five groups of loads of which the head has one; 64 guards */
	CHECK_U64(form(KERNEL_ROWS, &op, &at, k, mem).chain, 40 * 100000 + 4 * 200000 + 64 * 30000);
	k.row_warps = 0;
	k.turns = 5; /* a CTA's row in registers */
	k.steps = 0;
	CHECK_U64(form(KERNEL_ROWS, &op, &at, k, mem).chain, 5 * 100000);
}

TEST(a_copy_of_elements_that_lie_apart_waits_for_sectors)
{
	struct kernel k = { .items = 4 };
	struct gpu_mem mem = { .read = 2048, .read_hit = 2048, .write = 2048 };
	struct op op = { .kind = OP_COPY, .shape = { .elems = 102400 } };
	struct op_launch at = geometry(200, 128);

	CHECK_U64(form(KERNEL_STREAM, &op, &at, k, mem).pipe, 0);
	op.shape.apart = 32; /* 1024 an SM, one in two cycles */
	CHECK_U64(form(KERNEL_STREAM, &op, &at, k, mem).pipe, 2048000);
	op.shape.apart = 8; /* four neighbours share one */
	CHECK_U64(form(KERNEL_STREAM, &op, &at, k, mem).pipe, 512000);
}

TEST(a_large_copy_is_slow_where_its_bytes_are_no_whole_pages)
{
	struct kernel k = { 0 };
	struct gpu_mem even = { .read = 1 << 20, .read_hit = 1 << 20, .write = 1 << 20 }, odd = even;
	struct op op = { .kind = OP_COPY };
	struct op_launch at = geometry(0, 0);

	CHECK_U64(form(KERNEL_COPY, &op, &at, k, even).chain, 0);
	odd.read = odd.read_hit = odd.write = (1 << 20) + 2;
	CHECK_U64(form(KERNEL_COPY, &op, &at, k, odd).chain, 3000000);
	odd.read = odd.read_hit = odd.write = (1 << 20) - 2;
	CHECK_U64(form(KERNEL_COPY, &op, &at, k, odd).chain, 0);
	odd.read = odd.read_hit = odd.write = 3 << 20;
	CHECK_U64(form(KERNEL_COPY, &op, &at, k, odd).chain, 0);
}

TEST(a_second_pass_hits_the_l1_where_rows_of_an_sm_fit)
{
	static const struct {
		uint32_t rows;
		uint64_t cols;
		ps_t step;
	} cases[] = {
		{ 100, 16384, 20000 }, /* 64 KiB an SM, and as much stored: all of 128 */
		{ 100, 24576,
		  148889 }, /* of 96 KiB the third that no store displaces; of the rest 1 in 15 is in DRAM */
		{ 100, 32768, 240000 }, /* of 12.8 MB a fifth */
		{ 200, 16384, 240000 }, /* two an SM */
	};
	struct kernel k = { .start = 1, .again = 1, .items = 4 };
	struct gpu_mem mem = { .read = 13107200, .read_hit = 13107200 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct op op = { .kind = OP_NORM,
			         .dtype = DT_FP32,
			         .shape = { .rows = cases[i].rows, .cols = cases[i].cols } };
		struct op_launch at = geometry(cases[i].rows, 128);

		CHECK_U64(form(KERNEL_ROWS, &op, &at, k, mem).chain, cases[i].cols / 512 * cases[i].step);
	}
}

TEST(a_second_pass_reads_dram_where_rows_under_way_outgrow_the_l2)
{
	struct kernel k = { .start = 1, .again = 1, .items = 4 };
	struct op op = { .kind = OP_NORM, .dtype = DT_FP32, .shape = { .rows = 1000, .cols = 8192 } };
	struct op_launch at = geometry(1000, 128);
	struct gpu_mem mem = { .read = 32768000 };

	CHECK_U64(form(KERNEL_ROWS, &op, &at, k, mem).memory, 2 * 8192000);
	op.shape.cols = 4096; /* between a quarter of that and all: a third */
	mem.read /= 2;
	CHECK_U64(form(KERNEL_ROWS, &op, &at, k, mem).memory, 4096000 + 1365332);
	op.shape.cols = 2048;
	mem.read /= 2;
	CHECK_U64(form(KERNEL_ROWS, &op, &at, k, mem).memory, 2048000);
}

/* 10 us of instructions an SM and 10 of waits, one party; bytes as long beside both: a sum of squares where the waits are
 * for loads, of fourth powers where they are not. */
TEST(bytes_flow_better_beside_arithmetic_than_beside_loads)
{
	struct op op = { .kind = OP_SOFTMAX, .dtype = DT_FP32, .shape = { .rows = 100, .cols = 128 } };
	struct op_launch at = geometry(100, 128);
	struct gpu_mem mem = { .read = 160000000, .read_hit = 160000000 };
	struct kernel k = { .items = 1, .loop_cycles = 10000, .thread_instructions = 10000 };
	ps_t body;

	body = form(KERNEL_ROWS, &op, &at, k, mem).body; /* picoseconds of launches beside */
	CHECK(body - gpu_overlap(4, 20000000, 20000000) < 1000);
	k.steps = 1;
	body = form(KERNEL_ROWS, &op, &at, k, mem).body;
	CHECK(body - gpu_overlap(2, 20200000, 20000000) < 1000);
}

TEST(chains_count_passes_by_items_turns_or_ctas)
{
	struct op op = { .kind = OP_SORT, .shape = { .rows = 4, .cols = 8192 } };
	struct op_launch at = geometry(4, 1024);
	struct gpu_mem none = { 0 };

	CHECK_U64(form(KERNEL_CHAIN, &op, &at, (struct kernel){ .items = 2, .loop_cycles = 5 }, none).chain, 4 * 5000);
	CHECK_U64(form(KERNEL_CHAIN, &op, &at, (struct kernel){ .turns = 32, .loop_cycles = 5 }, none).chain, 160000);
	CHECK_U64(form(KERNEL_CHAIN, &op, &at, (struct kernel){ .look_back = 1, .loop_cycles = 5 }, none).chain, 20000);
	CHECK_U64(form(KERNEL_CHAIN, &op, &at, (struct kernel){ .barriers_once = 2 }, none).start, 2 * 76000);
}

/* 128 kB seven times over: from the L2; 16 MB of which no byte is left there: from DRAM. */
TEST(passes_over_workspace_move_bytes_the_op_does_not_name)
{
	struct op op = { .kind = OP_SORT, .dtype = DT_FP32, .shape = { .rows = 4, .cols = 8000 } };
	struct op_launch at = geometry(4, 1024);
	struct gpu_mem none = { 0 };

	CHECK_U64(form(KERNEL_CHAIN, &op, &at, (struct kernel){ .passes = 7 }, none).memory, 7 * 128000 / 8);
	op.shape.rows = 500;
	CHECK_U64(form(KERNEL_CHAIN, &op, &at, (struct kernel){ .passes = 7 }, none).memory, 7 * 16000000 / 4);
}

/* Two levels of a tree by 4 threads a row, each with barriers: 256 elements of 10 instructions are the CTA's own 20 ns. */
TEST(cycles_of_a_tree_hold_its_own_instructions)
{
	struct op op = { .kind = OP_SCAN, .dtype = DT_FP32, .shape = { .rows = 1, .cols = 256 } };
	struct op_launch at = geometry(1, 4);
	struct kernel k = { .items = 64, .loop_cycles = 100, .tree_cycles = 50, .instructions = 100 };
	struct gpu_time t = form(KERNEL_CHAIN, &op, &at, k, (struct gpu_mem){ 0 });

	CHECK_U64(t.pipe, 20000);
	CHECK_U64(t.chain, 100000 + 2 * 50000 - 20000);
}

/* A CTA of 128 threads loads 8 vectors of 16 bytes a thread before it waits: 16 KiB a trip. The first is the head's. */
TEST(a_walk_makes_as_many_trips_as_its_share_of_the_bytes_needs)
{
	struct gpu g = device();
	struct op_launch at = geometry(2, 128);
	struct op o = { .kind = OP_GEMM, .dtype = DT_BF16, .shape = { .m = 1, .n = 64, .k = 1024 } };
	struct op_stream s = { 0 };
	struct gpu_launch l = {
		.stream = &s,
		.op = &o,
		.at = &at,
		.kernel = { .form = KERNEL_WALK, .start = 1, .steps = 1, .vector_bytes = 16, .unroll = 8 }
	};
	struct gpu_time t = { 0 };

	l.mem = (struct gpu_mem){ .read = 131072, .read_hit = 131072 };
	gpu_walk(&g, &l, &t);
	CHECK_U64(t.start, 200000);
	CHECK_U64(t.chain, 3 * 200000);
	l.kernel.unroll = 32;
	gpu_walk(&g, &l, &t);
	CHECK_U64(t.chain, 0);
	/* Eighths of 32 x 64 results, 16 square: strips of 16 rows and 16 columns, 64 KiB. */
	o.shape = (struct op_shape){ .batch = 1, .m = 32, .n = 64, .k = 1024 };
	at = geometry(8, 128);
	l.kernel.unroll = 8;
	gpu_walk(&g, &l, &t);
	CHECK_U64(t.chain, 3 * 200000);
	/* On tensor cores the SM with most CTAs multiplies for its share of 2 Mi: 4096 FLOP a cycle. */
	l.kernel.tensor = 1;
	cfg.gpu.common.clock_tensor = 1000000;
	gpu_walk(&g, &l, &t);
	CHECK_U64(t.pipe, 2 * 262144 / 4096 * 1000);
	/* Behind a launch whose y is parts: four at once. */
	{
		struct op_launch split = { .grid = { 5, 13, 1 }, .block = { 128, 1, 1 } };
		struct gpu_launch both[2] = { { .at = &split }, l };

		both[1].nth = 1;
		both[1].mem = (struct gpu_mem){ 0 };
		both[1].kernel = (struct kernel){
			.moves = KERNEL_MOVES_WRITES, .start = 1, .steps = 1, .unroll = 4, .joins = 2
		};
		gpu_walk(&g, &both[1], &t);
		CHECK_U64(t.chain, 3 * 200000);
	}
	/* No geometry, as of a set: plain. */
	at = geometry(1, 1);
	gpu_walk(&g, &l, &t);
	CHECK_U64(t.start, 200000);
}

TEST(a_top_k_takes_a_turn_for_each_it_selects)
{
	struct gpu g = device();
	struct op_launch at = geometry(4, 128);
	struct op o = { .kind = OP_TOPK, .dtype = DT_FP32, .shape = { .rows = 4, .cols = 64, .top = 6 } };
	struct gpu_launch l = { .op = &o,
		                .at = &at,
		                .kernel = { .form = KERNEL_CHAIN, .selects = 1, .loop_cycles = 700 } };
	struct gpu_time t = { 0 };

	gpu_chain(&g, &l, &t);
	CHECK_U64(t.chain, 6 * 700000);
}

TEST(small_sets_go_word_by_word)
{
	struct op op = { .kind = OP_COPY };
	struct op_launch at = geometry(1, 1);
	struct kernel k = { .name = "set" };
	ps_t small = form(KERNEL_SET, &op, &at, k, (struct gpu_mem){ .write = 4000 }).start;

	CHECK_U64(small - form(KERNEL_SET, &op, &at, k, (struct gpu_mem){ .write = 9000 }).start, 800000); /* 5 GB/s */
}

TEST(code_that_other_kernels_displaced_is_fetched_again)
{
	struct gpu g = device();
	struct op op = { .kind = OP_ELEMENTWISE, .shape = { .elems = 1024 } };
	struct op_launch at = geometry(1, 128);
	struct gpu_launch l = { .op = &op, .at = &at, .kernel = { .form = KERNEL_STREAM, .code_cycles = 800 } };
	ps_t warm = gpu_time(&g, &l).total;

	cfg.gpu.common.code = 16;
	l.others = 4;
	CHECK_U64(gpu_time(&g, &l).total - warm, 200000);
	l.others = 16;
	CHECK_U64(gpu_time(&g, &l).total - warm, 800000);
	l.others = UINT32_MAX;
	CHECK_U64(gpu_time(&g, &l).total - warm, 800000);
}

TEST(a_loop_reads_slower_what_was_just_written)
{
	struct gpu g = device();
	struct op op = { .kind = OP_ELEMENTWISE, .shape = { .elems = 512 } };
	struct op_launch at = geometry(1, 128);
	struct gpu_launch l = { .op = &op, .at = &at, .kernel = { .form = KERNEL_STREAM, .steps = 1, .items = 4 } };
	ps_t old;

	l.mem = (struct gpu_mem){ .read = 4096, .read_hit = 4096 };
	old = gpu_time(&g, &l).chain;
	cfg.gpu.common.step_fresh = 50000;
	cfg.gpu.common.fresh = 4096;
	l.fresh = 4095;
	CHECK_U64(gpu_time(&g, &l).chain, old);
	l.fresh = 4096;
	CHECK_U64(gpu_time(&g, &l).chain, old + 4 * 50000);
	/* A row's warps wait for half of that, less an iteration's instructions. */
	op = (struct op){ .kind = OP_REDUCE, .dtype = DT_FP32, .shape = { .rows = 1, .cols = 1024 } };
	l.kernel = (struct kernel){ .form = KERNEL_ROWS, .steps = 1, .items = 4, .loop_cycles = 10 };
	CHECK_U64(gpu_time(&g, &l).chain, 2 * (210000 + 15000));
	l.kernel.loop_cycles = 30;
	CHECK_U64(gpu_time(&g, &l).chain, 2 * 230000);
	/* Bytes that have left the L2 meanwhile are DRAM's. */
	l.mem.read_hit = 0;
	l.kernel.form = KERNEL_STREAM;
	op.shape.elems = 512;
	CHECK_U64(gpu_time(&g, &l).chain, 4 * 430000);
}

/* a writes x, b reads it twice over two ops, a set stands between. */
TEST(launches_between_are_counted_round_a_stream_and_first_reads_are_fresh)
{
	struct op_launch at[4] = {
		{ .name = "a" }, { .name = "s", .kind = TRACE_MEMSET }, { .name = "b" }, { .name = "b" }
	};
	struct op_tensor x = { .name = "x", .bytes = 100 };
	struct op_operand touch[3] = { { .write = true, .bytes = 100, .touched = 100 },
		                       { .bytes = 100, .touched = 60 },
		                       { .bytes = 100, .touched = 100 } };
	struct op ops[4];
	struct op_stream s = { .ops = ops,
		               .n_ops = 4,
		               .tensors = &x,
		               .n_tensors = 1,
		               .operands = touch,
		               .n_operands = 3,
		               .launches = at,
		               .n_launches = 4 };
	struct gpu_work w;
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct kernels *k = kernels_load(NULL, &e);

	memset(ops, 0, sizeof ops);
	for (uint32_t i = 0; i < 4; i++)
		ops[i] = (struct op){ .kind = OP_ELEMENTWISE, .rule = "", .first_launch = i, .n_launches = 1 };
	ops[0].n_operands = ops[2].n_operands = ops[3].n_operands = 1;
	ops[2].first_operand = 1;
	ops[3].first_operand = 2;
	CHECK_OK(k ? 0 : -1, e);
	CHECK_OK(gpu_work_make(&s, k, a, &w, &e), e);
	CHECK_U64(w.launches[0].others, 2);
	CHECK_U64(w.launches[2].others, 1); /* the second b of the round before, then a */
	CHECK_U64(w.launches[3].others, 0);
	CHECK_U64(w.launches[0].fresh, 0);
	CHECK_U64(w.launches[2].fresh, 60);
	CHECK_U64(w.launches[3].fresh, 0);
	CHECK_OK(gpu_work_repeat(&w, 2, 1, &e), e);
	CHECK_U64(w.launches[2].others, 0);
	kernels_free(k);
	arena_free(a);
}

SUITE(t_gpu, T(code_that_other_kernels_displaced_is_fetched_again), T(a_loop_reads_slower_what_was_just_written),
      T(launches_between_are_counted_round_a_stream_and_first_reads_are_fresh),
      T(overlap_lies_between_the_larger_and_the_sum), T(overlap_never_falls_when_a_part_grows),
      T(memory_time_is_drams_or_the_l2s), T(a_step_lies_between_l2_and_dram_by_what_hits),
      T(math_runs_on_the_pipe_of_its_format), T(blocks_of_queries_see_the_tiles_their_keys_lie_in),
      T(attention_takes_turns_between_shared_memory_and_matrix_instructions), T(a_barrier_costs_more_with_more_threads),
      T(a_flow_of_one_round_is_launch_head_and_bytes), T(rounds_hide_heads_under_the_bytes_of_other_ctas),
      T(a_flow_takes_no_less_than_its_ctas_launches), T(ctas_in_order_pay_their_loop_once),
      T(guarded_ends_and_serial_elements_are_counted_from_the_grid), T(first_loads_wait_for_the_slowest_operand),
      T(rows_are_shared_by_the_threads_that_the_geometry_says), T(a_copy_of_elements_that_lie_apart_waits_for_sectors),
      T(a_large_copy_is_slow_where_its_bytes_are_no_whole_pages),
      T(an_unrolled_warp_row_pays_for_its_guards_and_loads_in_groups),
      T(a_second_pass_hits_the_l1_where_rows_of_an_sm_fit),
      T(a_second_pass_reads_dram_where_rows_under_way_outgrow_the_l2), T(chains_count_passes_by_items_turns_or_ctas),
      T(passes_over_workspace_move_bytes_the_op_does_not_name), T(cycles_of_a_tree_hold_its_own_instructions),
      T(bytes_flow_better_beside_arithmetic_than_beside_loads), T(small_sets_go_word_by_word),
      T(a_walk_makes_as_many_trips_as_its_share_of_the_bytes_needs), T(a_top_k_takes_a_turn_for_each_it_selects));
