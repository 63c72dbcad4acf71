/* product.cuh - C = A W' in tiles of 128 rows by warpgroup products: bf16 or fp8, plain, batched or grouped
 *
 * A is [z][M][K], W [z][N][K], C [z][M][N] in bf16, sums in fp32. A CTA is two warpgroups of 64 rows each and one warp that
 * copies: tiles of 128 bytes of k by tensor map into a ring of STAGES, a barrier of bytes that arrived and one of readers
 * that are done each. Grouped: `work` has, by row of the grid, A's first row, W's z and the row at which the group ends. */
#pragma once
#include "hopper.cuh"

enum { PRODUCT_M = 128, PRODUCT_WARPS = 8, PRODUCT_THREADS = 288, PRODUCT_BAND = 8 };

template <class T, int BN, int STAGES> static constexpr int product_shared(void)
{
	return STAGES * (PRODUCT_M + BN) * ROW_BYTES + 1024 + 16 * STAGES;
}

template <class T, int BN, int STAGES>
__global__ void __launch_bounds__(PRODUCT_THREADS, 1) product(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tw,
                                                              __nv_bfloat16 *c, const int4 *work, int m, int n, int k)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	constexpr int BK = ROW_BYTES / sizeof(T), A = PRODUCT_M * ROW_BYTES, STAGE = A + BN * ROW_BYTES;
	extern __shared__ char shared[];
	const uint32_t tiles = (shared_at(shared) + 1023) & ~1023u, full = tiles + STAGES * STAGE, empty = full + 8 * STAGES;
	/* CTAs that run together share strips of A and W: bands of eight rows of tiles. */
	const uint32_t id = blockIdx.y * gridDim.x + blockIdx.x, band = PRODUCT_BAND * gridDim.x, first = id / band * PRODUCT_BAND;
	const uint32_t high = min(gridDim.y - first, (uint32_t)PRODUCT_BAND), ty = first + id % band % high, tx = id % band / high;
	const int4 own = work ? work[ty] : make_int4(ty * PRODUCT_M, blockIdx.z, m, blockIdx.z);
	const int steps = k / BK, n0 = tx * BN, group = threadIdx.x / 128;

	if (threadIdx.x == 0) {
		for (int s = 0; s < STAGES; s++)
			bar_init(full + 8 * s, 1), bar_init(empty + 8 * s, 8);
		bar_ready();
	}
	__syncthreads();
	if (group == 2) {
		if (threadIdx.x % 32)
			return;
		for (int i = 0, s = 0, parity = 1; i < steps; i++) {
			bar_wait(empty + 8 * s, parity);
			bar_expect(full + 8 * s, STAGE);
			tile_load(tiles + s * STAGE, &ta, i * BK, own.x, own.w, full + 8 * s);
			tile_load(tiles + s * STAGE + A, &tw, i * BK, n0, own.y, full + 8 * s);
			if (++s == STAGES)
				s = 0, parity ^= 1;
		}
		return;
	}
	float d[BN / 2];
	for (int i = 0, s = 0, last = 0, parity = 0; i < steps; i++) {
		bar_wait(full + 8 * s, parity);
		const uint64_t a = wg_desc(tiles + s * STAGE + group * 64 * ROW_BYTES), w = wg_desc(tiles + s * STAGE + A);
		wg_fence();
#pragma unroll
		for (int j = 0; j < 4; j++)
			if constexpr (sizeof(T) == 1)
				wg_e4m3(d, a + 2 * j, w + 2 * j, i + j);
			else
				wg_bf16(d, a + 2 * j, w + 2 * j, i + j);
		wg_commit();
		/* One step behind: the next products are queued while the last ones' tile is given back. */
		wg_wait<1>();
		if (i && threadIdx.x % 32 == 0)
			bar_arrive(empty + 8 * last);
		last = s;
		if (++s == STAGES)
			s = 0, parity ^= 1;
	}
	wg_wait<0>();
	wg_hold(d);
	const int row = own.x + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, col = n0 + threadIdx.x % 4 * 2;
	c += (size_t)own.w * m * n;
#pragma unroll
	for (int j = 0; j < BN / 8; j++)
#pragma unroll
		for (int h = 0; h < 2; h++)
			if (row + 8 * h < own.z && col + 8 * j < n)
				*(__nv_bfloat162 *)(c + (size_t)(row + 8 * h) * n + col + 8 * j) = __floats2bfloat162_rn(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
#else
	(void)c, (void)work, (void)m, (void)n, (void)k;
#endif
}
