/* The traced DeepSeek-OCR decode step on the shipped machines: exact bytes, order of designs, what changes what. */
#include "arch/gpu/gpu_work.h"
#include "sim/base/hash.h"
#include "sim/lower/lower.h"
#include "traces/db/tracedb.h"
#include "traces/read/kineto.h"
#include "validate/tests/runbed.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/test.h"
#include "workloads/work.h"

#include <stdlib.h>

/* The quick form (valgrind): of a ladder its ends, and of the machines the first. */
#define TOLERANCE_PPM 5000
#define L2_PPM        15000 /* where copied KV is written back, its rows meet other reads'; the bytes are the same */
#define DSOCR         "configs/npu/dsocr.yaml"
#define EDGE          "configs/npu/edge.yaml"
#define H200          "configs/gpu/h200.yaml"

static void bed_up(struct runbed *b)
{
	runbed_traced(b, "kineto_dsocr_b1_c1024", "decode_step_1");
}

static void run(struct runbed *b, const char *config, const char *const *sets, int n, enum run_start start,
                struct run_result *x)
{
	const struct run_opts o = { .start = start, .seed = 1 };

	if (!runbed_run(b, config, sets, n, &o, x))
		test_fail(__FILE__, __LINE__, "%s", b->e.msg);
}

static ps_t total(struct runbed *b, const char *config, const char *set)
{
	struct run_result x;

	run(b, config, &set, 1, RUN_STEADY, &x);
	CHECK(x.total_ps >= x.roofline_ps);
	return x.total_ps;
}

/* Each value in turn is more of the resource (or less of a latency): never slower by more than the tolerance. */
static void ladder(struct runbed *b, const char *config, ps_t tolerance_ppm, const char *const *sets)
{
	ps_t before = PS_NEVER;

	if (!test_turn((size_t)hash_str(HASH_INIT, *sets), 3))
		return;

	for (; *sets; sets++) {
		ps_t now;

		/* Its two ends, where all steps of it take too long. */
		if (!test_rounds(0, 0, 1) && before != PS_NEVER && sets[1])
			continue;
		now = total(b, config, *sets);
		if (before != PS_NEVER && now > before + before / 1000000 * tolerance_ppm)
			test_fail(__FILE__, __LINE__, "%s: %llu ps with %s, %llu before", config,
			          (unsigned long long)now, *sets, (unsigned long long)before);
		before = now;
	}
}

#define LADDER(...)    ladder(&b, config, TOLERANCE_PPM, (const char *const[]){ __VA_ARGS__, NULL })
#define L2_LADDER(...) ladder(&b, config, L2_PPM, (const char *const[]){ __VA_ARGS__, NULL })

TEST(more_of_any_resource_never_slows_the_step)
{
	static const char *const configs[] = { DSOCR, EDGE };
	struct runbed b;

	bed_up(&b);
	for (int i = 0; i < 2; i++) {
		const char *config = configs[i];

		L2_LADDER("l2.size=1 MiB", "l2.size=8 MiB", "l2.size=64 MiB", "l2.size=192 MiB", "l2.size=512 MiB",
		          "l2.size=2 GiB");
		/* A few MiB change when the copied KV is written back: cache.h, eager write-back. */
		/* Tensors a power of two apart share sets where these are a power of two: 8 MiB hold 0.5 % worse than 6. */
		L2_LADDER("l2.size=2 MiB", "l2.size=4 MiB", "l2.size=8 MiB", "l2.size=16 MiB", "l2.size=32 MiB");
		LADDER("l2.size=3 MiB", "l2.size=6 MiB", "l2.size=10 MiB", "l2.size=12 MiB", "l2.size=24 MiB");
		LADDER("l2.victim=0", "l2.victim=2 MiB", "l2.victim=4 MiB", "l2.victim=6 MiB", "l2.victim=8 MiB",
		       "l2.victim=64 MiB", "l2.victim=512 MiB", "l2.victim=2 GiB");
		/* From none to some costs a look-up on the way of every miss: 0.8 % here. */
		LADDER("l2.weight_ways=0", "l2.weight_ways=4", "l2.weight_ways=8", "l2.weight_ways=15");
		LADDER("l1.size=128 KiB", "l1.size=256 KiB", "l1.size=1 MiB");
		LADDER("gemv.units=1", "gemv.units=2", "gemv.units=4", "gemv.units=8");
		LADDER("gemv.lanes=16", "gemv.lanes=32", "gemv.lanes=64");
		LADDER("fusion.enabled=false", "fusion.enabled=true");
		LADDER("dispatch.latency=2 us", "dispatch.latency=500 ns", "dispatch.latency=150 ns",
		       "dispatch.latency=0");
		LADDER("vector.lanes=16", "vector.lanes=32", "vector.lanes=64");
		LADDER("sram.size=256 KiB", "sram.size=512 KiB", "sram.size=1 MiB");
		LADDER("sram.ports=1", "sram.ports=2", "sram.ports=4");
		LADDER("sram.banks=4", "sram.banks=16", "sram.banks=64");
		LADDER("dma.stages=4", "dma.stages=8", "dma.stages=16");
		LADDER("kv_buffer.size=0", "kv_buffer.size=16 MiB", "kv_buffer.size=64 MiB", "kv_buffer.size=128 MiB");
		LADDER("cores=4", "cores=16", "cores=64", "cores=80");
	}
	runbed_down(&b);
}

/* By how much, in ppm, a larger L2 takes longer than the best of the smaller ones, at the most: from 64 MiB to 1,088 by
 * `step` times 32, most of them no power of two. */
static ps_t worst_growth(struct runbed *b, const char *policy, const char *channels, int step)
{
	ps_t best = PS_NEVER, worst = 0;

	for (int mib = 64; mib <= 1088; mib += 32 * step) {
		const struct run_opts o = { .start = RUN_STEADY, .seed = 1 };
		char size[32];
		const char *const sets[] = { policy, channels, size };
		struct run_result x;

		snprintf(size, sizeof size, "l2.size=%d MiB", mib);
		CHECK(runbed_run(b, DSOCR, sets, 3, &o, &x));
		CHECK(x.total_ps >= x.roofline_ps);
		if (x.total_ps > best)
			worst = ps_max(worst, (x.total_ps - best) * 1000000 / best);
		best = ps_min(best, x.total_ps);
	}
	printf("%s, %s: at worst %llu ppm slower with more L2\n", policy, channels, (unsigned long long)worst);
	return worst;
}

/* What is left over TOLERANCE_PPM: pieces of tensors lie in sets that the hash of their tags gives them, a row of some
 * hundred at a time, so how many sets are asked for more than they hold depends on how many there are; under lru such a
 * set loses all of it each step. 1,088 MiB find less than 1,056. */
TEST(an_l2_between_powers_of_two_is_no_slower_than_a_smaller_one)
{
	static const char *const channels[] = { "dram.channels=16", "dram.channels=48" };
	const int step = test_rounds(8, 4, 1);
	struct runbed b;

	bed_up(&b);
	for (size_t i = 0; i < 2; i++) {
		CHECK(!test_turn(i, 2) || worst_growth(&b, "l2.policy=drrip", channels[i], step) <= 15000);
		CHECK(!test_turn(i + 1, 2) || worst_growth(&b, "l2.policy=lru", channels[i], step) <= 40000);
	}
	runbed_down(&b);
}

TEST(every_l2_policy_hash_and_partition_stays_above_the_roofline)
{
	static const char *const configs[] = { DSOCR, EDGE };
	const struct words policies = l2_policies();
	struct runbed b;

	bed_up(&b);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < policies.n; k++) {
			char policy[64];
			const char *sets[] = { policy, "kv_buffer.size=0", "l2.hash=xor", "l2.kv_ways=4",
				               "l2.weight_ways=6" };

			if (!test_turn((size_t)i + k, 2))
				continue;
			snprintf(policy, sizeof policy, "l2.policy=%s", policies.v[k]);
			for (int n = 1; n <= 5; n += test_rounds(4, 4, 1)) {
				struct run_result x;

				run(&b, configs[i], sets, n, RUN_STEADY, &x);
				CHECK(x.total_ps >= x.roofline_ps);
				printf("%s, %s and %d more: %llu us, %llu MB from DRAM\n", configs[i], policy, n - 1,
				       (unsigned long long)(x.total_ps / 1000000),
				       (unsigned long long)(x.dram_read_bytes / 1000000));
			}
		}
	runbed_down(&b);
}

TEST(a_kv_cache_that_must_fit_is_refused_where_it_does_not)
{
	static const char *const fits[] = { "kv_buffer.size=128 MiB", "kv_buffer.spill=false" };
	static const char *const not [] = { "kv_buffer.size=16 MiB", "kv_buffer.spill=false" };
	struct run_opts o = { .start = RUN_COLD, .seed = 1 };
	struct run_result x, y;
	struct machine_conf *c;
	char path[512];
	struct runbed b;

	bed_up(&b);
	run(&b, DSOCR, fits, 2, RUN_COLD, &x);
	run(&b, DSOCR, fits, 1, RUN_COLD, &y);
	CHECK_U64(x.total_ps, y.total_ps);
	run(&b, DSOCR, not, 1, RUN_COLD, &x);
	snprintf(path, sizeof path, "%s/%s", test_root(), DSOCR);
	CHECK((c = machine_conf_load(path, not, 2, &b.e)) != NULL);
	CHECK(run_stream(b.s, c, &o, b.a, &x, &b.e) < 0 && b.e.kind == ERR_CONFIG);
	CHECK_HAS(b.e.msg, "'kv_buffer.spill' is off and the KV cache of this run does not fit: it takes");
	machine_conf_free(c);
	runbed_down(&b);
}

TEST(more_bandwidth_never_slows_the_step)
{
	struct runbed b;
	const char *config = DSOCR;

	bed_up(&b);
	LADDER("dram.bandwidth=1 TB/s", "dram.bandwidth=1.5 TB/s", "dram.bandwidth=2 TB/s",
	       "dram.bandwidth=2.4576 TB/s", "dram.bandwidth=3 TB/s", "dram.bandwidth=4 TB/s");
	LADDER("dram.channels=16", "dram.channels=32", "dram.channels=48", "dram.channels=64");
	LADDER("dram.latency_scale=2", "dram.latency_scale=1", "dram.latency_scale=0.5");
	config = EDGE;
	LADDER("dram.bandwidth=50 GB/s", "dram.bandwidth=100 GB/s", "dram.bandwidth=102.4 GB/s",
	       "dram.bandwidth=150 GB/s");
	runbed_down(&b);
}

/* The bytes the issue of this spine names: 1,148,190,720 B of projection weights (router as bf16), 62,914,560 B of old
 * KV, 25 norms of 2,560 B, one embedding row, rope rows. Cold, and nothing ever leaves an L2 of 2 GiB. */
TEST(a_cold_step_reads_every_weight_and_the_old_cache_once)
{
	struct runbed b;
	struct run_result x;
	const uint64_t want = UINT64_C(1148190720) + 62914560 + 25 * 2560 + 2560;

	bed_up(&b);
	run(&b, DSOCR, (const char *[]){ "l2.size=2 GiB", "kv_buffer.size=0", "l2.write_back=lazy" }, 3, RUN_COLD, &x);
	CHECK(x.dram_read_bytes >= want && x.dram_read_bytes < want + want / 1000);
	CHECK_U64(x.dram_write_bytes, 0);
	/* what the concat wrote is dirty in the L2: 1,025 rows a head, layer and side */
	CHECK(x.dirty_bytes >= UINT64_C(24) * 10 * 1025 * 128 * 2);
	run(&b, DSOCR, (const char *[]){ "l2.size=2 GiB" }, 1, RUN_COLD, &x);
	CHECK(x.dram_read_bytes >= want && x.dram_read_bytes < want + want / 1000);
	runbed_down(&b);
}

TEST(a_small_l2_moves_the_copied_cache_out_and_in_again)
{
	struct runbed b;
	struct run_result big, small;
	const uint64_t copied = UINT64_C(24) * 10 * 1025 * 128 * 2;

	bed_up(&b);
	run(&b, DSOCR, (const char *[]){ "l2.size=2 GiB", "kv_buffer.size=0" }, 2, RUN_COLD, &big);
	run(&b, DSOCR, (const char *[]){ "l2.size=1 MiB", "kv_buffer.size=0" }, 2, RUN_COLD, &small);
	CHECK(small.dram_write_bytes > copied / 100 * 95);
	CHECK(small.dram_read_bytes > big.dram_read_bytes + copied / 100 * 80);
	runbed_down(&b);
}

TEST(a_faster_unit_changes_its_own_ops)
{
	struct runbed b;
	struct run_result x, y;
	ps_t gemm[2] = { 0, 0 }, rest[2] = { 0, 0 };

	bed_up(&b);
	run(&b, DSOCR, (const char *[]){ "gemv.units=1", "gemv.lanes=4", "matrix.units=0" }, 3, RUN_STEADY, &x);
	run(&b, DSOCR, (const char *[]){ "gemv.units=4", "gemv.lanes=4", "matrix.units=0" }, 3, RUN_STEADY, &y);
	for (size_t i = 0; i < b.s->n_ops; i++) {
		ps_t *t = b.s->ops[i].kind == OP_GEMM || b.s->ops[i].kind == OP_ATTENTION ? gemm : rest;

		t[0] += x.ops[i].limit_ps;
		t[1] += y.ops[i].limit_ps;
	}
	CHECK(gemm[1] * 2 < gemm[0]);
	/* ops fused behind a product share its time, so theirs moves a little too */
	CHECK(rest[1] <= rest[0]);
	CHECK(y.total_ps < x.total_ps);
	runbed_down(&b);
}

TEST(narrow_weights_move_fewer_bytes_and_take_less_time)
{
	struct runbed b;
	struct run_result x, y;

	bed_up(&b);
	run(&b, DSOCR, NULL, 0, RUN_COLD, &x);
	run(&b, DSOCR, (const char *[]){ "weights.dtype=fp8" }, 1, RUN_COLD, &y);
	/* all products but the fp32 router's store half; its weight is converted from bf16 by an op of its own */
	CHECK(y.dram_read_bytes < x.dram_read_bytes / 100 * 55 + 40000000);
	CHECK(y.total_ps < x.total_ps);
	runbed_down(&b);
}

TEST(all_experts_kept_cost_no_more_than_none_kept)
{
	struct runbed b;
	struct run_result x[2];

	bed_up(&b);
	for (int i = 0; i < 2; i++) {
		char path[512];
		struct run_opts o = {
			.start = RUN_STEADY, .seed = 1, .reuse_given = true, .reuse_ppm = i ? 1000000 : 0
		};
		struct machine_conf *c;

		snprintf(path, sizeof path, "%s/" DSOCR, test_root());
		c = machine_conf_load(path, (const char *[]){ "l2.size=2 GiB" }, 1, &b.e);
		CHECK(c);
		CHECK_OK(run_stream(b.s, c, &o, b.a, &x[i], &b.e), b.e);
		machine_conf_free(c);
	}
	/* 11 layers, 6 picks of 3 x 1280 x 896 x 2 B: kept ones are all on chip */
	CHECK_U64(x[1].dram_read_bytes, 0);
	/* sets are found by a hash: some of what would fit meets in the same ones */
	CHECK(x[0].dram_read_bytes >= UINT64_C(11) * 6 * 3 * 1280 * 896 * 2);
	CHECK(x[0].dram_read_bytes <= UINT64_C(11) * 6 * 3 * 1280 * 896 * 2 / 100 * 101);
	CHECK(x[1].total_ps <= x[0].total_ps);
	runbed_down(&b);
}

/* One launch moves what its op's operands hold, unless its template says otherwise; no launch moves more. */
static void check_moved(const struct gpu_work *w, const struct op *o)
{
	const struct work all = work_of(w->stream, o);
	uint64_t read = 0, write = 0;

	for (uint32_t k = 0; k < o->n_launches; k++) {
		const struct gpu_launch *l = &w->launches[o->first_launch + k];

		CHECK(l->op == o && l->at == &w->stream->launches[o->first_launch + k]);
		CHECK_U64(l->nth, k);
		CHECK_U64(l->count, o->n_launches);
		read += l->mem.read;
		write += l->mem.write;
	}
	if (o->n_launches == 1 && w->launches[o->first_launch].kernel.moves == KERNEL_MOVES_ALL) {
		CHECK_U64(read, all.read_bytes);
		CHECK_U64(write, all.write_bytes);
	}
	CHECK(read <= o->n_launches * all.read_bytes && write <= o->n_launches * all.write_bytes);
}

TEST(a_gpus_work_holds_every_launch_with_its_geometry_and_all_the_bytes)
{
	struct runbed b;
	struct gpu_work w;
	struct kernels *k;
	struct gpu_traffic *t;
	uint64_t ns = 0, nvjet = 0;
	struct machine_conf *c;
	char path[512];

	bed_up(&b);
	snprintf(path, sizeof path, "%s/" H200, test_root());
	CHECK((c = machine_conf_load(path, NULL, 0, &b.e)) != NULL);
	CHECK((k = kernels_load(NULL, &b.e)) != NULL);
	CHECK((t = gpu_traffic_new(&c->cfg.mem, c->cfg.clock, &b.e)) != NULL);
	CHECK_OK(gpu_work_make(b.s, k, b.a, &w, &b.e), b.e);
	CHECK_OK(gpu_work_run(&w, false, t, &b.e), b.e);
	CHECK_U64(w.n, 1100);
	for (size_t i = 0; i < b.s->n_ops; i++)
		check_moved(&w, &b.s->ops[i]);
	for (size_t i = 0; i < w.n; i++) {
		const struct op_launch *l = w.launches[i].at;

		ns += l->measured_ns;
		nvjet += strstr(l->name, "nvjet") && l->registers && l->smem_dynamic && l->grid[0] && l->block[0];
	}
	CHECK_U64(ns, b.s->measured_ns);
	CHECK_U64(nvjet, 283);
	gpu_traffic_free(t);
	kernels_free(k);
	machine_conf_free(c);
	runbed_down(&b);
}

TEST(three_steps_read_the_same_weights_and_new_experts_only)
{
	struct runbed b;
	struct run_result x[2];
	struct trace t;
	struct lower_stats st;
	const uint64_t one = UINT64_C(1148190720) + 62914560, expert = UINT64_C(3) * 1280 * 896 * 2;

	bed_up(&b);
	CHECK_OK(tracedb_load(b.db, NULL, b.a, &t, &b.e), b.e);
	CHECK_OK(lower_trace(&t, b.rules, b.a, b.s, &st, &b.e), b.e);
	for (int i = 0; i < 2; i++) {
		char path[512];
		struct run_opts o = { .start = RUN_COLD, .seed = 1, .reuse_given = true, .reuse_ppm = i ? 1000000 : 0 };
		struct machine_conf *c;

		snprintf(path, sizeof path, "%s/" DSOCR, test_root());
		c = machine_conf_load(path, (const char *[]){ "l2.size=8 GiB" }, 1, &b.e);
		CHECK(c);
		CHECK_OK(run_stream(b.s, c, &o, b.a, &x[i], &b.e), b.e);
		CHECK(x[i].total_ps >= x[i].roofline_ps);
		CHECK(x[i].dram_read_bytes >= x[i].compulsory_bytes &&
		      x[i].dram_read_bytes < x[i].compulsory_bytes + 100000);
		machine_conf_free(c);
	}
	CHECK(x[1].dram_read_bytes >= one && x[1].dram_read_bytes < one + one / 1000);
	/* nothing kept: two more steps, 11 layers, 6 experts, some of which the first step read */
	CHECK(x[0].dram_read_bytes > x[1].dram_read_bytes + 11 * 6 * expert);
	CHECK(x[0].dram_read_bytes <= x[1].dram_read_bytes + 2 * 11 * 6 * expert);
	runbed_down(&b);
}

SUITE(p_step, SLOW(three_steps_read_the_same_weights_and_new_experts_only),
      T(a_gpus_work_holds_every_launch_with_its_geometry_and_all_the_bytes),
      SLOW(more_of_any_resource_never_slows_the_step),
      SLOW(an_l2_between_powers_of_two_is_no_slower_than_a_smaller_one),
      SLOW(every_l2_policy_hash_and_partition_stays_above_the_roofline),
      T(a_kv_cache_that_must_fit_is_refused_where_it_does_not), SLOW(more_bandwidth_never_slows_the_step),
      T(a_cold_step_reads_every_weight_and_the_old_cache_once), T(a_small_l2_moves_the_copied_cache_out_and_in_again),
      SLOW(a_faster_unit_changes_its_own_ops), T(narrow_weights_move_fewer_bytes_and_take_less_time),
      SLOW(all_experts_kept_cost_no_more_than_none_kept));
