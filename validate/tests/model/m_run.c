/* Closed forms bound the simulation: one product on a machine lies between what it must cost and what it may. */
#include "sim/engine/run.h"
#include "sim/engine/run_memo.h"
#include "sim/study/limits.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

/* 2.4576 TB/s of HBM3 less its refresh: one row of the numbers in configs/npu/dsocr.yaml, written out. */
#define MACHINE \
	"cores: 64\nclock: 1.4 GHz\ndispatch: {latency: 150 ns, interval: 20 ns, launch: 2 us}\n" \
	"dma: {tile: 512 KiB, stages: 16, outstanding: 64}\nfusion: {enabled: false}\n" \
	"dram: {kind: hbm3-6400, channels: 48}\nl2: {size: 64 MiB, banks: 64}\n"

struct bed {
	struct arena *a;
	struct machine_conf *c;
	struct err e;
	struct run_result x;
};

static ps_t run(struct bed *b, const struct op_stream *s, const char *const *sets, int n, enum run_start start)
{
	struct run_opts o = { .start = start, .seed = 1 };

	machine_conf_free(b->c);
	b->c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", sets, n, &b->e);
	CHECK_OK(b->c ? 0 : -1, b->e);
	CHECK_OK(run_stream(s, b->c, &o, b->a, &b->x, &b->e), b->e);
	return b->x.total_ps;
}

static void bed_up(struct bed *b)
{
	*b = (struct bed){ .a = arena_new(0), .e = ERR_INIT };
}

static void bed_down(struct bed *b)
{
	machine_conf_free(b->c);
	arena_free(b->a);
}

TEST(a_tiny_product_costs_its_latencies_and_little_more)
{
	struct bed b;
	ps_t t, least;

	bed_up(&b);
	t = run(&b, synth_product(b.a, 1, 64, 64), NULL, 0, RUN_COLD);
	/* doorbell; the weight comes while the dispatch latency runs; math; the result's way to the L2 and its answer
	 */
	least = 2 * PS_US + dram_unloaded(&b.c->cfg.mem.dram, DRAM_ROW_EMPTY) + b.c->cfg.mem.l2.miss_latency +
	        b.c->cfg.mem.l2.latency;
	CHECK(t >= least);
	CHECK(t <= least + 1 * PS_US);
	bed_down(&b);
}

TEST(a_large_cold_product_runs_at_the_memorys_rate_less_refresh)
{
	struct bed b;
	const uint64_t bytes = UINT64_C(2) * 129280 * 1280;
	ps_t t, pins;

	bed_up(&b);
	t = run(&b, synth_product(b.a, 1, 129280, 1280), NULL, 0, RUN_COLD);
	pins = clock_transfer(bytes, dram_peak(&b.c->cfg.mem.dram));
	CHECK(t >= pins);
	/* all-bank refresh takes (tRFC + tRP + tRCD) / tREFI = 9.9 % (validate/data/dram), the cores' streams closing each
	 * other's rows some more: 80 % on the command path (npusim probe dram --tiles); start and end a few us */
	CHECK(t <= pins / 80 * 100 + 5 * PS_US);
	CHECK_U64(b.x.roofline_bound, RES_DRAM);
	CHECK_U64(b.x.dram_read_bytes, bytes + 1280 * 2);
	bed_down(&b);
}

TEST(a_warm_product_is_not_bound_by_dram)
{
	struct bed b;
	ps_t cold, warm;

	bed_up(&b);
	cold = run(&b, synth_product(b.a, 1, 4096, 4096), NULL, 0, RUN_COLD);
	warm = run(&b, synth_product(b.a, 1, 4096, 4096), NULL, 0, RUN_STEADY);
	CHECK(warm < cold);
	CHECK_U64(b.x.dram_read_bytes, 0);
	CHECK(warm >= clock_transfer(UINT64_C(2) * 4096 * 4096, l2_bandwidth(&b.c->cfg.mem.l2, b.c->cfg.clock)));
	bed_down(&b);
}

TEST(a_product_bound_by_its_units_takes_their_closed_form_and_a_fill)
{
	const struct unit_job job = { .work = UNIT_PRODUCT, .dtype = DT_BF16, .m = 1, .n = 8192, .k = 4096 };
	struct unit_env gemv;
	struct unit_plan p;
	struct bed b;
	ps_t t, math;

	bed_up(&b);
	t = run(&b, synth_product(b.a, 1, 8192, 4096),
	        (const char *[]){ "gemv.units=1", "gemv.lanes=2", "matrix.units=0" }, 3, RUN_COLD);
	gemv = machine_unit(&b.c->cfg, UNIT_GEMV);
	CHECK(unit_table[UNIT_GEMV]->plan(&gemv, &job, &p));
	math = p.span;
	CHECK(t >= math);
	CHECK(t <= math + math / 20 + 5 * PS_US);
	CHECK_U64(b.x.ops[0].bound, RES_GEMV);
	bed_down(&b);
}

TEST(many_rows_go_to_the_matrix_units_and_one_row_to_the_gemv_units)
{
	struct bed b;

	bed_up(&b);
	run(&b, synth_product(b.a, 512, 4096, 1280), NULL, 0, RUN_STEADY);
	CHECK(b.x.ops[0].limit_ps > 0);
	for (size_t i = 0; i < b.x.n_stats; i++)
		if (strcmp(b.x.stats[i].name, "gemv.macs") == 0)
			CHECK_U64(b.x.stats[i].value, 0);
		else if (strcmp(b.x.stats[i].name, "matrix.macs") == 0)
			CHECK_U64(b.x.stats[i].value, UINT64_C(512) * 4096 * 1280);
	run(&b, synth_product(b.a, 1, 4096, 1280), NULL, 0, RUN_STEADY);
	for (size_t i = 0; i < b.x.n_stats; i++)
		if (strcmp(b.x.stats[i].name, "gemv.macs") == 0)
			CHECK_U64(b.x.stats[i].value, UINT64_C(4096) * 1280);
	bed_down(&b);
}

TEST(a_product_too_large_for_sram_is_done_in_tiles_with_all_its_work)
{
	struct bed b;
	uint64_t macs = 0;

	bed_up(&b);
	run(&b, synth_product(b.a, 4096, 4096, 4096), (const char *[]){ "sram.size=64 KiB" }, 1, RUN_COLD);
	CHECK_U64(b.x.map->prog.n_cmds, 1);
	CHECK(b.x.map->prog.cmds[0].fixed_bytes + 2 * b.x.map->prog.cmds[0].slot_bytes <=
	      b.c->cfg.cores * (UINT64_C(64) << 10));
	for (size_t i = 0; i < b.x.n_stats; i++)
		if (strcmp(b.x.stats[i].name, "matrix.macs") == 0)
			macs = b.x.stats[i].value;
	CHECK_U64(macs, UINT64_C(4096) * 4096 * 4096);
	CHECK(b.x.total_ps >= b.x.roofline_ps);
	bed_down(&b);
}

TEST(sram_smaller_than_one_element_is_a_configuration_that_cannot_work)
{
	struct bed b;
	struct run_opts o = { .start = RUN_COLD, .seed = 1 };
	const char *sets[] = { "sram.size=4 KiB", "cores=1", "sram.pin=4095 B" };

	bed_up(&b);
	b.c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", sets, 3, &b.e);
	CHECK_OK(b.c ? 0 : -1, b.e);
	CHECK(run_stream(synth_product(b.a, 1, 64, 8192), b.c, &o, b.a, &b.x, &b.e) < 0);
	CHECK_U64(b.e.kind, ERR_CONFIG);
	CHECK_HAS(b.e.msg, "sram.size");
	bed_down(&b);
}

TEST(a_mapping_may_be_told_and_fixed)
{
	static const char *const sets[] = { "mapping.loops=nmk", "mapping.stays=a", "mapping.tile_k=512",
		                            "mapping.unit=matrix" };
	const struct op_stream *s;
	struct run_memo *memo;
	struct map_log tell = { .op = 0 };
	struct bed b;

	bed_up(&b);
	s = synth_product(b.a, 512, 4096, 4096);
	memo = run_memo_new(&b.e);
	CHECK_OK(memo ? 0 : -1, b.e);
	run(&b, s, sets, 4, RUN_COLD);
	CHECK_OK(run_memo_tell(memo, s, &b.c->cfg, MAP_COLD, &tell, b.a, &b.e), b.e);
	CHECK(tell.n > 0 && tell.entry[0].chosen);
	for (int i = 0; i < tell.n; i++) {
		const struct map_log_entry *w = &tell.entry[i];

		CHECK(w->nest && w->tile[2] == 512 && strncmp(w->why, "systolic", 8) == 0);
		CHECK(strcmp(w->stays, "a") == 0 ||
		      w->tile[1] == 4096); /* with all columns in one tile A goes by once */
		CHECK(w->chosen == (i == 0));
		/* Each operand at least once; A, which stays, no more than that. */
		CHECK(w->moved_bytes >= (UINT64_C(512) * 4096 + UINT64_C(4096) * 4096 + UINT64_C(512) * 4096) * 2);
	}
	CHECK_U64(tell.entry[0].tiles, b.x.map->prog.cmds[0].tiles);
	run(&b, s, NULL, 0, RUN_COLD);
	tell.op = 0;
	CHECK_OK(run_memo_tell(memo, s, &b.c->cfg, false, &tell, b.a, &b.e), b.e);
	for (int i = 1; i < tell.n; i++) /* hardly any is better than what was chosen: 2 % of the product of both */
		CHECK((double)tell.entry[i].cold * (double)tell.entry[i].warm >=
		      0.98 * (double)tell.entry[0].cold * (double)tell.entry[0].warm);
	run_memo_free(memo);
	bed_down(&b);
}

static uint64_t stat_of(const struct run_result *x, const char *name)
{
	for (size_t i = 0; i < x->n_stats; i++)
		if (strcmp(x->stats[i].name, name) == 0)
			return x->stats[i].value;
	return 0;
}

/* Partial sums leave a core through its DMA engines, on an ideal network too: these are busy with them beside what they move. */
TEST(sums_take_the_engines_of_an_ideal_network)
{
	for (int f = 0; f < 2; f++) {
		struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = f ? RUN_ANALYTIC : RUN_EVENT };
		const struct op_stream *s;
		uint64_t port, sums;
		struct bed b;

		bed_up(&b);
		s = synth_product(b.a, 256, 64, 16384);
		b.c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", NULL, 0, &b.e);
		CHECK_OK(b.c ? 0 : -1, b.e);
		port = b.c->cfg.dma.engines * b.c->cfg.dma.width;
		CHECK_U64(machine_core_port(&b.c->cfg), port);
		CHECK_U64(machine_unit(&b.c->cfg, UNIT_MATRIX).swap, port);
		CHECK_OK(run_stream(s, b.c, &o, b.a, &b.x, &b.e), b.e);
		sums = stat_of(&b.x, "noc.exchange_ps");
		/* of 256 x 64 sums of 4 bytes, over 64 cores, each has at least a 64th to send */
		CHECK(sums >= clock_span(256 * 64 * 4 / 64 / port, b.c->cfg.clock));
		if (!f) {
			const uint64_t moved = stat_of(&b.x, "dma.read_bytes") + stat_of(&b.x, "dma.write_bytes");

			CHECK(stat_of(&b.x, "dma.busy_ps") >=
			      sums + clock_transfer(moved, dma_rate(&b.c->cfg.dma, 64) * b.c->cfg.clock * 1000) - 1000);
		}
		CHECK_U64(stat_of(&b.x, "noc.busy_ps"), 0);
		bed_down(&b);
	}
}

/* It is the run's own mapping that is told, also where operands are on chip before. */
TEST(a_mapping_that_is_told_is_the_one_that_ran)
{
	static const enum run_start starts[] = { RUN_COLD, RUN_STEADY, RUN_RESIDENT };

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		struct map_log tell = { .op = 0 };
		struct run_memo *memo;
		const struct op_stream *s;
		struct bed b;

		bed_up(&b);
		s = synth_product(b.a, 4096, 4096, 4096);
		memo = run_memo_new(&b.e);
		run(&b, s, NULL, 0, starts[i]);
		CHECK_OK(run_memo_tell(memo, s, &b.c->cfg, run_map_start(starts[i]), &tell, b.a, &b.e), b.e);
		CHECK_U64(tell.entry[0].tiles, b.x.map->prog.cmds[0].tiles);
		run_memo_free(memo);
		bed_down(&b);
	}
}

TEST(a_mapping_that_cannot_be_is_refused)
{
	const char *const sets[] = { "mapping.tile_m=4096", "mapping.tile_n=4096", "mapping.tile_k=4096",
		                     "sram.size=64 KiB" };
	struct run_opts o = { .start = RUN_COLD, .seed = 1 };
	struct bed b;

	bed_up(&b);
	b.c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", sets, 4, &b.e);
	CHECK_OK(b.c ? 0 : -1, b.e);
	CHECK(run_stream(synth_product(b.a, 4096, 4096, 4096), b.c, &o, b.a, &b.x, &b.e) < 0);
	CHECK_U64(b.e.kind, ERR_CONFIG);
	CHECK_HAS(b.e.msg, "'mapping' leaves no way to do op 0");
	bed_down(&b);
}

TEST(two_machines_in_one_process_do_not_disturb_each_other)
{
	struct bed a, b;
	ps_t first;

	bed_up(&a);
	bed_up(&b);
	first = run(&a, synth_product(a.a, 1, 4096, 4096), NULL, 0, RUN_STEADY);
	run(&b, synth_product(b.a, 8, 1024, 512), (const char *[]){ "cores=3", "l2.size=0" }, 2, RUN_STEADY);
	CHECK_U64(run(&a, synth_product(a.a, 1, 4096, 4096), NULL, 0, RUN_STEADY), first);
	bed_down(&a);
	bed_down(&b);
}

TEST(limits_say_that_a_product_from_dram_wants_bandwidth_and_can_build_every_step)
{
	struct bed b;
	struct limits_question q = { .run = { .start = RUN_COLD, .seed = 1 }, .step_ppm = 100000 };
	struct limits_result r;
	char path[512];

	bed_up(&b);
	snprintf(path, sizeof path, "%s/configs/npu/edge.yaml", test_root());
	q.config = path;
	q.stream = synth_product(b.a, 1, 8192, 4096);
	CHECK_OK(limits_run(&q, b.a, &r, &b.e), b.e);
	CHECK(r.n > 20);
	CHECK_STR(r.rows[0].key, "dram.bandwidth");
	/* a tenth more of what bounds it: close to a tenth, in time 1 - 1 / 1.1 */
	CHECK(limits_gain(&r, &r.rows[0], 100000) > 0.08);
	CHECK(limits_gain(&r, &r.rows[0], 100000) < 0.0920);
	for (size_t i = 0; i < r.n && r.rows[i].move <= LIMITS_LESS; i++) {
		CHECK(!r.rows[i].refused);
		CHECK(r.rows[i].step > 0 && r.rows[i].step <= 1);
	}
	bed_down(&b);
}

/* The machine of dsocr's arrays: 64 cores of 32 x 128 at 1.4 GHz. */
TEST(a_roofline_is_macs_at_the_fastest_unit_or_bytes_over_the_pins)
{
	static const char *const arrays[] = { "matrix.rows=32", "matrix.cols=128" }, *const slow[] = {
		"dram.channels=12", "matrix.rows=32", "matrix.cols=128"
	};
	struct bed b;

	bed_up(&b);
	run(&b, synth_product(b.a, 512, 8192, 2048), arrays, 2, RUN_STEADY);
	CHECK_U64(b.x.roofline_ps, clock_span(div_up(UINT64_C(512) * 8192 * 2048, 64 * 32 * 128), 1400000));
	CHECK_U64(b.x.roofline_bound, RES_MATRIX);
	CHECK_U64(b.x.roofline_ps / PS_US, 23);
	/* 12 channels are 614.4 GB/s: 33.5 MB take 54.6 us, its multiply-adds 0.05 */
	run(&b, synth_product(b.a, 1, 4096, 4096), slow, 3, RUN_COLD);
	CHECK_U64(b.x.roofline_bound, RES_DRAM);
	CHECK_U64(b.x.compulsory_bytes, UINT64_C(2) * 4096 * 4096 + 2 * 4096);
	CHECK_U64(b.x.roofline_ps, clock_transfer(b.x.compulsory_bytes, UINT64_C(614400000000)));
	CHECK_U64(b.x.roofline_ps / (100 * PS_NS), 546);
	CHECK_U64(b.x.floor_ps[RES_MATRIX], clock_span(div_up(4096 * 4096, 64 * 32 * 128), 1400000));
	CHECK(b.x.mapped_ps >= b.x.roofline_ps && b.x.mapped_ps <= b.x.total_ps);
	bed_down(&b);
}

TEST(compulsory_is_each_tensor_once_as_stored_less_what_the_chip_could_keep)
{
	const uint64_t weights = UINT64_C(2) * 65536 * 1280, small = 2 * 1280, made = 2 * 65536;
	struct bed b;

	bed_up(&b);
	run(&b, synth_product(b.a, 1, 65536, 1280), NULL, 0, RUN_COLD);
	CHECK_U64(b.x.compulsory_bytes, weights + small); /* the result fits the L2 */
	run(&b, synth_product(b.a, 1, 65536, 1280), NULL, 0, RUN_STEADY);
	CHECK_U64(b.x.compulsory_bytes, weights + small - (UINT64_C(64) << 20));
	run(&b, synth_product(b.a, 1, 4096, 4096), NULL, 0, RUN_STEADY);
	CHECK_U64(b.x.compulsory_bytes, 0);
	CHECK_U64(b.x.roofline_bound, RES_MATRIX);
	for (int i = 0; i < 2; i++) { /* nothing is kept: the result must be written, in any run */
		run(&b, synth_product(b.a, 1, 65536, 1280), (const char *[]){ "l2.size=0" }, 1,
		    i ? RUN_STEADY : RUN_COLD);
		CHECK_U64(b.x.compulsory_bytes, weights + small + made);
		CHECK(b.x.dram_read_bytes + b.x.dram_write_bytes >= b.x.compulsory_bytes);
	}
	/* four bits, and a 16-bit scale to 128 of them */
	run(&b, synth_product(b.a, 1, 65536, 1280), (const char *[]){ "weights.dtype=int4" }, 1, RUN_COLD);
	CHECK_U64(b.x.compulsory_bytes, weights / 4 + weights / 128 + small);
	bed_down(&b);
}

TEST(a_roofline_knows_formats_and_which_units_there_are)
{
	const uint64_t macs = UINT64_C(2048) * 4096 * 4096;
	static const char *const cases[][4] = {
		{ "matrix.rows=64" },
		{ "weights.dtype=fp8", "activations.dtype=fp8" },
		{ "weights.dtype=int4" }, /* dequantised: the rate of 16 bits */
		{ "weights.dtype=int4", "matrix.w4a16=true" },
		{ "matrix.units=0" },
		{ "matrix.units=0", "gemv.units=0" },
	};
	static const uint64_t a_cycle[] = { 64 * 64 * 64,     64 * 64 * 64 * 2, 64 * 64 * 64,
		                            64 * 64 * 64 * 4, 64 * 4 * 32,      64 * 4 * 32 / 2 };
	static const enum res res[] = { RES_MATRIX, RES_MATRIX, RES_MATRIX, RES_MATRIX, RES_GEMV, RES_VECTOR };

	for (int i = 0; i < 6; i++) {
		struct bed b;
		int n = 0;

		while (n < 4 && cases[i][n])
			n++;
		bed_up(&b);
		run(&b, synth_product(b.a, 2048, 4096, 4096), cases[i], n, RUN_STEADY);
		CHECK_U64(b.x.roofline_bound, res[i]);
		CHECK_U64(b.x.macs_ps, clock_transfer(macs, a_cycle[i] * 1400000000));
		CHECK(b.x.roofline_ps == b.x.macs_ps && b.x.roofline_ps <= b.x.total_ps);
		bed_down(&b);
	}
}

/* 4 TB/s promised over 16 channels, a DMA that carries 2: not DRAM's bandwidth is what is missing. */
TEST(a_memory_that_is_never_at_its_peak_is_not_what_bounds)
{
	static const char *const sets[] = { "clock=1 GHz",           "cores=32",        "dram.channels=16",
		                            "dram.bandwidth=4 TB/s", "dma.tile=64 KiB", "dma.stages=8" };
	const struct run_opts how[] = { { .start = RUN_COLD }, { .start = RUN_COLD, .fidelity = RUN_ANALYTIC } };
	struct bed b;

	bed_up(&b);
	for (int i = 0; i < 2; i++) {
		b.c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", sets, 6, &b.e);
		CHECK_OK(b.c ? 0 : -1, b.e);
		memset(&b.x, 0, sizeof b.x);
		CHECK_OK(run_stream(synth_product(b.a, 1, 16384, 4096), b.c, &how[i], b.a, &b.x, &b.e), b.e);
		CHECK(b.x.ops[0].bound == RES_LATENCY || b.x.ops[0].bound == RES_DMA);
		CHECK(b.x.stall_ps[RES_DRAM] * 10 < b.x.total_ps);
		machine_conf_free(b.c);
		b.c = NULL;
	}
	/* With a memory that its channels carry it is DRAM. */
	run(&b, synth_product(b.a, 1, 16384, 4096), (const char *[]){ "dram.channels=16" }, 1, RUN_COLD);
	CHECK_U64(b.x.ops[0].bound, RES_DRAM);
	bed_down(&b);
}

/* 2.4 TB/s over some 400 ns are 1 MB; SRAM holds a quarter of that, or 16 times as much. */
TEST(too_few_tiles_in_flight_are_latency_and_more_of_them_are_bandwidth)
{
	for (int f = 0; f < 2; f++)
		for (int i = 0; i < 2; i++) {
			const struct run_opts o = { .start = RUN_COLD, .fidelity = f ? RUN_ANALYTIC : RUN_EVENT };
			const char *sets[] = { i ? "sram.size=256 KiB" : "sram.size=4 KiB" };
			struct bed b;

			bed_up(&b);
			b.c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", sets, 1, &b.e);
			CHECK_OK(b.c ? 0 : -1, b.e);
			CHECK_OK(run_stream(synth_product(b.a, 1, 16384, 4096), b.c, &o, b.a, &b.x, &b.e), b.e);
			CHECK_U64(b.x.ops[0].bound, i ? RES_DRAM : RES_LATENCY);
			CHECK(i ? 5 * b.x.pins_ps > 3 * b.x.total_ps : 2 * b.x.pins_ps < b.x.total_ps);
			bed_down(&b);
		}
}

SUITE(m_run, T(limits_say_that_a_product_from_dram_wants_bandwidth_and_can_build_every_step),
      T(a_tiny_product_costs_its_latencies_and_little_more),
      T(a_large_cold_product_runs_at_the_memorys_rate_less_refresh), T(a_warm_product_is_not_bound_by_dram),
      T(a_product_bound_by_its_units_takes_their_closed_form_and_a_fill),
      T(many_rows_go_to_the_matrix_units_and_one_row_to_the_gemv_units),
      T(a_product_too_large_for_sram_is_done_in_tiles_with_all_its_work),
      T(sram_smaller_than_one_element_is_a_configuration_that_cannot_work), T(a_mapping_may_be_told_and_fixed),
      T(sums_take_the_engines_of_an_ideal_network), T(a_mapping_that_is_told_is_the_one_that_ran),
      T(a_mapping_that_cannot_be_is_refused), T(two_machines_in_one_process_do_not_disturb_each_other),
      T(a_roofline_is_macs_at_the_fastest_unit_or_bytes_over_the_pins),
      T(compulsory_is_each_tensor_once_as_stored_less_what_the_chip_could_keep),
      T(a_roofline_knows_formats_and_which_units_there_are), T(a_memory_that_is_never_at_its_peak_is_not_what_bounds),
      T(too_few_tiles_in_flight_are_latency_and_more_of_them_are_bandwidth));
