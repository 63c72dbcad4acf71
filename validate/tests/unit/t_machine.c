/* Machines in one process: each with its own clock, or both on one. */
#include "sim/engine/machine.h"
#include "sim/map/map.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

struct one {
	struct machine_conf *c;
	struct op_stream *s;
	struct map_result map;
	struct machine *m;
	struct cp_result *res;
};

/* A made-up step for a shipped machine. */
static void up(struct one *o, const char *config, uint64_t seed, struct arena *a)
{
	const char *const sets[] = { "fusion.enabled=false" };
	const struct map_opts alone = { .patterns = NULL };
	struct err e = ERR_INIT;
	char path[512];
	struct rng r;

	rng_seed(&r, seed, "machine");
	snprintf(path, sizeof path, "%s/configs/npu/%s.yaml", test_root(), config);
	*o = (struct one){ .c = machine_conf_load(path, sets, 1, &e) };
	CHECK_OK(o->c ? 0 : -1, e);
	o->s = synth_step(&r, a, 2, false);
	CHECK_OK(map_stream(o->s, &o->c->cfg, &alone, a, &o->map, &e), e);
}

static void build(struct one *o, struct evq *q, struct arena *a)
{
	struct err e = ERR_INIT;

	o->m = machine_new(&o->c->cfg, q, &e);
	CHECK_OK(o->m ? 0 : -1, e);
	o->res = arena_array(a, o->map.prog.n_cmds, sizeof *o->res);
	CHECK(o->res);
}

static void check_same(const struct one *a, const struct one *b)
{
	struct stat_reg *x = machine_stats(a->m), *y = machine_stats(b->m);

	CHECK(a->map.prog.n_cmds > 10 && a->map.prog.n_cmds == b->map.prog.n_cmds);
	for (size_t k = 0; k < a->map.prog.n_cmds; k++) {
		CHECK_U64(b->res[k].dispatched, a->res[k].dispatched);
		CHECK_U64(b->res[k].retired, a->res[k].retired);
		for (int r = 0; r < RES_COUNT; r++) {
			CHECK_U64(b->res[k].acc.stall[r], a->res[k].acc.stall[r]);
			CHECK_U64(b->res[k].acc.busy[r], a->res[k].acc.busy[r]);
		}
	}
	CHECK_U64(stat_count(y), stat_count(x));
	for (size_t i = 0; i < stat_count(x); i++)
		CHECK_U64(stat_at(y, i).value, stat_at(x, i).value);
}

TEST(two_machines_on_one_clock_end_as_each_does_alone)
{
	static const char *const configs[] = { "dsocr", "edge" };
	struct arena *a = arena_new(0);
	struct one alone[2], both[2];
	struct evq *q = evq_new();
	struct err e = ERR_INIT;
	uint64_t events = 0;

	for (int i = 0; i < 2; i++) {
		up(&alone[i], configs[i], 7 + (uint64_t)i, a);
		both[i] = alone[i];
		build(&alone[i], NULL, a);
		CHECK_OK(machine_begin(alone[i].m, &alone[i].map.prog, NULL, alone[i].res, &e), e);
		while (evq_step(machine_queue(alone[i].m)))
			continue;
		events += machine_events(alone[i].m);
	}
	for (int i = 0; i < 2; i++) {
		build(&both[i], q, a);
		CHECK_OK(machine_begin(both[i].m, &both[i].map.prog, NULL, both[i].res, &e), e);
		CHECK(!machine_done(both[i].m));
	}
	while (evq_step(q))
		continue;
	for (int i = 0; i < 2; i++) {
		CHECK(machine_done(both[i].m));
		check_same(&alone[i], &both[i]);
	}
	CHECK_U64(evq_count(q), events);
	CHECK_U64(machine_now(both[0].m), machine_now(both[1].m));
	for (int i = 0; i < 2; i++) {
		machine_free(alone[i].m);
		machine_free(both[i].m);
		machine_conf_free(alone[i].c);
	}
	evq_free(q);
	arena_free(a);
}

/* The second begins while the first is under way. */
TEST(a_pass_of_one_machine_serves_the_others_on_its_clock)
{
	struct arena *a = arena_new(0);
	struct evq *q = evq_new();
	struct one x, y;
	struct err e = ERR_INIT;
	ps_t span = 0;

	up(&x, "edge", 7, a);
	up(&y, "dsocr", 8, a);
	build(&x, q, a);
	build(&y, q, a);
	CHECK_OK(machine_begin(x.m, &x.map.prog, NULL, x.res, &e), e);
	for (int i = 0; i < 1000; i++)
		CHECK(evq_step(q));
	CHECK_OK(machine_step(y.m, &y.map.prog, NULL, y.res, &e), e);
	CHECK(machine_done(y.m));
	while (evq_step(q))
		continue;
	CHECK(machine_done(x.m));
	for (size_t k = 0; k < x.map.prog.n_cmds; k++)
		span += x.res[k].span;
	CHECK_U64(span, x.res[x.map.prog.n_cmds - 1].retired);
	machine_free(x.m);
	machine_free(y.m);
	machine_conf_free(x.c);
	machine_conf_free(y.c);
	evq_free(q);
	arena_free(a);
}

SUITE(t_machine, T(two_machines_on_one_clock_end_as_each_does_alone),
      T(a_pass_of_one_machine_serves_the_others_on_its_clock));
