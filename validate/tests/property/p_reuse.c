/* p_reuse.c - what stays in SRAM and what is joined: room for whoever runs meanwhile, and never a loss (sim/map/map_reuse.c,
 * map_chain.c). */
#include "sim/build/build.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#include <stdlib.h>

#define ROUNDS        test_rounds(8, 12, 60)
#define TOLERANCE_PPM 5000

/* The oldest command can always end: all that is kept stands beside what it holds. */
static void check_room(const struct isa_prog *p, uint64_t sram, uint64_t *kept)
{
	uint64_t held = 0;

	for (size_t k = 0; k < p->n_cmds; k++) {
		const struct isa_cmd *c = &p->cmds[k];

		held += c->keeps_bytes;
		*kept += c->keeps_bytes;
		CHECK(held + c->fixed_bytes + (c->tiles ? c->slot_bytes : 0) <= sram);
		CHECK(c->frees_bytes <= held);
		held -= c->frees_bytes;
	}
	CHECK_U64(held, 0);
}

TEST(what_stays_leaves_room_for_whoever_runs_meanwhile)
{
	uint64_t kept = 0;
	struct rng r;

	rng_seed(&r, test_seed(), "keep");
	for (int i = 0; i < ROUNDS; i++) {
		const struct run_opts o = { .start = RUN_STEADY,
			                    .seed = 1,
			                    .fidelity = i % 2 ? RUN_ANALYTIC : RUN_EVENT };
		struct runbed b;
		struct run_result x;

		runbed_random(&b, &r);
		if (runbed_run(&b, NULL, (const char *[]){ "sram.size=64 KiB", "cores=2" }, 2, &o, &x))
			check_room(&x.map->prog, 2 * UINT64_C(65536), &kept);
		runbed_down(&b);
	}
	CHECK(kept > 0);
}

static const struct work {
	const char *model;
	uint64_t prompt; /* 0: a decode step */
} works[] = { { "qwen2-0.5b", 0 }, { "deepseek-ocr", 0 }, { "qwen2-0.5b", 2048 }, { "llama-3.2-1b", 512 } };

static ps_t total(const char *machine, const struct work *w, const char *set, enum run_fidelity f)
{
	const struct run_opts o = { .start = RUN_STEADY, .seed = 1, .fidelity = f };
	struct build_how how = { .phase = w->prompt ? BUILD_PREFILL : BUILD_DECODE,
		                 .style = BUILD_NPU,
		                 .batch = 1,
		                 .context = w->prompt ? 0 : 1024,
		                 .tokens = w->prompt ? w->prompt : 1 };
	struct runbed b = { .a = arena_new(0), .yaml = STR_INIT, .e = ERR_INIT };
	struct run_result x;
	struct model *m;
	char config[80];

	snprintf(config, sizeof config, "configs/npu/%s.yaml", machine);
	CHECK((m = model_load(w->model, &b.e)) != NULL);
	how.kv = m->dtype;
	CHECK((how.quant = scheme_find("bf16", &b.e)) != NULL);
	CHECK_OK(build_stream(m, &how, b.a, &b.traced, &b.e), b.e);
	b.s = &b.traced;
	model_free(m);
	CHECK(runbed_run(&b, config, &set, 1, &o, &x));
	runbed_down(&b);
	return x.total_ps;
}

/* Of all machines and works a gate takes some. */
static void on_is_never_slower(const char *off, const char *on, enum run_fidelity f, const char *const *machine)
{
	size_t nth = 0;

	for (; *machine; machine++)
		for (size_t k = 0; k < sizeof works / sizeof *works; k++) {
			ps_t without, with;

			if (!test_turn(nth++, 3))
				continue;
			without = total(*machine, &works[k], off, f);
			with = total(*machine, &works[k], on, f);
			if (with > without + without / 1000000 * TOLERANCE_PPM)
				test_fail(__FILE__, __LINE__, "%s, %s (prompt %llu): %s %llu ps, %s %llu ps", *machine,
				          works[k].model, (unsigned long long)works[k].prompt, off,
				          (unsigned long long)without, on, (unsigned long long)with);
		}
}

static const char *const shipped[] = { "dsocr",  "edge",     "h200-twin", "tpu-v6e", "array-128",
	                               "tpu-v4", "wormhole", "trainium1", NULL };
static const char *const few[] = { "dsocr", "edge", NULL };

static const char *const *machines(void)
{
	return test_rounds(0, 0, 1) ? shipped : few;
}

TEST(what_stays_in_sram_never_costs_more_than_it_saves)
{
	on_is_never_slower("sram.forward=false", "sram.forward=true", RUN_ANALYTIC, machines());
	on_is_never_slower("sram.forward=false", "sram.forward=true", RUN_EVENT, few);
}

TEST(what_is_joined_is_no_slower_than_apart)
{
	on_is_never_slower("fusion.enabled=false", "fusion.enabled=true", RUN_ANALYTIC, machines());
	on_is_never_slower("fusion.enabled=false", "fusion.enabled=true", RUN_EVENT, few);
	on_is_never_slower("dispatch.join=false", "dispatch.join=true", RUN_ANALYTIC, few);
}

SUITE(p_reuse, T(what_stays_leaves_room_for_whoever_runs_meanwhile),
      SLOW(what_stays_in_sram_never_costs_more_than_it_saves), SLOW(what_is_joined_is_no_slower_than_apart));
