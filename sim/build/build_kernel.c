/* build_kernel.c - launches: kernels' names and grids as the framework's rules give them.
 *
 * PyTorch's elementwise kernels: 128 threads; 8 elements a thread where all operands are contiguous and of one type, else 4
 * (2 of fp32 through strides). Its reductions: as many threads along the row as it has vectors, up to 512, the rest over
 * rows. Its concatenations: 16 bytes a thread where members are whole vectors, else a fixed grid. An engine's row kernels:
 * a CTA a row. Source: aten/src/ATen/native/cuda of PyTorch 2.11 (CUDALoops.cuh, Reduce.cuh, Shape.cu), and the traces in
 * traces/h200; vLLM's csrc (layernorm_kernels.cu, pos_encoding_kernels.cu, cache_kernels.cu, activation_kernels.cu). */
#include <stdio.h>
#include <string.h>

#include "sim/build/build_int.h"

static uint64_t build_kernel_up(uint64_t a, uint64_t b)
{
	return a ? (a + b - 1) / b : 1;
}

static uint64_t pow2_below(uint64_t n)
{
	uint64_t p = 1;

	while (2 * p <= n)
		p *= 2;
	return p;
}

static bool launches(const struct builder *b)
{
	return !for_npu(b);
}

static const char *build_kernel_text(struct builder *b, const char *before, const char *what, const char *after)
{
	const char *s = arena_printf(b->a, "%s%s%s", before, what, after);

	b->failed |= !s;
	return s;
}

void k_flat(struct builder *b, const char *kernel, uint64_t elems, uint64_t per_cta, uint32_t threads)
{
	const uint64_t grid[3] = { build_kernel_up(elems, per_cta), 1, 1 };

	if (launches(b))
		b_launch(b, kernel, grid, threads, 1, 32);
}

void k_unknown(struct builder *b, const char *kernel)
{
	const uint64_t grid[3] = { 0, 0, 0 };

	if (launches(b))
		b_launch(b, kernel, grid, 0, 0, 0);
}

/* A conversion to 16 bits has a kernel of its own; any other picks types at run time. */
static void k_convert(struct builder *b, uint64_t elems, enum dtype from, enum dtype to)
{
	if (dtype_bits(to) == 16 && dtype_bits(from) == 32)
		k_flat(b,
		       to == DT_FP16
		               ? "void at::native::vectorized_elementwise_kernel<8, at::native::float16_copy_kernel_cuda>"
		               : "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda>",
		       elems, 1024, 128);
	else
		k_flat(b, "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>", elems,
		       512, 128);
}

void k_each(struct builder *b, enum bop what, uint64_t elems, enum dtype in, enum dtype out, bool wide)
{
	const uint32_t bits = dtype_bits(in);
	const char *kernel = b_rows[what].kernel;

	if (!launches(b))
		return;
	if (what == B_CONVERT)
		k_convert(b, elems, in, out);
	else if (what == B_ARANGE)
		k_flat(b, "void at::native::elementwise_kernel_with_index<arange_cuda_out>", elems, 64, 64);
	else if (wide)
		k_flat(b,
		       build_kernel_text(b,
		                         bits > 16 ? "void at::native::elementwise_kernel<128, 2, at::native::"
		                                   : "void at::native::elementwise_kernel<128, 4, at::native::",
		                         kernel, ">"),
		       elems, bits > 16 ? 256 : 512, 128);
	else
		k_flat(b,
		       build_kernel_text(b,
		                         bits > 32 ? "void at::native::vectorized_elementwise_kernel<2, at::native::"
		                         : bits == 32
		                                 ? "void at::native::vectorized_elementwise_kernel<4, at::native::"
		                                 : "void at::native::vectorized_elementwise_kernel<8, at::native::",
		                         kernel, ">"),
		       elems, 1024, 128);
}

/* Reduce.cuh's setReduceConfig for a contiguous row: vectors of 4 along it. */
void k_reduce_shape(uint64_t rows, uint64_t cols, uint64_t grid[3], uint32_t block[2])
{
	const uint64_t most = 512, dim0 = build_kernel_up(cols, 4);
	uint64_t along = dim0 < most ? pow2_below(dim0) : most, over = rows < most ? pow2_below(rows) : most, width,
		 height, each;

	grid[0] = grid[1] = grid[2] = 1;
	width = along < 32 ? along : 32;
	height = over < most / width ? over : most / width;
	width = along < most / height ? along : most / height;
	each = build_kernel_up(cols, width);
	/* Long rows: the CTA's other threads go along it too. */
	grid[0] = build_kernel_up(rows, each >= 16 * height || each >= 256 ? 1 : height);
	block[0] = (uint32_t)width;
	block[1] = (uint32_t)height;
}

void k_reduce(struct builder *b, enum bop what, uint64_t rows, uint64_t cols)
{
	uint64_t grid[3];
	uint32_t block[2];

	if (!launches(b))
		return;
	k_reduce_shape(rows, cols, grid, block);
	b_launch(b,
	         build_kernel_text(b, "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::",
	                           b_rows[what].kernel, "> >"),
	         grid, block[0], block[1], 32);
}

/* A CTA a row, a thread 8 elements of it, up to 1024. */
void k_rows(struct builder *b, const char *kernel, uint64_t rows, uint64_t cols)
{
	const uint64_t threads = build_kernel_up(build_kernel_up(cols, 8), 32) * 32, grid[3] = { rows, 1, 1 };

	if (launches(b))
		b_launch(b, kernel, grid, (uint32_t)(threads > 1024 ? 1024 : threads), 1, 32);
}

void k_concat(struct builder *b, uint64_t member_bytes, uint32_t members, bool strided)
{
	const uint64_t vectors[3] = { build_kernel_up(member_bytes, 16 * 128), members, 1 },
		       fixed[3] = { 264, members, 1 };

	if (!launches(b))
		return;
	if (strided)
		b_launch(b, "void at::native::CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 4, 64, 64>",
		         fixed, 512, 1, 25);
	else
		b_launch(
			b,
			"void at::native::CatArrayBatchedCopy_vectorized<at::native::OpaqueType<2u>, unsigned int, 3, 128, 1, 16, 8>",
			vectors, 128, 1, 23);
}
