/* rows.cuh - kernels that reduce rows: rms-norm, softmax, sum, argmax; T threads a row
 *
 * Rows stay in the inputs' memory between passes (no copy in shared memory), as the library kernels of a decode step do:
 * the second pass reads L2 or L1. Four elements a thread and step: cols is a multiple of 4. */
#pragma once
#include <cuda_bf16.h>

template <class T> __device__ __forceinline__ void load4(const T *p, float v[4]);
template <> __device__ __forceinline__ void load4(const float *p, float v[4])
{
	float4 x = *(const float4 *)p;
	v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
}
template <> __device__ __forceinline__ void load4(const __nv_bfloat16 *p, float v[4])
{
	uint2 x = *(const uint2 *)p;
	float2 a = __bfloat1622float2(*(__nv_bfloat162 *)&x.x), c = __bfloat1622float2(*(__nv_bfloat162 *)&x.y);
	v[0] = a.x, v[1] = a.y, v[2] = c.x, v[3] = c.y;
}
__device__ __forceinline__ void store4(float *p, const float v[4]) { *(float4 *)p = make_float4(v[0], v[1], v[2], v[3]); }
__device__ __forceinline__ void store4(__nv_bfloat16 *p, const float v[4])
{
	uint2 x;
	*(__nv_bfloat162 *)&x.x = __floats2bfloat162_rn(v[0], v[1]);
	*(__nv_bfloat162 *)&x.y = __floats2bfloat162_rn(v[2], v[3]);
	*(uint2 *)p = x;
}

struct add { static __device__ float of(float a, float b) { return a + b; } };
struct most { static __device__ float of(float a, float b) { return fmaxf(a, b); } };

/* T threads, all of them get the result; two barriers if there is more than a warp. */
template <class Op, int T> __device__ float together(float v, float *part)
{
	for (int o = 16; o; o /= 2)
		v = Op::of(v, __shfl_xor_sync(~0u, v, o));
	if (T == 32)
		return v;
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = part[0];
	for (int w = 1; w < T / 32; w++)
		v = Op::of(v, part[w]);
	__syncthreads();
	return v;
}

template <class I, class O, int T>
__global__ void __launch_bounds__(T) rmsnorm(const I *x, const I *g, O *y, int cols)
{
	__shared__ float part[32];
	float v[4], w[4], s = 0;
	x += (size_t)blockIdx.x * cols, y += (size_t)blockIdx.x * cols;
	for (int c = threadIdx.x * 4; c < cols; c += T * 4) {
		load4(x + c, v);
		s += v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
	}
	s = rsqrtf(together<add, T>(s, part) / cols + 1e-6f);
	for (int c = threadIdx.x * 4; c < cols; c += T * 4) {
		load4(x + c, v), load4(g + c, w);
		for (int i = 0; i < 4; i++)
			v[i] *= s * w[i];
		store4(y + c, v);
	}
}

template <class I, class O, int T> __global__ void __launch_bounds__(T) softmax(const I *x, const I *, O *y, int cols)
{
	__shared__ float part[32];
	float v[4], m = -INFINITY, s = 0;
	x += (size_t)blockIdx.x * cols, y += (size_t)blockIdx.x * cols;
	for (int c = threadIdx.x * 4; c < cols; c += T * 4) {
		load4(x + c, v);
		m = fmaxf(m, fmaxf(fmaxf(v[0], v[1]), fmaxf(v[2], v[3])));
	}
	m = together<most, T>(m, part);
	for (int c = threadIdx.x * 4; c < cols; c += T * 4) {
		load4(x + c, v);
		s += __expf(v[0] - m) + __expf(v[1] - m) + __expf(v[2] - m) + __expf(v[3] - m);
	}
	s = 1 / together<add, T>(s, part);
	for (int c = threadIdx.x * 4; c < cols; c += T * 4) {
		load4(x + c, v);
		for (int i = 0; i < 4; i++)
			v[i] = __expf(v[i] - m) * s;
		store4(y + c, v);
	}
}

template <class I, class O, int T> __global__ void __launch_bounds__(T) sum(const I *x, const I *, O *y, int cols)
{
	__shared__ float part[32];
	float v[4], s = 0;
	x += (size_t)blockIdx.x * cols;
	for (int c = threadIdx.x * 4; c < cols; c += T * 4) {
		load4(x + c, v);
		s += v[0] + v[1] + v[2] + v[3];
	}
	s = together<add, T>(s, part);
	if (threadIdx.x == 0)
		((float *)y)[blockIdx.x] = s;
}

template <class I, class O, int T> __global__ void __launch_bounds__(T) argmax(const I *x, const I *, O *y, int cols)
{
	__shared__ float part[32];
	float v[4], m = -INFINITY;
	int at = 0;
	x += (size_t)blockIdx.x * cols;
	for (int c = threadIdx.x * 4; c < cols; c += T * 4) {
		load4(x + c, v);
		for (int i = 0; i < 4; i++)
			if (v[i] > m)
				m = v[i], at = c + i;
	}
	float top = together<most, T>(m, part);
	/* The first of equals: the smallest index wins, as the greatest of its negative (exact below 2^24). */
	float first = together<most, T>(m == top ? -(float)at : -INFINITY, part);
	if (threadIdx.x == 0)
		((float *)y)[blockIdx.x] = -first;
}
