/* ref_product.cu - C = A W' of our own, a tile a CTA: by wmma from tiles that threads copy, and by warpgroup products
 *
 * bf16, sums in fp32, C in bf16; the second kernel is in product.cuh. wmma: 128 x 128 x 64, eight warps of 32 x 64 each, tiles
 * by cp.async three deep, rows 16 bytes longer than their data. */
#include "described.cuh"
#include "product.cuh"

#include <mma.h>

enum { WM = 128, WN = 128, WK = 64, W_PAD = 8, W_STAGES = 3, W_ROW = WK + W_PAD };

__global__ void __launch_bounds__(256) wmma_product(const __nv_bfloat16 *a, const __nv_bfloat16 *w, __nv_bfloat16 *c, int m, int n, int k)
{
	using namespace nvcuda::wmma;
	extern __shared__ __align__(128) char shared[];
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 2 * 32, col = warp % 2 * 64, steps = k / WK;
	fragment<accumulator, 16, 16, 16, float> d[2][4];

	a += (size_t)blockIdx.y * WM * k, w += (size_t)blockIdx.x * WN * k;
	auto load = [&](int step) {
		__nv_bfloat16 *to = (__nv_bfloat16 *)shared + step % W_STAGES * (WM + WN) * W_ROW;
		for (int i = threadIdx.x; i < (WM + WN) * WK / 8; i += 256) {
			const int r = i / (WK / 8), x = i % (WK / 8) * 8;
			const __nv_bfloat16 *from = (r < WM ? a + (size_t)r * k : w + (size_t)(r - WM) * k) + step * WK + x;
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_at(to + r * W_ROW + x)), "l"(from) : "memory");
		}
	};
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 4; j++)
			fill_fragment(d[i][j], 0.f);
	for (int s = 0; s < W_STAGES - 1; s++) {
		if (s < steps)
			load(s);
		asm volatile("cp.async.commit_group;" ::: "memory");
	}
	for (int s = 0; s < steps; s++) {
		asm volatile("cp.async.wait_group %0;" :: "n"(W_STAGES - 2) : "memory");
		__syncthreads();
		if (s + W_STAGES - 1 < steps)
			load(s + W_STAGES - 1);
		asm volatile("cp.async.commit_group;" ::: "memory");
		const __nv_bfloat16 *at = (__nv_bfloat16 *)shared + s % W_STAGES * (WM + WN) * W_ROW, *wt = at + WM * W_ROW;
#pragma unroll
		for (int x = 0; x < WK; x += 16) {
			fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> fa[2];
			fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> fw[4];
			for (int i = 0; i < 2; i++)
				load_matrix_sync(fa[i], at + (row + 16 * i) * W_ROW + x, W_ROW);
			for (int j = 0; j < 4; j++)
				load_matrix_sync(fw[j], wt + (col + 16 * j) * W_ROW + x, W_ROW);
			for (int i = 0; i < 2; i++)
				for (int j = 0; j < 4; j++)
					mma_sync(d[i][j], fa[i], fw[j], d[i][j]);
		}
	}
	__syncthreads();
	/* Through shared memory, a fragment of a warp at a time: 8 results a lane. */
	float *own = (float *)shared + warp * 16 * 20;
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 4; j++) {
			store_matrix_sync(own, d[i][j], 20, mem_row_major);
			__syncwarp();
			const float *f = own + lane / 2 * 20 + lane % 2 * 8;
			__nv_bfloat162 o[4];
			for (int x = 0; x < 4; x++)
				o[x] = __floats2bfloat162_rn(f[2 * x], f[2 * x + 1]);
			*(uint4 *)(c + ((size_t)blockIdx.y * WM + row + 16 * i + lane / 2) * n + blockIdx.x * WN + col + 16 * j + lane % 2 * 8) = *(uint4 *)o;
			__syncwarp();
		}
}

struct bufs { __nv_bfloat16 *a, *w, *c; };

static void check(struct bench *b, const struct bufs *m, const char *name, const std::string &p, int rows, int cols, int k)
{
	std::vector<float> got = bench_floats(bench_read(m->c, (size_t)rows * cols));
	size_t at = (size_t)-1;
	std::vector<float> a;
	described_check(b, name, p, got, rows, cols, 12, 48, 4e-3, [&](size_t r, size_t c) {
		if (at != r)
			a = bench_floats(bench_read(m->a + r * k, k)), at = r;
		std::vector<float> w = bench_floats(bench_read(m->w + c * k, k));
		double s = 0;
		for (int i = 0; i < k; i++)
			s += (double)a[i] * w[i];
		return s;
	});
}

template <class... A, class G> static void one(struct bench *b, const struct bufs *m, const char *name, void (*kernel)(A...), int warps, int shared, int bn,
                                               int rows, int cols, int k, G go)
{
	dim3 grid(cols / bn, rows / 128);
	std::string p = described(bench_fmt("problem.m=%d;problem.n=%d;problem.k=%d", rows, cols, k), kernel, grid, warps, shared, ((size_t)rows + cols) * k * 2,
	                          (size_t)rows * cols * 2);
	CK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
	CK(cudaMemsetAsync(m->c, 0xff, (size_t)rows * cols * 2, b->s));
	go(grid);
	CK(cudaStreamSynchronize(b->s));
	check(b, m, name, p, rows, cols, k);
	bench_time(b, name, p, BENCH_WARM, [&](int) { go(grid); });
}

template <int BN, int STAGES> static void wide(struct bench *b, const struct bufs *m, const char *name, int rows, int cols, int k)
{
	constexpr int shared = product_shared<__nv_bfloat16, BN, STAGES>();
	CUtensorMap a = tile_map(m->a, k, rows, 1, PRODUCT_M), w = tile_map(m->w, k, cols, 1, BN);
	one(b, m, name, product<__nv_bfloat16, BN, STAGES>, PRODUCT_WARPS, shared, BN, rows, cols, k, [&](dim3 grid) {
		product<__nv_bfloat16, BN, STAGES><<<grid, PRODUCT_THREADS, shared, b->s>>>(a, w, m->c, NULL, rows, cols, k);
	});
}

int main(int argc, char **argv)
{
	static const int sizes[][3] = { { 512, 4096, 4096 }, { 1024, 1024, 1024 }, { 2048, 2048, 2048 }, { 2048, 14336, 4096 }, { 4096, 4096, 4096 },
		                        { 8192, 8192, 8192 } };
	const size_t most = (size_t)8192 * 8192;
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	m.a = (__nv_bfloat16 *)bench_alloc(most * 2), m.w = (__nv_bfloat16 *)bench_alloc(most * 2), m.c = (__nv_bfloat16 *)bench_alloc(most * 2);
	bench_fill_bf16(&b, m.a, most, 1), bench_fill_bf16(&b, m.w, most, 2);
	CK(cudaStreamSynchronize(b.s));
	for (auto &s : sizes) {
		constexpr int shared = W_STAGES * (WM + WN) * W_ROW * 2;
		one(&b, &m, "ref-gemm-wmma", wmma_product, 8, shared, WN, s[0], s[1], s[2], [&](dim3 grid) {
			wmma_product<<<grid, 256, shared, b.s>>>(m.a, m.w, m.c, s[0], s[1], s[2]);
		});
		if (b.prop.major == 9) {
			wide<128, 6>(&b, &m, "ref-gemm-wgmma", s[0], s[1], s[2]);
			wide<256, 4>(&b, &m, "ref-gemm-wgmma-wide", s[0], s[1], s[2]);
		}
	}
	return bench_close(&b);
}
