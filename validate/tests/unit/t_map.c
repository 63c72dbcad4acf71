/* t_map.c - what the mapper must do for one op at a time: traces by hand, on a small machine. */
#include "sim/map/map.h"

#include "sim/engine/run.h"
#include "sim/lower/lower.h"
#include "validate/tests/mktrace.h"
#include "validate/tests/synth.h"

#define MACHINE \
	"cores: 4\nsram: {size: 64 KiB}\ndma: {tile: 16 KiB}\nl2: {size: 4 MiB}\n" \
	"dram: {kind: hbm3-6400, capacity: 16 GiB}\n"

#define LARGE "cores: 64\nsram: {size: 256 KiB}\n"

struct bed {
	const char *machine;
	struct mk m;
	struct rules *r;
	struct op_stream s;
	struct lower_stats st;
	struct machine_conf *c;
	struct run_result x;
	struct err e;
};

static void bed_up(struct bed *b)
{
	memset(b, 0, sizeof *b);
	b->machine = MACHINE;
	mk_open(&b->m);
	b->r = rules_load(NULL, &b->e);
	CHECK_OK(b->r ? 0 : -1, b->e);
}

static void bed_down(struct bed *b)
{
	machine_conf_free(b->c);
	rules_free(b->r);
	mk_close(&b->m);
}

/* The trace so far on the machine with one value changed; NULL: as it is. */
static int run_from(struct bed *b, enum run_start start, const char *set, enum run_fidelity fidelity)
{
	const struct run_opts o = { .start = start, .seed = 1, .fidelity = fidelity };

	err_clear(&b->e);
	machine_conf_free(b->c);
	b->c = machine_conf_parse(b->machine, strlen(b->machine), "m", &set, set != NULL, &b->e);
	CHECK_OK(b->c ? 0 : -1, b->e);
	CHECK_OK(lower_trace(&b->m.t, b->r, b->m.a, &b->s, &b->st, &b->e), b->e);
	return run_stream(&b->s, b->c, &o, b->m.a, &b->x, &b->e);
}

static int run(struct bed *b, const char *set, enum run_fidelity fidelity)
{
	return run_from(b, RUN_COLD, set, fidelity);
}

static uint64_t stat(const struct bed *b, const char *name)
{
	for (size_t i = 0; i < b->x.n_stats; i++)
		if (strcmp(b->x.stats[i].name, name) == 0)
			return b->x.stats[i].value;
	return 0;
}

/* Bytes that the program loads from a tensor, or stores to it, all within it. */
static uint64_t moved(const struct bed *b, uint32_t tensor, bool store)
{
	const struct isa_prog *p = &b->x.map->prog;
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_insns; i++) {
		const struct isa_insn *x = &p->insns[i];

		if (x->code != (store ? ISA_STORE : ISA_LOAD) || x->tensor != tensor)
			continue;
		CHECK(x->offset + x->bytes <= b->s.tensors[tensor].bytes);
		n += x->bytes;
	}
	return n;
}

/* What the op reads comes in, once or more; what it makes goes out, once. */
static void check_moves(const struct bed *b)
{
	for (uint32_t i = 0; i < b->s.ops[0].n_operands; i++) {
		const struct op_operand *x = &b->s.operands[b->s.ops[0].first_operand + i];

		if (x->write)
			CHECK_U64(moved(b, x->tensor, true), x->touched);
		else
			CHECK(moved(b, x->tensor, false) >= x->touched);
	}
}

#define SUM    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, sum_functor> >", "aten::sum"
#define MM     "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "aten::mm"
#define BMM    "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "aten::bmm"
#define ATTEND "void pytorch_flash::flash_fwd_kernel<traits>", "aten::_scaled_dot_product_flash_attention"

TEST(what_is_larger_than_the_scratchpad_is_done_in_tiles)
{
	static const struct {
		const char *kernel, *op, *args;
	} ops[] = {
		{ SUM, "f32[512,2,8256] =[1] =False" }, /* half of it is results */
		{ SUM, "f32[2,4000000] =[0] =False" },
		{ BMM, "bf16[4096,1,128] bf16[4096,128,256]" }, /* one row each: only the batch can be cut */
		{ MM, "bf16[20000,128] bf16[128,512]" },
		{ MM, "bf16[1,128] bf16[128,1000000]" },   /* one row of results does not fit */
		{ MM, "bf16[1,1000000] bf16[1000000,8]" }, /* nor one of what is multiplied */
		{ MM, "bf16[1,300000] bf16[300000,300]" },
		{ ATTEND, "bf16[4096,16,1,64] bf16[4096,16,8,64] bf16[4096,16,8,64]" },
	};

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
			struct bed b;

			bed_up(&b);
			mk_kernel(&b.m, ops[i].kernel, ops[i].op, ops[i].args);
			CHECK_OK(run(&b, NULL, f), b.e);
			CHECK(b.s.ops[0].kind != OP_OPAQUE && !b.x.ops[0].carried);
			CHECK(b.x.total_ps >= b.x.roofline_ps);
			check_moves(&b);
			bed_down(&b);
		}
}

TEST(a_host_that_reads_more_than_the_scratchpad_holds_is_no_error)
{
	struct bed b;

	bed_up(&b);
	mk_copy(&b.m, TRACE_COPY_DTOH, 4000000, true, mk_op(&b.m, "aten::copy_", "f32[1000000] f32[1000000] =False"));
	CHECK_OK(run(&b, NULL, RUN_EVENT), b.e);
	CHECK_U64(b.s.ops[0].kind, OP_HOST_SYNC);
	check_moves(&b);
	bed_down(&b);
}

TEST(a_row_to_be_sorted_must_fit)
{
	struct bed b;

	bed_up(&b);
	mk_kernel(&b.m, "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<x>", "aten::sort",
	          "f32[4,1000000] =-1 =False");
	CHECK(run(&b, NULL, RUN_EVENT) == -1);
	CHECK(b.e.kind == ERR_CONFIG);
	CHECK_HAS(b.e.msg, "not one tile of op 0 (sort");
	bed_down(&b);
}

TEST(a_command_that_moves_nothing_may_be_the_first)
{
	struct bed b;

	bed_up(&b);
	mk_copy(&b.m, TRACE_COPY_DTOH, 0, true, NULL);
	CHECK_OK(run(&b, NULL, RUN_EVENT), b.e);
	CHECK_U64(b.x.map->prog.n_cmds, 1);
	CHECK_U64(b.x.map->prog.n_insns, 0);
	bed_down(&b);
}

TEST(a_gpu_of_one_sm_runs_what_a_library_would_launch_in_clusters)
{
	struct bed b;

	bed_up(&b);
	b.machine = "kind: gpu\ncores: 1\n"; /* the trace is of no known device: launches are made anew */
	mk_kernel(&b.m, MM, "bf16[64,1024] bf16[1024,1024]");
	CHECK_OK(run(&b, NULL, RUN_EVENT), b.e);
	CHECK(b.x.total_ps >= b.x.roofline_ps);
	bed_down(&b);
}

/* --- what one op may ask for -------------------------------------------------------------------------------------- */

TEST(an_op_that_no_machine_could_do_is_refused_at_once)
{
	static const struct {
		const char *machine, *kernel, *op, *args, *because;
	} row[] = {
		{ MACHINE, MM, "bf16[1,1000000] bf16[1000000,1000000]",
		  "op 0 (gemv 1000000x1000000) reads and writes 1.819 TiB: an op of more than 1 TiB is not simulated" },
		{ "kind: gpu\n", MM, "bf16[1,1000000] bf16[1000000,1000000]", "reads and writes 1.819 TiB" },
		{ "cores: 1\nsram: {size: 256 KiB}\nmatrix: {units: 64, rows: 128, cols: 128}\n", MM,
		  "bf16[100000,100000] bf16[100000,100000]", "in tiles that fit 'sram.size' moves" },
		{ "kind: gpu\n", MM, "bf16[600000,600000] bf16[600000,600000]", "reads and writes 1.965 TiB" },
		{ "cores: 1\nclock: 1 MHz\n", MM, "bf16[30000,30000] bf16[30000,30000]",
		  "would take this machine about" },
		{ LARGE, ATTEND, "bf16[1,64,1000000,128] bf16[1,64,1000000,128] bf16[1,64,1000000,128]",
		  "an op of more than 4 TiB is not simulated" },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct bed b;

		if (!test_turn(i, 2))
			continue;
		bed_up(&b);
		b.machine = row[i].machine;
		mk_kernel(&b.m, row[i].kernel, row[i].op, row[i].args);
		CHECK(run(&b, "dram.capacity=0", RUN_EVENT) == -1);
		CHECK(b.e.kind == ERR_IO);
		CHECK_HAS(b.e.msg, row[i].because);
		bed_down(&b);
	}
}

/* --- what must fit the memory ------------------------------------------------------------------------------------- */

static void refused(struct bed *b, const char *set, const char *because)
{
	CHECK(run(b, set, RUN_ANALYTIC) == -1);
	CHECK(b->e.kind == ERR_CONFIG);
	CHECK_HAS(b->e.msg, because);
}

TEST(a_workload_that_does_not_fit_the_memory_is_refused_with_what_it_needs)
{
	struct bed b;

	bed_up(&b);
	mk_kernel(&b.m, MM, "bf16[1,1024] bf16[1024,1024]");
	mk_kernel(&b.m, MM, "bf16[1,1024] bf16[1024,512]");
	CHECK_OK(run(&b, "dram.capacity=0", RUN_ANALYTIC), b.e); /* nobody knows */
	CHECK_U64(b.x.map->need.weights, 2048 * 1536);
	CHECK_U64(b.x.map->need.kv, 0);
	CHECK_U64(b.x.map->need.rest, 2 * 2048); /* both rows; the third is made when the first has been read */
	CHECK_OK(run(&b, "dram.capacity=3149824 B", RUN_ANALYTIC), b.e);
	refused(&b, "dram.capacity=3149823 B",
	        "it needs 3.004 MiB at once (weights 3 MiB, KV 0 B, activations and tables 4 KiB), and 'dram.capacity' is"
	        " 3149823 B");
	b.machine = "kind: gpu\n";
	CHECK_OK(run(&b, NULL, RUN_ANALYTIC), b.e);
	refused(&b, "dram.capacity=3149823 B", "'dram.capacity' is 3149823 B");
	bed_down(&b);
}

TEST(what_is_stored_narrower_needs_less_memory)
{
	struct bed b;

	bed_up(&b);
	b.machine = "weights: {dtype: int4}\n";
	mk_kernel(&b.m, MM, "bf16[1,1024] bf16[1024,1024]");
	CHECK_OK(run(&b, "dram.capacity=1 MiB", RUN_ANALYTIC), b.e);
	/* Half a byte each, and a 16-bit scale for 128 of them. */
	CHECK_U64(b.x.map->need.weights, 1024 * 1024 / 2 + 1024 * 1024 / 128 * 2);
	bed_down(&b);
}

/* 1,024 x 1,024 weights, 2 of 4: 524,288 with 2 bits each for their places. As they are 2 bytes each; as int4 half a byte,
 * and scales are of 64 that are there. */
TEST(thinned_weights_are_stored_with_their_places)
{
	static const struct {
		const char *machine;
		uint64_t bytes, macs;
	} cases[] = {
		{ "weights: {sparsity: 2:4}\nmatrix: {sparse: true}\ngemv: {units: 0}\n", 524288 * 2 + 524288 / 4,
		  524288 },
		{ "weights: {sparsity: 1:8}\nmatrix: {sparse: true}\ngemv: {units: 0}\n", 131072 * 2 + 131072 * 3 / 8,
		  131072 },
		{ "weights: {dtype: int4, sparsity: 2:4}\nmatrix: {sparse: true}\ngemv: {units: 0}\n",
		  524288 / 2 + 524288 / 64 * 2 + 524288 / 4, 524288 },
		/* nobody takes them: whole */
		{ "weights: {sparsity: 2:4}\n", 1048576 * 2, 1048576 },
		{ "weights: {sparsity: 2:4}\nmatrix: {sparse: true, units: 0}\n", 1048576 * 2, 1048576 },
		/* the matrix unit does, and the product is the GEMV unit's: expanded on the way there */
		{ "weights: {sparsity: 2:4}\nmatrix: {sparse: true, rows: 4, cols: 4}\n", 524288 * 2 + 524288 / 4,
		  1048576 },
		{ "weights: {sparsity: 2:4}\nmatrix: {units: 0}\ngemv: {sparse: true}\n", 524288 * 2 + 524288 / 4,
		  524288 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (enum run_fidelity f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
			struct bed b;

			bed_up(&b);
			b.machine = cases[i].machine;
			mk_kernel(&b.m, MM, "bf16[1,1024] bf16[1024,1024]");
			CHECK_OK(run(&b, NULL, f), b.e);
			CHECK_U64(b.x.map->need.weights, cases[i].bytes);
			CHECK_U64(stat(&b, "matrix.macs") + stat(&b, "gemv.macs"), cases[i].macs);
			CHECK(b.x.dram_read_bytes >= cases[i].bytes && b.x.dram_read_bytes < cases[i].bytes + 8192);
			CHECK(b.x.roofline_ps <= b.x.total_ps);
			bed_down(&b);
		}
}

/* A product twice, with weights of its own each. Arrays of 256 x 256 bits hold 256 x 16 bf16 weights: 4 x 64 for each
 * product. 256 of them keep the first's weights, 512 both; what is kept is loaded whole and written once, which a product that
 * is done once does not repay. */
TEST(weights_that_fit_the_arrays_of_a_unit_stay_there)
{
	static const struct {
		const char *machine;
		enum run_start start;
		uint32_t products, held;
	} cases[] = {
		{ "cores: 1\nimc: {units: 255, rows: 256, cols: 256}\n", RUN_STEADY, 2, 0 },
		{ "cores: 1\nimc: {units: 511, rows: 256, cols: 256}\n", RUN_STEADY, 2, 1 },
		{ "cores: 4\nimc: {units: 128, rows: 256, cols: 256}\n", RUN_STEADY, 2, 2 },
		{ "cores: 4\nimc: {units: 128, rows: 256, cols: 256}\n", RUN_COLD, 2, 2 },
		{ "cores: 4\nimc: {units: 128, rows: 256, cols: 256}\n", RUN_COLD, 1, 0 },
		{ "cores: 4\nimc: {units: 128, rows: 256, cols: 256, keep: false}\n", RUN_STEADY, 2, 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct bed b;
		uint32_t loads = 0, writes = 0;

		bed_up(&b);
		b.machine = cases[i].machine;
		for (uint32_t k = 0; k < cases[i].products; k++)
			mk_kernel(&b.m, MM, "bf16[1,1024] bf16[1024,1024]");
		CHECK_OK(run_from(&b, cases[i].start, NULL, RUN_ANALYTIC), b.e);
		for (size_t k = 0; k < b.x.map->prog.n_insns; k++) {
			const struct isa_insn *x = &b.x.map->prog.insns[k];

			loads += x->pinned && x->code == ISA_LOAD && x->when == ISA_PRE && x->bytes == 2 << 20;
			writes += x->pinned && x->code == ISA_IMC && x->when == ISA_PRE && x->unit == RES_IMC;
		}
		CHECK_U64(loads, cases[i].held);
		CHECK_U64(writes, cases[i].held);
		CHECK_U64(b.x.map->held_bytes, cases[i].held * (UINT64_C(2) << 20));
		bed_down(&b);
	}
}

/* Few places: the split that is fastest has copies of weights for parts of the rows, and not all of them fit; cut as takes
 * fewest places they do, whatever the rows. */
TEST(weights_that_stay_lie_so_that_most_of_them_fit)
{
	for (unsigned m = 8; m <= 72; m += 8) {
		char text[64];
		struct bed b;

		snprintf(text, sizeof text, "bf16[%u,1024] bf16[1024,1024]", m);
		bed_up(&b);
		b.machine = "cores: 4\nimc: {units: 144, rows: 256, cols: 256}\n";
		mk_kernel(&b.m, MM, text);
		mk_kernel(&b.m, MM, text);
		CHECK_OK(run_from(&b, RUN_STEADY, NULL, RUN_ANALYTIC), b.e);
		CHECK_U64(b.x.map->held_bytes, UINT64_C(4) << 20);
		bed_down(&b);
	}
}

static uint64_t commands(struct bed *b, struct op_stream *s, const char *set)
{
	const char *sets[] = { "dispatch.join=true", "dispatch.batch=3", set };
	const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = RUN_EVENT };

	err_clear(&b->e);
	machine_conf_free(b->c);
	b->c = machine_conf_parse(LARGE, strlen(LARGE), "m", sets, set ? 3 : 2, &b->e);
	CHECK_OK(b->c ? 0 : -1, b->e);
	CHECK_OK(run_stream(s, b->c, &o, b->m.a, &b->x, &b->e), b->e);
	return b->x.map->prog.n_cmds;
}

/* q, k and v: 1,024 + 256 + 256 columns of 1,024: the rows once, every weight and result whole, all multiply-adds, as one
 * loop. */
TEST(products_of_the_same_few_rows_are_one_command)
{
	static const uint64_t n[] = { 1024, 256, 256 };
	uint64_t loads = 0, copied = 0, stores = 0, macs = 0;
	struct bed b;

	bed_up(&b);
	CHECK_U64(commands(&b, synth_products(b.m.a, 1, 1024, n, 3, false), NULL), 1);
	for (size_t i = 0; i < b.x.map->prog.n_insns; i++) {
		const struct isa_insn *x = &b.x.map->prog.insns[i];

		loads += x->code == ISA_LOAD ? x->bytes : 0;
		copied += x->code == ISA_LOAD && x->copies ? (x->copies - 1) * x->bytes : 0;
		stores += x->code == ISA_STORE ? x->bytes : 0;
		if (x->code == ISA_GEMV || x->code == ISA_GEMM)
			macs += x->work * (b.x.map->prog.cmds[0].tiles - 1) + x->work_last;
		CHECK(x->code != ISA_FUSED_BEGIN);
	}
	CHECK_U64(loads, 1024 * 2 + 1536 * 1024 * 2);
	CHECK_U64(stores, 1536 * 2);
	CHECK_U64(macs, 1536 * 1024);
	CHECK(copied >= 31 * 2048); /* the rows go to each core that has a part */
	CHECK_U64(stat(&b, "dma.read_bytes"), loads + copied);
	CHECK_U64(stat(&b, "dma.write_bytes"), stores);
	CHECK_STR(b.x.map->prog.cmds[0].pattern, "joined");
	bed_down(&b);
}

TEST(products_are_joined_no_further_than_they_may)
{
	static const uint64_t n[] = { 1024, 1024, 1024, 1024 };
	struct bed b;

	bed_up(&b);
	/* dispatch.batch of them at the most */
	CHECK_U64(commands(&b, synth_products(b.m.a, 1, 1024, n, 4, false), NULL), 2);
	/* of sixteen rows where a dispatch counts: their results wait in SRAM for the last */
	CHECK_U64(commands(&b, synth_products(b.m.a, 16, 1024, n, 3, false), "dispatch.latency=2 us"), 1);
	/* of more rows, or one after the other, or not asked for: each its own */
	CHECK_U64(commands(&b, synth_products(b.m.a, 17, 1024, n, 3, false), NULL), 3);
	CHECK_U64(commands(&b, synth_products(b.m.a, 1, 1024, n, 3, true), NULL), 3);
	CHECK_U64(commands(&b, synth_products(b.m.a, 1, 1024, n, 3, false), "dispatch.join=false"), 3);
	CHECK_U64(commands(&b, synth_products(b.m.a, 1, 1024, n, 3, false), "dispatch.batch=1"), 3);
	bed_down(&b);
}

TEST(memory_is_needed_for_what_is_alive_at_once)
{
	struct bed b;

	bed_up(&b);
	for (int i = 0; i < 100; i++)
		mk_kernel(&b.m,
		          "void at::native::vectorized_elementwise_kernel<8, at::native::exp_kernel_cuda(x), 3ul>",
		          "aten::exp", "f32[1000000]");
	CHECK_OK(run(&b, NULL, RUN_ANALYTIC), b.e);
	CHECK_U64(b.x.map->need.rest, 3 * 4000000); /* the first input stays, and one goes into the next */
	bed_down(&b);
}

TEST(cases_of_a_benchmark_bring_their_own_and_take_it_away)
{
	struct trace_range ranges[20];
	struct bed b;

	bed_up(&b);
	for (int i = 0; i < 20; i++) {
		ranges[i] = (struct trace_range){ "case|mm|x|0", 1500 * i, 1400, 1, 1 };
		mk_kernel(&b.m, MM, "bf16[1,1024] bf16[1024,1024]");
	}
	b.m.t.ranges = ranges;
	b.m.t.n_ranges = 20;
	CHECK_OK(run(&b, NULL, RUN_ANALYTIC), b.e);
	CHECK_U64(b.x.map->need.weights, 2048 * 1024);
	b.m.t.n_ranges = 0;
	CHECK_OK(run(&b, NULL, RUN_ANALYTIC), b.e);
	CHECK_U64(b.x.map->need.weights, 20 * 2048 * 1024);
	bed_down(&b);
}

/* MACs of all commands, tile by tile. */
static uint64_t macs(const struct bed *b)
{
	const struct isa_prog *p = &b->x.map->prog;
	uint64_t n = 0;

	for (size_t k = 0; k < p->n_cmds; k++)
		for (uint32_t i = 0; i < p->cmds[k].n_insns; i++) {
			const struct isa_insn *x = &p->insns[p->cmds[k].first_insn + i];

			if (x->code == ISA_GEMM)
				n += isa_turns(p, &p->cmds[k], x).work;
		}
	return n;
}

/* An array of 4 columns, and room for two tiles of fewer: 16 columns in 11 tiles would be 2 each, and 6 of nothing. */
TEST(tiles_compute_the_product_and_no_more)
{
	struct bed b;

	bed_up(&b);
	b.machine = "cores: 1\nsram: {size: 4 KiB}\ngemv: {units: 0}\nmatrix: {rows: 4, cols: 4}\n"
		    "dma: {tile: 1 KiB}\n";
	mk_kernel(&b.m, MM, "bf16[26,204] bf16[204,16]");
	CHECK_OK(run(&b, NULL, RUN_EVENT), b.e);
	CHECK_U64(macs(&b), 26 * 204 * 16);
	bed_down(&b);
}

/* GEMV units with a row a lane, alone: rows of 2,048 bytes lie in one bank, and a word of 16 behind each takes its room in a
 * tile; without padding there is none. */
#define STREAM "mapping: {loops: stream}\n"
TEST(padding_takes_room_in_a_tile)
{
	for (int i = 0; i < 2; i++) {
		const struct isa_prog *p;
		struct bed b;

		bed_up(&b);
		b.machine =
			i ? "cores: 1\nmatrix: {units: 0}\ngemv: {rows_over_lanes: true}\nsram: {pad: false}\n" STREAM
			  : "cores: 1\nmatrix: {units: 0}\ngemv: {rows_over_lanes: true}\n" STREAM;
		mk_kernel(&b.m, MM, "bf16[1,1024] bf16[1024,2048]");
		CHECK_OK(run(&b, NULL, RUN_EVENT), b.e);
		p = &b.x.map->prog;
		for (size_t k = 0; k < p->n_insns; k++)
			if (p->insns[k].code == ISA_LOAD && p->insns[k].when == ISA_TILE)
				CHECK_U64(p->cmds[0].slot_bytes,
				          p->insns[k].tile_bytes + (i ? 0 : p->insns[k].tile_bytes / 2048 * 16));
		CHECK(p->cmds[0].tiles > 1);
		bed_down(&b);
	}
}

/* Checks that tiles of the weights are as many bytes as the columns computed of them; returns such tiles. */
static uint32_t check_tiles(const struct bed *b, uint64_t k)
{
	const struct isa_prog *p = &b->x.map->prog;
	uint64_t rows = 0;
	uint32_t n = 0;

	for (size_t i = p->n_insns; i-- > 0;) {
		const struct isa_insn *x = &p->insns[i];

		if (x->code == ISA_GEMM)
			rows = x->shape.rows;
		if (x->code == ISA_LOAD && x->when == ISA_TILE) {
			CHECK_U64(x->tile_bytes, rows * k * 2);
			CHECK(x->bytes % x->tile_bytes != 0);
			n++;
		}
	}
	return n;
}

/* 75 columns: streamed in tiles of 10 and a last one of 5; as a nest, of 32 and a last one of 11. */
TEST(a_tile_moves_what_it_computes_and_the_last_takes_the_rest_of_both)
{
	static const char *const rows[] = { "bf16[8,256] bf16[256,75]", "bf16[64,16] bf16[16,75]" };
	static const uint64_t k[] = { 256, 16 };
#define SMALL \
	"cores: 1\nsram: {size: 32 KiB}\ngemv: {units: 0}\nmatrix: {rows: 4, cols: 4}\n" \
	"dma: {tile: 1 KiB}\nl2: {size: 0 B}\n"
	static const char *const machines[] = { SMALL STREAM, SMALL "mapping: {loops: mnk, tile_m: 64, tile_n: 32}\n" };

	for (int i = 0; i < 2; i++) {
		struct bed b;

		bed_up(&b);
		b.machine = machines[i];
		mk_kernel(&b.m, MM, rows[i]);
		CHECK_OK(run(&b, NULL, RUN_EVENT), b.e);
		CHECK_U64(b.x.map->prog.cmds[0].trips[0] > 0, i);
		CHECK_U64(check_tiles(&b, k[i]), 1);
		bed_down(&b);
	}
}

/* 126 rows are three blocks of 32 and one of 30, which has no way to be done in the room that the others have. */
TEST(every_block_of_a_product_is_done)
{
	static const char *const tiles[] = { "dma.tile=1 KiB", "dma.tile=2 KiB", "dma.tile=4 KiB" };

	for (int i = 0; i < 3; i++) {
		struct bed b;

		bed_up(&b);
		b.machine = "cores: 1\nsram: {size: 16 KiB}\ngemv: {units: 0}\nl2: {size: 0 B}\ndma: {stages: 2}\n"
			    "matrix: {rows: 8, cols: 4, dataflow: os, weight_buffers: 1}\n";
		mk_kernel(&b.m, MM, "bf16[126,198] bf16[198,93]");
		CHECK_OK(run(&b, tiles[i], RUN_EVENT), b.e);
		CHECK_U64(macs(&b), 126 * 198 * 93);
		bed_down(&b);
	}
}

#define COPIES \
	"cores: 1\nclock: 1 GHz\nsram: {size: 4 MiB}\ngemv: {units: 0}\nmatrix: {rows: 32, cols: 32}\n" \
	"vector: {units: 2, lanes: 64}\ndma: {tile: 64 KiB, stages: 3, engines: 8}\nl2: {size: 0 B}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 100 GB/s}\nmapping: {policy: copy_first, stream: 1 MiB}\n"

/* Bytes of the loads of one phase, of which there is none or one. */
static uint64_t loads(const struct bed *b, enum isa_when when)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->x.map->prog.n_insns; i++)
		if (b->x.map->prog.insns[i].code == ISA_LOAD && b->x.map->prog.insns[i].when == when)
			n += b->x.map->prog.insns[i].bytes;
	return n;
}

/* Of the operands that fit in 3 of 4 MiB the larger is there before the loop; what streams has the fourth. */
TEST(copy_first_copies_the_larger_operand_that_fits_and_streams_the_rest)
{
	static const struct {
		const char *args;
		uint64_t before;
	} rows[] = {
		{ "bf16[512,1024] bf16[1024,1024]", 1024 * 1024 * 2 },
		{ "bf16[1024,1024] bf16[1024,512]", 1024 * 1024 * 2 },
		{ "bf16[512,1024] bf16[1024,2048]", 512 * 1024 * 2 }, /* 4 MiB do not fit */
		{ "bf16[2048,1024] bf16[1024,2048]", 0 },             /* nor does either */
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bed b;
		const struct isa_cmd *c;

		bed_up(&b);
		b.machine = COPIES;
		mk_kernel(&b.m, MM, rows[i].args);
		CHECK_OK(run(&b, NULL, RUN_EVENT), b.e);
		c = &b.x.map->prog.cmds[0];
		CHECK_U64(loads(&b, ISA_PRE), rows[i].before);
		CHECK(c->tiles > 1 && loads(&b, ISA_TILE) > 0);
		CHECK(c->fixed_bytes + 2 * c->slot_bytes <= rows[i].before + 1024 * 1024);
		check_moves(&b);
		bed_down(&b);
	}
}

/* One row: 128 products a cycle are more than 50 that arrive; 4 rows are not. */
TEST(copy_first_multiplies_on_lanes_what_they_do_as_fast_as_memory_delivers)
{
	static const char *const rows[] = { "bf16[1,1024] bf16[1024,1024]", "bf16[4,1024] bf16[1024,1024]" };

	for (int i = 0; i < 2; i++) {
		struct bed b;
		uint64_t lanes = 0, arrays = 0;

		bed_up(&b);
		b.machine = COPIES;
		mk_kernel(&b.m, MM, rows[i]);
		CHECK_OK(run(&b, NULL, RUN_EVENT), b.e);
		for (size_t k = 0; k < b.x.map->prog.n_insns; k++) {
			lanes += b.x.map->prog.insns[k].unit == RES_VECTOR;
			arrays += b.x.map->prog.insns[k].unit == RES_MATRIX;
		}
		CHECK_U64(lanes > 0, i == 0);
		CHECK_U64(arrays > 0, i == 1);
		bed_down(&b);
	}
}

/* What lies between the tiles of a nest is paid between them, and by both engines. */
TEST(tiles_of_a_nest_wait_to_be_started)
{
	for (int fidelity = RUN_EVENT; fidelity <= RUN_ANALYTIC; fidelity++) {
		struct bed b;
		ps_t before;
		uint32_t tiles;

		bed_up(&b);
		b.machine =
			"cores: 1\nclock: 1 GHz\nsram: {size: 4 MiB}\ngemv: {units: 0}\nmatrix: {rows: 32, cols: 32}\n"
			"dma: {engines: 8}\nl2: {size: 0 B}\ndram: {kind: fixed}\n"
			"mapping: {loops: mnk, tile_m: 128, tile_n: 256, tile_k: 1024}\n";
		mk_kernel(&b.m, MM, "bf16[512,1024] bf16[1024,1024]");
		CHECK_OK(run(&b, NULL, (enum run_fidelity)fidelity), b.e);
		before = b.x.total_ps;
		tiles = b.x.map->prog.cmds[0].tiles;
		CHECK(tiles >= 16);
		CHECK_OK(run(&b, "dma.sync=2us", (enum run_fidelity)fidelity), b.e);
		CHECK_U64(b.x.map->prog.cmds[0].tiles, tiles);
		CHECK_U64(b.x.total_ps, before + (tiles - 1) * 2 * PS_US);
		bed_down(&b);
	}
}

SUITE(t_map, T(every_block_of_a_product_is_done), T(what_is_larger_than_the_scratchpad_is_done_in_tiles),
      T(a_host_that_reads_more_than_the_scratchpad_holds_is_no_error), T(a_row_to_be_sorted_must_fit),
      T(a_command_that_moves_nothing_may_be_the_first), T(a_gpu_of_one_sm_runs_what_a_library_would_launch_in_clusters),
      SLOW(an_op_that_no_machine_could_do_is_refused_at_once),
      T(a_workload_that_does_not_fit_the_memory_is_refused_with_what_it_needs),
      T(what_is_stored_narrower_needs_less_memory), T(thinned_weights_are_stored_with_their_places),
      T(weights_that_fit_the_arrays_of_a_unit_stay_there), T(weights_that_stay_lie_so_that_most_of_them_fit),
      T(products_of_the_same_few_rows_are_one_command), T(products_are_joined_no_further_than_they_may),
      T(memory_is_needed_for_what_is_alive_at_once), T(cases_of_a_benchmark_bring_their_own_and_take_it_away),
      T(tiles_compute_the_product_and_no_more), T(padding_takes_room_in_a_tile),
      T(a_tile_moves_what_it_computes_and_the_last_takes_the_rest_of_both),
      T(copy_first_copies_the_larger_operand_that_fits_and_streams_the_rest),
      T(copy_first_multiplies_on_lanes_what_they_do_as_fast_as_memory_delivers), T(tiles_of_a_nest_wait_to_be_started));
