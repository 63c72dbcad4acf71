/* ref_mlp.cu - a gated MLP for one row in one kernel: silu(x Wg') * (x Wu'), then its product with Wd'
 *
 * Weights are bf16, row-major [out][in]; sums fp32, the inner row and y fp32. A warp has a row of weights at a time; all CTAs run
 * at once, meet in the middle at a counter in memory, and go on with the second product. */
#include "described.cuh"

enum { THREADS = 256, WARPS_OF = THREADS / 32, UNROLL = 4 };

static __device__ __forceinline__ float dot8(uint4 w, uint4 x)
{
	const uint32_t a[4] = { w.x, w.y, w.z, w.w }, b[4] = { x.x, x.y, x.z, x.w };
	float s = 0;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		const float2 p = __bfloat1622float2(*(__nv_bfloat162 *)&a[i]), q = __bfloat1622float2(*(__nv_bfloat162 *)&b[i]);
		s += p.x * q.x + p.y * q.y;
	}
	return s;
}

static __device__ __forceinline__ float over_warp(float s)
{
	for (int o = 16; o; o /= 2)
		s += __shfl_xor_sync(~0u, s, o);
	return s;
}

__global__ void __launch_bounds__(THREADS, 2) mlp(const uint4 *x, const uint4 *gate, const uint4 *up, const uint4 *down, float4 *inner, float *y,
                                                  unsigned *met, int hidden, int inside)
{
	const int lane = threadIdx.x % 32, warp = blockIdx.x * WARPS_OF + threadIdx.x / 32, warps = gridDim.x * WARPS_OF;
	const int in = hidden / 8, middle = inside / 8;

	for (int row = warp; row < inside; row += warps) {
		float g = 0, u = 0;
		for (int c = lane; c < in; c += 32 * UNROLL) {
			uint4 a[UNROLL], b[UNROLL];
#pragma unroll
			for (int i = 0; i < UNROLL; i++)
				if (c + 32 * i < in)
					a[i] = __ldcg(gate + (size_t)row * in + c + 32 * i), b[i] = __ldcg(up + (size_t)row * in + c + 32 * i);
#pragma unroll
			for (int i = 0; i < UNROLL; i++)
				if (c + 32 * i < in) {
					const uint4 v = __ldg(x + c + 32 * i);
					g += dot8(a[i], v), u += dot8(b[i], v);
				}
		}
		g = over_warp(g), u = over_warp(u);
		if (lane == 0)
			((float *)inner)[row] = g / (1 + __expf(-g)) * u;
	}
	/* The counter only grows: each launch adds as many as it has CTAs. */
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		const unsigned mine = atomicAdd(met, 1), until = mine / gridDim.x * gridDim.x + gridDim.x;
		while ((int)(*(volatile unsigned *)met - until) < 0)
			;
		__threadfence();
	}
	__syncthreads();
	for (int row = warp; row < hidden; row += warps) {
		float s = 0;
		for (int c = lane; c < middle; c += 32 * UNROLL) {
			uint4 a[UNROLL];
#pragma unroll
			for (int i = 0; i < UNROLL; i++)
				if (c + 32 * i < middle)
					a[i] = __ldcg(down + (size_t)row * middle + c + 32 * i);
#pragma unroll
			for (int i = 0; i < UNROLL; i++)
				if (c + 32 * i < middle) {
					const float4 p = __ldcg(inner + 2 * (c + 32 * i)), q = __ldcg(inner + 2 * (c + 32 * i) + 1);
					const uint32_t w[4] = { a[i].x, a[i].y, a[i].z, a[i].w };
					const float v[8] = { p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w };
#pragma unroll
					for (int j = 0; j < 4; j++) {
						const float2 e = __bfloat1622float2(*(__nv_bfloat162 *)&w[j]);
						s += e.x * v[2 * j] + e.y * v[2 * j + 1];
					}
				}
		}
		s = over_warp(s);
		if (lane == 0)
			y[row] = s;
	}
}

struct bufs { char *w, *x; float *inner, *y; unsigned *met; size_t pool; };

static void shape(struct bench *b, const struct bufs *m, int hidden, int inside)
{
	const size_t one = (size_t)hidden * inside * 2;
	dim3 grid(2 * b->prop.multiProcessorCount);
	std::string p = described(bench_fmt("problem.m=1;problem.n=%d;problem.k=%d", inside, 2 * hidden),
	                          mlp, grid, THREADS / 32, 0, 2 * one + hidden * 2, inside * 4);
	p += bench_fmt(";then.problem.n=%d;then.problem.k=%d;then.bytes.read=%zu B;then.bytes.write=%d B;then.bytes.again=%zu B", hidden, inside,
	               one + inside * 4, hidden * 4, 4 * one); /* a lane has 16 of every 32 bytes of the inner row: sectors come twice */
	auto go = [&](int i) {
		const char *w = m->w + bench_slot(i, 3 * one, m->pool);
		mlp<<<grid, THREADS, 0, b->s>>>((uint4 *)m->x, (uint4 *)w, (uint4 *)(w + one), (uint4 *)(w + 2 * one), (float4 *)m->inner, m->y, m->met, hidden, inside);
	};

	CK(cudaMemsetAsync(m->y, 0xff, hidden * 4, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	const size_t n = (size_t)hidden * inside;
	std::vector<float> x = bench_floats(bench_read((__nv_bfloat16 *)m->x, hidden)), w = bench_floats(bench_read((__nv_bfloat16 *)m->w, 2 * n));
	std::vector<double> mid(inside);
	for (int i = 0; i < inside; i++) {
		double g = 0, u = 0;
		for (int k = 0; k < hidden; k++)
			g += (double)w[(size_t)i * hidden + k] * x[k], u += (double)w[n + (size_t)i * hidden + k] * x[k];
		mid[i] = g / (1 + exp(-g)) * u;
	}
	described_check(b, "ref-mlp", p, bench_read(m->y, hidden), 1, hidden, 1, 64, 1e-4, [&](size_t, size_t c) {
		std::vector<float> d = bench_floats(bench_read((__nv_bfloat16 *)m->w + 2 * n + c * inside, inside));
		double s = 0;
		for (int i = 0; i < inside; i++)
			s += d[i] * mid[i];
		return s;
	});
	bench_time(b, "ref-mlp", p, BENCH_COLD, go);
	if (3 * one < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, "ref-mlp", p, BENCH_WARM, [&](int) { go(0); });
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	m.pool = (size_t)2 << 30;
	m.w = (char *)bench_alloc(m.pool), m.x = (char *)bench_alloc(8192 * 2);
	m.inner = (float *)bench_alloc(32768 * 4), m.y = (float *)bench_alloc(8192 * 4), m.met = (unsigned *)bench_alloc(4);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.w, m.pool / 2, 1), bench_fill_bf16(&b, (__nv_bfloat16 *)m.x, 8192, 2);
	CK(cudaMemsetAsync(m.met, 0, 4, b.s));
	CK(cudaStreamSynchronize(b.s));
	shape(&b, &m, 896, 896), shape(&b, &m, 896, 4864), shape(&b, &m, 1280, 6848), shape(&b, &m, 2048, 1024), shape(&b, &m, 2048, 8192), shape(&b, &m, 4096, 14336);
	return bench_close(&b);
}
