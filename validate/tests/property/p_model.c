/* p_model.c - steps of described models: what a larger batch and a longer context must cost. */
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#include <stdlib.h>

#define TOLERANCE_PPM 10000
/* Of machines and models, a gate takes these pairs. */
#define TURN(i, k) test_turn((i) + (k), 3)

struct step {
	const char *config, *model;
	uint32_t batch;
	uint64_t context;
	enum run_fidelity fidelity;
	enum run_start start;
	uint64_t prompt;  /* tokens; 0: a decode step */
	const char *more; /* KEY=VALUE, or NULL */
};

static void made(struct runbed *b, const struct step *x)
{
	const bool gpu = strstr(x->config, "gpu/") != NULL;
	const struct build_how how = { .style = gpu ? BUILD_FUSED : BUILD_NPU,
		                       .batch = x->batch,
		                       .phase = x->prompt ? BUILD_PREFILL : BUILD_DECODE,
		                       .context = x->context,
		                       .tokens = x->prompt ? x->prompt : 1,
		                       .layers = 1 };

	runbed_model(b, x->model, &how);
}

/* A layer; false: the machine does not hold it. */
static bool run(const struct step *x, struct run_result *out)
{
	const struct run_opts o = { .start = x->start, .seed = 7, .fidelity = x->fidelity };
	struct runbed b;
	bool ran;

	made(&b, x);
	ran = runbed_run(&b, x->config, &x->more, x->more != NULL, &o, out);
	runbed_down(&b); /* figures stay, what `out` points at does not */
	return ran;
}

/* Batches of 1, 2, 4 to 256, and those of one less: none is done sooner than one before. */
static void batches(const char *config, const char *model, bool odd)
{
	struct step x = { config, model, 1, 1024, RUN_ANALYTIC, RUN_STEADY, 0, NULL };
	uint32_t most = 0;
	ps_t before = 0;

	for (uint32_t i = odd ? 2 : 1; i < 18; i += odd ? 1 : 2) {
		struct run_result r;

		x.batch = (1u << i / 2) - !(i % 2); /* 1, 2, 3, 4, 7, 8 */
		if (!run(&x, &r))
			break;
		if (r.total_ps < before - before / 1000000 * TOLERANCE_PPM)
			test_fail(__FILE__, __LINE__, "%s of %s: batch %u takes %llu ps, %u took %llu", model, config,
			          x.batch, (unsigned long long)r.total_ps, most, (unsigned long long)before);
		most = r.total_ps > before ? x.batch : most;
		before = ps_max(before, r.total_ps);
	}
	CHECK(x.batch > 16);
}

TEST(a_larger_batch_never_takes_less_on_a_gpu)
{
	static const char *const configs[] = { "configs/gpu/b200.yaml", "configs/gpu/h200.yaml",
		                               "configs/gpu/a100.yaml", "configs/gpu/rtx5090.yaml" };
	static const char *const models[] = { "gpt-oss-120b", "qwen3-30b-a3b", "deepseek-ocr", "llama-3.1-8b" };

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 4; k++)
			if (TURN(i, k))
				batches(configs[i], models[k], false);
}

TEST(a_larger_batch_never_takes_less_on_an_npu)
{
	static const char *const configs[] = { "configs/npu/edge.yaml", "configs/npu/dsocr.yaml",
		                               "configs/npu/array-128.yaml", "configs/npu/wormhole.yaml" };
	static const char *const models[] = { "llama-3.2-1b", "deepseek-ocr" };

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 2; k++)
			if (TURN(i, k))
				batches(configs[i], models[k], true);
}

/* Of a compiler's rule, too, which copies what fits: two, four and eight times a TPU's memory. */
TEST(more_sram_never_slows_a_prompt_by_a_compilers_rule)
{
	static const char *const configs[] = { "configs/npu/tpu-v3.yaml", "configs/npu/tpu-v4.yaml",
		                               "configs/npu/tpu-v6e.yaml" };
	static const char *const models[] = { "llama-3.2-1b", "llama-3.1-8b" };
	static const uint64_t mib[] = { 16, 16, 128 };

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 2; k++) {
			ps_t least = PS_NEVER;

			for (uint64_t times = 1; times <= 8 && TURN(i, k); times *= 2) {
				char more[32];
				struct step x = { configs[i], models[k], 1, 0, RUN_ANALYTIC, RUN_STEADY, 512, more };
				struct run_result r;

				snprintf(more, sizeof more, "sram.size=%llu MiB", (unsigned long long)(mib[i] * times));
				CHECK(run(&x, &r));
				if (least != PS_NEVER && r.total_ps > least + least / 1000000 * TOLERANCE_PPM)
					test_fail(__FILE__, __LINE__, "%s of %s: %llu ps with %s, %llu with less",
					          models[k], configs[i], (unsigned long long)r.total_ps, more,
					          (unsigned long long)least);
				least = ps_min(least, r.total_ps);
			}
		}
}

/* What was in the cache before the step is read in it, whatever the step has appended before: keys and values of all
 * sequences, once, over the pins. */
static void grows(enum run_start start, enum run_fidelity fidelity)
{
	const uint64_t more = 4096,
		       keys_and_values = UINT64_C(2) * 8 * 64 * 2 * 16 * more; /* heads, dim, bytes, batch */
	struct step x = { "configs/npu/dsocr.yaml", "llama-3.2-1b", 16, 1024, fidelity, start, 0, NULL };
	struct run_result a, b;

	CHECK(run(&x, &a));
	x.context += more;
	CHECK(run(&x, &b));
	CHECK_U64(b.compulsory_bytes - a.compulsory_bytes, keys_and_values);
	CHECK(b.roofline_ps > a.roofline_ps);
	CHECK(b.total_ps >= b.roofline_ps && b.total_ps >= b.mapped_ps);
	if (start == RUN_COLD) /* else caches may hold some */
		CHECK_U64(b.first_read_bytes - a.first_read_bytes, keys_and_values);
	CHECK(b.dram_read_bytes >= b.compulsory_bytes / 1000 * 999);
}

TEST(a_roofline_grows_with_the_context_by_its_keys_and_values)
{
	for (enum run_start s = RUN_STEADY; s <= RUN_COLD; s++) {
		grows(s, RUN_ANALYTIC);
		grows(s, RUN_EVENT);
	}
}

/* A mixture's experts as one grouped product, on chips that map it: the weights of its picks stream as those of a batched product
 * of the same sizes do, by events and in closed form. */
TEST(a_grouped_product_streams_as_a_batched_one)
{
	const struct build_how how = { .style = BUILD_FUSED,
		                       .batch = 8,
		                       .context = 512,
		                       .tokens = 1,
		                       .layers = 1,
		                       .quant = scheme_find("bf16", NULL),
		                       .kv = DT_BF16 };
	struct runbed grouped, batched;
	char table[200];

	runbed_model(&grouped, "qwen3-30b-a3b", &how);
	for (int f = 0; f < 2; f++) {
		const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = f ? RUN_ANALYTIC : RUN_EVENT };
		struct run_result x, y;
		size_t seen = 0;

		CHECK(runbed_run(&grouped, "configs/npu/dsocr.yaml", NULL, 0, &o, &x));
		for (size_t i = 0; i < grouped.s->n_ops; i++) {
			const struct op *p = &grouped.s->ops[i];

			if (p->kind != OP_GEMM || p->shape.batch < 2 || p->routed_by < 0)
				continue;
			snprintf(table, sizeof table, "op,m,n,k,batch,dtype\ngemm,%llu,%llu,%llu,%llu,bf16\n",
			         (unsigned long long)p->shape.m, (unsigned long long)p->shape.n,
			         (unsigned long long)p->shape.k, (unsigned long long)p->shape.batch);
			runbed_table(&batched, table);
			CHECK(runbed_run(&batched, "configs/npu/dsocr.yaml", NULL, 0, &o, &y));
			CHECK(x.ops[i].span_ps <= y.total_ps / 100 * 105);
			CHECK(x.ops[i].span_ps >= y.total_ps / 100 * 85);
			runbed_down(&batched);
			seen++;
		}
		CHECK_U64(seen, 2);
	}
	runbed_down(&grouped);
}

SUITE(p_model, T(a_grouped_product_streams_as_a_batched_one), SLOW(a_larger_batch_never_takes_less_on_a_gpu),
      SLOW(a_larger_batch_never_takes_less_on_an_npu), T(more_sram_never_slows_a_prompt_by_a_compilers_rule),
      SLOW(a_roofline_grows_with_the_context_by_its_keys_and_values));
