/* Launches a library would make, and published tables as samples: rows, refusals, residency, what is added and why. */
#include <stdio.h>
#include <unistd.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_conf.h"
#include "sim/accuracy/picks.h"
#include "sim/accuracy/score.h"
#include "sim/accuracy/tables.h"

#include "arch/machine/machine_gpu.h"
#include "validate/tests/test.h"

#define DEVICE \
	"kind: gpu\nname: toy\nclock: 1 GHz\ncores: 100\nl2: {size: 48 MiB, ways: 16}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 1 TB/s}\ngpu: {dram_read: 1 TB/s}\nhost: {graph_launch: 6 us}\n"
#define AMPERE    "sm: {smem: 100 KiB, gpc: 0, capability: 89}\n"
#define HOPPER    "sm: {capability: 90}\n"
#define BLACKWELL "sm: {capability: 100}\n"
#define GEMM      "gpu,kernel,dtype,m,n,k,time_us\n"

struct bed {
	struct arena *a;
	struct machine_conf *conf;
	struct kernels *k;
	struct gpu g;
	struct cases set;
	struct tables_stats st;
	struct err e;
};

static void bed_up(struct bed *b, const char *text)
{
	memset(b, 0, sizeof *b);
	b->a = arena_new(0);
	b->conf = machine_conf_parse(text, strlen(text), "toy", NULL, 0, &b->e);
	b->k = kernels_load(NULL, &b->e);
	CHECK_OK(b->conf && b->k ? 0 : -1, b->e);
	b->g = machine_gpu(&b->conf->cfg);
}

static void bed_down(struct bed *b)
{
	kernels_free(b->k);
	machine_conf_free(b->conf);
	arena_free(b->a);
}

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

TEST(a_key_split_fills_the_sms_twice_and_no_more)
{
	/* 8 CTAs, 100 SMs: room for 200; 25 parts fill it, but 22 (88 %) are enough and give no part fewer tiles */
	CHECK_U64(gpu_geometry_kv_splits(8, 100, 1024), 22);
	CHECK_U64(gpu_geometry_kv_splits(160, 100, 1024), 1); /* 80 % of the room is enough */
	CHECK_U64(gpu_geometry_kv_splits(8, 100, 1), 1);      /* one tile is not split */
	CHECK_U64(gpu_geometry_kv_splits(8, 100, 2), 2);
	CHECK_U64(gpu_geometry_kv_splits(1, 100, 100000), 109); /* at most 128; 109 are 85 % of 128 */
}

static struct op gemm(uint64_t m, uint64_t n, uint64_t k)
{
	return (struct op){ .kind = OP_GEMM,
		            .rule = "",
		            .fn = "",
		            .dtype = DT_BF16,
		            .out_dtype = DT_BF16,
		            .shape = { .batch = 1, .m = m, .n = n, .k = k } };
}

TEST(one_row_is_a_gemv_where_there_is_no_wgmma)
{
	struct op_stream s = { 0 };
	struct op o = gemm(1, 896, 1280);
	struct geometry x;
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.n, 1);
	CHECK(x.kernel[0].form == KERNEL_DOT);
	CHECK_U64(x.at[0].grid[0], 224); /* as Nsight Compute showed it on an RTX 5090: (224, 1, 1) of (32, 4, 1) */
	CHECK_U64(x.at[0].block[0], 128);
	o.shape.k = 8192; /* long rows: four CTAs a row */
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.at[0].grid[1], 4);
	CHECK_U64(x.n, 1);
	o.shape.k = 64; /* short ones: four a warp, 16 a CTA */
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.at[0].grid[0], 56);
	o.shape.m = 2;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.kernel[0].form == KERNEL_MMA);
	bed_down(&b);
	bed_up(&b, DEVICE "sm: {capability: 80}\n"); /* there parts are joined by another kernel */
	o.shape.m = 1;
	o.shape.k = 512;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.n, 2);
	CHECK_U64(x.at[0].grid[1], 4);
	o.shape.k = 511;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.n, 1);
	bed_down(&b);
	bed_up(&b, DEVICE HOPPER);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.kernel[0].form == KERNEL_PRODUCT);
	CHECK_HAS(x.at[0].name, "nvjet");
	bed_down(&b);
}

TEST(a_grid_is_the_tiles_or_stays_on_the_device_in_whole_clusters)
{
	static const uint64_t n[] = { 64, 512, 4096, 65536 }, k[] = { 64, 1024, 16384 }, m[] = { 2, 16, 64, 300 };
	static const char *const devices[] = { DEVICE AMPERE, DEVICE HOPPER };
	struct op_stream s = { 0 };

	for (int d = 0; d < 2; d++) {
		struct bed b;

		bed_up(&b, devices[d]);
		for (size_t i = 0; i < 4 * 3 * 4; i++) {
			struct op o = gemm(m[i % 4], n[i / 4 % 4], k[i / 16]);
			struct geometry x;

			CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
			if (d == 0) /* a CTA a tile and part of k; persistent ones stay on the device */
				CHECK(x.at[0].grid[0] == div_up(o.shape.n, x.kernel[0].tile_m) &&
				      x.at[0].grid[1] == div_up(o.shape.m, x.kernel[0].tile_n));
			else
				CHECK(x.at[0].grid[0] >= 1 && x.at[0].grid[0] <= 100);
			CHECK_U64(x.at[0].grid[0] % x.at[0].cluster[0], 0);
			CHECK(x.at[0].smem_dynamic <= b.g.cfg->sm.smem);
			CHECK((x.n == 2) == (x.kernel[0].splits_k == 1));
		}
		bed_down(&b);
	}
}

/* Which of its tiles vLLM takes: rows of its sm89 and sm100 dispatch. */
TEST(an_fp8_product_goes_by_tokens_outputs_and_k)
{
	static const struct {
		const char *device;
		uint64_t m, n, k;
		uint32_t tile_m, tile_n, tile_k;
	} want[] = {
		{ DEVICE AMPERE, 1, 8192, 4096, 64, 16, 128 },     { DEVICE AMPERE, 16, 8200, 4096, 128, 16, 64 },
		{ DEVICE AMPERE, 16, 20000, 4096, 64, 32, 128 },   { DEVICE AMPERE, 64, 16384, 4096, 128, 64, 128 },
		{ DEVICE BLACKWELL, 1, 4096, 4096, 128, 32, 128 }, { DEVICE BLACKWELL, 64, 4096, 4096, 128, 64, 256 },
		{ DEVICE BLACKWELL, 64, 4096, 2048, 64, 64, 128 },
	};
	struct op_stream s = { 0 };

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct op o = gemm(want[i].m, want[i].n, want[i].k);
		struct geometry x;
		struct bed b;

		o.dtype = DT_FP8;
		bed_up(&b, want[i].device);
		CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
		CHECK_U64(x.n, 1); /* k is never split */
		CHECK_U64(x.kernel[0].tile_m, want[i].tile_m);
		CHECK_U64(x.kernel[0].tile_n, want[i].tile_n);
		CHECK_U64(x.kernel[0].tile_k, want[i].tile_k);
		bed_down(&b);
	}
}

/* Products of one token as cuBLAS laid them out in the steps under traces/h200. */
TEST(an_h200_takes_the_tiles_that_were_traced)
{
	static const struct {
		uint64_t n, k, grid;
		uint32_t tile_m, cluster;
	} want[] = {
		{ 896, 1280, 112, 8, 4 },  { 1280, 1280, 80, 16, 4 }, { 512, 2048, 64, 8, 4 },
		{ 1024, 2560, 128, 8, 2 }, { 1792, 1280, 28, 64, 4 },
	};
	struct op_stream s = { 0 };
	struct bed b;

	bed_up(&b, "kind: gpu\nname: toy\nclock: 1.98 GHz\ncores: 132\nl2: {size: 50 MiB, ways: 16}\n"
	           "dram: {kind: fixed, fixed_bandwidth: 4.8 TB/s}\n" HOPPER);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct op o = gemm(1, want[i].n, want[i].k);
		struct geometry x;

		CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
		CHECK_U64(x.n, 1); /* k is whole */
		CHECK_U64(x.kernel[0].tile_m, want[i].tile_m);
		CHECK_U64(x.kernel[0].cluster_m, want[i].cluster);
		CHECK_U64(x.at[0].grid[0], want[i].grid);
	}
	bed_down(&b);
}

TEST(heads_that_share_keys_are_rows_of_one_tile)
{
	struct op_stream s = { 0 };
	struct op o = { .kind = OP_ATTENTION,
		        .rule = "",
		        .fn = "",
		        .dtype = DT_BF16,
		        .algorithm = OP_ATTN_FLASH,
		        .shape = { .batch = 2,
		                   .heads = 32,
		                   .kv_heads = 8,
		                   .q_len = 1,
		                   .kv_len = 4096,
		                   .head_dim = 128,
		                   .v_dim = 128,
		                   .paged = true } };
	struct geometry x;
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.n, 2); /* parts, and what joins them */
	CHECK_U64(x.at[0].grid[1] * x.at[0].grid[2], 16);
	CHECK_U64(x.at[0].grid[0], gpu_geometry_kv_splits(16, 100, 32));
	CHECK(x.kernel[1].form == KERNEL_COMBINE);
	o.shape.kv_heads = 32; /* of lengths apart, keys are split only where heads share them */
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.n, 1);
	CHECK_U64(x.at[0].grid[1] * x.at[0].grid[2], 64);
	bed_down(&b);
}

static struct op decode(uint64_t batch, uint64_t heads, uint64_t kv_heads, uint64_t keys, uint64_t dim)
{
	return (struct op){ .kind = OP_ATTENTION,
		            .rule = "",
		            .fn = "",
		            .dtype = DT_BF16,
		            .algorithm = OP_ATTN_SPLIT_KV,
		            .shape = { .batch = batch,
		                       .heads = heads,
		                       .kv_heads = kv_heads,
		                       .q_len = 1,
		                       .kv_len = keys,
		                       .head_dim = dim,
		                       .v_dim = dim,
		                       .paged = true } };
}

/* 100 SMs: as many tiles of 128 keys a CTA as there are for an SM and a tenth more, whether heads share keys or not. */
TEST(on_hopper_keys_are_split_by_the_tiles_there_are)
{
	static const struct {
		uint64_t batch, heads, kv_heads, keys, window;
		uint32_t parts;
	} want[] = {
		{ 1, 1, 1, 128, 0, 1 },      { 1, 8, 8, 1024, 0, 8 },
		{ 32, 1, 1, 32768, 0, 3 }, /* 256 tiles, 91 a CTA */
		{ 1, 32, 1, 131072, 0, 32 }, { 4, 64, 8, 131072, 128, 1 },
		{ 64, 8, 8, 4096, 0, 1 },
	};
	struct op_stream s = { 0 };
	struct geometry x;
	struct bed b;

	bed_up(&b, DEVICE HOPPER);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct op o = decode(want[i].batch, want[i].heads, want[i].kv_heads,
		                     want[i].window ? want[i].window : want[i].keys, 128);

		o.shape.window = want[i].window;
		CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
		CHECK_U64(x.n, 2); /* parts, and what joins them in any case */
		CHECK_U64(x.at[0].grid[0], want[i].parts);
		CHECK_U64(x.at[0].grid[1] * x.at[0].grid[2], want[i].batch * want[i].kv_heads);
		CHECK(x.kernel[0].form == KERNEL_ATTENTION && x.kernel[0].tensor);
		CHECK((x.kernel[1].form == KERNEL_COMBINE) == (want[i].parts > 1));
		o.algorithm = OP_ATTN_MLA; /* a latent has its own kernel */
		CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
		CHECK_HAS(x.at[0].name, "mla");
	}
	bed_down(&b);
}

TEST(prompts_of_engines_have_the_engines_tiles)
{
	struct op_stream s = { 0 };
	struct op o = decode(2, 32, 8, 4096, 128);
	struct geometry x;
	struct bed b;

	o.shape.q_len = 4096;
	o.shape.causal = true;
	bed_up(&b, DEVICE HOPPER);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.kernel[0].form == KERNEL_ATTENTION && x.kernel[0].tensor && x.at[0].grid[0] == 1);
	CHECK_U64(x.at[0].grid[1], 8 * 128); /* four heads are rows of a block of 128 */
	bed_down(&b);
	bed_up(&b, DEVICE AMPERE);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.kernel[0].form == KERNEL_FLASH && x.kernel[0].tile_n == 64 && x.kernel[0].tile_k == 128);
	o.library = OP_LIBRARY_FLASHINFER;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.kernel[0].tile_n == 128 && x.kernel[0].shares && x.kernel[0].loop_cycles == 0);
	CHECK_U64(x.n, 1); /* 2048 CTAs: none is left over for a part of the keys */
	o.dtype = DT_FP8;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.kernel[0].loop_cycles > 0);
	bed_down(&b);
}

/* FlashInfer's prompts: where blocks of queries leave SMs idle, keys are split into as many parts as two CTAs an SM have room for,
 * of 128 keys at least; another kernel joins them, a row of a head after the other. */
TEST(few_prompts_split_their_keys)
{
	static const struct {
		uint64_t batch, queries, window;
		uint32_t parts;
	} want[] = {
		{ 1, 128, 0, 1 },    /* 128 keys are not split */
		{ 1, 1536, 0, 8 },   /* 24 blocks of queries: nine parts each, three pages a part */
		{ 1, 6144, 128, 2 }, /* a window's five pages, two parts of three */
		{ 64, 1536, 0, 1 },
	};
	ps_t took[sizeof want / sizeof *want];

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct op_stream s = { 0 };
		struct op o = decode(want[i].batch, 2, 1, want[i].queries, 128);
		struct geometry x;
		struct gpu_launch l[2];
		struct bed b;

		o.shape.q_len = want[i].queries;
		o.shape.window = want[i].window;
		o.shape.causal = true;
		o.library = OP_LIBRARY_FLASHINFER;
		bed_up(&b, DEVICE AMPERE);
		CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
		CHECK_U64(x.at[0].grid[0], div_up(2 * want[i].queries, 128) * want[i].parts);
		CHECK_U64(x.n, want[i].parts > 1 ? 2 : 1);
		took[i] = 0;
		for (uint32_t n = 0; n < x.n; n++) {
			l[n] = (struct gpu_launch){
				.stream = &s, .op = &o, .at = &x.at[n], .kernel = x.kernel[n], .nth = n, .count = x.n
			};
			took[i] += gpu_time(&b.g, &l[n]).total;
		}
		bed_down(&b);
	}
	CHECK(took[0] < took[1] && took[1] < took[3]);
}

/* vLLM's Triton kernel has a CTA for each query with its heads, or for as many as fill 16 rows, on every card. */
TEST(triton_s_prompts_have_sixteen_rows_a_cta)
{
	static const struct {
		uint64_t heads;
		uint32_t rows, ctas; /* along 4096 queries */
	} want[] = { { 4, 16, 1024 }, { 16, 16, 4096 }, { 1, 16, 256 }, { 24, 32, 4096 } };

	for (size_t i = 0; i < 2 * (sizeof want / sizeof *want); i++) {
		struct op_stream s = { 0 };
		struct op o = decode(2, want[i / 2].heads, 1, 4096, 192);
		struct geometry x;
		struct bed b;

		o.shape.q_len = 4096;
		o.shape.causal = true;
		o.library = OP_LIBRARY_TRITON;
		bed_up(&b, i % 2 ? DEVICE HOPPER : DEVICE AMPERE);
		CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
		CHECK(x.n == 1 && x.kernel[0].form == KERNEL_FLASH && x.kernel[0].shares);
		CHECK_U64(x.kernel[0].tile_n, want[i / 2].rows);
		CHECK_U64(x.at[0].grid[0], want[i / 2].ctas);
		bed_down(&b);
	}
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
		          hopper ? "marlin_experts_hopper" : "marlin_experts");
		CHECK_U64(b.set.work.launches[o->first_launch].kernel.tile_n, want[i / 2].tile);
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

TEST(on_blackwell_bytes_are_multiplied_as_they_are_and_the_last_cta_joins)
{
	struct op_stream s = { 0 };
	struct op o = decode(4, 32, 8, 8192, 128);
	struct geometry x, y;
	struct bed b;

	bed_up(&b, DEVICE BLACKWELL);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.n, 1);
	CHECK_U64(x.at[0].grid[0], 3); /* room for three CTAs a sequence and head of keys */
	o.dtype = DT_FP8;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &y));
	CHECK(y.kernel[0].loop_cycles == 0 && y.at[0].grid[0] == x.at[0].grid[0]);
	o.shape.batch = 64; /* more CTAs than SMs: nothing to join */
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &y));
	CHECK(y.at[0].grid[0] == 1 && y.kernel[0].finish < x.kernel[0].finish);
	o.library = OP_LIBRARY_FLASHINFER; /* by name: the kernel that widens them */
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &y));
	CHECK(y.n == 2 && y.kernel[0].loop_cycles > 0);
	bed_down(&b);
}

TEST(on_hopper_it_is_told_whose_kernel_reads_8_bit_keys)
{
	struct op_stream s = { 0 };
	struct op o = decode(64, 32, 8, 8192, 128);
	struct geometry x;
	struct bed b;

	o.dtype = DT_FP8;
	bed_up(&b, DEVICE HOPPER);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.kernel[0].loop_cycles > 0 &&
	      x.kernel[0].tile_m == 64); /* FlashAttention 3 turns values, by one warpgroup */
	o.shape.window = 1024;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.kernel[0].tile_m, 128);
	o.shape.window = 0;
	o.library = OP_LIBRARY_TRTLLM;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.n == 1 && x.kernel[0].loop_cycles == 0 && x.kernel[0].tile_m == 8);
	o.shape.q_len = 4096;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.kernel[0].tile_m, 128);
	bed_down(&b);
	bed_up(&b, DEVICE AMPERE); /* none of its kernels is described there */
	o.shape.q_len = 1;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(!x.kernel[0].tensor);
	bed_down(&b);
}

/* 100 SMs, 8 heads of keys: FlashInfer has room for 25 chunks of 128 keys or more; Triton has 16 segments. */
TEST(a_latent_s_parts_fill_the_sms_once)
{
	struct op_stream s = { 0 };
	struct op o = { .kind = OP_ATTENTION,
		        .rule = "",
		        .fn = "",
		        .dtype = DT_BF16,
		        .algorithm = OP_ATTN_MLA,
		        .shape = { .batch = 4,
		                   .heads = 128,
		                   .kv_heads = 1,
		                   .q_len = 1,
		                   .kv_len = 4096,
		                   .head_dim = 576,
		                   .v_dim = 512 } };
	struct geometry x;
	struct bed b;

	bed_up(&b, DEVICE BLACKWELL);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.n, 2);
	CHECK_U64(x.at[0].grid[0] * x.at[0].grid[1] * x.at[0].grid[2], 4 * 22); /* 64 tiles, three of them a part */
	CHECK(x.kernel[0].tile_m == 128 && x.kernel[1].form == KERNEL_COMBINE);
	o.shape.batch = 100;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.n == 1 && x.at[0].grid[0] == 1 && x.at[0].grid[2] == 100);
	bed_down(&b);
}

TEST(many_queries_have_another_kernel_where_scores_have_a_bias_and_no_wgmma)
{
	struct op_operand in[5] = { { .write = false }, { .write = false }, { .write = false }, { .write = true } };
	struct op_stream s = { .operands = in };
	struct op o = { .kind = OP_ATTENTION,
		        .rule = "",
		        .fn = "",
		        .dtype = DT_BF16,
		        .n_operands = 4,
		        .shape = { .batch = 2,
		                   .heads = 12,
		                   .kv_heads = 12,
		                   .q_len = 196,
		                   .kv_len = 196,
		                   .head_dim = 64,
		                   .v_dim = 64 } };
	struct geometry x;
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.n == 1 && x.kernel[0].form == KERNEL_FLASH && x.kernel[0].tile_n == 128 && x.at[0].grid[0] == 2);
	o.n_operands = 5;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK(x.kernel[0].tile_n == 64 && x.at[0].grid[0] == 4 && x.at[0].grid[1] == 12 && x.at[0].grid[2] == 2);
	bed_down(&b);
	bed_up(&b, DEVICE HOPPER); /* cuDNN's, which the stream names */
	CHECK(!gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	bed_down(&b);
}

TEST(paged_keys_are_split_as_the_libraries_plan_it)
{
	static const struct {
		uint64_t batch, heads, dim, keys;
		uint32_t parts, rows, tile;
	} want[] = {
		{ 1, 32, 128, 1, 1, 16, 128 },      { 1, 32, 128, 1024, 8, 16, 128 },
		{ 1, 32, 128, 65536, 25, 16, 128 }, { 4, 32, 64, 65536, 6, 16, 256 },
		{ 64, 32, 256, 4096, 1, 16, 64 },   { 1, 160, 128, 65536, 25, 64, 128 },
		{ 1, 160, 64, 65536, 25, 64, 128 }, { 1, 160, 256, 65536, 25, 64, 32 },
		{ 1, 32, 192, 64, 2, 16, 32 },      { 1, 32, 192, 544, 9, 16, 32 },
		{ 1, 32, 192, 65536, 16, 16, 32 },  { 32, 32, 192, 65536, 1, 16, 32 },
	};
	struct op_stream s = { 0 };
	struct geometry x;
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct op o = { .kind = OP_ATTENTION,
			        .rule = "",
			        .fn = "",
			        .dtype = DT_FP8,
			        .algorithm = OP_ATTN_SPLIT_KV,
			        .shape = { .batch = want[i].batch,
			                   .heads = want[i].heads,
			                   .kv_heads = 8,
			                   .q_len = 1,
			                   .kv_len = want[i].keys,
			                   .head_dim = want[i].dim,
			                   .v_dim = want[i].dim,
			                   .paged = true } };

		CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
		CHECK_U64(x.at[0].grid[0], want[i].parts);
		CHECK_U64(x.kernel[0].tile_m, want[i].rows);
		CHECK_U64(x.kernel[0].tile_k, want[i].tile);
		CHECK_U64(x.n, want[i].dim == 192 && want[i].batch * 8 > 128
		                       ? 1
		                       : 2); /* what joins runs for one part, too */
	}
	bed_down(&b);
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

/* One of `every` rows of a table: a device stays within what validate/ACCURACY.md states of a class, in the mean. */
static void scored(const char *device, const char *path, uint32_t every, const char *cls, double mape, double weighted)
{
	char conf[1024];
	struct tables_opts o = { .every = every };
	struct input *in;
	struct score *s;
	struct bed b;
	int n;

	snprintf(conf, sizeof conf, "%s/configs/gpu/%s.yaml", test_root(), device);
	bed_up(&b, DEVICE AMPERE);
	machine_conf_free(b.conf);
	b.conf = machine_conf_load(conf, NULL, 0, &b.e);
	CHECK_OK(b.conf ? 0 : -1, b.e);
	in = input_open(path, &b.e);
	CHECK_OK(in ? tables_read(in, &(struct tables_device){ &b.conf->cfg, b.k }, &o, b.a, &b.set, &b.st, &b.e) : -1,
	         b.e);
	input_free(in);
	CHECK_U64(b.st.read, b.set.n);
	n = score_samples(&b.set, 1, SAMPLE_ALL, SCORE_CLASS, b.a, &s, &b.e);
	for (int i = 0; i < n; i++)
		if (strcmp(s[i].cls, cls) == 0) {
			CHECK(s[i].n > 10);
			CHECK(s[i].mape < mape);
			CHECK(s[i].weighted_ape < weighted);
			bed_down(&b);
			return;
		}
	test_fail(__FILE__, __LINE__, "no class '%s'", cls);
}

/* Of a table that is not committed. */
static void within(const char *device, const char *file, const char *cls, double most)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/../shared/data/public/%s", test_root(), file);
	if (access(path, R_OK) != 0)
		test_skip("not run: 1 file absent");
	scored(device, path, 4, cls, 100, most);
}

/* Of those that are, whole. */
TEST(kernels_of_engines_stay_as_near_as_they_are)
{
	static const struct {
		const char *device, *file, *cls;
		double mape, weighted;
	} want[] = {
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
		{ "rtx-pro-6000", "experts_rtx_pro_6000_server",
		  "experts vllm_compressedtensorsw4a4nvfp4moe_flashinfer_cutlass_flashinferexperts, nvfp4", 10, 11 },
		{ "rtx-pro-6000", "experts_rtx_pro_6000_server",
		  "experts vllm_unquantizedfusedmoe_flashinfer_cutlass_flashinferexperts, bfloat16", 10, 10 },
		{ "h200", "experts_h200_sxm",
		  "experts vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts, int4_wo", 16, 9 },
		{ "h200", "experts_h200_sxm",
		  "experts vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts_situ_as_silu, w4a16_mxfp4", 25, 25 },
		{ "h200", "experts_h200_sxm",
		  "experts vllm_gptossmxfp4moe_triton_oaitritonmxfp4expertsmonolithic, w4a16_mxfp4", 22, 56 },
		{ "h200", "experts_h200_sxm", "experts vllm_fp8moe_flashinfer_cutlass_flashinferexperts, fp8_block", 13,
		  15 },
		{ "rtx-pro-6000", "experts_rtx_pro_6000_server",
		  "experts vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts, int4_wo", 20, 20 },
		{ "rtx-pro-6000", "experts_rtx_pro_6000_server",
		  "experts vllm_gptossmxfp4moe_marlin_marlinexperts, w4a16_mxfp4", 14, 14 },
		{ "h100", "gemm_m1-64_h100_sxm", "gemm fp8", 7, 9 },
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		char path[1024];

		snprintf(path, sizeof path, "%s/validate/data/engines/%s.csv", test_root(), want[i].file);
		scored(want[i].device, path, 1, want[i].cls, want[i].mape, want[i].weighted);
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

SUITE(t_tables, T(a_key_split_fills_the_sms_twice_and_no_more), T(one_row_is_a_gemv_where_there_is_no_wgmma),
      T(a_grid_is_the_tiles_or_stays_on_the_device_in_whole_clusters), T(an_fp8_product_goes_by_tokens_outputs_and_k),
      T(an_h200_takes_the_tiles_that_were_traced), T(heads_that_share_keys_are_rows_of_one_tile),
      T(many_queries_have_another_kernel_where_scores_have_a_bias_and_no_wgmma),
      T(paged_keys_are_split_as_the_libraries_plan_it), T(on_hopper_keys_are_split_by_the_tiles_there_are),
      T(prompts_of_engines_have_the_engines_tiles), T(few_prompts_split_their_keys),
      T(triton_s_prompts_have_sixteen_rows_a_cta), T(prompts_are_causal_and_a_window_shortens_them),
      T(experts_are_two_grouped_products_of_the_fullest_chip), T(experts_are_those_of_the_model_that_has_such_shapes),
      T(tiles_of_other_chips_are_cleared), T(uneven_draws_keep_all_picks_and_fill_the_first_chip),
      T(cutlass_experts_multiply_whole_tiles), T(marlins_experts_take_rows_of_a_tile_by_picks),
      T(uneven_picks_are_more_on_one_chip), T(kernels_of_engines_stay_as_near_as_they_are),
      T(on_blackwell_bytes_are_multiplied_as_they_are_and_the_last_cta_joins),
      T(on_hopper_it_is_told_whose_kernel_reads_8_bit_keys), T(a_product_row_is_a_sample_with_its_share_of_the_graph),
      T(copies_that_fit_are_found_again), T(fp8_products_quantise_first_and_block_scales_are_the_host_s_times),
      T(fp4_products_come_with_scales_where_the_device_multiplies_fp4), T(a_latent_s_parts_fill_the_sms_once),
      T(attention_tables_and_collections_are_told_by_their_header), T(faults_name_the_line_and_the_column),
      T(one_of_n_rows_and_the_others_are_all_rows), T(an_a100_by_data_sheet), T(an_rtx_pro_6000_by_data_sheet));
