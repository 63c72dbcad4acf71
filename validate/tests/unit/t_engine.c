/* The table of engines: who runs what, and what of a result is whose. */
#include "sim/engine/engine.h"

#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

static const enum run_fidelity fidelities[] = { RUN_EVENT, RUN_ANALYTIC };

TEST(every_kind_of_machine_has_one_engine_at_each_fidelity)
{
	for (uint32_t kind = 0; kind < MACHINE_KINDS; kind++)
		for (int f = 0; f < 2; f++) {
			const struct machine_cfg c = { .kind = kind };
			int n = 0;

			for (const struct engine_ops *const *g = engine_table(); *g; g++)
				n += (*g)->can(&c, fidelities[f]);
			CHECK_U64(n, 1);
			CHECK(engine_of(&c, fidelities[f])->can(&c, fidelities[f]));
		}
}

struct run_label {
	const struct run_result *x;
	size_t n;
};

static void is_next(void *arg, const struct stat_view *v)
{
	struct run_label *a = arg;

	CHECK(a->n < a->x->n_stats);
	CHECK_STR(a->x->stats[a->n++].name, v->name);
}

static struct run_result run(struct runbed *b, const char *config, enum run_fidelity f)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = f };
	struct run_result x;

	CHECK(runbed_run(b, config, NULL, 0, &o, &x));
	return x;
}

TEST(an_engine_names_the_statistics_its_results_have)
{
	static const char *const configs[] = { "configs/npu/dsocr.yaml", "configs/gpu/h200.yaml" };
	struct runbed b = { .a = arena_new(0), .e = ERR_INIT };
	struct rng r;

	rng_seed(&r, 3, "engine");
	b.s = synth_step(&r, b.a, 1, false);
	for (int i = 0; i < 4; i++) {
		const struct run_result x = run(&b, configs[i / 2], fidelities[i % 2]);
		struct run_label a = { &x, 0 };
		struct machine_conf *c;
		char path[512];

		snprintf(path, sizeof path, "%s/%s", test_root(), configs[i / 2]);
		CHECK((c = machine_conf_load(path, NULL, 0, &b.e)) != NULL);
		CHECK_OK(x.engine->stats(&c->cfg, is_next, &a, &b.e), b.e);
		CHECK_U64(a.n, x.n_stats);
		CHECK(i >= 2 || a.n > 20);
		CHECK_U64(x.events > 0, x.engine->events);
		machine_conf_free(c);
	}
	arena_free(b.a);
}

TEST(an_op_has_a_command_where_commands_are_run_and_none_where_launches_are)
{
	struct runbed b = { .a = arena_new(0), .e = ERR_INIT };
	struct run_result npu, gpu;
	size_t fused = 0;
	struct rng r;

	rng_seed(&r, 3, "engine");
	b.s = synth_step(&r, b.a, 2, false);
	npu = run(&b, "configs/npu/dsocr.yaml", RUN_ANALYTIC);
	gpu = run(&b, "configs/gpu/h200.yaml", RUN_ANALYTIC);
	CHECK(npu.map && !gpu.map);
	for (size_t i = 0; i < b.s->n_ops; i++) {
		CHECK(npu.ops[i].cmd < npu.map->prog.n_cmds);
		CHECK(gpu.ops[i].cmd == RUN_NO_CMD && !run_pattern(&gpu, &gpu.ops[i]));
		fused += run_pattern(&npu, &npu.ops[i]) != NULL;
	}
	CHECK(fused > 0);
	arena_free(b.a);
}

TEST(what_the_closed_form_leaves_out_changes_nothing_there)
{
	static const struct {
		const char *key, *set;
	} left_out[] = { { "l1.mshrs", "l1.mshrs=1" },
		         { "l2.mshrs", "l2.mshrs=1" },
		         { "l2.write_block", "l2.write_block=1 MiB" } };
	struct runbed b = { .a = arena_new(0), .e = ERR_INIT };
	const struct run_opts o = { .start = RUN_STEADY, .seed = 1, .fidelity = RUN_ANALYTIC };
	struct run_result as_it_is, x;
	struct rng r;

	rng_seed(&r, 3, "engine");
	b.s = synth_step(&r, b.a, 2, false);
	CHECK(runbed_run(&b, "configs/npu/dsocr.yaml", NULL, 0, &o, &as_it_is));
	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
		CHECK(!engine_form_covers(left_out[i].key));
		CHECK(runbed_run(&b, "configs/npu/dsocr.yaml", &left_out[i].set, 1, &o, &x));
		CHECK_U64(x.total_ps, as_it_is.total_ps);
	}
	CHECK(!engine_form_covers("l2.policy") && engine_form_covers("l2.size") && engine_form_covers("cores"));
	arena_free(b.a);
}

SUITE(t_engine, T(what_the_closed_form_leaves_out_changes_nothing_there),
      T(every_kind_of_machine_has_one_engine_at_each_fidelity), T(an_engine_names_the_statistics_its_results_have),
      T(an_op_has_a_command_where_commands_are_run_and_none_where_launches_are));
