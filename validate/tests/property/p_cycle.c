/* Event fidelity and the closed form of matrix units against a machine that is stepped clock by clock (cyclebed.h). */
#include <stdlib.h>

#include "validate/tests/cyclebed.h"
#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"
#include "validate/tests/unitbed.h"

#define PROGRAMS test_rounds(30, 40, 300)
#define APART    30000 /* ppm: how far they may be apart, all but one */
#define AN_EDGE \
	50000    /* and that one: a store some cycles before a load is through makes it wait for all of it, or not */
#define SHORT 10 /* a part: where folds stream for fewer cycles than they have rows */
#define SIDE  40 /* of a product for the array alone */

static const char *const flow_names[] = { "ws", "os", "is" };
static const uint32_t arrays[][2] = { { 4, 4 }, { 8, 4 } }; /* rows, columns */

/* --- the array alone ---------------------------------------------------------------------------------------------- */

static uint64_t stepped(const struct systolic_cfg *c, uint32_t m, uint32_t n, uint32_t k, struct rng *r)
{
	int32_t a[SIDE * SIDE], b[SIDE * SIDE];
	int64_t sums[SIDE * SIDE] = { 0 };
	struct systolic_job j = {
		.a = a, .b = b, .c = sums, .m = m, .n = n, .k = k, .a_stride = k, .b_stride = k, .c_stride = n
	};
	struct systolic *s = systolic_new(c);
	uint64_t cycles = 0;

	CHECK(s != NULL);
	for (uint32_t i = 0; i < m * k; i++)
		a[i] = (int32_t)rng_below(r, 255) - 127;
	for (uint32_t i = 0; i < n * k; i++)
		b[i] = (int32_t)rng_below(r, 255) - 127;
	for (systolic_push(s, &j); !systolic_idle(s); cycles++)
		systolic_step(s);
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t l = 0; l < n; l++) {
			int64_t sum = 0;

			for (uint32_t t = 0; t < k; t++)
				sum += (int64_t)a[i * k + t] * b[l * k + t];
			CHECK(sums[i * n + l] == sum);
		}
	systolic_free(s);
	return cycles;
}

static void unit_up(struct unitbed *b, const struct systolic_cfg *c)
{
	char yaml[160];

	snprintf(yaml, sizeof yaml, "units: 1\nrows: %d\ncols: %d\ndataflow: %s\nweight_buffers: %d\n", (int)c->rows,
	         (int)c->cols, flow_names[c->flow], (int)c->buffers);
	unitbed_up(b, UNIT_MATRIX, matrix_schema, yaml);
}

static struct unit_plan planned(const struct systolic_cfg *c, uint32_t m, uint32_t n, uint32_t k)
{
	struct unitbed b;

	unit_up(&b, c);
	return unitbed_plan(
		&b,
		&(struct unit_job){ .work = UNIT_PRODUCT, .dtype = DT_BF16, .with = DT_BF16, .m = m, .n = n, .k = k });
}

static uint64_t apart_ppm(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) * 1000000 / b;
}

static uint32_t stream_of(const struct systolic_cfg *c, uint32_t m, uint32_t n, uint32_t k)
{
	return c->flow == SYSTOLIC_OS ? k : c->flow == SYSTOLIC_IS ? n : m;
}

static struct systolic_cfg array_of(int i)
{
	return (struct systolic_cfg){ arrays[i % 2][0], arrays[i % 2][1], 1 + (uint32_t)i / 2 % 2,
		                      (enum systolic_flow)(i / 4 % 3) };
}

/* One buffer: SCALE-Sim's figure is the number of the last cycle, from 0. Two: filling and draining at the most are apart,
 * where a fold takes as long as it streams. Where its rows take longer to come in, the closed form counts a last fold of
 * fewer rows as a full one, or has found smaller folds that the array does not try. */
TEST(a_systolic_array_takes_the_cycles_of_its_closed_form)
{
	struct rng r;

	rng_seed(&r, test_seed(), "systolic");
	for (int i = 0; i < 600; i++) {
		const struct systolic_cfg c = array_of(i);
		const uint32_t m = 1 + (uint32_t)rng_below(&r, SIDE), n = 1 + (uint32_t)rng_below(&r, SIDE),
			       k = 1 + (uint32_t)rng_below(&r, SIDE);
		const uint64_t took = stepped(&c, m, n, k, &r), ends = c.rows + c.cols;
		const struct unit_plan p = planned(&c, m, n, k);
		const uint64_t form = (p.span + p.latency) / PS_NS;

		if (c.buffers == 1)
			CHECK_U64(took, form + 1);
		else if (stream_of(&c, m, n, k) >= c.rows)
			CHECK(took <= form + ends && form <= took + ends);
		else
			CHECK(took <= form + form / SHORT + ends && form <= took + took / SHORT + ends);
	}
}

/* Whole folds, and a stream no shorter than a fold's rows: F folds take F times the stream, and once the rows to shift in,
 * the last vector's way through rows and columns, less 2 that overlap. The closed form has one of the two ways along rows:
 * the first fold's operand shifts in while a unit waits for the other operand, or for the fold before. */
TEST(with_two_buffers_only_the_first_fold_is_filled_and_the_last_drained)
{
	struct rng r;

	rng_seed(&r, test_seed(), "folds");
	for (int i = 0; i < 60; i++) {
		const struct systolic_cfg c = { arrays[i % 2][0], arrays[i % 2][1], 2,
			                        (enum systolic_flow)(i / 2 % 3) };
		const uint32_t rows = c.rows * (1 + (uint32_t)rng_below(&r, 4)),
			       cols = c.cols * (1 + (uint32_t)rng_below(&r, 4)),
			       stream = c.rows + (uint32_t)rng_below(&r, 24);
		const uint32_t m = c.flow == SYSTOLIC_WS   ? stream
		                   : c.flow == SYSTOLIC_OS ? rows
		                                           : cols,
			       n = c.flow == SYSTOLIC_IS ? stream : cols, k = c.flow == SYSTOLIC_OS ? stream : rows;
		const uint64_t folds = (uint64_t)rows / c.rows * cols / c.cols, took = stepped(&c, m, n, k, &r);
		const struct unit_plan p = planned(&c, m, n, k);

		CHECK_U64(took, folds * stream + 2 * c.rows + c.cols - 2);
		CHECK_U64(p.span, folds * stream * PS_NS);
		CHECK_U64(p.latency, (c.rows + c.cols) * PS_NS);
	}
}

/* --- whole programs ------------------------------------------------------------------------------------------------ */

/* A product, and both machines for it. */
struct drawn {
	uint64_t m, n, k;
	struct cyclebed_cfg c;
	char yaml[1024];
};

#define PICK(r, ...) \
	((const uint32_t[]){ __VA_ARGS__ }[rng_below(r, sizeof(uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t))])

/* Most are small, some so deep that k is cut too. */
static void draw_product(struct rng *r, struct drawn *d)
{
	const bool deep = rng_below(r, 6) == 0;

	d->m = 1 + rng_below(r, 160);
	d->n = 1 + rng_below(r, deep ? 40 : 96);
	d->k = deep ? 512 + rng_below(r, 512) : 1 + rng_below(r, 320);
	d->c.sram = UINT64_C(1024) * (deep ? PICK(r, 8, 16, 64, 128) : PICK(r, 4, 8, 16, 32));
}

static void draw(struct rng *r, int i, uint32_t cores, struct drawn *d)
{
	struct cyclebed_cfg *c = &d->c;

	draw_product(r, d);
	c->cores = cores;
	c->array = array_of(i);
	c->port_bytes = PICK(r, 1, 2, 4, 8, 16);
	c->latency = (uint32_t)rng_below(r, 200);
	c->setup = (uint32_t)rng_below(r, 20);
	c->hop = (uint32_t)rng_below(r, 10);
	c->stages = 1 + (uint32_t)rng_below(r, 4);
	c->descriptors = PICK(r, 1, 2, 4, 8, 16);
	snprintf(d->yaml, sizeof d->yaml,
	         "name: cycle\nclock: 1 GHz\ncores: %u\n"
	         "dispatch: {latency: 0 ns, interval: 0 ns, launch: 0 ns}\n"
	         "dma: {width: 64 B, tile: %u B, stages: %u, outstanding: %u, setup: %u ns}\n"
	         "sram: {size: %u B, banks: 1024, bank_width: 256 B}\n"
	         "gemv: {units: 0}\nfusion: {enabled: false}\n"
	         "matrix: {units: 1, rows: %u, cols: %u, dataflow: %s, weight_buffers: %u}\n"
	         "noc: {latency: %u ns}\nkv_buffer: {size: 0 B}\nl2: {size: 0 B}\n"
	         "dram: {kind: fixed, fixed_bandwidth: %u GB/s, fixed_latency: %u ns}\n",
	         cores, PICK(r, 1024, 2048, 4096), c->stages, c->descriptors, c->setup, (unsigned)c->sram,
	         c->array.rows, c->array.cols, flow_names[c->array.flow], c->array.buffers, c->hop, c->port_bytes,
	         c->latency);
	c->sram *= cores;
	c->exchange = log2_up(cores) * (c->setup + c->hop);
	c->swap_bytes = 64;
}

/* Whether tiles of a nest are smaller where dimensions end. */
static bool is_uneven(const struct drawn *d, const struct isa_prog *p)
{
	const uint64_t size[] = { d->m, d->n, d->k };

	for (size_t i = 0; i < p->n_insns; i++) {
		const struct isa_shape *s = &p->insns[i].shape;
		const uint64_t tile[] = { s->m, s->rows, s->cols };
		int cut = 0, rest = 0;

		if (p->n_cmds > 1 || !p->cmds[0].trips[0] || p->insns[i].code != ISA_GEMM)
			continue;
		for (int k = 0; k < 3; k++) {
			cut += tile[k] < size[k];
			rest += size[k] % tile[k] != 0;
		}
		return cut > 1 && rest > 0;
	}
	return false;
}

struct compared {
	struct drawn d;
	struct cyclebed_result cycle;
	uint64_t event, ppm, closed_ppm;
	bool uneven, nest, deep;
};

/* In closed form, by the program that events had. */
static uint64_t closed(struct runbed *b, const struct run_result *by_events)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 7, .fidelity = RUN_ANALYTIC, .program = by_events->map };
	struct run_result run;

	CHECK(runbed_run(b, NULL, NULL, 0, &o, &run));
	return run.total_ps / PS_NS;
}

/* What was moved into SRAM and out of it; of several cores each its own. */
static void check_bytes(const struct compared *x, const struct run_result *run)
{
	const uint64_t bytes = runbed_stat(run, "dma.read_bytes") + runbed_stat(run, "dma.write_bytes");

	if (x->d.c.cores == 1)
		CHECK_U64(bytes, x->cycle.bytes);
	else
		CHECK(bytes >= x->cycle.bytes);
}

/* False: the machine's SRAM does not hold a tile. */
static bool compare(struct rng *r, int i, uint32_t cores, uint32_t slower_port, struct compared *x)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 7 };
	struct runbed b = { .a = arena_new(0), .yaml = STR_INIT, .e = ERR_INIT };
	struct run_result run;
	bool ran;

	draw(r, i, cores, &x->d);
	str_addf(&b.yaml, "%s", x->d.yaml);
	b.s = synth_product(b.a, x->d.m, x->d.n, x->d.k);
	ran = runbed_run(&b, NULL, NULL, 0, &o, &run);
	if (ran) {
		const struct isa_prog *p = &run.map->prog;

		x->d.c.port_bytes *= slower_port;
		cyclebed_run(&x->d.c, p, x->d.m, x->d.n, x->d.k, r, &x->cycle);
		x->event = run.total_ps / PS_NS;
		x->ppm = apart_ppm(x->event, x->cycle.cycles);
		x->closed_ppm = apart_ppm(closed(&b, &run), x->cycle.cycles);
		check_bytes(x, &run);
		x->uneven = is_uneven(&x->d, p);
		x->nest = p->cmds[0].trips[0] > 0;
		x->deep = x->nest && p->cmds[0].trips[2] > 1;
	}
	runbed_down(&b);
	return ran;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void random_programs(uint32_t cores, const char *name)
{
	uint64_t ppm[300], closed_ppm[300];
	size_t ran = 0, tiled = 0, nests = 0, deep = 0, uneven = 0, slower = 0;
	struct rng r;

	rng_seed(&r, test_seed(), name);
	for (int i = 0; ran < (size_t)PROGRAMS; i++) {
		struct compared x;

		if (!compare(&r, i, cores, 1, &x))
			continue;
		if (x.ppm > AN_EDGE)
			test_fail(__FILE__, __LINE__, "%llux%llux%llu: %llu cycles, events %llu\n%s",
			          (unsigned long long)x.d.m, (unsigned long long)x.d.n, (unsigned long long)x.d.k,
			          (unsigned long long)x.cycle.cycles, (unsigned long long)x.event, x.d.yaml);
		tiled += x.cycle.tiles > 1;
		nests += x.nest;
		deep += x.deep;
		uneven += x.uneven;
		slower += x.cycle.cycles > x.event;
		closed_ppm[ran] = x.closed_ppm;
		ppm[ran++] = x.ppm;
	}
	qsort(ppm, ran, sizeof *ppm, by_size);
	printf("events against cycles, %u core%s, %zu programs (%zu in tiles, %zu nests, %zu of them cut k, %zu uneven): median %llu ppm, "
	       "p90 %llu, worst %llu; events shorter in %zu\n",
	       cores, cores > 1 ? "s" : "", ran, tiled, nests, deep, uneven, (unsigned long long)ppm[ran / 2],
	       (unsigned long long)ppm[ran * 9 / 10], (unsigned long long)ppm[ran - 1], slower);
	CHECK(ppm[ran - 2] <= APART);
	qsort(closed_ppm, ran, sizeof *closed_ppm, by_size);
	printf("in closed form: median %llu ppm, p90 %llu, worst %llu\n", (unsigned long long)closed_ppm[ran / 2],
	       (unsigned long long)closed_ppm[ran * 9 / 10], (unsigned long long)closed_ppm[ran - 1]);
	CHECK(closed_ppm[ran / 2] <= APART); /* it leaves out order among transfers that are in flight together */
	CHECK(tiled * 10 >= ran * 8 && uneven * 2 >= ran);
	CHECK(nests > 0);
}

TEST(random_small_programs_take_as_long_as_on_a_machine_stepped_by_the_clock)
{
	random_programs(1, "cycle");
}

TEST(so_do_programs_of_two_cores)
{
	random_programs(2, "two cores");
}

/* Nothing of the event machine is in the other: with a port twice as wide there, those that wait for it are told apart. */
TEST(machines_that_differ_are_told_apart)
{
	size_t ran = 0, apart = 0;
	struct rng r;

	rng_seed(&r, test_seed(), "apart");
	for (int i = 0; ran < 20; i++) {
		struct compared x;

		if (!compare(&r, i, 1, 2, &x))
			continue;
		ran++;
		apart += x.ppm > APART;
	}
	CHECK(apart >= 5);
}

SUITE(p_cycle, T(a_systolic_array_takes_the_cycles_of_its_closed_form),
      T(with_two_buffers_only_the_first_fold_is_filled_and_the_last_drained),
      SLOW(random_small_programs_take_as_long_as_on_a_machine_stepped_by_the_clock), SLOW(so_do_programs_of_two_cores),
      SLOW(machines_that_differ_are_told_apart));
