/* ref_addnorm.cu - the residual added and the sum normalised in one kernel: r = x + r, y = r / rms(r) * weight; bf16
 *
 * A CTA a row, 8 elements a thread at once, the row in registers between the sum and the result. */
#include "described.cuh"

enum { THREADS = 256 };

template <int V> __global__ void __launch_bounds__(THREADS) add_norm(const uint4 *x, const uint4 *r, const uint4 *w, uint4 *sum, uint4 *y)
{
	constexpr int VECTORS = V * THREADS;
	__shared__ float part[THREADS / 32];
	const size_t row = (size_t)blockIdx.x * VECTORS;
	uint4 a[V], c[V];
	float f[V][8], s = 0;

#pragma unroll
	for (int v = 0; v < V; v++)
		a[v] = x[row + v * THREADS + threadIdx.x], c[v] = r[row + v * THREADS + threadIdx.x];
#pragma unroll
	for (int v = 0; v < V; v++) {
		uint32_t *p = (uint32_t *)&a[v], *q = (uint32_t *)&c[v];
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float2 d = __bfloat1622float2(*(__nv_bfloat162 *)&p[i]), e = __bfloat1622float2(*(__nv_bfloat162 *)&q[i]);
			/* What the next layer adds to is rounded; the norm is of the rounded sum. */
			__nv_bfloat162 both = __floats2bfloat162_rn(d.x + e.x, d.y + e.y);
			p[i] = *(uint32_t *)&both;
			d = __bfloat1622float2(both);
			f[v][2 * i] = d.x, f[v][2 * i + 1] = d.y, s += d.x * d.x + d.y * d.y;
		}
		sum[row + v * THREADS + threadIdx.x] = a[v];
	}
	for (int o = 16; o; o /= 2)
		s += __shfl_xor_sync(~0u, s, o);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = s;
	__syncthreads();
	s = 0;
#pragma unroll
	for (int i = 0; i < THREADS / 32; i++)
		s += part[i];
	s = rsqrtf(s / (VECTORS * 8) + 1e-6f);
#pragma unroll
	for (int v = 0; v < V; v++) {
		const uint4 scale = __ldg(w + v * THREADS + threadIdx.x);
		const uint32_t q[4] = { scale.x, scale.y, scale.z, scale.w };
		uint32_t o[4];
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const float2 e = __bfloat1622float2(*(__nv_bfloat162 *)&q[i]);
			__nv_bfloat162 both = __floats2bfloat162_rn(f[v][2 * i] * s * e.x, f[v][2 * i + 1] * s * e.y);
			o[i] = *(uint32_t *)&both;
		}
		y[row + v * THREADS + threadIdx.x] = make_uint4(o[0], o[1], o[2], o[3]);
	}
}

struct bufs { char *x, *r, *w, *sum, *y; size_t pool; };

template <int V> static void shape(struct bench *b, const struct bufs *m, int rows)
{
	const int cols = V * THREADS * 8;
	const size_t bytes = (size_t)rows * cols * 2;
	std::string p = described(bench_fmt("problem.rows=%d;problem.cols=%d", rows, cols),
	                          add_norm<V>, dim3(rows), THREADS / 32, 0, 2 * bytes + cols * 2, 2 * bytes);
	auto go = [&](int i) {
		const size_t at = bench_slot(i, bytes, m->pool);
		add_norm<V><<<rows, THREADS, 0, b->s>>>((uint4 *)(m->x + at), (uint4 *)(m->r + at), (uint4 *)m->w, (uint4 *)(m->sum + at), (uint4 *)(m->y + at));
	};

	CK(cudaMemsetAsync(m->y, 0xff, bytes, b->s));
	CK(cudaMemsetAsync(m->sum, 0xff, bytes, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	std::vector<float> w = bench_floats(bench_read((__nv_bfloat16 *)m->w, cols)), row(cols);
	size_t at = (size_t)-1;
	double norm = 0;
	auto added = [&](size_t r) {
		std::vector<float> x = bench_floats(bench_read((__nv_bfloat16 *)m->x + r * cols, cols)), o = bench_floats(bench_read((__nv_bfloat16 *)m->r + r * cols, cols));
		norm = 0, at = r;
		for (int i = 0; i < cols; i++)
			row[i] = __bfloat162float(__float2bfloat16(x[i] + o[i])), norm += (double)row[i] * row[i];
		norm = 1 / sqrt(norm / cols + 1e-6);
	};
	described_check(b, "ref-add-norm", p, bench_floats(bench_read((__nv_bfloat16 *)m->y, (size_t)rows * cols)), rows, cols, 8, 512, 4e-3,
	                          [&](size_t r, size_t c) {
		if (at != r)
			added(r);
		return row[c] * norm * w[c];
	});
	described_check(b, "ref-add-norm-sum", p, bench_floats(bench_read((__nv_bfloat16 *)m->sum, (size_t)rows * cols)), rows, cols, 8, 512,
	                          1e-6, [&](size_t r, size_t c) {
		if (at != r)
			added(r);
		return (double)row[c];
	});
	bench_time(b, "ref-add-norm", p, BENCH_COLD, go);
	bench_time(b, "ref-add-norm", p, BENCH_WARM, [&](int) { go(0); });
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	m.pool = (size_t)512 << 20;
	m.x = (char *)bench_alloc(m.pool), m.r = (char *)bench_alloc(m.pool), m.sum = (char *)bench_alloc(m.pool), m.y = (char *)bench_alloc(m.pool);
	m.w = (char *)bench_alloc(8192 * 2);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.x, m.pool / 2, 1), bench_fill_bf16(&b, (__nv_bfloat16 *)m.r, m.pool / 2, 2);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.w, 8192, 3);
	CK(cudaStreamSynchronize(b.s));
	for (int rows : { 1, 16, 256, 4096 })
		shape<1>(&b, &m, rows), shape<2>(&b, &m, rows), shape<4>(&b, &m, rows);
	return bench_close(&b);
}
