#include "arch/gpu/gpu_geometry_int.h"

#include <stdio.h>
#include <string.h>

#include "traces/trace.h"
#include "workloads/work.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* --- products ------------------------------------------------------------------------------------------------ */

/* A tile a library has: n rows of weights, m tokens, k deep, and on which generations. */
struct tile {
	const char *name;
	uint32_t on, bits, n, m, k, stages, cluster, threads, registers;
	bool splits;
	enum kernel_form form;
};

/* cuBLAS names what it has. Where a library transposes a product its tile has its long side over the weights.
 * Registers: what such kernels are built with (compiled for sm_80: traces/h200/micro/ampere_cupti.csv). There, too, are tiles of
 * 32 and 64 of k: a k that is no deeper leaves the rounds of a tile of 128 out. GB20x's 128 x 64 by 32 was traced by nobody: two
 * of them an SM, and no other tile, take as long as the squares of 3,072 and 4,096 that an RTX 5090 was published with. */
static const struct tile tiles[] = {
	/* by warps; those that copy through registers have one or two stages. GB20x has some of sm_8x's (traces/rtx5090). */
	{ "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8", SM_8X | GB20X, 16, 16, 16, 128, 2, 1,
	  32, 118, true, KERNEL_MMA },
	{ "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_32x1_tn_align8", SM_8X | GB20X, 16, 16, 16, 32, 1, 1,
	  32, 58, true, KERNEL_MMA },
	{ "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_64x1_tn_align8", SM_8X | GB20X, 16, 16, 16, 64, 1, 1,
	  32, 64, true, KERNEL_MMA },
	{ "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8", SM_8X | GB20X, 16, 32, 32, 32, 1, 1,
	  128, 40, true, KERNEL_MMA },
	{ "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_64x1_tn_align8", SM_8X | GB20X, 16, 32, 32, 64, 1, 1,
	  128, 55, true, KERNEL_MMA },
	{ "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8", SM_8X | GB20X, 16, 32, 32, 128, 2, 1,
	  128, 88, true, KERNEL_MMA },
	{ "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x6_tn", SM_8X, 16, 64, 64, 64, 6, 1, 128, 100,
	  true, KERNEL_MMA },
	{ "ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x5_tn", SM_8X, 16, 64, 64, 64, 5, 1, 128, 100, true,
	  KERNEL_MMA },
	{ "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", SM_8X, 16, 128, 64, 64, 4, 1, 128, 152, true,
	  KERNEL_MMA },
	{ "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn", SM_8X, 16, 128, 64, 64, 3, 1, 128, 154, true,
	  KERNEL_MMA },
	{ "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", SM_8X, 16, 128, 128, 32, 5, 1, 128, 222, true,
	  KERNEL_MMA },
	{ "cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_64x6_tn_align8", GB20X, 16, 64, 64, 64, 6, 1, 128, 100, true,
	  KERNEL_MMA },
	{ "cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_32x6_tn_align8", GB20X, 16, 64, 64, 32, 6, 1, 128, 90, true,
	  KERNEL_MMA },
	{ "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_tn_align8", GB20X, 16, 128, 64, 64, 3, 1, 128, 154,
	  true, KERNEL_MMA },
	{ "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_32x4_tn_align8", GB20X, 16, 128, 64, 32, 4, 1, 128, 154,
	  true, KERNEL_MMA },
	{ "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8", SM_8X | GB20X, 16, 256, 128, 32, 3, 1,
	  256, 218, true, KERNEL_MMA },
	/* of int8 before Hopper */
	{ "cutlass_80_tensorop_i16832gemm_s8_64x64_128x5_tn_align16", SM_8X, 8, 64, 64, 128, 5, 1, 128, 128, true,
	  KERNEL_MMA },
	{ "cutlass_80_tensorop_i16832gemm_s8_128x64_128x4_tn_align16", SM_8X, 8, 128, 64, 128, 4, 1, 128, 160, true,
	  KERNEL_MMA },
	{ "cutlass_80_tensorop_i16832gemm_s8_128x128_64x5_tn_align16", SM_8X, 8, 128, 128, 64, 5, 1, 128, 222, true,
	  KERNEL_MMA },
	/* cuBLAS's own kernels, tiles as traced on our H200 */
	{ "nvjet_tst_64x8_64x16_1x1_v_bz_TNT", WGMMA, 16, 64, 8, 64, 16, 1, 384, 168, true, KERNEL_PRODUCT },
	{ "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", WGMMA, 16, 64, 8, 64, 16, 4, 384, 168, true, KERNEL_PRODUCT },
	{ "nvjet_tst_64x16_64x16_2x1_v_bz_TNT", WGMMA, 16, 64, 16, 64, 16, 2, 384, 168, true, KERNEL_PRODUCT },
	{ "nvjet_tst_64x32_64x16_2x1_v_bz_TNT", WGMMA, 16, 64, 32, 64, 16, 2, 384, 168, true, KERNEL_PRODUCT },
	{ "nvjet_tst_64x64_64x13_2x1_v_bz_TNT", WGMMA, 16, 64, 64, 64, 13, 2, 384, 168, true, KERNEL_PRODUCT },
	{ "nvjet_tst_128x8_64x12_2x1_v_bz_TNT", WGMMA, 16, 128, 8, 64, 12, 2, 384, 168, true, KERNEL_PRODUCT },
	{ "nvjet_tst_128x32_64x10_2x1_v_bz_TNT", WGMMA, 16, 128, 32, 64, 10, 2, 384, 168, true, KERNEL_PRODUCT },
	{ "nvjet_tst_128x64_64x9_2x1_v_bz_TNT", WGMMA, 16, 128, 64, 64, 9, 2, 384, 168, true, KERNEL_PRODUCT },
	{ "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNT", WGMMA, 16, 256, 128, 64, 4, 2, 384, 168, true, KERNEL_PRODUCT },
	/* Block-scaled fp4, tuned by trying: FlashInfer's CuTe DSL kernel on sm_100, stages what shared memory holds beside
	 * the scales; CUTLASS's on GB20x, which has no smaller tile. Neither splits k. */
	{ "Sm100BlockScaledPersistentDenseGemmKernel_128x64x256", WGMMA, 4, 128, 64, 256, 8, 1, 192, 168, false,
	  KERNEL_PRODUCT },
	{ "Sm100BlockScaledPersistentDenseGemmKernel_128x128x256", WGMMA, 4, 128, 128, 256, 6, 1, 192, 168, false,
	  KERNEL_PRODUCT },
	{ "Sm100BlockScaledPersistentDenseGemmKernel_256x128x256", WGMMA, 4, 256, 128, 256, 4, 2, 192, 168, false,
	  KERNEL_PRODUCT },
	{ "Sm100BlockScaledPersistentDenseGemmKernel_256x256x256", WGMMA, 4, 256, 256, 256, 3, 2, 192, 168, false,
	  KERNEL_PRODUCT },
	{ "cutlass_sm120_blockscaled_e2m1_128x128x128", GB20X, 4, 128, 128, 128, 4, 1, 384, 168, false, KERNEL_MMA },
	{ "cutlass_sm120_blockscaled_e2m1_256x128x128", GB20X, 4, 256, 128, 128, 3, 1, 384, 168, false, KERNEL_MMA },
};

/* vLLM's CUTLASS fp8 products go by tokens and outputs, once by k; k is never split. The first row that has room for
 * both, and enough of k, is taken. Source: its *_fp8_dispatch.cuh for sm89, sm90, sm100 and sm120; where those leave the
 * stages to the library they are what shared memory holds.
 * Cycles: one of four rows each of an L40S and an RTX PRO 6000. Beside loads and products a CTA takes 1,200 to 10,500 cycles on Ada,
 * 2,400 on GB20x; what those are, and for what CTAs of 64 columns wait one after the other where they have 32 rows or more (56 us
 * of 800 that have 32 of k), is not known. Cycles of a stage for few tokens on data-centre Blackwell: 10 rows of
 * a B200 in sight with k of 10,240 and more and 64 to 1,024 outputs, less what quantising takes there. */
struct fp8_tile {
	uint32_t from, to;
	uint64_t tokens, outputs, least_k;
	struct tile tile;
	uint32_t loop_cycles, cycles, in_turn; /* arch/gpu/kernel.h; 0: what others take */
};

#define ANY UINT64_MAX
#define FP8(name, n, m, k, stages, cluster, threads, registers, form) \
	{ \
		"cutlass_scaled_mm_fp8_" name, 0, 8, n, m, k, stages, cluster, threads, registers, false, form \
	}
#define ADA(name, n, m, k, stages, threads, cycles, turn) \
	FP8(name, n, m, k, stages, 1, threads, 128, KERNEL_MMA), 0, cycles, turn
#define GEFORCE(name, n, m, k, stages) FP8(name, n, m, k, stages, 1, 384, 168, KERNEL_MMA), 0, 2400, 0
#define TMA(name, n, m, k, stages, cluster, loop) \
	FP8(name, n, m, k, stages, cluster, 384, 168, KERNEL_PRODUCT), loop, 0, 0

static const struct fp8_tile fp8_tiles[] = {
	{ 89, 89, 16, 8192, 0, ADA("16x64_128x5", 64, 16, 128, 5, 64, 1200, 20) },
	{ 89, 89, 16, 16384, 0, ADA("16x128_64x5", 128, 16, 64, 5, 64, 3800, 0) },
	{ 89, 89, 32, 8192, 0, ADA("32x64_128x5", 64, 32, 128, 5, 128, 8300, 150) },
	{ 89, 89, 32, 16384, 0, ADA("32x128_128x4", 128, 32, 128, 4, 128, 7000, 0) },
	{ 89, 89, 32, ANY, 0, ADA("32x64_128x5", 64, 32, 128, 5, 128, 8300, 150) },
	{ 89, 89, 64, 8192, 0, ADA("64x64_128x5", 64, 64, 128, 5, 128, 10500, 120) },
	{ 89, 89, 64, 16384, 0, ADA("64x128_128x3", 128, 64, 128, 3, 128, 9000, 0) },
	{ 89, 89, 64, ANY, 0, ADA("64x64_128x5", 64, 64, 128, 5, 128, 10500, 120) },
	{ 89, 89, 128, 8192, 0, ADA("64x128_128x3", 128, 64, 128, 3, 128, 9000, 0) },
	{ 89, 89, 128, 16384, 0, ADA("128x128_64x5", 128, 128, 64, 5, 128, 9000, 0) },
	{ 89, 89, 128, ANY, 0, ADA("128x64_128x3", 64, 128, 128, 3, 128, 10500, 120) },
	{ 89, 89, 256, 4096, 0, ADA("64x128_128x3", 128, 64, 128, 3, 128, 9000, 0) },
	{ 89, 89, ANY, ANY, 0, ADA("128x128_64x5", 128, 128, 64, 5, 128, 9000, 0) },
	{ 90, 99, 16, ANY, 0, TMA("swapped_64x16_256x8", 64, 16, 256, 8, 1, 0) },
	{ 90, 99, 64, 1280, 0, TMA("swapped_64x16_256x8", 64, 16, 256, 8, 1, 0) },
	{ 90, 99, 64, ANY, 0, TMA("swapped_64x64_256x6", 64, 64, 256, 6, 1, 0) },
	{ 90, 99, 128, ANY, 0, TMA("64x128_128x8", 128, 64, 128, 8, 1, 0) },
	{ 90, 99, ANY, ANY, 0, TMA("128x128_128x6", 128, 128, 128, 6, 1, 0) },
	{ 100, 119, 16, ANY, 0, TMA("swapped_128x32_128x10", 128, 32, 128, 10, 4, 108) },
	{ 100, 119, 63, ANY, 0, TMA("swapped_128x64_256x4", 128, 64, 256, 4, 4, 0) },
	{ 100, 119, 64, ANY, 4096, TMA("swapped_128x64_256x4", 128, 64, 256, 4, 4, 0) },
	{ 100, 119, 64, ANY, 0, TMA("64x64_128x13", 64, 64, 128, 13, 1, 0) },
	{ 100, 119, 256, ANY, 0, TMA("128x128_128x6", 128, 128, 128, 6, 1, 0) },
	{ 100, 119, ANY, ANY, 0, TMA("256x128_128x4", 128, 256, 128, 4, 2, 0) },
	{ 120, 129, 16, ANY, 0, GEFORCE("16x64_128x9", 64, 16, 128, 9) },
	{ 120, 129, 32, ANY, 0, GEFORCE("32x64_128x7", 64, 32, 128, 7) },
	{ 120, 129, 256, ANY, 0, GEFORCE("64x64_128x5", 64, 64, 128, 5) },
	{ 120, 129, ANY, ANY, 0, GEFORCE("128x128_128x2", 128, 128, 128, 2) },
};

static struct gpu_mem gpu_geometry_bytes_of(const struct op_stream *s, const struct op *o)
{
	struct gpu_mem m = { 0 };

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];

		*(x->write ? &m.write : &m.read) += x->touched < x->bytes ? x->touched : x->bytes;
	}
	return m;
}

void gpu_geometry_put(struct geometry *out, const struct kernels *k, const struct op *o, const char *name,
                      struct grid g)
{
	struct op_launch *l = &out->at[out->n];

	memset(l, 0, sizeof *l);
	l->trace_id = -1;
	l->name = name;
	l->grid[0] = (uint32_t)g.x;
	l->grid[1] = (uint32_t)g.y;
	l->grid[2] = (uint32_t)g.z;
	l->block[0] = g.threads;
	l->block[1] = l->block[2] = 1;
	l->cluster[0] = l->cluster[1] = l->cluster[2] = 1;
	l->waits_for = -1;
	out->kernel[out->n] = kernels_match(k, name, o->rule);
	out->n++;
}

/* Time of the launches; what the last of several moves is in the L2. So are the operands of kernels that work by warps,
 * others read theirs from DRAM: on what a library was tuned nobody says, and so one of four rows of the tables has it. */
static ps_t time_of(const struct gpu *g, const struct op_stream *s, const struct op *o, const struct geometry *x)
{
	struct gpu_launch l[GEOMETRY_LAUNCHES];
	struct op op = *o;
	ps_t t = 0;

	op.n_launches = x->n;
	for (uint32_t i = 0; i < x->n; i++) {
		l[i] = (struct gpu_launch){
			.stream = s, .op = &op, .at = &x->at[i], .kernel = x->kernel[i], .nth = i, .count = x->n
		};
		if (i == 0) {
			l[i].mem = gpu_geometry_bytes_of(s, o);
			l[i].mem.read_hit = gpu_geometry_by_warps(g) ? l[i].mem.read : 0;
		}
		t += gpu_time(g, &l[i]).total;
	}
	return t;
}

/* Cycles of 128 outputs and a stage of GB20x's fp4 kernel that CTAs take one after the other, from the L2 as from DRAM: one of
 * four rows of an RTX PRO 6000. Of what is not known; of 64 tokens it is two thirds of one's. */
#define FP4_TURN 19

static uint64_t smem_of(const struct tile *t)
{
	return (uint64_t)t->stages * t->k * (t->n + t->m) * t->bits / 8;
}

/* A kernel's grid stays on the device: CTAs beyond an SM's one go over the tiles again. */
static void gpu_geometry_product(const struct gpu *g, const struct kernels *k, const struct op *o, const struct tile *t,
                                 uint32_t splits, struct geometry *out)
{
	const struct op_shape *s = &o->shape;
	const uint64_t batch = s->batch ? s->batch : 1;
	uint64_t units = round_up(div_up(s->n, t->n), t->cluster) * div_up(s->m, t->m) * batch * splits;
	uint64_t fits = g->sms / t->cluster * t->cluster, rounds = div_up(units, fits);
	struct kernel *x;

	out->n = 0;
	if (t->form == KERNEL_MMA)
		gpu_geometry_put(out, k, o, t->name,
		                 (struct grid){ div_up(s->n, t->n), div_up(s->m, t->m), batch * splits, t->threads });
	else
		gpu_geometry_put(out, k, o, t->name,
		                 (struct grid){ round_up(div_up(units, rounds), t->cluster), 1, 1, t->threads });
	out->at[0].cluster[0] = t->cluster;
	out->at[0].registers = t->registers;
	out->at[0].smem_dynamic = smem_of(t);
	x = &out->kernel[0];
	x->form = t->form;
	x->asynchronous = t->stages > 2;
	x->tile_m = t->n;
	x->tile_n = t->m;
	x->tile_k = t->k;
	x->stages = t->stages;
	x->cluster_m = t->cluster;
	x->cluster_n = 1;
	x->stage_turn = t->bits == 4 && t->form == KERNEL_MMA ? FP4_TURN * t->n / 128 : 0;
	x->splits_k = splits > 1;
	x->moves = splits > 1 ? KERNEL_MOVES_READS : KERNEL_MOVES_ALL;
	if (splits == 1)
		return;
	gpu_geometry_put(out, k, o,
	                 "void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16, __nv_bfloat16, float>",
	                 (struct grid){ div_up(s->n, 32), div_up(s->m, 16), 1, 512 });
	out->at[1].registers = 32;
	out->kernel[1].form = KERNEL_SPLIT_REDUCE;
	out->kernel[1].moves = KERNEL_MOVES_WRITES;
}

/* cuBLAS's GEMV: a CTA of four warps, a warp a row (grids of Nsight Compute on an RTX 5090). Its code is not public:
 * the two round trips (x into shared memory, then the row) are what such kernels do, two loads in flight and 200 cycles
 * beside them what one of four rows of the published tables shows. So is that long rows are split: of 8192 and more on
 * Ada and later, of 512 and more on Ampere, where another kernel adds the parts. None is counted. Short rows share a
 * warp. */
static void gemv(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	const bool ampere = g->cfg->sm.capability == 80;
	const uint64_t parts = o->shape.k >= (ampere ? 512 : 8192) ? 4 : 1, lanes = div_up(o->shape.k, 8);
	const uint64_t rows = 4 * (lanes < 32 && lanes ? 32 / lanes : 1);

	out->n = 0;
	gpu_geometry_put(out, k, o, "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16>",
	                 (struct grid){ div_up(o->shape.n, rows), parts, o->shape.batch ? o->shape.batch : 1, 128 });
	out->at[0].registers = 64;
	out->kernel[0].form = KERNEL_DOT;
	out->kernel[0].moves = KERNEL_MOVES_ALL;
	out->kernel[0].start = 2;
	out->kernel[0].row_warps = 1;
	out->kernel[0].vector_bytes = 16;
	out->kernel[0].unroll = 2;
	out->kernel[0].loop_cycles = 200;
	if (!ampere || parts == 1)
		return;
	out->kernel[0].moves = KERNEL_MOVES_READS;
	gpu_geometry_put(out, k, o, "void reduce_1Block_kernel", (struct grid){ div_up(o->shape.n, 128), 1, 1, 128 });
	out->at[1].registers = 32;
	out->kernel[1].form = KERNEL_PLAIN;
	out->kernel[1].moves = KERNEL_MOVES_WRITES;
	out->kernel[1].start = 5;
}

/* Does cuBLAS split k where that would be faster? On Ada and GB20x not a short k, nor where tiles of 64 outputs keep a
 * quarter of the SMs busy, nor below two million multiplications (what one of four rows of each published table shows);
 * elsewhere always. */
static bool cuts_k(const struct gpu *g, const struct op_shape *s)
{
	bool longer = s->k >= (s->n <= 512 ? 1536 : 2048), few = s->k >= 4096 || div_up(s->n, 64) * 4 <= g->sms;

	return !gpu_geometry_consumer(g) || (longer && few && (s->m * s->n * s->k >= 1 << 21 || s->k > 8192));
}

static bool fp8_product(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	for (size_t i = 0; i < COUNT(fp8_tiles); i++) {
		const struct fp8_tile *f = &fp8_tiles[i];

		if (g->cfg->sm.capability < f->from || g->cfg->sm.capability > f->to || o->shape.m > f->tokens ||
		    o->shape.k < f->least_k || o->shape.n > f->outputs || f->tile.cluster > g->sms)
			continue;
		gpu_geometry_product(g, k, o, &f->tile, 1, out);
		out->kernel[0].loop_cycles = f->loop_cycles;
		out->kernel[0].cycles = f->cycles;
		out->kernel[0].in_turn = f->in_turn;
		return true;
	}
	return false;
}

/* What cuBLAS 13 takes on an H200 for up to eight tokens and a k under 3,072, in all 15 steps that we traced (traces/h200): k is
 * whole; of up to 1,536 outputs a tile has 8 or 16, as few as leave an SM to each; else clusters, never single CTAs. An
 * H100 has the same SMs and was published otherwise (3.9 us of 1 x 1024 x 1024, an H200 7.6): memory tells them apart. */
#define H200_READS UINT64_C(4000000000000) /* bytes a second or more */

static bool few_tokens(const struct gpu *g, const struct op *o)
{
	return g->cfg->sm.capability == 90 && g->c->dram_read >= H200_READS && dtype_bits(o->dtype) == 16 &&
	       o->shape.m <= 8 && o->shape.k < 3072 && o->shape.batch <= 1;
}

static bool narrow_tile(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	static const struct tile narrow[] = {
		{ "nvjet_tst_8x64_64x16_4x1_v_bz_TNN", WGMMA, 16, 8, 64, 64, 16, 4, 384, 168, false, KERNEL_PRODUCT },
		{ "nvjet_tst_8x64_64x16_2x1_v_bz_TNN", WGMMA, 16, 8, 64, 64, 16, 2, 384, 168, false, KERNEL_PRODUCT },
		{ "nvjet_tst_16x64_64x16_4x1_v_bz_TNN", WGMMA, 16, 16, 64, 64, 16, 4, 384, 168, false, KERNEL_PRODUCT },
	};
	const uint64_t n = o->shape.n, clusters = 30; /* of four that run at once */
	const struct tile *t = n > 8 * (uint64_t)g->sms ? &narrow[2] : n > 8 * 4 * clusters ? &narrow[1] : &narrow[0];

	/* Pairs of 8 are slow, and were seen for one token alone. */
	if (!few_tokens(g, o) || n <= 128 || n > 1536 || (t == &narrow[1] && o->shape.m > 1))
		return false;
	gpu_geometry_product(g, k, o, t, 1, out);
	return true;
}

static bool products(const struct gpu *g, const struct kernels *k, const struct op_stream *s, const struct op *o,
                     struct geometry *best)
{
	uint32_t bits = dtype_bits(o->dtype), on = gpu_geometry_generation(g->cfg->sm.capability);
	const bool few = few_tokens(g, o);
	uint32_t most = cuts_k(g, &o->shape) && !few ? 32 : 1;
	struct geometry x;
	ps_t t, least = 0;

	best->n = 0;
	if (o->shape.m == 1 && bits == 16 && gpu_geometry_by_warps(g)) {
		gemv(g, k, o, best);
		return true;
	}
	if (bits == 8 && fp8_product(g, k, o, best))
		return true;
	if (bits == 4 && !g->c->flop_fp4)
		return false;
	if (narrow_tile(g, k, o, best))
		return true;
	for (size_t i = 0; i < COUNT(tiles); i++) {
		const struct tile *w = &tiles[i];
		uint64_t deep = div_up(o->shape.k, w->k);

		if ((few && w->cluster == 1) || w->bits != bits || !(w->on & on) || smem_of(w) > g->cfg->sm.smem ||
		    w->cluster > g->sms)
			continue;
		for (uint32_t splits = 1; splits <= most && splits <= deep && (splits == 1 || w->splits); splits *= 2) {
			gpu_geometry_product(g, k, o, w, splits, &x);
			t = time_of(g, s, o, &x);
			if (!best->n || t < least) {
				*best = x;
				least = t;
			}
		}
	}
	return best->n > 0;
}

/* --- the rest: PyTorch's rules ------------------------------------------------------------------------------- */

/* Four elements a thread and 128 threads, vectorised where every operand is contiguous. */
static void elementwise(const struct kernels *k, const struct op *o, struct geometry *out)
{
	out->n = 0;
	if (o->kind == OP_CONVERT && o->out_dtype == DT_FP4) { /* 16 values and their scale a thread */
		gpu_geometry_put(out, k, o, "vllm::cvt_fp16_to_fp4",
		                 (struct grid){ div_up(o->shape.elems, 4096), 1, 1, 256 });
		out->at[0].registers = 40;
		return;
	}
	if (o->kind == OP_CONVERT && o->out_dtype == DT_FP8 && o->shape.rows > 1) { /* a CTA a token */
		gpu_geometry_put(out, k, o, "vllm::scaled_fp8_quant_kernel_strided",
		                 (struct grid){ o->shape.rows, 1, 1, 256 });
		out->at[0].registers = 32;
		return;
	}
	gpu_geometry_put(out, k, o,
	                 o->shape.strided
	                         ? "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast>"
	                         : op_traits[o->kind].kernel,
	                 (struct grid){ div_up(o->shape.elems, 512), 1, 1, 128 });
	out->at[0].registers = 32;
}

/* A CTA a row, as many threads as it has elements by four, 32 to 512. */
static void gpu_geometry_rows(const struct kernels *k, const struct op *o, struct geometry *out)
{
	uint64_t threads = round_up(div_up(o->shape.cols, 4), 32);

	out->n = 0;
	gpu_geometry_put(out, k, o, op_traits[o->kind].kernel,
	                 (struct grid){ o->shape.rows ? o->shape.rows : 1, 1, 1,
	                                (uint32_t)(threads < 32    ? 32
	                                           : threads > 512 ? 512
	                                                           : threads) });
	out->at[0].registers = 32;
}

/* A warp a row of an engine's router; more columns are the framework's, a CTA a row. */
static void top(const struct kernels *k, const struct op *o, struct geometry *out)
{
	const uint64_t n = o->shape.rows ? o->shape.rows : 1;

	out->n = 0;
	if (o->shape.cols <= 512)
		gpu_geometry_put(out, k, o, "vllm::moe::topkGatingSoftmax", (struct grid){ div_up(n, 4), 1, 1, 128 });
	else
		gpu_geometry_put(out, k, o, op_traits[o->kind].kernel, (struct grid){ n, 1, 1, 1024 });
	out->at[0].registers = 32;
}

bool gpu_geometry_of(const struct gpu *g, const struct kernels *k, const struct op_stream *s, const struct op *o,
                     struct geometry *out)
{
	const struct op_traits *t = &op_traits[o->kind];

	switch (t->dims) {
	case OP_DIMS_PRODUCT:
		return dtype_bits(o->dtype) <= 16 && products(g, k, s, o, out);
	case OP_DIMS_ATTENTION:
		return gpu_geometry_attention(g, k, s, o, out);
	case OP_DIMS_ROWS:
		if (t->kernel && t->whole_rows)
			top(k, o, out);
		else if (o->kind == OP_REDUCE)
			gpu_geometry_reduce(g, k, o, out);
		else if (t->kernel)
			gpu_geometry_rows(k, o, out);
		break;
	case OP_DIMS_ELEMS:
		if (t->kernel)
			elementwise(k, o, out);
		break;
	}
	return t->kernel != NULL;
}

/* --- what it does not multiply ------------------------------------------------------------------------------------ */

/* Tensor cores take fp8 from compute capability 8.9 on, and fp4 where the configuration gives its rate. */
static int check_format(const struct gpu *g, const struct op *o, struct err *e)
{
	const bool fp4 = o->dtype == DT_FP4 && !g->c->flop_fp4, fp8 = o->dtype == DT_FP8 && g->cfg->sm.capability < 89;

	if (o->kind != OP_GEMM || !(fp4 || fp8))
		return 0;
	return err_set(e, ERR_CONFIG,
	               "op %u ('%s') multiplies %s, which this GPU does not (%s): weights of %s are widened there, and"
	               " activations stay in 16 bits, as '--quant %s' says",
	               o->id, o->name ? o->name : "", dtype_name(o->dtype),
	               fp4 ? "'gpu.flop_fp4' is 0" : "'sm.capability' is below 89", fp4 ? "4 bits" : "8 bits",
	               fp4 ? "nvfp4a16" : "w8a16");
}

/* --- a whole stream ------------------------------------------------------------------------------------------ */

static bool gpu_geometry_unknown(const struct op_launch *l)
{
	return l->kind == TRACE_KERNEL && l->block[0] == 0;
}

static bool any_unknown(const struct op_stream *s, const struct op *o)
{
	for (uint32_t i = 0; i < o->n_launches; i++)
		if (gpu_geometry_unknown(&s->launches[o->first_launch + i]))
			return true;
	return false;
}

/* Which ops of a trace are laid out anew. llama.cpp brings its own kernels to any device. */
static bool anew(const struct kernels *k, const struct op_stream *s, const struct op *o)
{
	const bool own = strncmp(o->rule, "ggml_", 5) == 0;

	if (!o->n_launches)
		return o->kind != OP_OPAQUE && o->kind != OP_HOST_SYNC;
	if (o->kind != OP_OPAQUE && any_unknown(s, o))
		return true;
	if (!op_is_product(o->kind) || own)
		return false;
	for (uint32_t i = 0; i < o->n_launches; i++) {
		enum kernel_form f = kernels_match(k, s->launches[o->first_launch + i].name, o->rule).form;

		if (f == KERNEL_PRODUCT || f == KERNEL_MMA || f == KERNEL_DOT || f == KERNEL_ATTENTION)
			return true;
	}
	return false;
}

bool gpu_geometry_foreign(const struct gpu *g, const struct op_stream *s)
{
	if (!s->n_launches || (s->sms && (s->sms != g->sms || s->capability != g->cfg->sm.capability)))
		return true;
	for (size_t i = 0; i < s->n_ops; i++)
		if (any_unknown(s, &s->ops[i]))
			return true;
	return false;
}

/* Where no rule lays an op out either: what PyTorch would take for as many elements. */
static void some_geometry(const struct op *o, struct op_launch *l)
{
	const struct op_shape *x = &o->shape;
	const uint64_t outputs = x->m * x->n * (x->batch ? x->batch : 1), n = outputs > x->elems ? outputs : x->elems;

	l->block[0] = 128;
	l->grid[0] = n > 512 ? (uint32_t)div_up(n < UINT32_MAX ? n : UINT32_MAX, 512) : 1;
	for (int i = 0; i < 3; i++) {
		l->grid[i] = l->grid[i] ? l->grid[i] : 1;
		l->block[i] = l->block[i] ? l->block[i] : 1;
	}
	l->registers = l->registers ? l->registers : 32;
}

int gpu_geometry_work(const struct gpu *g, const struct kernels *k, const struct op_stream *s, struct arena *a,
                      struct op_stream *out, struct gpu_work *w, struct err *e)
{
	size_t most = s->n_launches + GEOMETRY_LAUNCHES * s->n_ops + 1;
	struct kernel *made = arena_array(a, most, sizeof *made);

	*out = *s;
	out->ops = arena_array(a, s->n_ops + 1, sizeof *out->ops);
	out->launches = arena_array(a, most, sizeof *out->launches);
	if (!out->ops || !out->launches || !made)
		return err_set(e, ERR_NOMEM, "out of memory for %zu launches", most);
	out->n_launches = 0;
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *was = &s->ops[i];
		struct op *o = &out->ops[i];
		struct geometry x = { .n = 0 };

		*o = *was;
		if (check_format(g, was, e) < 0)
			return -1;
		if (!anew(k, s, was) || !gpu_geometry_of(g, k, s, was, &x))
			x.n = 0;
		o->first_launch = (uint32_t)out->n_launches;
		o->n_launches = x.n ? x.n : was->n_launches;
		for (uint32_t n = 0; n < o->n_launches; n++) {
			struct op_launch *l = &out->launches[out->n_launches];

			*l = x.n ? x.at[n] : s->launches[was->first_launch + n];
			if (x.n) {
				l->measured_ns = n ? 0 : was->measured_ns;
				l->start_ns = was->n_launches ? s->launches[was->first_launch].start_ns : 0;
				made[out->n_launches] = x.kernel[n];
			} else if (gpu_geometry_unknown(l)) {
				some_geometry(was, l);
			}
			l->waits_for = (int32_t)out->n_launches - 1;
			out->n_launches++;
		}
	}
	if (gpu_work_make(out, k, a, w, e) < 0)
		return -1;
	for (size_t i = 0; i < w->n; i++)
		if (made[i].name) /* the table knows a name, the geometry also the tile */
			w->launches[i].kernel = made[i];
	return 0;
}
