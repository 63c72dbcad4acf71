/* ref_gemv.cu - y = W x at one token: bf16, fp8 e4m3 and int4 with group scales, a warp a row, K split or whole
 *
 * W is row-major [N][K]; sums are fp32, y is fp32. int4: two a byte, low first, value (q - 8) x bf16 scale of its group
 * of 128 along K. Split: grid.y parts of K write partial sums, a second kernel adds them; a time is both together.
 * Cold: each launch has its own W in a pool far larger than the L2; x and y stay, as in a decode step. */
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "bench.cuh"

enum { WARPS = 4, GROUP = 128, UNROLL = 4 };

static __device__ __forceinline__ float dot2(uint32_t w, uint32_t x)
{
	float2 a = __bfloat1622float2(*(__nv_bfloat162 *)&w), b = __bfloat1622float2(*(__nv_bfloat162 *)&x);
	return a.x * b.x + a.y * b.y;
}

/* One 16-byte chunk of a row against its part of x; scale is the row's first group scale (int4 only). */
struct w_bf16 {
	static constexpr int per = 8;
	static __device__ float dot(uint4 v, const uint4 *x, int c, const __nv_bfloat16 *)
	{
		uint4 y = __ldg(x + c);
		return dot2(v.x, y.x) + dot2(v.y, y.y) + dot2(v.z, y.z) + dot2(v.w, y.w);
	}
};

struct w_fp8 {
	static constexpr int per = 16;
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
	static constexpr int per = 32;
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
	scale += (size_t)row * (k / GROUP);
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

struct bufs { char *w; size_t pool; __nv_bfloat16 *scale, *x; float *part, *y; std::vector<float> hx; };

enum type { BF16, FP8, INT4 };
static const char *const type_names[] = { "bf16", "fp8", "int4" };

static double weight(enum type t, const std::vector<uint8_t> &w, const std::vector<__nv_bfloat16> &scale, size_t i)
{
	if (t == BF16)
		return __bfloat162float(((const __nv_bfloat16 *)w.data())[i]);
	if (t == FP8) {
		__half_raw h = __nv_cvt_fp8_to_halfraw(w[i], __NV_E4M3);
		return __half2float(__half(h));
	}
	return ((w[i / 2] >> (i % 2 * 4) & 15) - 8.0) * __bfloat162float(scale[i / GROUP]);
}

template <class W> static void launch(struct bench *b, const struct bufs *m, size_t at, int n, int k, int parts)
{
	int each = (k / W::per + parts - 1) / parts;
	/* Scales of all slots are the same: 1/64 of the bytes, and their reuse keeps the pool simple. */
	gemv<W><<<dim3((n + WARPS - 1) / WARPS, parts), WARPS * 32, 0, b->s>>>((uint4 *)(m->w + at), m->scale, (uint4 *)m->x,
	                                                                   parts > 1 ? m->part : m->y, n, k, each);
	if (parts > 1)
		add_parts<<<(n + 127) / 128, 128, 0, b->s>>>(m->part, m->y, n, parts);
}

template <class W> static void shape(struct bench *b, struct bufs *m, enum type t, int n, int k, int parts)
{
	size_t bytes = (size_t)n * (k / W::per) * 16;
	std::string p = bench_fmt("type=%s;m=1;n=%d;k=%d;parts=%d;bytes=%zu", type_names[t], n, k, parts, bytes);
	const int rows = std::min(n, 96);

	CK(cudaMemsetAsync(m->y, 0xff, n * sizeof(float), b->s));
	launch<W>(b, m, 0, n, k, parts);
	CK(cudaStreamSynchronize(b->s));
	/* Rows spread over N, first and last among them; an unwritten one elsewhere is a NaN the sum of y shows. */
	std::vector<float> y = bench_read(m->y, n), got;
	std::vector<double> ref;
	std::vector<__nv_bfloat16> scale = bench_read(m->scale, (size_t)n * k / GROUP);
	for (int i = 0; i < rows; i++) {
		size_t r = rows > 1 ? (size_t)i * (n - 1) / (rows - 1) : 0;
		std::vector<uint8_t> w = bench_read((uint8_t *)m->w + r * (bytes / n), bytes / n);
		std::vector<__nv_bfloat16> sc(scale.begin() + r * (k / GROUP), scale.begin() + (r + 1) * (k / GROUP));
		double s = 0;
		for (int j = 0; j < k; j++)
			s += weight(t, w, sc, j) * m->hx[j];
		ref.push_back(s), got.push_back(y[r]);
	}
	double all = 0;
	for (float v : y)
		all += v;
	if (std::isnan(all))
		got[0] = NAN;
	bench_check(b, "gemv", p, got, ref, 1e-4);

	auto cold = [&](int i) { launch<W>(b, m, bench_slot(i, bytes, m->pool), n, k, parts); };
	auto warm = [&](int) { launch<W>(b, m, 0, n, k, parts); };
	bench_time(b, "gemv", p, BENCH_COLD, cold);
	if (bytes < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, "gemv", p, BENCH_WARM, warm);
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	bench_open(&b, argc, argv);
	m.pool = (size_t)(b.quick ? 512 : 3072) << 20;
	m.w = (char *)bench_alloc(m.pool);
	m.scale = (__nv_bfloat16 *)bench_alloc((size_t)8192 * 8192 / GROUP * 2);
	m.x = (__nv_bfloat16 *)bench_alloc(8192 * 2);
	m.part = (float *)bench_alloc(8192 * 16 * 4);
	m.y = (float *)bench_alloc(8192 * 4);
	bench_fill_bf16(&b, m.x, 8192, 5);
	bench_fill_bf16(&b, m.scale, (size_t)8192 * 8192 / GROUP, 6);
	CK(cudaStreamSynchronize(b.s));
	m.hx = bench_floats(bench_read(m.x, 8192));

	const std::vector<int> dims = b.quick ? std::vector<int>{ 256, 1280 } : std::vector<int>{ 256, 512, 1024, 1280, 2048, 3072, 4096, 8192 };
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.w, m.pool / 2, 1);
	for (int k : dims)
		for (int n : dims) {
			shape<w_bf16>(&b, &m, BF16, n, k, 1);
			if (k >= 1024)
				shape<w_bf16>(&b, &m, BF16, n, k, 4);
			if (k >= 4096 && n <= 1280)
				shape<w_bf16>(&b, &m, BF16, n, k, 16);
		}
	/* No exponent above 2^-1 keeps sums tame and leaves out the two NaN codes. */
	bench_fill_bytes(&b, m.w, m.pool, 2, 0xb7b7b7b7);
	for (int k : dims)
		for (int n : dims) {
			shape<w_fp8>(&b, &m, FP8, n, k, 1);
			if (k >= 4096)
				shape<w_fp8>(&b, &m, FP8, n, k, 4);
		}
	bench_fill_bytes(&b, m.w, m.pool, 3, ~0u);
	for (int k : dims)
		for (int n : dims) {
			shape<w_int4>(&b, &m, INT4, n, k, 1);
			if (k >= 4096)
				shape<w_int4>(&b, &m, INT4, n, k, 4);
		}
	return bench_close(&b);
}
