/* t_coschedule.c - products side by side on groups of cores: when they are, what it saves, and what must stay as it was. */
#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

/* Four cores, each with an array of 64 x 64 that takes a row a cycle; memory is no bottleneck: 4 MiB of L2 at 2 TB/s. */
#define MACHINE \
	"clock: 1 GHz\ncores: 4\nsram: {size: 256 KiB, forward: false}\ngemv: {units: 0}\n" \
	"matrix: {units: 1, rows: 64, cols: 64}\ndma: {width: 512 B, tile: 64 KiB}\n" \
	"l2: {size: 4 MiB, banks: 64, bank_width: 64 B, latency: 10 ns}\ndispatch: {latency: 10 ns, interval: 1 ns}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 2 TB/s, fixed_latency: 10 ns}\n"

struct bed {
	struct arena *a;
	struct machine_conf *c;
	struct op_stream *s;
	struct run_result x;
	struct err e;
};

static void bed_up(struct bed *b, uint64_t m, uint64_t k, uint64_t n, uint32_t count, bool chain)
{
	uint64_t all[16];

	memset(b, 0, sizeof *b);
	b->a = arena_new(0);
	for (uint32_t i = 0; i < count; i++)
		all[i] = n;
	b->s = synth_products(b->a, m, k, all, count, chain);
}

static void run(struct bed *b, const char *set, enum run_fidelity fidelity)
{
	const struct run_opts o = { .start = RUN_STEADY, .seed = 1, .fidelity = fidelity };

	machine_conf_free(b->c);
	b->c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", &set, set != NULL, &b->e);
	CHECK_OK(b->c ? 0 : -1, b->e);
	CHECK_OK(run_stream(b->s, b->c, &o, b->a, &b->x, &b->e), b->e);
}

static void bed_down(struct bed *b)
{
	machine_conf_free(b->c);
	arena_free(b->a);
}

static uint32_t beside(const struct bed *b)
{
	uint32_t n = 0;

	for (size_t k = 0; k < b->x.map->prog.n_cmds; k++)
		n += strstr(b->x.map->prog.cmds[k].why, "side by side") != NULL;
	return n;
}

/* 64 rows of 64 values times 64 x 64 weights fill one array: on four cores each has 16 rows, or 16 columns, of it, and four
 * products take four times as long as one. Each on a core of its own they are one command. */
TEST(products_that_fill_one_core_run_on_a_core_each)
{
	struct bed b;
	ps_t together;
	uint64_t bytes;

	bed_up(&b, 64, 64, 64, 4, false);
	for (int f = 0; f < 2; f++) {
		run(&b, NULL, f ? RUN_ANALYTIC : RUN_EVENT);
		CHECK_U64(beside(&b), 1);
		CHECK_U64(b.x.map->prog.n_cmds, 1);
		CHECK_U64(b.x.map->prog.cmds[0].n_ops, 4);
		CHECK_U64(b.x.map->prog.cmds[0].dispatches, 4);
		CHECK_U64(runbed_stat(&b.x, "matrix.macs"), UINT64_C(4) * 64 * 64 * 64);
		CHECK_U64(runbed_stat(&b.x, "dispatch.commands"), 4);
		together = b.x.total_ps;
		bytes = runbed_stat(&b.x, "l2.write_bytes");
		CHECK_U64(bytes, UINT64_C(4) * 64 * 64 * 2);
		run(&b, "mapping.side_by_side=false", f ? RUN_ANALYTIC : RUN_EVENT);
		CHECK_U64(beside(&b), 0);
		CHECK_U64(b.x.map->prog.n_cmds, 4);
		CHECK_U64(runbed_stat(&b.x, "matrix.macs"), UINT64_C(4) * 64 * 64 * 64);
		CHECK_U64(runbed_stat(&b.x, "l2.write_bytes"), bytes);
		CHECK(together < b.x.total_ps);
	}
	bed_down(&b);
}

/* The rows are the same for all: they are loaded once, for four cores. Weights and results are each core's own: of a port
 * that stands for four they are a quarter. */
TEST(what_all_read_is_loaded_once_and_the_rest_by_each)
{
	struct bed b;
	uint32_t rows = 0, weights = 0, results = 0;

	bed_up(&b, 64, 64, 64, 4, false);
	run(&b, NULL, RUN_ANALYTIC);
	for (size_t i = 0; i < b.x.map->prog.n_insns; i++) {
		const struct isa_insn *x = &b.x.map->prog.insns[i];

		if (x->code == ISA_LOAD && x->copies == 4) {
			CHECK_U64(x->share, x->tile_bytes && x->when == ISA_TILE ? x->tile_bytes : x->bytes);
			rows++;
		} else if (x->code == ISA_LOAD) {
			CHECK_U64(x->share, 0);
			weights++;
		}
		results += x->code == ISA_STORE;
	}
	CHECK_U64(rows, 1);
	CHECK_U64(weights, 4);
	CHECK_U64(results, 4);
	bed_down(&b);
}

/* Tiles that do not divide m, n and k: each group's are as small at the edges as one's alone, and all of them counted. */
TEST(so_are_tiles_that_are_smaller_at_the_edges)
{
	static const uint64_t m[] = { 90, 100, 150, 70, 190, 350, 40 }, n[] = { 150, 90, 100, 330, 270, 170, 500 };
	uint32_t uneven = 0;

	for (size_t i = 0; i < sizeof m / sizeof *m; i++)
		for (int f = 0; f < 2; f++) {
			struct bed b;

			bed_up(&b, m[i], 333, n[i], 4, false);
			run(&b, "sram.size=40 KiB", f ? RUN_ANALYTIC : RUN_EVENT);
			uneven += beside(&b) && b.x.map->prog.n_edges;
			CHECK_U64(runbed_stat(&b.x, "matrix.macs"), 4 * m[i] * n[i] * 333);
			CHECK_U64(runbed_stat(&b.x, "dma.write_bytes"), 4 * m[i] * n[i] * 2);
			bed_down(&b);
		}
	CHECK(uneven > 1);
}

TEST(one_that_waits_for_another_is_never_beside_it)
{
	struct bed b;

	bed_up(&b, 64, 64, 64, 4, true);
	run(&b, NULL, RUN_EVENT);
	CHECK_U64(beside(&b), 0);
	CHECK_U64(b.x.map->prog.n_cmds, 4);
	bed_down(&b);
}

TEST(products_that_wait_for_memory_stay_one_behind_the_other)
{
	struct bed b;

	bed_up(&b, 1, 2048, 2048, 4, false);
	run(&b, "dram.fixed_bandwidth=100 GB/s", RUN_EVENT);
	CHECK_U64(beside(&b), 0);
	bed_down(&b);
}

/* Random steps with experts on random machines: all ops are done once, after what they wait for, and none by two commands. */
TEST(any_step_is_done_whole_and_in_order)
{
	struct rng r;
	uint32_t found = 0;

	rng_seed(&r, 14, "beside");
	for (int i = 0; i < 60; i++) {
		const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = RUN_ANALYTIC };
		struct runbed b;
		struct run_result x;

		runbed_random(&b, &r);
		if (runbed_run(&b, NULL, NULL, 0, &o, &x)) {
			const struct isa_prog *p = &x.map->prog;
			uint32_t *by = arena_array(b.a, b.s->n_ops + 1, sizeof *by);
			size_t members = 0;

			for (uint32_t k = 0; k < p->n_cmds; k++) {
				found += strstr(p->cmds[k].why, "side by side") != NULL;
				for (uint32_t n = 0; n < p->cmds[k].n_ops && !p->cmds[k].chained; n++, members++)
					by[p->members[p->cmds[k].first_op + n]]++;
			}
			for (size_t n = 0; n < b.s->n_ops; n++) {
				CHECK_U64(by[n], op_is_simulated(b.s->ops[n].kind));
				for (uint32_t d = 0; d < b.s->ops[n].n_deps; d++) {
					const uint32_t on = b.s->deps[b.s->ops[n].first_dep + d];

					CHECK(x.map->cmd_of_op[on] <= x.map->cmd_of_op[n]);
				}
			}
		}
		runbed_down(&b);
	}
	CHECK(found > 0);
}

SUITE(t_coschedule, T(so_are_tiles_that_are_smaller_at_the_edges), T(products_that_fill_one_core_run_on_a_core_each),
      T(what_all_read_is_loaded_once_and_the_rest_by_each), T(one_that_waits_for_another_is_never_beside_it),
      T(products_that_wait_for_memory_stay_one_behind_the_other), SLOW(any_step_is_done_whole_and_in_order));
