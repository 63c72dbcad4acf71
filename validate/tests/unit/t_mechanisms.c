/* t_mechanisms.c - what families of silicon showed to matter, in a whole run of each fidelity: each moves the time where it binds
 * and nothing where it does not, and its default is what a machine without it does. */
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#include <math.h>
#include <stdio.h>

#define MACHINE "configs/npu/trainium1.yaml"
/* Bytes, math, and neither. */
#define GEMV  "op,m,n,k,dtype,weight_dtype\ngemm,1,8192,8192,bf16,bf16\n"
#define CUBE  "op,m,n,k,dtype,weight_dtype\ngemm,2048,2048,8192,bf16,bf16\n"
#define SMALL "op,m,n,k,dtype,weight_dtype\ngemm,32,64,64,bf16,bf16\n"

static ps_t time_with(const char *table, const char *const *sets, int n, enum run_fidelity f)
{
	const struct run_opts o = { .start = RUN_COLD, .fidelity = f, .seed = 1 };
	struct run_result x;
	struct runbed b;
	ps_t t;

	runbed_table(&b, table);
	CHECK(runbed_run(&b, MACHINE, sets, n, &o, &x));
	t = x.total_ps;
	runbed_down(&b);
	return t;
}

static ps_t time_of(const char *table, const char *set, enum run_fidelity f)
{
	const char *const sets[] = { set };

	return time_with(table, sets, set ? 1 : 0, f);
}

/* Times as long as without, in both fidelities, which agree. */
static double times(const char *table, const char *set)
{
	const double event = (double)time_of(table, set, RUN_EVENT) / (double)time_of(table, NULL, RUN_EVENT),
		     closed = (double)time_of(table, set, RUN_ANALYTIC) / (double)time_of(table, NULL, RUN_ANALYTIC);

	CHECK(fabs(event / closed - 1) < 0.03);
	return event;
}

TEST(defaults_change_nothing)
{
	static const char *const sets[] = { "matrix.feed=0 B",        "matrix.block_rows=1",
		                            "dram.reached=1",         "dispatch.floor=0 ns",
		                            "mapping.overlap=1",      "mapping.passes_read=false",
		                            "dispatch.prefetch=true", "mapping.sums=8 B",
		                            "matrix.passes=1",        "mapping.ahead_rows=0" };

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		for (int f = 0; f < 2; f++) {
			const enum run_fidelity how = f ? RUN_ANALYTIC : RUN_EVENT;

			CHECK_U64(time_of(CUBE, sets[i], how), time_of(CUBE, NULL, how));
			CHECK_U64(time_of(GEMV, sets[i], how), time_of(GEMV, NULL, how));
		}
}

TEST(half_of_the_pins_is_twice_the_time_of_bytes)
{
	const double bytes = times(GEMV, "dram.reached=0.4"), math = times(CUBE, "dram.reached=0.9");

	CHECK(bytes > 2.0 && bytes < 2.55); /* of 1 / 0.4, less what banks and queues cost before */
	CHECK(math >= 1 && math < 1.1);
	CHECK(times("op,m,n,k,dtype,weight_dtype\ngemm,1,8192,8192,bf16,bf16\n", "dram.reached=0.99") < 1.05);
}

TEST(a_fixed_memory_is_reached_in_part_too)
{
	const char *const sets[] = { "dram.kind=fixed", "dram.bandwidth=200 GB/s", "dram.reached=0.5" },
			  *const half[] = { "dram.kind=fixed", "dram.bandwidth=100 GB/s" };
	const struct run_opts o = { .start = RUN_COLD, .fidelity = RUN_EVENT, .seed = 1 };
	struct run_result x, y;
	struct runbed b;

	runbed_table(&b, GEMV);
	CHECK(runbed_run(&b, MACHINE, sets, 3, &o, &x) && runbed_run(&b, MACHINE, half, 2, &o, &y));
	CHECK(fabs((double)x.total_ps / (double)y.total_ps - 1) < 1e-3);
	CHECK(x.roofline_ps < y.roofline_ps); /* the pins are twice as fast */
	runbed_down(&b);
}

TEST(operands_that_come_slowly_hold_the_arrays)
{
	CHECK(times(CUBE, "matrix.feed=8 B") > 2);
	CHECK(times(GEMV, "matrix.feed=4096 B") == 1);
}

/* Of a product whose transfers and math take as long as each other, nearly. */
TEST(what_does_not_overlap_adds_up)
{
	const char *both = "op,m,n,k,dtype,weight_dtype\ngemm,256,8192,8192,bf16,bf16\n";
	const double none = times(both, "mapping.overlap=0"), half = times(both, "mapping.overlap=0.5");

	CHECK(none > 1.5 && none < 2.6);
	CHECK(half > 1 + 0.3 * (none - 1) && half < 1 + 0.7 * (none - 1));
	CHECK(times(GEMV, "mapping.overlap=0") < none);
	CHECK(times(SMALL, "mapping.overlap=0") == 1); /* a tile */
}

/* Products of few rows have a program of their own, which overlaps though others do not; its rows alone count. */
TEST(what_streams_its_weights_overlaps_alone)
{
	const char *few = "op,m,n,k,dtype,weight_dtype\ngemm,256,8192,8192,bf16,bf16\n";
	const char *const none[] = { "mapping.overlap=0" },
			  *const own[] = { "mapping.overlap=0", "mapping.ahead_rows=256" },
			  *const fewer[] = { "mapping.overlap=0", "mapping.ahead_rows=255" };

	for (int f = 0; f < 2; f++) {
		const enum run_fidelity how = f ? RUN_ANALYTIC : RUN_EVENT;
		const ps_t ahead = time_with(few, own, 2, how);

		CHECK_U64(ahead, time_of(few, NULL, how));
		CHECK_U64(time_with(few, fewer, 2, how), time_with(few, none, 1, how));
		CHECK(ahead < time_with(few, none, 1, how));
	}
}

/* Three reads and a write, where there were one and one; of a norm two and one. */
TEST(rows_that_do_not_stay_are_read_in_each_pass)
{
	const char *const on = "mapping.passes_read=true", *const norm = "op,rows,cols,dtype\nnorm,32768,1024,fp32\n";
	const double soft = times("op,rows,cols,dtype\nsoftmax,32768,1024,fp32\n", on);

	CHECK(soft > 1.8 && soft < 2.05);
	for (int f = 0; f < 2; f++) { /* loads of one place in memory meet on its channels: events see that */
		const enum run_fidelity how = f ? RUN_ANALYTIC : RUN_EVENT;
		const double more = (double)time_of(norm, on, how) / (double)time_of(norm, NULL, how);

		CHECK(more > 1.4 && more < 1.6);
	}
	CHECK(times("op,elements,dtype\nelementwise:exp,33554432,bf16\n", on) == 1);
	CHECK(times(CUBE, on) == 1);
}

/* The start of an op and its bytes: one hides behind the other, or they add up. */
TEST(what_is_fetched_once_an_op_has_started_adds_up)
{
	const char *const late[] = { "dispatch.latency=50 us", "dispatch.prefetch=false" };

	for (int f = 0; f < 2; f++) {
		const struct run_opts o = { .start = RUN_COLD, .fidelity = f ? RUN_ANALYTIC : RUN_EVENT, .seed = 1 };
		const ps_t none = time_of(GEMV, "dispatch.latency=0 us", o.fidelity),
			   hidden = time_of(GEMV, "dispatch.latency=50 us", o.fidelity);
		struct run_result x;
		struct runbed b;

		runbed_table(&b, GEMV);
		CHECK(runbed_run(&b, MACHINE, late, 2, &o, &x));
		CHECK(x.total_ps >= none + 50 * PS_US && x.total_ps < none + 51 * PS_US);
		CHECK(hidden < none + 40 * PS_US);
		runbed_down(&b);
	}
}

/* Sums that take less leave room for tiles that move less: it shows where nothing hides the moves. */
TEST(sums_that_are_narrow_leave_room_for_tiles)
{
	const char *const wide[] = { "mapping.overlap=0", "mapping.sums=32 B" }, *const narrow[] = {
		"mapping.overlap=0", "mapping.sums=2 B"
	};
	struct run_result x, y;
	struct runbed b;

	runbed_table(&b, "op,m,n,k,dtype,weight_dtype\ngemm,16384,16384,16384,bf16,bf16\n");
	CHECK(runbed_run(&b, MACHINE, wide, 2,
	                 &(struct run_opts){ .start = RUN_COLD, .fidelity = RUN_ANALYTIC, .seed = 1 }, &x) &&
	      runbed_run(&b, MACHINE, narrow, 2,
	                 &(struct run_opts){ .start = RUN_COLD, .fidelity = RUN_ANALYTIC, .seed = 1 }, &y));
	CHECK(y.total_ps < x.total_ps - x.total_ps / 50);
	runbed_down(&b);
}

TEST(no_run_is_shorter_than_the_hosts_floor)
{
	for (int f = 0; f < 2; f++) {
		const enum run_fidelity how = f ? RUN_ANALYTIC : RUN_EVENT;

		CHECK_U64(time_of(SMALL, "dispatch.floor=50 us", how), 50 * PS_US);
		CHECK_U64(time_of(CUBE, "dispatch.floor=50 us", how), time_of(CUBE, NULL, how));
	}
}

/* An Arc's products of 96 and 128 rows once took up to 1.63 times what 144 did. */
TEST(more_rows_never_take_less)
{
	const uint32_t sizes[][2] = { { 6144, 2048 }, { 2048, 2048 }, { 4096, 4096 } };
	const uint32_t rows[] = { 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 256, 384, 512 };
	const struct run_opts o = { .start = RUN_COLD, .fidelity = RUN_ANALYTIC, .seed = 1 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		ps_t before = 0;

		for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
			struct run_result x;
			struct runbed b;
			char table[128];

			snprintf(table, sizeof table, "op,m,n,k,dtype,weight_dtype\ngemm,%u,%u,%u,bf16,bf16\n", rows[k],
			         sizes[i][0], sizes[i][1]);
			runbed_table(&b, table);
			CHECK(runbed_run(&b, "configs/npu/b60.yaml", NULL, 0, &o, &x));
			CHECK(x.total_ps >= before - before / 200);
			before = x.total_ps;
			runbed_down(&b);
		}
	}
}

SUITE(t_mechanisms, SLOW(defaults_change_nothing), T(half_of_the_pins_is_twice_the_time_of_bytes),
      T(a_fixed_memory_is_reached_in_part_too), T(operands_that_come_slowly_hold_the_arrays),
      T(what_does_not_overlap_adds_up), T(what_streams_its_weights_overlaps_alone),
      T(what_is_fetched_once_an_op_has_started_adds_up), T(rows_that_do_not_stay_are_read_in_each_pass),
      T(sums_that_are_narrow_leave_room_for_tiles), T(no_run_is_shorter_than_the_hosts_floor),
      SLOW(more_rows_never_take_less));
