/* A model over several chips: what each has, the collectives between, and what a run makes of them in both fidelities. */
#include <stdlib.h>

#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_shipped.h"
#include "sim/base/path.h"
#include "sim/engine/run.h"
#include "sim/workload/workload.h"
#include "validate/tests/test.h"

#define LINKS "links.bandwidth=450 GB/s"

static struct workload built(struct workload_spec s)
{
	struct err e = ERR_INIT;
	const struct workload_reader by = { .source = &path_source };
	struct workload w;

	CHECK_OK(workload_read(&s, &by, &w, &e), e);
	return w;
}

static struct workload over(const char *model, uint64_t tp, uint64_t layers)
{
	return built((struct workload_spec){ .model = model, .tp = tp, .layers = layers });
}

static uint64_t bytes_of(const struct op_stream *s, enum op_role role)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_tensors; i++)
		if (s->tensors[i].external && s->tensors[i].role == role)
			n += s->tensors[i].bytes * s->tensors[i].instances;
	return n;
}

static size_t collectives(const struct op_stream *s, const char *fn)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++)
		n += s->ops[i].kind == OP_COLLECTIVE && strcmp(s->ops[i].fn, fn) == 0;
	return n;
}

TEST(one_chip_is_the_model_as_it_is)
{
	struct workload none = over("llama-3.2-1b", 0, 4), one = over("llama-3.2-1b", 1, 4);

	CHECK_STR(one.stream.digest, none.stream.digest);
	CHECK_U64(one.stream.n_ops, none.stream.n_ops);
	CHECK_U64(one.stream.chips, 0);
	CHECK_U64(collectives(&one.stream, "all_reduce"), 0);
	workload_free(&none);
	workload_free(&one);
}

/* Two sums a layer, one of the embedding's rows, and the logits. */
TEST(chips_share_the_weights_and_add_up_what_they_make)
{
	struct workload one = over("llama-3.1-70b", 0, 4), four = over("llama-3.1-70b", 4, 4);
	const uint64_t gains = (2 * 4 + 1) * 8192 * 2;
	const struct op *sum = NULL;

	CHECK_U64(four.stream.chips, 4);
	CHECK_U64(4 * (bytes_of(&four.stream, OP_WEIGHT) - gains), bytes_of(&one.stream, OP_WEIGHT) - gains);
	CHECK_U64(4 * bytes_of(&four.stream, OP_KV), bytes_of(&one.stream, OP_KV));
	CHECK_U64(collectives(&four.stream, "all_reduce"), 2 * 4 + 1);
	CHECK_U64(collectives(&four.stream, "all_gather"), 1);
	for (size_t i = 0; i < four.stream.n_ops; i++)
		if (four.stream.ops[i].kind == OP_COLLECTIVE && !sum)
			sum = &four.stream.ops[i];
	CHECK(sum && sum->shape.peers == 4 && sum->shape.elems == 8192);
	workload_free(&one);
	workload_free(&four);
}

TEST(fewer_heads_of_keys_than_chips_are_on_several)
{
	struct workload eight = over("llama-3.1-70b", 8, 2), sixteen = over("llama-3.1-70b", 16, 2);

	CHECK_U64(bytes_of(&eight.stream, OP_KV),
	          bytes_of(&sixteen.stream, OP_KV)); /* 8 heads: one on each of two chips */
	CHECK(bytes_of(&eight.stream, OP_WEIGHT) > bytes_of(&sixteen.stream, OP_WEIGHT));
	workload_free(&eight);
	workload_free(&sixteen);
}

TEST(experts_are_cut_like_a_wide_mlp)
{
	struct workload one = over("deepseek-ocr", 0, 3), two = over("deepseek-ocr", 2, 3);

	CHECK(two.stream.n_routes == one.stream.n_routes && one.stream.n_routes > 0);
	CHECK(bytes_of(&two.stream, OP_WEIGHT) * 2 >
	      bytes_of(&one.stream, OP_WEIGHT)); /* norms and routers are whole */
	CHECK(bytes_of(&two.stream, OP_WEIGHT) * 2 < bytes_of(&one.stream, OP_WEIGHT) * 101 / 100);
	workload_free(&one);
	workload_free(&two);
}

TEST(what_chips_cannot_share_is_refused)
{
	static const struct {
		struct workload_spec s;
		const char *says;
	} cases[] = {
		{ { .model = "llama-3.1-70b", .tp = 3 }, "64 heads, which 3 chips cannot share" },
		{ { .model = "deepseek-ocr", .tp = 2, .phase = "vision" }, "phase vision is not split" },
		{ { .model = "llama-3.1-8b", .tp = 2, .style = "llamacpp" }, "style llamacpp is not split" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct workload_reader by = { .source = &path_source };
		struct err e = ERR_INIT;
		struct workload w;

		CHECK(workload_read(&cases[i].s, &by, &w, &e) < 0);
		CHECK_HAS(e.msg, cases[i].says);
		workload_free(&w);
	}
}

/* --- a run ----------------------------------------------------------------------------------------------------------- */

struct ran {
	struct arena *a;
	struct machine_conf *m;
	struct run_result r;
};

static struct ran run_on(const char *machine, const struct workload *w, enum run_fidelity f, const char *const *sets,
                         int n)
{
	struct err e = ERR_INIT;
	struct run_opts o = run_opts_default();
	struct ran x = { .a = arena_new(0), .m = machine_conf_load(machine, sets, n, &e) };

	o.fidelity = f;
	if (!x.m)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	CHECK_OK(run_stream(&w->stream, x.m, &o, x.a, &x.r, &e), e);
	return x;
}

static void done(struct ran *x)
{
	machine_conf_free(x->m);
	arena_free(x->a);
}

static uint64_t sent_by_closed_form(const struct workload *w, const struct link_cfg *c, ps_t *time)
{
	uint64_t sent = 0;

	*time = 0;
	for (size_t i = 0; i < w->stream.n_ops; i++)
		if (w->stream.ops[i].kind == OP_COLLECTIVE) {
			const struct link_time t = map_collective_time(c, &w->stream.ops[i]);

			sent += t.sent;
			*time += t.total;
		}
	return sent;
}

TEST(one_chip_with_links_is_the_chip_without)
{
	static const char *const links[] = { LINKS };
	struct workload w = over("llama-3.2-1b", 0, 2);

	for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
		struct ran a = run_on("dsocr", &w, (enum run_fidelity)f, NULL, 0),
			   b = run_on("dsocr", &w, (enum run_fidelity)f, links, 1);

		CHECK(memcmp(&a.r.figures, &b.r.figures, sizeof a.r.figures) == 0);
		CHECK_U64(a.r.n_energy, b.r.n_energy);
		CHECK_U64(a.r.n_stats, b.r.n_stats);
		for (size_t i = 0; i < w.stream.n_ops; i++)
			CHECK(memcmp(&a.r.ops[i].figures, &b.r.ops[i].figures, sizeof a.r.ops[i].figures) == 0);
		done(&a);
		done(&b);
	}
	workload_free(&w);
}

TEST(links_carry_the_closed_forms_bytes_in_both_fidelities)
{
	static const char *const links[] = { LINKS };
	struct workload w = over("llama-3.2-1b", 4, 3);
	ps_t time;

	for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
		struct ran x = run_on("dsocr", &w, (enum run_fidelity)f, links, 1);
		uint64_t parts = 0, ops = 0;

		CHECK_U64(x.r.links_bytes, sent_by_closed_form(&w, &x.m->cfg.links, &time));
		CHECK_U64(x.r.links_ps, time);
		CHECK(x.r.stall_ps[RES_LINK] > 0 && x.r.stall_ps[RES_LINK] <= x.r.total_ps);
		CHECK(x.r.roofline_ps <= x.r.total_ps && x.r.mapped_ps <= x.r.total_ps);
		CHECK_U64(x.r.chips, 4);
		/* Of all four, and still the sum of its parts. */
		for (size_t i = 0; i < x.r.n_energy; i++)
			parts += x.r.energy[i].fj;
		for (size_t i = 0; i < w.stream.n_ops; i++)
			ops += x.r.ops[i].energy_fj;
		CHECK_U64(parts, x.r.energy_fj);
		CHECK_U64(ops, x.r.energy_fj);
		CHECK_STR(x.r.energy[x.r.n_energy - 1].row->block, "links");
		CHECK_U64(x.r.energy[x.r.n_energy - 1].fj, 4 * link_energy(&x.m->cfg.links, x.r.links_bytes));
		CHECK_U64(x.r.area_nm2, 4 * x.m->cfg.die.area);
		done(&x);
	}
	workload_free(&w);
}

TEST(links_keep_their_rate_where_a_cap_lowers_the_clock)
{
	static const char *const sets[] = { LINKS, "power.cap=100 W" };
	struct workload w = over("llama-3.2-1b", 4, 2);
	ps_t time;

	for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
		struct ran x = run_on("dsocr", &w, (enum run_fidelity)f, sets, 2);

		sent_by_closed_form(&w, &x.m->cfg.links, &time);
		CHECK(x.r.clock_khz < x.m->cfg.clock);
		CHECK_U64(x.r.links_ps, time);
		done(&x);
	}
	workload_free(&w);
}

TEST(faster_links_never_make_a_step_slower)
{
	static const char *const rates[] = { "links.bandwidth=50 GB/s", "links.bandwidth=200 GB/s", LINKS };
	struct workload w = built((struct workload_spec){
		.model = "llama-3.2-1b", .tp = 4, .layers = 2, .phase = "prefill", .tokens = 512 });

	for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
		ps_t was = PS_NEVER;

		for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
			struct ran x = run_on("dsocr", &w, (enum run_fidelity)f, &rates[i], 1);

			CHECK(x.r.total_ps <= was);
			was = x.r.total_ps;
			done(&x);
		}
	}
	workload_free(&w);
}

TEST(a_gpus_step_has_the_collectives_time)
{
	struct workload_spec s = { .model = "llama-3.2-1b", .tp = 2, .layers = 2, .style = "fused" };
	struct workload w = built(s);
	struct ran x = run_on("hgx-h200", &w, RUN_ANALYTIC, NULL, 0);
	uint64_t parts = 0, stalls = 0;
	ps_t time;

	CHECK_U64(x.r.links_bytes, sent_by_closed_form(&w, &x.m->cfg.links, &time));
	CHECK_U64(x.r.links_ps, time);
	CHECK_U64(x.r.stall_ps[RES_LINK], time);
	CHECK(x.r.wall_graph_ps >= x.r.total_ps && x.r.wall_eager_ps >= x.r.total_ps);
	for (int i = 0; i < RES_COUNT; i++)
		stalls += x.r.stall_ps[i];
	CHECK_U64(stalls, x.r.total_ps);
	for (size_t i = 0; i < x.r.n_energy; i++)
		parts += x.r.energy[i].fj;
	CHECK_U64(parts, x.r.energy_fj);
	done(&x);
	workload_free(&w);
}

/* Topologies, groups and protocols of each, in both fidelities. */
TEST(every_shipped_system_runs_a_share)
{
	static const char *const names[] = { "dgx-a100", "dgx-h100",  "dsocr-8",   "gb200-node",
		                             "hgx-h200", "l40s-pcie", "rtx5090-4", "tpu-v6e-8" };
	char path[600];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct err e = ERR_INIT;
		struct machine_conf *m = machine_conf_load(names[i], NULL, 0, &e);
		const bool gpu = m && machine_runs(&m->cfg) == MACHINE_LAUNCHES;
		struct workload w;
		ps_t time;

		CHECK(m && machine_shipped(names[i], path, sizeof path));
		w = built((struct workload_spec){ .model = "llama-3.2-1b",
		                                  .tp = m->cfg.links.chips,
		                                  .layers = 1,
		                                  .style = gpu ? "fused" : "npu" });
		for (int f = gpu ? RUN_ANALYTIC : RUN_EVENT; f <= RUN_ANALYTIC; f++) {
			struct ran x = run_on(names[i], &w, (enum run_fidelity)f, NULL, 0);

			CHECK_U64(x.r.links_bytes, sent_by_closed_form(&w, &m->cfg.links, &time));
			CHECK_U64(x.r.links_ps, time);
			CHECK(time && x.r.stall_ps[RES_LINK] <= x.r.total_ps && x.r.roofline_ps <= x.r.total_ps);
			done(&x);
		}
		workload_free(&w);
		machine_conf_free(m);
	}
}

TEST(a_machine_without_links_runs_no_share)
{
	struct err e = ERR_INIT;
	struct workload w = over("llama-3.2-1b", 2, 1);
	struct machine_conf *m = machine_conf_load("dsocr", NULL, 0, &e);
	struct run_opts o = run_opts_default();
	struct arena *a = arena_new(0);
	struct run_result r;

	CHECK(m && run_stream(&w.stream, m, &o, a, &r, &e) < 0);
	CHECK_HAS(e.msg, "has no links to 2 chips");
	machine_conf_free(m);
	arena_free(a);
	workload_free(&w);
}

SUITE(t_split, T(one_chip_is_the_model_as_it_is), T(chips_share_the_weights_and_add_up_what_they_make),
      T(fewer_heads_of_keys_than_chips_are_on_several), T(experts_are_cut_like_a_wide_mlp),
      T(what_chips_cannot_share_is_refused), T(one_chip_with_links_is_the_chip_without),
      T(links_carry_the_closed_forms_bytes_in_both_fidelities), T(links_keep_their_rate_where_a_cap_lowers_the_clock),
      T(faster_links_never_make_a_step_slower), T(a_gpus_step_has_the_collectives_time),
      T(every_shipped_system_runs_a_share), T(a_machine_without_links_runs_no_share));
