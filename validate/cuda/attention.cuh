/* attention.cuh - attention over many tokens on the tensor cores, with tile, stages and asynchronous copy as switches
 *
 * Q, K, V and the result are [batch x head][length][D] in 16 bits. A CTA of BM / 16 warps takes BM rows of Q, which stay
 * in shared memory, and walks K and V in tiles of BN rows through a ring of STAGES; a warp has 16 rows: its scores and
 * its part of the result are fp32 in registers, so nothing but tiles is in shared memory. Products are mma.sync
 * m16n8k16; running maximum and sum as every flash kernel keeps them, exponentials by ex2.
 *
 * ASYNC: tiles come by cp.async, STAGES - 1 of them ahead; else the same threads load the same 16 bytes to registers and
 * store them from there, at the same place of the loop: the warp waits for its loads before it goes on. With one stage
 * nothing is ahead: either way all wait for the tile. At D = 64 registers are held to what 4, 2 and 1 CTAs an SM leave,
 * or a few more on one side of the switch would cost it a CTA: the comparison is of copies, not of occupancy. Rows of 16-byte chunks are stored XORed by row modulo 8, so that
 * neither stores nor ldmatrix meet twice in a bank. */
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

static __device__ __forceinline__ uint32_t smem_at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

static __device__ __forceinline__ void ldmatrix(uint32_t r[4], uint32_t at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
	             : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

static __device__ __forceinline__ void ldmatrix_trans(uint32_t r[4], uint32_t at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
	             : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

template <class T> __device__ __forceinline__ void mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1);
template <> __device__ __forceinline__ void mma<__half>(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
	             "{%0, %1, %2, %3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <> __device__ __forceinline__ void mma<__nv_bfloat16>(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
	             "{%0, %1, %2, %3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <class T> __device__ __forceinline__ uint32_t pack(float lo, float hi);
template <> __device__ __forceinline__ uint32_t pack<__half>(float lo, float hi)
{
	__half2 h = __floats2half2_rn(lo, hi);
	return *(uint32_t *)&h;
}
template <> __device__ __forceinline__ uint32_t pack<__nv_bfloat16>(float lo, float hi)
{
	__nv_bfloat162 h = __floats2bfloat162_rn(lo, hi);
	return *(uint32_t *)&h;
}

static __device__ __forceinline__ float ex2(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

/* ROWS rows from row `first` of a head's `len`; rows past the end are zero. What differs between a thread's chunks is a
 * constant: the row modulo 8 does not. */
template <int ROWS, int D, int THREADS, bool ASYNC>
__device__ __forceinline__ void load_tile(uint32_t to, const uint4 *from, int first, int len)
{
	constexpr int C = D / 8, N = ROWS * C / THREADS, GO = N < 8 ? N : 8, STEP = THREADS / C;
	static_assert(ROWS * C % THREADS == 0 && N % GO == 0 && STEP % 8 == 0, "a tile is whole 16-byte chunks a thread");
	int r = threadIdx.x / C, c = threadIdx.x % C;
	to += (r * C + (c ^ (r & 7))) * 16, from += (size_t)first * C + threadIdx.x;
#pragma unroll
	for (int base = 0; base < N; base += GO) {
		uint4 v[GO];
#pragma unroll
		for (int u = base; u < base + GO; u++) {
			bool in = first + r + u * STEP < len;
			if (ASYNC)
				asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
				             :: "r"(to + u * THREADS * 16), "l"(in ? from + u * THREADS : from), "r"(in ? 16 : 0) : "memory");
			else
				v[u - base] = in ? __ldcg(from + u * THREADS) : make_uint4(0, 0, 0, 0);
		}
		if (!ASYNC)
#pragma unroll
			for (int u = base; u < base + GO; u++)
				asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :: "r"(to + u * THREADS * 16), "r"(v[u - base].x),
				             "r"(v[u - base].y), "r"(v[u - base].z), "r"(v[u - base].w) : "memory");
	}
}

template <int N> __device__ __forceinline__ void wait_all_but(void) { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
static __device__ __forceinline__ void commit(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <class T, int D, int BM, int BN, int STAGES, bool ASYNC>
__global__ void __launch_bounds__(BM * 2, D == 64 ? 4 * 64 * 64 / (BM * BN) : 1) attention(const uint4 *q, const uint4 *k, const uint4 *v, uint32_t *out, int len,
                                                    float scale, int causal)
{
	constexpr int THREADS = BM * 2, C = D / 8, ROW = D * 2, TILE = BN * ROW;
	extern __shared__ __align__(1024) uint4 sh[];
	uint32_t sq = smem_at(sh), sk = sq + BM * ROW, sv = sk + STAGES * TILE;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	/* Where a lane's row of the eight that ldmatrix takes begins, at the first chunk; others by XOR with the chunk. */
	uint32_t qa = sq + (warp * 16 + lane % 16) * ROW + (lane / 16 ^ lane % 8) * 16;
	uint32_t ka = (lane / 16 * 8 + lane % 8) * ROW + (lane / 8 % 2 ^ lane % 8) * 16;
	uint32_t va = (lane / 8 % 2 * 8 + lane % 8) * ROW + (lane / 16 ^ lane % 8) * 16;
	/* The longest rows of a causal mask first, or they would be the tail. */
	int m0 = (causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BM, row = m0 + warp * 16 + lane / 4;
	int tiles = (causal ? min(len, m0 + BM) : len) + BN - 1;
	float o[D / 8][4], top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0, 0 };

	tiles /= BN;
	q += (size_t)blockIdx.y * len * C, k += (size_t)blockIdx.y * len * C, v += (size_t)blockIdx.y * len * C;
	out += (size_t)blockIdx.y * len * (D / 2);
#pragma unroll
	for (int j = 0; j < D / 8; j++)
		o[j][0] = o[j][1] = o[j][2] = o[j][3] = 0;
	load_tile<BM, D, THREADS, ASYNC>(sq, q, m0, len);
	auto load = [&](int t) {
		if (t < tiles) {
			load_tile<BN, D, THREADS, ASYNC>(sk + t % STAGES * TILE, k, t * BN, len);
			load_tile<BN, D, THREADS, ASYNC>(sv + t % STAGES * TILE, v, t * BN, len);
		}
		if (ASYNC)
			commit();       /* also when empty: groups are counted */
	};
	for (int t = 0; t < STAGES - 1; t++)
		load(t);
	for (int t = 0; t < tiles; t++) {
		float s[BN / 8][4];

		if (STAGES == 1) {
			__syncthreads();
			load(t);
		}
		if (ASYNC)
			wait_all_but<(STAGES > 1 ? STAGES - 2 : 0)>();
		__syncthreads();
		/* Behind the barrier: the slot that the tile before this one had is free. */
		if (STAGES > 1)
			load(t + STAGES - 1);

		uint32_t kt = sk + t % STAGES * TILE + ka, vt = sv + t % STAGES * TILE + va;
#pragma unroll
		for (int j = 0; j < BN / 8; j++)
			s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0;
#pragma unroll
		for (int kk = 0; kk < D / 16; kk++) {
			uint32_t a[4], b[4];
			ldmatrix(a, qa ^ kk * 32);
#pragma unroll
			for (int j = 0; j < BN / 16; j++) {
				ldmatrix(b, (kt ^ kk * 32) + j * 16 * ROW);
				mma<T>(s[2 * j], a, b[0], b[1]);
				mma<T>(s[2 * j + 1], a, b[2], b[3]);
			}
		}
		if ((t + 1) * BN > len || (causal && (t + 1) * BN - 1 > m0 + warp * 16))
#pragma unroll
			for (int j = 0; j < BN / 8; j++)
#pragma unroll
				for (int i = 0; i < 4; i++) {
					int c = t * BN + j * 8 + lane % 4 * 2 + i % 2, r = row + i / 2 * 8;
					if (c >= len || (causal && c > r))
						s[j][i] = -INFINITY;
				}
#pragma unroll
		for (int h = 0; h < 2; h++) {
			float m = top[h];
#pragma unroll
			for (int j = 0; j < BN / 8; j++)
				m = fmaxf(m, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
			m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
			m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
			/* Tile 0 has a column for every row: m is finite from then on. */
			float less = ex2((top[h] - m) * scale), base = m * scale;
			top[h] = m, sum[h] *= less;
#pragma unroll
			for (int j = 0; j < BN / 8; j++) {
				s[j][2 * h] = ex2(s[j][2 * h] * scale - base), s[j][2 * h + 1] = ex2(s[j][2 * h + 1] * scale - base);
				sum[h] += s[j][2 * h] + s[j][2 * h + 1];
			}
#pragma unroll
			for (int j = 0; j < D / 8; j++)
				o[j][2 * h] *= less, o[j][2 * h + 1] *= less;
		}
#pragma unroll
		for (int kk = 0; kk < BN / 16; kk++) {
			uint32_t a[4] = { pack<T>(s[2 * kk][0], s[2 * kk][1]), pack<T>(s[2 * kk][2], s[2 * kk][3]),
			                  pack<T>(s[2 * kk + 1][0], s[2 * kk + 1][1]), pack<T>(s[2 * kk + 1][2], s[2 * kk + 1][3]) }, b[4];
#pragma unroll
			for (int j = 0; j < D / 16; j++) {
				ldmatrix_trans(b, (vt ^ j * 32) + kk * 16 * ROW);
				mma<T>(o[2 * j], a, b[0], b[1]);
				mma<T>(o[2 * j + 1], a, b[2], b[3]);
			}
		}
	}
#pragma unroll
	for (int h = 0; h < 2; h++) {
		float l = sum[h];
		l += __shfl_xor_sync(~0u, l, 1);
		l += __shfl_xor_sync(~0u, l, 2);
		l = 1 / l;
		if (row + h * 8 >= len)
			continue;
#pragma unroll
		for (int j = 0; j < D / 8; j++)
			out[(size_t)(row + h * 8) * (D / 2) + j * 4 + lane % 4] = pack<T>(o[j][2 * h] * l, o[j][2 * h + 1] * l);
	}
}
