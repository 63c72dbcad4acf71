/* t_probe_forced.c - mappings that are forced: what is drawn is what runs, and one seed gives one sample. */
#include "sim/accuracy/probe_forced.h"

#include "arch/machine/machine_conf.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#include <inttypes.h>

#define N 12

static struct probe_forced *draw(uint64_t seed, struct arena *a)
{
	struct probe_forced *x = arena_array(a, N, sizeof *x);
	struct err e = ERR_INIT;

	CHECK_OK(probe_forced(seed, N, a, x, NULL, NULL, &e), e);
	return x;
}

TEST(one_seed_gives_one_sample_and_another_another)
{
	struct arena *a = arena_new(0);
	const struct probe_forced *x = draw(1, a), *y = draw(1, a), *z = draw(2, a);
	bool alike = true;

	for (int i = 0; i < N; i++) {
		CHECK_STR(y[i].machine, x[i].machine);
		CHECK_U64(y[i].m, x[i].m);
		CHECK_U64(y[i].event, x[i].event);
		CHECK_U64(y[i].form, x[i].form);
		for (int k = 0; k < PROBE_FORCED_SETS; k++)
			CHECK_STR(y[i].sets[k], x[i].sets[k]);
		alike = alike && z[i].m == x[i].m;
	}
	CHECK(!alike);
	arena_free(a);
}

static uint64_t trips(uint64_t size, uint64_t tile)
{
	return (size + tile - 1) / tile;
}

/* As a person would run it, in so many tiles as were asked for. */
TEST(each_runs_as_it_was_drawn)
{
	struct arena *a = arena_new(0);
	const struct probe_forced *x = draw(3, a);

	for (int i = 0; i < N; i++) {
		const struct run_opts o = { .start = x[i].start, .seed = 1, .fidelity = RUN_ANALYTIC };
		char config[64], table[128];
		struct machine_conf *c;
		struct run_result r;
		struct runbed b;

		snprintf(table, sizeof table,
		         "op,m,n,k,dtype,weight_dtype\ngemm,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%s\n", x[i].m,
		         x[i].n, x[i].k, x[i].dtype, x[i].weights);
		snprintf(config, sizeof config, "configs/npu/%s.yaml", x[i].machine);
		runbed_table(&b, table);
		CHECK(runbed_run(&b, config, x[i].sets, PROBE_FORCED_SETS, &o, &r));
		CHECK_U64(r.total_ps, x[i].form);
		c = machine_conf_load(x[i].config, x[i].sets, PROBE_FORCED_SETS, &b.e);
		CHECK_OK(c ? 0 : -1, b.e);
		CHECK_U64(r.map->prog.cmds[0].tiles, trips(x[i].m, c->cfg.mapping.tile_m) *
		                                             trips(x[i].n, c->cfg.mapping.tile_n) *
		                                             trips(x[i].k, c->cfg.mapping.tile_k));
		machine_conf_free(c);
		runbed_down(&b);
	}
	arena_free(a);
}

SUITE(t_probe_forced, T(one_seed_gives_one_sample_and_another_another), T(each_runs_as_it_was_drawn));
