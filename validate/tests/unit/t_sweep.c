/* t_sweep.c - sweep files: which points they make, what they say of a mistake, what expressions see. */
#include "sim/study/sweep.h"

#include <stdlib.h>

#include "validate/tests/test.h"

#define HEAD "sweep: 1\nbase: none.yaml\n"
static const char base[] = "clock: 1 GHz\nl2: {size: 64 MiB}\n";

static struct sweep *parse(const char *text)
{
	struct err e = ERR_INIT;
	struct sweep *s = sweep_parse(text, "s.yaml", base, &e);

	if (!s)
		test_fail(__FILE__, __LINE__, "%d: %s\n%s", e.line, e.msg, text);
	return s;
}

static struct sweep *expand(const char *text)
{
	struct err e = ERR_INIT;
	struct sweep *s = parse(text);

	if (sweep_expand(s, 1000, NULL, NULL, &e) < 0)
		test_fail(__FILE__, __LINE__, "%d: %s\n%s", e.line, e.msg, text);
	return s;
}

static const char *value(const struct sweep *s, size_t point, size_t axis)
{
	return s->axes[axis].values[s->index[point * s->n_axes + axis]].text;
}

static void check_axis(const char *axes, const char *want)
{
	struct str text = STR_INIT, got = STR_INIT;
	struct sweep *s;

	str_addf(&text, HEAD "axes: {%s}\n", axes);
	s = parse(str_c(&text));
	for (size_t i = 0; i < s->axes[0].n; i++)
		str_addf(&got, "%s%s", i ? ", " : "", s->axes[0].values[i].text);
	CHECK_STR(str_c(&got), want);
	sweep_free(s);
	str_free(&text);
	str_free(&got);
}

/* `line` is where the fault is; 0: anywhere. Both reading and expanding count. */
static void refused(const char *body, int line, const char *why)
{
	struct str text = STR_INIT;
	struct err e = ERR_INIT;
	struct sweep *s;

	str_addf(&text, HEAD "%s", body);
	s = sweep_parse(str_c(&text), "s.yaml", base, &e);
	if (s && sweep_expand(s, 1000, NULL, NULL, &e) == 0)
		test_fail(__FILE__, __LINE__, "taken:\n%s", str_c(&text));
	CHECK(e.kind == ERR_CONFIG);
	CHECK_HAS(e.msg, why);
	if (line) {
		CHECK_STR(e.file, "s.yaml");
		CHECK_U64(e.line, line);
	}
	sweep_free(s);
	str_free(&text);
}

TEST(a_grid_has_all_combinations_with_the_last_axis_fastest)
{
	struct sweep *s = expand(HEAD "axes: {l2.size: [32 MiB, 64 MiB], cores: [1, 2, 3]}\n");

	CHECK_U64(s->n_points, 6);
	CHECK_STR(value(s, 0, 0), "32 MiB");
	CHECK_STR(value(s, 1, 1), "2");
	CHECK_STR(value(s, 3, 0), "64 MiB");
	CHECK_STR(value(s, 5, 1), "3");
	sweep_free(s);
}

TEST(a_range_has_its_ends_and_values_machines_can_be_built_of)
{
	check_axis("l2.size: {from: 32 MiB, to: 128 MiB, steps: 4}", "32 MiB, 64 MiB, 96 MiB, 128 MiB");
	check_axis("l2.size: {from: 32 MiB, to: 512 MiB, steps: 5, scale: log}",
	           "32 MiB, 64 MiB, 128 MiB, 256 MiB, 512 MiB");
	check_axis("l2.size: {from: 32 MiB, to: 64 MiB, steps: 3, scale: log}", "32 MiB, 45.5 MiB, 64 MiB");
	check_axis("cores: {from: 1, to: 9, steps: 3}", "1, 5, 9");
	check_axis("dram.bandwidth: {from: 1 TB/s, to: 4 TB/s, steps: 4, scale: log}",
	           "1 TB/s, 1.59 TB/s, 2.52 TB/s, 4 TB/s");
	check_axis("clock: {from: 1 GHz, to: 2 GHz, steps: 3}", "1 GHz, 1.5 GHz, 2 GHz");
	check_axis("sram.banks: {from: 4, to: 64, steps: 3, scale: log}", "4, 16, 64");
	check_axis("fusion.enabled: [true, off]", "true, false");
	check_axis("l2.policy: [lru, drrip]", "lru, drrip");
	check_axis("l2.size: 0.5 GiB", "512 MiB");
}

TEST(linked_axes_move_together)
{
	struct sweep *s = expand(HEAD "axes: {l2.size: [32 MiB, 64 MiB], cores: [1, 2, 3], l2.banks: [16, 32]}\n"
	                              "link: [[l2.size, l2.banks]]\n");

	CHECK_U64(s->n_dims, 2);
	CHECK_U64(s->n_points, 6);
	for (size_t i = 0; i < 6; i++)
		CHECK_STR(value(s, i, 2), i < 3 ? "16" : "32");
	sweep_free(s);
}

TEST(where_leaves_points_out_by_axes_and_by_the_base)
{
	struct sweep *s = expand(HEAD "axes: {l2.size: [32 MiB, 64 MiB], cores: [1, 2, 3]}\n"
	                              "where: [l2.size < 64 MiB or cores > 2, clock == 1 GHz]\n");

	CHECK_U64(s->n_points, 4);
	CHECK_U64(s->n_dropped, 2);
	CHECK_STR(value(s, 3, 1), "3");
	sweep_free(s);
}

TEST(samples_have_the_points_asked_for_and_repeat)
{
	static const char random[] = HEAD "axes: {l2.size: {from: 32 MiB, to: 1 GiB, scale: log}, cores: [1, 2, 3]}\n"
					  "sample: {kind: random, n: 20, seed: 3}\n";
	static const char lhs[] =
		HEAD "axes: {l2.size: {from: 64 MiB, to: 128 MiB}, cores: {from: 1, to: 64, steps: 64}}\n"
		     "sample: {kind: lhs, n: 16}\n";
	struct sweep *s = expand(random), *t = expand(random);
	bool met[16] = { false };

	CHECK_U64(s->n_points, 20);
	CHECK_U64(t->n_points, 20);
	for (size_t i = 0; i < 20; i++) {
		CHECK_STR(value(s, i, 0), value(t, i, 0));
		CHECK_STR(value(s, i, 1), value(t, i, 1));
	}
	sweep_free(s);
	sweep_free(t);
	s = expand(lhs);
	CHECK_U64(s->n_points, 16);
	for (size_t i = 0; i < 16; i++) /* every sixteenth of 64 cores is met once */
		met[(strtoul(value(s, i, 1), NULL, 10) - 1) / 4] = true;
	for (size_t i = 0; i < 16; i++)
		CHECK(met[i]);
	sweep_free(s);
}

TEST(a_random_sample_of_a_small_grid_has_no_point_twice)
{
	struct sweep *s = expand(HEAD "axes: {cores: [1, 2], l2.banks: [8, 16]}\nsample: {kind: random, n: 100}\n");

	CHECK_U64(s->n_points, 4);
	sweep_free(s);
}

TEST(a_point_that_cannot_be_built_keeps_its_number_and_its_reason)
{
	struct sweep *s = expand(HEAD "axes: {l2.size: [64 MiB, 3 MiB], l2.ways: [16, 7]}\n");

	CHECK_U64(s->n_points, 4);
	CHECK_U64(s->n_refused, 2);
	CHECK(!s->refused[0] && s->refused[1] && !s->refused[2] && s->refused[3]);
	CHECK_HAS(s->refused[1], "whole number of sets");
	CHECK(s->hashes[0] != s->hashes[2]);
	sweep_free(s);
}

TEST(expressions_see_configuration_results_and_columns)
{
	static const char text[] = HEAD
		"axes: {l2.size: [32 MiB, 64 MiB], l2.policy: [lru, drrip]}\n"
		"columns: {hit: l2.hit_bytes / l2.read_bytes, twice: hit * 2}\n"
		"objectives: [latency_us, {name: sram, minimize: l2.size + kv_buffer.size}, {maximize: twice + 1}]\n"
		"constraints: [hit > 0.2, l2.policy == 'drrip', stall.dram + needs.dram + kind.gemm == 6]\n";
	const struct res_stat stats[] = { { "l2.hit_bytes", "B", 25, false }, { "l2.read_bytes", "B", 100, false } };
	const struct res_resource resources[] = { { "dram", 1000000, 2000000 } };
	const struct res_kind kinds[] = { { "gemm", 1, 3000000, 0, 0, 0, 0 } };
	const struct res_value values[] = { { "32 MiB", true, 33554432 }, { "drrip", false, 0 } };
	const struct res_point p = { .total_ps = 7000000,
		                     .stats = stats,
		                     .n_stats = 2,
		                     .resources = resources,
		                     .n_resources = 1,
		                     .kinds = kinds,
		                     .n_kinds = 1,
		                     .values = values };
	static const double want[] = { 0.25, 0.5, 7, 33554432, 1.5 };
	struct sweep *s = expand(text);
	struct sweep_row row = { s, NULL, &p, values, NULL };
	struct expr_value v;
	struct err e = ERR_INIT;

	CHECK_U64(s->n_columns, 5);
	CHECK_OK(sweep_value(&row, s->columns[3].x, &v, &e), e);
	CHECK(v.type == EXPR_NULL); /* kv_buffer.size is no axis: it takes the machine */
	CHECK(sweep_needs_conf(s, s->columns[3].x));
	CHECK(!sweep_needs_conf(s, s->columns[4].x));
	row.conf = sweep_conf(s, (const char *const[]){ "l2.size=32 MiB", "l2.policy=drrip" }, &e);
	CHECK(row.conf != NULL);
	for (size_t i = 0; i < 5; i++) {
		CHECK_OK(sweep_value(&row, s->columns[i].x, &v, &e), e);
		CHECK(v.type == EXPR_NUMBER && v.number == want[i]);
	}
	CHECK(s->columns[2].goal == SWEEP_MINIMIZE && s->columns[4].goal == SWEEP_MAXIMIZE);
	for (size_t i = 0; i < s->n_constraints; i++) {
		CHECK_OK(sweep_value(&row, s->constraints[i], &v, &e), e);
		CHECK(v.number == 1);
	}
	machine_conf_free((struct machine_conf *)row.conf);
	sweep_free(s);
}

TEST(mistakes_in_axes_are_placed)
{
	refused("axes: {l2.sise: [1 MiB]}\n", 3, "did you mean 'l2.size'");
	refused("axes: {l2.size: []}\n", 3, "axis 'l2.size' is empty");
	refused("axes: {}\n", 3, "'axes' is empty");
	refused("range: x\n", 0, "'axes'");
	refused("axes:\n  l2.size:\n    - 1 MiB\n    - 64\n", 6, "needs a unit");
	refused("axes: {l2.size: [1 MiB, 1024 KiB]}\n", 3, "twice");
	refused("axes: {cores: [0]}\n", 3, "the range is");
	refused("axes: {cores: {from: 4, to: 2, steps: 3}}\n", 3, "'from' is not below 'to'");
	refused("axes: {cores: {from: 2, to: 4, steps: 9}}\n", 3, "would come twice");
	refused("axes: {cores: {from: 2, to: 4}}\n", 3, "no 'steps'");
	refused("axes: {cores: {from: 2, to: 4, step: 9}}\n", 3, "did you mean 'steps'");
	refused("axes: {l2.policy: {from: lru, to: drrip, steps: 2}}\n", 3, "list its values");
	refused("axes: {l2.size: {from: 0, to: 4 MiB, steps: 3, scale: log}}\n", 3, "logarithmic from 0");
	refused("axes: {cores: [1, 2]}\nlink: [[cores, core]]\n", 4, "'core' is no axis; did you mean 'cores'");
	refused("axes: {cores: [1, 2], l2.banks: [1]}\nlink: [[cores, l2.banks]]\n", 4, "has 2 and 'l2.banks' has 1");
	refused("axis: {cores: [1, 2]}\n", 3, "did you mean 'axes'");
}

TEST(mistakes_in_expressions_are_placed)
{
#define AXES "axes: {cores: [1, 2]}\n"
	refused(AXES "where: cores >\n", 4, "something is missing");
	refused(AXES "where: coers > 1\n", 4, "did you mean 'cores'");
	refused(AXES "where: latency_us > 1\n", 4, "put it under 'constraints'");
	refused(AXES "where: [cores > 1, cores < 2]\n", 4, "leaves no point");
	refused(AXES "constraints: latency < 3\n", 4, "unknown name 'latency'");
	refused(AXES "constraints: latency_uss < 3\n", 4, "did you mean 'latency_us'");
	refused(AXES "constraints: [cores > 1, cores < 2, latency_us < 9]\n", 4, "can meet the constraints");
	refused(AXES "where: area_mm2 < 1\n", 4, "leaves no point");
	refused(AXES "constraints: [area_mm2 < 1, latency_us < 9]\n", 4, "can meet the constraints");
	refused(AXES "objectives: [{name: x}]\n", 4, "one of 'minimize' and 'maximize'");
	refused(AXES "columns: {cores: 1}\n", 4, "has a meaning already");
	refused(AXES "columns: {a: b + 1, b: 2}\n", 4, "unknown name 'b'");
	refused(AXES "columns: {9a: 1}\n", 4, "is no name");
#undef AXES
}

TEST(mistakes_elsewhere_are_placed)
{
	refused("axes: {cores: {from: 1, to: 64, steps: 64}, l2.banks: {from: 1, to: 64, steps: 64}}\n", 3,
	        "64 x 64 = 4096 points is more than 1000");
	refused("axes: {cores: [1]}\nsample: random\n", 4, "write {kind: random, n: 100}");
	refused("axes: {cores: [1]}\nsample: {kind: rnd, n: 3}\n", 4, "unknown sample 'rnd'");
	refused("axes: {cores: [1]}\nsample: {kind: lhs, n: 5000}\n", 4, "--max 5000");
	refused("axes: {cores: [1]}\nfidelity: exact\n", 4, "unknown fidelity 'exact': it is event or analytic");
	refused("axes: {cores: [1]}\nworkload: m.yaml\n", 4, "a workload is a model");
	refused("axes: {cores: [1]}\nstart: warm\n", 4, "steady or cold");
	refused("axes: {cores: [1]}\nexpert_reuse: 2\n", 4, "a probability");
	refused("axes: {l2.size: [3 MiB], l2.ways: [7]}\n", 0, "none of which can be built");
	refused("axes: {cores: [1]}\nsweep: 1\n", 4, "sweep");
}

TEST(a_gpus_sweep_refuses_a_statistic_its_runs_do_not_have)
{
	static const char gpu[] = "kind: gpu\nl2: {size: 64 MiB}\n";
	const char *const names[] = { "dram_read_bytes", "dma.read_bytes" };

	for (int i = 0; i < 2; i++) {
		struct str file = STR_INIT;
		struct err e = ERR_INIT;
		struct sweep *s;

		str_addf(&file, HEAD "axes: {l2.size: [32 MiB]}\ncolumns: {x: %s}\n", names[i]);
		s = sweep_parse(str_c(&file), "s.yaml", gpu, &e);
		CHECK_OK(s ? 0 : -1, e);
		CHECK_U64(sweep_expand(s, 1000, NULL, NULL, &e) == 0, i == 0);
		CHECK(i == 0 || strstr(e.msg, "unknown name 'dma.read_bytes'"));
		sweep_free(s);
		str_free(&file);
	}
}

TEST(a_sweep_knows_what_its_base_runs)
{
	struct err e = ERR_INIT;
	struct sweep *s = sweep_parse(HEAD "axes: {l2.ways: [16]}\n", "s.yaml", "kind: gpu\n", &e);

	CHECK_OK(s ? 0 : -1, e);
	CHECK(machine_runs(&s->schema_target) == MACHINE_LAUNCHES);
	sweep_free(s);
	s = parse(HEAD "axes: {l2.ways: [16]}\n");
	CHECK(machine_runs(&s->schema_target) == MACHINE_COMMANDS);
	sweep_free(s);
}

TEST(rewrites_are_in_the_table)
{
	struct sweep *s = parse(HEAD "axes: {cores: [1]}\nrewrite: kv-append,native-bf16\n");

	CHECK_STR(s->workload.rewrite, "kv-append,native-bf16");
	sweep_free(s);
	refused("rewrite: kv_append\n", 3, "did you mean 'kv-append'");
	refused("rewrite: [kv-append]\n", 3, "");
	sweep_free(parse(HEAD "axes: {cores: [1]}\nrewrite: native-bf16\nworkload: {name: llama-3.2-1b}\n"));
	refused("rewrite: kv-append\nworkload: {rewrite: kv-append}\n", 3, "stands twice");
}

/* --- several workloads -------------------------------------------------------------------------------------- */

TEST(a_mix_is_the_mean_of_its_parts_by_their_weights)
{
	const struct sweep_part parts[] = { { "a b", NULL, 0.75 }, { "c", NULL, 0.25 } };
	const struct res_kind kinds[] = { { "gemm", 4, 100, 80, 8, 8, 16 } };
	const struct res_resource held[] = { { "dram", 400, 200 } };
	const struct res_stat stats[][2] = { { { "l2.hit_bytes", "bytes", 8, false }, { "dma.queue", "", 3, true } },
		                             { { "l2.hit_bytes", "bytes", 4, false }, { "dma.queue", "", 7, true } } };
	struct res_point rows[2] = { { .total_ps = 4000,
		                       .energy_fj = 100,
		                       .area_nm2 = 9,
		                       .tokens = 4,
		                       .roofline_bound = "dram",
		                       .kinds = kinds,
		                       .n_kinds = 1,
		                       .resources = held,
		                       .n_resources = 1,
		                       .stats = stats[0],
		                       .n_stats = 2 },
		                     { .total_ps = 8000,
		                       .energy_fj = 500,
		                       .area_nm2 = 9,
		                       .tokens = 8,
		                       .roofline_bound = "gemv",
		                       .stats = stats[1],
		                       .n_stats = 2 } },
			 out = { .point = 0 };
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;

	CHECK_OK(sweep_mix(parts, rows, 2, a, &out, &e), e);
	CHECK_U64(out.total_ps, 5000);
	CHECK_U64(out.energy_fj, 200);
	CHECK_U64(out.area_nm2, 9);
	CHECK_U64(out.tokens, 5);
	CHECK_STR(out.roofline_bound, "dram"); /* 0.75 x 4000 is more than 0.25 x 8000 */
	CHECK_U64(out.n_kinds, 1);
	CHECK_U64(out.kinds[0].span_ps, 75);
	CHECK_U64(out.resources[0].stall_ps, 300);
	CHECK_U64(out.n_stats, 5);
	CHECK_U64(out.stats[0].value, 7);
	CHECK_U64(out.stats[1].value, 7); /* a state: the largest */
	CHECK_STR(out.stats[2].name, "mix.a_b_ns");
	CHECK_U64(out.stats[2].value, 4);
	CHECK_U64(out.stats[3].value, 8);
	CHECK_STR(out.stats[4].name, "mix.worst_ns");
	CHECK_U64(out.stats[4].value, 8);
	arena_free(a);
}

TEST(a_sweep_of_several_workloads_knows_each_by_name)
{
	struct sweep *s =
		expand(HEAD "workloads: [{model: llama-3.2-1b, weight: 3}, {name: long, model: llama-3.2-1b, phase: "
	                    "prefill, weight: 1}]\naxes: {cores: [1, 2]}\n"
	                    "columns: {a: mix.llama_3_2_1b_decode_ns, b: mix.long_ns, t: tokens_per_s}\n"
	                    "constraints: mix.worst_ns < 100\n");

	CHECK_U64(s->mix.n, 2);
	CHECK_STR(s->mix.v[0].name, "llama-3.2-1b decode");
	CHECK(s->mix.v[0].weight > 0.749 && s->mix.v[0].weight < 0.751);
	sweep_free(s);
}

/* Files had columns of that name before there was such a figure. */
TEST(a_column_may_be_called_as_a_figure_that_no_table_has)
{
	struct sweep *s = expand(
		HEAD "axes: {cores: [3, 4]}\ncolumns: {tokens_per_s: cores * 2}\nconstraints: tokens_per_s > 7\n");
	const struct res_point p = { .values = &s->axes[0].values[1], .total_ps = 1000000, .tokens = 9 };
	const struct sweep_row row = { s, NULL, &p, p.values, NULL };
	struct expr_value v;
	struct err e = ERR_INIT;

	CHECK_OK(sweep_value(&row, s->columns[0].x, &v, &e), e);
	CHECK(v.number == 8);
	CHECK_OK(sweep_value(&row, s->constraints[0], &v, &e), e);
	CHECK(v.number == 1);
	sweep_free(s);
}

TEST(what_is_wrong_with_several_workloads_has_its_place)
{
	static const struct {
		const char *text, *says;
		int line;
	} bad[] = {
		{ "workloads: []\naxes: {cores: [1]}\n", "'workloads' is a list", 3 },
		{ "workloads: [{model: m}, {model: m}]\naxes: {cores: [1]}\n", "two workloads are called 'm decode'",
		  3 },
		{ "workloads: [{model: m, weight: 0}]\naxes: {cores: [1]}\n", "above 0", 3 },
		{ "workloads: [{model: m, wieght: 1}]\naxes: {cores: [1]}\n", "did you mean 'weight'", 3 },
		{ "workloads: [{model: m}]\ntrace: t.db\naxes: {cores: [1]}\n", "'trace' is of one workload", 4 },
		{ "workloads: [{model: m}]\naxes: {model.batch: [1, 2]}\n", "is of one workload", 4 },
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = ERR_INIT;
		char text[512];

		snprintf(text, sizeof text, HEAD "%s", bad[i].text);
		CHECK(!sweep_parse(text, "s.yaml", base, &e));
		CHECK_HAS(e.msg, bad[i].says);
		CHECK_U64(e.line, bad[i].line);
	}
}

SUITE(t_sweep, T(a_mix_is_the_mean_of_its_parts_by_their_weights), T(a_sweep_of_several_workloads_knows_each_by_name),
      T(what_is_wrong_with_several_workloads_has_its_place), T(a_column_may_be_called_as_a_figure_that_no_table_has),
      T(a_sweep_knows_what_its_base_runs), T(rewrites_are_in_the_table),
      T(a_gpus_sweep_refuses_a_statistic_its_runs_do_not_have),
      T(a_grid_has_all_combinations_with_the_last_axis_fastest),
      T(a_range_has_its_ends_and_values_machines_can_be_built_of), T(linked_axes_move_together),
      T(where_leaves_points_out_by_axes_and_by_the_base), T(samples_have_the_points_asked_for_and_repeat),
      T(a_random_sample_of_a_small_grid_has_no_point_twice),
      T(a_point_that_cannot_be_built_keeps_its_number_and_its_reason),
      T(expressions_see_configuration_results_and_columns), T(mistakes_in_axes_are_placed),
      T(mistakes_in_expressions_are_placed), T(mistakes_elsewhere_are_placed));
