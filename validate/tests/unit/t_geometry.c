/* Launches a library would make: tiles, splits and whose kernels, by shape and device. */
#include "validate/tests/librarybed.h"

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

/* A library has tiles of less k than 128: a k of 64 pays no rounds beyond its own, a deep one no round trip for each 32. */
/* Where large tiles leave half of a last round idle, smaller ones, two an SM, are taken. */
TEST(a_last_round_that_is_half_idle_is_cut_smaller)
{
	struct op_stream s = { 0 };
	struct geometry x;
	struct op o = gemm(4096, 4096, 4096);
	struct bed b;

	bed_up(&b, DEVICE GEFORCE);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_HAS(x.at[0].name, "128x64_32x4");
	o = gemm(16384, 16384, 4096);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_HAS(x.at[0].name, "256x128_32x3");
	bed_down(&b);
}

TEST(a_short_k_has_a_tile_no_deeper_than_it_is)
{
	struct op_stream s = { 0 };
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	for (uint64_t m = 2; m <= 16; m *= 2)
		for (uint64_t k = 32; k <= 2048; k *= 4) {
			struct op o = gemm(m, 1024, k);
			struct geometry x;

			CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
			CHECK(k <= 32     ? x.kernel[0].tile_k == 32
			      : k >= 2048 ? x.kernel[0].tile_k >= 64
			                  : x.kernel[0].tile_k <= k);
		}
	bed_down(&b);
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
		/* Four warps' sums of a tile of 16 rows, which they join, have a place. */
		CHECK(want[i].dim == 192 || want[i].rows != 16 || x.at[0].smem_dynamic >= 256 * want[i].dim);
		CHECK_U64(x.n, want[i].dim == 192 && want[i].batch * 8 > 128
		                       ? 1
		                       : 2); /* what joins runs for one part, too */
	}
	bed_down(&b);
}

/* Of 16 segments those without a key of the window, or behind the last one, are launched and left. */
TEST(a_window_lies_in_one_of_triton_s_segments)
{
	static const struct {
		uint64_t batch, window;
		uint32_t parts, empty;
	} want[] = { { 1, 0, 4, 12 }, { 1, 128, 1, 15 }, { 8, 128, 1, 120 }, { 256, 128, 1, 0 } };
	struct op_stream s = { 0 };
	struct geometry x;
	struct bed b;

	bed_up(&b, DEVICE AMPERE);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct op o = decode(want[i].batch, 8, 1, 128, 192);

		o.algorithm = OP_ATTN_SPLIT_KV;
		o.library = OP_LIBRARY_TRITON;
		o.dtype = DT_FP8;
		o.shape.window = want[i].window;
		CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
		CHECK_U64(x.at[0].grid[0], want[i].parts);
		CHECK_U64(x.kernel[0].once_cycles, want[i].empty * 2500 / (2 * b.g.sms));
	}
	bed_down(&b);
}

/* FlashAttention 2 takes heads that share keys as rows where no sequence of a call has more queries than one. */
TEST(in_a_call_with_prompts_each_head_has_a_cta)
{
	struct op_stream s = { 0 };
	struct op o = decode(16, 32, 8, 4096, 128);
	struct geometry x;
	struct bed b;

	o.algorithm = OP_ATTN_SPLIT_KV;
	o.mixed = true;
	bed_up(&b, DEVICE AMPERE);
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_U64(x.n, 1); /* keys are whole */
	CHECK(x.at[0].grid[0] == 1 && x.at[0].grid[1] == 32 && x.at[0].grid[2] == 16);
	CHECK(x.kernel[0].tile_m == 64 && x.kernel[0].tile_k == 128);
	o.library = OP_LIBRARY_FLASHINFER; /* calls of its own */
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_HAS(x.at[0].name, "flashinfer");
	o.library = OP_LIBRARY_ANY;
	o.mixed = false;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_HAS(x.at[0].name, "flashinfer");
	bed_down(&b);
	bed_up(&b, DEVICE HOPPER); /* FlashAttention 3 has them as rows in any case */
	o.mixed = true;
	CHECK(gpu_geometry_of(&b.g, b.k, &s, &o, &x));
	CHECK_HAS(x.at[0].name, "FlashAttnFwdSm90");
	CHECK_U64(x.at[0].grid[1], 8);
	bed_down(&b);
}

SUITE(t_geometry, T(a_key_split_fills_the_sms_twice_and_no_more), T(one_row_is_a_gemv_where_there_is_no_wgmma),
      T(a_grid_is_the_tiles_or_stays_on_the_device_in_whole_clusters), T(a_short_k_has_a_tile_no_deeper_than_it_is),
      T(a_last_round_that_is_half_idle_is_cut_smaller), T(an_fp8_product_goes_by_tokens_outputs_and_k),
      T(an_h200_takes_the_tiles_that_were_traced), T(heads_that_share_keys_are_rows_of_one_tile),
      T(many_queries_have_another_kernel_where_scores_have_a_bias_and_no_wgmma),
      T(paged_keys_are_split_as_the_libraries_plan_it), T(on_hopper_keys_are_split_by_the_tiles_there_are),
      T(prompts_of_engines_have_the_engines_tiles), T(few_prompts_split_their_keys),
      T(triton_s_prompts_have_sixteen_rows_a_cta),
      T(on_blackwell_bytes_are_multiplied_as_they_are_and_the_last_cta_joins),
      T(on_hopper_it_is_told_whose_kernel_reads_8_bit_keys), T(a_latent_s_parts_fill_the_sms_once),
      T(a_window_lies_in_one_of_triton_s_segments), T(in_a_call_with_prompts_each_head_has_a_cta));
