/* ref_copies.cu - the same warpgroup products and attention with tiles by tensor map, or by cp.async of warps that only copy
 *
 * What differs is who forms the addresses: of a tile map one thread says where a tile lies; with cp.async each lane of the
 * copying warps copies 16 bytes at a time into the swizzled place, whose address it works out once a tile or for each copy. Products: the consumers of product.cuh, 128 rows, BN
 * columns, 64 of k a stage. `math` off: consumers give each tile back at once, which leaves the copies. */
#include "described.cuh"
#include "product.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
static __device__ __forceinline__ void copy16(uint32_t to, const void *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
}

/* When this thread's copies are there; the barrier counts its threads. */
static __device__ __forceinline__ void copy_arrive(uint32_t bar)
{
	asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(bar) : "memory");
}

/* What cp.async wrote is read by warpgroup instructions. */
static __device__ __forceinline__ void copy_seen(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* ROWS rows of 128 bytes, `stride` bytes apart, into the 128-byte swizzle, by THREADS threads: eight have a row. Where a thread's
 * first copy lies is worked out once a tile: from then on an address is an addition. ANEW: of each copy, as a loop over a tile's
 * pieces says it. */
template <int ROWS, int THREADS, bool ANEW> static __device__ __forceinline__ void tile_copy(uint32_t to, const char *from, size_t stride, int thread)
{
	const int row = thread / 8, x = thread % 8;
	if constexpr (ANEW) {
		for (int i = thread; i < ROWS * 8; i += THREADS)
			copy16(to + i / 8 * ROW_BYTES + ((i % 8 ^ i / 8 % 8) << 4), from + i / 8 * stride + i % 8 * 16);
		return;
	}
	from += row * stride + x * 16, to += row * ROW_BYTES;
#pragma unroll
	for (int r = 0; r < ROWS; r += THREADS / 8) {
		copy16(to + r * ROW_BYTES + ((x ^ (row + r) % 8) << 4), from);
		from += THREADS / 8 * stride;
	}
}
#endif

/* COPIERS: warps that copy by cp.async; 0: one thread by tensor map; -1: the warps that compute copy by cp.async. */
template <int BN, int STAGES, int COPIERS, bool ANEW, bool MATH>
__global__ void __launch_bounds__(256 + 32 * (COPIERS < 0 ? 0 : COPIERS ? COPIERS : 1), 1)
copied(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tw, const __nv_bfloat16 *a, const __nv_bfloat16 *w,
       __nv_bfloat16 *c, int m, int n, int k)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	constexpr int BK = 64, A = PRODUCT_M * ROW_BYTES, STAGE = A + BN * ROW_BYTES;
	extern __shared__ char shared[];
	const uint32_t tiles = (shared_at(shared) + 1023) & ~1023u, full = tiles + STAGES * STAGE, empty = full + 8 * STAGES;
	const uint32_t id = blockIdx.y * gridDim.x + blockIdx.x, band = PRODUCT_BAND * gridDim.x, first = id / band * PRODUCT_BAND;
	const uint32_t high = min(gridDim.y - first, (uint32_t)PRODUCT_BAND), ty = first + id % band % high, tx = id % band / high;
	const int steps = k / BK, n0 = tx * BN, group = threadIdx.x / 128, row0 = ty * PRODUCT_M;
	const char *as = (const char *)(a + (size_t)row0 * k), *ws = (const char *)(w + (size_t)n0 * k);

	if (threadIdx.x == 0) {
		for (int s = 0; s < STAGES; s++)
			bar_init(full + 8 * s, COPIERS > 0 ? 32 * COPIERS : 1), bar_init(empty + 8 * s, 8);
		bar_ready();
	}
	__syncthreads();
	if (COPIERS >= 0 && group >= 2) {
		if (COPIERS == 0 && threadIdx.x % 32)
			return;
		for (int i = 0, s = 0, parity = 1; i < steps; i++) {
			bar_wait(empty + 8 * s, parity);
			if constexpr (COPIERS == 0) {
				bar_expect(full + 8 * s, STAGE);
				tile_load(tiles + s * STAGE, &ta, i * BK, row0, 0, full + 8 * s);
				tile_load(tiles + s * STAGE + A, &tw, i * BK, n0, 0, full + 8 * s);
			} else if constexpr (COPIERS > 0) {
				tile_copy<PRODUCT_M, 32 * COPIERS, ANEW>(tiles + s * STAGE, as + i * ROW_BYTES, (size_t)k * 2, threadIdx.x - 256);
				tile_copy<BN, 32 * COPIERS, ANEW>(tiles + s * STAGE + A, ws + i * ROW_BYTES, (size_t)k * 2, threadIdx.x - 256);
				copy_arrive(full + 8 * s);
			}
			if (++s == STAGES)
				s = 0, parity ^= 1;
		}
		asm volatile("cp.async.wait_all;" ::: "memory");
		return;
	}
	float d[BN / 2];
	auto own = [&](int step) {
		if (step < steps) {
			const uint32_t to = tiles + step % STAGES * STAGE;
			tile_copy<PRODUCT_M, 256, ANEW>(to, as + step * ROW_BYTES, (size_t)k * 2, threadIdx.x);
			tile_copy<BN, 256, ANEW>(to + A, ws + step * ROW_BYTES, (size_t)k * 2, threadIdx.x);
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
	if constexpr (COPIERS < 0)
		for (int i = 0; i < STAGES - 2; i++)
			own(i);
#pragma unroll
	for (int i = 0; i < BN / 2; i++)
		d[i] = 0;
	for (int i = 0, s = 0, last = 0, parity = 0; i < steps; i++) {
		if constexpr (COPIERS < 0) {
			asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 3) : "memory");
			copy_seen();
			__syncthreads();
		} else {
			bar_wait(full + 8 * s, parity);
			if constexpr (COPIERS > 0)
				copy_seen();
		}
		if constexpr (MATH) {
			const uint64_t at = wg_desc(tiles + s * STAGE + group * 64 * ROW_BYTES), wt = wg_desc(tiles + s * STAGE + A);
			wg_fence();
#pragma unroll
			for (int j = 0; j < 4; j++)
				wg_bf16(d, at + 2 * j, wt + 2 * j, i + j);
			wg_commit();
			wg_wait<1>();
		}
		if constexpr (COPIERS < 0)
			own(i + STAGES - 2);
		else if (i && threadIdx.x % 32 == 0)
			bar_arrive(empty + 8 * last);
		last = s;
		if (++s == STAGES)
			s = 0, parity ^= 1;
	}
	if constexpr (MATH)
		wg_wait<0>();
	wg_hold(d);
	const int row = row0 + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, col = n0 + threadIdx.x % 4 * 2;
#pragma unroll
	for (int j = 0; j < BN / 8; j++)
#pragma unroll
		for (int h = 0; h < 2; h++)
			*(__nv_bfloat162 *)(c + (size_t)(row + 8 * h) * n + col + 8 * j) = __floats2bfloat162_rn(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
#else
	(void)a, (void)w, (void)c, (void)m, (void)n, (void)k;
#endif
}

/* What arch/tiled was fitted to, beside copies alone. */
enum { FITTED = 1024 };

struct bufs { __nv_bfloat16 *a, *w, *c; };

template <int BN, int STAGES, int COPIERS, bool ANEW, bool MATH> static void one(struct bench *b, const struct bufs *m, int rows, int cols, int k)
{
	constexpr int shared = product_shared<__nv_bfloat16, BN, STAGES>(), threads = 256 + 32 * (COPIERS < 0 ? 0 : COPIERS ? COPIERS : 1);
	auto kernel = copied<BN, STAGES, COPIERS, ANEW, MATH>;
	/* Counted in SASS. */
	const int instructions = ANEW ? 23 : COPIERS < 0 ? 6 : COPIERS == 1 ? 3 : 4;
	CUtensorMap a = tile_map(m->a, k, rows, 1, PRODUCT_M), w = tile_map(m->w, k, cols, 1, BN);
	dim3 grid(cols / BN, rows / PRODUCT_M);
	CK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
	std::string p = described(bench_fmt("problem.m=%d;problem.n=%d;problem.k=%d", rows, cols, k), kernel, grid, PRODUCT_WARPS, shared,
	                          ((size_t)rows + cols) * k * 2, (size_t)rows * cols * 2);
	p += bench_fmt(";tile.n=%d;stages=%d;copy=%s;producer_warps=%d", BN, STAGES, COPIERS ? "async" : "bulk", COPIERS < 0 ? 0 : COPIERS ? COPIERS : 1);
	if (COPIERS)
		p += bench_fmt(";copy_instructions=%d", instructions);
	if (rows == FITTED)
		p += ";fitted=yes";
	const char *name = MATH ? "ref-copies" : "copies-alone";
	auto go = [&](int) { kernel<<<grid, threads, shared, b->s>>>(a, w, m->a, m->w, m->c, rows, cols, k); };

	CK(cudaMemsetAsync(m->c, 0xff, (size_t)rows * cols * 2, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	if (MATH) {
		std::vector<float> got = bench_floats(bench_read(m->c, (size_t)rows * cols)), x;
		size_t at = (size_t)-1;
		described_check(b, name, p, got, rows, cols, 12, 48, 4e-3, [&](size_t r, size_t c) {
			if (at != r)
				x = bench_floats(bench_read(m->a + r * k, k)), at = r;
			std::vector<float> y = bench_floats(bench_read(m->w + c * k, k));
			double s = 0;
			for (int i = 0; i < k; i++)
				s += (double)x[i] * y[i];
			return s;
		});
	}
	bench_time(b, name, p, BENCH_WARM, go);
}

template <int BN, int STAGES, bool MATH> static void ways(struct bench *b, const struct bufs *m, int rows, int cols, int k)
{
	one<BN, STAGES, 0, false, MATH>(b, m, rows, cols, k);
	one<BN, STAGES, 1, false, MATH>(b, m, rows, cols, k), one<BN, STAGES, 1, true, MATH>(b, m, rows, cols, k);
	one<BN, STAGES, 2, false, MATH>(b, m, rows, cols, k), one<BN, STAGES, 2, true, MATH>(b, m, rows, cols, k);
	one<BN, STAGES, 4, false, MATH>(b, m, rows, cols, k), one<BN, STAGES, 4, true, MATH>(b, m, rows, cols, k);
	one<BN, STAGES, -1, false, MATH>(b, m, rows, cols, k), one<BN, STAGES, -1, true, MATH>(b, m, rows, cols, k);
}

int main(int argc, char **argv)
{
	static const int sizes[][3] = { { 1024, 1024, 1024 }, { 2048, 2048, 2048 }, { 4096, 4096, 4096 } };
	const size_t most = (size_t)4096 * 4096;
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	if (b.prop.major != 9) {
		fprintf(stderr, "warpgroup instructions are sm_90's alone\n");
		return bench_close(&b);
	}
	m.a = (__nv_bfloat16 *)bench_alloc(most * 2), m.w = (__nv_bfloat16 *)bench_alloc(most * 2), m.c = (__nv_bfloat16 *)bench_alloc(most * 2);
	bench_fill_bf16(&b, m.a, most, 1), bench_fill_bf16(&b, m.w, most, 2);
	CK(cudaStreamSynchronize(b.s));
	for (auto &s : sizes) {
		ways<128, 6, true>(&b, &m, s[0], s[1], s[2]);
		ways<256, 4, true>(&b, &m, s[0], s[1], s[2]);
	}
	/* Operands lie in the L2; a block an SM, one round. */
	ways<128, 6, false>(&b, &m, 1024, 2048, 4096), ways<128, 3, false>(&b, &m, 1024, 2048, 4096);
	ways<256, 4, false>(&b, &m, 1024, 4096, 4096);
	return bench_close(&b);
}
