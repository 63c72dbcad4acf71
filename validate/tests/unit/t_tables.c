/* Published tables as samples: rows, refusals, residency, what is added and why. */
#include <stdio.h>
#include <unistd.h>

#include "sim/accuracy/picks.h"
#include "sim/accuracy/score.h"
#include "validate/tests/librarybed.h"

#define GEMM "gpu,kernel,dtype,m,n,k,time_us\n"

static int read_text(struct bed *b, const char *text, const struct tables_opts *o)
{
	static const struct tables_opts all;
	struct input *in = input_mem(text, strlen(text), "t.csv", &b->e);
	const struct tables_device d = { &b->conf->cfg, b->k };
	int rc = in ? tables_read(in, &d, o ? o : &all, b->a, &b->set, &b->st, &b->e) : -1;

	input_free(in);
	return rc;
}

static void refused(const char *text, const char *part)
{
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	CHECK(read_text(&b, text, NULL) < 0);
	CHECK(b.e.kind == ERR_IO);
	CHECK_HAS(b.e.msg, part);
	bed_down(&b);
}

#define PROMPT \
	"kernel_source,batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,step,window_size,us\n"
/* Two tables of one row; the second's queries see fewer keys. */
TEST(prompts_are_causal_and_a_window_shortens_them)
{
	static const char *const rows[] = { "4096,32,8,128,bfloat16,0,0,700", "4096,32,8,128,bfloat16,0,128,200",
		                            "1024,32,8,128,bfloat16,3072,0,300" };
	ps_t took[3];

	for (int i = 0; i < 3; i++) {
		char text[512];
		const struct op *o;
		struct bed b;

		bed_up(&b, DEVICE HOPPER);
		snprintf(text, sizeof text, PROMPT "vllm_flash_attn_fa3,2,%s\n", rows[i]);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		CHECK_U64(b.set.n, 1);
		CHECK_STR(b.set.v[0].cls, "attention vllm_flash_attn_fa3, prompts");
		o = &b.set.stream.ops[b.set.v[0].first_op + b.set.v[0].n_ops - 1];
		CHECK(o->shape.causal && o->shape.kv_len == 4096 && o->shape.window == (i == 1 ? 128 : 0));
		took[i] = b.set.v[0].time.total;
		bed_down(&b);
	}
	CHECK(took[1] * 2 < took[0] && took[2] * 4 < took[0] * 3);
	refused(PROMPT "vllm_flash_attn_fa3,2,many,32,8,128,bfloat16,0,0,700\n", "'isl' is 'many'");
}

#define MOE \
	"kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,us\n"
/* The nth grouped product of the first row. */
static const struct op *nth_product(const struct bed *b, uint32_t nth)
{
	const struct op *o = &b->set.stream.ops[b->set.v[0].first_op], *end = o + b->set.v[0].n_ops;

	for (; o < end; o++)
		if (o->kind == OP_GEMM && !nth--)
			return o;
	test_fail(__FILE__, __LINE__, "there is no such product");
	return NULL;
}

TEST(experts_are_two_grouped_products_of_the_fullest_chip)
{
	static const struct {
		const char *row;
		uint64_t experts, rows, n; /* of the first product: groups, all their rows, outputs of one */
	} want[] = {
		{ "bfloat16,1,1024,512,8,64,1,1,balanced", 8, 8, 1024 },
		{ "bfloat16,64,1024,512,8,64,1,1,balanced", 64, 512, 1024 },
		{ "bfloat16,64,1024,512,8,64,4,1,balanced", 64, 512, 256 }, /* tensor parallel: narrower */
		{ "fp8,64,1024,512,8,64,1,16,balanced", 4, 32, 1024 },      /* expert parallel: fewer */
		{ "fp8,4,1024,512,8,128,1,32,balanced", 1, 1, 1024 },       /* of 32 picks each chip has one */
		{ "bfloat16,1,1024,512,8,64,1,1,power_law_1.2", 8, 8, 1024 },
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const struct op *o, *down;
		char text[512];
		struct bed b;

		bed_up(&b, DEVICE HOPPER);
		snprintf(text, sizeof text, MOE "vllm_any,%s,100\n", want[i].row);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		CHECK_U64(b.set.n, 1);
		o = nth_product(&b, 0);
		down = nth_product(&b, 1);
		CHECK_U64(o->shape.batch, want[i].experts);
		CHECK_U64(o->shape.n, want[i].n);
		CHECK_U64(b.set.stream.operands[o->first_operand].touched,
		          want[i].rows * 1024 * (o->dtype == DT_FP8 ? 1 : 2));
		CHECK(down->shape.k == want[i].n / 2 && down->shape.n == 1024);
		bed_down(&b);
	}
	refused(MOE "vllm_any,bfloat16,64,1024,512,8,4,1,1,balanced,100\n", "not so many experts");
	refused(MOE "vllm_any,fp3,64,1024,512,8,64,1,1,balanced,100\n", "unknown type 'fp3'");
	refused(MOE "vllm_any,bfloat16,64,1024,512,8,64,1,1,power_law_,100\n", "no distribution of picks");
}

/* A router that keeps some groups of experts gives picks of the others to the first experts of those: of 256 chips' DeepSeek-V3 the
 * one with experts 0 to 3 has all tokens in each. An expert without a gate has one matrix less. */
TEST(experts_are_those_of_the_model_that_has_such_shapes)
{
	static const struct {
		const char *row;
		uint64_t experts, rows, n;
	} want[] = {
		{ "fp8,6144,7168,2048,8,256,1,64,balanced", 4, 4 * 6144, 4096 },
		{ "fp8,6144,7168,2048,8,256,1,1,balanced", 128, 8 * 6144, 4096 }, /* half of them */
		{ "fp8,6144,7168,2048,8,384,1,64,balanced", 6, 6 * 128, 4096 },
		{ "bfloat16,64,2688,1856,6,128,1,1,balanced", 128, 6 * 64, 1856 },
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const struct op *o;
		char text[512];
		struct bed b;

		bed_up(&b, DEVICE HOPPER);
		snprintf(text, sizeof text, MOE "vllm_flashinfer_cutlass,%s,100\n", want[i].row);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		o = nth_product(&b, 0);
		CHECK_U64(o->shape.batch, want[i].experts);
		CHECK_U64(o->shape.n, want[i].n);
		CHECK_U64(b.set.stream.operands[o->first_operand].touched,
		          dtype_bytes(o->dtype, want[i].rows * o->shape.k));
		bed_down(&b);
	}
}

/* vLLM's Triton kernel has tiles for the experts of other chips, which end at once, but not for nothing. */
TEST(tiles_of_other_chips_are_cleared)
{
	ps_t took[3];

	for (int i = 0; i < 3; i++) {
		static const char *const rows[] = {
			"vllm_triton,bfloat16,32,4096,2048,8,256,1,128,balanced",
			"vllm_triton,bfloat16,32,4096,2048,1,2,1,1,balanced",
			"vllm_flashinfer_trtllm,bfloat16,32,4096,2048,8,256,1,128,balanced"
		};
		const struct op *o;
		char text[512];
		struct bed b;

		bed_up(&b, DEVICE AMPERE);
		snprintf(text, sizeof text, MOE "%s,100\n", rows[i]);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		o = nth_product(&b, 0);
		CHECK_U64(b.set.work.launches[o->first_launch].idle, i ? 0 : 254 * 4096 / 64);
		took[i] = b.set.v[0].time.total;
		bed_down(&b);
	}
	CHECK(took[0] > took[1] + took[1] / 4);
}

TEST(uneven_draws_keep_all_picks_and_fill_the_first_chip)
{
	static const struct picks_asked asked[] = {
		{ .tokens = 256, .top = 8, .experts = 64, .chips = 8, .alpha = 1.2 },
		{ .tokens = 2, .top = 8, .experts = 128, .chips = 4, .alpha = 1.01 }, /* fewer picks than experts */
		{ .tokens = 64,
		  .top = 2,
		  .experts = 4,
		  .chips = 2,
		  .alpha = 1.2 }, /* no expert has more rows than tokens */
		{ .tokens = 512, .top = 8, .experts = 256, .chips = 64, .groups = 8, .kept = 4, .alpha = 1.2 },
	};

	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		const uint64_t all = asked[i].tokens * asked[i].top;
		uint64_t own = 0, others = 0;
		struct picks p, again;

		CHECK(picks_draw(&asked[i], &p) && picks_draw(&asked[i], &again));
		CHECK(memcmp(&p, &again, sizeof p) == 0);
		CHECK(p.n_own <= asked[i].experts / asked[i].chips);
		for (uint32_t n = 0; n < p.n_own; n++) {
			CHECK(p.own[n] && p.own[n] <= asked[i].tokens && (!n || p.own[n] <= p.own[n - 1]));
			own += p.own[n];
		}
		for (uint32_t n = 0; n < p.n_others; n++)
			others += p.others[n];
		/* Means are rounded, and what is less than half a row in the mean is none. */
		CHECK(own + others >= all - all / 4 && own + others <= all + asked[i].experts / 2);
		CHECK(own * asked[i].chips >= all);
	}
}

/* FlashInfer's CUTLASS kernels multiply whole tiles: 1 or 100 rows an expert take as long, 300 twice that. On Hopper 8-bit
 * fragments are widened first, so fp8 takes far longer than its weights. */
TEST(cutlass_experts_multiply_whole_tiles)
{
	static const char *const rows[] = { "fp8,8,2048,4096,1,8,1,1,balanced", "fp8,800,2048,4096,1,8,1,1,balanced",
		                            "fp8,2400,2048,4096,1,8,1,1,balanced" };
	ps_t pipe[3], triton = 0;
	char text[512];
	struct bed b;

	for (int i = 0; i < 4; i++) {
		const struct op *o;

		bed_up(&b, DEVICE HOPPER);
		snprintf(text, sizeof text, MOE "%s,%s,100\n",
		         i < 3 ? "vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts" : "vllm_fp8moe_triton",
		         rows[i % 3]);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		o = nth_product(&b, 0);
		if (i < 3) {
			CHECK_STR(b.set.stream.launches[o->first_launch].name, "cutlass_experts_widened");
			pipe[i] = b.set.v[0].time.pipe;
		} else {
			triton = b.set.v[0].time.total;
			CHECK_STR(b.set.stream.launches[o->first_launch].name, "fused_moe_kernel");
		}
		bed_down(&b);
	}
	CHECK(pipe[1] < pipe[0] + pipe[0] / 10 && pipe[1] >= pipe[0]);
	CHECK(pipe[2] > pipe[1] + pipe[1] / 2 && pipe[2] < 3 * pipe[1]);
	CHECK(pipe[0] > triton); /* its math alone over all that Triton's take */
}

/* A tile of Marlin's has as few rows as leave a tenth of its own empty, of all chips' picks over this chip's experts. */
TEST(marlins_experts_take_rows_of_a_tile_by_picks)
{
	static const struct {
		const char *rows;
		uint32_t tile;
	} want[] = {
		{ "int4_wo,8,1024,512,1,8,1,1,balanced", 8 },       { "int4_wo,7,1024,512,8,8,1,1,balanced", 8 },
		{ "int4_wo,8,1024,512,8,8,1,1,balanced", 16 },      { "int4_wo,8,1024,512,8,8,1,4,balanced", 48 },
		{ "w4a16_mxfp4,30,1024,512,8,8,1,1,balanced", 48 }, { "w4a16_mxfp4,512,1024,512,8,8,1,1,balanced", 64 }
	};
	char text[512];
	struct bed b;

	for (size_t i = 0; i < 2 * (sizeof want / sizeof *want); i++) {
		const struct op *o;
		const bool hopper = i % 2;

		bed_up(&b, hopper ? DEVICE HOPPER : DEVICE AMPERE);
		snprintf(text, sizeof text, MOE "vllm_marlin_marlinexperts,%s,100\n", want[i / 2].rows);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		o = nth_product(&b, 0);
		CHECK_STR(b.set.stream.launches[o->first_launch].name,
		          want[i / 2].rows[0] == 'w' ? "marlin_experts_fp4" : "marlin_experts_int4");
		CHECK_U64(b.set.work.launches[o->first_launch].kernel.tile_n, want[i / 2].tile);
		bed_down(&b);
	}
}

/* Steps of all tiles are shared out evenly: a tile more than SMs hold is no round more, and more tokens take no less. Widening fp4 has
 * more instructions than int4; where a chip has some of the experts, rows are cleared between the products. */
TEST(marlins_experts_share_steps_and_not_tiles)
{
	static const char *const rows[] = { "int4_wo,131,7168,128,1,131,1,1,balanced",
		                            "int4_wo,133,7168,128,1,133,1,1,balanced",
		                            "w4a16_mxfp4,133,7168,128,1,133,1,1,balanced",
		                            "int4_wo,131,7168,128,1,262,1,2,balanced" };
	ps_t took[4], pipe[4], before = 0;
	char text[512];
	uint32_t launches[4];
	struct bed b;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bed_up(&b, DEVICE HOPPER);
		snprintf(text, sizeof text, MOE "vllm_marlin_marlinexperts,%s,100\n", rows[i]);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		took[i] = b.set.v[0].time.total;
		pipe[i] = b.set.v[0].time.pipe;
		launches[i] = (uint32_t)b.set.stream.n_launches;
		bed_down(&b);
	}
	CHECK(took[1] >= took[0] && took[1] < took[0] + took[0] / 20);
	CHECK(pipe[2] > pipe[1] + pipe[1] / 2);
	CHECK_U64(launches[3], launches[0] + 2); /* a look-up of whose experts are its own, and the zeros */
	for (uint32_t tokens = 1; tokens <= 4096; tokens *= 4) {
		bed_up(&b, DEVICE HOPPER);
		snprintf(text, sizeof text, MOE "vllm_marlin_marlinexperts,int4_wo,%u,1024,512,8,64,1,1,balanced,100\n",
		         tokens);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		CHECK(b.set.v[0].time.total >= before);
		before = b.set.v[0].time.total;
		bed_down(&b);
	}
}

/* The fullest chip has more than its share, and no expert more rows than there are tokens. */
TEST(uneven_picks_are_more_on_one_chip)
{
	uint64_t even, most;
	char text[512];
	struct bed b;

	for (int i = 0; i < 2; i++) {
		const struct op *o;

		bed_up(&b, DEVICE HOPPER);
		snprintf(text, sizeof text, MOE "vllm_any,bfloat16,256,1024,512,8,64,1,8,%s,100\n",
		         i ? "power_law_1.2" : "balanced");
		CHECK_OK(read_text(&b, text, NULL), b.e);
		o = nth_product(&b, 0);
		*(i ? &most : &even) = b.set.stream.operands[o->first_operand].touched / 2048;
		CHECK(o->shape.batch <= 8);
		bed_down(&b);
	}
	CHECK_U64(even, 256);
	CHECK(most > even && most <= 8 * 256);
}

TEST(a_product_row_is_a_sample_with_its_share_of_the_graph)
{
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	CHECK_OK(read_text(&b, GEMM "G,k,bfloat16,1,4096,4096,42.5\n", NULL), b.e);
	CHECK_U64(b.set.n, 1);
	CHECK_U64(b.set.v[0].measured_ns, 42500);
	CHECK(b.set.v[0].split == SAMPLE_HELD_OUT);
	CHECK_STR(b.set.v[0].cls, "gemm bfloat16, 1 row");
	CHECK_STR(b.set.v[0].group, "G");
	CHECK_U64(b.set.v[0].around, 1380000); /* 6 us over six calls, 0.38 a node */
	/* 6 x 33.5 MB are more than three times 48 MiB: weights come from DRAM, tokens do not */
	CHECK_U64(b.set.work.launches[0].mem.read - b.set.work.launches[0].mem.read_hit, 2 * 4096 * 4096);
	CHECK(b.set.v[0].time.total > 33554432 + 1000000);
	bed_down(&b);
}

/* 36 calls of 10 ms before those that are timed outlast what a board's controller looks at, those of 10 us do not. */
/* cuBLAS's kernels for Hopper begin before the one before ends: no gap of a node. Others wait for it. */
TEST(what_is_launched_ahead_has_no_gap_in_a_graph)
{
	static const struct {
		const char *device, *dtype;
		uint64_t around; /* 6 us over six calls, 0.38 a node */
	} want[] = { { DEVICE HOPPER, "bfloat16", 1000000 },
		     { DEVICE HOPPER, "fp8", 2140000 }, /* quantised first */
		     { DEVICE AMPERE, "bfloat16", 1380000 },
		     { DEVICE BLACKWELL, "bfloat16", 1380000 } };

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		char text[256];
		struct bed b;

		bed_up(&b, want[i].device);
		snprintf(text, sizeof text, GEMM "X,torch.nn.functional.linear,%s,1,4096,4096,9\n", want[i].dtype);
		CHECK_OK(read_text(&b, text, NULL), b.e);
		CHECK_U64(b.set.n, 1);
		CHECK_U64(b.set.v[0].around, want[i].around);
		bed_down(&b);
	}
}

TEST(a_cap_slows_calls_that_outlast_the_controller)
{
	static const char text[] = GEMM "G,k,bfloat16,8192,8192,8192,5000\nG,k,bfloat16,64,1024,1024,5\n";
	struct bed b;
	ps_t free[2];

	bed_up(&b, DEVICE AMPERE);
	b.conf->cfg.gpu.power = (struct gpu_power_cfg){ .idle = 100000000,
		                                        .idle_low = 50000000,
		                                        .reach = 1000000,
		                                        .slope = 450000,
		                                        .awake_rate = UINT64_C(1000000000000),
		                                        .mac = 1000 };
	CHECK_OK(read_text(&b, text, NULL), b.e);
	CHECK_U64(b.set.v[0].before, 36);
	free[0] = b.set.v[0].time.total;
	free[1] = b.set.v[1].time.total;
	CHECK(36 * free[0] > 100 * PS_MS && 36 * free[1] < 100 * PS_MS);
	b.conf->cfg.gpu.power.cap = 150000000;
	CHECK_OK(read_text(&b, text, NULL), b.e);
	CHECK(b.set.v[0].time.total > free[0]);
	CHECK_U64(b.set.v[1].time.total, free[1]);
	bed_down(&b);
}

TEST(copies_that_fit_are_found_again)
{
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	CHECK_OK(read_text(&b, GEMM "G,k,bfloat16,4,1024,1024,5\n", NULL), b.e);
	CHECK_U64(b.set.work.launches[0].mem.read_hit, b.set.work.launches[0].mem.read);
	bed_down(&b);
}

TEST(fp8_products_quantise_first_and_block_scales_are_the_host_s_times)
{
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	CHECK_OK(
		read_text(
			&b,
			GEMM
			"G,k,fp8,16,1024,1024,5\nG,k,fp8,1,1024,1024,6\nG,k,fp8_block,16,1024,1024,300\nG,k,nvfp4,1,128,128,7\n",
			NULL),
		b.e);
	CHECK_U64(b.set.n, 2);
	CHECK_U64(b.set.v[0].n_ops, 2);
	CHECK(b.set.stream.ops[0].kind == OP_CONVERT);
	CHECK_U64(b.set.work.launches[0].at->grid[0], 16); /* a CTA a token */
	CHECK_STR(b.set.work.launches[0].kernel.name, "fp8_quantise");
	CHECK_U64(b.set.v[1].n_ops, 3); /* and a copy beside one row */
	CHECK_U64(b.st.host_bound, 1);
	CHECK_U64(b.st.no_rule, 1);
	CHECK_U64(b.st.rows, 4);
	bed_down(&b);
}

TEST(fp4_products_come_with_scales_where_the_device_multiplies_fp4)
{
#define FP4_DEVICE \
	"kind: gpu\nname: toy\nclock: 1 GHz\ncores: 100\nl2: {size: 48 MiB, ways: 16}\ngpu: {flop_fp4: 4096}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 1 TB/s}\n"
	static const char *const devices[] = { FP4_DEVICE "sm: {capability: 120}\n", FP4_DEVICE BLACKWELL };

	for (size_t i = 0; i < 2; i++) {
		const struct gpu_launch *l;
		struct bed b;

		bed_up(&b, devices[i]);
		CHECK_OK(read_text(&b, GEMM "G,k,nvfp4,8,1024,4096,7\nG,k,nvfp4,1,1024,4096,7\n", NULL), b.e);
		CHECK_U64(b.set.n, 2);
		CHECK(b.set.v[0].n_ops == 2 && b.set.v[1].n_ops == 2);
		l = &b.set.work.launches[1];
		CHECK(l->op->dtype == DT_FP4 && l->kernel.tile_m >= 128 && l->at->grid[2] == 1);
		CHECK_U64(l->mem.read, 1024 * 4096 / 2 + 1024 * 4096 / 16 + 8 * 4096 / 2 + 8 * 4096 / 16);
		bed_down(&b);
	}
}

TEST(attention_tables_and_collections_are_told_by_their_header)
{
	static const struct tables_opts h = { .gpu = "H" };
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	CHECK_OK(read_text(&b,
	                   "gpu,kernel,attn_dtype,kv_cache_dtype,batch_size,num_heads,num_key_value_heads,head_dim,"
	                   "window_size,kv_len,time_us\nG,vllm_flash_attn_fa2,bfloat16,bfloat16,4,32,8,128,0,1024,20\n",
	                   NULL),
	         b.e);
	CHECK_U64(b.set.n, 1);
	CHECK_U64(b.set.v[0].n_ops, 3);        /* the queries regrouped, and back */
	CHECK_U64(b.set.v[0].around, 7520000); /* four nodes */
	bed_down(&b);
	bed_up(&b, DEVICE AMPERE);
	CHECK_OK(read_text(&b,
	                   "gpu,kernel,shape,dtype,time_us,source\n"
	                   "H,GEMM torch,M=1 N=512 K=2048,bfloat16,5.42,github.com/ai-dynamo/aiconfigurator@1\n"
	                   "H,GEMM torch,M=1 N=512 K=2048,bfloat16,5.42,elsewhere\n"
	                   "I,GEMM torch,M=1 N=512 K=2048,bfloat16,5.42,github.com/ai-dynamo/aiconfigurator@1\n"
	                   "H,decode attention x,B=8 kv=1024 h32 kv8 "
	                   "d128,bf16,18.2,github.com/ai-dynamo/aiconfigurator@1\n",
	                   &h),
	         b.e);
	CHECK_U64(b.set.n, 2);
	CHECK_U64(b.set.stream.ops[1].shape.kv_len, 1024);
	bed_down(&b);
}

TEST(faults_name_the_line_and_the_column)
{
	refused("", "empty");
	refused("a,b\n", "no column 'gpu'");
	refused(GEMM "G,k,bfloat16,1,x,4096,1\n", "t.csv:2: 'n' is 'x'");
	refused(GEMM "G,k,bfloat16,1,-4,4096,1\n", "t.csv:2: 'n'");
	refused(GEMM "G,k,bfloat16,1,4,4096,0\n", "t.csv:2: 'time_us'");
	refused(GEMM "G,k,bf61,1,4,4096,1\n", "t.csv:2: unknown type 'bf61'");
}

TEST(one_of_n_rows_and_the_others_are_all_rows)
{
	struct str text = STR_INIT;
	size_t n[2];
	struct bed b;

	str_add(&text, GEMM);
	for (int i = 1; i <= 60; i++)
		str_addf(&text, "G,k,bfloat16,8,%d,4096,10\n", 64 * i);
	for (int others = 0; others < 2; others++) {
		const struct tables_opts o = { .every = 4, .others = others };

		bed_up(&b, DEVICE AMPERE);
		CHECK_OK(read_text(&b, text.p, &o), b.e);
		n[others] = b.set.n;
		bed_down(&b);
	}
	CHECK(n[0] > 5 && n[0] < 30);
	CHECK_U64(n[0] + n[1], 60);
	str_free(&text);
}

/* What a device stays within on a table, of a class of it, in the mean: what validate/ACCURACY.md states. */
struct want {
	const char *device, *file, *cls;
	double mape, weighted;
};

static void is_within(const struct want *w, const struct score *s, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(s[i].cls, w->cls) == 0) {
			CHECK(s[i].n > 10);
			CHECK(s[i].mape < w->mape);
			CHECK(s[i].weighted_ape < w->weighted);
			return;
		}
	test_fail(__FILE__, __LINE__, "no class '%s'", w->cls);
}

/* One of `every` rows of a table, simulated once for all n classes of it that are looked at. */
static void scored(const char *path, uint32_t every, const struct want *w, size_t n)
{
	char conf[1024];
	struct tables_opts o = { .every = every };
	struct input *in;
	struct score *s;
	struct bed b;
	int classes;

	snprintf(conf, sizeof conf, "%s/configs/gpu/%s.yaml", test_root(), w->device);
	bed_up(&b, DEVICE AMPERE);
	machine_conf_free(b.conf);
	b.conf = machine_conf_load(conf, NULL, 0, &b.e);
	CHECK_OK(b.conf ? 0 : -1, b.e);
	in = input_open(path, &b.e);
	CHECK_OK(in ? tables_read(in, &(struct tables_device){ &b.conf->cfg, b.k }, &o, b.a, &b.set, &b.st, &b.e) : -1,
	         b.e);
	input_free(in);
	CHECK_U64(b.st.read, b.set.n);
	classes = score_samples(&b.set, 1, SAMPLE_ALL, SCORE_CLASS, b.a, &s, &b.e);
	for (size_t i = 0; i < n; i++)
		is_within(&w[i], s, classes);
	bed_down(&b);
}

/* Of a table that is not committed. */
static void within(const char *device, const char *file, const char *cls, double most)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/../shared/data/public/%s", test_root(), file);
	if (access(path, R_OK) != 0)
		test_skip("not run: 1 file absent");
	scored(path, 4, &(struct want){ device, file, cls, 100, most }, 1);
}

/* Of those that are, whole; rows of one table stand together. */
TEST(kernels_of_engines_stay_as_near_as_they_are)
{
	static const struct want want[] = {
		{ "h100", "decode_attn_h100_sxm", "attention vllm_flash_attn_fa3", 8, 10 },
		{ "b200", "decode_attn_b200_sxm", "attention vllm_flashinfer_trtllmdecode", 10, 10 },
		{ "h200", "prefill_attn_h200_sxm", "attention vllm_flash_attn_fa3, prompts", 13, 12 },
		{ "rtx-pro-6000", "prefill_attn_rtx_pro_6000_server", "attention vllm_flash_attn_fa2, prompts", 11, 6 },
		{ "rtx-pro-6000", "prefill_attn_rtx_pro_6000_server", "attention vllm_flashinfer_fiprefill, prompts",
		  13, 7 },
		{ "rtx-pro-6000", "prefill_attn_rtx_pro_6000_server", "attention vllm_triton_attn, prompts", 9, 5 },
		{ "b200", "gemm_m1-64_b200_sxm", "gemm bfloat16", 10, 7 },
		{ "h200", "experts_h200_sxm", "experts vllm_unquantizedfusedmoe_triton_tritonexperts, bfloat16", 14,
		  16 },
		{ "h200", "experts_h200_sxm", "experts vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts, fp8",
		  13, 12 },
		{ "h200", "experts_h200_sxm",
		  "experts vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts, int4_wo", 9, 8 },
		{ "h200", "experts_h200_sxm",
		  "experts vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu, w4a16_mxfp4", 15, 15 },
		{ "h200", "experts_h200_sxm",
		  "experts vllm_gptossmxfp4moe_triton_oaitritonmxfp4expertsmonolithic, w4a16_mxfp4", 22, 56 },
		{ "h200", "experts_h200_sxm", "experts vllm_fp8moe_flashinfer_cutlass_flashinferexperts, fp8_block", 13,
		  15 },
		{ "rtx-pro-6000", "experts_rtx_pro_6000_server",
		  "experts vllm_compressedtensorsw4a4nvfp4moe_flashinfer_cutlass_flashinferexperts, nvfp4", 10, 11 },
		{ "rtx-pro-6000", "experts_rtx_pro_6000_server",
		  "experts vllm_unquantizedfusedmoe_flashinfer_cutlass_flashinferexperts, bfloat16", 10, 10 },
		{ "rtx-pro-6000", "experts_rtx_pro_6000_server",
		  "experts vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts, int4_wo", 12, 9 },
		{ "rtx-pro-6000", "experts_rtx_pro_6000_server",
		  "experts vllm_gptossmxfp4moe_marlin_marlinexperts, w4a16_mxfp4", 12, 12 },
		{ "h100", "gemm_m1-64_h100_sxm", "gemm fp8", 7, 9 },
	};

	for (size_t i = 0, n, k = 0; i < sizeof want / sizeof *want; i += n, k++) {
		char path[1024];

		for (n = 1; i + n < sizeof want / sizeof *want && strcmp(want[i + n].file, want[i].file) == 0; n++)
			CHECK_STR(want[i + n].device, want[i].device);
		snprintf(path, sizeof path, "%s/validate/data/engines/%s.csv", test_root(), want[i].file);
		if (test_turn(k, 4))
			scored(path, 1, &want[i], n);
	}
}

TEST(an_a100_by_data_sheet)
{
	within("a100", "gemm_m1-64_a100_sxm.csv.gz", "gemm bfloat16", 8);
}

TEST(an_rtx_pro_6000_by_data_sheet)
{
	within("rtx-pro-6000", "gemm_m1-64_rtx_pro_6000_server.csv.gz", "gemm bfloat16", 5);
}

TEST(fp8_and_fp4_products_by_data_sheet)
{
	if (test_turn(0, 3))
		within("l40s", "gemm_m1-64_l40s.csv.gz", "gemm fp8", 16);
	if (test_turn(1, 3))
		within("rtx-pro-6000", "gemm_m1-64_rtx_pro_6000_server.csv.gz", "gemm fp8", 8);
	if (test_turn(2, 3))
		within("rtx-pro-6000", "gemm_m1-64_rtx_pro_6000_server.csv.gz", "gemm nvfp4", 12);
}

SUITE(t_tables, T(prompts_are_causal_and_a_window_shortens_them),
      T(experts_are_two_grouped_products_of_the_fullest_chip), T(experts_are_those_of_the_model_that_has_such_shapes),
      T(tiles_of_other_chips_are_cleared), T(uneven_draws_keep_all_picks_and_fill_the_first_chip),
      T(cutlass_experts_multiply_whole_tiles), T(marlins_experts_take_rows_of_a_tile_by_picks),
      T(marlins_experts_share_steps_and_not_tiles), T(uneven_picks_are_more_on_one_chip),
      SLOW(kernels_of_engines_stay_as_near_as_they_are), T(a_product_row_is_a_sample_with_its_share_of_the_graph),
      T(what_is_launched_ahead_has_no_gap_in_a_graph), T(a_cap_slows_calls_that_outlast_the_controller),
      T(copies_that_fit_are_found_again), T(fp8_products_quantise_first_and_block_scales_are_the_host_s_times),
      T(fp4_products_come_with_scales_where_the_device_multiplies_fp4),
      T(attention_tables_and_collections_are_told_by_their_header), T(faults_name_the_line_and_the_column),
      T(one_of_n_rows_and_the_others_are_all_rows), SLOW(an_a100_by_data_sheet), SLOW(an_rtx_pro_6000_by_data_sheet),
      SLOW(fp8_and_fp4_products_by_data_sheet));
