/* t_gpu_l2_form.c - a GPU's L2 in closed form against events: what repeats, and what a step takes either way. */
#include <math.h>

#include "sim/build/build.h"
#include "sim/engine/engine.h"
#include "sim/engine/gpu_l2_form.h"
#include "sim/engine/run.h"
#include "validate/tests/test.h"

struct bed {
	struct arena *a;
	struct model *m;
	struct op_stream s;
	struct err e;
};

static void up(struct bed *b, const char *model, enum build_style style, uint64_t prompt)
{
	struct build_how how = {
		.style = style, .batch = 1, .context = prompt ? 0 : 1024, .tokens = prompt ? prompt : 1
	};

	*b = (struct bed){ .a = arena_new(0), .e = ERR_INIT };
	b->m = model_load(model, &b->e);
	CHECK_OK(b->m ? 0 : -1, b->e);
	how.phase = prompt ? BUILD_PREFILL : BUILD_DECODE;
	how.kv = b->m->dtype;
	how.quant = scheme_find("bf16", &b->e);
	CHECK_OK(build_stream(b->m, &how, b->a, &b->s, &b->e), b->e);
}

static void down(struct bed *b)
{
	model_free(b->m);
	arena_free(b->a);
}

static struct gpu_l2_form_repeats repeats(const char *model, enum build_style style)
{
	struct gpu_l2_form_repeats r;
	struct bed b;

	up(&b, model, style, 0);
	r = gpu_l2_form_repeats(&b.s, b.a, &b.e);
	CHECK_OK(b.e.kind ? -1 : 0, b.e);
	down(&b);
	return r;
}

TEST(layers_that_are_alike_are_periods)
{
	CHECK_U64(repeats("llama-3.2-1b", BUILD_FUSED).times, 16);
	CHECK_U64(repeats("llama-3.2-1b", BUILD_EAGER).times, 16);
	CHECK_U64(repeats("llama-3.2-1b", BUILD_FUSED).period, 10);
	/* Layers with and without a window take turns. */
	CHECK_U64(repeats("gpt-oss-20b", BUILD_FUSED).times, 24 / 2);
	CHECK_U64(repeats("deepseek-v2-lite", BUILD_FUSED).times, 26); /* the first is dense */
	CHECK_U64(repeats("qwen3-vl-8b", BUILD_FUSED).times, 36);
}

TEST(what_does_not_repeat_is_no_period)
{
	struct op ops[3] = { { .kind = OP_EMBED }, { .kind = OP_NORM }, { .kind = OP_GEMM } };
	struct op_stream s = { .ops = ops, .n_ops = 3 };
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;

	for (int i = 0; i < 3; i++)
		ops[i].rule = "none";
	CHECK_U64(gpu_l2_form_repeats(&s, a, &e).times, 0);
	s.n_ops = 0;
	CHECK_U64(gpu_l2_form_repeats(&s, a, &e).times, 0);
	arena_free(a);
}

static struct run_result run(struct bed *b, const struct machine_conf *c, enum run_fidelity f)
{
	struct run_opts how = { .start = RUN_STEADY, .seed = RUN_SEED, .fidelity = f };
	struct run_result r;

	CHECK_OK(run_stream(&b->s, c, &how, b->a, &r, &b->e), b->e);
	return r;
}

static void near(const char *machine, const char *model, enum build_style style, uint64_t prompt, double percent)
{
	struct machine_conf *c;
	struct run_result ev, form;
	double off, bytes;
	struct bed b;

	up(&b, model, style, prompt);
	c = machine_conf_load(machine, NULL, 0, &b.e);
	CHECK_OK(c ? 0 : -1, b.e);
	ev = run(&b, c, RUN_EVENT);
	form = run(&b, c, RUN_ANALYTIC);
	off = 100 * ((double)form.total_ps / (double)ev.total_ps - 1);
	bytes = 100 * ((double)form.dram_read_bytes / (double)ev.dram_read_bytes - 1);
	if (fabs(off) > percent || fabs(bytes) > 4 * percent)
		test_fail(__FILE__, __LINE__, "%s on %s, prompt of %d: %+.2f %% of the time, %+.2f %% of bytes read",
		          model, machine, (int)prompt, off, bytes);
	CHECK(strcmp(ev.engine->fidelity, "event") == 0 && strcmp(form.engine->fidelity, "analytic") == 0);
	machine_conf_free(c);
	down(&b);
}

TEST(a_step_in_closed_form_takes_what_events_say)
{
	near("h200", "llama-3.2-1b", BUILD_FUSED, 0, 0.1);
	near("h200", "llama-3.2-1b", BUILD_EAGER, 0, 0.4);
	near("h200", "deepseek-ocr", BUILD_EAGER, 0, 0.1);
	near("l4", "qwen2-0.5b", BUILD_FUSED, 0, 0.3);
	near("b200", "qwen3-0.6b", BUILD_FUSED, 0, 0.4);
	near("rtx5090", "qwen2-0.5b", BUILD_FUSED, 0, 0.3);
	near("a10", "gemma-3-1b", BUILD_FUSED, 0, 0.3);
	near("h200", "qwen2-0.5b", BUILD_FUSED, 128, 0.6);
	near("h200", "llama-3.2-1b", BUILD_EAGER, 512, 0.6);
	near("rtx4090", "llama-3.2-1b", BUILD_FUSED, 512, 0.6);
}

SUITE(t_gpu_l2_form, T(layers_that_are_alike_are_periods), T(what_does_not_repeat_is_no_period),
      SLOW(a_step_in_closed_form_takes_what_events_say));
