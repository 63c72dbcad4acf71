/* t_gpu_forms.c - closed forms of products and attention: a template and a shape on a fixed device. */
#include "arch/gpu/gpu_activity.h"
#include "arch/gpu/kernels.h"
#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "validate/tests/test.h"

static const char device[] =
	"name: test\nkind: gpu\nclock: 1.98 GHz\ncores: 132\n"
	/* Of a day's calibration: another must not change what is expected here. */
	"gpu: {launch: 540 ns, step_l2: 165 ns}\n"
	"product: {setup: 1368 ns, scaled: 428.1 ns, step: 81.3 ns, step_fill: 103.6 ns"
	", store_rate: 40.67 GB/s, l2_rate: 8.2 TB/s, gpc_rate: 418 GB/s"
	", gpc_short: 10, few: 0.809, sm_dram: 394.8 GB/s, tensor: 0.9633, clock_fp8: 1.587 GHz"
	", reduce: 645 ns, reduce_part: 121 ns, reduce_wave: 325 ns, reduce_rest: 235 ns, dot: 1690 ns"
	", row: 525 ns, fma_step: 138.2 ns}\n"
	"attention: {setup: 484 ns, setup_dim: 1275 ns, tile: 320.6 ns, tile_rate: 84.4 GB/s, combine: 1016 ns"
	", combine_part: 26.7 ns"
	", combine_rate: 2.04 TB/s, many_setup: 1493 ns, many_block: 974.5 ns, many_softmax: 1.163"
	", many_tensor: 0.996}\n";

struct bed {
	struct machine_conf *conf;
	struct gpu g;
	struct op op;
	struct op_launch at[2];
	struct gpu_launch l[2];
};

static void open_bed(struct bed *b, const char *const *sets, int n)
{
	struct err e = ERR_INIT;

	memset(b, 0, sizeof *b);
	b->conf = machine_conf_parse(device, strlen(device), "test.yaml", sets, n, &e);
	if (!b->conf)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	b->g = machine_gpu(&b->conf->cfg);
	for (uint32_t i = 0; i < 2; i++)
		b->l[i] = (struct gpu_launch){ .op = &b->op, .at = &b->at[i], .nth = i, .count = 2 };
}

static void geometry(struct op_launch *a, uint32_t x, uint32_t y, uint32_t z, uint32_t threads, uint32_t cluster)
{
	*a = (struct op_launch){ .grid = { x, y, z },
		                 .block = { threads, 1, 1 },
		                 .cluster = { cluster, 1, 1 },
		                 .registers = 168,
		                 .smem_dynamic = 164308 };
}

/* y[1][n] = x[1][k] W[n][k]^T in bf16 by tiles of 64 x 8, 64 deep, 16 stages, clusters of 4. */
static void small_product(struct bed *b, uint64_t n, uint64_t k, uint32_t clusters, bool cold)
{
	b->op = (struct op){ .kind = OP_GEMM,
		             .dtype = DT_BF16,
		             .out_dtype = DT_BF16,
		             .n_launches = 1,
		             .shape = { .batch = 1, .m = 1, .n = n, .k = k } };
	geometry(&b->at[0], 4, clusters, 1, 384, 4);
	b->l[0].kernel = (struct kernel){ .form = KERNEL_PRODUCT,
		                          .tile_m = 64,
		                          .tile_n = 8,
		                          .tile_k = 64,
		                          .stages = 16,
		                          .cluster_m = 4,
		                          .cluster_n = 1 };
	b->l[0].mem = (struct gpu_mem){ .read = n * k * 2, .read_hit = cold ? 0 : n * k * 2 };
}

static ps_t total(struct bed *b, int i)
{
	struct gpu_time t = gpu_time(&b->g, &b->l[i]);

	CHECK_U64(t.launch + t.start + t.body + t.finish, t.total);
	return t.total;
}

TEST(a_step_more_of_a_products_k_costs_a_step)
{
	struct bed b;
	ps_t a;

	open_bed(&b, NULL, 0);
	small_product(&b, 2048, 2048, 8, false);
	a = total(&b, 0);
	CHECK_U64(a / 1000, 4716); /* measured 4,736 ns: traces/h200/micro/gemm_cupti.csv */
	small_product(&b, 2048, 2048 + 64, 8, false);
	CHECK_U64((total(&b, 0) - a) / 1000, 81);
	/* Twice the depth in half the steps: as many instructions and boxes, each step as long as two. */
	small_product(&b, 2048, 2048 + 16384, 8, false);
	a = total(&b, 0);
	b.l[0].kernel.tile_k = 128;
	CHECK(total(&b, 0) + a / 20 > a && total(&b, 0) < a + a / 20);
	small_product(&b, 2048, 2048, 8, true);
	CHECK_U64(total(&b, 0) / 1000, 5704); /* measured 5,568 */
	machine_conf_free(b.conf);
}

TEST(clusters_of_a_gpc_wait_for_each_others_tokens)
{
	struct bed b;
	ps_t two, three, four;

	open_bed(&b, NULL, 0);
	small_product(&b, 512, 2048, 16, false);
	b.l[0].kernel.tile_m = 8;
	b.l[0].kernel.tile_n = 64;
	two = total(&b, 0);
	small_product(&b, 704, 2048, 22, false);
	b.l[0].kernel.tile_m = 8;
	b.l[0].kernel.tile_n = 64;
	three = total(&b, 0);
	small_product(&b, 768, 2048, 24, false);
	b.l[0].kernel.tile_m = 8;
	b.l[0].kernel.tile_n = 64;
	four = total(&b, 0);
	CHECK(three - two > 500 * PS_NS && four - three > 900 * PS_NS); /* measured 800 and 1,380 */
	machine_conf_free(b.conf);
}

TEST(parts_of_k_are_as_many_as_fill_the_grid)
{
	struct bed b;
	ps_t whole;

	open_bed(&b, NULL, 0);
	small_product(&b, 2048, 8192, 8, true);
	whole = total(&b, 0);
	small_product(&b, 2048, 8192, 24, true);
	b.l[0].kernel.splits_k = 1;
	CHECK(total(&b, 0) < whole);
	b.op.n_launches = 2;
	geometry(&b.at[1], 64, 1, 1, 512, 1);
	b.at[1].registers = 32;
	b.at[1].smem_dynamic = 0;
	b.l[1].kernel = (struct kernel){ .form = KERNEL_SPLIT_REDUCE };
	CHECK_U64(total(&b, 1) / 1000, 1500); /* three parts, together; measured 1,500 */
	b.at[0].grid[1] = 32;                 /* four parts: read at once */
	CHECK_U64(total(&b, 1) / 1000, 1387);
	machine_conf_free(b.conf);
}

TEST(parts_that_four_do_not_divide_are_read_in_two_trips_at_the_most)
{
	static const uint32_t rest[] = { 0, 1, 2, 2 };
	struct bed b;
	ps_t four, some;

	open_bed(&b, NULL, 0);
	small_product(&b, 2048, 8192, 32, true);
	b.op.shape.k = 64 * 64;
	b.l[0].kernel.splits_k = 1;
	b.op.n_launches = 2;
	geometry(&b.at[1], 64, 1, 1, 512, 1);
	b.at[1].registers = 32;
	b.at[1].smem_dynamic = 0;
	b.l[1].kernel = (struct kernel){ .form = KERNEL_SPLIT_REDUCE, .instructions = 980 };
	four = gpu_time(&b.g, &b.l[1]).chain;
	for (uint32_t n = 4; n < 8; n++) {
		b.at[0].grid[1] = 8 * n;
		CHECK_U64(gpu_time(&b.g, &b.l[1]).chain - four, rest[n - 4] * b.g.cfg->product.reduce_rest);
	}
	b.at[0].grid[1] = 32; /* an element costs its instructions, 2.9 us a million, more than its parts from the L2 */
	some = total(&b, 1);
	b.op.shape.m = 128;
	CHECK((total(&b, 1) - some) * 10 / (2048 * 127) >= 29 && (total(&b, 1) - some) * 10 / (2048 * 127) <= 33);
	machine_conf_free(b.conf);
}

TEST(a_bias_is_one_load_after_the_last_product)
{
	struct bed b;
	ps_t without;

	open_bed(&b, NULL, 0);
	small_product(&b, 2048, 2048, 8, true);
	without = total(&b, 0);
	b.l[0].kernel.finish = 1;
	CHECK_U64(total(&b, 0) - without, b.g.c->step_dram);
	small_product(&b, 2048, 2048, 8, false);
	without = total(&b, 0);
	b.l[0].kernel.finish = 1;
	CHECK_U64(total(&b, 0) - without, b.g.c->step_l2);
	machine_conf_free(b.conf);
}

/* The warps that copy run ahead while a tile is stored: of a product that DRAM bounds, ends of tiles cost next to
 * nothing; of one in the L2 each costs itself. */
TEST(bytes_flow_beside_the_ends_of_tiles)
{
	struct bed b;
	ps_t alone, end;

	open_bed(&b, NULL, 0);
	for (int cold = 0; cold < 2; cold++) {
		b.op = (struct op){ .kind = OP_GEMM,
			            .dtype = DT_FP8,
			            .out_dtype = DT_BF16,
			            .n_launches = 1,
			            .shape = { .batch = 1, .m = 256, .n = 128256, .k = 512 } };
		geometry(&b.at[0], 2, 66, 1, 384, 2);
		b.l[0].kernel = (struct kernel){ .form = KERNEL_PRODUCT,
			                         .tile_m = 144,
			                         .tile_n = 128,
			                         .tile_k = 128,
			                         .stages = 6,
			                         .cluster_m = 2,
			                         .cluster_n = 1 };
		b.l[0].mem = (struct gpu_mem){ .read = 65798144,
			                       .write = 65667072,
			                       .write_back = cold ? 65667072 : 0,
			                       .read_hit = cold ? 0 : 65798144 };
		alone = total(&b, 0);
		end = gpu_time(&b.g, &b.l[0]).finish;
		b.l[0].kernel.cooperates = 1;
		if (cold) {
			CHECK_U64((total(&b, 0) - alone) / end, 5); /* of 13 */
		} else {
			CHECK_U64(total(&b, 0) - alone, 13 * end);
		}
	}
	machine_conf_free(b.conf);
}

/* y[4][n] = x[4][k] W[n][k]^T in fp32 by tiles of 32 x 32; `parts` of k. */
static void fma_split(struct bed *b, uint32_t parts, uint32_t launches)
{
	b->op = (struct op){ .kind = OP_GEMM,
		             .dtype = DT_FP32,
		             .out_dtype = DT_FP32,
		             .n_launches = launches,
		             .shape = { .batch = 1, .m = 4, .n = 480, .k = parts * 128 } };
	geometry(&b->at[0], 1, 15, parts, 64, 1);
	b->at[0].smem_dynamic = 16384;
	b->l[0].kernel = (struct kernel){
		.form = KERNEL_PRODUCT, .tile_m = 32, .tile_n = 32, .stages = 3, .vector_bytes = 16, .cycles = 4950
	};
	b->l[0].count = launches;
	geometry(&b->at[1], 15, 1, 1, 512, 1);
	b->at[1].registers = 32;
	b->at[1].smem_dynamic = 0;
	b->l[1].kernel = (struct kernel){ .form = KERNEL_SPLIT_REDUCE };
}

TEST(parts_no_launch_joins_wait_for_each_other)
{
	struct bed b;
	ps_t joined, alone, few;

	open_bed(&b, NULL, 0);
	fma_split(&b, 32, 2);
	joined = total(&b, 0);
	few = total(&b, 1);
	fma_split(&b, 32, 1);
	alone = total(&b, 0);
	/* Two trips, and 32 columns of 4 rows twice; measured 18,750. */
	CHECK_U64(alone - joined, 31 * 2 * (b.g.c->step_l2 + clock_transfer(32 * 4 * 4, b.g.c->sm_rate_l2)));
	CHECK_U64(alone / 1000, 18113);
	b.op.shape.k = 64; /* no more parts than steps */
	CHECK_U64(gpu_time(&b.g, &b.l[0]).finish, (alone - joined) / 31 * 7);
	fma_split(&b, 72, 2);
	CHECK_U64((total(&b, 1) - few) / b.g.cfg->product.reduce_part, 10); /* 18 loads of four, not 8 */
	machine_conf_free(b.conf);
}

/* A grid's last extent is the parts of k of one product, and the batch of several: those leave no parts. */
TEST(a_batch_without_tensor_cores_moves_no_parts_through_the_l2)
{
	const uint64_t m = 384, n = 384, k = 64, batch = 128, tiles = 6;
	struct gpu_activity x;
	struct bed b;

	open_bed(&b, NULL, 0);
	fma_split(&b, 1, 1);
	b.op.shape = (struct op_shape){ .batch = batch, .m = m, .n = n, .k = k };
	geometry(&b.at[0], (uint32_t)tiles, (uint32_t)tiles, (uint32_t)batch, 128, 1);
	b.l[0].kernel.tile_m = b.l[0].kernel.tile_n = 64;
	b.l[0].mem = (struct gpu_mem){ .read = batch * (m + n) * k * 4, .write = batch * m * n * 4 };
	x = gpu_activity(&b.g, &b.l[0], true);
	CHECK_U64(x.n[GPU_EVENT_fma], batch * m * n * k);
	CHECK_U64(x.n[GPU_EVENT_l2], batch * 4 * ((m + n) * k * tiles + m * n));
	machine_conf_free(b.conf);
}

TEST(a_long_product_runs_at_the_tensor_cores_rate)
{
	struct bed b;
	ps_t t;

	open_bed(&b, NULL, 0);
	b.op = (struct op){ .kind = OP_GEMM,
		            .dtype = DT_BF16,
		            .out_dtype = DT_BF16,
		            .n_launches = 1,
		            .shape = { .batch = 1, .m = 4096, .n = 8192, .k = 8192 } };
	geometry(&b.at[0], 2, 66, 1, 384, 2);
	b.l[0].kernel = (struct kernel){ .form = KERNEL_PRODUCT,
		                         .tile_m = 256,
		                         .tile_n = 128,
		                         .tile_k = 64,
		                         .stages = 4,
		                         .cluster_m = 1,
		                         .cluster_n = 2,
		                         .cooperates = 1 };
	b.l[0].mem = (struct gpu_mem){ .read = 201326592 };
	t = total(&b, 0);
	CHECK(t > 660 * PS_US && t < 690 * PS_US); /* measured 675.5 */
	CHECK_U64(gpu_time(&b.g, &b.l[0]).bound, RES_MATRIX);
	machine_conf_free(b.conf);
}

TEST(clusters_of_a_gpc_with_the_same_rows_share_their_weights)
{
	struct bed b;
	ps_t apart;

	open_bed(&b, NULL, 0);
	small_product(&b, 9088, 8000, 27, false);
	b.op.shape.m = 192;
	b.l[0].kernel.tile_m = 256;
	b.l[0].kernel.tile_n = 64;
	b.l[0].kernel.stages = 5;
	b.l[0].mem = (struct gpu_mem){ .read = 148480000 };
	apart = total(&b, 0);
	CHECK(apart > 58 * PS_US && apart < 67 * PS_US); /* measured 59.7: each cluster gets its own */
	b.l[0].kernel.by_columns = 1;
	CHECK(total(&b, 0) < apart * 9 / 10);
	machine_conf_free(b.conf);
}

static void few(struct bed *b, uint64_t kv, uint32_t parts)
{
	b->op = (struct op){
		.kind = OP_ATTENTION,
		.dtype = DT_BF16,
		.out_dtype = DT_BF16,
		.n_launches = parts > 1 ? 2 : 1,
		.shape = { .batch = 1, .heads = 32, .kv_heads = 8, .q_len = 1, .kv_len = kv, .head_dim = 128 }
	};
	geometry(&b->at[0], parts, 8, 1, 128, 1);
	b->at[0].registers = 183;
	b->at[0].smem_dynamic = 86336;
	b->l[0].kernel = (struct kernel){ .form = KERNEL_ATTENTION, .tile_m = 16, .tile_k = 128 };
	b->l[0].mem = (struct gpu_mem){ .read = kv * 8 * 128 * 4 };
	geometry(&b->at[1], 1, 32, 1, 256, 1);
	b->at[1].registers = 32;
	b->at[1].smem_dynamic = 0;
	b->l[1].kernel = (struct kernel){ .form = KERNEL_COMBINE };
}

TEST(attention_of_one_token_walks_over_tiles_of_keys)
{
	struct bed b;
	ps_t near;

	open_bed(&b, NULL, 0);
	few(&b, 2048, 16);
	CHECK_U64(total(&b, 0) / 1000, 6044); /* a tile a CTA; measured 5,890 */
	CHECK_U64(total(&b, 1) / 1000, 2130); /* measured 2,110 */
	few(&b, 512, 1);
	CHECK_U64(total(&b, 0) / 1000, 8238); /* four tiles one after the other; measured 8,000 */
	near = total(&b, 0);
	b.op.shape.head_dim = 64;
	/* 0.6375 us of the setup, half the bytes of four tiles at tile_rate, a little of the first ones from DRAM. */
	CHECK_U64((near - total(&b, 0)) / 1000, 2193);
	few(&b, 512, 1);
	b.l[0].mem.read_hit = b.l[0].mem.read;
	near = total(&b, 0);
	b.conf->cfg.gpu.common.l2_rate *= 4;
	CHECK(total(&b, 0) < near); /* keys that were just written come through the L2 */
	machine_conf_free(b.conf);
}

TEST(masked_attention_pays_for_its_last_block_and_the_mask)
{
	struct bed b;
	ps_t all, masked;

	open_bed(&b, NULL, 0);
	b.op = (struct op){
		.kind = OP_ATTENTION,
		.dtype = DT_BF16,
		.out_dtype = DT_BF16,
		.n_launches = 1,
		.shape = { .batch = 1, .heads = 32, .kv_heads = 32, .q_len = 4096, .kv_len = 4096, .head_dim = 128 }
	};
	geometry(&b.at[0], 132, 1, 1, 384, 1);
	b.l[0].kernel = (struct kernel){ .form = KERNEL_ATTENTION, .tile_m = 128, .tile_k = 128 };
	b.l[0].mem = (struct gpu_mem){ .read = 3 * 33554432 };
	all = total(&b, 0);
	CHECK(all > 395 * PS_US && all < 435 * PS_US); /* measured 410.8 */
	b.op.shape.causal = true;
	masked = total(&b, 0);
	CHECK(masked > 245 * PS_US && masked < 265 * PS_US); /* measured 253.9 */
	/* A CTA a block, 1,024 of them on 132 SMs, is no faster than 132 that go round: all of the work is done. */
	geometry(&b.at[0], 32, 32, 1, 384, 1);
	CHECK(total(&b, 0) >= masked && total(&b, 0) < masked + masked / 100);
	b.op.shape.causal = false;
	CHECK(total(&b, 0) >= all && total(&b, 0) < all + all / 100);
	machine_conf_free(b.conf);
}

TEST(more_of_a_rate_is_never_slower)
{
	static const char *const more[] = { "gpu.dram_read=9 TB/s",      "product.l2_rate=14 TB/s",
		                            "product.gpc_rate=900 GB/s", "product.sm_dram=2 TB/s",
		                            "gpu.clock_tensor=1.9 GHz",  "attention.tile_rate=200 GB/s",
		                            "product.step=10 ns",        "gpu.step_dram=200 ns" };
	struct bed a, b;

	open_bed(&a, NULL, 0);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
		open_bed(&b, &more[i], 1);
		for (uint64_t k = 64; k < 9000; k += 640) {
			small_product(&a, 4096, k, 16, true);
			small_product(&b, 4096, k, 16, true);
			CHECK(total(&b, 0) <= total(&a, 0));
			few(&a, k, k > 1024 ? 8 : 1);
			few(&b, k, k > 1024 ? 8 : 1);
			CHECK(total(&b, 0) <= total(&a, 0));
		}
		machine_conf_free(b.conf);
	}
	machine_conf_free(a.conf);
}

static void near_ps(ps_t got, ps_t want, ps_t by)
{
	if (got > want + by || got + by < want)
		test_fail(__FILE__, __LINE__, "%llu ps, not %llu", (unsigned long long)got, (unsigned long long)want);
}

/* y[16][n] = x[16][k] W[n][k]^T in bf16 by tiles of 64 x 64, 64 deep, in six stages or through the registers. */
static void mma_product(struct bed *b, uint64_t n, uint64_t k, uint32_t parts, bool asynchronous, bool cold)
{
	b->op = (struct op){ .kind = OP_GEMM,
		             .dtype = DT_BF16,
		             .out_dtype = DT_BF16,
		             .n_launches = 1,
		             .shape = { .batch = 1, .m = 16, .n = n, .k = k } };
	geometry(&b->at[0], (uint32_t)(n / 64), 1, parts, 128, 1);
	b->at[0].registers = 100;
	b->at[0].smem_dynamic = 98304;
	b->l[0].kernel = (struct kernel){ .form = KERNEL_MMA,
		                          .tile_m = 64,
		                          .tile_n = 64,
		                          .tile_k = 64,
		                          .stages = asynchronous ? 6 : 2,
		                          .asynchronous = asynchronous };
	b->l[0].mem = (struct gpu_mem){ .read = n * k * 2, .read_hit = cold ? 0 : n * k * 2 };
}

/* 64 of k: four rounds of 80 cycles and 524288 FLOP at 2728 a cycle, 192.2 cycles, together 258.7 ns of 1.98 GHz; a
 * round trip to the L2 over the four tiles under way is no part of that. The same measured: 256 ns (traces/h200/micro/
 * ampere_cupti.csv, 64x64_64x6 warm). */
TEST(a_step_of_matrix_instructions_costs_its_latency_and_its_math)
{
	struct bed b;
	ps_t a, c;

	open_bed(&b, NULL, 0);
	mma_product(&b, 1024, 1024, 1, true, false);
	a = total(&b, 0);
	mma_product(&b, 1024, 1024 + 6400, 1, true, false);
	c = total(&b, 0);
	near_ps((c - a) / 100, 258700, 600);
	/* Through the registers a tile is waited for: 1.14 round trips of 165 ns more. */
	mma_product(&b, 1024, 1024, 1, false, false);
	a = total(&b, 0);
	mma_product(&b, 1024, 1024 + 6400, 1, false, false);
	c = total(&b, 0);
	near_ps((c - a) / 100, 446800, 500);
	/* Half of k each: half of the steps. */
	mma_product(&b, 1024, 4096, 1, true, false);
	a = total(&b, 0);
	mma_product(&b, 1024, 4096, 2, true, false);
	near_ps(a - total(&b, 0), 32 * 258700, 30000);
	machine_conf_free(b.conf);
}

/* 256 x 128 and 32 of k: 769 cycles of math and two rounds of 80 beside it, 469.2 ns of 1.98 GHz: a CTA that has an SM to itself
 * does not wait for its own math once more (480.6 ns when it did). Two on an SM share its tensor cores. */
TEST(a_large_tile_alone_on_an_sm_waits_for_its_own_math_once)
{
	struct bed b;
	ps_t a;

	open_bed(&b, NULL, 0);
	for (uint32_t shared = 0; shared < 2; shared++) {
		mma_product(&b, 1024, 1024, 1, true, false);
		b.l[0].kernel.tile_m = 256;
		b.l[0].kernel.tile_n = 128;
		b.l[0].kernel.tile_k = 32;
		b.at[0].grid[0] = shared ? 2 * 132 : 4;
		a = total(&b, 0);
		b.op.shape.k += 6400;
		near_ps((total(&b, 0) - a) / 200, shared ? 788000 : 469200, shared ? 30000 : 600);
	}
	machine_conf_free(b.conf);
}

/* Rows of so many experts times [k, n] each in bf16, by tiles of 64 tokens and 128 outputs, 128 deep, clusters of two. */
static ps_t experts(struct bed *b, uint64_t hit, uint64_t rows, uint64_t n, uint64_t k)
{
	const uint64_t weights = hit * n * k * 2;

	b->op = (struct op){ .kind = OP_GEMM,
		             .dtype = DT_BF16,
		             .out_dtype = DT_BF16,
		             .n_launches = 1,
		             .shape = { .batch = hit, .m = rows, .n = n, .k = k } };
	geometry(&b->at[0], 132, 1, 1, 384, 2);
	b->at[0].smem_dynamic = 206848;
	b->l[0].kernel = (struct kernel){
		.form = KERNEL_GROUPED, .tile_m = 128, .tile_n = 64, .tile_k = 128, .stages = 4, .cluster_n = 2
	};
	b->l[0].mem = (struct gpu_mem){ .read = weights };
	return total(b, 0);
}

/* Measured, traces/h200/micro/grouped.csv and others; groups and rows were given. */
TEST(a_grouped_product_walks_over_the_tiles_of_all_groups)
{
	static const struct {
		uint64_t hit, rows, n, k;
		double us;
	} cases[] = { { 1, 1, 2048, 2048, 13.8 },
		      { 8, 1, 2048, 2048, 33.9 },
		      { 42, 2, 2048, 2048, 122.1 },
		      { 42, 2, 2048, 1024, 71.4 },
		      { 64, 16, 2048, 2048, 166.3 },
		      { 128, 1, 1536, 2048, 274.1 },
		      { 4, 1, 5760, 2880, 63.6 },
		      { 21, 1, 5760, 2880, 284.5 },
		      { 2, 2, 14336, 4096, 102.9 },
		      { 64, 64, 2048, 2048, 180.4 },
		      /* two tiles and more a group (grouped_rows.csv); a prompt's layers in the mean (picks.csv) */
		      { 24, 171, 5760, 2880, 495.5 },
		      { 24, 171, 2880, 2880, 253.1 },
		      { 24, 341, 2048, 2048, 170.2 },
		      { 32, 128, 5760, 2880, 515.8 } };
	struct bed b;
	ps_t one, other;

	open_bed(&b, NULL, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const ps_t want = (ps_t)(cases[i].us * 1e6);

		near_ps(experts(&b, cases[i].hit, cases[i].rows, cases[i].n, cases[i].k), want, want * 3 / 20);
	}
	/* The 67th tile is another round; of a group's rows those that no tile holds are another tile. */
	one = experts(&b, 66, 1, 128, 2048);
	other = experts(&b, 67, 1, 128, 2048);
	CHECK(other > one + PS_US);
	one = experts(&b, 66, 64, 128, 2048);
	other = experts(&b, 66, 180, 128, 2048);
	CHECK(other > one + 2 * PS_US);
	machine_conf_free(b.conf);
}

TEST(tiles_of_an_sm_fill_each_others_gaps_until_the_tensor_cores_are_full)
{
	struct bed b;
	ps_t one, two, rounds;

	open_bed(&b, NULL, 0);
	mma_product(&b, 64 * 132, 8192, 1, true, false);
	b.l[0].mem.read = b.l[0].mem.read_hit = 1; /* bytes apart */
	one = total(&b, 0);
	mma_product(&b, 64 * 264, 8192, 1, true, false); /* two CTAs an SM */
	b.l[0].mem.read = b.l[0].mem.read_hit = 1;
	two = total(&b, 0);
	CHECK(two > one && two < 2 * one - one / 4);
	mma_product(&b, 64 * 528, 8192, 1, true, false); /* ... twice */
	b.l[0].mem.read = b.l[0].mem.read_hit = 1;
	rounds = total(&b, 0);
	CHECK(rounds > 2 * two - two / 10 && rounds < 2 * two);
	mma_product(&b, 64 * 396, 8192, 1, true, false); /* one an SM in the second round */
	b.l[0].mem.read = b.l[0].mem.read_hit = 1;
	CHECK(rounds - total(&b, 0) > (two - one) * 9 / 10);
	machine_conf_free(b.conf);
}

/* FlashAttention 2's decode at 128 keys of 128: a warp's 256 matrix instructions of 11.61 cycles (6 of tensor cores'
 * time) and 64 scores of 17.86 a thread are 2.12 us of 1.98 GHz. Measured: 1.92 us a tile (traces/h200/micro/fa2_cupti.csv,
 * one head of 16384, 32768 and 65536 keys). What joins the parts goes through them: a round trip and 36 cycles each. */
TEST(asynchronous_attention_takes_its_warps_chain_and_parts_are_joined_in_turn)
{
	struct bed b;
	ps_t one, many;

	open_bed(&b, NULL, 0);
	few(&b, 1280, 2);
	b.l[0].kernel.tile_k = b.l[0].kernel.tile_n = 128;
	b.l[0].kernel.tile_m = 64;
	b.l[0].kernel.asynchronous = 1;
	b.l[0].kernel.cycles = 3100;
	b.op.shape.head_dim = b.op.shape.v_dim = 128;
	b.l[0].mem = (struct gpu_mem){ .read = 1 << 20, .read_hit = 1 << 20 };
	one = total(&b, 0);
	b.op.shape.kv_len = 12800;
	many = total(&b, 0);
	near_ps((many - one) / 45, 2120000, 60000);
	b.l[1].kernel = (struct kernel){ .form = KERNEL_COMBINE, .steps = 1, .cycles = 3680, .loop_cycles = 36 };
	geometry(&b.at[1], 1, 1, 1, 128, 1);
	one = total(&b, 1);
	b.at[0].grid[0] = 102;
	many = total(&b, 1);
	near_ps((many - one) / 100, 183180, 1000);
	b.l[1].kernel.unroll = 8;
	near_ps(many - total(&b, 1), 89 * 183180, 1000);
	machine_conf_free(b.conf);
}

/* Two CTAs on an SM fill its pipes: by 3,585 cycles a tile and CTA, the products' 1,537 and the loads' 2,037 from shared memory.
 * What a launch takes once no later round takes again, and a last round of one CTA an SM has its pipes for itself. */
TEST(ctas_of_asynchronous_attention_take_the_pipes_in_turn)
{
	struct bed b;
	ps_t one, two, once;

	open_bed(&b, NULL, 0);
	few(&b, 1280, 1);
	b.l[0].kernel.tile_k = b.l[0].kernel.tile_n = 128;
	b.l[0].kernel.tile_m = 64;
	b.l[0].kernel.asynchronous = 1;
	b.op.shape.head_dim = b.op.shape.v_dim = 128;
	b.l[0].mem = (struct gpu_mem){ .read = 1 << 20, .read_hit = 1 << 20 };
	geometry(&b.at[0], 1, 132, 1, 128, 1);
	b.at[0].smem_dynamic = 81920; /* two an SM */
	one = gpu_time(&b.g, &b.l[0]).chain / 9;
	near_ps(one, 2170000, 30000); /* the chain's 2.08 us, hardly hidden by the pipes' 1.81 */
	geometry(&b.at[0], 1, 264, 1, 128, 1);
	b.at[0].smem_dynamic = 81920;
	two = gpu_time(&b.g, &b.l[0]).chain / 9;
	near_ps(two, 3630000, 30000);
	geometry(&b.at[0], 1, 396, 1, 128, 1);
	b.at[0].smem_dynamic = 81920;
	near_ps(gpu_time(&b.g, &b.l[0]).chain, 9 * two + 10 * one, 10);
	two = total(&b, 0);
	b.l[0].kernel.once_cycles = 1980;
	once = total(&b, 0) - two;
	near_ps(once, 1000000, 1000);
	b.l[0].kernel.once_cycles = 0;
	b.l[0].kernel.cycles = 1980; /* and again in the second round, half of which the other CTA hides */
	near_ps(total(&b, 0) - two, 1500000, 1000);
	machine_conf_free(b.conf);
}

/* Two members of halves of heads, a thread an element and turn: traces/h200/micro/prompt.csv, cat_rotated, warm. */
TEST(a_concats_ctas_pick_their_members_parameters_and_end_with_a_round_trip)
{
	static const struct {
		uint64_t member, ns; /* elements; measured */
	} cases[] = { { 512, 1664 }, { 2048, 1728 }, { 131072, 3392 }, { 524288, 6336 }, { 2097152, 17600 } };
	struct op_operand in[2] = { { 0 }, { 0 } };
	struct op_stream s = { .operands = in, .n_operands = 2 };
	struct err e = ERR_INIT;
	struct kernels *k = kernels_load(NULL, &e);
	struct bed b;

	CHECK(k);
	open_bed(&b, NULL, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t bytes = cases[i].member * 4;

		in[0].touched = in[1].touched = bytes / 2;
		b.op = (struct op){ .kind = OP_CONCAT,
			            .dtype = DT_BF16,
			            .out_dtype = DT_BF16,
			            .n_operands = 2,
			            .n_launches = 1,
			            .shape = { .elems = cases[i].member * 2, .arity = 2, .strided = true } };
		b.at[0] = (struct op_launch){
			.grid = { 264, 2, 1 }, .block = { 512, 1, 1 }, .cluster = { 1, 1, 1 }, .registers = 25
		};
		b.l[0].stream = &s;
		b.l[0].kernel = kernels_match(k, "void at::native::CatArrayBatchedCopy<", NULL);
		b.l[0].mem = (struct gpu_mem){ .read = bytes, .read_hit = bytes, .write = bytes };
		near_ps(total(&b, 0), cases[i].ns * 1000, cases[i].ns * 160);
	}
	kernels_free(k);
	machine_conf_free(b.conf);
}

/* As torch.compile's kernels over one row of a Llama-1B step took on an H200: 28.9 and 1.7 us. */
TEST(a_generated_reduction_has_one_load_in_flight)
{
	static const struct {
		const char *name;
		uint64_t read, ns;
	} cases[] = { { "triton_red_fused__to_copy_argmax_13", 128256 * 2, 28850 },
		      { "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_9", 3 * 2048 * 2, 1690 } };
	struct op_operand x = { 0 };
	struct op_tensor row = { .dtype = DT_BF16, .instances = 1 };
	struct op_stream s = { .operands = &x, .n_operands = 1, .tensors = &row, .n_tensors = 1 };
	struct err e = ERR_INIT;
	struct kernels *k = kernels_load(NULL, &e);
	struct bed b;

	CHECK(k);
	open_bed(&b, NULL, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		x.touched = cases[i].read;
		b.op = (struct op){ .kind = OP_ELEMENTWISE,
			            .dtype = DT_BF16,
			            .out_dtype = DT_BF16,
			            .n_operands = 1,
			            .n_launches = 1,
			            .shape = { .elems = i ? 2048 : 1, .arity = 1 } };
		b.at[0] = (struct op_launch){
			.grid = { 1, 1, 1 }, .block = { 512, 1, 1 }, .cluster = { 1, 1, 1 }, .registers = 28
		};
		b.l[0].stream = &s;
		b.l[0].kernel = kernels_match(k, cases[i].name, NULL);
		b.l[0].mem = (struct gpu_mem){ .read = cases[i].read, .read_hit = cases[i].read, .write = 2 };
		near_ps(total(&b, 0), cases[i].ns * 1000, cases[i].ns * 150);
	}
	kernels_free(k);
	machine_conf_free(b.conf);
}

/* traces/h200/micro/prompt.csv: layer norms of 257 x 1024 in the L2 take 3.2 us, with their scales in DRAM 3.5. */
TEST(a_norm_waits_for_a_scale_in_dram_once)
{
	struct op_operand x[] = { { .touched = 257 * 2048 },
		                  { .tensor = 1, .touched = 2048 },
		                  { .tensor = 1, .touched = 2048 } };
	struct op_tensor t[] = { { .dtype = DT_BF16, .instances = 1 }, { .dtype = DT_BF16, .instances = 1 } };
	struct op_stream s = { .operands = x, .n_operands = 3, .tensors = t, .n_tensors = 2 };
	struct err e = ERR_INIT;
	struct kernels *k = kernels_load(NULL, &e);
	const uint64_t read = 259 * 2048;
	struct bed b;
	ps_t near, far;

	CHECK(k);
	open_bed(&b, NULL, 0);
	b.op = (struct op){ .kind = OP_NORM,
		            .dtype = DT_BF16,
		            .out_dtype = DT_BF16,
		            .n_operands = 3,
		            .n_launches = 1,
		            .shape = { .rows = 257, .cols = 1024 } };
	b.at[0] = (struct op_launch){
		.grid = { 257, 1, 1 }, .block = { 32, 4, 1 }, .cluster = { 1, 1, 1 }, .registers = 32
	};
	b.l[0].stream = &s;
	b.l[0].kernel = kernels_match(k, "void vectorized_layer_norm_kernel<c10::BFloat16, float, false>(", NULL);
	b.l[0].mem = (struct gpu_mem){ .read = read, .read_hit = read, .write = 257 * 2048 };
	near = total(&b, 0);
	b.l[0].mem.read_hit = read - 4096;
	far = total(&b, 0);
	CHECK(far >= near + b.g.c->step_dram - b.g.c->step_l2);
	near_ps(far, 3500000, 400000);
	b.l[0].mem.read_hit = 0; /* then the rows' own trip is that long */
	far = gpu_time(&b.g, &b.l[0]).start;
	b.l[0].mem.read_hit = read;
	CHECK_U64(far - gpu_time(&b.g, &b.l[0]).start, b.g.c->step_dram - b.g.c->step_l2);
	kernels_free(k);
	machine_conf_free(b.conf);
}

SUITE(t_gpu_forms, T(a_step_more_of_a_products_k_costs_a_step), T(clusters_of_a_gpc_wait_for_each_others_tokens),
      T(parts_of_k_are_as_many_as_fill_the_grid), T(parts_no_launch_joins_wait_for_each_other),
      T(parts_that_four_do_not_divide_are_read_in_two_trips_at_the_most), T(a_bias_is_one_load_after_the_last_product),
      T(bytes_flow_beside_the_ends_of_tiles), T(a_batch_without_tensor_cores_moves_no_parts_through_the_l2),
      T(a_long_product_runs_at_the_tensor_cores_rate), T(clusters_of_a_gpc_with_the_same_rows_share_their_weights),
      T(attention_of_one_token_walks_over_tiles_of_keys), T(masked_attention_pays_for_its_last_block_and_the_mask),
      T(more_of_a_rate_is_never_slower), T(a_step_of_matrix_instructions_costs_its_latency_and_its_math),
      T(a_large_tile_alone_on_an_sm_waits_for_its_own_math_once),
      T(a_grouped_product_walks_over_the_tiles_of_all_groups),
      T(tiles_of_an_sm_fill_each_others_gaps_until_the_tensor_cores_are_full),
      T(asynchronous_attention_takes_its_warps_chain_and_parts_are_joined_in_turn),
      T(ctas_of_asynchronous_attention_take_the_pipes_in_turn),
      T(a_concats_ctas_pick_their_members_parameters_and_end_with_a_round_trip),
      T(a_generated_reduction_has_one_load_in_flight), T(a_norm_waits_for_a_scale_in_dram_once));
