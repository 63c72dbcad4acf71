#include "sim/accuracy/energy_int.h"

#include <string.h>

#include "arch/gpu/gpu_geometry.h"

/* --- launches ---------------------------------------------------------------------------------------------------- */

/* What one launch does: `l` has its place among the op's launches, and its kernel. */
static void do_energy_count(struct energy_count *c, struct gpu_launch *l)
{
	const enum kernel_moves m = l->kernel.moves;
	struct gpu_activity x;

	if (m == KERNEL_MOVES_ALL || m == KERNEL_MOVES_READS)
		l->mem.read = c->mem.read, l->mem.read_hit = c->mem.read_hit;
	if (m == KERNEL_MOVES_ALL || m == KERNEL_MOVES_WRITES)
		l->mem.write = c->mem.write, l->mem.write_back = c->mem.write_back;
	x = gpu_activity(c->g, l, c->live);
	gpu_activity_add(&c->work, &x);
	c->kernels++;
}

static void one_kernel(struct energy_count *c, const char *name, uint64_t ctas, uint32_t threads)
{
	struct op_launch at = { .name = name, .registers = 32 };
	struct gpu_launch l = { .stream = c->s, .op = c->op, .at = &at, .count = 1 };

	at.grid[0] = (uint32_t)(ctas < UINT32_MAX ? ctas : UINT32_MAX);
	at.block[0] = threads;
	at.grid[1] = at.grid[2] = at.block[1] = at.block[2] = 1;
	at.cluster[0] = at.cluster[1] = at.cluster[2] = 1;
	l.kernel = kernels_match(c->k, name, "table");
	do_energy_count(c, &l);
}

/* The library's launches; each looks at those before it. */
static bool laid_out(struct energy_count *c)
{
	struct geometry x;
	struct gpu_launch l[GEOMETRY_LAUNCHES];

	if (!gpu_geometry_of(c->g, c->k, c->s, c->op, &x))
		return false;
	for (uint32_t i = 0; i < x.n; i++) {
		l[i] = (struct gpu_launch){
			.stream = c->s, .op = c->op, .at = &x.at[i], .kernel = x.kernel[i], .nth = i, .count = x.n
		};
		do_energy_count(c, &l[i]);
	}
	return true;
}

/* Which of the library's tiles a product took is not told, nor whether its k was split: what has CTAs for three in four
 * SMs and moves the fewest bytes between L2 and SMs, parts included. A library's heuristic aims at both. */
struct tiling {
	uint64_t rows, columns, parts, ctas, bytes;
};

static struct tiling tiling_of(const struct op *o, uint64_t rows, uint64_t columns, uint64_t parts)
{
	const struct op_shape *s = &o->shape;
	struct tiling t = { rows, columns < s->m ? columns : round_up(s->m, 8), parts, 0, 0 };

	t.ctas = round_up(div_up(s->n, t.rows), 2) * div_up(s->m, t.columns) * parts;
	t.bytes = dtype_bytes(o->dtype, s->n * s->k * div_up(s->m, t.columns) + s->m * s->k * div_up(s->n, 2 * t.rows));
	t.bytes += parts > 1 ? 8 * parts * s->m * s->n : 0;
	return t;
}

static void tiled(struct energy_count *c)
{
	static const uint64_t sides[][2] = { { 128, 256 }, { 128, 128 }, { 64, 128 }, { 64, 64 } };
	const uint64_t enough = c->g->sms * 3 / 4;
	struct tiling best = { 0 };
	struct gpu_launch l;
	struct op_launch at = {
		.name = "", .registers = 168, .grid = { 0, 1, 1 }, .block = { 384, 1, 1 }, .cluster = { 2, 1, 1 }
	};
	struct kernel k = {
		.name = "", .form = KERNEL_PRODUCT, .tile_k = 64, .stages = 4, .cluster_m = 2, .cluster_n = 1
	};

	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
		for (uint64_t parts = 1; parts <= 8 && (parts == 1 || c->op->shape.k / parts >= 512); parts *= 2) {
			const struct tiling t = tiling_of(c->op, sides[i][0], sides[i][1], parts);
			const bool fills = t.ctas >= enough, filled = best.ctas >= enough;

			if (!best.ctas || (fills && !filled) || (fills && t.bytes < best.bytes) ||
			    (!fills && !filled && t.ctas > best.ctas))
				best = t;
		}
	k.tile_m = (uint32_t)best.rows;
	k.tile_n = (uint32_t)best.columns;
	k.splits_k = best.parts > 1;
	at.grid[0] = (uint32_t)(best.ctas < UINT32_MAX ? best.ctas : UINT32_MAX);
	l = (struct gpu_launch){ .stream = c->s, .op = c->op, .at = &at, .kernel = k, .count = 1 };
	do_energy_count(c, &l);
}

/* --- kinds of op --------------------------------------------------------------------------------------------------- */

static void energy_count_product(struct energy_count *c)
{
	const struct op_shape *s = &c->op->shape;

	if (dtype_bits(c->op->dtype) <= 16)
		tiled(c);
	else if (s->m <= 8) /* without tensor cores: rows of the weights times few vectors, or tiles */
		one_kernel(c, "gemmSN_TN_kernel", div_up(s->n, 4), 128);
	else
		one_kernel(c, "xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma",
		           div_up(s->n, 64) * div_up(s->m, 64), 128);
}

/* PyTorch's kernels by function: their instructions an element differ. */
static const struct {
	const char *fn, *kernel;
} eaches[] = {
	{ "silu", "void at::native::vectorized_elementwise_kernel<8, silu" },
	{ "gelu", "void at::native::vectorized_elementwise_kernel<8, Gelu" },
	{ "sigmoid", "void at::native::vectorized_elementwise_kernel<8, sigmoid" },
	{ "exp", "void at::native::vectorized_elementwise_kernel<8, exp" },
	{ "rsqrt", "void at::native::vectorized_elementwise_kernel<8, rsqrt" },
	{ "fill", "void at::native::vectorized_elementwise_kernel<8, FillFunctor" },
	{ "", "void at::native::vectorized_elementwise_kernel<8, CUDAFunctor_add" },
};

static void energy_count_each(struct energy_count *c)
{
	const uint64_t n = c->op->shape.elems;
	size_t i = 0;

	/* PyTorch widens 16 bits by a type that is picked for each element. */
	if (c->op->kind == OP_CONVERT)
		one_kernel(c,
		           c->op->dtype == DT_FP32 ? "void at::native::vectorized_elementwise_kernel<4, bfloat16_copy"
		                                   : "void at::native::unrolled_elementwise_kernel<",
		           div_up(n, 1024), 128);
	else if (c->op->kind == OP_COPY)
		one_kernel(c, "Memcpy DtoD (Device -> Device)", div_up(n, 1024), 128);
	else {
		while (*eaches[i].fn && strcmp(eaches[i].fn, c->op->fn) != 0)
			i++;
		one_kernel(c, eaches[i].kernel, div_up(n, 1024), 128);
	}
}

static void energy_count_rows(struct energy_count *c)
{
	const struct op_shape *s = &c->op->shape;
	const bool wide = c->op->dtype == DT_FP32;
	const uint64_t blocks = div_up(s->rows * s->cols, 16384);
	const char *kernel = "void at::native::reduce_kernel<512, 1, float>";

	if (c->op->kind == OP_TOPK && s->rows * s->cols >= UINT64_C(1) << 20) { /* many: digit by digit over all rows */
		for (int digit = 0; digit < 4; digit++)
			one_kernel(c, "void at::native::mbtopk::computeBlockDigitCounts<float", blocks, 256);
		one_kernel(c, "void at::native::mbtopk::gatherTopK<float", blocks, 256);
		return;
	}
	switch (c->op->kind) {
	case OP_SOFTMAX:
		kernel = wide ? "void at::native::cunn_SoftMaxForwardReg<float, float, float, 8>"
		              : "void at::native::cunn_SoftMaxForwardReg<c10::BFloat16, float, c10::BFloat16, 8>";
		break;
	case OP_NORM:
		kernel = wide ? "void at::native::vectorized_layer_norm_kernel<float, float, true"
		              : "void at::native::vectorized_layer_norm_kernel<c10::BFloat16, float, true";
		break;
	case OP_TOPK:
		kernel = "void at::native::sbtopk::gatherTopK<float, unsigned int, 1, true";
		break;
	case OP_SORT:
		kernel = "void at::native::radixSortKVInPlace<1, -1, 128, 32";
		break;
	default:
		break;
	}
	one_kernel(c, kernel, s->rows, s->cols >= 2048 ? 512 : 128);
}

bool energy_count_op(struct energy_count *c)
{
	const struct op_shape *s = &c->op->shape;

	switch (c->op->kind) {
	case OP_GEMM:
		energy_count_product(c);
		return true;
	case OP_ELEMENTWISE:
	case OP_CONVERT:
	case OP_COPY:
		energy_count_each(c);
		return true;
	case OP_REDUCE:
	case OP_SOFTMAX:
	case OP_NORM:
	case OP_TOPK:
	case OP_SORT:
		energy_count_rows(c);
		return true;
	case OP_ATTENTION:
		if (!laid_out(c)) /* cuDNN's kernel of 128 queries */
			one_kernel(
				c,
				"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel",
				s->batch * s->heads * div_up(s->q_len, 128), 384);
		return true;
	default:
		return laid_out(c);
	}
}

bool energy_of_op(const struct gpu *g, const struct kernels *k, const struct op_stream *s, const struct op *o,
                  const struct gpu_mem *mem, struct energy_case *c)
{
	struct energy_count n = { .g = g, .k = k, .s = s, .op = o, .mem = *mem, .live = !g->cfg->power.constant };

	if (!energy_count_op(&n))
		return false;
	c->work = n.work;
	c->kernels = n.kernels;
	return true;
}
