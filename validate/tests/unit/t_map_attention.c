/* t_map_attention.c - attention as a row of a table names it: what moves, how many loops there are, what waits cost. */
#include "sim/engine/run.h"
#include "sim/lower/lower.h"
#include "sim/map/map.h"
#include "traces/read/ops_csv.h"
#include "validate/tests/runbed.h"
#include "validate/tests/tracebed.h"

#define HEADER "op,batch,heads,kv_heads,q_len,kv_len,head_dim,causal,algorithm\n"
#define MACHINE \
	"cores: 1\nsram: {size: 8 MiB}\ndma: {tile: 64 KiB, stages: 3}\nl2: {size: 0 B}\nkv_buffer: {size: 0 B}\n" \
	"dram: {kind: hbm3-6400, capacity: 16 GiB}\n"

struct table {
	struct bed b;
	struct rules *r;
	struct op_stream s;
	struct machine_conf *c;
	struct run_result x;
};

/* One row on the machine, with some values changed. */
static void up_so(struct table *t, const char *row, const char *const *sets, uint32_t n, enum run_fidelity f)
{
	const struct run_opts how = { .start = RUN_COLD, .fidelity = f, .seed = 1 };
	struct lower_stats st;
	struct input *in;
	char text[512];

	memset(t, 0, sizeof *t);
	snprintf(text, sizeof text, HEADER "attention,%s\n", row);
	bed_open(&t->b, ":memory:", DB_WRITE);
	in = input_mem(text, strlen(text), "ops.csv", &t->b.e);
	CHECK_OK(ops_csv_import(t->b.db, in, NULL, NULL, &t->b.st, &t->b.e), t->b.e);
	input_free(in);
	bed_load(&t->b, NULL);
	t->r = rules_load(NULL, &t->b.e);
	CHECK_OK(t->r ? lower_trace(&t->b.t, t->r, t->b.a, &t->s, &st, &t->b.e) : -1, t->b.e);
	t->c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", sets, n, &t->b.e);
	CHECK_OK(t->c ? 0 : -1, t->b.e);
	CHECK_OK(run_stream(&t->s, t->c, &how, t->b.a, &t->x, &t->b.e), t->b.e);
}

/* With up to two. */
static void up(struct table *t, const char *row, const char *const sets[2], enum run_fidelity f)
{
	up_so(t, row, sets, (sets[0] != NULL) + (sets[0] && sets[1]), f);
}

static void down(struct table *t)
{
	machine_conf_free(t->c);
	rules_free(t->r);
	bed_close(&t->b);
}

static bool near(double got, double want, double by)
{
	return got - want < by && want - got < by;
}

static ps_t took(const char *row, const char *a, const char *b, enum run_fidelity f)
{
	const char *const sets[2] = { a, b };
	struct table t;
	ps_t total;

	up(&t, row, sets, f);
	total = t.x.total_ps;
	CHECK(total >= t.x.roofline_ps);
	down(&t);
	return total;
}

/* With some, and one more or NULL. */
#define MOST_SETS 8
static ps_t took_so(const char *row, const char *const *sets, uint32_t n, const char *more, enum run_fidelity f)
{
	const char *all[MOST_SETS];
	struct table t;
	ps_t total;

	for (uint32_t i = 0; i < n; i++)
		all[i] = sets[i];
	all[n] = more;
	up_so(&t, row, all, n + (more != NULL), f);
	total = t.x.total_ps;
	CHECK(total >= t.x.roofline_ps);
	down(&t);
	return total;
}

static const char *const none[2] = { NULL, NULL };

/* --- what moves --------------------------------------------------------------------------------------------------- */

TEST(heads_in_a_loop_move_each_tensor_once_and_compute_every_query_head)
{
	for (int f = 0; f < 2; f++) {
		struct table t;

		up(&t, "4,8,2,128,256,64,0,per_head", none, (enum run_fidelity)f);
		CHECK_U64(t.x.map->prog.n_cmds, 1);
		CHECK_U64(t.x.map->prog.cmds[0].tiles, 4 * 8);
		CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), 2 * 64 * (4 * 8 * 128 + 2 * 4 * 2 * 256));
		CHECK_U64(runbed_stat(&t.x, "dram.write_bytes"), 2 * 64 * 4 * 8 * 128);
		down(&t);
	}
}

TEST(scores_of_all_heads_stay_on_chip_or_are_written_and_read)
{
	const uint64_t io = 2 * 64 * 16 * 256, scores = UINT64_C(2) * 16 * 256 * 256;
	const char *const small[2] = { "sram.size=1 MiB", NULL };
	struct table t;

	up(&t, "1,16,16,256,256,64,0,materialised", none, RUN_EVENT);
	CHECK_U64(t.x.map->prog.n_cmds, 1);
	CHECK_U64(runbed_stat(&t.x, "dram.write_bytes"), io);
	down(&t);
	up(&t, "1,16,16,256,256,64,0,materialised", small, RUN_EVENT);
	CHECK_U64(t.x.map->prog.n_cmds, 3);
	CHECK_U64(runbed_stat(&t.x, "dram.write_bytes"), io + 2 * scores);
	CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), 3 * io + 2 * scores);
	down(&t);
}

/* Heads of 128 x 128 have 24 MiB of scores, and twice as much of all else: those do not count. */
TEST(scores_stay_where_their_room_holds_them_whatever_operands_take)
{
	static const struct {
		const char *row;
		size_t commands;
	} rows[] = { { "64,12,12,128,128,64,0,materialised", 1 },
		     { "10,12,12,328,328,64,0,materialised", 1 },
		     { "16,12,12,328,328,32,0,materialised", 3 } };
	const struct run_opts o = { .start = RUN_COLD, .fidelity = RUN_ANALYTIC };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char table[200];
		struct runbed b;
		struct run_result x;

		snprintf(table, sizeof table,
		         "op,batch,heads,kv_heads,q_len,kv_len,head_dim,causal,algorithm\nattention,%s\n", rows[i].row);
		runbed_table(&b, table);
		CHECK(runbed_run(&b, "configs/npu/tpu-v6e.yaml", NULL, 0, &o, &x));
		CHECK_U64(x.map->prog.n_cmds, rows[i].commands);
		runbed_down(&b);
	}
}

/* 256 sequences of a head of 32 fill registers of 128 places themselves: Q, K and V are copied into rows four times as long, and
 * the result back. Not where a head's size or the keys fill them as well, nor where heads and sequences are not told apart. */
TEST(operands_that_lie_batch_by_batch_are_copied_into_rows_and_back)
{
	static const char *const as_well[] = { "256,1,1,32,32,128,0,materialised", "256,1,1,32,128,32,0,materialised",
		                               "32,8,8,32,32,32,0,materialised", "1,256,256,32,32,32,0,materialised" };
	const char *const sets[] = { "attention.keys=128", "attention.compact=true" };
	const uint64_t b = UINT64_C(2) * 256 * 32 * 32;
	struct table t;

	for (int f = 0; f < 2; f++) {
		up(&t, "256,1,1,32,32,32,0,materialised", sets, (enum run_fidelity)f);
		CHECK_U64(t.x.map->prog.n_cmds, 3);
		CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), 3 * b + 3 * 4 * b + 4 * b);
		CHECK_U64(runbed_stat(&t.x, "dram.write_bytes"), 3 * 4 * b + 4 * b + b);
		down(&t);
		CHECK(took("256,1,1,32,32,32,0,materialised", sets[0], sets[1], (enum run_fidelity)f) >
		      took("256,1,1,32,32,32,0,materialised", sets[0], NULL, (enum run_fidelity)f));
	}
	up(&t, "64,1,1,32,32,32,0,materialised", sets, RUN_EVENT); /* half a register is more than a quarter */
	CHECK_U64(t.x.map->prog.n_cmds, 3);
	down(&t);
	up(&t, "256,12,12,32,32,32,0,materialised", sets, RUN_EVENT); /* scores pass memory, too */
	CHECK_U64(t.x.map->prog.n_cmds, 5);
	down(&t);
	for (size_t i = 0; i < sizeof as_well / sizeof *as_well; i++)
		for (int f = 0; f < 2; f++)
			CHECK_U64(took(as_well[i], sets[0], sets[1], (enum run_fidelity)f),
			          took(as_well[i], sets[0], NULL, (enum run_fidelity)f));
}

/* No model has 384 heads: they are 12 of 32 sequences where rows of 24 and 36 stand beside. */
TEST(heads_of_more_than_any_model_are_those_of_a_batch)
{
	struct table t;

	up(&t,
	   "1,24,24,64,64,64,0,materialised\nattention,1,36,36,64,64,64,0,materialised\n"
	   "attention,1,384,384,64,64,64,0,materialised\nattention,1,256,64,64,64,64,0,materialised",
	   none, RUN_ANALYTIC);
	CHECK_U64(t.s.regrouped, 1);
	CHECK_U64(t.s.ops[0].shape.batch, 1);
	CHECK_U64(t.s.ops[1].shape.heads, 36);
	CHECK_U64(t.s.ops[2].shape.batch, 32);
	CHECK_U64(t.s.ops[2].shape.heads, 12);
	CHECK_U64(t.s.ops[2].shape.kv_heads, 12);
	CHECK_U64(t.s.ops[3].shape.heads, 256); /* four queries to a KV head, and no other row of that kind */
	down(&t);
	up(&t, "1,512,128,1,64,64,0,grouped\nattention,1,32,8,1,64,64,0,grouped", none, RUN_ANALYTIC);
	CHECK_U64(t.s.ops[0].shape.batch, 16);
	CHECK_U64(t.s.ops[0].shape.heads, 32);
	CHECK_U64(t.s.ops[0].shape.kv_heads, 8);
	down(&t);
}

/* 512 queries in blocks of 128 see 1024, 1152, 1280 and 1408 keys of 1408 behind a causal mask: 1216 in the mean. */
TEST(blocks_of_queries_read_the_keys_that_they_see_anew)
{
	const char *const blocks[2] = { "attention.queries=128", NULL };
	const uint64_t q = 2 * 128 * 8 * 512, a_key = 2 * 2 * 128 * 2;
	struct table t;

	up(&t, "1,8,2,512,1408,128,1,grouped", blocks, RUN_EVENT);
	CHECK(runbed_stat(&t.x, "dram.read_bytes") >= q + 4 * 1216 * a_key);
	CHECK(runbed_stat(&t.x, "dram.read_bytes") <= q + 4 * 1216 * a_key * 102 / 100);
	CHECK_U64(runbed_stat(&t.x, "dram.write_bytes"), q);
	down(&t);
	up(&t, "1,8,2,512,1408,128,0,grouped", blocks, RUN_EVENT);
	CHECK(runbed_stat(&t.x, "dram.read_bytes") >= q + 4 * 1408 * a_key);
	down(&t);
	up(&t, "1,8,2,512,1408,128,0,grouped", none, RUN_EVENT); /* all queries at once */
	CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), q + 1408 * a_key);
	down(&t);
}

/* A head whose keys are more than SRAM holds goes key tile by key tile. */
TEST(keys_of_one_head_that_sram_does_not_hold_come_in_tiles)
{
	const char *const small[2] = { "sram.size=256 KiB", NULL };
	struct table t;

	up(&t, "1,2,2,1,8192,128,0,per_head", small, RUN_EVENT);
	CHECK(t.x.map->prog.cmds[0].trips[2] > 1);
	CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), 2 * 128 * (2 + 2 * 2 * 8192));
	down(&t);
}

/* --- under copy_first --------------------------------------------------------------------------------------------- */

TEST(what_fits_on_chip_is_there_and_what_does_not_is_copied_in_blocks)
{
	const char *const policy[2] = { "mapping.policy=copy_first", NULL }, *const small[2] = {
		"mapping.policy=copy_first", "sram.size=1 MiB"
	};
	const uint64_t all = UINT64_C(3) * 2 * 64 * 16 * 256;
	struct table t;

	up(&t, "1,16,16,256,256,64,0,per_head", policy, RUN_EVENT);
	CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), 0);
	down(&t);
	up(&t, "1,16,16,256,256,64,0,per_head", small, RUN_EVENT);
	CHECK(t.x.map->prog.n_cmds > 1);
	CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), all);
	for (size_t i = 1; i < t.x.map->prog.n_cmds; i++)
		CHECK(t.x.map->prog.cmds[i].chained);
	down(&t);
}

/* --- what waits cost ---------------------------------------------------------------------------------------------- */

/* 32 query heads of 8 KV heads wait 32 and 8 times. */
TEST(waits_of_heads_and_of_steps_count_as_often_as_there_are)
{
	static const char row[] = "4,8,2,64,64,64,0,per_head";

	for (int f = 0; f < 2; f++) {
		const enum run_fidelity how = (enum run_fidelity)f;
		const ps_t base = took(row, "attention.head=20 us", NULL, how);

		CHECK(near((double)took(row, "attention.head=30 us", NULL, how), (double)(base + 32 * 10 * PS_US),
		           1e6));
		CHECK(near((double)took(row, "attention.head=20 us", "attention.step=10 us", how),
		           (double)(base + 8 * 10 * PS_US), 1e6));
	}
}

TEST(a_serving_kernel_waits_at_its_start_and_moves_odd_groups_head_by_head)
{
	static const char even[] = "1,8,2,128,128,64,0,grouped", odd[] = "1,6,2,128,128,64,0,grouped";
	const char *blocks = "attention.queries=128";
	const ps_t base = took(even, blocks, NULL, RUN_EVENT), base_odd = took(odd, blocks, NULL, RUN_EVENT);

	CHECK(near((double)took(even, blocks, "attention.start=50 us", RUN_EVENT), (double)(base + 50 * PS_US), 2e6));
	CHECK(near((double)(took(even, blocks, "attention.move=1 us", RUN_EVENT) - base), 256e6, 5e6));
	CHECK(near((double)(took(odd, blocks, "attention.move=1 us", RUN_EVENT) - base_odd), 768e6, 5e6));
}

/* --- flash, in blocks ----------------------------------------------------------------------------------------------- */

#define CORES_4 "cores=4"

/* Of 8 heads' 512 queries in blocks of 128 a core does 32, and four cores eight each at once. */
TEST(a_kernel_starts_once_and_steps_once_a_wave_of_its_blocks)
{
	static const char row[] = "1,8,2,512,512,64,0,flash";

	for (int f = 0; f < 2; f++) {
		const enum run_fidelity how = (enum run_fidelity)f;
		const char *const one[] = { "attention.cores=1", "attention.queries=128", NULL, NULL },
				  *const four[] = { "attention.cores=1", "attention.queries=128", CORES_4, NULL },
				  *const pairs[] = { "attention.cores=2", "attention.queries=128", CORES_4, NULL };
		const char *const *const sets[] = { one, four, pairs };
		const uint32_t n[] = { 2, 3, 3 }, waves[] = { 32, 8, 16 };

		for (int i = 0; i < 3; i++) {
			const ps_t base = took_so(row, sets[i], n[i], NULL, how),
				   stepped = took_so(row, sets[i], n[i], "attention.step=20 us", how);

			CHECK(near((double)took_so(row, sets[i], n[i], "attention.step=30 us", how),
			           (double)(stepped + waves[i] * 10 * PS_US), 2e6));
			CHECK(near((double)took_so(row, sets[i], n[i], "attention.start=50 us", how),
			           (double)(base + 50 * PS_US), 2e6));
		}
	}
}

/* Five heads on four cores take two waves, as eight do. */
TEST(a_wave_that_is_not_full_takes_as_long_as_a_full_one)
{
	static const char *const sets[] = { "attention.cores=1", CORES_4, "attention.step=100 us" };
	const ps_t five = took_so("1,5,5,256,256,64,0,flash", sets, 3, NULL, RUN_EVENT),
		   eight = took_so("1,8,8,256,256,64,0,flash", sets, 3, NULL, RUN_EVENT);

	CHECK(five >= 200 * PS_US && near((double)five, (double)eight, 20e6));
}

TEST(blocks_read_their_heads_keys_anew_and_compute_each_pair_once)
{
	static const char *const sets[2] = { "attention.cores=1", "attention.queries=128" };
	const uint64_t q = UINT64_C(2) * 64 * 8 * 512, key = UINT64_C(2) * 2 * 64;

	for (int f = 0; f < 2; f++) {
		struct table t;

		up(&t, "1,8,2,512,512,64,0,flash", sets, (enum run_fidelity)f);
		CHECK_U64(t.x.map->prog.n_cmds, 1);
		CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), q + 8 * 4 * 512 * key);
		CHECK_U64(runbed_stat(&t.x, "dram.write_bytes"), q);
		CHECK_U64(runbed_stat(&t.x, "matrix.macs"), UINT64_C(2) * 64 * 8 * 512 * 512);
		down(&t);
	}
}

/* Without overlap products and softmax add up; with it the longer of them is left; at half of it, between. */
TEST(what_software_does_not_overlap_adds_up)
{
	static const char row[] = "1,16,16,1024,1024,64,0,flash";
	const char *const sets[] = { "attention.cores=1", "attention.softmax=40", "attention.efficiency=0.5" };
	const ps_t both = took_so(row, sets, 3, "attention.overlap=0", RUN_EVENT),
		   half = took_so(row, sets, 3, "attention.overlap=0.5", RUN_EVENT),
		   longer = took_so(row, sets, 3, NULL, RUN_EVENT),
		   arrays = took_so(row,
	                            (const char *const[]){ "attention.cores=1", "attention.softmax=1",
	                                                   "attention.efficiency=0.5" },
	                            3, NULL, RUN_EVENT);

	CHECK(both > longer && arrays <= longer);
	CHECK(near((double)half, ((double)both + (double)longer) / 2, (double)longer * 0.02));
}

/* 1,024 x 1,024 scores of 16 heads: 6 bytes of each, and 64 sums of 4 bytes for 128 keys, at 8 bytes a cycle and core. */
TEST(scores_between_units_that_share_no_memory_take_the_cores_ports)
{
	static const char row[] = "1,16,16,1024,1024,64,0,flash";
	const char *const sets[] = { "attention.cores=1", "attention.keys=128", "clock=1 GHz" };
	const double bytes = 16.0 * 1024 * 1024 * (6 + 4 * 64 / 128.0);
	const ps_t none_handed = took_so(row, sets, 3, NULL, RUN_EVENT),
		   handed = took_so(row, sets, 3, "attention.handover=8 B", RUN_EVENT),
		   wider = took_so(row, sets, 3, "attention.handover=16 B", RUN_EVENT);

	CHECK(none_handed < wider && wider < handed);
	CHECK((double)handed >= bytes / 8 * 1e3 && (double)handed <= bytes / 8 * 1e3 * 1.4);
}

TEST(blocks_leave_out_what_a_mask_hides_or_compute_it)
{
	static const char all[] = "1,8,2,1024,1024,64,0,flash", causal[] = "1,8,2,1024,1024,64,1,flash";
	const char *const sets[] = { "attention.cores=1", "attention.queries=128", "attention.efficiency=0.1" };

	for (int f = 0; f < 2; f++) {
		const enum run_fidelity how = (enum run_fidelity)f;
		const ps_t whole = took_so(all, sets, 3, NULL, how);
		const double of = (double)took_so(causal, sets, 3, NULL, how) / (double)whole;

		CHECK(of > 0.5 && of < 0.65); /* 9 of 16 */
		CHECK_U64(took_so(causal, sets, 3, "attention.masked=compute", how), whole);
	}
}

/* --- what names nothing ------------------------------------------------------------------------------------------- */

TEST(flash_split_and_no_name_are_the_mappers_own)
{
	static const char *const names[] = { "flash", "split_kv", "" };
	ps_t time[3];

	for (int i = 0; i < 3; i++) {
		char row[64];

		snprintf(row, sizeof row, "2,8,2,64,512,64,0,%s", names[i]);
		time[i] = took(row, "attention.head=20 us", "attention.queries=16", RUN_EVENT);
	}
	CHECK_U64(time[0], time[2]);
	CHECK_U64(time[1], time[2]);
}

/* --- masks --------------------------------------------------------------------------------------------------------- */

static const char *const algorithms[] = { "", "flash", "split_kv", "per_head", "grouped", "materialised" };

static ps_t masked(int algorithm, int causal, const char *set, enum run_fidelity f)
{
	char row[64];

	snprintf(row, sizeof row, "1,16,8,1024,1024,128,%d,%s", causal, algorithms[algorithm]);
	return took(row, "attention.queries=128", set, f);
}

TEST(what_a_causal_mask_hides_is_left_out_by_every_algorithm_or_none)
{
	for (int f = 0; f < 2; f++)
		for (int i = 0; i < 6; i++) {
			const bool grouped = strcmp(algorithms[i], "grouped") == 0;
			const ps_t all = masked(i, 0, NULL, (enum run_fidelity)f),
				   half = masked(i, 1, NULL, (enum run_fidelity)f),
				   as_told = masked(i, 1, "attention.masked=compute", (enum run_fidelity)f);

			if (half * 20 > all * 13 || half * 2 < all)
				test_fail(__FILE__, __LINE__, "'%s': %llu ps of %llu", algorithms[i],
				          (unsigned long long)half, (unsigned long long)all);
			CHECK_U64(as_told, grouped ? half : all);
		}
}

/* A mask that hides little: 256 queries behind 3,840 cached keys see 97 % of all pairs. */
TEST(queries_behind_a_long_cache_see_nearly_all_of_it)
{
	const ps_t all = took("1,16,8,256,4096,128,0,", NULL, NULL, RUN_EVENT),
		   seen = took("1,16,8,256,4096,128,1,", NULL, NULL, RUN_EVENT);

	CHECK(seen <= all && seen * 100 >= all * 95);
}

/* Of 4,096 queries in n blocks block i sees i / n of the keys: (n + 1) / 2 times the keys are read, and as many are multiplied.
 * Tiles of the first are no larger: a head of it may have fewer keys than one of the last's. */
TEST(a_block_of_queries_loads_and_multiplies_only_the_keys_that_its_last_one_sees)
{
	const char *const small[2] = { "sram.size=2 MiB", NULL };
	const uint64_t bytes = UINT64_C(2) * 128 * 4096, pairs = UINT64_C(16) * 4096 * 4096;

	for (int f = 0; f < 2; f++) {
		struct table t;
		uint64_t n, macs;

		up(&t, "1,16,8,4096,4096,128,1,", small, (enum run_fidelity)f);
		n = t.x.map->prog.n_cmds;
		CHECK(n > 4);
		CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), bytes * 16 + bytes * 8 * (n + 1));
		macs = runbed_stat(&t.x, "matrix.macs");
		CHECK(macs >= pairs / 2 * 2 * 128 && macs <= pairs / 100 * 56 * 2 * 128);
		CHECK(t.x.map->prog.cmds[n - 1].tiles <= n * t.x.map->prog.cmds[0].tiles);
		CHECK(t.x.map->prog.cmds[n - 1].slot_bytes >= t.x.map->prog.cmds[0].slot_bytes);
		CHECK(t.x.total_ps >= t.x.roofline_ps && t.x.total_ps >= t.x.mapped_ps);
		down(&t);
	}
}

/* Of shipped machines whose software leaves out, at 2,048 tokens and more: at 1,024 launch and bytes are a third of it. */
TEST(a_causal_mask_saves_a_third_and_more_on_shipped_machines)
{
	static const char *const machines[] = { "array-128", "dsocr",     "edge",    "h200-twin",
		                                "imc-256m",  "trainium1", "wormhole" };
	struct table t[2];

	up(&t[0], "1,16,8,2048,2048,128,0,", none, RUN_ANALYTIC);
	up(&t[1], "1,16,8,2048,2048,128,1,", none, RUN_ANALYTIC);
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		for (int f = 0; f < 2; f++) {
			const struct run_opts how = { .start = RUN_COLD, .fidelity = (enum run_fidelity)f, .seed = 1 };
			struct run_result x[2];
			char config[64];

			snprintf(config, sizeof config, "configs/npu/%s.yaml", machines[i]);
			for (int k = 0; k < 2; k++) {
				struct runbed b = { .a = t[k].b.a, .s = &t[k].s, .e = ERR_INIT };

				CHECK(runbed_run(&b, config, NULL, 0, &how, &x[k]));
				CHECK(x[k].total_ps >= x[k].roofline_ps && x[k].total_ps >= x[k].mapped_ps);
			}
			if (x[1].total_ps * 3 > x[0].total_ps * 2)
				test_fail(__FILE__, __LINE__, "%s: %llu ps of %llu", config,
				          (unsigned long long)x[1].total_ps, (unsigned long long)x[0].total_ps);
		}
	down(&t[0]);
	down(&t[1]);
}

/* Queries, results, keys and values in 16 rounds of a KV head each: all moves once, and what is not
 * hidden is less than the half that queries and results are. */
TEST(queries_and_results_of_a_head_move_while_others_are_computed)
{
	const char *const sets[2] = { "sram.size=64 MiB", "matrix.units=16" };
	const uint64_t bytes = UINT64_C(2) * 2048 * 128 * 16;

	for (int f = 0; f < 2; f++) {
		struct table t;
		const struct isa_cmd *c;

		up(&t, "1,16,16,2048,2048,128,0,", sets, (enum run_fidelity)f);
		c = t.x.map->prog.cmds;
		CHECK_U64(t.x.map->prog.n_cmds, 1);
		CHECK_U64(c->trips[0], 16);
		CHECK(c->fixed_bytes <= bytes / 4);
		CHECK_U64(runbed_stat(&t.x, "dram.read_bytes"), 3 * bytes);
		CHECK_U64(runbed_stat(&t.x, "dram.write_bytes"), bytes);
		CHECK(t.x.total_ps - t.x.peak_ps[RES_VECTOR] < t.x.pins_ps / 2);
		down(&t);
	}
}

SUITE(t_map_attention, T(heads_in_a_loop_move_each_tensor_once_and_compute_every_query_head),
      T(scores_of_all_heads_stay_on_chip_or_are_written_and_read),
      T(scores_stay_where_their_room_holds_them_whatever_operands_take),
      T(operands_that_lie_batch_by_batch_are_copied_into_rows_and_back),
      T(heads_of_more_than_any_model_are_those_of_a_batch), T(blocks_of_queries_read_the_keys_that_they_see_anew),
      T(keys_of_one_head_that_sram_does_not_hold_come_in_tiles),
      T(what_fits_on_chip_is_there_and_what_does_not_is_copied_in_blocks),
      T(waits_of_heads_and_of_steps_count_as_often_as_there_are),
      T(a_serving_kernel_waits_at_its_start_and_moves_odd_groups_head_by_head),
      T(a_kernel_starts_once_and_steps_once_a_wave_of_its_blocks),
      T(a_wave_that_is_not_full_takes_as_long_as_a_full_one),
      T(blocks_read_their_heads_keys_anew_and_compute_each_pair_once), T(what_software_does_not_overlap_adds_up),
      T(scores_between_units_that_share_no_memory_take_the_cores_ports),
      T(blocks_leave_out_what_a_mask_hides_or_compute_it), T(flash_split_and_no_name_are_the_mappers_own),
      SLOW(what_a_causal_mask_hides_is_left_out_by_every_algorithm_or_none),
      T(queries_behind_a_long_cache_see_nearly_all_of_it),
      T(a_block_of_queries_loads_and_multiplies_only_the_keys_that_its_last_one_sees),
      T(queries_and_results_of_a_head_move_while_others_are_computed),
      T(a_causal_mask_saves_a_third_and_more_on_shipped_machines));
