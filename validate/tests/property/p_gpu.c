/* p_gpu.c - what holds for any launch on any GPU: never under its bytes over the rates or its math over the pipes, and
 * more of a rate or less of a latency never slower. The launches are those of the traced steps, and of operators over
 * eight decades of size. NPUSIM_SEED picks other devices. */
#include <stdlib.h>

#include "arch/gpu/gpu_math.h"
#include "arch/gpu/gpu_power.h"
#include "arch/gpu/gpu_work.h"
#include "arch/machine/machine_gpu.h"
#include "sim/base/rng.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"
#include "workloads/work.h"

#define DEVICES test_rounds(3, 8, 25)

static const char *const traces[] = { "kineto_dsocr_b1_c1024", "operators/train_0000", "operators/train_0200",
	                              "operators/train_0360",  "operators/train_0400", "operators/train_0520",
	                              "operators/train2_0120", "operators/train2_0240" };
#define TRACES \
	(size_t) test_rounds( \
		2, 3, sizeof traces / sizeof *traces) /* to walk the caches for one takes longer than all devices */

struct bed {
	struct runbed in;
	struct kernels *kernels;
	struct machine_conf *conf;
	struct gpu_work w;
	struct err e;
};

static void bed_up(struct bed *b, const char *trace)
{
	struct gpu_traffic *door;
	char path[512];

	*b = (struct bed){ .e = ERR_INIT };
	runbed_traced(&b->in, trace, NULL);
	CHECK((b->kernels = kernels_load(NULL, &b->e)) != NULL);
	snprintf(path, sizeof path, "%s/configs/gpu/h200.yaml", test_root());
	CHECK((b->conf = machine_conf_load(path, NULL, 0, &b->e)) != NULL);
	CHECK_OK(gpu_work_make(b->in.s, b->kernels, b->in.a, &b->w, &b->e), b->e);
	CHECK((door = gpu_traffic_new(&b->conf->cfg.mem, b->conf->cfg.clock, &b->e)) != NULL);
	CHECK_OK(gpu_work_run(&b->w, false, door, &b->e), b->e);
	gpu_traffic_free(door);
}

static void bed_down(struct bed *b)
{
	machine_conf_free(b->conf);
	kernels_free(b->kernels);
	runbed_down(&b->in);
}

/* v times something between a third and three. */
static uint64_t around(struct rng *r, uint64_t v)
{
	return v * (333 + rng_below(r, 2668)) / 1000 + 1;
}

static void random_device(struct rng *r, struct machine_cfg *c)
{
	c->clock = around(r, c->clock);
	c->cores = 1 + (uint32_t)rng_below(r, 400);
	c->gpu.common.launch = around(r, c->gpu.common.launch);
	c->gpu.common.cta_rate = around(r, c->gpu.common.cta_rate);
	c->gpu.common.step_l2 = around(r, c->gpu.common.step_l2);
	c->gpu.common.step_dram = c->gpu.common.step_l2 + around(r, c->gpu.common.step_dram);
	c->gpu.common.dram_read = around(r, c->gpu.common.dram_read);
	c->gpu.common.dram_write = around(r, c->gpu.common.dram_write);
	c->gpu.common.l2_rate = around(r, c->gpu.common.l2_rate);
	c->gpu.common.flop_bf16 = (uint32_t)around(r, c->gpu.common.flop_bf16);
	c->gpu.common.flop_fp32 = (uint32_t)around(r, c->gpu.common.flop_fp32);
	c->gpu.common.issue = (uint32_t)around(r, c->gpu.common.issue);
}

static void fail(const struct gpu_launch *l, const char *what, ps_t got, ps_t bound)
{
	test_fail(__FILE__, __LINE__, "%s of %s (%s): %llu ps against %llu", what, l->op->name, l->at->name,
	          (unsigned long long)got, (unsigned long long)bound);
}

/* A little is lost to whole picoseconds in each of a closed form's terms. */
#define ROUNDING 100

static uint64_t fastest(const struct gpu_common_cfg *c)
{
	uint64_t f = c->flop_int8 > c->flop_fp8 ? c->flop_int8 : c->flop_fp8;

	f = c->flop_bf16 > f ? c->flop_bf16 : f;
	return c->flop_fp32 > f ? c->flop_fp32 : f;
}

static void above_its_roofline(const struct gpu *g, const struct gpu_launch *l)
{
	ps_t t = gpu_time(g, l).total, bytes = gpu_memory_time(g, &l->mem), dram, math = 0;

	dram = clock_transfer(l->mem.read - l->mem.read_hit, g->c->dram_read);
	if (t + ROUNDING < dram)
		fail(l, "DRAM's time", t, dram);
	if (l->kernel.form != KERNEL_PRODUCT && t + ROUNDING < bytes) /* of a product parts of requests are shared */
		fail(l, "the memory's time", t, bytes);
	/* All math of an op is in its only launch, at the fastest pipe's rate at the most. */
	if (l->count == 1)
		math = clock_span(div_up(2 * work_of(l->stream, l->op).macs, fastest(g->c) * g->sms), g->clock);
	if (t + ROUNDING < math)
		fail(l, "the pipes' time", t, math);
}

TEST(no_launch_is_under_its_roofline_on_any_device)
{
	struct rng r;

	rng_seed(&r, test_seed(), "gpu");
	for (size_t i = 0; i < TRACES; i++) {
		struct bed b;

		bed_up(&b, traces[i]);
		for (int d = 0; d < DEVICES; d++) {
			struct machine_cfg c = b.conf->cfg;
			struct gpu g;

			if (d)
				random_device(&r, &c);
			g = machine_gpu(&c);
			for (size_t k = 0; k < b.w.n; k++)
				if (b.w.launches[k].op->kind != OP_OPAQUE)
					above_its_roofline(&g, &b.w.launches[k]);
		}
		bed_down(&b);
	}
}

/* One parameter at a time, better by half again. */
static void improve(struct machine_cfg *c, int what)
{
	switch (what) {
	case 0:
		c->gpu.common.launch /= 2;
		break;
	case 1:
		c->gpu.common.cta_rate *= 2;
		break;
	case 2:
		c->gpu.common.step_l2 -= c->gpu.common.step_l2 / 3;
		break;
	case 3:
		c->gpu.common.step_dram -= (c->gpu.common.step_dram - c->gpu.common.step_l2) / 3;
		break;
	case 4:
		c->gpu.common.dram_read += c->gpu.common.dram_read / 2;
		break;
	case 5:
		c->gpu.common.dram_write += c->gpu.common.dram_write / 2;
		break;
	case 6:
		c->gpu.common.l2_rate += c->gpu.common.l2_rate / 2;
		break;
	case 7:
		c->gpu.common.flop_bf16 += c->gpu.common.flop_bf16 / 2;
		break;
	case 8:
		c->gpu.common.flop_fp32 += c->gpu.common.flop_fp32 / 2;
		break;
	case 9:
		c->gpu.common.issue += c->gpu.common.issue / 2;
		break;
	case 10:
		c->gpu.common.clock_tensor += c->gpu.common.clock_tensor / 2;
		break;
	default:
		c->gpu.common.sfu *= 2;
		break;
	}
}
#define IMPROVEMENTS 12

TEST(more_of_a_rate_or_less_of_a_latency_never_slows_a_launch)
{
	struct rng r;

	rng_seed(&r, test_seed(), "gpu better");
	for (size_t i = 0; i < TRACES; i++) {
		struct bed b;

		bed_up(&b, traces[i]);
		for (int d = 0; d < DEVICES; d++) {
			struct machine_cfg c = b.conf->cfg, better;
			struct gpu g, h;
			int what = d % IMPROVEMENTS;

			if (d >= IMPROVEMENTS)
				random_device(&r, &c);
			better = c;
			improve(&better, what);
			g = machine_gpu(&c);
			h = machine_gpu(&better);
			for (size_t k = 0; k < b.w.n; k++) {
				const struct gpu_launch *l = &b.w.launches[k];
				ps_t was = gpu_time(&g, l).total, is = gpu_time(&h, l).total;
				char text[64];

				snprintf(text, sizeof text, "improvement %d", what);
				if (l->op->kind != OP_OPAQUE && is > was + ROUNDING + was / 1000000)
					fail(l, text, is, was);
			}
		}
		bed_down(&b);
	}
}

/* --- power ------------------------------------------------------------------------------------------------------- */

static uint64_t energy_at(const struct gpu *g, const struct gpu_activity *x, ps_t t)
{
	struct gpu_energy e;
	uint64_t sum = 0;

	gpu_energy_of(g, x, t, &e);
	for (int i = 0; i < GPU_ENERGIES; i++)
		sum += e.part[i];
	CHECK_U64(sum, gpu_energy_sum(&e)); /* to the last femtojoule */
	return sum;
}

/* More of anything a launch does, a longer time, live data: never less energy. */
static void rises(const struct gpu *g, struct gpu_launch *l, struct rng *r)
{
	const struct gpu_activity x = gpu_activity(g, l, true), still = gpu_activity(g, l, false);
	const ps_t t = gpu_time(g, l).total;
	const uint64_t fj = energy_at(g, &x, t);
	struct gpu_activity more = x;
	struct gpu_launch larger = *l;

	more.n[rng_below(r, GPU_EVENTS)] += 1 + rng_below(r, 1000000000);
	if (energy_at(g, &more, t) < fj)
		fail(l, "energy with more events", energy_at(g, &more, t), fj);
	if (energy_at(g, &x, t + 1 + rng_below(r, PS_US)) < fj)
		fail(l, "energy of a longer time", 0, fj);
	if (energy_at(g, &still, t) > fj)
		fail(l, "energy of data that do not toggle", energy_at(g, &still, t), fj);
	larger.mem.read += larger.mem.read / 2;
	more = gpu_activity(g, &larger, true);
	for (int i = 0; i < GPU_EVENTS; i++)
		if (more.n[i] < x.n[i])
			fail(l, "an event of more bytes", more.n[i], x.n[i]);
}

TEST(energy_is_the_sum_of_its_parts_and_never_falls_when_work_rises)
{
	struct rng r;

	rng_seed(&r, test_seed(), "gpu energy");
	for (size_t i = 0; i < TRACES; i++) {
		struct bed b;

		bed_up(&b, traces[i]);
		for (int d = 0; d < 3; d++) {
			struct machine_cfg c = b.conf->cfg;
			struct gpu g;

			if (d)
				random_device(&r, &c);
			g = machine_gpu(&c);
			for (size_t k = 0; k < b.w.n; k++)
				rises(&g, &b.w.launches[k], &r);
		}
		bed_down(&b);
	}
}

struct all {
	const struct gpu_work *w;
	const struct gpu_activity *x;
	ps_t took;
};

static uint64_t power_of(const struct gpu *at, void *arg)
{
	struct all *n = arg;
	uint64_t fj = 0;

	n->took = 0;
	for (size_t i = 0; i < n->w->n; i++) {
		const ps_t t = gpu_time(at, &n->w->launches[i]).total;

		fj += energy_at(at, &n->x[i], t);
		n->took += t;
	}
	return energy_power(fj, n->took);
}

TEST(a_lower_cap_never_gives_a_higher_clock_or_a_faster_run)
{
	for (size_t i = 0; i < TRACES; i++) {
		uint64_t last = 0;
		ps_t took = PS_NEVER;
		struct gpu_activity *x;
		struct gpu g;
		struct bed b;

		bed_up(&b, traces[i]);
		x = calloc(b.w.n + 1, sizeof *x);
		CHECK(x != NULL);
		for (uint64_t cap = 100; cap <= 800; cap += 100) {
			struct all n = { &b.w, x, 0 };

			b.conf->cfg.gpu.power.cap = cap * 1000000;
			g = machine_gpu(&b.conf->cfg);
			for (size_t k = 0; k < b.w.n; k++)
				x[k] = gpu_activity(&g, &b.w.launches[k], true);
			g = gpu_at_clock(&g, gpu_power_clock(&g, power_of, &n));
			if (g.clock > GPU_CLOCK_STEP)
				CHECK(power_of(&g, &n) <= cap * 1000000);
			else
				power_of(&g, &n);
			CHECK(g.clock >= last && n.took <= took);
			last = g.clock;
			took = n.took;
		}
		free(x);
		bed_down(&b);
	}
}

SUITE(p_gpu, SLOW(no_launch_is_under_its_roofline_on_any_device),
      SLOW(more_of_a_rate_or_less_of_a_latency_never_slows_a_launch),
      SLOW(energy_is_the_sum_of_its_parts_and_never_falls_when_work_rises),
      SLOW(a_lower_cap_never_gives_a_higher_clock_or_a_faster_run));
