/* t_serve.c - a server's steps on machines: held against runs of the phases that they are made of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/run.h"
#include "sim/engine/run_memo.h"
#include "sim/report/serve_range.h"
#include "sim/serve/capacity.h"
#include "sim/serve/serve_options.h"
#include "sim/serve/steps.h"
#include "sim/serve/traffic.h"
#include "validate/tests/test.h"
#include "workloads/model/count.h"

struct bed {
	struct machine_conf *conf;
	struct model *m;
	struct build_how how;
	struct run_opts run;
	struct steps *s;
	struct cost_table *t;
	struct err e;
};

static void open(struct bed *b, const char *machine, const char *model, uint32_t block, uint32_t jobs)
{
	*b = (struct bed){ .e = ERR_INIT };
	b->conf = machine_conf_load(machine, NULL, 0, &b->e);
	CHECK_OK(b->conf ? 0 : -1, b->e);
	b->m = model_load(model, &b->e);
	CHECK_OK(b->m ? 0 : -1, b->e);
	b->how = (struct build_how){ .style = machine_runs(&b->conf->cfg) == MACHINE_LAUNCHES ? BUILD_FUSED : BUILD_NPU,
		                     .kv = b->m->dtype,
		                     .quant = scheme_find("bf16", &b->e) };
	b->run = (struct run_opts){ .start = b->how.style == BUILD_FUSED ? RUN_COLD : RUN_STEADY,
		                    .fidelity = RUN_ANALYTIC,
		                    .seed = 1 };
	b->s = steps_new(b->conf, b->m, &b->how, block, &b->run, jobs, &b->e);
	b->t = cost_new(1, false, steps_simulate, b->s, &b->e);
	CHECK_OK(b->s && b->t ? 0 : -1, b->e);
}

static void shut(struct bed *b)
{
	cost_free(b->t);
	steps_free(b->s);
	model_free(b->m);
	machine_conf_free(b->conf);
}

/* A phase as npusim run takes it. */
static ps_t phase(struct bed *b, enum build_phase p, uint32_t batch, uint64_t context, uint64_t tokens)
{
	struct build_how how = b->how;
	struct arena *a = arena_new(0);
	struct run_result r;
	struct op_stream s;
	ps_t t;

	how.phase = p;
	how.batch = batch;
	how.context = context;
	how.tokens = tokens;
	CHECK_OK(build_stream(b->m, &how, a, &s, &b->e), b->e);
	CHECK_OK(run_stream(&s, b->conf, &b->run, a, &r, &b->e), b->e);
	t = r.total_ps;
	arena_free(a);
	return t;
}

static ps_t step(struct bed *b, bool exact, uint32_t seqs, uint64_t context, uint32_t tokens)
{
	const struct sched_piece piece = { tokens, 0 };
	const struct sched_step s = { seqs, context * seqs, &piece, tokens ? 1 : 0, tokens };
	struct sched_cost c;

	CHECK_OK((exact ? cost_exact : cost_of)(b->t, &s, &c, &b->e), b->e);
	return c.time;
}

static bool near(ps_t a, ps_t b, double part)
{
	const double r = (double)a / (double)b;

	return r > 1 - part && r < 1 + part;
}

/* Without blocks a step of one group is that phase to the picosecond. */
TEST(points_of_the_grid_are_runs)
{
	struct bed b;

	open(&b, "dsocr", "llama-3.2-1b", 0, 1);
	CHECK_U64(step(&b, false, 1, 1024, 0), phase(&b, BUILD_DECODE, 1, 1024, 1));
	CHECK_U64(step(&b, false, 16, 512, 0), phase(&b, BUILD_DECODE, 16, 512, 1));
	CHECK_U64(step(&b, false, 0, 0, 256), phase(&b, BUILD_PREFILL, 1, 0, 256));
	shut(&b);
}

static int cost(void *ctx, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	struct bed *b = ctx;

	return cost_of(b->t, s, out, e);
}

static void serve(struct bed *b, const struct arrive_plan *plan, struct arrivals *a, struct sched_result *r)
{
	const struct sched_policy p = {
		.max_batch = 8, .max_tokens = 2048, .chunk = 512, .block = 16, .blocks = 10000, .swap_rate = 1
	};

	CHECK_OK(arrive_make(plan, a, &b->e), b->e);
	CHECK_OK(sched_run(&p, a, cost, NULL, b, r, &b->e), b->e);
}

/* Requests that never meet, and a server that is full: over real steps what t_sched shows over a formula. */
TEST(slow_arrivals_and_a_full_server_by_closed_forms)
{
	const struct arrive_length prompt = { ARRIVE_FIXED, 512, 0 }, two = { ARRIVE_FIXED, 2, 0 },
				   many = { ARRIVE_FIXED, 1025, 0 };
	const struct arrive_plan slow = {
		.n = 3, .when = ARRIVE_CONSTANT, .gap = 100000 * PS_MS, .prompt = prompt, .output = two
	};
	const struct arrive_plan full = { .n = 32, .when = ARRIVE_AT_ONCE, .prompt = prompt, .output = many };
	struct sched_result r;
	struct arrivals a;
	struct bed b;
	double batches;

	open(&b, "edge", "llama-3.2-1b", 0, 1);
	serve(&b, &slow, &a, &r);
	CHECK_U64(latency_one(LATENCY_TTFT, &a.v[2], &r.v[2]), phase(&b, BUILD_PREFILL, 1, 0, 512));
	CHECK_U64(latency_one(LATENCY_TPOT, &a.v[2], &r.v[2]), phase(&b, BUILD_DECODE, 1, 512, 1));
	sched_free(&r);
	arrive_free(&a);
	serve(&b, &full, &a, &r);
	batches = (double)r.made / (double)r.end / (8 / (double)phase(&b, BUILD_DECODE, 8, 1024, 1));
	CHECK(batches > 0.95 && batches < 1); /* 32 prompts besides: 4 % */
	sched_free(&r);
	arrive_free(&a);
	shut(&b);
}

/* How far the lines between points are off, on both kinds of machine. */
static void decoding_between(const char *machine, double most)
{
	static const uint32_t batch[] = { 1, 3, 9, 13, 27 };
	static const uint64_t context[] = { 200, 700, 1300, 3001 };
	struct bed b;

	open(&b, machine, "deepseek-ocr", 16, 2);
	for (size_t i = 0; i < sizeof batch / sizeof *batch; i++)
		for (size_t k = i % 2; k < sizeof context / sizeof *context; k += 2)
			CHECK(near(step(&b, false, batch[i], context[k], 0), step(&b, true, batch[i], context[k], 0),
			           most));
	shut(&b);
}

TEST(decode_steps_between_points_are_within_two_percent)
{
	if (test_turn(0, 2))
		decoding_between("dsocr", 0.02);
	if (test_turn(1, 2))
		decoding_between("rtx5090", 0.02);
}

/* Pieces of two prompts behind their beginnings beside what decodes; round sizes of chunks are closer than odd ones. */
TEST(steps_with_prompts_are_within_three_percent)
{
	static const struct sched_piece one[] = { { 384, 512 } }, two[] = { { 120, 900 }, { 264, 0 } };
	const struct sched_step s[] = { { 7, 7 * 600, one, 1, 384 }, { 6, 6 * 1000, two, 2, 384 } };
	struct sched_cost c, exact;
	struct bed b;

	for (size_t gpu = 0; gpu < 2; gpu++) {
		if (!test_turn(gpu, 2))
			continue;
		open(&b, gpu ? "rtx5090" : "dsocr", "deepseek-ocr", 16, 2);
		for (int i = 0; i < 2; i++) {
			CHECK_OK(cost_of(b.t, &s[i], &c, &b.e), b.e);
			CHECK_OK(cost_exact(b.t, &s[i], &exact, &b.e), b.e);
			CHECK(near(c.time, exact.time, 0.03));
		}
		shut(&b);
	}
}

/* Beside a prompt a FlashAttention 2's CTA has one head's query: 16 sequences of a model whose four heads share keys take longer
 * than by calls of their own, the more the longer their contexts, which points at COST_CONTEXT alone would not tell. */
TEST(one_call_for_prompts_and_what_decodes_goes_with_the_context)
{
	ps_t own[2], joined[2], exact[2];
	struct bed b;

	open(&b, "rtx5090", "llama-3.2-1b", 16, 1);
	for (int i = 0; i < 2; i++)
		own[i] = step(&b, true, 16, i ? 3000 : 1024, 256);
	steps_free(b.s);
	cost_free(b.t);
	b.how.mixed = true;
	b.s = steps_new(b.conf, b.m, &b.how, 16, &b.run, 1, &b.e);
	b.t = cost_new(1, false, steps_simulate, b.s, &b.e);
	CHECK_OK(b.s && b.t ? 0 : -1, b.e);
	cost_mixed(b.t);
	for (int i = 0; i < 2; i++) {
		joined[i] = step(&b, false, 16, i ? 3000 : 1024, 256);
		exact[i] = step(&b, true, 16, i ? 3000 : 1024, 256);
		CHECK(near(joined[i], exact[i], 0.03));
		CHECK(exact[i] > own[i]);
	}
	CHECK(2 * (exact[1] - own[1]) > 3 * (exact[0] - own[0]));
	CHECK(step(&b, true, 16, 1024, 0) < exact[0]);
	shut(&b);
}

/* Two of the layers tell what all take: against all of them run. */
TEST(layers_that_are_alike_are_counted)
{
	static const char *const models[] = { "llama-3.2-1b", "deepseek-ocr" };
	struct bed b;

	for (int i = 0; i < 2; i++) {
		open(&b, "h200", models[i], 0, 1);
		CHECK(near(step(&b, true, 8, 1024, 0), phase(&b, BUILD_DECODE, 8, 1024, 1), 0.003));
		CHECK(near(step(&b, true, 0, 0, 512), phase(&b, BUILD_PREFILL, 1, 0, 512), 0.003));
		shut(&b);
	}
}

TEST(workers_change_nothing)
{
	struct sched_cost x[2];
	struct bed b;

	for (int i = 0; i < 2; i++) {
		static const struct sched_piece piece = { 100, 300 };
		const struct sched_step s = { 5, 5 * 333, &piece, 1, 100 };

		open(&b, "edge", "qwen2-0.5b", 16, i ? 3 : 1); /* mapped in a part of dsocr's time */
		CHECK_OK(cost_of(b.t, &s, &x[i], &b.e), b.e);
		shut(&b);
	}
	CHECK_U64(x[0].time, x[1].time);
	CHECK_U64(x[0].energy_fj, x[1].energy_fj);
}

/* Smaller blocks have more entries and descriptors, and are never faster, but for where a larger table shifts what lies behind it. */
TEST(blocks_cost_their_entries)
{
	static const char *const machines[] = { "dsocr", "rtx5090" };
	struct bed b;

	for (int i = 0; i < 2; i++) {
		ps_t before = 0;

		for (uint32_t block = 256; block; block /= 16) {
			ps_t t;

			open(&b, machines[i], "deepseek-ocr", block, 1);
			t = step(&b, true, 8, 1024, 0);
			CHECK(t + t / 10000 >= before);
			before = t;
			shut(&b);
		}
	}
}

TEST(memory_is_what_the_model_counts)
{
	static const char *const machines[] = { "dsocr", "rtx5090" };
	struct steps_memory m;
	struct bed b;

	for (int i = 0; i < 2; i++) {
		open(&b, machines[i], "llama-3.1-8b", 16, 1);
		CHECK_OK(steps_memory(b.s, 64, 1, 512, &m, &b.e), b.e);
		CHECK_U64(m.weights, model_weight_bytes(b.m, b.how.quant));
		CHECK_U64(m.token, model_kv_bytes(b.m, b.how.kv));
		CHECK_U64(m.sequence, 0);
		CHECK(m.rest > 0 && m.rest < UINT64_C(1) << 30);
		shut(&b);
	}
}

/* Two chips share weights and cache; a step of theirs is that of a run, collectives and both chips' energy included. */
TEST(a_model_split_over_chips_takes_a_share_of_each)
{
	struct steps_memory one, two;
	struct cost_seen seen;
	struct cost_point p = { 8, 1, 1023, NULL, 0 };
	struct bed b;
	ps_t whole, split;

	open(&b, "dsocr-8", "llama-3.1-8b", 16, 1);
	CHECK_OK(steps_memory(b.s, 64, 1, 512, &one, &b.e), b.e);
	whole = step(&b, true, 8, 1024, 0);
	shut(&b);
	open(&b, "dsocr-8", "llama-3.1-8b", 16, 1);
	steps_free(b.s);
	b.how.tp = 2;
	b.s = steps_new(b.conf, b.m, &b.how, 16, &b.run, 1, &b.e);
	CHECK_OK(b.s ? 0 : -1, b.e);
	CHECK_OK(steps_memory(b.s, 64, 1, 512, &two, &b.e), b.e);
	CHECK_U64(2 * two.token, one.token);
	CHECK(2 * two.weights >= one.weights && 2 * two.weights < one.weights + one.weights / 100);
	CHECK_OK(steps_simulate(b.s, &p, 1, &seen, &b.e), b.e);
	split = phase(&b, BUILD_DECODE, 8, 1023, 1);
	CHECK(near(seen.time, split, 0.02));
	CHECK(split < whole && 2 * split > whole && seen.energy_fj > 0);
	shut(&b);
}

/* Of a server that is there, whose steps are known, with other limits. */
static struct capacity rate_again(ps_t ttft, ps_t tpot, uint32_t share_ppm, struct serve_run *r)
{
	struct serve_ask *ask = (struct serve_ask *)r->o;
	struct capacity c;
	struct err e = ERR_INIT;

	ask->slo_ttft = ttft;
	ask->slo_tpot = tpot;
	ask->slo_ppm = share_ppm;
	CHECK_OK(capacity_find(r, 3, 0, &c, &e), e);
	return c;
}

/* Two layers of a small model on a small machine, asked for the rate that keeps these limits. */
static struct capacity rate_of(ps_t ttft, ps_t tpot, uint32_t share_ppm, struct serve_run *r)
{
	static struct serve_ask ask;
	struct capacity c;
	struct err e = ERR_INIT;

	ask = (struct serve_ask){
		.config = "edge",
		.workload = { .model = "llama-3.2-1b", .layers = 2 },
		.rate = "1/s",
		.prompt = "exp:200",
		.output = "exp:60",
		.n = 200,
		.seed = 3,
		.jobs = 1,
		.share_ppm = 900000,
		.slo_ttft = ttft,
		.slo_tpot = tpot,
		.slo_ppm = share_ppm,
		.how = { .start = RUN_STEADY, .fidelity = RUN_ANALYTIC, .seed = 3 },
		.policy = { .max_batch = 16, .max_tokens = 512, .chunk = 256, .block = 16, .swap_rate = 1 }
	};
	CHECK_OK(serve_load(r, &ask, &e), e);
	CHECK_OK(serve_size(r, &e), e);
	CHECK_OK(capacity_find(r, 3, 0, &c, &e), e);
	return c;
}

/* What was found is kept, what lies just above is not, a share of what is asked less has a higher rate, and either limit alone, too. */
TEST(the_largest_rate_is_kept_and_the_next_is_not)
{
	struct serve_run r;
	struct sched_result x;
	const struct capacity c = rate_of(100 * PS_MS, 20 * PS_MS, 950000, &r);
	struct capacity less;
	struct err e = ERR_INIT;

	CHECK(c.rate[CAPACITY_BOTH] > 0 && isfinite(c.rate[CAPACITY_BOTH]));
	CHECK(c.low <= c.rate[CAPACITY_BOTH] && c.rate[CAPACITY_BOTH] <= c.high);
	CHECK(c.rate[CAPACITY_BOTH] <= fmin(c.rate[CAPACITY_TTFT], c.rate[CAPACITY_TPOT]));
	CHECK(c.above > c.rate[CAPACITY_BOTH] && c.above <= c.rate[CAPACITY_BOTH] * CAPACITY_APART * 1.0001);
	CHECK(c.kept[CAPACITY_BOTH] < 0.95);
	CHECK_OK(serve_list(&r, &r.arrivals, &x, &e), e);
	CHECK(latency_within(&r.arrivals, &x, 100 * PS_MS, 20 * PS_MS) >= 190);
	sched_free(&x);

	less = rate_again(100 * PS_MS, 20 * PS_MS, 800000, &r);
	CHECK(less.rate[CAPACITY_BOTH] > c.rate[CAPACITY_BOTH]);
	less = rate_again(100 * PS_MS, 0, 950000, &r);
	CHECK(isinf(less.rate[CAPACITY_TPOT]) && capacity_held_by(&less) == CAPACITY_TTFT);
	less = rate_again(PS_US, 0, 950000, &r);
	CHECK(less.rate[CAPACITY_BOTH] <= 0);
	serve_free(&r);
}

/* A machine's figures under traffic are those of what was served, and what earlier machines left in a memo changes none. */
TEST(figures_of_traffic_are_those_that_were_served)
{
	struct serve_ask ask = {
		.config = "edge",
		.workload = { .model = "qwen2-0.5b" },
		.rate = "5/s",
		.prompt = "100",
		.output = "exp:12",
		.n = 20,
		.seed = 3,
		.share_ppm = 900000,
		.slo_ttft = 50 * PS_MS,
		.how = { .start = RUN_STEADY, .fidelity = RUN_ANALYTIC, .seed = 3 },
		.policy = { .max_batch = 16, .max_tokens = 512, .chunk = 256, .block = 16, .swap_rate = 1 }
	};
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_load(ask.config, NULL, 0, &e);
	struct traffic_point x, again;
	struct serve_run r;
	ps_t stalls = 0;

	CHECK_OK(traffic_point(&ask, &x, &e), e);
	CHECK_OK(serve_load(&r, &ask, &e), e);
	CHECK_OK(serve_size(&r, &e), e);
	CHECK_OK(serve_steps(&r, NULL, &e), e);
	CHECK_OK(serve_sum(&r, &e), e);
	CHECK(x.figures.ttft_p99_ps == r.latency.of[LATENCY_TTFT].p99);
	CHECK(x.figures.tpot_p50_ps == r.latency.of[LATENCY_TPOT].p50);
	CHECK(x.latency == r.latency.of[LATENCY_TOTAL].mean);
	CHECK(fabs((double)x.figures.machine_uhz / 1e6 - (double)r.result.made * 1e12 / (double)r.result.end) < 1e-5);
	CHECK(fabs((double)x.figures.total_ps * (double)r.result.made / (double)r.result.end - 1) < 1e-6);
	CHECK(x.figures.within_ppm ==
	      (uint64_t)llround(1e6 * (double)latency_within(&r.arrivals, &r.result, 50 * PS_MS, 0) / 20));
	CHECK(x.figures.area_nm2 && x.figures.energy_fj && !x.figures.max_uhz);
	CHECK(!figure_value(figure_named("max_rate"), &x.figures, NULL).known); /* nobody asked */
	for (int k = 0; k < RES_COUNT; k++)
		stalls += x.stall[k];
	CHECK(fabs((double)stalls * (double)r.result.made / (double)r.result.worked - 1) < 1e-6);
	serve_free(&r);

	ask.machine = c;
	ask.how.memo = run_memo_new(&e);
	for (int i = 0; i < 2; i++) {
		CHECK_OK(traffic_point(&ask, &again, &e), e);
		CHECK(memcmp(&again, &x, sizeof x) == 0);
	}
	run_memo_free(ask.how.memo);
	machine_conf_free(c);

	ask.workload.layers = 2; /* a part of a model makes no tokens */
	ask.machine = NULL;
	ask.how.memo = NULL;
	CHECK_OK(traffic_point(&ask, &again, &e), e);
	CHECK(!again.figures.machine_uhz && !again.figures.user_uhz && again.figures.ttft_p50_ps);
}

/* That no rate is kept is known. */
TEST(a_rate_of_none_is_not_an_unknown_one)
{
	struct serve_ask ask = {
		.config = "edge",
		.workload = { .model = "qwen2-0.5b" },
		.find = true,
		.rate = "1/s",
		.prompt = "100",
		.output = "12",
		.n = 4,
		.seed = 3,
		.share_ppm = 900000,
		.slo_ppm = 990000,
		.how = { .start = RUN_STEADY, .fidelity = RUN_ANALYTIC, .seed = 3 },
		.policy = { .max_batch = 16, .max_tokens = 512, .chunk = 256, .block = 16, .swap_rate = 1 }
	};
	struct err e = ERR_INIT;
	struct figure_value rate;
	struct traffic_point x;

	for (int i = 0; i < 2; i++) {
		ask.slo_ttft = i ? PS_MS * 1000 : PS_US;
		CHECK_OK(traffic_point(&ask, &x, &e), e);
		rate = figure_value(figure_named("max_rate"), &x.figures, NULL);
		CHECK(rate.known && x.figures.rates_tried && (i ? rate.x > 1 : rate.x == 0));
	}
}

/* Words, in a text or a file, are the options; what is told of them reads back. */
TEST(traffic_in_words_reads_back)
{
	static const char text[] =
		"rate=4/s,prompt=512,chunk=0,memory=0.8,prefix_cache=true,overhead=5 us,slo_tpot=30 ms";
	struct serve_opts o = SERVE_OPTS_INIT, back = SERVE_OPTS_INIT;
	struct arena *a = arena_new(0);
	struct str s = STR_INIT;
	struct err e = ERR_INIT;
	uint64_t h, other;

	CHECK_OK(serve_options_parse(
			 " rate=4/s , prompt=512,chunk=0,memory=80 %,prefix-cache,overhead=5 us,slo_tpot=30 ms", a, &o,
			 &e),
	         e);
	CHECK(o.chunk == 0 && o.ask.share_ppm == 800000 && o.prefix && o.overhead == 5 * PS_US &&
	      o.ask.slo_tpot == 30 * PS_MS);
	serve_options_text(&o, &s);
	CHECK_STR(str_c(&s), text);
	CHECK_OK(serve_options_parse(str_c(&s), a, &back, &e), e);
	CHECK_OK(serve_options_hash(&o, &h, &e), e);
	CHECK_OK(serve_options_hash(&back, &other, &e), e);
	CHECK(h == other);
	back.ask.n = 7;
	CHECK_OK(serve_options_hash(&back, &other, &e), e);
	CHECK(h != other);
	CHECK(serve_options_parse("rate", a, &o, &e) < 0 && e.kind == ERR_USAGE);
	str_free(&s);
	arena_free(a);
}

static uint64_t hash_of_list(const char *text)
{
	struct serve_opts o = SERVE_OPTS_INIT;
	struct err e = ERR_INIT;
	char path[400];
	uint64_t h;
	FILE *f = fopen(test_path(path, sizeof path, "list.csv"), "w");

	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
	o.ask.requests = path;
	CHECK_OK(serve_options_hash(&o, &h, &e), e);
	return h;
}

/* A sweep that goes on takes points by this hash: another list of the same name is other traffic. */
TEST(all_of_a_list_that_changes_what_is_served_is_in_its_hash)
{
	static const char *const other[] = {
		"prompt,output,priority,gives_up_ms,arrival_ms\n9,5,0,20,0\n8,5,0,,3\n",
		"prompt,output,priority,gives_up_ms,arrival_ms\n8,6,0,20,0\n8,5,0,,3\n",
		"prompt,output,priority,gives_up_ms,arrival_ms\n8,5,0,20,0\n8,5,0,,4\n",
		"prompt,output,priority,gives_up_ms,arrival_ms\n8,5,1,20,0\n8,5,0,,3\n",
		"prompt,output,priority,gives_up_ms,arrival_ms\n8,5,0,21,0\n8,5,0,,3\n",
		"prompt,output,priority,gives_up_ms,arrival_ms\n8,5,0,,0\n8,5,0,20,3\n",
	};
	const uint64_t h = hash_of_list("prompt,output,priority,gives_up_ms,arrival_ms\n8,5,0,20,0\n8,5,0,,3\n");

	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		CHECK(hash_of_list(other[i]) != h);
	CHECK(hash_of_list("id,arrival_ms,prompt,output,gives_up_ms\na,0,8,5,20\nb,3,8,5,\n") == h);
}

/* Decode of so many millionths of its time, and prompts. */
static struct serve_again again(struct serve_run *r, uint64_t decode, uint64_t prompts)
{
	struct serve_stretch s = { .ppm = { { decode, prompts } } };
	struct serve_again x;
	struct err e = ERR_INIT;

	CHECK_OK(serve_again(r, &s, &x, &e), e);
	return x;
}

/* A list served again as it was is the same; with steps that take longer nothing is sooner and what waits takes more; and an interval is
 * what its ends make of the list, about what was told. */
TEST(an_interval_is_the_list_served_at_both_ends)
{
	struct serve_run r;
	struct err e = ERR_INIT;
	struct serve_range x;
	struct serve_again same, slow;

	rate_of(100 * PS_MS, 0, 950000, &r);
	CHECK_OK(serve_steps(&r, NULL, &e), e);
	CHECK_OK(serve_sum(&r, &e), e);
	same = again(&r, 1000000, 1000000);
	slow = again(&r, 1500000, 1200000);
	CHECK_U64(same.result.end, r.result.end);
	CHECK_U64(same.latency.itl.p99, r.latency.itl.p99);
	CHECK(memcmp(same.latency.of, r.latency.of, sizeof same.latency.of) == 0);
	CHECK(isnan(r.joules) ? isnan(same.joules) : near(same.joules, r.joules, 1e-12));
	for (int l = 0; l < LATENCIES; l++)
		CHECK(slow.latency.of[l].mean >= r.latency.of[l].mean);
	CHECK(slow.latency.of[LATENCY_TPOT].p50 >= r.latency.of[LATENCY_TPOT].p50 / 5 * 6);
	serve_again_free(&same);
	serve_again_free(&slow);

	CHECK(serve_range(&r, &x, &e) == 1);
	for (int k = 0; k < SERVE_KINDS; k++)
		CHECK(x.any[k] && x.step[k].low > 0 && x.step[k].low <= 1 && x.step[k].high > 1);
	CHECK(x.fast.latency.of[LATENCY_TPOT].mean <= r.latency.of[LATENCY_TPOT].mean &&
	      x.slow.latency.of[LATENCY_TPOT].mean > r.latency.of[LATENCY_TPOT].mean);
	same = again(&r, 1000000, 1000000); /* and nothing of it stays */
	CHECK_U64(same.result.end, r.result.end);
	serve_again_free(&same);
	serve_range_free(&x);
	serve_free(&r);
}

SUITE(t_serve, SLOW(points_of_the_grid_are_runs), SLOW(slow_arrivals_and_a_full_server_by_closed_forms),
      SLOW(decode_steps_between_points_are_within_two_percent), SLOW(steps_with_prompts_are_within_three_percent),
      T(one_call_for_prompts_and_what_decodes_goes_with_the_context), T(layers_that_are_alike_are_counted),
      SLOW(workers_change_nothing), T(blocks_cost_their_entries), SLOW(memory_is_what_the_model_counts),
      SLOW(a_model_split_over_chips_takes_a_share_of_each), SLOW(the_largest_rate_is_kept_and_the_next_is_not),
      SLOW(figures_of_traffic_are_those_that_were_served), T(traffic_in_words_reads_back),
      T(all_of_a_list_that_changes_what_is_served_is_in_its_hash), SLOW(a_rate_of_none_is_not_an_unknown_one),
      SLOW(an_interval_is_the_list_served_at_both_ends));
