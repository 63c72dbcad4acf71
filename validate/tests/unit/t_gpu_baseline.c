/* t_gpu_baseline.c - the GPU beside an answer: its closed form against its L2 by events, what fusing a step does, which device is which. */
#include "sim/base/path.h"
#include "sim/engine/gpu_baseline.h"
#include "sim/engine/run_memo.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#include <string.h>

struct bed {
	struct runbed b;
	struct machine_conf *gpu;
	struct run_memo *memo;
	const struct kernels *k;
	const struct fuse_patterns *patterns;
};

static void up(struct bed *x, const char *trace, const char *range)
{
	struct fusion_cfg fusion = { .enabled = true, .patterns = "default" };
	struct err e = ERR_INIT;
	char path[512];

	runbed_traced(&x->b, trace, range);
	CHECK(path_data("configs/gpu/h200.yaml", path, sizeof path, &e) == 0);
	CHECK((x->gpu = machine_conf_load(path, NULL, 0, &e)));
	CHECK((x->memo = run_memo_new(&e)));
	CHECK((x->k = run_memo_kernels(x->memo, &e)));
	CHECK(run_memo_patterns(x->memo, &fusion, &x->patterns, &e) == 0);
}

static void down(struct bed *x)
{
	machine_conf_free(x->gpu);
	run_memo_free(x->memo);
	runbed_down(&x->b);
}

static struct gpu_baseline gpu_baseline_of(struct bed *x, bool fused)
{
	struct err e = ERR_INIT;
	struct gpu_baseline p;

	CHECK(gpu_baseline_run(x->b.s, x->gpu, x->k, fused ? x->patterns : NULL, x->b.a, &p, &e) == 0);
	return p;
}

/* The same launches, and what is in the L2 by distance instead of by events. */
TEST(a_step_that_is_not_fused_takes_what_the_gpus_model_says)
{
	static const char *const traces[][2] = { { "kineto_dsocr_b1_c1024", "decode_step_1" },
		                                 { "kineto_llama1b_b1_c256", "decode_step_1" },
		                                 { "steps/kineto_llama1b_b8_c512", "decode_step_1" },
		                                 { "steps/kineto_qwen05b_b1_c2048", "decode_step_1" } };
	const struct run_opts o = { .seed = 1 };

	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
		struct run_result r;
		struct bed x;
		struct gpu_baseline p;

		up(&x, traces[i][0], traces[i][1]);
		p = gpu_baseline_of(&x, false);
		CHECK(runbed_run(&x.b, "configs/gpu/h200.yaml", NULL, 0, &o, &r));
		CHECK_U64(p.kernels, x.b.s->n_launches);
		CHECK_U64(p.joined, 0);
		CHECK(p.kernels_ps > r.total_ps - r.total_ps / 50 && p.kernels_ps < r.total_ps + r.total_ps / 50);
		down(&x);
	}
}

TEST(a_fused_step_has_fewer_kernels_and_never_takes_longer)
{
	struct bed x;
	struct gpu_baseline as_it_is, fused;
	uint64_t sum = 0;

	up(&x, "kineto_dsocr_b1_c1024", "decode_step_1");
	as_it_is = gpu_baseline_of(&x, false);
	fused = gpu_baseline_of(&x, true);
	CHECK(fused.kernels < as_it_is.kernels);
	CHECK(fused.kernels_ps < as_it_is.kernels_ps);
	CHECK_U64(fused.joined + fused.kernels <= as_it_is.kernels, 1);
	for (size_t i = 0; i < x.b.s->n_ops; i++)
		sum += fused.op_ps[i];
	CHECK_U64(sum, fused.kernels_ps);
	/* a graph's launch beside them, and nothing between its nodes */
	CHECK_U64(fused.graph_ps, fused.kernels_ps + x.gpu->cfg.gpu.host.graph_launch);
	down(&x);
}

/* Fused or not, the weights come from memory. */
TEST(a_fused_step_is_not_faster_than_its_weights_over_the_pins)
{
	struct bed x;
	struct gpu_baseline p;
	uint64_t weights = 0;

	up(&x, "kineto_llama1b_b1_c256", "decode_step_1");
	p = gpu_baseline_of(&x, true);
	for (size_t i = 0; i < x.b.s->n_tensors; i++)
		weights += x.b.s->tensors[i].role == OP_WEIGHT ? x.b.s->tensors[i].bytes : 0;
	CHECK(weights > UINT64_C(2000000000));
	CHECK(p.kernels_ps > (weights - (UINT64_C(60) << 20)) / 4814304 * 1000000);
	down(&x);
}

TEST(a_device_is_found_by_the_name_that_its_driver_gives_it)
{
	static const char *const names[][2] = { { "NVIDIA H200", "h200" },
		                                { "NVIDIA H100 80GB HBM3", "h100" },
		                                { "NVIDIA GeForce RTX 5090", "rtx5090" },
		                                { "NVIDIA GeForce RTX 4090", "rtx4090" },
		                                { "NVIDIA A100-SXM4-80GB", "a100" },
		                                { "NVIDIA L40S", "l40s" },
		                                { "NVIDIA L40", "l40" },
		                                { "NVIDIA L20", "l20" },
		                                { "NVIDIA H20", "h20" },
		                                { "NVIDIA H800", "h800" },
		                                { "NVIDIA A40", "a40" },
		                                { "NVIDIA RTX A6000", "rtx-a6000" },
		                                { "NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada" },
		                                { "NVIDIA GeForce RTX 5070 Ti", "rtx5070ti" },
		                                { "NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000" } };
	char path[512];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const size_t n = strlen(names[i][1]);

		CHECK(gpu_baseline_config(names[i][0], path, sizeof path) == 0);
		CHECK(strlen(path) > n + 5);
		CHECK(strncmp(path + strlen(path) - n - 5, names[i][1], n) == 0);
	}
	CHECK(gpu_baseline_config("AMD Instinct MI300X", path, sizeof path) < 0);
	CHECK(gpu_baseline_config("../../etc", path, sizeof path) < 0);
	CHECK(gpu_baseline_config("", path, sizeof path) < 0);
	CHECK(gpu_baseline_config(NULL, path, sizeof path) < 0);
}

SUITE(t_gpu_baseline, SLOW(a_step_that_is_not_fused_takes_what_the_gpus_model_says),
      T(a_fused_step_has_fewer_kernels_and_never_takes_longer),
      T(a_fused_step_is_not_faster_than_its_weights_over_the_pins),
      T(a_device_is_found_by_the_name_that_its_driver_gives_it));
