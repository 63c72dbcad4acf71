/* The closed form of a machine against its event model: physics, and how far they are apart. */
#include "sim/engine/analytic.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#include <stdlib.h>

#define ROUNDS     test_rounds(10, 14, 100)
#define MEDIAN_PPM 50000 /* how far the two may be apart; which of them is faster is open */
/* More of a resource, as in p_run.c: a tolerance, and how often and how far random machines may be beyond it. */
#define TOLERANCE_PPM 5000
#define WORST_PPM     50000
#define MAY_EXCEED    6

/* On `config`, or on the bed's own machine; false when that machine cannot be built or holds no tile. */
static bool run(struct runbed *b, const char *config, const char *const *sets, int n, enum run_start start,
                enum run_fidelity fidelity, struct run_result *x)
{
	const struct run_opts o = { .start = start, .seed = 7, .fidelity = fidelity };

	return runbed_run(b, config, sets, n, &o, x);
}

static void check_physics(const struct runbed *b, const struct run_result *x)
{
	ps_t sum = 0, stalls = 0;

	if (x->total_ps < x->roofline_ps)
		test_fail(__FILE__, __LINE__, "total %llu < roofline %llu (%s)\n%s", (unsigned long long)x->total_ps,
		          (unsigned long long)x->roofline_ps, res_name(x->roofline_bound), b->yaml.p ? b->yaml.p : "");
	CHECK(x->total_ps >= x->mapped_ps);
	for (size_t k = 0; k < b->s->n_ops; k++) {
		uint32_t ppm = 0;

		CHECK(x->ops[k].limit_ps <= x->ops[k].span_ps);
		sum += x->ops[k].span_ps;
		for (int n = 0; n < RES_COUNT; n++)
			ppm += x->ops[k].stall_ppm[n];
		CHECK_U64(ppm, 1000000);
	}
	for (int n = 0; n < RES_COUNT; n++)
		stalls += x->stall_ps[n];
	CHECK_U64(sum, x->total_ps);
	CHECK_U64(stalls, x->total_ps);
	CHECK_U64(runbed_stat(x, "l2.read_bytes") + runbed_stat(x, "l2.write_bytes"),
	          runbed_stat(x, "l2.hit_bytes") + runbed_stat(x, "l2.miss_bytes"));
	CHECK_U64(runbed_stat(x, "l1.read_bytes"), runbed_stat(x, "l1.hit_bytes") + runbed_stat(x, "l1.miss_bytes"));
	CHECK_U64(x->events, 0);
}

TEST(no_closed_form_is_under_its_roofline_and_ops_sum_to_the_run)
{
	static const char *const sets[] = { "l1.size=64 KiB", "l1.shared_split=25 %", "l1.victim=8 KiB" };
	struct rng r;

	rng_seed(&r, test_seed(), "analytic");
	for (int i = 0; i < 3 * ROUNDS; i++) {
		struct runbed b;
		struct run_result x;

		runbed_random(&b, &r);
		if (run(&b, NULL, sets, i % 4, i % 2 ? RUN_STEADY : RUN_COLD, RUN_ANALYTIC, &x))
			check_physics(&b, &x);
		runbed_down(&b);
	}
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t apart_ppm(const struct run_result *x, const struct run_result *y)
{
	ps_t d = x->total_ps > y->total_ps ? x->total_ps - y->total_ps : y->total_ps - x->total_ps;

	return d * 1000000 / y->total_ps;
}

static void apart(const char *name, const char *const *sets, int n_sets)
{
	uint64_t ppm[100];
	size_t n = 0;
	int slower = 0;
	struct rng r;

	rng_seed(&r, test_seed(), name);
	for (int i = 0; i < ROUNDS; i++) {
		struct runbed b;
		struct run_result x, y;

		runbed_random(&b, &r);
		if (run(&b, NULL, sets, n_sets, i % 2 ? RUN_STEADY : RUN_COLD, RUN_ANALYTIC, &x) &&
		    run(&b, NULL, sets, n_sets, i % 2 ? RUN_STEADY : RUN_COLD, RUN_EVENT, &y)) {
			check_physics(&b, &x);
			slower += x.total_ps > y.total_ps;
			ppm[n++] = apart_ppm(&x, &y);
		}
		runbed_down(&b);
	}
	qsort(ppm, n, sizeof *ppm, by_size);
	CHECK(n > (size_t)ROUNDS / 2);
	printf("closed form against events, %zu random machines (%s): median %llu ppm, p90 %llu, worst %llu; %d slower\n",
	       n, name, (unsigned long long)ppm[n / 2], (unsigned long long)ppm[n * 9 / 10],
	       (unsigned long long)ppm[n - 1], slower);
	CHECK(ppm[n / 2] <= MEDIAN_PPM);
}

TEST(random_machines_are_within_five_percent_of_events_in_the_median)
{
	apart("apart", NULL, 0);
}

/* All that a machine has only if it says so. */
TEST(so_are_machines_with_every_mechanism)
{
	static const char *const sets[] = { "core.control=4",     "core.unit_latency=24", "vector.act=8",
		                            "vector.norm=8",      "dispatch.join=true",   "dispatch.batch=8",
		                            "imc.units=64",       "l1.size=64 KiB",       "l1.victim=16 KiB",
		                            "matrix.sparse=true", "gemv.sparse=true",     "weights.sparsity=2:4" };
	const int n = sizeof sets / sizeof *sets;

	apart("issue, units and batching", sets, 6);
	apart("in memory and an L1", sets + 6, 3);
	apart("sparse", sets + 9, 3);
	apart("all", sets, n);
}

TEST(the_traced_steps_are_within_five_percent_of_events)
{
	static const char *const traces[] = { "kineto_dsocr_b1_c1024", "kineto_llama1b_b1_c256" };
	static const char *const configs[] = { "configs/npu/dsocr.yaml", "configs/npu/edge.yaml" };

	for (int t = 0; t < 2; t++) {
		struct runbed b;

		runbed_traced(&b, traces[t], "decode_step_1");
		for (int i = 0; i < 2; i++)
			for (int start = RUN_STEADY; start <= RUN_COLD; start++) {
				struct run_result x, y;

				CHECK(run(&b, configs[i], NULL, 0, (enum run_start)start, RUN_ANALYTIC, &x));
				CHECK(run(&b, configs[i], NULL, 0, (enum run_start)start, RUN_EVENT, &y));
				check_physics(&b, &x);
				printf("%s on %s, %s: %llu ns, events %llu ns, %llu ppm apart\n", traces[t], configs[i],
				       start == RUN_STEADY ? "steady" : "cold", (unsigned long long)x.total_ps / 1000,
				       (unsigned long long)y.total_ps / 1000, (unsigned long long)apart_ppm(&x, &y));
				CHECK(apart_ppm(&x, &y) <= MEDIAN_PPM);
			}
		runbed_down(&b);
	}
}

TEST(the_same_closed_form_twice_is_the_same_to_the_picosecond)
{
	struct rng r;

	rng_seed(&r, test_seed(), "analytic again");
	for (int i = 0; i < ROUNDS / 4; i++) {
		struct runbed b;
		struct run_result x, y;

		runbed_random(&b, &r);
		if (run(&b, NULL, NULL, 0, RUN_STEADY, RUN_ANALYTIC, &x) &&
		    run(&b, NULL, NULL, 0, RUN_STEADY, RUN_ANALYTIC, &y)) {
			CHECK_U64(x.total_ps, y.total_ps);
			CHECK_U64(x.n_stats, y.n_stats);
			for (size_t k = 0; k < x.n_stats; k++)
				CHECK_U64(x.stats[k].value, y.stats[k].value);
			CHECK(memcmp(x.ops, y.ops, b.s->n_ops * sizeof *x.ops) == 0);
		}
		runbed_down(&b);
	}
}

/* When all of a step's commands end: asked with all that they waited for, and asked for that alone, where loops that repeat
 * themselves are taken many tiles at once. */
static void check_times_alone(struct runbed *b, const struct machine_conf *c, const struct isa_prog *p)
{
	struct cp_result *all = arena_array(b->a, p->n_cmds + 1, sizeof *all),
			 *alone = arena_array(b->a, p->n_cmds + 1, sizeof *alone);
	struct analytic *x = analytic_new(&c->cfg, p, &b->e), *y = analytic_new(&c->cfg, p, &b->e);

	CHECK(all && alone && x && y);
	CHECK_OK(analytic_times_only(y, &b->e), b->e);
	for (int pass = 0; pass < 2; pass++) {
		CHECK_OK(analytic_step(x, NULL, all, &b->e), b->e);
		CHECK_OK(analytic_step(y, NULL, alone, &b->e), b->e);
		for (size_t k = 0; k < p->n_cmds; k++)
			if (all[k].retired != alone[k].retired)
				test_fail(__FILE__, __LINE__, "command %zu of %zu ends at %llu, alone at %llu", k,
				          p->n_cmds, (unsigned long long)all[k].retired,
				          (unsigned long long)alone[k].retired);
	}
	analytic_free(x);
	analytic_free(y);
}

TEST(times_asked_for_alone_are_those_of_all_tiles)
{
	static const char *const machines[] = { "dsocr", "edge", "array-128", "wormhole", "tpu-v4" };
	static const char *const sets[][3] = { { "dram.channels=8", "l2.size=4 MiB", "dma.tile=64 KiB" },
		                               { "l2.write_back=eager", "l2.size=24 MiB", "dma.tile=128 KiB" },
		                               { "noc.kind=mesh", "l2.size=0 B", "dma.stages=3" },
		                               { "dma.outstanding=4", "sram.size=96 KiB", "l2.size=12 MiB" },
		                               { "l2.size=4 MiB", "cores=4", "dram.channels=8" } };
	const struct run_opts o = { .seed = 7, .fidelity = RUN_ANALYTIC };
	struct rng r;

	rng_seed(&r, test_seed(), "times alone");
	for (int i = 0; i < ROUNDS / 2; i++) {
		const struct build_how how = { .style = BUILD_NPU,
			                       .batch = 1 + (uint32_t)rng_below(&r, 3),
			                       .phase = i % 3 ? BUILD_DECODE : BUILD_PREFILL,
			                       .context = 64 + rng_below(&r, 2000),
			                       .tokens = i % 3 ? 1 : 200,
			                       .layers = 1 };
		const char *const *with = sets[rng_below(&r, sizeof sets / sizeof *sets)];
		const int n = (int)rng_below(&r, 4);
		char config[4096];
		struct machine_conf *c;
		struct run_result x;
		struct runbed b;

		snprintf(config, sizeof config, "%s/configs/npu/%s.yaml", test_root(),
		         machines[rng_below(&r, sizeof machines / sizeof *machines)]);
		runbed_model(&b, i % 2 ? "llama-3.2-1b" : "qwen2-0.5b", &how);
		c = machine_conf_load(config, with, n, &b.e);
		if (c && run_stream(b.s, c, &o, b.a, &x, &b.e) == 0)
			check_times_alone(&b, c, &x.map->prog);
		machine_conf_free(c);
		runbed_down(&b);
	}
}

static void more_is_never_slower(const char *name, const char *less, const char *more)
{
	struct rng r;
	ps_t worst = 0;
	int over = 0;

	rng_seed(&r, test_seed(), name);
	for (int i = 0; i < ROUNDS; i++) {
		struct runbed b;
		struct run_result x, y;

		runbed_random(&b, &r);
		if (run(&b, NULL, &less, 1, RUN_STEADY, RUN_ANALYTIC, &x) &&
		    run(&b, NULL, &more, 1, RUN_STEADY, RUN_ANALYTIC, &y)) {
			ps_t ppm = y.total_ps > x.total_ps ? (y.total_ps - x.total_ps) * 1000000 / x.total_ps : 0;

			worst = ps_max(worst, ppm);
			over += ppm > TOLERANCE_PPM;
			if (ppm > WORST_PPM)
				test_fail(__FILE__, __LINE__, "%s takes %llu ps, %s %llu ps\n%s", less,
				          (unsigned long long)x.total_ps, more, (unsigned long long)y.total_ps,
				          b.yaml.p);
		}
		runbed_down(&b);
	}
	printf("worst anomaly of %s -> %s: %llu ppm, %d over 0.5 %%\n", less, more, (unsigned long long)worst, over);
	CHECK(over <= MAY_EXCEED);
}

TEST(more_of_any_resource_never_slows_the_closed_form)
{
	static const char *const pairs[][2] = {
		{ "gemv.units=1", "gemv.units=3" },
		{ "gemv.lanes=16", "gemv.lanes=64" },
		{ "vector.lanes=16", "vector.lanes=64" },
		{ "l2.size=1 MiB", "l2.size=16 MiB" },
		{ "kv_buffer.size=256 KiB", "kv_buffer.size=8 MiB" },
		{ "sram.size=128 KiB", "sram.size=512 KiB" },
		{ "dma.stages=2", "dma.stages=6" },
		{ "dma.outstanding=4", "dma.outstanding=16" },
		{ "dispatch.latency=400 ns", "dispatch.latency=100 ns" },
		{ "dispatch.host=10 us", "dispatch.host=5 us" },
		{ "dispatch.queue=4", "dispatch.queue=32" },
		{ "fusion.enabled=false", "fusion.enabled=true" },
		{ "clock=800 MHz", "clock=1.2 GHz" },
		{ "dram.latency_scale=1.5", "dram.latency_scale=1" },
		{ "dram.channels=4", "dram.channels=8" },
		{ "dispatch.dynamic=false", "dispatch.dynamic=true" },
		{ "core.control=8", "core.control=1" },
		{ "core.unit_latency=40", "core.unit_latency=8" },
		{ "vector.act=0", "vector.act=16" },
		{ "vector.norm=0", "vector.norm=16" },
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (test_turn(i, 3))
			more_is_never_slower(pairs[i][0], pairs[i][0], pairs[i][1]);
}

SUITE(p_analytic, SLOW(times_asked_for_alone_are_those_of_all_tiles),
      SLOW(no_closed_form_is_under_its_roofline_and_ops_sum_to_the_run),
      T(random_machines_are_within_five_percent_of_events_in_the_median), SLOW(so_are_machines_with_every_mechanism),
      SLOW(the_traced_steps_are_within_five_percent_of_events),
      T(the_same_closed_form_twice_is_the_same_to_the_picosecond),
      SLOW(more_of_any_resource_never_slows_the_closed_form));
