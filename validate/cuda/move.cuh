/* move.cuh - kernels that touch each element once: elementwise, convert, concat, gather; and a sum by one CTA
 *
 * T threads a CTA, 16 bytes of the wider type a thread and step, as many CTAs as the elements need. */
#pragma once
#include <cuda_bf16.h>

enum { T = 128 };

enum op { ADD, EXP, GELU, SILU_MUL, WIDEN, NARROW };
static const char *const op_names[] = { "add", "exp", "gelu", "silu_mul", "bf16_to_f32", "f32_to_bf16" };

static __host__ __device__ __forceinline__ float apply(enum op op, float a, float b)
{
	switch (op) {
	case ADD:      return a + b;
	case EXP:      return expf(a);
	case GELU:     return 0.5f * a * (1 + erff(a * 0.70710678f));
	case SILU_MUL: return a / (1 + expf(-a)) * b;
	default:       return a;
	}
}

template <class V> __device__ __forceinline__ void read8(const V *p, float v[8]);
template <> __device__ __forceinline__ void read8(const float *p, float v[8])
{
	float4 a = ((const float4 *)p)[0], b = ((const float4 *)p)[1];
	v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w, v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
}
template <> __device__ __forceinline__ void read8(const __nv_bfloat16 *p, float v[8])
{
	uint4 x = *(const uint4 *)p;
	uint32_t w[4] = { x.x, x.y, x.z, x.w };
	for (int i = 0; i < 4; i++)
		v[2 * i] = __uint_as_float(w[i] << 16), v[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000u);
}
__device__ __forceinline__ void write8(float *p, const float v[8])
{
	((float4 *)p)[0] = make_float4(v[0], v[1], v[2], v[3]), ((float4 *)p)[1] = make_float4(v[4], v[5], v[6], v[7]);
}
__device__ __forceinline__ void write8(__nv_bfloat16 *p, const float v[8])
{
	uint4 x;
	*(__nv_bfloat162 *)&x.x = __floats2bfloat162_rn(v[0], v[1]), *(__nv_bfloat162 *)&x.y = __floats2bfloat162_rn(v[2], v[3]);
	*(__nv_bfloat162 *)&x.z = __floats2bfloat162_rn(v[4], v[5]), *(__nv_bfloat162 *)&x.w = __floats2bfloat162_rn(v[6], v[7]);
	*(uint4 *)p = x;
}

template <int OP, class I, class O> __global__ void __launch_bounds__(T) each(const I *a, const I *c, O *y, size_t n)
{
	size_t i = (blockIdx.x * (size_t)T + threadIdx.x) * 8;
	float v[8], w[8];
	if (i >= n)
		return;
	read8(a + i, v);
	if (OP == ADD || OP == SILU_MUL)
		read8(c + i, w);
	for (int j = 0; j < 8; j++)
		v[j] = apply((enum op)OP, v[j], w[j]);
	write8(y + i, v);
}

/* [rows][ca] and [rows][cc] side by side; 16-byte units. */
__global__ void __launch_bounds__(T) concat(const uint4 *a, const uint4 *c, uint4 *y, int rows, int ca, int cc)
{
	size_t i = blockIdx.x * (size_t)T + threadIdx.x;
	int w = ca + cc, r = (int)(i / w), col = (int)(i % w);
	if (r < rows)
		y[i] = col < ca ? a[(size_t)r * ca + col] : c[(size_t)r * cc + col - ca];
}

__global__ void __launch_bounds__(T) gather(const uint4 *table, const int *index, uint4 *y, int width)
{
	const uint4 *from = table + (size_t)index[blockIdx.x] * width;
	for (int c = threadIdx.x; c < width; c += T)
		y[(size_t)blockIdx.x * width + c] = from[c];
}

__global__ void __launch_bounds__(512) row_sum(const float *x, float *y, int n)
{
	__shared__ float part[16];
	float s = 0;
	for (int i = threadIdx.x * 4; i < n; i += 512 * 4) {
		float4 v = *(const float4 *)(x + i);
		s += v.x + v.y + v.z + v.w;
	}
	for (int o = 16; o; o /= 2)
		s += __shfl_xor_sync(~0u, s, o);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = s;
	__syncthreads();
	if (threadIdx.x < 16) {
		s = part[threadIdx.x];
		for (int o = 8; o; o /= 2)
			s += __shfl_xor_sync(0xffff, s, o);
		if (threadIdx.x == 0)
			*y = s;
	}
}

/* A producer: writes what is there already, so that a check after it still holds. Not counted, by its name. */
__global__ void __launch_bounds__(T) prep_produce(const uint4 *from, uint4 *to, size_t n)
{
	size_t i = blockIdx.x * (size_t)T + threadIdx.x;
	if (i < n)
		to[i] = from[i];
}
