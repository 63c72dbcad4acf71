/* Cores and networks: more cores are never slower, whatever the network; bytes on every link add up in both fidelities; and
 * where several want the same link at once, event fidelity and the closed form are as far apart as their models say. */
#include <stdio.h>
#include <stdlib.h>

#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/test.h"

#define TOLERANCE_PPM 5000
#define RING_PPM      20000
#define OPS           test_rounds(30, 40, 300)
#define DSOCR         "configs/npu/dsocr.yaml"

static ps_t total(struct runbed *b, const char *config, const char *const *sets, int n, enum run_start start,
                  enum run_fidelity f)
{
	const struct run_opts o = { .start = start, .seed = 3, .fidelity = f };
	struct run_result x;

	return runbed_run(b, config, sets, n, &o, &x) ? x.total_ps : 0;
}

/* A decode step, on every network: no rung of the ladder is slower than any before it. A ring's ways get longer with it. */
TEST(more_cores_never_slow_a_decode_step)
{
	static const char *const cores[] = { "cores=8",  "cores=16", "cores=24",  "cores=32",  "cores=48",
		                             "cores=64", "cores=96", "cores=132", "cores=256", "cores=1024" };
	const struct words kinds = networks();
	struct runbed b;

	runbed_traced(&b, "kineto_dsocr_b1_c1024", "decode_step_1");
	for (size_t k = 0; k < kinds.n; k++) {
		const bool ring = strcmp(kinds.v[k], "ring") == 0;
		ps_t least = PS_NEVER;
		char kind[64];

		if (!test_turn(k, 2))
			continue;
		snprintf(kind, sizeof kind, "noc.kind=%s", kinds.v[k]);

		for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
			const char *const sets[] = { cores[i], kind };
			const ps_t now = total(&b, DSOCR, sets, 2, RUN_STEADY, RUN_ANALYTIC);

			CHECK(now > 0);
			if (least != PS_NEVER && now > least + least / 1000000 * (ring ? RING_PPM : TOLERANCE_PPM))
				test_fail(__FILE__, __LINE__, "%s, %s: %llu ps, %llu with fewer", kind, cores[i],
				          (unsigned long long)now, (unsigned long long)least);
			least = ps_min(least, now);
		}
	}
	runbed_down(&b);
}

/* Single ops of random sizes on random machines with a crossbar, whose ways are as long for any number of cores: two thirds more
 * of them, and twice as many. NPUSIM_PAIRS says how many, and prints each that is slower. Left: ways that hardly differ
 * (1 to 2 %), and a single op from DRAM, which waits for its first tile as one in a row of many does not. */
TEST(more_cores_hardly_ever_slow_an_op)
{
	const char *wanted = getenv("NPUSIM_PAIRS");
	const int ops = wanted ? atoi(wanted) : OPS;
	static const char *const cores[] = { "cores=6", "cores=10", "cores=12" };
	int tried = 0, slower = 0;
	ps_t worst = 0;
	struct rng r;

	rng_seed(&r, test_seed(), "cores");
	for (int i = 0; i < ops; i++) {
		struct runbed b = { .a = arena_new(0), .yaml = STR_INIT, .e = ERR_INIT };
		ps_t now[3];

		b.s = synth_op(&r, b.a);
		synth_machine(&r, &b.yaml);
		for (int k = 0; k < 3; k++)
			now[k] = total(&b, NULL, (const char *const[]){ cores[k], "noc.kind=crossbar" }, 2,
			               i % 2 ? RUN_COLD : RUN_STEADY, RUN_ANALYTIC);
		for (int k = 1; k < 3 && now[0]; k++) {
			const ps_t ppm = now[k] > now[0] ? (now[k] - now[0]) * 1000000 / now[0] : 0;

			tried++;
			slower += ppm > TOLERANCE_PPM;
			worst = ps_max(worst, ppm);
			if (wanted && ppm > TOLERANCE_PPM)
				printf("%s: %llu -> %llu ps, %s %llu x %llu x %llu\n%s\n", cores[k],
				       (unsigned long long)now[0], (unsigned long long)now[k],
				       op_kind_name(b.s->ops[0].kind), (unsigned long long)b.s->ops[0].shape.m,
				       (unsigned long long)b.s->ops[0].shape.n, (unsigned long long)b.s->ops[0].shape.k,
				       b.yaml.p);
		}
		runbed_down(&b);
	}
	printf("more cores: %d of %d slower by more than 0.5 %%, the worst by %llu ppm\n", slower, tried,
	       (unsigned long long)worst);
	CHECK(tried > ops);
	CHECK(test_share((size_t)slower, (size_t)tried, 50));
}

/* What leaves the memory side, what is copied on the way and what comes from cores is what the scratchpads get. */
TEST(bytes_on_every_link_add_up_in_both_fidelities)
{
	struct rng r;

	rng_seed(&r, test_seed(), "links");
	for (int i = 0; i < test_rounds(10, 20, 60); i++) {
		struct run_result x[2];
		struct runbed b;
		int ran = 0;

		runbed_random(&b, &r);
		for (int f = 0; f < 2; f++) {
			const struct run_opts o = { .start = RUN_COLD,
				                    .seed = 3,
				                    .fidelity = f ? RUN_ANALYTIC : RUN_EVENT };

			ran += runbed_run(&b, NULL, NULL, 0, &o, &x[f]);
		}
		for (int f = 0; f < 2 && ran == 2; f++) {
			CHECK_U64(runbed_stat(&x[f], "dma.read_bytes"), runbed_stat(&x[f], "noc.up_bytes") +
			                                                        runbed_stat(&x[f], "noc.core_bytes") +
			                                                        runbed_stat(&x[f], "noc.copied_bytes"));
			CHECK_U64(runbed_stat(&x[f], "dma.write_bytes"), runbed_stat(&x[f], "noc.down_bytes"));
		}
		if (ran == 2) {
			static const char *const same[] = { "noc.up_bytes",   "noc.down_bytes",  "noc.copied_bytes",
				                            "noc.core_bytes", "noc.exchange_ps", "sram.kept_bytes" };

			for (size_t k = 0; k < sizeof same / sizeof *same; k++)
				CHECK_U64(runbed_stat(&x[0], same[k]), runbed_stat(&x[1], same[k]));
		}
		runbed_down(&b);
	}
}

/* One product at a time on machines where one thing is the narrowest. `least` and `most`: by how many ppm the closed form may
 * be from events. It has no order among transfers in flight, no row conflicts and no bus that turns; where those count it is
 * faster, by as much as stands here. */
static const struct contention {
	const char *what, *set, *network;
	uint64_t m, n, k;
	int32_t least, most;
} cases[] = {
#define BOTH(what, set, m, n, k, least, most) \
	{ what " on a ring", set, "noc.kind=ring", m, n, k, least, most }, \
	{ \
		what " on a mesh", set, "noc.kind=mesh", m, n, k, least, most \
	}
	BOTH("weights of one row", "cores=16", 1, 4096, 4096, -15000, 1000),
	BOTH("weights of one row, narrow links", "noc.port=16 B", 1, 4096, 4096, -30000, 1000),
	BOTH("few rows", "cores=16", 8, 4096, 4096, -15000, 1000),
	BOTH("activations that all want, sent to each", "noc.multicast=false", 64, 4096, 4096, -10000, 10000),
	BOTH("activations that all want, sent once", "noc.multicast=true", 64, 4096, 4096, -10000, 10000),
	/* what no core waits for in closed form: stores, sums and the next tiles take turns on the links with events */
	BOTH("square parts", "cores=16", 1024, 1024, 1024, -30000, 5000),
	BOTH("a deep product whose sums are exchanged", "cores=64", 1, 16, 16384, -110000, 15000),
	BOTH("the same, added up on the way", "noc.reduce=true", 1, 16, 16384, -110000, 15000),
	BOTH("one stop for all", "noc.stops=1", 16, 2048, 2048, -30000, 1000),
	BOTH("results as large as operands", "cores=16", 4096, 2048, 64, -140000, 30000),
	BOTH("few descriptors", "dma.outstanding=2", 1, 4096, 4096, -50000, 1000),
	BOTH("more rows than a core has SRAM for", "sram.size=64 KiB", 512, 2048, 2048, -60000, 60000),
};

TEST(where_links_are_contended_fidelities_are_as_far_apart_as_they_say)
{
	size_t differ = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct contention *c = &cases[i];
		const char *const sets[] = { c->set, c->network };
		struct runbed b = { .a = arena_new(0), .yaml = STR_INIT, .e = ERR_INIT };
		ps_t event, closed;
		int64_t ppm;

		b.s = synth_product(b.a, c->m, c->n, c->k);
		event = total(&b, DSOCR, sets, 2, RUN_COLD, RUN_EVENT);
		closed = total(&b, DSOCR, sets, 2, RUN_COLD, RUN_ANALYTIC);
		CHECK(event > 0 && closed > 0);
		ppm = event ? ((int64_t)closed - (int64_t)event) * 1000000 / (int64_t)event : 0;
		differ += closed != event;
		printf("%-60s %10llu ns, closed form %10llu ns, %+lld ppm\n", c->what, (unsigned long long)event / 1000,
		       (unsigned long long)closed / 1000, (long long)ppm);
		if (ppm < c->least || ppm > c->most)
			test_fail(__FILE__, __LINE__, "%s: %lld ppm apart", c->what, (long long)ppm);
		arena_free(b.a);
	}
	CHECK(differ >= 20); /* one link that all wait for is the same in both */
}

SUITE(p_cores, SLOW(more_cores_never_slow_a_decode_step), SLOW(more_cores_hardly_ever_slow_an_op),
      SLOW(bytes_on_every_link_add_up_in_both_fidelities),
      SLOW(where_links_are_contended_fidelities_are_as_far_apart_as_they_say));
