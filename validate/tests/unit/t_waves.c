/* t_waves.c - blocks an SM holds, waves and occupancies of launches by hand, and of a profile that says its own. */
#include <math.h>
#include <stdlib.h>

#include "sim/profile/waves.h"
#include "validate/tests/mktrace.h"

/* 100 SMs of 2048 threads, 32 CTAs, 65536 registers, 227 KiB of shared memory and 1 KiB for the system. */
static const struct roof gpu = { .name = "by hand",
	                         .sms = 100,
	                         .sm = { .threads = 2048,
	                                 .ctas = 32,
	                                 .registers = 65536,
	                                 .register_unit = 256,
	                                 .smem = 228 << 10,
	                                 .smem_reserved = 1 << 10 } };

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static struct trace_launch of(uint32_t blocks, uint32_t threads, uint32_t registers, uint64_t smem)
{
	return (struct trace_launch){
		.grid = { blocks, 1, 1 }, .block = { threads, 1, 1 }, .registers = registers, .smem_dynamic = smem
	};
}

TEST(an_sm_holds_what_its_scarcest_resource_allows)
{
	struct trace_launch l = of(800, 256, 32, 0);
	struct waves_launch w = waves_of(&gpu, &l);

	CHECK_U64(w.per_sm, 8);
	CHECK_STR(w.limit, "threads");
	CHECK(near(w.theoretical, 100) && near(w.waves, 1) && near(w.device, 100) && near(w.active, 100));
	l = of(50, 384, 168, 0); /* 12 warps of 168 registers: one block */
	w = waves_of(&gpu, &l);
	CHECK_U64(w.per_sm, 1);
	CHECK_STR(w.limit, "registers");
	CHECK(near(w.theoretical, 100 * 12 / 64.0) && near(w.waves, 0.5));
	CHECK(near(w.device, 50 * 12 / 64.0) && near(w.active, 100 * 12 / 64.0));
	l = of(250, 128, 16, 100 << 10); /* two blocks of 101 KiB: 1.25 waves, all SMs full */
	w = waves_of(&gpu, &l);
	CHECK_STR(w.limit, "shared memory");
	CHECK(near(w.waves, 1.25) && near(w.device, 100 * 2 * 4 / 64.0) && near(w.active, w.device));
	l = of(150, 128, 16, 0); /* one and a half block an SM */
	w = waves_of(&gpu, &l);
	CHECK(near(w.active, 150 * 4 / 64.0) && near(w.device, w.active));
}

TEST(what_is_not_known_or_cannot_be_has_no_occupancy)
{
	struct trace_launch l = of(0, 0, 0, 0);
	struct roof peaks = gpu;

	CHECK(isnan(waves_of(&gpu, &l).waves));
	l = of(1, 4096, 32, 0);
	CHECK(isnan(waves_of(&gpu, &l).theoretical));
	l = of(1, 128, 32, UINT64_MAX);
	waves_of(&gpu, &l);
	l = of(1, 128, 32, 512 << 10);
	CHECK(isnan(waves_of(&gpu, &l).theoretical));
	l = of(1, 128, 32, 0);
	peaks.sms = 0;
	CHECK(isnan(waves_of(&peaks, &l).waves));
}

TEST(means_are_by_time_and_rows_by_geometry)
{
	struct rules *rules;
	struct err e = { 0 };
	struct waves w;
	struct mk m;

	mk_open(&m);
	CHECK((rules = rules_load(NULL, &e)));
	for (int i = 0; i < 400; i++) { /* rows enough to grow the table */
		struct trace_launch *l = mk_launch(&m, "k", NULL);

		l->grid[0] = 50;
		l->block[0] = 256;
		l->registers = 32;
		l->smem_dynamic = (uint64_t)(i % 300);
		l->dur_ns = i % 300 == 7 ? 3000 : 1000;
	}
	mk_launch(&m, "no geometry", NULL)->grid[0] = 0;
	CHECK_OK(waves_trace(&m.t, &gpu, rules, NULL, m.a, &w, &e), e);
	CHECK_U64(w.n, 301);
	CHECK_U64(w.count, 401);
	CHECK_U64(w.v[0].smem, 7);
	CHECK_U64(w.v[0].ns, 6000);
	CHECK_U64(w.known_ns, 404000);
	CHECK_U64(w.bin[0].ns, 404000);
	CHECK(near(w.theoretical, 100) && near(w.device, 6.25) && near(w.active, 12.5) && isnan(w.achieved));
	rules_free(rules);
	mk_close(&m);
}

/* What Kineto says of the launches of a real trace: whole percent, of all SMs; 0 above 48 KiB of shared memory. */
TEST(the_devices_occupancy_is_what_pytorch_estimates)
{
	static const struct {
		uint32_t grid, block, registers;
		uint64_t smem;
		int said;
	} seen[] = {
		/* traces/h200/kineto_dsocr_b1_c1024.json.gz: the geometries with most of it, and one with little */
		{ 2560, 128, 23, 0, 100 }, { 1024, 128, 28, 512, 48 }, { 253, 128, 32, 0, 12 }, { 40, 512, 32, 0, 8 },
		{ 160, 128, 32, 0, 8 },    { 64, 128, 24, 768, 3 },    { 10, 256, 32, 4160, 1 }
	};
	struct err e = { 0 };
	struct roof r;

	CHECK_OK(roof_load("h200", &(struct trace){ 0 }, &r, &e), e);
	for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
		const struct trace_launch l = of(seen[i].grid, seen[i].block, seen[i].registers, seen[i].smem);
		const double got = waves_of(&r, &l).device;

		CHECK(fabs(got - seen[i].said) <= 0.5);
	}
}

SUITE(t_waves, T(an_sm_holds_what_its_scarcest_resource_allows), T(what_is_not_known_or_cannot_be_has_no_occupancy),
      T(means_are_by_time_and_rows_by_geometry), T(the_devices_occupancy_is_what_pytorch_estimates));
