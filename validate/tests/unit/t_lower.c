/* t_lower.c - from traces to op streams: small traces made to trip it. */
#include "sim/lower/lower.h"

#include "validate/tests/mktrace.h"
#include "validate/tests/streambed.h"

struct hand {
	struct mk m;
	struct rules *r;
	struct op_stream s;
	struct lower_stats st;
	struct err e;
};

static void hand_open(struct hand *h)
{
	memset(h, 0, sizeof *h);
	mk_open(&h->m);
	h->r = stream_rules();
}

static void hand_lower(struct hand *h)
{
	CHECK_OK(lower_trace(&h->m.t, h->r, h->m.a, &h->s, &h->st, &h->e), h->e);
	CHECK_OK(lower_check(&h->s, &h->e), h->e);
	stream_check_order(&h->s);
}

static void hand_close(struct hand *h)
{
	rules_free(h->r);
	mk_close(&h->m);
}

static void product(struct hand *h, const char *args)
{
	mk_kernel(&h->m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "aten::mm", args);
}

static void simple(struct hand *h, const char *kernel, const char *op, const char *args)
{
	char *name =
		arena_printf(h->m.a, "void at::native::vectorized_elementwise_kernel<8, at::native::%s, 3ul>", kernel);

	mk_kernel(&h->m, name, op, args);
}

TEST(a_trace_of_nothing_is_a_stream_of_nothing)
{
	struct hand h;

	hand_open(&h);
	hand_lower(&h);
	CHECK_U64(h.s.n_ops + h.s.n_tensors + h.s.n_launches + h.s.n_deps + h.s.measured_ns, 0);
	hand_close(&h);
}

TEST(what_nobody_knows_is_opaque_and_carries_its_time)
{
	struct hand h;

	hand_open(&h);
	mk_launch(&h.m, "secret_kernel", NULL)->dur_ns = 700;
	mk_kernel(&h.m, "secret_kernel", "mine::op", "bf16[4]");
	mk_launch(&h.m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", NULL); /* known, but no shapes */
	product(&h, "bf16[1,8] bf16[9,8]");                              /* shapes that do not agree */
	product(&h, "bf16[1,4611686018427387904] bf16[4611686018427387904,4]");
	product(&h, "");
	mk_launch(&h.m, "secret_kernel", NULL)->dur_ns = -5; /* time that runs backwards is none */
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 7);
	for (size_t i = 0; i < 7; i++)
		CHECK(h.s.ops[i].kind == OP_OPAQUE && h.s.ops[i].n_operands == 0 && h.s.ops[i].n_deps == 0 &&
		      *h.s.ops[i].name);
	CHECK_U64(h.s.opaque_ns, 5700);
	CHECK_U64(h.s.measured_ns, 5700);
	CHECK_U64(h.st.lowered_kernel_ns, 0);
	CHECK_STR(h.s.ops[0].family, "other");
	CHECK_STR(h.s.ops[0].name, "secret_kernel");
	CHECK_STR(h.s.ops[2].family, "gemm");
	hand_close(&h);
}

TEST(what_joins_the_previous_launch_needs_one)
{
	struct hand h;
	struct trace_op *mm;

	hand_open(&h);
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", NULL); /* op 0: first of all */
	mm = mk_op(&h.m, "aten::mm", "bf16[1,64] bf16[64,8]");
	mk_launch(&h.m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", mm); /* op 1, with the next two */
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", mm);
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", NULL);
	simple(&h, "silu_kernel(x)", "aten::silu", "bf16[1,8]");                   /* op 2 */
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", NULL);           /* op 3: behind no product */
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", mm)->stream = 9; /* op 4: on another stream */
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 5);
	CHECK(h.s.ops[0].kind == OP_OPAQUE && h.s.ops[1].kind == OP_GEMM && h.s.ops[1].n_launches == 3);
	CHECK(h.s.ops[3].kind == OP_OPAQUE && h.s.ops[4].n_launches == 1);
	CHECK_U64(h.s.ops[1].measured_ns, 3000);
	CHECK_STR(h.s.ops[1].family, "gemv");
	CHECK_STR(h.s.ops[0].family, "splitk_reduce");
	hand_close(&h);
}

TEST(a_set_belongs_to_the_product_it_clears_for_and_else_to_itself)
{
	struct hand h;
	struct trace_op *mm;

	hand_open(&h);
	mk_set(&h.m, 512, mk_op(&h.m, "aten::zero_", "i64[64]"));
	mm = mk_op(&h.m, "aten::mm", "bf16[1,64] bf16[64,8]");
	mk_set(&h.m, 4, mm);
	mk_launch(&h.m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", mm);
	mk_set(&h.m, 4, NULL);
	mk_copy(&h.m, TRACE_COPY_HTOD, 8, false, NULL);
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 4);
	CHECK(h.s.ops[0].kind == OP_COPY && h.s.ops[1].kind == OP_GEMM && h.s.ops[1].n_launches == 2 &&
	      h.s.ops[2].kind == OP_COPY);
	CHECK_STR(h.s.ops[0].name, "fill 64");
	CHECK(h.s.ops[3].kind == OP_COPY && h.s.ops[3].n_operands == 1);
	CHECK_U64(h.s.kernel_ns, 1000);
	hand_close(&h);
}

TEST(streams_that_interleave_keep_their_launches_together)
{
	struct hand h;
	struct trace_op *mm;

	hand_open(&h);
	mm = mk_op(&h.m, "aten::mm", "bf16[1,64] bf16[64,8]");
	mk_launch(&h.m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", mm);
	mk_kernel(&h.m, "secret_kernel", NULL, "")->stream = 20;
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", mm);
	mk_kernel(&h.m, "secret_kernel", NULL, "")->stream = 20;
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 3);
	CHECK(h.s.ops[0].n_launches == 2 && h.s.launches[0].trace_id == 0 && h.s.launches[1].trace_id == 2);
	CHECK(h.s.launches[1].waits_for == 0 && h.s.launches[2].waits_for == -1 && h.s.launches[3].waits_for == 2);
	hand_close(&h);
}

/* Two layers of four steps of a batch of 3, 64 inputs, 32 of state, four gates; `cells` of them are launched. */
static void recurrent(struct hand *h, int cells)
{
	struct trace_op *op =
		mk_op(&h->m, "aten::_cudnn_rnn",
	              "f16[3,4,64] {f16[128,64] f16[128,32] f16[128] f16[128]} =4 f16[999] f16[2,3,32] f16[2,3,32]");

	for (int layer = 0; layer < 2; layer++) {
		mk_launch(&h->m, "nvjet_sm90_hsh_128x64_64x8_1x2_h_bz_TNT", op)->stream = 20;
		for (int step = 0; step < 4; step++) {
			mk_launch(&h->m, "nvjet_sm90_hsh_64x8_64x16_1x2_h_bz_TNT", op)->stream = 21 + layer;
			if (cells-- > 0)
				mk_launch(&h->m, "void elemWiseRNNcell<__half, __half>", op)->stream = 21 + layer;
		}
	}
}

TEST(a_recurrent_networks_launches_do_a_step_each)
{
	struct hand h;

	hand_open(&h);
	recurrent(&h, 8);
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 18);
	for (size_t layer = 0; layer < 2; layer++) {
		const struct op *o = &h.s.ops[9 * layer];

		CHECK(o->kind == OP_GEMM && o->shape.m == 12 && o->shape.n == 128 && o->shape.k == (layer ? 32 : 64));
		for (size_t step = 0; step < 4; step++) {
			const struct op *p = &o[1 + 2 * step];

			CHECK(p->kind == OP_GEMM && p->shape.m == 3 && p->shape.n == 128 && p->shape.k == 32);
			CHECK(p[1].kind == OP_ELEMENTWISE && p[1].shape.elems == 3 * 32);
			/* A cell reads what the product made, and the next product what the cell made; weights are the layer's. */
			CHECK_U64(h.s.operands[p[1].first_operand].tensor, h.s.operands[p->first_operand + 2].tensor);
			if (step)
				CHECK_U64(h.s.operands[p->first_operand].tensor,
				          h.s.operands[p[-1].first_operand + p[-1].n_operands - 1].tensor);
			CHECK_U64(h.s.operands[p->first_operand + 1].tensor,
			          h.s.operands[o[1].first_operand + 1].tensor);
		}
	}
	CHECK(h.s.operands[h.s.ops[1].first_operand + 1].tensor != h.s.operands[h.s.ops[10].first_operand + 1].tensor);
	hand_close(&h);
	/* Launches that do not add up are left as they are: those of a stream one op. */
	hand_open(&h);
	recurrent(&h, 7);
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 3);
	hand_close(&h);
}

TEST(what_the_host_waits_for_is_an_op_of_its_own)
{
	struct hand h;
	struct trace_op *nz;

	hand_open(&h);
	nz = mk_op(&h.m, "aten::nonzero", "bool[64]");
	mk_launch(&h.m, "void at_cuda_detail::cub::DeviceReduceKernel<x>", nz);
	mk_copy(&h.m, TRACE_COPY_DTOH, 8, true, nz);
	mk_launch(&h.m, "void at_cuda_detail::cub::DeviceSelectSweepKernel<x>", nz);
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 3);
	CHECK(h.s.ops[0].kind == OP_SCAN && h.s.ops[1].kind == OP_HOST_SYNC && h.s.ops[2].kind == OP_SCAN);
	hand_close(&h);
}

/* Two experts of eight, each gate, up and down, between a host read and a concat; `shared`: one more behind it. */
static void routed_layer(struct hand *h, bool sync)
{
	simple(h, "CUDAFunctor_add<c10::BFloat16>", "aten::add", "bf16[1,32] bf16[1,32] =1");
	mk_kernel(&h->m, "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "f32[1,8] =2 =-1 =True =True");
	mk_kernel(&h->m, "void at::native::vectorized_gather_kernel<16, long>", "aten::index", "bf16[1,32] -")
		->grid[0] = 2;
	mk_copy(&h->m, TRACE_COPY_DTOH, 16, sync, mk_op(&h->m, "aten::copy_", "i64[1,2] i64[1,2] =False"));
	for (int e = 0; e < 2; e++) {
		product(h, "bf16[1,32] bf16[32,16]");
		simple(h, "silu_kernel(x)", "aten::silu", "bf16[1,16]");
		product(h, "bf16[1,32] bf16[32,16]");
		simple(h, "MulFunctor<float>", "aten::mul", "bf16[1,16] bf16[1,16]");
		product(h, "bf16[1,16] bf16[16,32]");
	}
	mk_kernel(&h->m, "CatArrayBatchedCopy<at::native::OpaqueType<2u>, 1>", "aten::cat",
	          "{bf16[1,32] bf16[1,32]} =0");
	product(h, "bf16[1,32] bf16[32,16]");
}

TEST(a_router_needs_a_host_that_reads_its_picks)
{
	struct hand h;

	hand_open(&h);
	routed_layer(&h, true);
	hand_lower(&h);
	CHECK_U64(h.s.n_routes, 1);
	CHECK(h.s.routes[0].experts == 8 && h.s.routes[0].top == 2 && h.s.routes[0].topk_op == 1 &&
	      h.s.routes[0].sync_op == 3);
	for (uint32_t i = 4; i < 14; i++)
		if (h.s.ops[i].kind == OP_GEMM)
			CHECK(h.s.ops[i].routed_by == 0 && stream_reads(&h.s, i, 1)->slot == (i - 4) / 5);
	CHECK(stream_made_by(&h.s, 9, 0) == 2 && stream_reads(&h.s, 9, 0)->offset == 64);
	CHECK_U64(h.s.ops[15].routed_by, (uint64_t)-1);
	CHECK_U64(stream_made_by(&h.s, 15, 0), 0); /* behind the concat: what the router's gather read */
	hand_close(&h);
	hand_open(&h);
	routed_layer(&h, false);
	hand_lower(&h);
	CHECK_U64(h.s.n_routes, 0);
	CHECK(h.s.ops[3].kind == OP_COPY && h.s.ops[4].routed_by == -1);
	hand_close(&h);
}

static void grouped(struct hand *h, const char *args)
{
	mk_kernel(&h->m, "void at::cuda::detail::prepare_grouped_gemm_data<cutlass::bfloat16_t>", "aten::_grouped_mm",
	          args);
	mk_launch(&h->m,
	          "_ZN7cutlass13device_kernelIN2at4cuda6detail25enable_3x_kernel_for_sm9xINS_4gemm6kernel13"
	          "GemmUniversalINS5_17GroupProblemShapeIN4cute5tupleIJiiiEEEEE",
	          h->m.t.launches[h->m.t.n_launches - 1].op);
}

/* Eight tokens pick 4 of 32 experts, whose rows are in order when the products read them. */
TEST(a_grouped_product_has_the_experts_that_even_picks_hit)
{
	struct hand h;
	uint64_t weights = 0;

	hand_open(&h);
	mk_kernel(&h.m, "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "f32[8,32] =4 =-1 =True =True");
	mk_kernel(&h.m, "void at::native::vectorized_gather_kernel<16, long>", "aten::index", "bf16[8,64] -")->grid[0] =
		32;
	mk_kernel(&h.m, "void at::cuda::kernelHistogram1D<int, int, long, 1, 2>", "aten::histc", "i32[32] =32 =0 =31");
	grouped(&h, "bf16[32,64] bf16[32,64,96|6144,1,64] i32[32] - -");
	simple(&h, "silu_kernel(x)", "aten::silu", "bf16[32,96]");
	grouped(&h, "bf16[32,96] bf16[32,96,64|6144,1,96] i32[32] - -");
	hand_lower(&h);
	CHECK_U64(h.st.opaque_ns, 0);
	CHECK_U64(h.s.n_ops, 6); /* pointers and sizes are prepared in the product's op */
	CHECK_U64(h.s.n_routes, 1);
	/* 32 x (1 - (7/8)^8) = 21.004 */
	CHECK(h.s.routes[0].experts == 32 && h.s.routes[0].top == 21 && h.s.routes[0].topk_op == 0);
	CHECK_U64(h.s.routes[0].sync_op, UINT32_MAX);
	for (uint32_t i = 3; i < 6; i += 2) {
		const struct op *o = &h.s.ops[i];
		const struct op_tensor *w = &h.s.tensors[stream_reads(&h.s, i, 1)->tensor];

		CHECK(o->kind == OP_GEMM && o->routed_by == 0 && o->n_launches == 2);
		CHECK(o->shape.batch == 21 && o->shape.m == 2 && o->n_operands == 1 + 21 + 1);
		CHECK(w->instances == 32 && w->route == 0 && w->bytes == 64 * 96 * 2 && w->inferred);
		for (uint32_t k = 0; k < 21; k++)
			CHECK_U64(stream_reads(&h.s, i, 1 + k)->slot, k);
		for (uint32_t k = 0; k < o->n_operands; k++)
			weights += h.s.operands[o->first_operand + k].touched;
	}
	CHECK_U64(weights, 2 * 21 * 64 * 96 * 2 + 2 * (32 * 64 + 32 * 96) * 2);
	CHECK(stream_made_by(&h.s, 3, 0) == 1 && stream_made_by(&h.s, 5, 0) == 4);
	hand_close(&h);
	/* Without a router each row is a pick: 8 x (1 - (7/8)^4) = 3.3. */
	hand_open(&h);
	grouped(&h, "bf16[4,64] bf16[8,64,96] i32[8] - -");
	hand_lower(&h);
	CHECK(h.s.n_routes == 1 && h.s.routes[0].top == 3 && h.s.routes[0].topk_op == UINT32_MAX);
	CHECK(h.s.ops[0].shape.batch == 3 && h.s.ops[0].shape.m == 2);
	hand_close(&h);
}

TEST(a_samplers_top_k_is_no_router)
{
	struct hand h;

	hand_open(&h);
	mk_kernel(&h.m, "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "f32[1,50000] =50 =-1 =True =True");
	mk_copy(&h.m, TRACE_COPY_DTOH, 400, true, mk_op(&h.m, "aten::copy_", "i64[1,50] i64[1,50] =False"));
	product(&h, "bf16[1,32] bf16[32,16]");
	product(&h, "bf16[1,16] bf16[16,32]");
	/* five labels of a thousand, and then the next picture: one visit is no routing either */
	mk_kernel(&h.m, "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "f32[1,1000] =5 =-1 =True =True");
	mk_copy(&h.m, TRACE_COPY_DTOH, 40, true, mk_op(&h.m, "aten::copy_", "i64[1,5] i64[1,5] =False"));
	product(&h, "bf16[1,32] bf16[32,16]");
	product(&h, "bf16[1,16] bf16[16,8]");
	product(&h, "bf16[1,8] bf16[8,1000]");
	hand_lower(&h);
	CHECK_U64(h.s.n_routes, 0);
	hand_close(&h);
}

TEST(in_place_ops_write_what_they_read)
{
	struct hand h;

	hand_open(&h);
	simple(&h, "silu_kernel(x)", "aten::silu", "f32[4,8]");             /* 0 */
	simple(&h, "MulFunctor<float>", "aten::mul_", "f32[4,8] f32[4,1]"); /* 1 */
	simple(&h, "exp_kernel_cuda(x)", "aten::exp", "f32[4,8]");          /* 2 */
	mk_kernel(&h.m, "void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long> >",
	          "aten::fill_", "i64[1,64] =0"); /* 3 */
	mk_kernel(&h.m, "void at::native::_scatter_gather_elementwise_kernel<8>", "aten::scatter_",
	          "i64[1,64] =1 i64[1,6] =1"); /* 4 */
	hand_lower(&h);
	stream_deps_are(&h.s, 1, 1, (uint32_t[]){ 0 });
	stream_deps_are(&h.s, 2, 1, (uint32_t[]){ 1 });
	CHECK(stream_reads(&h.s, 1, 0)->tensor == stream_reads(&h.s, 2, 0)->tensor);
	stream_deps_are(&h.s, 4, 1, (uint32_t[]){ 3 });
	hand_close(&h);
}

TEST(many_tokens_at_once_are_prefill)
{
	struct hand h;

	hand_open(&h);
	product(&h, "bf16[64,32] bf16[32,16]");
	hand_lower(&h);
	CHECK(h.s.ops[0].phase == OP_DECODE);
	CHECK_STR(h.s.ops[0].name, "gemm 64x32x16");
	product(&h, "bf16[65,32] bf16[32,16]");
	hand_lower(&h);
	CHECK(h.s.ops[0].phase == OP_PREFILL && h.s.ops[1].phase == OP_PREFILL);
	hand_close(&h);
}

TEST(q_k_and_v_of_one_shape_go_where_they_are_meant)
{
	struct hand h;

	hand_open(&h);
	mk_kernel(&h.m, "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<x>",
	          "aten::native_layer_norm", "bf16[5,64] =[64] bf16[64] bf16[64] =1e-05");
	for (int i = 0; i < 3; i++)
		product(&h, "bf16[5,64] bf16[64,64]");
	mk_kernel(&h.m, "void pytorch_flash::flash_fwd_kernel<x>", "aten::_flash_attention_forward",
	          "bf16[1,5,4,16] bf16[1,5,4,16] bf16[1,5,4,16] - - =5 =5 =0. =True");
	product(&h, "bf16[5,64] bf16[64,64]");
	simple(&h, "CUDAFunctor_add<c10::BFloat16>", "aten::add", "bf16[5,64] bf16[5,64] =1");
	hand_lower(&h);
	for (uint32_t i = 1; i <= 3; i++)
		CHECK_U64(stream_made_by(&h.s, i, 0), 0);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_U64(stream_made_by(&h.s, 4, i), i + 1);
	CHECK(stream_made_by(&h.s, 5, 0) == 4 && stream_made_by(&h.s, 6, 1) == 5);
	CHECK(stream_made_by(&h.s, 6, 0) == UINT32_MAX &&
	      stream_reads(&h.s, 6, 0)->tensor == stream_reads(&h.s, 0, 0)->tensor); /* the residual */
	CHECK(h.s.ops[4].shape.causal && h.s.ops[4].phase == OP_PREFILL);
	CHECK(h.s.ops[0].layer == 0 && h.s.ops[6].layer == 0);
	hand_close(&h);
}

TEST(cases_of_a_benchmark_have_nothing_in_common)
{
	static struct trace_range ranges[3] = { { "case|mm|4x8x8|0", 0, 1400, 1, 1 },
		                                { "case|mm|4x8x8|1", 1500, 1400, 1, 1 },
		                                { "case|silu|4x8|0", 3000, 1400, 1, 1 } };
	struct hand h;

	hand_open(&h);
	product(&h, "bf16[4,8] bf16[8,8]");
	product(&h, "bf16[4,8] bf16[8,8]");
	simple(&h, "silu_kernel(x)", "aten::silu", "bf16[4,8]");
	h.m.t.ranges = ranges;
	h.m.t.n_ranges = 3;
	hand_lower(&h);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(stream_made_by(&h.s, i, 0) == UINT32_MAX && h.s.ops[i].n_deps == 0);
	CHECK(stream_reads(&h.s, 0, 0)->tensor != stream_reads(&h.s, 1, 0)->tensor &&
	      stream_reads(&h.s, 0, 1)->tensor != stream_reads(&h.s, 1, 1)->tensor);
	h.m.t.n_ranges = 0;
	hand_lower(&h);
	CHECK_U64(stream_made_by(&h.s, 2, 0), 0); /* in one run it is the first of two products of one input */
	CHECK(stream_reads(&h.s, 0, 0)->tensor == stream_reads(&h.s, 1, 0)->tensor);
	hand_close(&h);
}

TEST(an_annotation_that_began_before_all_time_holds_nothing)
{
	static struct trace_range ranges[3] = { { "case|old|0", INT64_MIN, 10, 1, 1 },
		                                { "case|mm|4x8x8|0", 0, 1400, 1, 1 },
		                                { "case|mm|4x8x8|1", 1500, 1400, 1, 1 } };
	struct hand h;

	hand_open(&h);
	product(&h, "bf16[4,8] bf16[8,8]");
	product(&h, "bf16[4,8] bf16[8,8]");
	h.m.t.ranges = ranges;
	h.m.t.n_ranges = 3;
	hand_lower(&h);
	CHECK(stream_reads(&h.s, 0, 0)->tensor !=
	      stream_reads(&h.s, 1, 0)->tensor); /* in one case they would share it */
	hand_close(&h);
}

TEST(blocks_are_used_again_and_large_ones_at_once)
{
	struct hand h;
	uint64_t small, large;

	hand_open(&h);
	for (int i = 0; i < 200; i++)
		simple(&h, "exp_kernel_cuda(x)", "aten::exp", "f32[1000]");
	hand_lower(&h);
	small = h.s.addr_end;
	CHECK(small < 50 * 4096);
	h.m.t.n_launches = 0;
	for (int i = 0; i < 200; i++)
		simple(&h, "exp_kernel_cuda(x)", "aten::exp", "f32[1000000]");
	hand_lower(&h);
	large = h.s.addr_end;
	CHECK(large < 4 * UINT64_C(4000256) + 512);
	hand_close(&h);
}

TEST(tensors_beyond_every_address_are_an_error)
{
	struct hand h;

	hand_open(&h);
	for (int i = 0; i < 4000; i++)
		mk_kernel(&h.m, "CatArrayBatchedCopy<double, 1>", "aten::cat", "{f64[281474976710655] f64[1]} =0");
	CHECK(lower_trace(&h.m.t, h.r, h.m.a, &h.s, &h.st, &h.e) == -1);
	CHECK_HAS(h.e.msg, "2^62");
	hand_close(&h);
}

TEST(memory_that_runs_out_is_an_error_wherever_it_does)
{
	struct hand h;
	size_t limit = 0, failures = 0;
	int rc;

	hand_open(&h);
	routed_layer(&h, true);
	do {
		struct arena *a = arena_new(limit += 256);

		err_clear(&h.e);
		rc = lower_trace(&h.m.t, h.r, a, &h.s, &h.st, &h.e);
		if (rc < 0)
			CHECK(h.e.kind == ERR_NOMEM);
		failures += rc < 0;
		arena_free(a);
	} while (rc < 0 && limit < 10000000);
	CHECK(rc == 0 && failures > 100);
	hand_close(&h);
}

/* --- the checker itself ------------------------------------------------------------------------------------------- */

static void check_refuses(struct hand *h, const char *part)
{
	err_clear(&h->e);
	if (lower_check(&h->s, &h->e) == 0)
		test_fail(__FILE__, __LINE__, "a stream where \"%s\" was taken", part);
	CHECK_HAS(h->e.msg, part);
}

TEST(a_broken_stream_is_noticed)
{
	struct hand h;
	struct op_stream good;
	uint64_t addr;
	uint32_t keep;

	hand_open(&h);
	simple(&h, "silu_kernel(x)", "aten::silu", "f32[4,8]");
	simple(&h, "exp_kernel_cuda(x)", "aten::exp", "f32[4,8]");
	simple(&h, "MulFunctor<float>", "aten::mul", "f32[4,8] f32[4,1]");
	hand_lower(&h);
	good = h.s;
	h.s.ops[1].id = 7, check_refuses(&h, "has the id"), h.s.ops[1].id = 1;
	keep = h.s.operands[0].tensor;
	h.s.operands[0].tensor = 99, check_refuses(&h, "not there"), h.s.operands[0].tensor = keep;
	h.s.operands[0].bytes += 1000, check_refuses(&h, "reaches outside"), h.s.operands[0].bytes -= 1000;
	h.s.deps[0] = 1, check_refuses(&h, "not before it"), h.s.deps[0] = 0;
	h.s.ops[2].n_launches = 0, check_refuses(&h, "no op uses"), h.s.ops[2].n_launches = 1;
	h.s.ops[2].first_launch = 1, check_refuses(&h, "two ops"), h.s.ops[2].first_launch = 2;
	h.s.ops[2].n_operands = 9, check_refuses(&h, "outside the stream's tables"), h.s.ops[2].n_operands = 3;
	h.s.measured_ns++, check_refuses(&h, "measured"), h.s.measured_ns--;
	keep = h.s.operands[1].tensor;
	addr = h.s.tensors[keep].addr;
	h.s.tensors[keep].addr = h.s.tensors[h.s.operands[0].tensor].addr, check_refuses(&h, "overlap");
	h.s.tensors[keep].addr = UINT64_C(1) << 60, check_refuses(&h, "outside the stream's addresses");
	h.s.tensors[keep].addr = addr;
	h.s.operands[1].write = false, check_refuses(&h, "before anything wrote it"), h.s.operands[1].write = true;
	h.s = good;
	CHECK_OK(lower_check(&h.s, &h.e), h.e);
	hand_close(&h);
}

SUITE(t_lower, T(a_trace_of_nothing_is_a_stream_of_nothing), T(what_nobody_knows_is_opaque_and_carries_its_time),
      T(what_joins_the_previous_launch_needs_one), T(a_set_belongs_to_the_product_it_clears_for_and_else_to_itself),
      T(streams_that_interleave_keep_their_launches_together), T(a_recurrent_networks_launches_do_a_step_each),
      T(what_the_host_waits_for_is_an_op_of_its_own), T(a_router_needs_a_host_that_reads_its_picks),
      T(a_grouped_product_has_the_experts_that_even_picks_hit), T(a_samplers_top_k_is_no_router),
      T(in_place_ops_write_what_they_read), T(many_tokens_at_once_are_prefill),
      T(q_k_and_v_of_one_shape_go_where_they_are_meant), T(cases_of_a_benchmark_have_nothing_in_common),
      T(an_annotation_that_began_before_all_time_holds_nothing), T(blocks_are_used_again_and_large_ones_at_once),
      T(tensors_beyond_every_address_are_an_error), T(memory_that_runs_out_is_an_error_wherever_it_does),
      T(a_broken_stream_is_noticed));
