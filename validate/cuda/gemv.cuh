/* gemv.cuh - y = W x at one token: bf16, fp8 e4m3, int4 and nvfp4 with group scales, a warp a row, K split or whole
 *
 * W is row-major [N][K]; sums are fp32, y is fp32. int4: two a byte, low first, value (q - 8) x bf16 scale of its group
 * of 128 along K. nvfp4: two e2m1 a byte, low first, x e4m3 scale of its group of 16; x is then fp16, each eight values in the
 * order 0 4 1 5 2 6 3 7. Split: grid.y parts of K write partial sums, a second kernel adds them. */
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

enum { WARPS = 4, GROUP = 128, UNROLL = 4 };

static __device__ __forceinline__ float dot2(uint32_t w, uint32_t x)
{
	float2 a = __bfloat1622float2(*(__nv_bfloat162 *)&w), b = __bfloat1622float2(*(__nv_bfloat162 *)&x);
	return a.x * b.x + a.y * b.y;
}

/* One 16-byte chunk of a row against its part of x; scale is the row's first group scale (int4 only). */
struct w_bf16 {
	static constexpr int per = 8, scaled = GROUP;
	static __device__ float dot(uint4 v, const uint4 *x, int c, const __nv_bfloat16 *)
	{
		uint4 y = __ldg(x + c);
		return dot2(v.x, y.x) + dot2(v.y, y.y) + dot2(v.z, y.z) + dot2(v.w, y.w);
	}
};

struct w_fp8 {
	static constexpr int per = 16, scaled = GROUP;
	static __device__ float four(uint32_t v, uint32_t x0, uint32_t x1)
	{
		__half2_raw l = __nv_cvt_fp8x2_to_halfraw2(v & 0xffff, __NV_E4M3), h = __nv_cvt_fp8x2_to_halfraw2(v >> 16, __NV_E4M3);
		float2 a = __half22float2(*(__half2 *)&l), b = __half22float2(*(__half2 *)&h);
		float2 p = __bfloat1622float2(*(__nv_bfloat162 *)&x0), q = __bfloat1622float2(*(__nv_bfloat162 *)&x1);
		return a.x * p.x + a.y * p.y + b.x * q.x + b.y * q.y;
	}
	static __device__ float dot(uint4 v, const uint4 *x, int c, const __nv_bfloat16 *)
	{
		uint4 p = __ldg(x + 2 * c), q = __ldg(x + 2 * c + 1);
		return four(v.x, p.x, p.y) + four(v.y, p.z, p.w) + four(v.z, q.x, q.y) + four(v.w, q.z, q.w);
	}
};

struct w_int4 {
	static constexpr int per = 32, scaled = GROUP;
	static __device__ float eight(uint32_t v, uint4 x)
	{
		float s = 0;
		uint32_t w[4] = { x.x, x.y, x.z, x.w };
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float2 p = __bfloat1622float2(*(__nv_bfloat162 *)&w[i]);
			s += (float)((int)(v >> (8 * i) & 15) - 8) * p.x + (float)((int)(v >> (8 * i + 4) & 15) - 8) * p.y;
		}
		return s;
	}
	static __device__ float dot(uint4 v, const uint4 *x, int c, const __nv_bfloat16 *scale)
	{
		float s = eight(v.x, __ldg(x + 4 * c)) + eight(v.y, __ldg(x + 4 * c + 1)) + eight(v.z, __ldg(x + 4 * c + 2)) +
		          eight(v.w, __ldg(x + 4 * c + 3));
		return s * __bfloat162float(scale[c * per / GROUP]);
	}
};

/* sm_90 has no instruction for e2m1: sign, exponent and mantissa are put where a half has them, 2^14 makes up for its bias. */
struct w_nvfp4 {
	static constexpr int per = 32, scaled = 32;
	static __device__ __forceinline__ __half2 eight(uint32_t v, uint4 x, __half2 s)
	{
		const uint32_t w[4] = { x.x, x.y, x.z, x.w };
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const uint32_t t = v >> 4 * i, h = (t & 0x00080008) << 12 | (t & 0x00070007) << 9;
			s = __hfma2(__hmul2(*(__half2 *)&h, __float2half2_rn(16384.f)), *(__half2 *)&w[i], s);
		}
		return s;
	}
	static __device__ float dot(uint4 v, const uint4 *x, int c, const __nv_bfloat16 *scale)
	{
		const __half2 zero = __float2half2_rn(0.f);
		float2 a = __half22float2(eight(v.y, __ldg(x + 4 * c + 1), eight(v.x, __ldg(x + 4 * c), zero)));
		float2 b = __half22float2(eight(v.w, __ldg(x + 4 * c + 3), eight(v.z, __ldg(x + 4 * c + 2), zero)));
		__half2_raw h = __nv_cvt_fp8x2_to_halfraw2(__ldg((const unsigned short *)scale + c), __NV_E4M3);
		float2 s = __half22float2(*(__half2 *)&h);
		return (a.x + a.y) * s.x + (b.x + b.y) * s.y;
	}
};

/* S parts: y is [S][N]; part p takes chunks [p * each, (p + 1) * each). */
template <class W>
__global__ void __launch_bounds__(WARPS * 32) gemv(const uint4 *w, const __nv_bfloat16 *scale, const uint4 *x, float *y, int n, int k,
                                                   int each)
{
	int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32, chunks = k / W::per;
	int c = blockIdx.y * each + lane, end = min(chunks, (int)(blockIdx.y + 1) * each);
	float sum = 0;

	if (row >= n)
		return;
	w += (size_t)row * chunks;
	scale += (size_t)row * (k / W::scaled);
	for (; c + (UNROLL - 1) * 32 < end; c += UNROLL * 32) {
		uint4 v[UNROLL];
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			v[u] = __ldcg(w + c + u * 32);
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			sum += W::dot(v[u], x, c + u * 32, scale);
	}
	for (; c < end; c += 32)
		sum += W::dot(__ldcg(w + c), x, c, scale);
	for (int o = 16; o; o /= 2)
		sum += __shfl_xor_sync(~0u, sum, o);
	if (lane == 0)
		y[(size_t)blockIdx.y * n + row] = sum;
}

__global__ void add_parts(const float *part, float *y, int n, int parts)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 0;
	if (i >= n)
		return;
	for (int p = 0; p < parts; p++)
		s += part[(size_t)p * n + i];
	y[i] = s;
}
