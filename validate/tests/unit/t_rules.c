/* t_rules.c - the rule table: what its errors say, which rule meets which kernel, families of a real trace. */
#include "workloads/rules.h"

#include "sim/base/hash.h"
#include "traces/read/format.h"
#include "validate/tests/mktrace.h"
#include "validate/tests/streambed.h"
#include "validate/tests/tracebed.h"

#define DSOCR "traces/h200/kineto_dsocr_b1_c1024.json.gz"

static struct rules *table(const char *text)
{
	struct err e = ERR_INIT;
	struct rules *r = rules_parse(text, strlen(text), "t.yaml", &e);

	CHECK_OK(r ? 0 : -1, e);
	return r;
}

static void refused(const char *text, int line, const char *part)
{
	struct err e = ERR_INIT;
	struct rules *r = rules_parse(text, strlen(text), "t.yaml", &e);

	if (r)
		test_fail(__FILE__, __LINE__, "\"%s\" was taken", text);
	CHECK_HAS(e.msg, part);
	CHECK(e.kind == ERR_CONFIG);
	CHECK_U64(e.line, line);
}

TEST(faults_are_placed_and_name_the_nearest_word)
{
	refused("rules:\n- {name: a, kind: gemm, family: f, kernl: x}\n", 2, "'kernel'");
	refused("rules:\n- {name: a, kind: gem, family: f, kernel: x}\n", 2, "'gemm'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, shape: produkt}\n", 2, "'product'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, cost: alus}\n", 2, "'alu'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, reduce: men}\n", 2, "'mean'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, algorithm: splitkv}\n", 2, "'split_kv'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, dtype: tf33}\n", 2, "'tf32'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, when: {blockin: yes}}\n", 2, "'blocking'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, when: {dir: dtoo}}\n", 2, "'dtoh'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, when: yes}\n", 2, "'when'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, part: perhaps}\n", 2, "perhaps");
	refused("rules:\n\n- {name: a, kind: gemm, family: f, kernel: '(x'}\n", 3, "not a regular expression");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: ''}\n"
	        "- {name: b, kind: gemm, family: f, op: x, fn: ''}\n",
	        3, "empty");
	refused("rules:\n- {name: a, kind: gemm, family: f}\n", 2, "neither 'kernel' nor 'op'");
	refused("rules:\n- {kind: gemm, family: f, kernel: x}\n", 2, "without 'name'");
	refused("rules:\n- {name: a, family: f, kernel: x}\n", 2, "without 'kind'");
	refused("rules:\n- {name: a, kind: gemm, kernel: x}\n", 2, "without 'family'");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x}\n"
	        "- {name: a, kind: gemm, family: f, kernel: y}\n",
	        3, "twice");
	refused("rules:\n- {name: a, kind: gemm, family: f, kernel: x, cluster_from_name: '([0-9])'}\n", 2,
	        "two groups");
	refused("rules:\n- x\n", 2, "mapping");
	refused("rules: x\n", 1, "list");
	refused("rulez: []\n", 1, "'rules'");
	refused("{}\n", 1, "'rules' must be a list");
}

TEST(a_long_expression_is_an_error_and_not_a_long_compile)
{
	char text[2000], *p = text;

	p += sprintf(p, "rules:\n- {name: a, kind: gemm, family: f, kernel: '");
	for (int i = 0; i < 1100; i++)
		*p++ = 'a';
	sprintf(p, "'}\n");
	refused(text, 2, "more than 1024");
}

TEST(rows_are_tried_in_order_and_what_they_say_is_kept)
{
	struct rules *r = table("rules:\n"
	                        "- {name: one, kernel: '^foo', kind: reduce, reduce: max, family: f1, fn: max,\n"
	                        "   shape: reduce, temporary: yes,\n"
	                        "   friendly: Foo, library: Lib}\n"
	                        "- {name: two, kernel: 'o+ba{2}r|quux', kind: attention, algorithm: mla, family: f2,\n"
	                        "   part: yes, joins_previous: yes}\n"
	                        "- {name: three, op: '^aten::x$', kind: topk, family: f3, routes: yes, syncs: yes,\n"
	                        "   opens_routed: yes,\n"
	                        "   closes_routed: yes, cost: sfu, dtype: tf32}\n");
	const struct rule *u;
	struct mk m;

	mk_open(&m);
	CHECK_U64(rules_count(r), 3);
	u = rules_match(r, mk_launch(&m, "foobaar", NULL));
	CHECK_STR(u->name, "one");
	CHECK_STR(u->friendly, "Foo");
	CHECK_STR(u->library, "Lib");
	CHECK(u->kind == OP_REDUCE && u->reduce == OP_RED_MAX && u->temporary && !u->part && u->reader >= 0);
	CHECK_STR(u->shape, "reduce");
	u = rules_match(r, mk_launch(&m, "a foobaar", NULL));
	CHECK_STR(u->name, "two");
	CHECK_STR(u->friendly, "two");
	CHECK_STR(u->library, "other");
	CHECK(u->algorithm == OP_ATTN_MLA && u->part && u->joins_previous && !u->shape && u->reader == -1);
	CHECK(!rules_match(r, mk_launch(&m, "a foobar", NULL)));
	CHECK_STR(rules_match(r, mk_launch(&m, "aquuxa", NULL))->name, "two");
	CHECK(!rules_match(r, mk_launch(&m, "other", NULL)));
	CHECK(!rules_match(r, mk_kernel(&m, "other", "aten::xx", "")));
	u = rules_match(r, mk_kernel(&m, "other", "aten::x", ""));
	CHECK_STR(u->name, "three");
	CHECK(u->routes && u->syncs && u->opens_routed && u->closes_routed && u->cost == OP_COST_SFU &&
	      u->math == DT_TF32);
	CHECK_STR(rules_at(r, 2)->name, "three");
	mk_close(&m);
	rules_free(r);
}

TEST(expressions_with_counts_groups_and_brackets_find_what_they_should)
{
	static const struct {
		const char *re, *yes, *no;
	} rows[] = {
		{ "x{100}y|abc", "zabcz", "100" },  { "(one|two)three", "twothree", "onetwo" },
		{ "[abc]{3}", "cab", "ca" },        { "a\\.b\\(c", "xa.b(c", "axb(c" },
		{ "colou?rs", "colors", "colous" }, { "ab*cde", "acde", "abde" },
		{ "[]a]bcd", "]bcd", "xbcd" },      { "([])(]xyz)w", ")xyzw", "xyzw" },
		{ "abcd+", "xabcddd", "abc" },      { "abc|de", "xdex", "abd" },
		{ "^abc$", "abc", "abcd" },
	};
	struct err e = ERR_INIT;
	char text[256];
	struct mk m;

	mk_open(&m);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rules *r;

		snprintf(text, sizeof text, "rules:\n- {name: a, kind: gemm, family: f, kernel: '%s'}\n", rows[i].re);
		r = rules_parse(text, strlen(text), "t.yaml", &e);
		CHECK_OK(r ? 0 : -1, e);
		if (!rules_match(r, mk_launch(&m, rows[i].yes, NULL)))
			test_fail(__FILE__, __LINE__, "'%s' does not match '%s'", rows[i].re, rows[i].yes);
		if (rules_match(r, mk_launch(&m, rows[i].no, NULL)))
			test_fail(__FILE__, __LINE__, "'%s' matches '%s'", rows[i].re, rows[i].no);
		rules_free(r);
	}
	mk_close(&m);
}

TEST(conditions_are_looked_at_every_time)
{
	struct rules *r = table("rules:\n"
	                        "- {name: sync, kernel: ., kind: host_sync, family: f,\n"
	                        "   when: {activity: memcpy, dir: dtoh, blocking: yes}}\n"
	                        "- {name: set, kernel: ., kind: copy, family: f, when: {activity: memset}}\n"
	                        "- {name: cast, kernel: copy, kind: convert, family: f, when: {converts: yes}}\n"
	                        "- {name: half, kernel: copy, kind: copy, family: f, when: {dtype: fp16}}\n"
	                        "- {name: copy, kernel: copy, kind: copy, family: f}\n");
	struct mk m;

	mk_open(&m);
	for (int i = 0; i < 2; i++) {
		CHECK_STR(rules_match(r, mk_copy(&m, TRACE_COPY_DTOH, 4, true, NULL))->name, "sync");
		CHECK(!rules_match(r, mk_copy(&m, TRACE_COPY_DTOH, 4, false, NULL)));
		CHECK_STR(rules_match(r, mk_set(&m, 4, NULL))->name, "set");
		CHECK_STR(rules_match(r, mk_kernel(&m, "copy", "aten::copy_", "f32[4] bf16[4]"))->name, "cast");
		CHECK_STR(rules_match(r, mk_kernel(&m, "copy", "aten::copy_", "f16[4] f16[4]"))->name, "half");
		CHECK_STR(rules_match(r, mk_kernel(&m, "copy", "aten::copy_", "f32[4] f32[4]"))->name, "copy");
		CHECK_STR(rules_match(r, mk_launch(&m, "copy", NULL))->name, "copy");
	}
	mk_close(&m);
	rules_free(r);
}

TEST(names_that_differ_only_in_the_middle_are_told_apart)
{
	struct rules *r = table("rules:\n- {name: a, kernel: 'xAx', kind: gemm, family: f}\n"
	                        "- {name: b, kernel: 'xBx', kind: gemm, family: f}\n");
	char one[301], two[301];
	struct mk m;

	mk_open(&m);
	memset(one, '.', 300);
	one[300] = '\0';
	memcpy(two, one, sizeof two);
	memcpy(one + 157, "xAx", 3);
	memcpy(two + 157, "xBx", 3);
	for (int i = 0; i < 3; i++) {
		CHECK_STR(rules_match(r, mk_launch(&m, one, NULL))->name, "a");
		CHECK_STR(rules_match(r, mk_launch(&m, two, NULL))->name, "b");
	}
	one[158] = 'B'; /* the same memory, another name */
	CHECK_STR(rules_match(r, mk_launch(&m, one, NULL))->name, "b");
	mk_close(&m);
	rules_free(r);
}

TEST(a_table_of_ones_own_stands_before_its_base)
{
	struct err e = ERR_INIT;
	char path[600];
	struct rules *mine, *base = stream_rules();
	struct mk m;
	FILE *f;

	test_path(path, sizeof path, "mine.yaml");
	CHECK((f = fopen(path, "w")) != NULL);
	fprintf(f, "base: pytorch-cuda\nrules:\n- {name: nvjet, kernel: '^nvjet_', kind: gemm, family: mine}\n");
	fclose(f);
	mine = rules_load(path, &e);
	if (!mine && e.kind == ERR_CONFIG)
		test_skip("not run: the default table is not found from here (%s)", e.msg);
	CHECK_OK(mine ? 0 : -1, e);
	mk_open(&m);
	CHECK_STR(rules_match(mine, mk_launch(&m, "nvjet_sm90", NULL))->family, "mine");
	CHECK_STR(rules_match(mine, mk_launch(&m, "sm80_xmma_gemm_f16", NULL))->family, "gemm");
	CHECK_U64(rules_count(mine), rules_count(base) + 1);
	CHECK(rules_hash(mine) != rules_hash(base));
	mk_close(&m);
	rules_free(mine);
	rules_free(base);
	rules_free(NULL);
}

TEST(a_table_that_is_its_own_base_is_refused)
{
	struct err e = ERR_INIT;
	char path[600];
	FILE *f;

	test_path(path, sizeof path, "loop.yaml");
	CHECK((f = fopen(path, "w")) != NULL);
	fprintf(f, "base: loop\n");
	fclose(f);
	CHECK(!rules_load(path, &e));
	CHECK_HAS(e.msg, "deep");
	err_clear(&e);
	test_path(path, sizeof path, "lost.yaml");
	CHECK((f = fopen(path, "w")) != NULL);
	fprintf(f, "base: no-such-table\n");
	fclose(f);
	CHECK(!rules_load(path, &e));
	CHECK_HAS(e.msg, "no-such-table");
	err_clear(&e);
	CHECK(!rules_load("/no/such/file.yaml", &e));
	CHECK(e.kind == ERR_IO);
}

TEST(the_hash_follows_the_text)
{
	struct rules *a = table("rules:\n- {name: a, kernel: x, kind: gemm, family: f}\n");
	struct rules *b = table("rules:\n\n- {name: a,   kernel: x, kind: gemm, family: f}\n");
	struct rules *c = table("rules:\n- {name: a, kernel: y, kind: gemm, family: f}\n");

	CHECK(rules_hash(a) == rules_hash(b));
	CHECK(rules_hash(a) != rules_hash(c));
	rules_free(a);
	rules_free(b);
	rules_free(c);
}

TEST(kernels_that_users_meet_find_their_family)
{
	static const struct {
		const char *kernel, *op, *args, *family;
		enum op_kind kind;
	} rows[] = {
		{ "nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN", "aten::mm", "bf16[1,64] bf16[64,8]", "gemv", OP_GEMM },
		{ "nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN", "aten::mm", "bf16[2,64] bf16[64,8]", "gemm", OP_GEMM },
		{ "nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN", NULL, "", "gemm", OP_GEMM },
		{ "void dot_kernel<float, 128, 0, cublasDotParams<x> >(x)", "aten::mm", "f32[1,64] f32[64,8]",
		  "router_dot", OP_GEMM },
		{ "void reduce_1Block_kernel<float, 128, 7>", "aten::mm", "f32[1,64] f32[64,8]", "router_dot",
		  OP_GEMM },
		{ "void cublasLt::splitKreduce_kernel<32, 16, int>", "aten::mm", "bf16[1,64] bf16[64,8]",
		  "splitk_reduce", OP_GEMM },
		{ "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16>", NULL, "", "gemv",
		  OP_GEMM },
		{ "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true>", "aten::mm", "f32[4,64] f32[64,8]", "gemm",
		  OP_GEMM },
		{ "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>", NULL,
		  "", "gemm", OP_GEMM },
		{ "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", NULL, "", "gemm", OP_GEMM },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x128x8_stage3", NULL, "", "gemm", OP_GEMM },
		{ "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x64", NULL, "", "gemm", OP_GEMM },
		{ "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256", "aten::mm", "bf16[1,64] bf16[64,8]",
		  "gemv", OP_GEMM },
		{ "volta_sgemm_64x64_nn", NULL, "", "gemm", OP_GEMM },
		{ "cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1", "aten::cudnn_convolution", "", "conv", OP_GEMM },
		{ "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35", NULL, "", "attention",
		  OP_ATTENTION },
		{ "void cudnn::fusion::lean_reduction_kernel<false, false, false>(void*)", NULL, "",
		  "attention_combine", OP_ATTENTION },
		{ "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128> >", NULL, "", "attention",
		  OP_ATTENTION },
		{ "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128> >", NULL, "",
		  "attention_combine", OP_ATTENTION },
		{ "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64> >", NULL, "",
		  "attention", OP_ATTENTION },
		{ "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(x)", NULL, "", "attention", OP_ATTENTION },
		{ "void vllm::paged_attention_v2_kernel<c10::BFloat16, 128>", NULL, "", "attention", OP_ATTENTION },
		{ "void vllm::paged_attention_v2_reduce_kernel<c10::BFloat16>", NULL, "", "attention_combine",
		  OP_ATTENTION },
		{ "kernel_unified_attention_2d", NULL, "", "attention", OP_ATTENTION },
		{ "void vllm::reshape_and_cache_flash_kernel<x>", NULL, "", "kv_write", OP_SCATTER },
		{ "void vllm::rotary_embedding_kernel<c10::BFloat16, true>", NULL, "", "rope", OP_ROPE },
		{ "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<x> >", NULL, "", "elementwise",
		  OP_ELEMENTWISE },
		{ "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>", NULL, "", "norm", OP_NORM },
		{ "void vllm::rms_norm_kernel<c10::BFloat16>", NULL, "", "norm", OP_NORM },
		{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", NULL, "", "collective", OP_COLLECTIVE },
		{ "ncclDevKernel_AllGather_RING_LL(x)", NULL, "", "collective", OP_COLLECTIVE },
		{ "triton_poi_fused_add_0", NULL, "", "fused_elementwise", OP_ELEMENTWISE },
		{ "triton_red_fused_mean_0", NULL, "", "fused_reduce", OP_ELEMENTWISE },
		{ "void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>(float*)",
		  NULL, "", "softmax", OP_SOFTMAX },
		{ "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>", NULL, "", "softmax",
		  OP_SOFTMAX },
		{ "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>",
		  "aten::native_layer_norm", "", "norm", OP_NORM },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float> > >",
		  NULL, "", "reduce", OP_REDUCE },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ArgMaxOps<float> > >", NULL, "",
		  "argmax", OP_REDUCE },
		{ "void at::native::reduce_kernel<128, 4, func_wrapper_t<float, at::native::sum_functor<float> > >",
		  NULL, "", "reduce", OP_REDUCE },
		{ "void at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized<x>", NULL, "", "concat",
		  OP_CONCAT },
		{ "void at::native::index_elementwise_kernel<at::native::index_put_kernel_impl<x> >",
		  "aten::_index_put_impl_", "", "index_put", OP_SCATTER },
		{ "void at::native::_scatter_gather_elementwise_kernel<128, 8>", "aten::scatter_", "", "scatter",
		  OP_SCATTER },
		{ "void at::native::(anonymous namespace)::indexSelectSmallIndex<x>", "aten::index_select", "",
		  "embedding", OP_EMBED },
		{ "void at::native::vectorized_gather_kernel<16, long>", "aten::index", "", "gather", OP_GATHER },
		{ "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "", "topk", OP_TOPK },
		{ "void at::native::bitonicSortKVInPlace<-2>", "aten::sort", "", "sort", OP_SORT },
		{ "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<x>", "aten::sort", "", "sort", OP_SORT },
		{ "void at_cuda_detail::cub::DeviceScanKernel<x>", "aten::cumsum", "", "scan", OP_SCAN },
		{ "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(x)>", "aten::copy_",
		  "f32[4] bf16[4]", "convert", OP_CONVERT },
		{ "void at::native::elementwise_kernel<128, 2, at::native::direct_copy_kernel_cuda(x)>", "aten::copy_",
		  "f32[4] f32[4]", "copy", OP_COPY },
		{ "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(x)>", NULL,
		  "", "convert", OP_CONVERT },
		{ "void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long> >", NULL, "", "fill",
		  OP_ELEMENTWISE },
		{ "void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out(x)>",
		  NULL, "", "arange", OP_ELEMENTWISE },
		{ "some_kernel_nobody_knows", "aten::mm", "bf16[1,64] bf16[64,8]", "gemv", OP_GEMM },
		{ "some_kernel_nobody_knows", "aten::add_", "bf16[1] bf16[1]", "elementwise", OP_ELEMENTWISE },
	};
	struct rules *r = stream_rules();
	struct mk m;

	mk_open(&m);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct rule *u = rules_match(r, mk_kernel(&m, rows[i].kernel, rows[i].op, rows[i].args));

		if (!u || strcmp(u->family, rows[i].family) != 0 || u->kind != rows[i].kind)
			test_fail(__FILE__, __LINE__, "'%s' is of '%s' by '%s', not of '%s'", rows[i].kernel,
			          u ? u->family : "-", u ? u->name : "-", rows[i].family);
		CHECK(*u->friendly && *u->library);
	}
	CHECK(!rules_match(r, mk_launch(&m, "some_kernel_nobody_knows", NULL)));
	CHECK(rules_match(r, mk_copy(&m, TRACE_COPY_DTOH, 4, true, NULL))->kind == OP_HOST_SYNC);
	CHECK(rules_match(r, mk_copy(&m, TRACE_COPY_DTOH, 4, false, NULL))->kind == OP_COPY);
	CHECK_STR(rules_match(r, mk_set(&m, 4, NULL))->family, "memset");
	mk_close(&m);
	rules_free(r);
}

/* What inference engines launch beside PyTorch's own kernels. The name is as a profiler prints it, shortened at the end. */
TEST(kernels_of_serving_engines_find_their_family)
{
	static const struct {
		const char *kernel, *family;
		enum op_kind kind;
	} rows[] = {
		/* cuBLASLt block-scaled (MXFP8, NVFP4) on sm100 and sm120: names that ncu and PyTorch profiles of
		 * B200 and RTX PRO 6000 show */
		{ "nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_bias_TNT", "gemm", OP_GEMM },
		{ "nvjet_sm120_qqhsh_mma_128x64x64_2_32x88x64_tmaAB_alignCD4_bz_NNNN", "gemm", OP_GEMM },
		{ "nvjet_sm120_tst_mma_64x32x64_8_16x32x64_tmaAB_alignCD4_bz_TNNN", "gemm", OP_GEMM },
		/* CUTLASS 3 as profilers print it: csrc of vLLM (nvfp4_scaled_mm, grouped_mm), FlashInfer
		 * gemm/fp4_gemm_cutlass */
		{ "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, i"
		  "nt, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm100TmaUmmaWa"
		  "rpSpecializedBlockScaled<5, 2, 2> > > >",
		  "gemm", OP_GEMM },
		{ "_ZN7cutlass13device_kernelIN10flashinfer4gemm50DeviceGemmFp4GemmSm100_float_128_128_256_"
		  "1_1_1_1SM12Sm10x11xOnlyINS_4gemm6kernel13GemmUniversal",
		  "gemm", OP_GEMM },
		{ "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupPro"
		  "blemShape<cute::tuple<long, long, long> > > >",
		  "moe_gemm", OP_GEMM },
		/* DeepSeek-R1 under SGLang (sgl-kernel csrc/gemm/dsv3_fused_a_gemm.cu, dsv3_router_gemm_entry.cu) */
		{ "void fused_a_gemm_kernel<(int)1, (int)2112, (int)7168, (int)16, (int)16, (int)128, (int)4>(__nv"
		  "_bfloat16 *, const __nv_bfloat16 *, const __nv_bfloat16 *, int)",
		  "gemm", OP_GEMM },
		{ "void dsv3_router_gemm_kernel_float_output<__nv_bfloat16, 128, 8, 1, 256, 7168>", "gemm", OP_GEMM },
		{ "cutlass_scaled_fp4_mm", "gemm", OP_GEMM },
		{ "bmm_fp8", "gemm", OP_GEMM },
		{ "topk_sigmoid", "topk", OP_TOPK },
		{ "apply_rope_with_cos_sin_cache_inplace", "rope", OP_ROPE },
		/* trtllm-gen cubins (NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/trtllmGenKernels) */
		{ "bmm_E2m1_E2m1E2m1_Fp32_bA16_bB16_bC16_t128x8x512u2_s5_et128x8_m128x8x64_cga1x1x1_16dp256"
		  "b_rM_TN_transOut_schedS_swiGlu_dynB_sm100f",
		  "moe_gemm", OP_GEMM },
		{ "gemm_Bfloat16_E2m1E2m1_Fp32_t128x8x512u2_s5_et128x8_m128x8x64_cga1x1x1_16dp256b_TN_trans"
		  "Out_splitK2_sm100f",
		  "gemm", OP_GEMM },
		{ "fmhaSm100fKernel_QkvE4m3OBfloat16HQk576HV512HVPerCta256PagedKvDenseP64VarSeqQ64Kv128Pers"
		  "istent2CtaKeepsAbForGen",
		  "attention", OP_ATTENTION },
		{ "void tensorrt_llm::kernels::fmhaReductionKernel<256, 128, __nv_bfloat16>", "attention_combine",
		  OP_ATTENTION },
		/* NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels: weightOnlyBatchedGemv, unfusedAttentionKernels,
		 * decoderMaskedMultiheadAttention, xqa, quantization, mixtureOfExperts */
		{ "void tensorrt_llm::kernels::weight_only::kernel<tensorrt_llm::kernels::weight_only::Kern"
		  "elDetails<x>, 1, 2, 128, 64, true>",
		  "gemm", OP_GEMM },
		{ "void tensorrt_llm::kernels::applyBiasRopeUpdateKVCacheV2<__nv_bfloat16, __nv_fp8_e4m3, f"
		  "alse, 128>",
		  "rope", OP_ROPE },
		{ "void mmha::masked_multihead_attention_kernel<__half, __half, KVLinearBuffer, KVLinearBuf"
		  "fer, 128, 4, 16>",
		  "attention", OP_ATTENTION },
		{ "kernel_mha", "attention", OP_ATTENTION },
		{ "void tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::BlockScaleQuantizati"
		  "onType)0, __nv_bfloat16, 16, false>",
		  "convert", OP_CONVERT },
		{ "void tensorrt_llm::kernels::cvt_fp16_to_fp4_expert<__nv_bfloat16, false>", "convert", OP_CONVERT },
		{ "void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<__nv_bfloat16, __n"
		  "v_bfloat16>",
		  "moe_routing", OP_REDUCE },
		{ "void tensorrt_llm::kernels::cutlass_kernels::doActivationKernel<__nv_bfloat16, __nv_bflo"
		  "at16>",
		  "elementwise", OP_ELEMENTWISE },
		/* vLLM csrc: quantization (marlin, gptq, awq, machete, fp4, fp8), moe */
		{ "void marlin::Marlin<(long)1125899906910725, (long)1125899906843648, (long)11258999069107"
		  "25, 256, 1, 8, 8, 4>",
		  "gemm", OP_GEMM },
		{ "void marlin_moe_wna16::Marlin<__nv_bfloat16, 1125899906843648l, 256, 1, 8, 8>", "moe_gemm",
		  OP_GEMM },
		{ "void marlin::gptq_marlin_repack_kernel<256, 4, false>", "copy", OP_COPY },
		{ "void vllm::gptq::gemm_half_q_half_gptq_4bit_kernel<true, 4>", "gemm", OP_GEMM },
		{ "void vllm::awq::gemm_forward_4bit_cuda_m16nXk32<128>", "gemm", OP_GEMM },
		{ "void vllm::cvt_fp16_to_fp4<__nv_bfloat16, false>", "convert", OP_CONVERT },
		{ "void vllm::silu_mul_cvt_fp16_to_fp4<__nv_bfloat16, false>", "elementwise", OP_ELEMENTWISE },
		{ "void vllm::dynamic_scaled_int8_quant_kernel<c10::BFloat16, float>", "convert", OP_CONVERT },
		{ "void vllm::moe::moe_align_block_size_kernel<int>", "moe_routing", OP_SORT },
		{ "void vllm::moe::topkGatingSoftmax<8, 128, 4, 16, int>", "topk", OP_TOPK },
		{ "fused_moe_kernel", "moe_gemm", OP_GEMM },
		{ "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>", "collective", OP_COLLECTIVE },
		/* sgl-project/sglang: sgl-kernel csrc, srt/layers/attention/triton_ops, jit_kernel */
		{ "_fwd_grouped_kernel_stage1", "attention", OP_ATTENTION },
		{ "_fwd_kernel_stage2", "attention_combine", OP_ATTENTION },
		{ "_fwd_kernel", "attention", OP_ATTENTION },
		{ "void per_token_group_quant_8bit_kernel<c10::BFloat16, c10::Float8_e4m3fn, true, true, fl"
		  "oat>",
		  "convert", OP_CONVERT },
		{ "void sglang::store_kvcache<512l, 512l, 1, false, long>(x)", "kv_write", OP_SCATTER },
		{ "void moe_fused_gate_kernel<c10::BFloat16, 32, 256, 8>", "topk", OP_TOPK },
		/* flashinfer-ai/flashinfer include/flashinfer: attention, norm, activation, sampling, pos_enc,
		 * page, comm */
		{ "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<(flashinfer"
		  "::MaskMode)0, 16u, 1u> >",
		  "attention", OP_ATTENTION },
		{ "void flashinfer::PrefillWithKVCacheKernel<flashinfer::CollectiveMainloop<x> >", "attention",
		  OP_ATTENTION },
		{ "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 4"
		  "u>",
		  "attention", OP_ATTENTION },
		{ "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u, 8u, 4u, __nv_bfloat1"
		  "6>",
		  "attention_combine", OP_ATTENTION },
		{ "void flashinfer::mla::BatchMLAPagedAttentionKernel<flashinfer::mla::KernelTraits<x> >", "attention",
		  OP_ATTENTION },
		{ "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfl"
		  "oat16*)",
		  "norm", OP_NORM },
		{ "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*)", "norm",
		  OP_NORM },
		{ "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(silu(float const&))>",
		  "elementwise", OP_ELEMENTWISE },
		{ "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, (cub::BlockScanAlgorith"
		  "m)2>",
		  "sampling", OP_OPAQUE },
		{ "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheHeadParallelismKernel<false, 128u, 8"
		  "u, 16u>",
		  "rope", OP_ROPE },
		{ "void flashinfer::AppendPagedKVCacheKernel<128u, 8u, __nv_bfloat16, int>", "kv_write", OP_SCATTER },
		{ "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flash"
		  "infer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false, false"
		  ">",
		  "collective", OP_COLLECTIVE },
		/* Dao-AILab/flash-attention hopper (FlashAttention-3), deepseek-ai/FlashMLA, DeepGEMM and DeepEP
		 * */
		{ "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::C"
		  "ollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1> >, cutlass::gemm::x> > > >",
		  "attention", OP_ATTENTION },
		{ "void cutlass::device_kernel<flash::FlashAttnFwdCombine<cute::tuple<cute::C<16>, cute::C<"
		  "64> >, 4, 256> >",
		  "attention_combine", OP_ATTENTION },
		{ "void flash::flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64, 64, 8> >", "attention",
		  OP_ATTENTION },
		{ "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 7168u, 2048u>", "gemm", OP_GEMM },
		{ "void deep_ep::intranode::dispatch<8, 768, 8192>(x)", "collective", OP_COLLECTIVE },
		/* ggml-org/llama.cpp ggml/src/ggml-cuda: mmvq, mmq, mmvf, quantize, fattn, norm, rope, softmax,
		 * getrows, set-rows, binbcast, unary, cpy */
		{ "void mul_mat_vec_q<(ggml_type)12, 1, false, false>(void const*, void const*, int const*,"
		  " float*)",
		  "gemv", OP_GEMM },
		{ "void mul_mat_vec_f<__half, float, 1, 128, false>", "gemv", OP_GEMM },
		{ "void mul_mat_q<(ggml_type)12, 128, false>", "gemm", OP_GEMM },
		{ "void mul_mat_q_stream_k_fixup<(ggml_type)12, 128, false>", "splitk_reduce", OP_GEMM },
		{ "quantize_q8_1(float const*, void*, long, long, long, long, long, unsigned int, unsigned "
		  "int)",
		  "convert", OP_CONVERT },
		{ "void flash_attn_ext_vec<128, 1, (ggml_type)1, (ggml_type)1, false>", "attention", OP_ATTENTION },
		{ "void flash_attn_combine_results<128>(float const*, HIP_vector_type<float, 2u> const*, fl"
		  "oat*, int)",
		  "attention_combine", OP_ATTENTION },
		{ "void flash_attn_stream_k_fixup<128, 8, 4>", "attention_combine", OP_ATTENTION },
		{ "void rms_norm_f32<1024, true, false>(float const*, float*, int)", "norm", OP_NORM },
		{ "void rope_neox<true, false, float, __half>", "rope", OP_ROPE },
		{ "void soft_max_f32<true, 1024, 1024, float>", "softmax", OP_SOFTMAX },
		{ "void k_get_rows_float<float, float>", "gather", OP_GATHER },
		{ "void k_set_rows<float, long, __half>", "kv_write", OP_SCATTER },
		{ "void k_bin_bcast<&(op_add(float, float)), float, float, float>", "elementwise", OP_ELEMENTWISE },
		{ "void unary_gated_op_kernel<&(op_silu(float)), float>", "elementwise", OP_ELEMENTWISE },
		{ "void cpy_scalar<&(void cpy_1_scalar<float, __half>(char const*, char*))>", "copy", OP_COPY },
		{ "void dequantize_block_q4_K<__half>(void const*, __half*)", "convert", OP_CONVERT },
	};
	struct rules *r = stream_rules();
	struct mk m;

	mk_open(&m);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct rule *u = rules_match(r, mk_kernel(&m, rows[i].kernel, NULL, ""));

		if (!u || strcmp(u->family, rows[i].family) != 0 || u->kind != rows[i].kind)
			test_fail(__FILE__, __LINE__, "'%s' is of '%s' by '%s', not of '%s'", rows[i].kernel,
			          u ? u->family : "-", u ? u->name : "-", rows[i].family);
	}
	mk_close(&m);
	rules_free(r);
}

TEST(elementwise_functions_are_told_by_their_functor)
{
	static const struct {
		const char *functor, *fn;
		enum op_cost cost;
	} rows[] = {
		{ "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >", "mul",
		  OP_COST_ALU },
		{ "CUDAFunctor_add<c10::BFloat16>", "add", OP_COST_ALU },
		{ "CUDAFunctorOnSelf_add<float>", "add", OP_COST_ALU },
		{ "binary_internal::DivFunctor<float>", "div", OP_COST_DIV },
		{ "binary_internal::div_floor_kernel_cuda(x)", "div_floor", OP_COST_DIV },
		{ "silu_kernel(x)", "silu", OP_COST_ACT },
		{ "GeluCUDAKernelImpl(x)", "gelu", OP_COST_ACT },
		{ "sigmoid_kernel_cuda(x)", "op", OP_COST_ACT },
		{ "tanh_kernel_cuda(x)", "op", OP_COST_SFU },
		{ "exp_kernel_cuda(x)", "op", OP_COST_SFU },
		{ "rsqrt_kernel_cuda(x)", "rsqrt", OP_COST_SFU },
		{ "cos_kernel_cuda(x)", "op", OP_COST_SFU },
		{ "pow_tensor_scalar_kernel_impl<float, float>(x)", "pow", OP_COST_ALU },
		{ "neg_kernel_cuda(x)", "neg", OP_COST_MOVE },
		{ "CompareEqFunctor<long>", "compare", OP_COST_ALU },
		{ "where_kernel_impl(x)", "where", OP_COST_ALU },
		{ "launch_clamp_scalar(x)", "clamp", OP_COST_ALU },
		{ "masked_fill_kernel(x)", "where", OP_COST_ALU },
		{ "a_function_nobody_knows", "op", OP_COST_ALU },
	};
	struct rules *r = stream_rules();
	char name[200];
	struct mk m;

	mk_open(&m);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct rule *u;

		snprintf(name, sizeof name,
		         "void at::native::vectorized_elementwise_kernel<8, at::native::%s, std::array<char*, 3ul> >",
		         rows[i].functor);
		u = rules_match(r, mk_launch(&m, name, NULL));
		CHECK(u);
		if (strcmp(u->fn, rows[i].fn) != 0 || u->cost != rows[i].cost)
			test_fail(__FILE__, __LINE__, "'%s' is %s (%s), not %s", rows[i].functor, u->fn, u->name,
			          rows[i].fn);
	}
	mk_close(&m);
	rules_free(r);
}

TEST(the_cluster_of_a_product_stands_in_its_name)
{
	static const struct {
		const char *name;
		uint32_t x, y;
	} rows[] = {
		{ "nvjet_sm90_tst_16x64_64x16_4x1_v_bz_TNN", 4, 1 },
		{ "nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNT", 2, 1 },
		{ "nvjet_sm90_qqtst_64x8_128x16_2x4_h_bz_algo2_TNT", 2, 4 },
		{ "nvjet_sm90_tst_64x64_64x13_1x1_h_bz_splitK_TNT", 1, 1 },
	};
	struct rules *r = stream_rules();
	uint32_t c[3] = { 0 };
	struct mk m;

	mk_open(&m);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			CHECK(rules_cluster(r, mk_launch(&m, rows[i].name, NULL), c));
			CHECK(c[0] == rows[i].x && c[1] == rows[i].y && c[2] == 1);
		}
	CHECK(!rules_cluster(r, mk_launch(&m, "nvjet_other", NULL), c));
	CHECK(!rules_cluster(r, mk_launch(&m, "unknown", NULL), c));
	mk_close(&m);
	rules_free(r);
}

TEST(half_of_a_decode_step_is_matrix_vector_products)
{
	static const struct {
		const char *family;
		uint64_t count, ns;
	} rows[] = {
		{ "gemv", 849, 4359822 },
		{ "router_dot", 66, 122626 },
		{ "splitk_reduce", 3, 5248 },
		{ "attention", 36, 206624 },
		{ "attention_combine", 36, 66114 },
		{ "convert", 285, 570620 },
		{ "elementwise", 1302, 1813527 },
		{ "reduce", 141, 411105 },
		{ "concat", 177, 379865 },
		{ "softmax", 33, 39008 },
		{ "topk", 33, 150817 },
		{ "fill", 33, 25185 },
		{ "scatter", 33, 44125 },
		{ "arange", 33, 22879 },
		{ "sort", 33, 113121 },
		{ "gather", 33, 37954 },
		{ "index_put", 33, 111005 },
		{ "embedding", 3, 5887 },
		{ "argmax", 3, 83584 },
	};
	struct rules *r = stream_rules();
	uint64_t kernels = 0, ns = 0;
	char path[4096], db[600];
	struct bed b;

	bed_open(&b, test_path(db, sizeof db, "t.db"), DB_WRITE);
	snprintf(path, sizeof path, "%s/" DSOCR, test_root());
	CHECK_OK(format_import(b.db, FORMAT_KINETO, path, NULL, NULL, &b.st, &b.e), b.e);
	bed_load(&b, NULL);
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		uint64_t n = 0, t = 0;

		for (size_t i = 0; i < b.t.n_launches; i++) {
			const struct trace_launch *l = &b.t.launches[i];
			const struct rule *u = l->kind == TRACE_KERNEL ? rules_match(r, l) : NULL;

			if (u && strcmp(u->family, rows[k].family) == 0)
				n++, t += (uint64_t)b.t.launches[i].dur_ns;
		}
		if (n != rows[k].count || t != rows[k].ns)
			test_fail(__FILE__, __LINE__, "family '%s': %llu kernels in %llu ns, not %llu in %llu",
			          rows[k].family, (unsigned long long)n, (unsigned long long)t,
			          (unsigned long long)rows[k].count, (unsigned long long)rows[k].ns);
		kernels += n;
		ns += t;
	}
	CHECK_U64(kernels, 3165); /* all of them: 4359.8 of 8569.1 us is 50.9 % */
	CHECK_U64(ns, 8569116);
	bed_close(&b);
	rules_free(r);
}

SUITE(t_rules, T(faults_are_placed_and_name_the_nearest_word), T(a_long_expression_is_an_error_and_not_a_long_compile),
      T(rows_are_tried_in_order_and_what_they_say_is_kept),
      T(expressions_with_counts_groups_and_brackets_find_what_they_should), T(conditions_are_looked_at_every_time),
      T(names_that_differ_only_in_the_middle_are_told_apart), T(a_table_of_ones_own_stands_before_its_base),
      T(a_table_that_is_its_own_base_is_refused), T(the_hash_follows_the_text),
      T(kernels_that_users_meet_find_their_family), T(kernels_of_serving_engines_find_their_family),
      T(elementwise_functions_are_told_by_their_functor), T(the_cluster_of_a_product_stands_in_its_name),
      T(half_of_a_decode_step_is_matrix_vector_products));
