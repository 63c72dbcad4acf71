/* decode.cuh - attention of one new token over keys and values of a head: a part of the length a CTA, and the parts' join
 *
 * K and V are rows of D in bf16 that `row` finds (contiguous, or by page), q and the result fp32; G query heads share a KV head.
 * Four warps; d/16 lanes hold a row of K and of V (32 bytes of each), so a warp has 4 or 8 rows under way, two deep; sums and
 * exponentials are fp32. With one part the first kernel writes the result. */
#pragma once
#include <stdint.h>

enum { WARPS = 4, DEEP = 2 };

static __device__ __forceinline__ void open8(uint4 x, float *f)
{
	uint32_t w[4] = { x.x, x.y, x.z, x.w };
#pragma unroll
	for (int i = 0; i < 4; i++)
		f[2 * i] = __uint_as_float(w[i] << 16), f[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000u);
}

/* Keys [first, end) of the KV head whose first query head is `head` * G. */
template <int D, int G, class R>
static __device__ __forceinline__ void decode_part(const float *q, const uint4 *k, const uint4 *v, float *part, float *out, int head, int first,
                                                   int end, R row)
{
	constexpr int LANES = D / 16, ROWS = 32 / LANES, STEP = ROWS * WARPS;
	__shared__ float sh_acc[WARPS][G][D], sh_m[WARPS][G], sh_l[WARPS][G];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, in = lane % LANES;
	float qf[G][16], acc[G][16], m[G], l[G];

#pragma unroll
	for (int g = 0; g < G; g++) {
		m[g] = -1e30f, l[g] = 0;
#pragma unroll
		for (int i = 0; i < 16; i++) {
			/* The scale and the base of exp2 go into q once. */
			qf[g][i] = q[(head * G + g) * D + (in + i / 8 * LANES) * 8 + i % 8] * (rsqrtf((float)D) * 1.44269504f);
			acc[g][i] = 0;
		}
	}
	for (int r = first + warp * ROWS + lane / LANES; r - lane / LANES < end; r += STEP * DEEP) {
		uint4 kk[DEEP][2], vv[DEEP][2];
		float s[DEEP][G], f[16];
#pragma unroll
		for (int u = 0; u < DEEP; u++) {
			size_t at = row(min(r + u * STEP, end - 1)) * (D / 8) + in;
			kk[u][0] = __ldcg(k + at), kk[u][1] = __ldcg(k + at + LANES);
			vv[u][0] = __ldcg(v + at), vv[u][1] = __ldcg(v + at + LANES);
		}
#pragma unroll
		for (int u = 0; u < DEEP; u++) {
			open8(kk[u][0], f), open8(kk[u][1], f + 8);
#pragma unroll
			for (int g = 0; g < G; g++) {
				s[u][g] = 0;
#pragma unroll
				for (int i = 0; i < 16; i++)
					s[u][g] += qf[g][i] * f[i];
#pragma unroll
				for (int o = LANES / 2; o; o /= 2)
					s[u][g] += __shfl_xor_sync(~0u, s[u][g], o);
				if (r + u * STEP >= end)
					s[u][g] = -INFINITY;
			}
		}
#pragma unroll
		for (int u = 0; u < DEEP; u++) {
			open8(vv[u][0], f), open8(vv[u][1], f + 8);
#pragma unroll
			for (int g = 0; g < G; g++) {
				float top = fmaxf(m[g], s[u][g]), c = exp2f(m[g] - top), p = exp2f(s[u][g] - top);
				m[g] = top, l[g] = l[g] * c + p;
#pragma unroll
				for (int i = 0; i < 16; i++)
					acc[g][i] = acc[g][i] * c + p * f[i];
			}
		}
	}
#pragma unroll
	for (int g = 0; g < G; g++) {
		float top = m[g];
		for (int o = LANES; o < 32; o *= 2)
			top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
		float c = exp2f(m[g] - top);
		l[g] *= c;
		for (int o = LANES; o < 32; o *= 2)
			l[g] += __shfl_xor_sync(~0u, l[g], o);
#pragma unroll
		for (int i = 0; i < 16; i++) {
			acc[g][i] *= c;
			for (int o = LANES; o < 32; o *= 2)
				acc[g][i] += __shfl_xor_sync(~0u, acc[g][i], o);
			if (lane < LANES)
				sh_acc[warp][g][(in + i / 8 * LANES) * 8 + i % 8] = acc[g][i];
		}
		if (lane == 0)
			sh_m[warp][g] = top, sh_l[warp][g] = l[g];
	}
	__syncthreads();
	for (int i = threadIdx.x; i < G * D; i += WARPS * 32) {
		int g = i / D, d = i % D;
		float top = -1e30f, a = 0, sum = 0;
		for (int w = 0; w < WARPS; w++)
			top = fmaxf(top, sh_m[w][g]);
		for (int w = 0; w < WARPS; w++) {
			float c = exp2f(sh_m[w][g] - top);
			a += sh_acc[w][g][d] * c, sum += sh_l[w][g] * c;
		}
		if (gridDim.x == 1) {
			out[(head * G + g) * D + d] = a / sum;
			continue;
		}
		float *p = part + ((size_t)(head * G + g) * gridDim.x + blockIdx.x) * (D + 2);
		p[d] = a;
		if (d == 0)
			p[D] = top, p[D + 1] = sum;
	}
}

template <int D> __global__ void join(const float *part, float *out, int parts)
{
	const float *p = part + (size_t)blockIdx.x * parts * (D + 2);
	float top = -1e30f, a = 0, sum = 0;
	for (int s = 0; s < parts; s++)
		top = fmaxf(top, p[s * (D + 2) + D]);
	for (int s = 0; s < parts; s++) {
		float c = exp2f(p[s * (D + 2) + D] - top);
		a += p[s * (D + 2) + threadIdx.x] * c, sum += p[s * (D + 2) + D + 1] * c;
	}
	out[blockIdx.x * D + threadIdx.x] = a / sum;
}
