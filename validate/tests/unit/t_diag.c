/* t_diag.c - what a move's time is put down to, and what machines say that cannot work as they are written. */
#include "sim/engine/diag.h"
#include "sim/engine/run.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* --- moves ------------------------------------------------------------------------------------------------- */

static struct core_account explained(ps_t mark, struct core_move m, struct core_use u)
{
	struct core_account a = { .mark = mark };

	core_explain_move(&a, &m, &u);
	return a;
}

TEST(a_full_resource_has_all_of_the_time_that_was_waited_for_it)
{
	const struct core_account a = explained(100, (struct core_move){ 50, 1100 },
	                                        (struct core_use){ 1000, { [RES_DRAM] = 500, [RES_DMA] = 400 } });

	CHECK_U64(a.stall[RES_DRAM], 1000);
	CHECK_U64(a.stall[RES_DMA] + a.stall[RES_LATENCY] + a.stall[RES_SRAM], 0);
	CHECK_U64(a.mark, 1100);
}

TEST(where_nothing_is_full_the_fullest_has_its_need_and_latency_the_rest)
{
	const struct core_account a = explained(0, (struct core_move){ 200, 1200 },
	                                        (struct core_use){ 1000, { [RES_DRAM] = 185, [RES_DMA] = 370 } });

	CHECK_U64(a.stall[RES_SRAM], 200); /* before it was asked for */
	CHECK_U64(a.stall[RES_DMA], 370);
	CHECK_U64(a.stall[RES_LATENCY], 630);
	CHECK_U64(a.stall[RES_DRAM], 0);
}

TEST(time_that_is_explained_already_is_nobodys)
{
	const struct core_account late = explained(1200, (struct core_move){ 200, 1200 },
	                                           (struct core_use){ 1000, { [RES_DRAM] = 900 } }),
				  half = explained(1100, (struct core_move){ 200, 1200 },
	                                           (struct core_use){ 1000, { [RES_DRAM] = 100 } }),
				  idle = explained(1100, (struct core_move){ 200, 1200 },
	                                           (struct core_use){ 1000, { 0 } });

	for (int r = 0; r < RES_COUNT; r++)
		CHECK_U64(late.stall[r], 0);
	CHECK_U64(half.stall[RES_DRAM], 10); /* a tenth of what is left */
	CHECK_U64(half.stall[RES_LATENCY], 90);
	CHECK_U64(idle.stall[RES_LATENCY], 100);
}

/* --- machines ---------------------------------------------------------------------------------------------- */

static struct machine_conf *machine(const char *const *sets, int n)
{
	static const char text[] = "clock: 1 GHz\ncores: 64\ndma: {tile: 256 KiB, stages: 8}\nsram: {size: 256 KiB}\n"
				   "l2: {size: 16 MiB, banks: 64}\ndram: {kind: hbm3-6400, channels: 32}\n";
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(text, strlen(text), "m", sets, n, &e);

	CHECK_OK(c ? 0 : -1, e);
	return c;
}

static struct diag_list said(const char *const *sets, int n)
{
	struct machine_conf *c = machine(sets, n);
	struct diag_list l = { .n = 0 };

	diag_machine(&c->cfg, &l);
	machine_conf_free(c);
	return l;
}

TEST(a_machine_that_can_work_as_written_says_nothing)
{
	CHECK_U64(said(NULL, 0).n, 0);
}

/* Each alone, with its numbers and the parameter to change. */
TEST(each_thing_that_cannot_work_has_its_line)
{
	static const struct {
		const char *set, *what, *numbers, *change;
	} cases[] = {
		{ "dma.width=16 B", "dma", "carries 1024 GB/s and DRAM gives 1638", "dma.width" },
		{ "l2.banks=16", "l2", "carries 1024 GB/s and DRAM gives 1638", "l2.banks" },
		{ "dma.stages=1", "in_flight", "256 KiB in flight (dma.stages times dma.tile)",
		  "more or larger tiles" },
		{ "dma.tile=32 KiB", "in_flight", "256 KiB in flight (dma.stages times dma.tile)",
		  "more or larger tiles" },
		{ "dma.outstanding=1", "in_flight", "256 KiB in flight (dma.outstanding times dma.tile)", "more" },
		{ "sram.size=4 KiB", "in_flight", "256 KiB in flight (all of SRAM)", "sram.size must grow" },
		{ "dram.pin_mbps=7000", "pin_rate", "7000 Mbit/s a pin are beyond hbm3, which has 6400",
		  "dram.channels" },
		{ "weights.sparsity=2:4", "sparsity", "no unit takes weights of weights.sparsity 2:4",
		  "matrix.sparse" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct diag_list l = said(&cases[i].set, 1);

		CHECK_U64(l.n, 1);
		CHECK_STR(l.v[0].what, cases[i].what);
		CHECK_HAS(l.v[0].text, cases[i].numbers);
		CHECK_HAS(l.v[0].text, cases[i].change);
		CHECK(!strchr(l.v[0].text, '\n') && strlen(l.v[0].text) < sizeof l.v[0].text - 1);
	}
}

TEST(twice_what_was_missing_is_enough)
{
	CHECK_U64(said((const char *[]){ "dma.width=32 B" }, 1).n, 0);
	CHECK_U64(said((const char *[]){ "dram.pin_mbps=6400" }, 1).n, 0);
	CHECK_U64(said((const char *[]){ "dram.kind=fixed", "dram.fixed_bandwidth=4 TB/s", "dram.fixed_latency=10 ns" },
	               3)
	                  .n,
	          0);
	CHECK_STR(said((const char *[]){ "dram.kind=fixed", "dram.fixed_bandwidth=5 TB/s" }, 2).v[0].what, "dma");
}

/* Of two dies, which no parameter says: it is beyond one, and within two. */
static bool of_two_dies(const struct machine_cfg *c, const struct diag *x)
{
	struct real_beyond beyond[REAL_MOST];

	return (strcmp(x->what, "reticle") == 0 || strcmp(x->what, "edges") == 0) && !real_machine(c, 2, beyond);
}

TEST(shipped_machines_say_nothing_but_that_they_are_two_dies)
{
	static const char *const folders[] = { "configs/npu", "configs/gpu" };
	size_t seen = 0;

	for (int f = 0; f < 2; f++) {
		char path[512];
		struct dirent *x;
		DIR *d;

		snprintf(path, sizeof path, "%s/%s", test_root(), folders[f]);
		CHECK((d = opendir(path)) != NULL);
		while ((x = readdir(d))) {
			struct diag_list l = { .n = 0 };
			struct err e = ERR_INIT;
			struct machine_conf *c;

			if (!strstr(x->d_name, ".yaml"))
				continue;
			snprintf(path, sizeof path, "%s/%s/%s", test_root(), folders[f], x->d_name);
			CHECK_OK((c = machine_conf_load(path, NULL, 0, &e)) ? 0 : -1, e);
			diag_machine(&c->cfg, &l);
			for (size_t i = 0; i < l.n; i++)
				if (!of_two_dies(&c->cfg, &l.v[i]))
					test_fail(__FILE__, __LINE__, "%s: %s", path, l.v[i].text);
			machine_conf_free(c);
			seen++;
		}
		closedir(d);
	}
	CHECK(seen > 10);
}

/* --- runs -------------------------------------------------------------------------------------------------- */

static struct diag_list said_of_a_product(uint64_t m, uint64_t n, uint64_t k, const char *const *sets, int n_sets)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = RUN_ANALYTIC };
	struct machine_conf *c = machine(sets, n_sets);
	struct diag_list l = { .n = 0 };
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct run_result x = { 0 };

	CHECK_OK(run_stream(synth_product(a, m, n, k), c, &o, a, &x, &e), e);
	diag_run(&c->cfg, &x, &l);
	arena_free(a);
	machine_conf_free(c);
	return l;
}

TEST(arrays_that_no_op_fills_are_named_and_those_that_one_fills_are_not)
{
	/* without a process, as so many arrays are more than a reticle */
	const char *no_gemv[] = { "gemv.units=0", "matrix.rows=128", "matrix.cols=128", "die.node=none" };
	const char *fed[] = { "gemv.units=0",    "matrix.rows=128", "matrix.cols=128",
		              "dma.width=512 B", "sram.size=1 MiB", "die.node=none" };
	const struct diag_list few = said_of_a_product(1, 4096, 4096, no_gemv, 4);

	CHECK_U64(few.n, 1);
	CHECK_STR(few.v[0].what, "unfilled");
	CHECK_HAS(few.v[0].text, "no op fills the matrix units");
	CHECK_HAS(few.v[0].text, "matrix.units");
	/* with engines that feed them */
	CHECK_U64(said_of_a_product(4096, 4096, 4096, fed, 6).n, 0);
	CHECK_U64(said_of_a_product(1, 4096, 4096, NULL, 0).n,
	          0); /* on the GEMV units: what is not used is not blamed */
}

/* dma.tile is 4 KiB, but a tile is a row of each of 256 GEMV units: 2 MiB. */
TEST(a_run_that_keeps_dram_busy_all_the_same_is_not_told_that_it_cannot)
{
	const char *sets[] = { "dma.tile=4 KiB" };

	CHECK_STR(said(sets, 1).v[0].what, "in_flight");
	CHECK_U64(said_of_a_product(1, 16384, 4096, sets, 1).n, 0);
	CHECK_STR(said_of_a_product(1, 16384, 4096,
	                            (const char *[]){ "dma.tile=4 KiB", "dma.stages=1", "gemv.units=1", "cores=1" }, 4)
	                  .v[0]
	                  .what,
	          "dma");
}

TEST(a_run_in_closed_form_says_what_that_leaves_out)
{
	const char *sets[] = { "l2.policy=drrip", "l2.write_block=64 KiB" };

	for (int i = 0; i < 2; i++) {
		const struct diag_list l = said_of_a_product(1, 4096, 4096, &sets[i], 1);

		CHECK_U64(said(&sets[i], 1).n, 0); /* of the machine itself there is nothing to say */
		CHECK_U64(l.n, 1);
		CHECK_STR(l.v[0].what, "form");
		CHECK_HAS(l.v[0].text, i ? "l2.write_block" : "l2.policy drrip");
		CHECK_HAS(l.v[0].text, "--fidelity event");
	}
}

SUITE(t_diag, T(a_run_in_closed_form_says_what_that_leaves_out),
      T(a_full_resource_has_all_of_the_time_that_was_waited_for_it),
      T(where_nothing_is_full_the_fullest_has_its_need_and_latency_the_rest),
      T(time_that_is_explained_already_is_nobodys), T(a_machine_that_can_work_as_written_says_nothing),
      T(each_thing_that_cannot_work_has_its_line), T(twice_what_was_missing_is_enough),
      T(shipped_machines_say_nothing_but_that_they_are_two_dies),
      T(a_run_that_keeps_dram_busy_all_the_same_is_not_told_that_it_cannot),
      T(arrays_that_no_op_fills_are_named_and_those_that_one_fills_are_not));
