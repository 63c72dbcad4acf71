/* t_limits.c - what limits finds on made-up machines whose answers are known. */
#include "sim/base/pool.h"
#include "sim/study/marginal.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct bed {
	struct arena *a;
	struct err e;
	char path[512];
	struct limits_question q;
	struct limits_result r;
};

/* A question about one product on the machine that `yaml` describes. */
static void bed_up(struct bed *b, const char *yaml)
{
	FILE *f;

	memset(b, 0, sizeof *b);
	b->a = arena_new(0);
	f = fopen(test_path(b->path, sizeof b->path, "machine.yaml"), "w");
	CHECK(f && fputs(yaml, f) >= 0 && fclose(f) == 0);
	b->q = (struct limits_question){ .config = b->path,
		                         .stream = synth_product(b->a, 1, 8192, 4096),
		                         .run = { .start = RUN_COLD, .seed = 1, .fidelity = RUN_ANALYTIC },
		                         .step_ppm = 1000000,
		                         .pairs = LIMITS_PAIRS };
}

static void bed_ask(struct bed *b)
{
	CHECK_OK(limits_run(&b->q, b->a, &b->r, &b->e), b->e);
}

static void bed_down(struct bed *b)
{
	arena_free(b->a);
}

static const struct limits_row *row(const struct bed *b, enum limits_move m, const char *key, const char *then)
{
	for (size_t i = 0; i < b->r.n; i++)
		if (b->r.rows[i].move == m && strcmp(b->r.rows[i].key, key) == 0 &&
		    (!then || strcmp(b->r.rows[i].then, then) == 0))
			return &b->r.rows[i];
	return NULL;
}

static double gain(const struct bed *b, enum limits_move m, const char *key, const char *then)
{
	const struct limits_row *x = row(b, m, key, then);

	CHECK(x != NULL);
	CHECK(!x || !x->refused);
	return x ? limits_gain(&b->r, x, b->q.step_ppm) : 0;
}

static bool is_free(const struct bed *b, const char *key)
{
	for (size_t i = 0; i < b->r.n_free; i++)
		if (strcmp(b->r.free[i], key) == 0)
			return true;
	return false;
}

/* DRAM gives 256 GB/s; 16 cores of 16 B a cycle at 1 GHz carry as much. */
#define EQUALS \
	"clock: 1 GHz\ncores: 16\ndma: {tile: 64 KiB, stages: 16, width: 16 B}\nsram: {size: 256 KiB}\n" \
	"l2: {size: 4 MiB, banks: 32}\ngemv: {units: 4, lanes: 64}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 256 GB/s, fixed_latency: 100 ns}\n"

TEST(dram_and_a_dma_of_the_same_rate_pay_only_together)
{
	struct bed b;
	const struct limits_row *pair;

	bed_up(&b, EQUALS);
	bed_ask(&b);
	CHECK(gain(&b, LIMITS_MORE, "dram.fixed_bandwidth", NULL) < 0.05);
	CHECK(gain(&b, LIMITS_MORE, "dma.width", NULL) < 0.05);
	pair = row(&b, LIMITS_PAIR, "dma.width + dram.fixed_bandwidth", "32 B + 512 GB/s");
	CHECK(pair != NULL);
	if (pair) {
		/* twice as fast but for its start */
		CHECK(limits_gain(&b.r, pair, b.q.step_ppm) > 0.40);
		CHECK(limits_gain(&b.r, pair, b.q.step_ppm) < 0.5);
		CHECK(limits_beyond(&b.r, pair) > 0.30);
		CHECK(pair->n_sets == 2);
		CHECK_STR(pair->sets[0], "dma.width=32 B");
	}
	/* before those with clock and cores, which are of everything */
	CHECK(limits_best(&b.r, LIMITS_PAIR) && strncmp(limits_best(&b.r, LIMITS_PAIR)->key, "dma.", 4) == 0);
	bed_down(&b);
}

TEST(without_pairs_asked_none_is_tried)
{
	struct bed b;

	bed_up(&b, EQUALS);
	b.q.pairs = 0;
	bed_ask(&b);
	CHECK_U64(b.r.pairs_tried, 0);
	CHECK(limits_best(&b.r, LIMITS_PAIR) == NULL);
	bed_down(&b);
}

TEST(more_stages_pay_as_the_search_makes_tiles_smaller)
{
	struct bed b;

	/* a latency of 2 us, two tiles in flight to hide it, and SRAM for not many more as large as those */
	bed_up(&b, "clock: 1 GHz\ncores: 16\ndma: {tile: 64 KiB, stages: 2, width: 64 B}\nsram: {size: 32 KiB}\n"
	           "l2: {size: 4 MiB, banks: 32}\ngemv: {units: 4, lanes: 64}\n"
	           "dram: {kind: fixed, fixed_bandwidth: 512 GB/s, fixed_latency: 2 us}\n");
	bed_ask(&b);
	CHECK(gain(&b, LIMITS_MORE, "dma.stages", NULL) > 0);
	bed_down(&b);
}

TEST(a_switch_that_pays_is_named_with_its_value)
{
	struct bed b;
	const struct limits_row *x;

	bed_up(&b, EQUALS);
	bed_ask(&b);
	/* half the bytes of the weights, and a quarter and a little for scales */
	CHECK(gain(&b, LIMITS_SWITCH, "weights.dtype", "fp8_e4m3") > 0.35);
	x = limits_best(&b.r, LIMITS_SWITCH);
	CHECK(x != NULL);
	CHECK_STR(x ? x->key : "", "weights.dtype");
	CHECK_STR(x ? x->then : "", "int4");
	/* a product alone has no KV cache and nothing to fuse */
	CHECK(gain(&b, LIMITS_SWITCH, "kv.dtype", "int4") == 0);
	CHECK(gain(&b, LIMITS_SWITCH, "fusion.enabled", "false") == 0);
	bed_down(&b);
}

TEST(what_is_not_used_costs_nothing_to_halve_or_to_take_out)
{
	struct bed b;

	bed_up(&b, EQUALS "matrix: {units: 2, rows: 128, cols: 128}\n");
	bed_ask(&b);
	CHECK(is_free(&b, "matrix.rows"));
	CHECK(is_free(&b, "matrix.units"));
	CHECK(!is_free(&b, "dram.fixed_bandwidth"));
	CHECK(!is_free(&b, "dma.width"));
	CHECK(gain(&b, LIMITS_LESS, "dram.fixed_bandwidth", NULL) < -0.8); /* half the rate: twice the time */
	CHECK(gain(&b, LIMITS_LESS, "matrix.rows", NULL) > -0.0005);
	CHECK(limits_costs_nothing(&b.r, row(&b, LIMITS_REMOVE, "matrix.units", "0")));
	CHECK(b.r.n_free > 0 && !b.r.all_free.refused && b.r.all_free.total_ps > 0);
	CHECK_U64(b.r.all_free.n_sets, b.r.n_free);
	bed_down(&b);
}

TEST(a_unit_that_is_not_there_is_tried_and_its_parts_are_not)
{
	struct bed b;

	bed_up(&b, EQUALS "matrix: {units: 0}\n");
	bed_ask(&b);
	CHECK(row(&b, LIMITS_ADD, "matrix.units", "1") != NULL);
	CHECK(row(&b, LIMITS_MORE, "matrix.rows", NULL) == NULL);
	CHECK(row(&b, LIMITS_SWITCH, "matrix.dataflow", NULL) == NULL);
	CHECK(row(&b, LIMITS_MORE, "kv_buffer.bandwidth", NULL) == NULL);
	bed_down(&b);
}

TEST(a_kv_buffer_is_tried_of_the_size_of_the_cache)
{
	struct rng rng;
	struct bed b;
	uint64_t kv = 0, size = 0;
	const struct limits_row *x;

	bed_up(&b, EQUALS);
	rng_seed(&rng, 7, "limits");
	b.q.stream = synth_step(&rng, b.a, 1, false);
	for (size_t i = 0; i < b.q.stream->n_tensors; i++)
		if (b.q.stream->tensors[i].role == OP_KV)
			kv += b.q.stream->tensors[i].bytes;
	CHECK(kv > 0);
	b.q.pairs = 0;
	bed_ask(&b);
	x = row(&b, LIMITS_ADD, "kv_buffer.size", NULL);
	CHECK(x != NULL);
	CHECK_OK(x ? cfg_parse_value(CFG_T_BYTES, x->then, &size, &b.e) : -1, b.e);
	CHECK(size >= kv && (size < 2 * kv || size == 1 << 20));
	CHECK(x && !x->refused && x->n_sets == 2); /* its size, and a rate as the L2's */
	bed_down(&b);
}

TEST(rows_do_not_depend_on_the_workers)
{
	struct bed one, three;

	bed_up(&one, EQUALS);
	bed_up(&three, EQUALS);
	three.q.jobs = 3;
	three.q.backend = &pool_processes;
	one.q.events = three.q.events = true;
	bed_ask(&one);
	bed_ask(&three);
	CHECK_U64(one.r.n, three.r.n);
	CHECK_U64(one.r.event_ps, three.r.event_ps);
	CHECK_U64(one.r.all_free.total_ps, three.r.all_free.total_ps);
	CHECK(one.r.event_runs > 2 && limits_best(&one.r, LIMITS_SWITCH)->event_ps > 0);
	for (size_t i = 0; i < one.r.n && i < three.r.n; i++) {
		CHECK_STR(one.r.rows[i].key, three.r.rows[i].key);
		CHECK_STR(one.r.rows[i].then, three.r.rows[i].then);
		CHECK_U64(one.r.rows[i].total_ps, three.r.rows[i].total_ps);
		CHECK_U64(one.r.rows[i].event_ps, three.r.rows[i].event_ps);
		CHECK(!one.r.rows[i].refused == !three.r.rows[i].refused);
	}
	bed_down(&one);
	bed_down(&three);
}

TEST(what_a_machine_cannot_work_without_is_a_row_with_the_reason)
{
	struct bed b;
	const struct limits_row *x;
	struct rng rng;

	bed_up(&b, EQUALS "kv_buffer: {size: 4 KiB}\n");
	rng_seed(&rng, 7, "limits");
	b.q.stream = synth_step(&rng, b.a, 1, false);
	b.q.pairs = 0;
	bed_ask(&b);
	x = row(&b, LIMITS_SWITCH, "kv_buffer.spill", "false");
	CHECK(x && x->refused && strlen(x->refused) > 10);
	CHECK(!x || limits_gain(&b.r, x, b.q.step_ppm) == 0);
	CHECK(!x || !limits_costs_nothing(&b.r, x));
	bed_down(&b);
}

TEST(each_row_says_the_sets_that_make_it)
{
	struct bed b;

	bed_up(&b, EQUALS);
	bed_ask(&b);
	for (size_t i = 0; i < b.r.n; i++) {
		const struct limits_row *x = &b.r.rows[i];
		struct machine_conf *c;
		struct err e = ERR_INIT;

		CHECK(x->n_sets > 0);
		if (!x->refused) {
			CHECK_OK((c = machine_conf_load(b.path, x->sets, (int)x->n_sets, &e)) ? 0 : -1, e);
			machine_conf_free(c);
		}
	}
	bed_down(&b);
}

TEST(a_gpu_is_told_that_limits_are_asked_of_an_npu)
{
	struct bed b;
	char path[512];

	bed_up(&b, EQUALS);
	snprintf(path, sizeof path, "%s/configs/gpu/h200.yaml", test_root());
	b.q.config = path;
	CHECK(limits_run(&b.q, b.a, &b.r, &b.e) < 0);
	CHECK(b.e.kind == ERR_CONFIG);
	CHECK(strstr(b.e.msg, "kind gpu") != NULL);
	bed_down(&b);
}

/* What events and closed form do not agree about is neither bought nor free; what the closed form leaves out is by events. */
TEST(what_is_within_error_is_neither_bought_nor_free)
{
	static const struct {
		const char *set;
		uint64_t form, event; /* ns; the base takes 100,000 by both */
		bool within, buys, costs_nothing;
	} rows[] = {
		{ "cores=2", 99000, 101000, true, false, false },
		{ "cores=2", 90000, 99000, true, false, true },
		{ "cores=2", 97000, 96000, false, true, true },
		{ "cores=2", 101000, 100000, true, false, false },
		{ "cores=2", 100001, 100002, false, false, true },
		{ "cores=2", 90000, 0, false, true, true },
		{ "l2.mshrs=8", 100000, 97000, false, true, true },
		{ "l2.mshrs=8", 100000, 103000, false, false, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct limits_row row = { .move = LIMITS_SWITCH,
			                  .sets = &rows[i].set,
			                  .n_sets = 1,
			                  .total_ps = rows[i].form * 1000,
			                  .event_ps = rows[i].event * 1000 };
		const struct limits_result r = { .base_ps = 100000000, .event_ps = 100000000, .rows = &row, .n = 1 };

		CHECK(limits_within(&r, &row) == rows[i].within);
		CHECK((limits_best(&r, LIMITS_SWITCH) != NULL) == rows[i].buys);
		CHECK(limits_costs_nothing(&r, &row) == rows[i].costs_nothing);
	}
}

TEST(what_is_too_near_the_base_is_run_with_events)
{
	struct bed b;

	bed_up(&b, EQUALS);
	b.q.events = true;
	b.q.pairs = 0;
	bed_ask(&b);
	CHECK(row(&b, LIMITS_SWITCH, "l2.policy", "drrip")->event_ps > 0);
	CHECK(row(&b, LIMITS_LESS, "l2.mshrs", NULL)->event_ps > 0);
	CHECK(row(&b, LIMITS_MORE, "gemv.lanes", NULL)->event_ps > 0);
	CHECK(row(&b, LIMITS_LESS, "dram.fixed_bandwidth", NULL)->event_ps == 0); /* it doubles the time */
	for (size_t i = 0; i < b.r.n; i++)
		CHECK(limits_by_events(&b.r, &b.r.rows[i]) == (b.r.rows[i].event_ps > 0));
	bed_down(&b);
}

/* Of a product that waits for DRAM: as limits has it, an amount and a switch, with what either takes. */
TEST(what_to_buy_next_is_an_amount_and_a_switch_with_area_and_power)
{
	struct bed b;
	struct marginal_question q;
	struct run_result x;
	struct buys buys;

	bed_up(&b, "clock: 1 GHz\ncores: 16\ndma: {tile: 64 KiB, stages: 16, width: 64 B}\nsram: {size: 256 KiB}\n"
	           "l2: {size: 4 MiB, banks: 64}\ngemv: {units: 4, lanes: 64}\ndram: {kind: hbm3-6400, channels: 4}\n"
	           "power: {dram: hbm3e}\n");
	bed_ask(&b);
	q = (struct marginal_question){ .q = b.q, .machines = machine_base_load(b.path, NULL, 0, &b.e) };
	q.conf = machine_base_conf(q.machines, NULL, 0, &b.e);
	CHECK_OK(run_stream(b.q.stream, q.conf, &b.q.run, b.a, &x, &b.e), b.e);
	CHECK_OK(marginal_best(&q, &x, b.a, &buys, &b.e), b.e);
	CHECK(buys.amount.key && strncmp(buys.amount.key, "dram.", 5) == 0);
	CHECK(buys.amount.has_mm2 && buys.amount.has_watts && buys.amount.watts > 0);
	CHECK(buys.choice.key != NULL);
	if (buys.amount.key && buys.choice.key) {
		CHECK_STR(buys.choice.key, "weights.dtype");
		CHECK_STR(buys.choice.then, "int4");
		CHECK(buys.choice.saves > buys.amount.saves && buys.choice.mm2 == 0);
		CHECK(fabs(buys.choice.saves - gain(&b, LIMITS_SWITCH, "weights.dtype", "int4")) < 1e-9);
		CHECK(fabs(buys.amount.saves - gain(&b, LIMITS_MORE, buys.amount.key, buys.amount.then)) < 1e-9);
	}
	machine_conf_free((struct machine_conf *)q.conf);
	machine_base_free(q.machines);
	bed_down(&b);
}

/* Where the pins' rate is given, more channels share it: what counts is the rate. */
TEST(of_two_names_of_a_memory_the_one_that_pays_is_next)
{
	struct bed b;
	struct marginal_question q;
	struct run_result x;
	struct buys buys;

	bed_up(&b, "clock: 1 GHz\ncores: 16\ndma: {tile: 64 KiB, stages: 16, width: 64 B}\nsram: {size: 256 KiB}\n"
	           "l2: {size: 4 MiB, banks: 64}\ngemv: {units: 4, lanes: 64}\n"
	           "dram: {kind: hbm3-6400, channels: 4, bandwidth: 200 GB/s}\n");
	q = (struct marginal_question){ .q = b.q, .machines = machine_base_load(b.path, NULL, 0, &b.e) };
	q.conf = machine_base_conf(q.machines, NULL, 0, &b.e);
	CHECK_OK(run_stream(b.q.stream, q.conf, &b.q.run, b.a, &x, &b.e), b.e);
	CHECK_OK(marginal_best(&q, &x, b.a, &buys, &b.e), b.e);
	CHECK(buys.amount.key && strcmp(buys.amount.key, "dram.bandwidth") == 0 && buys.amount.saves > 0.4);
	machine_conf_free((struct machine_conf *)q.conf);
	machine_base_free(q.machines);
	bed_down(&b);
}

SUITE(t_limits, SLOW(dram_and_a_dma_of_the_same_rate_pay_only_together), T(without_pairs_asked_none_is_tried),
      SLOW(more_stages_pay_as_the_search_makes_tiles_smaller), SLOW(a_switch_that_pays_is_named_with_its_value),
      SLOW(what_is_not_used_costs_nothing_to_halve_or_to_take_out),
      SLOW(a_unit_that_is_not_there_is_tried_and_its_parts_are_not),
      SLOW(a_kv_buffer_is_tried_of_the_size_of_the_cache), SLOW(rows_do_not_depend_on_the_workers),
      SLOW(what_a_machine_cannot_work_without_is_a_row_with_the_reason), SLOW(each_row_says_the_sets_that_make_it),
      T(a_gpu_is_told_that_limits_are_asked_of_an_npu), T(what_is_within_error_is_neither_bought_nor_free),
      T(what_is_too_near_the_base_is_run_with_events),
      T(what_to_buy_next_is_an_amount_and_a_switch_with_area_and_power),
      T(of_two_names_of_a_memory_the_one_that_pays_is_next));
