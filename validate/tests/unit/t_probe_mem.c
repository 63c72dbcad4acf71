/* t_probe_mem.c - the probes measure what was configured: plateaus to the picosecond over a memory of fixed latency,
 * and what must hold over a real one. */
#include "arch/machine/machine_conf.h"
#include "sim/accuracy/probe_mem.h"
#include "validate/tests/test.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
/* 64 lines of 128 B a cycle: a line takes half a cycle of 1 ns. */
#define FIXED \
	"clock: 1 GHz\nnoc: {latency: 10 ns}\nkv_buffer: {size: 0}\n" \
	"l2: {size: 1 MiB, ways: 16, banks: 4, bank_width: 64 B, latency: 100 ns, miss_latency: 50 ns}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 128 GB/s, fixed_latency: 200 ns}\n"

static struct machine_conf *conf(const char *text, const char *const *sets, int n)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(text, strlen(text), "test.yaml", sets, n, &e);

	if (!c)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return c;
}

static struct machine_conf *file(const char *name, const char *const *sets, int n)
{
	char path[512];
	struct err e = ERR_INIT;
	struct machine_conf *c;

	snprintf(path, sizeof path, "%s/%s", test_root(), name);
	if (!(c = machine_conf_load(path, sets, n, &e)))
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return c;
}

typedef int probe_fn(const struct machine_cfg *, const struct probe_mem_opts *, struct probe_mem_opts *,
                     struct probe_mem_point *, struct err *);

static int probe(probe_fn *f, struct machine_conf *c, struct probe_mem_opts o, struct probe_mem_point *x)
{
	struct probe_mem_opts r;
	struct err e = ERR_INIT;
	int n = f(&c->cfg, &o, &r, x, &e);

	if (n <= 0)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	machine_conf_free(c);
	return n;
}

static bool about(double got, double want, double share)
{
	return got >= want * (1 - share) && got <= want * (1 + share);
}

TEST(the_plateaus_of_the_chase_are_the_configured_latencies)
{
	struct probe_mem_point x[PROBE_MEM_POINTS];
	int n = probe(probe_mem_latency, conf(FIXED, NULL, 0), (struct probe_mem_opts){ .samples = 500 }, x);

	CHECK(n > 10);
	for (int i = 0; i < n; i++) {
		/* there and back through the network, and a line of 128 B from banks of 256 B a cycle */
		if (x[i].ws_bytes <= MIB)
			CHECK(x[i].hit == 1 && x[i].miss_ns < 0 && x[i].mean_ns == 120.5 && x[i].p99_ns == 120.5);
		/* and a line of 128 B at 128 GB/s after the latencies of a miss and of the memory */
		if (x[i].miss_ns >= 0)
			CHECK(about(x[i].miss_ns, 120 + 50 + 200 + 1, 1e-6));
		if (x[i].ws_bytes > MIB) /* lru, round and round: nothing */
			CHECK(x[i].hit == 0);
		if (i && x[i].ws_bytes >= 2 * MIB)
			CHECK(x[i].mean_ns >= x[i - 1].mean_ns * 0.97);
	}
	CHECK(x[n - 1].ws_bytes == 16 * MIB && x[n - 1].mean_ns > 340);
}

TEST(a_victim_cache_moves_the_knee)
{
	struct probe_mem_point x[PROBE_MEM_POINTS];
	int n = probe(probe_mem_latency, conf(FIXED, (const char *[]){ "l2.victim=1 MiB", "l2.hash=none" }, 2),
	              (struct probe_mem_opts){ .samples = 500 }, x);

	for (int i = 0; i < n; i++)
		CHECK((x[i].hit == 1) == (x[i].ws_bytes <= 2 * MIB));
}

TEST(the_chase_shows_what_a_policy_keeps_of_a_set_that_does_not_fit)
{
	struct probe_mem_point x[PROBE_MEM_POINTS];
	int n = probe(probe_mem_latency, conf(FIXED, (const char *[]){ "l2.policy=drrip" }, 1),
	              (struct probe_mem_opts){ .largest = 2 * MIB, .samples = 500 }, x);

	CHECK(x[n - 1].ws_bytes == 2 * MIB && x[n - 1].hit > 0.1 && x[n - 1].hit < 0.6);
}

TEST(the_chase_runs_over_the_sets_it_is_given_in_whole_blocks)
{
	static const uint64_t sets[] = { 1, 284880, 1402916 };
	struct probe_mem_point x[PROBE_MEM_POINTS];
	int n = probe(probe_mem_latency, conf(FIXED, NULL, 0),
	              (struct probe_mem_opts){ .sets = sets, .n_sets = 3, .samples = 100 }, x);

	CHECK_U64(n, 3);
	CHECK_U64(x[0].ws_bytes, 4096);
	CHECK_U64(x[1].ws_bytes, 286720);
	CHECK_U64(x[2].ws_bytes, 1404928);
	CHECK(x[1].hit == 1 && x[2].hit < 0.2);
}

TEST(the_l2_serves_at_its_peak_what_fits_and_at_drams_what_does_not)
{
	struct probe_mem_point x[PROBE_MEM_POINTS];
	int n = probe(probe_mem_l2, conf(FIXED, NULL, 0), (struct probe_mem_opts){ .largest = 8 * MIB }, x);

	for (int i = 0; i < n; i++) {
		CHECK(x[i].efficiency <= 1 && x[i].gbps <= 256);
		if (x[i].ws_bytes <= MIB)
			CHECK(x[i].hit == 1 && x[i].efficiency > 0.95);
		if (x[i].ws_bytes > MIB + MIB / 2) /* lru, round and round: nothing */
			CHECK(x[i].hit == 0 && about(x[i].gbps, 128, 0.05));
	}
	n = probe(probe_mem_l2, conf(FIXED, (const char *[]){ "l2.policy=drrip" }, 1),
	          (struct probe_mem_opts){ .largest = 2 * MIB }, x);
	CHECK(x[n - 1].hit > 0.1);
}

TEST(a_stream_stays_below_the_peak_and_near_it)
{
	static const char *const machines[] = { "configs/npu/dsocr.yaml", "configs/npu/edge.yaml" };

	for (int m = 0; m < 2; m++) {
		struct probe_mem_point x[PROBE_MEM_POINTS];
		int n = probe(probe_mem_stream, file(machines[m], (const char *[]){ "l2.size=4 MiB" }, 1),
		              (struct probe_mem_opts){ .largest = 64 * MIB }, x);

		CHECK_U64(n, 4);
		for (int i = 0; i < n; i++) {
			printf("%s %s: %.3f\n", machines[m], x[i].what, x[i].efficiency);
			CHECK(x[i].efficiency < 1 && x[i].efficiency > 0.5);
			CHECK(x[i].hit == 0 && x[i].p99_ns >= x[i].mean_ns);
		}
		CHECK(x[0].efficiency >= x[2].efficiency &&
		      x[0].efficiency >= x[3].efficiency); /* turning the bus costs */
	}
}

TEST(a_real_memory_shows_its_latency_behind_the_l2)
{
	struct probe_mem_point x[PROBE_MEM_POINTS];
	struct machine_conf *c = file("configs/npu/dsocr.yaml", (const char *[]){ "l2.size=1 MiB" }, 1);
	const struct machine_cfg *k = &c->cfg;
	double hit = (double)(2 * k->mem.noc.latency + k->mem.l2.latency) / 1000;
	double least = hit + (double)(k->mem.l2.miss_latency + dram_unloaded(&k->mem.dram, DRAM_ROW_HIT)) / 1000;
	double most = hit + (double)(k->mem.l2.miss_latency + dram_unloaded(&k->mem.dram, DRAM_ROW_CONFLICT)) / 1000;
	int n = probe(probe_mem_latency, c, (struct probe_mem_opts){ .samples = 1000 }, x);

	CHECK(about(x[0].mean_ns, hit, 0.01));
	CHECK(x[n - 1].miss_ns > least && x[n - 1].miss_ns < most * 1.1 + 20);
}

TEST(what_cannot_be_probed_is_an_error)
{
	struct machine_conf *c = conf(FIXED, (const char *[]){ "l2.size=0" }, 1);
	struct probe_mem_point x[PROBE_MEM_POINTS];
	struct probe_mem_opts r;
	struct err e = ERR_INIT;

	CHECK(probe_mem_l2(&c->cfg, &(struct probe_mem_opts){ 0 }, &r, x, &e) < 0);
	CHECK_HAS(e.msg, "no L2");
	err_clear(&e);
	CHECK(probe_mem_latency(&c->cfg, &(struct probe_mem_opts){ .tile = 3000 }, &r, x, &e) < 0);
	CHECK_HAS(e.msg, "power of two");
	err_clear(&e);
	CHECK(probe_mem_latency(&c->cfg, &(struct probe_mem_opts){ .largest = 1000 }, &r, x, &e) < 0);
	CHECK_HAS(e.msg, "64 KiB");
	machine_conf_free(c);
}

/* An H200's chase (traces/h200/micro/latency.csv): near up to half of the L2; then, as copies push out what is at home,
 * one half of the lines far and the other from DRAM; then DRAM. No value below is the plateau of 265 ns. */
TEST(two_partitions_make_the_curve_of_an_h200)
{
	static const struct {
		uint64_t mib;
		double ns;
	} curve[] = { { 8, 148 }, { 16, 148 }, { 24, 148 }, { 40, 265 }, { 48, 265 }, { 100, 339 }, { 128, 339 } };
	struct probe_mem_point x[PROBE_MEM_POINTS];
	struct probe_mem_opts o = { .samples = 2000 };
	uint64_t ws[7];
	int n;

	for (int i = 0; i < 7; i++)
		ws[i] = curve[i].mib * MIB;
	o.sets = ws;
	o.n_sets = 7;
	n = probe(probe_mem_latency, file("configs/gpu/h200.yaml", NULL, 0), o, x);
	CHECK_U64(n, 7);
	for (int i = 0; i < n; i++) {
		printf("%llu MiB: %.1f ns, measured %.0f, %.3f hit\n", (unsigned long long)curve[i].mib, x[i].mean_ns,
		       curve[i].ns, x[i].hit);
		CHECK(about(x[i].mean_ns, curve[i].ns, 0.02));
	}
}

/* All banks refreshed at a time: one by one, what a short write waits for depends on where its rows lie. */
TEST(two_partitions_write_and_copy_as_fast_as_one)
{
	static const char *const one[] = { "dram.refresh=all_bank", "l2.partitions=1" };
	struct probe_mem_opts o = { .largest = 64 * MIB };
	struct probe_mem_point x[PROBE_MEM_POINTS], y[PROBE_MEM_POINTS];
	int n = probe(probe_mem_stream, file("configs/gpu/h200.yaml", one, 1), o, x);

	CHECK_U64(probe(probe_mem_stream, file("configs/gpu/h200.yaml", one, 2), o, y), n);
	for (int i = 0; i < n; i++) {
		printf("%s: %.3f of the peak, %.3f from one partition\n", x[i].what, x[i].efficiency, y[i].efficiency);
		CHECK(about(x[i].efficiency, y[i].efficiency, 0.02));
	}
}

SUITE(t_probe_mem, T(two_partitions_make_the_curve_of_an_h200), T(two_partitions_write_and_copy_as_fast_as_one),
      T(the_plateaus_of_the_chase_are_the_configured_latencies), T(a_victim_cache_moves_the_knee),
      T(the_chase_shows_what_a_policy_keeps_of_a_set_that_does_not_fit),
      T(the_chase_runs_over_the_sets_it_is_given_in_whole_blocks),
      T(the_l2_serves_at_its_peak_what_fits_and_at_drams_what_does_not), T(a_stream_stays_below_the_peak_and_near_it),
      T(a_real_memory_shows_its_latency_behind_the_l2), T(what_cannot_be_probed_is_an_error));
