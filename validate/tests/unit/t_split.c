/* A model over several chips: what each has, the collectives between, and what a run makes of them in both fidelities. */
#include <stdlib.h>

#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_shipped.h"
#include "sim/base/path.h"
#include "sim/engine/run.h"
#include "sim/study/split.h"
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

static struct workload over(const char *model, const char *tp, uint64_t layers)
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
	struct workload none = over("llama-3.2-1b", NULL, 4), one = over("llama-3.2-1b", "1", 4);

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
	struct workload one = over("llama-3.1-70b", NULL, 4), four = over("llama-3.1-70b", "4", 4);
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
	struct workload eight = over("llama-3.1-70b", "8", 2), sixteen = over("llama-3.1-70b", "16", 2);

	CHECK_U64(bytes_of(&eight.stream, OP_KV),
	          bytes_of(&sixteen.stream, OP_KV)); /* 8 heads: one on each of two chips */
	CHECK(bytes_of(&eight.stream, OP_WEIGHT) > bytes_of(&sixteen.stream, OP_WEIGHT));
	workload_free(&eight);
	workload_free(&sixteen);
}

TEST(experts_are_cut_like_a_wide_mlp)
{
	struct workload one = over("deepseek-ocr", NULL, 3), two = over("deepseek-ocr", "2", 3);

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
		{ { .model = "llama-3.1-70b", .tp = "3" }, "64 heads, which 3 chips cannot share" },
		{ { .model = "deepseek-ocr", .tp = "2", .phase = "vision" }, "phase vision is not split" },
		{ { .model = "llama-3.1-8b", .tp = "2", .style = "llamacpp" }, "style llamacpp is not split" },
		{ { .model = "deepseek-ocr", .pp = "2", .phase = "vision" }, "phase vision is not split" },
		{ { .model = "deepseek-ocr", .ep = "2", .phase = "vision" }, "phase vision is not split" },
		{ { .model = "deepseek-ocr", .micro = 2, .batch = 2, .phase = "vision" },
		  "micro-batches are of a pipeline" },
		{ { .model = "llama-3.1-8b", .pp = "33" }, "33 stages for 32 layers" },
		{ { .model = "llama-3.1-8b", .dp = "4", .batch = 6 }, "--batch 8 is the nearest" },
		{ { .model = "llama-3.1-8b", .micro = 2, .batch = 6 }, "micro-batches are of a pipeline" },
		{ { .model = "llama-3.1-8b", .pp = "2", .micro = 4, .batch = 6 }, "for option '--micro': 3 are" },
		{ { .model = "llama-3.1-8b", .ep = "2" }, "has no experts, for option '--ep'" },
		{ { .model = "deepseek-v2-lite", .ep = "3", .batch = 3 }, "64 experts a layer" },
		{ { .model = "deepseek-v2-lite", .ep = "4", .dp = "8", .batch = 8 },
		  "experts on 4 chips, and a stage has 8" },
		{ { .model = "deepseek-v2-lite", .ep = "12", .tp = "8" }, "experts on 12 chips, and a stage has 8" },
		{ { .model = "deepseek-v2-lite", .ep = "2", .batch = 2, .style = "eager" },
		  "style eager sends no tokens" },
		{ { .model = "llama-3.1-8b", .pp = "32", .dp = "64", .batch = 64 }, "2048 chips are more than 1024" },
		{ { .model = "llama-3.1-8b", .norms = "part" }, "for option '--norms'" },
		{ { .model = "llama-3.1-8b", .norms = "parts", .tp = "2" }, "did you mean 'part'" },
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

/* --- other splits ---------------------------------------------------------------------------------------------------- */

static uint64_t elems_of(const struct op_stream *s, const char *fn)
{
	for (size_t i = 0; i < s->n_ops; i++)
		if (s->ops[i].kind == OP_COLLECTIVE && strcmp(s->ops[i].fn, fn) == 0)
			return s->ops[i].shape.elems;
	return 0;
}

/* 22 layers on 4 chips: 6, 6, 5 and 5; the middle ones are unlike by one layer, the first and the last by what is around. */
TEST(stages_share_out_the_layers)
{
	struct workload one = built((struct workload_spec){ .model = "tinyllama-1.1b", .batch = 8 }),
			four = built((struct workload_spec){ .model = "tinyllama-1.1b", .batch = 8, .pp = "4" });
	const struct op_stream *s = &four.stream;
	uint64_t weights = 0, ops = 0, stages = 0;

	CHECK_U64(s->chips, 4);
	CHECK_U64(s->n_stages, 4);
	CHECK_U64(s->micro, 4);
	for (uint32_t i = 0; i < s->n_stages; i++) {
		weights += bytes_of(s->stages[i].stream, OP_WEIGHT) * s->stages[i].times;
		ops += s->stages[i].stream->n_ops;
		stages += s->stages[i].times;
		CHECK_U64(collectives(s->stages[i].stream, "send"), 1);
	}
	CHECK_U64(stages, 4);
	CHECK_U64(ops, s->n_ops);
	CHECK_U64(weights, bytes_of(&one.stream, OP_WEIGHT));
	CHECK_U64(elems_of(s->stages[0].stream, "send"), 2 * 2048); /* rows of two sequences */
	CHECK_U64(elems_of(s->stages[3].stream, "send"), 2);        /* their tokens */
	workload_free(&one);
	workload_free(&four);
}

TEST(like_stages_are_one)
{
	struct workload w =
		built((struct workload_spec){ .model = "llama-3.1-8b", .batch = 8, .pp = "8", .layers = 32 });

	CHECK_U64(w.stream.n_stages, 3);
	CHECK_U64(w.stream.stages[1].times, 6);
	workload_free(&w);
}

TEST(one_stage_one_replica_is_the_model_as_it_is)
{
	struct workload
		none = over("llama-3.2-1b", "2", 4),
		one = built((struct workload_spec){
			.model = "llama-3.2-1b", .tp = "2", .layers = 4, .pp = "1", .dp = "1", .ep = "1", .micro = 1 });

	CHECK_STR(one.stream.digest, none.stream.digest);
	CHECK(!one.stream.stages);
	workload_free(&none);
	workload_free(&one);
}

/* Each chip norms its rows: as many reduce-scatters as there were all-reduces, and a gather behind each norm. */
TEST(norms_of_a_part_scatter_and_gather)
{
	struct workload_spec spec = {
		.model = "llama-3.2-1b", .tp = "4", .layers = 3, .phase = "prefill", .tokens = 64
	};
	struct workload whole = built(spec), part;
	uint64_t rows = 0, all = 0;

	spec.norms = "part";
	part = built(spec);
	CHECK_U64(collectives(&part.stream, "all_reduce"), 0);
	CHECK_U64(collectives(&part.stream, "reduce_scatter"), collectives(&whole.stream, "all_reduce"));
	CHECK_U64(collectives(&part.stream, "all_gather"), 2 * 3 + 1 + 1);
	for (size_t i = 0; i < whole.stream.n_ops; i++)
		all += whole.stream.ops[i].kind == OP_NORM ? whole.stream.ops[i].shape.rows : 0;
	for (size_t i = 0; i < part.stream.n_ops; i++)
		rows += part.stream.ops[i].kind == OP_NORM ? part.stream.ops[i].shape.rows : 0;
	CHECK_U64(4 * rows, all);
	workload_free(&whole);
	workload_free(&part);
}

/* Eight replicas' tokens go to the experts' chips and back: a row a pick. */
TEST(experts_of_several_replicas_get_their_tokens)
{
	struct workload_spec spec = { .model = "deepseek-v2-lite", .ep = "8", .batch = 32, .layers = 3 };
	struct workload whole = built((struct workload_spec){ .model = "deepseek-v2-lite", .batch = 32, .layers = 3 }),
			eight = built(spec), skewed, inside;
	const struct op_route *r = &eight.stream.routes[0];

	CHECK_U64(eight.stream.chips, 8);
	CHECK_U64(collectives(&eight.stream, "all_to_all"), 2 * 2); /* the first layer is dense */
	CHECK_U64(collectives(&eight.stream, "all_reduce"), 0);
	CHECK_U64(elems_of(&eight.stream, "all_to_all"), 4 * 6 * 2048);
	CHECK_U64(r->experts, 64 / 8);
	CHECK(8 * r->top >= whole.stream.routes[0].top - 4 && 8 * r->top <= whole.stream.routes[0].top + 4u);
	/* The fullest chip gets more than it sends. */
	spec.skew = "1";
	skewed = built(spec);
	CHECK(elems_of(&skewed.stream, "all_to_all") > 4 * 6 * 2048);
	/* One replica's chips sum up what their experts make. */
	inside = built(
		(struct workload_spec){ .model = "deepseek-v2-lite", .tp = "8", .ep = "8", .batch = 32, .layers = 3 });
	CHECK_U64(collectives(&inside.stream, "all_to_all"), 0);
	CHECK_U64(collectives(&inside.stream, "all_reduce"), 2 * 3 + 1);
	CHECK_U64(inside.stream.routes[0].experts, 64 / 8);
	workload_free(&whole);
	workload_free(&eight);
	workload_free(&skewed);
	workload_free(&inside);
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
	struct workload w = over("llama-3.2-1b", NULL, 2);

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
	struct workload w = over("llama-3.2-1b", "4", 3);
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
	struct workload w = over("llama-3.2-1b", "4", 2);
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
		.model = "llama-3.2-1b", .tp = "4", .layers = 2, .phase = "prefill", .tokens = 512 });

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
	struct workload_spec s = { .model = "llama-3.2-1b", .tp = "2", .layers = 2, .style = "fused" };
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
	static const char *const names[] = { "dgx-a100", "dgx-h100",  "dsocr-8",   "gb200-node", "gb200-nvl72",
		                             "hgx-h200", "l40s-pcie", "rtx5090-4", "tpu-v6e-8",  "trn1-16" };
	char path[600], chips[16];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct err e = ERR_INIT;
		struct machine_conf *m = machine_conf_load(names[i], NULL, 0, &e);
		const bool gpu = m && machine_runs(&m->cfg) == MACHINE_LAUNCHES;
		struct workload w;
		ps_t time;

		CHECK(m && machine_shipped(names[i], path, sizeof path));
		snprintf(chips, sizeof chips, "%u", m->cfg.links.chips < 8 ? m->cfg.links.chips : 8);
		w = built((struct workload_spec){
			.model = "llama-3.2-1b", .tp = chips, .layers = 1, .style = gpu ? "fused" : "npu" });
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
	struct workload w = over("llama-3.2-1b", "2", 1);
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

/* --- pipelines, replicas and experts that run -------------------------------------------------------------------------- */

static const char *const linked[] = { LINKS };

/* What a stage takes alone. */
static ps_t alone(const struct op_stream *s, enum run_fidelity f)
{
	struct workload w = { .stream = *s };
	struct ran x = run_on("dsocr", &w, f, linked, 1);
	const ps_t t = x.r.total_ps;

	done(&x);
	return t;
}

static void parts_sum_up(const struct ran *x, const struct op_stream *s)
{
	uint64_t rows = 0, ops = 0, stalls = 0;
	ps_t time = 0;

	for (size_t i = 0; i < x->r.n_energy; i++)
		rows += x->r.energy[i].fj;
	for (size_t i = 0; i < s->n_ops; i++) {
		ops += x->r.ops[i].energy_fj;
		time += x->r.ops[i].span_ps;
	}
	for (int i = 0; i < RES_COUNT; i++)
		stalls += x->r.stall_ps[i];
	CHECK_U64(rows, x->r.energy_fj);
	CHECK_U64(ops, x->r.energy_fj);
	CHECK_U64(time, x->r.total_ps);
	CHECK_U64(stalls, x->r.total_ps);
	CHECK(x->r.roofline_ps <= x->r.total_ps && x->r.bubble_ps < x->r.total_ps);
}

/* By the schedule's definition, micro-batch by micro-batch: each stage takes them in order, one at a time. */
static ps_t walked(const struct op_stream *s, const ps_t *of_kind, uint32_t laps)
{
	ps_t free_at[16] = { 0 }, ready[16] = { 0 }, lap[8] = { 0 };
	const uint32_t micro = s->micro;

	for (uint32_t l = 0; l < laps; l++) {
		for (uint32_t m = 0; m < micro; m++) {
			uint32_t at = 0;

			for (uint32_t k = 0; k < s->n_stages; k++)
				for (uint32_t n = 0; n < s->stages[k].times; n++, at++) {
					const ps_t from = ready[m] > free_at[at] ? ready[m] : free_at[at];

					ready[m] = free_at[at] = from + of_kind[k];
				}
		}
		lap[l] = ready[micro - 1];
	}
	return laps > 1 ? lap[laps - 1] - lap[laps - 2] : lap[0];
}

TEST(a_pipelines_time_is_its_schedule)
{
	static const char *const phases[] = { "decode", "prefill" };
	static const uint64_t micros[] = { 1, 2, 4, 8 };

	for (int p = 0; p < 2; p++)
		for (size_t m = 0; m < sizeof micros / sizeof *micros; m++) {
			struct workload w;
			struct ran x;
			ps_t of[4];

			if (!test_turn((size_t)p + m, 2))
				continue;
			w = built((struct workload_spec){ .model = "llama-3.2-1b",
			                                  .pp = "4",
			                                  .layers = 7,
			                                  .batch = 8,
			                                  .tokens = p ? 32 : 1,
			                                  .phase = phases[p],
			                                  .micro = micros[m] });
			x = run_on("dsocr", &w, RUN_ANALYTIC, linked, 1);
			for (uint32_t k = 0; k < w.stream.n_stages; k++)
				of[k] = alone(w.stream.stages[k].stream, RUN_ANALYTIC);
			CHECK_U64(x.r.total_ps, walked(&w.stream, of, p ? 1 : 8));
			CHECK_U64(x.r.chips, 4);
			parts_sum_up(&x, &w.stream);
			done(&x);
			workload_free(&w);
		}
}

TEST(splits_run_in_both_fidelities)
{
	static const struct workload_spec specs[] = {
		{ .model = "llama-3.2-1b", .pp = "2", .layers = 4, .batch = 4 },
		{ .model = "llama-3.2-1b", .pp = "2", .tp = "2", .dp = "2", .layers = 4, .batch = 8 },
		{ .model = "llama-3.2-1b", .tp = "4", .layers = 2, .norms = "part", .phase = "prefill", .tokens = 64 },
		{ .model = "deepseek-v2-lite", .ep = "4", .layers = 2, .batch = 8 },
		{ .model = "deepseek-v2-lite", .tp = "2", .ep = "4", .layers = 2, .batch = 8, .norms = "part" },
		{ .model = "deepseek-v2-lite", .tp = "2", .ep = "4", .layers = 2, .batch = 8 },
	};

	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct workload w = built(specs[i]);
		uint64_t sent[2];

		for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
			struct ran x = run_on("dsocr", &w, (enum run_fidelity)f, linked, 1);

			parts_sum_up(&x, &w.stream);
			CHECK(x.r.chips == w.stream.chips && x.r.links_ps && x.r.links_ps <= x.r.total_ps);
			CHECK_U64(x.r.area_nm2, x.r.chips * x.m->cfg.die.area);
			sent[f] = x.r.links_bytes;
			done(&x);
		}
		CHECK(sent[0] && sent[0] == sent[1]);
		workload_free(&w);
	}
}

/* Replicas that know nothing of each other take as long as one, and as much each. */
TEST(eight_replicas_are_two)
{
	struct workload two = built(
				(struct workload_spec){ .model = "llama-3.2-1b", .dp = "2", .layers = 2, .batch = 4 }),
			eight = built(
				(struct workload_spec){ .model = "llama-3.2-1b", .dp = "8", .layers = 2, .batch = 16 });

	for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
		struct ran a = run_on("dsocr", &two, (enum run_fidelity)f, linked, 1),
			   b = run_on("dsocr", &eight, (enum run_fidelity)f, linked, 1);

		CHECK_U64(a.r.total_ps, b.r.total_ps);
		CHECK_U64(a.r.events, b.r.events);
		CHECK_U64(4 * a.r.energy_fj, b.r.energy_fj);
		done(&a);
		done(&b);
	}
	workload_free(&two);
	workload_free(&eight);
}

/* All micro-batches' caches lie on a chip, though one runs at a time. */
TEST(a_chip_has_the_caches_of_all_micro_batches)
{
	struct workload one = built(
				(struct workload_spec){ .model = "llama-3.2-1b", .pp = "2", .batch = 8, .micro = 1 }),
			four = built(
				(struct workload_spec){ .model = "llama-3.2-1b", .pp = "2", .batch = 8, .micro = 4 });
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct map_footprint x, y;

	CHECK_OK(map_footprint(one.stream.stages[0].stream, NULL, a, &x, &e), e);
	CHECK_OK(map_footprint(four.stream.stages[0].stream, NULL, a, &y, &e), e);
	CHECK_U64(x.kv, y.kv);
	CHECK_U64(x.weights, y.weights);
	arena_free(a);
	workload_free(&one);
	workload_free(&four);
}

TEST(a_gpus_pipeline_is_its_schedule)
{
	struct workload w = built(
		(struct workload_spec){ .model = "llama-3.2-1b", .pp = "4", .tp = "2", .batch = 8, .style = "fused" });
	struct ran x = run_on("hgx-h200", &w, RUN_ANALYTIC, NULL, 0);

	CHECK_U64(x.r.chips, 8);
	CHECK(x.r.wall_graph_ps >= x.r.total_ps && x.r.wall_eager_ps >= x.r.wall_graph_ps);
	parts_sum_up(&x, &w.stream);
	done(&x);
	workload_free(&w);
}

/* --- the best split ----------------------------------------------------------------------------------------------------- */

/* No other split of the same chips takes less. */
TEST(auto_is_the_fastest_split)
{
	static const char *const counts[] = { "1", "2", "4" }, *const four[] = { LINKS, "links.chips=4" };
	struct workload_spec best = { .model = "llama-3.2-1b", .tp = "auto", .dp = "auto", .layers = 4, .batch = 8 };
	struct machine_conf *c;
	struct arena *a = arena_new(0);
	struct run_opts how = run_opts_default();
	struct err e = ERR_INIT;
	struct ran x;
	uint32_t tried;
	struct workload w;

	CHECK((c = machine_conf_load("dsocr", four, 2, &e)) != NULL);
	CHECK(split_asked(&best));
	CHECK_OK(split_best(&best, c, &how, split_build, NULL, a, &tried, &e), e);
	CHECK_U64(tried, 3);
	CHECK(!split_asked(&best));
	w = built(best);
	x = run_on("dsocr", &w, RUN_ANALYTIC, four, 2);
	for (int i = 0; i < 3; i++) {
		struct workload_spec s = best;
		struct workload other;
		struct ran y;

		s.tp = counts[i];
		s.dp = counts[2 - i];
		other = built(s);
		y = run_on("dsocr", &other, RUN_ANALYTIC, four, 2);
		CHECK(x.r.total_ps <= y.r.total_ps);
		done(&y);
		workload_free(&other);
	}
	done(&x);
	workload_free(&w);
	machine_conf_free(c);
	arena_free(a);
}

TEST(auto_needs_a_system_and_what_fits)
{
	static const struct {
		struct workload_spec s;
		const char *sets[2], *says;
	} cases[] = {
		{ { .model = "llama-3.2-1b", .tp = "auto" }, { LINKS, "links.chips=0" }, "over how many chips" },
		{ { .model = "llama-3.2-1b", .tp = "auto", .pp = "3" }, { LINKS, "links.chips=4" }, "do not divide" },
		{ { .model = "llama-3.1-405b", .tp = "auto" }, { LINKS, "links.chips=2" }, "nothing else could run" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err e = ERR_INIT;
		struct machine_conf *c = machine_conf_load("dsocr", cases[i].sets, 2, &e);
		struct workload_spec s = cases[i].s;
		struct run_opts how = run_opts_default();
		struct arena *a = arena_new(0);
		uint32_t tried;

		CHECK(c && split_best(&s, c, &how, split_build, NULL, a, &tried, &e) < 0);
		CHECK_HAS(e.msg, cases[i].says);
		machine_conf_free(c);
		arena_free(a);
	}
}

SUITE(t_split, T(one_chip_is_the_model_as_it_is), T(chips_share_the_weights_and_add_up_what_they_make),
      T(fewer_heads_of_keys_than_chips_are_on_several), T(experts_are_cut_like_a_wide_mlp),
      T(what_chips_cannot_share_is_refused), T(one_chip_with_links_is_the_chip_without),
      T(links_carry_the_closed_forms_bytes_in_both_fidelities), T(links_keep_their_rate_where_a_cap_lowers_the_clock),
      SLOW(faster_links_never_make_a_step_slower), T(a_gpus_step_has_the_collectives_time),
      T(every_shipped_system_runs_a_share), T(a_machine_without_links_runs_no_share), T(stages_share_out_the_layers),
      T(like_stages_are_one), T(one_stage_one_replica_is_the_model_as_it_is), T(norms_of_a_part_scatter_and_gather),
      T(experts_of_several_replicas_get_their_tokens), SLOW(a_pipelines_time_is_its_schedule),
      SLOW(splits_run_in_both_fidelities), T(eight_replicas_are_two), T(a_chip_has_the_caches_of_all_micro_batches),
      T(a_gpus_pipeline_is_its_schedule), T(auto_is_the_fastest_split), T(auto_needs_a_system_and_what_fits));
