/* t_align.c - kernels without operators laid over a model: held against the eager step that made the same kernels. */
#include "sim/align/align.h"
#include "sim/base/path.h"

#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "validate/tests/mktrace.h"
#include "validate/tests/tracebed.h"
#include "workloads/work.h"

#define HERE  "validate/tests/data/align/"
#define STEPS "traces/h200/steps/kineto_"

struct laid {
	struct bed b;
	struct rules *r;
	struct model *m;
	struct align_report rep;
	struct op_stream s;
	struct lower_stats st;
};

static void laid_load(struct laid *x, const char *file, const char *range, const char *model)
{
	char path[4096];

	memset(x, 0, sizeof *x);
	bed_open(&x->b, ":memory:", DB_WRITE);
	snprintf(path, sizeof path, "%s/%s", test_root(), file);
	CHECK_OK(format_import(x->b.db, FORMAT_KINETO, path, NULL, NULL, &x->b.st, &x->b.e), x->b.e);
	bed_load(&x->b, range);
	snprintf(path, sizeof path, "%s/configs/rules/pytorch-cuda.yaml", test_root());
	x->r = rules_load(path, &x->b.e);
	CHECK_OK(x->r ? 0 : -1, x->b.e);
	x->m = model ? model_load(model, &x->b.e) : NULL;
	CHECK_OK(x->m || !model ? 0 : -1, x->b.e);
}

static void forget_operators(struct trace *t)
{
	for (size_t i = 0; i < t->n_launches; i++) {
		t->launches[i].op = NULL;
		t->launches[i].link = TRACE_LINK_NONE;
	}
}

static void laid_lower(struct laid *x)
{
	CHECK_OK(lower_trace(&x->b.t, x->r, x->b.a, &x->s, &x->st, &x->b.e), x->b.e);
	CHECK_OK(lower_check(&x->s, &x->b.e), x->b.e);
}

static void laid_over(struct laid *x, uint64_t batch, uint64_t context)
{
	const struct align_how how = { .batch = batch, .context = context };

	CHECK_OK(align_trace(&x->b.t, x->m, &how, x->r, x->b.a, &x->rep, &x->b.e), x->b.e);
}

static void laid_close(struct laid *x)
{
	model_free(x->m);
	rules_free(x->r);
	bed_close(&x->b);
}

static uint64_t bytes_of(const struct op_stream *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct work w = work_of(s, &s->ops[i]);

		n += w.read_bytes + w.write_bytes;
	}
	return n;
}

/* By place among the trace's launches. */
static const struct op **op_of_launch(const struct laid *x)
{
	const struct op **v = arena_array(x->b.a, x->b.t.n_launches, sizeof *v);

	CHECK(v);
	for (size_t i = 0; i < x->s.n_ops; i++)
		for (uint32_t j = 0; j < x->s.ops[i].n_launches; j++) {
			const struct op_launch *l = &x->s.launches[x->s.ops[i].first_launch + j];

			v[(size_t)(l->trace_id - x->b.t.launches[0].id)] = &x->s.ops[i];
		}
	return v;
}

static bool same_op(const struct op *a, const struct op *b)
{
	struct op_shape x = a->shape, y = b->shape;

	x.causal = y.causal; /* of one query it says nothing */
	x.apart = y.apart;
	x.strided = y.strided;
	return a->kind == b->kind && memcmp(&x, &y, sizeof x) == 0;
}

/* 98 of 100 launches to the right op, and all bytes but one in a thousand. */
static void check_twins(const struct laid *eager, const struct laid *graph)
{
	const struct op **a = op_of_launch(eager), **b = op_of_launch(graph);
	const size_t n = eager->b.t.n_launches;
	const uint64_t x = bytes_of(&eager->s), y = bytes_of(&graph->s);
	size_t right = 0;

	CHECK_U64(n, graph->b.t.n_launches);
	for (size_t i = 0; i < n; i++)
		right += a[i] && b[i] && same_op(a[i], b[i]);
	if (right * 100 < n * 98)
		test_fail(__FILE__, __LINE__, "%zu of %zu launches come to the right op", right, n);
	CHECK_U64(eager->s.n_ops, graph->s.n_ops);
	CHECK_U64(graph->s.opaque_ns, 0);
	if ((x > y ? x - y : y - x) * 1000 > x)
		test_fail(__FILE__, __LINE__, "%llu bytes for %llu", (unsigned long long)y, (unsigned long long)x);
}

/* --- graphs beside their eager steps ------------------------------------------------------------------------------ */

TEST(a_graph_comes_to_the_ops_of_its_eager_step)
{
	struct laid eager, graph;

	laid_load(&eager, HERE "llama1b_b16_c512_eager.json.gz", NULL, NULL);
	laid_lower(&eager);
	laid_load(&graph, HERE "llama1b_b16_c512_graph.json.gz", NULL, "llama-3.2-1b");
	CHECK_U64(align_wanted(&eager.b.t), 0);
	CHECK_U64(align_wanted(&graph.b.t), 1000);
	laid_over(&graph, 0, 512);
	CHECK(align_enough(&graph.rep));
	CHECK_U64(graph.rep.aligned, 438);
	CHECK_U64(graph.rep.batch, 16);
	CHECK_U64(graph.rep.batch_known, ALIGN_BY_GRID);
	CHECK_U64(graph.rep.keys, 512);
	CHECK_U64(graph.rep.keys_known, ALIGN_TOLD);
	CHECK_U64(graph.rep.steps, 1);
	CHECK_U64(graph.rep.empty_places, 0);
	laid_lower(&graph);
	check_twins(&eager, &graph);
	laid_close(&eager);
	laid_close(&graph);
}

/* Stock code: norms written out, a mask, a cache repeated for each query's head; all else is in the grids. */
TEST(stock_code_tells_its_sequences_and_its_cache_by_its_grids)
{
	struct laid eager, graph;

	laid_load(&eager, HERE "gemma2-2b_4layers_b8_eager.json.gz", NULL, NULL);
	laid_lower(&eager);
	laid_load(&graph, HERE "gemma2-2b_4layers_b8_graph.json.gz", NULL, "gemma-2-2b");
	graph.m->layers = 4;
	laid_over(&graph, 0, 0);
	CHECK(align_enough(&graph.rep));
	CHECK_U64(graph.rep.batch, 8);
	CHECK_U64(graph.rep.keys, 576);
	CHECK_U64(graph.rep.keys_known, ALIGN_BY_GRID);
	laid_lower(&graph);
	check_twins(&eager, &graph);
	laid_close(&eager);
	laid_close(&graph);
}

/* Eager steps whose operators are taken away: caches that grow by concatenation, biases, norms of heads, joined products. */
static void check_step(const char *file, const char *model, uint64_t batch, uint64_t keys, uint64_t told)
{
	struct laid eager, graph;

	laid_load(&eager, file, "decode_step_1", NULL);
	laid_lower(&eager);
	laid_load(&graph, file, "decode_step_1", model);
	forget_operators(&graph.b.t);
	laid_over(&graph, 0, told);
	CHECK(align_enough(&graph.rep));
	CHECK_U64(graph.rep.batch, batch);
	CHECK_U64(graph.rep.keys, keys);
	laid_lower(&graph);
	check_twins(&eager, &graph);
	laid_close(&eager);
	laid_close(&graph);
}

TEST(steps_without_their_operators_come_to_themselves)
{
	check_step(STEPS "qwen3_4b_b1_c4096.json.gz", "qwen3-4b", 1, 4097, 0);
	check_step(STEPS "qwen05b_b1_c2048.json.gz", "qwen2-0.5b", 1, 2049, 0);
	check_step(STEPS "qwen7b_b2_c768.json.gz", "qwen2-7b", 2, 769, 0);
	check_step(STEPS "mistral7b_b1_c1024.json.gz", "mistral-7b-v0.3", 1, 1025, 0);
	check_step(STEPS "llama8b_b16_c512.json.gz", "llama-3.1-8b", 16, 513, 512); /* a grid that is capped */
}

/* Mixtures: four layers of stock code, recorded twice on an H200 (a static cache). */
static void check_mixture(const char *name, const char *model, uint64_t batch, uint64_t launches)
{
	struct laid eager, graph;
	char file[128];

	snprintf(file, sizeof file, HERE "%s_eager.json.gz", name);
	laid_load(&eager, file, "step_1", NULL);
	eager.b.t.n_launches = launches; /* behind them the host may read a result */
	laid_lower(&eager);
	snprintf(file, sizeof file, HERE "%s_graph.json.gz", name);
	laid_load(&graph, file, NULL, model);
	graph.m->layers = 4;
	CHECK_U64(align_wanted(&graph.b.t), 1000);
	laid_over(&graph, 0, 0);
	CHECK(align_enough(&graph.rep));
	CHECK_U64(graph.rep.aligned, launches);
	CHECK_U64(graph.rep.launches, launches);
	CHECK_U64(graph.rep.batch, batch);
	CHECK_U64(graph.rep.keys, 1024);
	CHECK_U64(graph.rep.empty_places, 0);
	laid_lower(&graph);
	CHECK_U64(graph.st.inferred_groups, eager.st.inferred_groups);
	check_twins(&eager, &graph);
	laid_close(&eager);
	laid_close(&graph);
}

TEST(a_mixtures_graph_comes_to_the_ops_of_its_eager_step)
{
	check_mixture("olmoe_4layers_b8", "olmoe-1b-7b", 8, 404);
	check_mixture("qwen3moe_4layers_b1", "qwen3-30b-a3b", 1, 431);
}

/* Code that cannot be captured: a window's cache that rolls, sinks, biases of experts, gate and up in turn. */
TEST(a_mixture_without_its_operators_comes_to_itself)
{
	struct laid eager, graph;

	laid_load(&eager, HERE "gpt_oss_4layers_b4_eager.json.gz", "step_1", NULL);
	laid_lower(&eager);
	laid_load(&graph, HERE "gpt_oss_4layers_b4_eager.json.gz", "step_1", "gpt-oss-20b");
	graph.m->layers = 4;
	forget_operators(&graph.b.t);
	laid_over(&graph, 0, 0);
	CHECK(align_enough(&graph.rep));
	CHECK_U64(graph.rep.aligned, graph.rep.launches);
	CHECK_U64(graph.rep.batch, 4);
	CHECK_U64(graph.rep.keys, 1024);
	CHECK_HAS(graph.rep.form, "attention written out");
	laid_lower(&graph);
	check_twins(&eager, &graph);
	laid_close(&eager);
	laid_close(&graph);
}

/* --- what is refused ---------------------------------------------------------------------------------------------- */

static void check_no_fit(struct laid *x, const char *model, uint64_t batch)
{
	const struct align_how how = { .batch = batch, .context = 512 };
	struct trace mine = x->b.t;
	struct err e = ERR_INIT;
	struct model *m = model_load(model, &e);

	CHECK_OK(m ? 0 : -1, e);
	mine.launches = arena_array(x->b.a, mine.n_launches, sizeof *mine.launches);
	CHECK(mine.launches);
	memcpy(mine.launches, x->b.t.launches, mine.n_launches * sizeof *mine.launches);
	if (align_trace(&mine, m, &how, x->r, x->b.a, &x->rep, &e) == 0 && align_enough(&x->rep))
		test_fail(__FILE__, __LINE__, "%s, %llu sequences, fits", model, (unsigned long long)batch);
	model_free(m);
}

TEST(another_model_and_another_batch_do_not_fit)
{
	struct laid x;

	laid_load(&x, HERE "llama1b_b16_c512_graph.json.gz", NULL, NULL);
	check_no_fit(&x, "qwen2-0.5b", 16);
	check_no_fit(&x, "llama-3.2-3b", 16);
	check_no_fit(&x, "llama-3.1-8b", 0);
	check_no_fit(&x, "phi-3.5-mini", 16); /* its places are as many as two such steps have */
	check_no_fit(&x, "llama-3.2-1b", 8);
	CHECK(x.rep.n_miss > 0);
	CHECK(x.rep.miss[0].count > 0);
	laid_close(&x);
}

/* Equal but for the vocabulary: the kernels behind the head tell. */
TEST(a_vocabulary_of_another_size_does_not_fit)
{
	struct laid x;

	laid_load(&x, STEPS "llama8b_b1_c2048.json.gz", "decode_step_1", NULL);
	forget_operators(&x.b.t);
	check_no_fit(&x, "mistral-7b-v0.3", 0);
	CHECK(x.rep.logits_differ > 0);
	laid_close(&x);
}

TEST(the_model_that_ran_is_proposed)
{
	struct align_fit fits[ALIGN_FITS];
	struct laid x;
	uint32_t n;

	laid_load(&x, HERE "llama1b_b16_c512_graph.json.gz", NULL, NULL);
	CHECK_OK(align_propose(&path_source, &x.b.t, x.r, fits, &n, &x.b.e), x.b.e);
	CHECK_U64(n, 1);
	CHECK_STR(fits[0].model, "llama-3.2-1b");
	CHECK_U64(fits[0].batch, 16);
	CHECK_U64(fits[0].keys, 0);
	laid_close(&x);
	laid_load(&x, STEPS "qwen7b_b2_c768.json.gz", "decode_step_1", NULL);
	forget_operators(&x.b.t);
	CHECK_OK(align_propose(&path_source, &x.b.t, x.r, fits, &n, &x.b.e), x.b.e);
	CHECK_U64(n, 2); /* of one architecture and equal widths */
	CHECK_STR(fits[0].model, "qwen2-7b");
	CHECK_STR(fits[1].model, "qwen2.5-7b");
	CHECK_U64(fits[0].keys, 769);
	laid_close(&x);
}

static void check_error(struct laid *x, const char *model, struct align_how how, const char *part)
{
	struct err e = ERR_INIT;
	struct model *m = model_load(model, &e);

	CHECK_OK(m ? 0 : -1, e);
	CHECK(align_trace(&x->b.t, m, &how, x->r, x->b.a, &x->rep, &e) < 0);
	CHECK_HAS(e.msg, part);
	model_free(m);
}

TEST(what_cannot_be_tried_says_why)
{
	struct laid x;

	laid_load(&x, HERE "llama1b_b16_c512_graph.json.gz", NULL, NULL);
	check_error(&x, "llama-3.2-1b", (struct align_how){ .batch = 16 }, "--context");
	CHECK(x.rep.keys_open);
	check_error(&x, "gemma-4-26b-a4b", (struct align_how){ .context = 512 }, "beside its picked experts");
	check_error(&x, "deepseek-v3.2", (struct align_how){ .context = 512 }, "latent attention");
	check_error(&x, "llama-3.2-1b", (struct align_how){ .batch = 1 << 20, .context = 1 }, "at the most");
	check_error(&x, "llama-3.2-1b", (struct align_how){ .batch = 65536, .context = 1 << 24 }, "more than a step");
	x.b.t.n_launches = 2;
	check_error(&x, "llama-3.2-1b", (struct align_how){ .batch = 16, .context = 512 }, "product or attention");
	x.b.t.n_launches = 0;
	check_error(&x, "llama-3.2-1b", (struct align_how){ .batch = 16, .context = 512 }, "product or attention");
	laid_close(&x);
}

/* Grids and names of a foreign file may be anything. */
static void any_grid(const char *file, const char *model)
{
	static const uint32_t grids[] = { 0, 1, 4224, UINT32_MAX };
	const struct align_how how = { .batch = 16, .context = 512 };
	struct laid x;

	laid_load(&x, file, NULL, model);
	for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
		forget_operators(&x.b.t);
		for (size_t i = 0; i < x.b.t.n_launches; i++)
			for (int d = 0; d < 3; d++)
				x.b.t.launches[i].grid[d] = x.b.t.launches[i].block[d] = grids[g];
		if (align_trace(&x.b.t, x.m, &how, x.r, x.b.a, &x.rep, &x.b.e) == 0)
			laid_lower(&x);
		else
			CHECK_U64(x.b.e.kind, ERR_USAGE); /* more keys than a step may have */
		x.b.e = (struct err)ERR_INIT;
	}
	laid_close(&x);
}

TEST(kernels_of_any_grid_are_laid_or_missed)
{
	any_grid(HERE "llama1b_b16_c512_graph.json.gz", "llama-3.2-1b");
	any_grid(HERE "olmoe_4layers_b8_graph.json.gz", "olmoe-1b-7b");
	any_grid(HERE "olmoe_4layers_b8_graph.json.gz", "mixtral-8x7b");
	any_grid(HERE "olmoe_4layers_b8_graph.json.gz", "gpt-oss-120b");
}

static const char *number_of(struct align_report r, struct str *s)
{
	str_clear(s);
	align_number_text(&r, s);
	return str_c(s);
}

TEST(what_is_said_of_a_number_says_how_it_is_known)
{
	struct str s = STR_INIT;

	CHECK_STR(number_of(
			  (struct align_report){
				  .batch = 1, .keys = 512, .batch_known = ALIGN_TOLD, .keys_known = ALIGN_TOLD },
			  &s),
	          "1 sequence, 512 keys as told");
	CHECK_STR(number_of((struct align_report){ .batch = 16,
	                                           .keys = 512,
	                                           .batch_known = ALIGN_BY_GRID,
	                                           .keys_known = ALIGN_BY_TIME,
	                                           .keys_low = 256,
	                                           .keys_high = 1024 },
	                    &s),
	          "16 sequences by their grids, 512 keys by attention's time (256 to 1024)");
	CHECK_STR(number_of((struct align_report){ .batch = 2,
	                                           .keys = 64,
	                                           .batch_known = ALIGN_TOLD,
	                                           .keys_known = ALIGN_BY_GRID,
	                                           .keys_low = 64,
	                                           .keys_high = 64 },
	                    &s),
	          "2 sequences, 64 keys by their grids");
	str_free(&s);
}

TEST(memory_that_runs_out_is_an_error)
{
	struct laid x;
	bool whole = false;

	laid_load(&x, HERE "llama1b_b16_c512_graph.json.gz", NULL, "llama-3.2-1b");
	for (size_t most = 1024; !whole && most < (size_t)1 << 26; most += most / 2) {
		const struct align_how how = { .context = 512 };
		struct arena *a = arena_new(most);
		struct err e = ERR_INIT;

		forget_operators(&x.b.t);
		whole = align_trace(&x.b.t, x.m, &how, x.r, a, &x.rep, &e) == 0;
		CHECK(whole || e.kind == ERR_NOMEM);
		arena_free(a);
	}
	CHECK(whole);
	laid_close(&x);
}

/* --- engines ------------------------------------------------------------------------------------------------------ */

static void kernel(struct mk *m, const char *name, uint32_t x, uint32_t y, uint32_t z)
{
	struct trace_launch *l = mk_launch(m, name, NULL);

	l->grid[0] = x;
	l->grid[1] = y;
	l->grid[2] = z;
	l->block[0] = 128;
	l->block[1] = l->block[2] = 1;
}

/* A served step of 8 sequences of Llama-3.1-8B as vLLM launches it: joined products, a norm with its sum, rotary in place, a
 * cache of pages. */
static void served(struct mk *m)
{
	const char *const product = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT",
			  *const sums =
				  "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, int)";

	mk_open(m);
	kernel(m,
	       "void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::BFloat16, long, unsigned int, 2, 2, -2>()",
	       32, 1, 1);
	kernel(m, "void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, int, int)", 8, 1, 1);
	for (int i = 0; i < 32; i++) {
		kernel(m, product, 4, 24, 1); /* 96 tiles of 64 make 6144 */
		kernel(m, "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, int)", 8, 1, 1);
		kernel(m, "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(int)", 8, 1, 1);
		kernel(m,
		       "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128> >(flash::Flash_fwd_params)",
		       1, 4, 64);
		kernel(m, "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128> >()", 16, 1, 1);
		kernel(m, product, 4, 16, 1);
		kernel(m, sums, 8, 1, 1);
		kernel(m, product, 4, 112, 1); /* 28672 */
		kernel(m, "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel, true>(int)", 8, 1, 1);
		kernel(m, product, 4, 16, 1);
		kernel(m, sums, 8, 1, 1);
	}
	kernel(m, product, 4, 501, 1);
}

TEST(an_engines_kernels_stand_where_the_model_has_them)
{
	const struct align_how how = { .context = 1000 };
	struct align_report rep;
	struct lower_stats st;
	struct op_stream s;
	struct err e = ERR_INIT;
	struct rules *r = rules_load(NULL, &e);
	struct model *m = model_load("llama-3.1-8b", &e);
	uint64_t n[OP_KINDS] = { 0 };
	struct mk k;

	CHECK_OK(r && m ? 0 : -1, e);
	served(&k);
	CHECK_OK(align_trace(&k.t, m, &how, r, k.a, &rep, &e), e);
	CHECK(align_enough(&rep));
	CHECK_U64(rep.batch, 8);
	CHECK_U64(rep.aligned, k.t.n_launches);
	CHECK_HAS(rep.form, "q, k and v one product");
	CHECK_HAS(rep.form, "gate and up one product");
	CHECK_OK(lower_trace(&k.t, r, k.a, &s, &st, &e), e);
	CHECK_OK(lower_check(&s, &e), e);
	CHECK_U64(s.opaque_ns, 0);
	for (size_t i = 0; i < s.n_ops; i++)
		n[s.ops[i].kind]++;
	CHECK_U64(n[OP_GEMM], 4 * 32 + 1);
	CHECK_U64(n[OP_ATTENTION], 32);
	CHECK_U64(n[OP_NORM], 2 * 32 + 1);
	CHECK_U64(n[OP_ROPE], 32);
	CHECK_U64(n[OP_SCATTER], 32);
	CHECK_U64(n[OP_ELEMENTWISE], 32);
	for (size_t i = 0; i < s.n_ops; i++)
		if (s.ops[i].kind == OP_ATTENTION) {
			CHECK_U64(s.ops[i].shape.batch, 8);
			CHECK_U64(s.ops[i].shape.kv_heads, 8);
			CHECK_U64(s.ops[i].shape.kv_len, 1000);
			CHECK_U64(s.ops[i].n_launches, 2);
		}
	mk_close(&k);
	model_free(m);
	rules_free(r);
}

/* A served step of 8 sequences of Qwen3-30B-A3B: as SGLang launches it, its picks are sorted by one kernel, or by two as
 * vLLM has it. */
static void served_mixture(struct mk *m, bool vllm, const char *grouped)
{
	const char *const product = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT",
			  *const norm = "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*)",
			  *const sums =
				  "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*)";

	mk_open(m);
	kernel(m,
	       "void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::BFloat16, long, unsigned int, 2, 2, -2>()",
	       32, 1, 1);
	kernel(m, norm, 8, 1, 1);
	for (int i = 0; i < 48; i++) {
		kernel(m, product, 4, 20, 1); /* 80 tiles of 64 make 5120 */
		kernel(m, norm, 256, 1, 1);
		kernel(m, norm, 32, 1, 1);
		kernel(m, "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, int)", 8, 1, 1);
		kernel(m, "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(int)", 8, 1, 1);
		kernel(m,
		       "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128> >(flash::Flash_fwd_params)",
		       1, 4, 32);
		kernel(m, product, 4, 8, 1);
		kernel(m, sums, 8, 1, 1);
		kernel(m, "nvjet_sm90_tst_64x8_64x16_1x1_h_bz_TNT", 1, 2, 1); /* 128 experts */
		kernel(m, "void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, int>(float const*, bool const*)", 2, 1, 1);
		kernel(m,
		       vllm ? "void vllm::moe::moe_align_block_size_kernel<int>(int*)"
		            : "void moe_align_block_size_small_batch_expert_kernel<int, 256>(int const*)",
		       1, 1, 1);
		if (vllm)
			kernel(m, "void vllm::moe::count_and_sort_expert_tokens_kernel<int>(int*)", 1, 1, 1);
		kernel(m, grouped, 1536, 1, 1);
		kernel(m, "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel, true>(int)", 64, 1, 1);
		kernel(m, grouped, 2048, 1, 1);
		kernel(m,
		       vllm ? "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
		              "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, "
		              "c10::BFloat16> > > >(x)"
		            : "void moe_sum_reduce_warp_per_token_vec_kernel<8>(c10::BFloat16 const*)",
		       32, 1, 1);
		kernel(m, sums, 8, 1, 1);
	}
	kernel(m, product, 4, 594, 1);
}

static void check_served(bool vllm, const char *grouped, uint64_t bits)
{
	const struct align_how how = { .context = 1000 };
	struct align_report rep;
	struct lower_stats st;
	struct op_stream s;
	struct err e = ERR_INIT;
	struct rules *r = rules_load(NULL, &e);
	struct model *m = model_load("qwen3-30b-a3b", &e);
	uint64_t n[OP_KINDS] = { 0 }, groups = 0, routed = 0;
	struct mk k;

	CHECK_OK(r && m ? 0 : -1, e);
	served_mixture(&k, vllm, grouped);
	CHECK_OK(align_trace(&k.t, m, &how, r, k.a, &rep, &e), e);
	if (!align_enough(&rep) || rep.n_miss)
		test_fail(__FILE__, __LINE__, "%s: %s", rep.miss[0].name, rep.miss[0].why);
	CHECK_U64(rep.batch, 8);
	CHECK_U64(rep.aligned, k.t.n_launches);
	CHECK_OK(lower_trace(&k.t, r, k.a, &s, &st, &e), e);
	CHECK_OK(lower_check(&s, &e), e);
	CHECK_U64(s.opaque_ns, 0);
	for (size_t i = 0; i < s.n_ops; i++) {
		const struct op *o = &s.ops[i];

		n[o->kind]++;
		if (strcmp(o->family, "moe_gemm") != 0)
			continue;
		groups++;
		routed += o->routed_by >= 0;
		/* Eight tokens that pick eight of 128 hit 128 x (1 - (120/128)^8) of them: 52. */
		CHECK_U64(o->shape.batch, 52);
		CHECK_U64(o->shape.k, groups % 2 ? 2048 : 768);
		CHECK_U64(o->shape.n, groups % 2 ? 1536 : 2048);
		CHECK_U64(work_of(&s, o).role_read_bytes[OP_WEIGHT], 52 * o->shape.n * o->shape.k * bits / 8);
	}
	CHECK_U64(groups, 96);
	CHECK_U64(routed, 96);
	CHECK_U64(n[OP_GEMM], 96 + 3 * 48 + 1);
	CHECK_U64(n[OP_TOPK], 48);
	CHECK_U64(n[OP_SORT], vllm ? 96 : 48);
	CHECK_U64(n[OP_REDUCE], 48);
	CHECK_U64(n[OP_ELEMENTWISE], 48);
	mk_close(&k);
	model_free(m);
	rules_free(r);
}

TEST(an_engines_experts_have_the_models_rows)
{
	check_served(true, "fused_moe_kernel", 16);
	check_served(false, "fused_moe_kernel", 16);
	check_served(false, "fused_moe_kernel_gptq_awq", 4);
	check_served(true, "void marlin_moe_wna16::Marlin<__nv_bfloat16, 1125899906843648l, 256, 1, 8, 8>(x)", 4);
}

/* llama.cpp with weights of four bits: activations are quantised before products, and a cache is written row by row. */
static void of_ggml(struct mk *m)
{
	const char *const quantise = "quantize_q8_1(float const*, void*, long)",
			  *const product = "void mul_mat_vec_q<(ggml_type)12, 1, false>(void const*, void const*)",
			  *const norm = "void rms_norm_f32<1024, true, false>(float const*, float*, int)",
			  *const add = "void k_bin_bcast<&(op_add(float, float)), float, float, float>(float const*)";

	mk_open(m);
	kernel(m, "void k_get_rows<256, 2>(void const*, int const*)", 8, 1, 1);
	for (int i = 0; i < 16; i++) {
		kernel(m, norm, 1, 1, 1);
		for (int n = 0; n < 3; n++) {
			kernel(m, quantise, 8, 1, 1);
			kernel(m, product, n ? 512 : 2048, 1, 1);
		}
		kernel(m, "void rope_norm<true, false, float>(float const*, float*)", 32, 1, 1);
		kernel(m, "void k_set_rows<float, long, __half>(float const*)", 2, 1, 1);
		kernel(m, "void k_set_rows<float, long, __half>(float const*)", 2, 1, 1);
		kernel(m, "void flash_attn_ext_vec<64, 1, (ggml_type)1, (ggml_type)1>(char const*)", 1, 8, 32);
		kernel(m, "void flash_attn_combine_results<64>(float const*)", 1, 32, 1);
		kernel(m, quantise, 8, 1, 1);
		kernel(m, product, 2048, 1, 1);
		kernel(m, add, 8, 1, 1);
		kernel(m, norm, 1, 1, 1);
		kernel(m, quantise, 8, 1, 1);
		kernel(m, product, 8192, 1, 1);
		kernel(m, product, 8192, 1, 1);
		kernel(m, "void unary_gated_op_kernel<&(op_silu(float)), float>(float const*)", 32, 1, 1);
		kernel(m, quantise, 32, 1, 1);
		kernel(m, product, 2048, 1, 1);
		kernel(m, add, 8, 1, 1);
	}
	kernel(m, norm, 1, 1, 1);
	kernel(m, quantise, 8, 1, 1);
	kernel(m, product, 128256, 1, 1);
}

TEST(weights_of_four_bits_are_read_as_such)
{
	const struct align_how how = { .context = 300 };
	struct align_report rep;
	struct lower_stats st;
	struct op_stream s;
	struct err e = ERR_INIT;
	struct rules *r = rules_load(NULL, &e);
	struct model *m = model_load("llama-3.2-1b", &e);
	uint64_t weights = 0, products = 0;
	struct mk k;

	CHECK_OK(r && m ? 0 : -1, e);
	of_ggml(&k);
	CHECK_OK(align_trace(&k.t, m, &how, r, k.a, &rep, &e), e);
	if (!align_enough(&rep))
		test_fail(__FILE__, __LINE__, "%s: %s", rep.miss[0].name, rep.miss[0].why);
	CHECK_U64(rep.batch, 1);
	CHECK_U64(rep.keys, 300);
	CHECK_OK(lower_trace(&k.t, r, k.a, &s, &st, &e), e);
	CHECK_OK(lower_check(&s, &e), e);
	CHECK_U64(s.opaque_ns, 0);
	for (size_t i = 0; i < s.n_ops; i++)
		if (s.ops[i].kind == OP_GEMM) {
			weights += work_of(&s, &s.ops[i]).role_read_bytes[OP_WEIGHT];
			products++;
		}
	CHECK_U64(products, 7 * 16 + 1);
	/* a layer: 2048 x (2048 + 512 + 512 + 2048) + 3 x 2048 x 8192; the head; half a byte each */
	CHECK_U64(weights, (16 * (UINT64_C(2048) * 5120 + 3 * UINT64_C(2048) * 8192) + UINT64_C(2048) * 128256) / 2);
	mk_close(&k);
	model_free(m);
	rules_free(r);
}

SUITE(t_align, T(a_mixtures_graph_comes_to_the_ops_of_its_eager_step),
      T(a_mixture_without_its_operators_comes_to_itself), T(an_engines_experts_have_the_models_rows),
      T(a_graph_comes_to_the_ops_of_its_eager_step), T(stock_code_tells_its_sequences_and_its_cache_by_its_grids),
      SLOW(steps_without_their_operators_come_to_themselves), T(another_model_and_another_batch_do_not_fit),
      T(a_vocabulary_of_another_size_does_not_fit), SLOW(the_model_that_ran_is_proposed),
      T(what_cannot_be_tried_says_why), T(kernels_of_any_grid_are_laid_or_missed),
      T(what_is_said_of_a_number_says_how_it_is_known), T(memory_that_runs_out_is_an_error),
      T(an_engines_kernels_stand_where_the_model_has_them), T(weights_of_four_bits_are_read_as_such));
