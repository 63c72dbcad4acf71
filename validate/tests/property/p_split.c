/* Laws of a model over several chips, of random splits of a small model on random links. */
#include "arch/machine/machine_conf.h"
#include "sim/base/path.h"
#include "sim/base/rng.h"
#include "sim/engine/run.h"
#include "sim/engine/run_stages.h"
#include "sim/workload/workload.h"
#include "validate/tests/test.h"

#define ROUNDS test_rounds(3, 6, 250)

struct split {
	char tp[8], pp[8], ep[8], dp[8];
	struct workload_spec spec;
};

static void count(char to[8], uint64_t n)
{
	snprintf(to, 8, "%u", (unsigned)n);
}

/* DeepSeek-V2-Lite has 16 heads and 64 experts; its first layer is dense. */
static void random_split(struct rng *g, struct split *x)
{
	const uint64_t tp = UINT64_C(1) << rng_below(g, 3), dp = UINT64_C(1) << rng_below(g, 3),
		       pp = 1 + rng_below(g, 3), micro = UINT64_C(1) << rng_below(g, 3);
	const bool shared = tp * dp > 1 && rng_below(g, 2), prompt = rng_below(g, 4) == 0;

	count(x->tp, tp);
	count(x->dp, dp);
	count(x->pp, pp);
	count(x->ep, shared ? tp * dp : 1);
	x->spec = (struct workload_spec){ .model = "deepseek-v2-lite",
		                          .tp = x->tp,
		                          .pp = x->pp,
		                          .ep = x->ep,
		                          .dp = x->dp,
		                          .layers = pp + rng_below(g, 3),
		                          .batch = dp * micro * (1 + rng_below(g, 2)),
		                          .context = 1 + rng_below(g, 2000),
		                          .micro = pp > 1 ? micro : 0,
		                          .norms = tp > 1 && rng_below(g, 2) ? "part" : NULL,
		                          .phase = prompt ? "prefill" : "decode",
		                          .tokens = prompt ? 1 + rng_below(g, 40) : 0 };
}

static struct workload built(const struct workload_spec *s)
{
	const struct workload_reader by = { .source = &path_source };
	struct err e = ERR_INIT;
	struct workload w;

	CHECK_OK(workload_read(s, &by, &w, &e), e);
	return w;
}

static struct run_result run(const struct workload *w, const char *rate, struct arena *a, struct machine_conf **c)
{
	const char *sets[] = { rate, "links.chips=0" };
	struct run_opts how = run_opts_default();
	struct err e = ERR_INIT;
	struct run_result r;

	how.fidelity = RUN_ANALYTIC;
	CHECK((*c = machine_conf_load("dsocr", sets, 2, &e)) != NULL);
	CHECK_OK(run_stream(&w->stream, *c, &how, a, &r, &e), e);
	return r;
}

static uint64_t weights(const struct op_stream *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_tensors; i++)
		n += s->tensors[i].external && s->tensors[i].role == OP_WEIGHT
		             ? s->tensors[i].bytes * s->tensors[i].instances
		             : 0;
	return n;
}

TEST(parts_of_a_run_sum_to_it_and_links_send_the_closed_form)
{
	struct rng g;

	rng_seed(&g, test_seed(), "split sums");
	for (int i = 0; i < ROUNDS; i++) {
		struct split x;
		struct workload w;
		struct arena *a = arena_new(0);
		struct machine_conf *c;
		struct run_result r;
		uint64_t time = 0, ops = 0, rows = 0, sent = 0, stages = 0;
		const struct op_stage one = { .times = 1 };

		random_split(&g, &x);
		w = built(&x.spec);
		r = run(&w, "links.bandwidth=450 GB/s", a, &c);
		for (size_t k = 0; k < w.stream.n_ops; k++) {
			time += r.ops[k].span_ps;
			ops += r.ops[k].energy_fj;
		}
		for (size_t k = 0; k < r.n_energy; k++)
			rows += r.energy[k].fj;
		CHECK_U64(time, r.total_ps);
		CHECK_U64(ops, r.energy_fj);
		CHECK_U64(rows, r.energy_fj);
		CHECK(r.roofline_ps <= r.total_ps && r.links_ps <= r.total_ps);
		/* A chip's in the mean: of all stages, as often as each runs, rounded by stage. */
		for (uint32_t k = 0; k < (w.stream.stages ? w.stream.n_stages : 1); k++) {
			const struct op_stage *st = w.stream.stages ? &w.stream.stages[k] : &one;
			const struct op_stream *s = st->stream ? st->stream : &w.stream;

			for (size_t q = 0; q < s->n_ops; q++)
				if (s->ops[q].kind == OP_COLLECTIVE)
					sent += map_collective_time(&c->cfg.links, &s->ops[q]).sent * st->times *
					        (w.stream.micro ? w.stream.micro : 1);
			stages += st->times;
		}
		sent /= stages;
		CHECK(r.links_bytes + stages >= sent && r.links_bytes <= sent + stages);
		machine_conf_free(c);
		workload_free(&w);
		arena_free(a);
	}
}

/* Chips hold all of the model between them, and no more of it than once a replica. */
TEST(no_weight_is_lost)
{
	struct rng g;

	rng_seed(&g, test_seed(), "split weights");
	for (int i = 0; i < ROUNDS; i++) {
		struct split x;
		struct workload w, whole;
		uint64_t held = 0, chips = 0, all;

		random_split(&g, &x);
		w = built(&x.spec);
		chips = w.stream.chips ? w.stream.chips : 1;
		x.spec.tp = x.spec.pp = x.spec.ep = x.spec.dp = x.spec.norms = NULL;
		x.spec.micro = 0;
		whole = built(&x.spec);
		all = weights(&whole.stream);
		if (w.stream.stages)
			for (uint32_t k = 0; k < w.stream.n_stages; k++)
				held += weights(w.stream.stages[k].stream) * w.stream.stages[k].times *
				        w.stream.stages[k].stream->chips;
		else
			held = weights(&w.stream) * chips;
		CHECK(held >= all && held <= all * chips);
		workload_free(&w);
		workload_free(&whole);
	}
}

TEST(faster_links_never_make_a_split_slower)
{
	struct rng g;

	rng_seed(&g, test_seed(), "split rate");
	for (int i = 0; i < ROUNDS; i++) {
		static const char *const rates[] = { "links.bandwidth=20 GB/s", "links.bandwidth=100 GB/s",
			                             "links.bandwidth=900 GB/s" };
		ps_t was = PS_NEVER;
		struct split x;
		struct workload w;

		random_split(&g, &x);
		w = built(&x.spec);
		for (int k = 0; k < 3; k++) {
			struct arena *a = arena_new(0);
			struct machine_conf *c;
			const struct run_result r = run(&w, rates[k], a, &c);

			CHECK(r.total_ps <= was);
			was = r.total_ps;
			machine_conf_free(c);
			arena_free(a);
		}
		workload_free(&w);
	}
}

static uint64_t events(const struct workload_spec *s, uint64_t replicas)
{
	const char *sets[] = { "links.bandwidth=450 GB/s", "links.chips=0" };
	struct arena *a = arena_new(0);
	struct workload_spec x = *s;
	struct run_opts how = run_opts_default();
	struct err e = ERR_INIT;
	struct machine_conf *c;
	struct run_result r;
	struct workload w;
	char dp[8];

	count(dp, replicas);
	x.dp = dp;
	x.batch *= replicas;
	w = built(&x);
	CHECK((c = machine_conf_load("dsocr", sets, 2, &e)) != NULL);
	CHECK_OK(run_stream(&w.stream, c, &how, a, &r, &e), e);
	machine_conf_free(c);
	workload_free(&w);
	arena_free(a);
	return r.events;
}

/* Simulated work, not time: chips that do the same are simulated once, and a share of a layer is at most the layer. Two chips that did all
 * of it would be twice as many events; a tenth is for collectives. */
TEST(equal_chips_are_simulated_once)
{
	struct rng g;

	rng_seed(&g, test_seed(), "split events");
	for (int i = 0; i < ROUNDS / 5; i++) {
		uint64_t one, two;
		struct split x;

		random_split(&g, &x);
		x.spec.ep = "1";
		x.spec.micro = 0;
		x.spec.layers = 3;
		x.spec.batch = 1 + rng_below(&g, 4);
		one = events(&x.spec, 1);
		CHECK_U64(events(&x.spec, 2), one);
		CHECK_U64(events(&x.spec, 8), one);
		x.spec.tp = x.spec.pp = "1";
		x.spec.norms = NULL;
		one = events(&x.spec, 1);
		x.spec.tp = "2";
		two = events(&x.spec, 1);
		CHECK(10 * two <= 22 * one);
		x.spec.tp = "1";
		x.spec.pp = "2";
		CHECK(10 * events(&x.spec, 1) <= 22 * one);
		x.spec.pp = "1";
		x.spec.tp = "8";
		CHECK(events(&x.spec, 1) <= two);
	}
}

/* A schedule is at least what any stage works and what any micro-batch takes, and at most one after the other. */
TEST(a_schedule_is_between_its_bounds)
{
	struct rng g;

	rng_seed(&g, test_seed(), "split schedule");
	for (int i = 0; i < ROUNDS * 40; i++) {
		struct op_stage kinds[5];
		ps_t time[5], sum = 0, slow = 0, path = 0;
		uint64_t often[5];
		struct op_stream s = { .stages = kinds,
			               .n_stages = 1 + (uint32_t)rng_below(&g, 5),
			               .micro = 1 + (uint32_t)rng_below(&g, 30),
			               .turns = rng_below(&g, 2) };
		ps_t total;

		for (uint32_t k = 0; k < s.n_stages; k++) {
			kinds[k] = (struct op_stage){ NULL, 1 + (uint32_t)rng_below(&g, 9) };
			time[k] = 1 + rng_below(&g, PS_MS);
			sum += time[k] * kinds[k].times;
			slow = ps_max(slow, time[k]);
		}
		total = run_stages_time(&s, time, often);
		for (uint32_t k = 0; k < s.n_stages; k++)
			path += often[k] * time[k];
		CHECK_U64(path, total);
		CHECK(total >= sum && total >= s.micro * slow && total <= s.micro * sum);
	}
}

SUITE(p_split, SLOW(parts_of_a_run_sum_to_it_and_links_send_the_closed_form), T(no_weight_is_lost),
      SLOW(faster_links_never_make_a_split_slower), SLOW(equal_chips_are_simulated_once),
      T(a_schedule_is_between_its_bounds));
