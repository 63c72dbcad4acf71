/* tiled.cuh - attention over many tokens as teaching kernels write it: scores and results in shared memory
 *
 * What attention.cuh does not do, each as a switch: products by single threads or by wmma 16x16x16, apart for Q K^T and P V;
 * a softmax whose row is a warp's, some lanes' or one lane's, joined by shuffles or by atomics on shared memory; rows padded
 * by so many elements; tiles copied 2 or 16 bytes a thread, plain or by cp.async, one or two stages, by all warps or by one
 * of their own; P V by threads summed in registers or in shared memory. Two ways to share the work:
 *   block  all warps compute the BM x BN scores, meet, take rows in turn, meet, multiply by V
 *   warp   a warp has 16 rows of its own and goes through the tile 16 keys at a time: product, softmax, product
 * Sizes are whole tiles; no mask. */
#pragma once
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

enum tiled_math { TILED_SCALAR, TILED_WMMA };
enum tiled_exchange { TILED_SHUFFLE, TILED_ATOMICS };

template <bool BLOCK_, int BM_, int BN_, int WARPS_, int PAD_, tiled_math QK_, tiled_math PV_, int LANES_, int ROWS_,
          tiled_exchange EXCHANGE_, int STAGES_, bool ASYNC_, int BYTES_, int PRODUCERS_, bool MEMORY_>
struct tiled_as {
	static constexpr bool BLOCK = BLOCK_, ASYNC = ASYNC_, MEMORY = MEMORY_; /* MEMORY: P V adds up there, key by key */
	static constexpr int D = 64, BM = BM_, BN = BN_, WARPS = WARPS_, PAD = PAD_, LANES = LANES_, ROWS = ROWS_, STAGES = STAGES_,
	                     BYTES = BYTES_, PRODUCERS = PRODUCERS_, THREADS = 32 * (WARPS + PRODUCERS), LD = D + PAD,
	                     COLS = BLOCK ? BN : 16, HEIGHT = BLOCK ? BM : 16; /* of the scores that lie in shared memory */
	static constexpr tiled_math QK = QK_, PV = PV_;
	static constexpr tiled_exchange EXCHANGE = EXCHANGE_;
	static constexpr int LP = BLOCK ? BN + PAD : 16, TILES = BLOCK ? 1 : WARPS;
	static constexpr int Q = BM * LD * 2, KV = BN * LD * 2, O = BM * LD * 4, S = TILES * HEIGHT * COLS * 4,
	                     P = PV == TILED_WMMA ? TILES * HEIGHT * LP * 2 : 0, SMEM = Q + 2 * STAGES * KV + O + S + P + 4 * BM * 4;
};

static __device__ __forceinline__ int tiled_key(float x)
{
	int i = __float_as_int(x);
	return i >= 0 ? i : i ^ 0x7fffffff;
}

static __device__ __forceinline__ float tiled_unkey(int i) { return __int_as_float(i >= 0 ? i : i ^ 0x7fffffff); }

template <class A, int ROWS> __device__ __forceinline__ void tiled_copy(__half *to, const __half *from, int thread, int threads)
{
	constexpr int E = A::BYTES / 2;
	for (int i = thread; i < ROWS * A::D / E; i += threads) {
		int r = i / (A::D / E), c = i % (A::D / E) * E;
		if (A::ASYNC) {
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((uint32_t)__cvta_generic_to_shared(to + r * A::LD + c)),
			             "l"(from + r * A::D + c) : "memory");
		} else if (A::BYTES == 16) {
			*(uint4 *)(to + r * A::LD + c) = *(const uint4 *)(from + r * A::D + c);
		} else {
			to[r * A::LD + c] = from[r * A::D + c];
		}
	}
}

/* `n` x COLS scores of rows from `row` and keys from `key`, by the lanes of one warp or all threads. */
template <class A, int N> __device__ __forceinline__ void tiled_scores(float *s, const __half *q, const __half *k, int thread, int threads,
                                                                      float scale)
{
	using namespace nvcuda;
	if constexpr (A::QK == TILED_SCALAR) {
		for (int i = thread; i < N * A::COLS; i += threads) {
			int m = i / A::COLS, n = i % A::COLS;
			float x = 0;
			for (int d = 0; d < A::D; d++)
				x += __half2float(q[m * A::LD + d]) * __half2float(k[n * A::LD + d]);
			s[i] = x * scale;
		}
	} else for (int t = thread / 32; t < N / 16 * (A::COLS / 16); t += threads / 32) {
		int m = t / (A::COLS / 16) * 16, n = t % (A::COLS / 16) * 16;
		wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
		wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
		wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
		wmma::fill_fragment(c, 0.0f);
		for (int d = 0; d < A::D; d += 16) {
			wmma::load_matrix_sync(a, q + m * A::LD + d, A::LD);
			wmma::load_matrix_sync(b, k + n * A::LD + d, A::LD);
			wmma::mma_sync(c, a, b, c);
		}
		for (int i = 0; i < c.num_elements; i++)
			c.x[i] *= scale;
		wmma::store_matrix_sync(s + m * A::COLS + n, c, A::COLS, wmma::mem_row_major);
	}
}

/* A row's maximum or sum over the lanes that share it. */
template <class A> __device__ __forceinline__ float tiled_join(float x, bool sum, int *top, float *part, unsigned mask)
{
	if (A::LANES == 1)
		return x;
	if (A::EXCHANGE == TILED_SHUFFLE) {
		for (int o = A::LANES / 2; o; o /= 2) {
			float y = __shfl_xor_sync(mask, x, o);
			x = sum ? x + y : fmaxf(x, y);
		}
		return x;
	}
	if (sum)
		atomicAdd(part, x);
	else
		atomicMax(top, tiled_key(x));
	__syncwarp(mask);
	return sum ? *part : tiled_unkey(*top);
}

/* One warp's running softmax over rows [first, last) in steps. */
template <class A> __device__ __forceinline__ void tiled_softmax(float *s, __half *p, float *o, float *top, float *sum, int *itop, float *isum,
                                                                int first, int step, int last, int lane)
{
	constexpr unsigned MASK = A::LANES * A::ROWS == 32 ? ~0u : (1u << (A::LANES * A::ROWS)) - 1;
	int group = lane / A::LANES, j = lane % A::LANES;

	if (group >= A::ROWS)
		return;
	for (int r = first + group * step; r < last; r += A::ROWS * step) {
		float m = -INFINITY, l = 0;
		for (int c = j; c < A::COLS; c += A::LANES)
			m = fmaxf(m, s[r * A::COLS + c]);
		if (A::EXCHANGE == TILED_ATOMICS && A::LANES > 1 && j == 0)
			itop[r] = tiled_key(-INFINITY), isum[r] = 0;
		if (A::EXCHANGE == TILED_ATOMICS && A::LANES > 1)
			__syncwarp(MASK);
		m = tiled_join<A>(m, false, itop + r, isum + r, MASK);
		float now = fmaxf(top[r], m), less = expf(top[r] - now);
		for (int d = j; d < A::D; d += A::LANES)
			o[r * A::LD + d] *= less;
		for (int c = j; c < A::COLS; c += A::LANES) {
			float x = expf(s[r * A::COLS + c] - now);
			if (A::PV == TILED_WMMA)
				p[r * A::LP + c] = __float2half(x);
			else
				s[r * A::COLS + c] = x;
			l += x;
		}
		l = tiled_join<A>(l, true, itop + r, isum + r, MASK);
		__syncwarp(MASK);
		if (j == 0)
			sum[r] = sum[r] * less + l, top[r] = now;
	}
}

template <class A, int N> __device__ __forceinline__ void tiled_values(float *o, const float *s, const __half *p, const __half *v, int thread,
                                                                      int threads)
{
	using namespace nvcuda;
	if constexpr (A::PV == TILED_SCALAR) {
		for (int i = thread; i < N * A::D; i += threads) {
			int m = i / A::D, d = i % A::D;
			float x = 0;
			for (int n = 0; n < A::COLS; n++)
				if constexpr (A::MEMORY)
					((volatile float *)o)[m * A::LD + d] += s[m * A::COLS + n] * __half2float(v[n * A::LD + d]);
				else
					x += s[m * A::COLS + n] * __half2float(v[n * A::LD + d]);
			if constexpr (!A::MEMORY)
				o[m * A::LD + d] += x;
		}
	} else for (int t = thread / 32; t < N / 16 * (A::D / 16); t += threads / 32) {
		int m = t / (A::D / 16) * 16, d = t % (A::D / 16) * 16;
		wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
		wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
		wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
		wmma::load_matrix_sync(c, o + m * A::LD + d, A::LD, wmma::mem_row_major);
		for (int n = 0; n < A::COLS; n += 16) {
			wmma::load_matrix_sync(a, p + m * A::LP + n, A::LP);
			wmma::load_matrix_sync(b, v + n * A::LD + d, A::LD);
			wmma::mma_sync(c, a, b, c);
		}
		wmma::store_matrix_sync(o + m * A::LD + d, c, A::LD, wmma::mem_row_major);
	}
}

template <class A> __global__ void __launch_bounds__(A::THREADS) tiled(const __half *q, const __half *k, const __half *v, __half *out, int len,
                                                                       float scale)
{
	extern __shared__ __align__(128) unsigned char sh[];
	__half *sq = (__half *)sh, *sk = sq + A::BM * A::LD, *sv = sk + A::STAGES * A::BN * A::LD;
	float *so = (float *)(sv + A::STAGES * A::BN * A::LD), *ss = so + A::BM * A::LD, *top = ss + A::S / 4, *sum = top + A::BM;
	int *itop = (int *)(sum + A::BM);
	float *isum = (float *)(itop + A::BM);
	__half *sp = (__half *)(isum + A::BM);
	int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, tiles = len / A::BN, own = warp < A::WARPS ? warp : 0;
	bool producer = warp >= A::WARPS, copies = !A::PRODUCERS || producer;
	int ct = A::PRODUCERS ? thread - 32 * A::WARPS : thread, cn = A::PRODUCERS ? 32 * A::PRODUCERS : A::THREADS;
	size_t head = (size_t)blockIdx.y * len * A::D;

	q += head + (size_t)blockIdx.x * A::BM * A::D, k += head, v += head, out += head + (size_t)blockIdx.x * A::BM * A::D;
	for (int i = thread; i < A::BM * A::LD; i += A::THREADS)
		so[i] = 0;
	for (int i = thread; i < A::BM; i += A::THREADS)
		top[i] = -INFINITY, sum[i] = 0;
	tiled_copy<A, A::BM>(sq, q, thread, A::THREADS);
	auto load = [&](int t) {
		if (t < tiles && copies) {
			tiled_copy<A, A::BN>(sk + t % A::STAGES * A::BN * A::LD, k + (size_t)t * A::BN * A::D, ct, cn);
			tiled_copy<A, A::BN>(sv + t % A::STAGES * A::BN * A::LD, v + (size_t)t * A::BN * A::D, ct, cn);
		}
		if (A::ASYNC)
			asm volatile("cp.async.commit_group;" ::: "memory");
	};
	if (A::STAGES > 1)
		load(0);
	for (int t = 0; t < tiles; t++) {
		const __half *kt = sk + t % A::STAGES * A::BN * A::LD, *vt = sv + t % A::STAGES * A::BN * A::LD;
		if (A::STAGES == 1)
			load(t);
		if (A::ASYNC)
			asm volatile("cp.async.wait_group 0;" ::: "memory");
		__syncthreads();
		if (A::STAGES > 1)
			load(t + 1);
		if (A::BLOCK) {
			tiled_scores<A, A::BM>(ss, sq, kt, thread, A::THREADS, scale);
			__syncthreads();
			tiled_softmax<A>(ss, sp, so, top, sum, itop, isum, warp, A::WARPS, A::BM, lane);
			__syncthreads();
			tiled_values<A, A::BM>(so, ss, sp, vt, thread, A::THREADS);
		} else if (!producer) {
			float *s = ss + own * 16 * A::COLS;
			__half *p = sp + own * 16 * A::LP;
			for (int c = 0; c < A::BN; c += 16) {
				tiled_scores<A, 16>(s, sq + own * 16 * A::LD, kt + c * A::LD, lane, 32, scale);
				__syncwarp();
				tiled_softmax<A>(s, p, so + own * 16 * A::LD, top + own * 16, sum + own * 16, itop + own * 16, isum + own * 16, 0, 1, 16,
				                 lane);
				__syncwarp();
				tiled_values<A, 16>(so + own * 16 * A::LD, s, p, vt + c * A::LD, lane, 32);
				__syncwarp();
			}
		}
		__syncthreads();
	}
	for (int i = thread; i < A::BM * A::D; i += A::THREADS)
		out[i] = __float2half(so[i / A::D * A::LD + i % A::D] / sum[i / A::D]);
}
