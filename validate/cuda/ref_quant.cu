/* ref_quant.cu - y = W x at one token with weights of 8 and 4 bits, each with its scales beside it: fp8, int4, nvfp4
 *
 * The kernels are gemv.cuh's. nvfp4 is unpacked by arithmetic, since sm_90 has no instruction for it. */
#include "described.cuh"
#include "gemv.cuh"

struct bufs { char *w; size_t pool; __nv_bfloat16 *x; __half *half; float *y; std::vector<float> hx, hh; };

static double e4m3(uint8_t x)
{
	__half_raw h = __nv_cvt_fp8_to_halfraw(x, __NV_E4M3);
	return __half2float(__half(h));
}

static double value(w_fp8, const uint8_t *w, const uint8_t *, int i) { return e4m3(w[i]); }
static double value(w_int4, const uint8_t *w, const uint8_t *s, int i)
{
	return ((w[i / 2] >> (i % 2 * 4) & 15) - 8.0) * __bfloat162float(((const __nv_bfloat16 *)s)[i / GROUP]);
}
static double value(w_nvfp4, const uint8_t *w, const uint8_t *s, int i)
{
	static const double values[8] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6 };
	const int q = w[i / 2] >> (i % 2 * 4) & 15;
	return (q & 8 ? -values[q & 7] : values[q & 7]) * e4m3(s[i / 16]);
}

template <class W> static void shape(struct bench *b, const struct bufs *m, const char *name, bool half, bool scaled, int n, int k)
{
	const size_t weights = (size_t)n * (k / W::per) * 16, scales = scaled ? (size_t)n * (k / W::scaled) * 2 : 0, bytes = weights + scales;
	dim3 grid((n + WARPS - 1) / WARPS);
	std::string p = described(bench_fmt("problem.m=1;problem.n=%d;problem.k=%d", n, k), gemv<W>, grid, WARPS, 0, bytes + k * 2, n * 4);
	auto go = [&](int i) {
		const char *w = m->w + bench_slot(i, bytes, m->pool);
		gemv<W><<<grid, WARPS * 32, 0, b->s>>>((uint4 *)w, (__nv_bfloat16 *)(w + weights), half ? (uint4 *)m->half : (uint4 *)m->x, m->y, n, k, k / W::per);
	};

	CK(cudaMemsetAsync(m->y, 0xff, n * 4, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	described_check(b, name, p, bench_read(m->y, n), 1, n, 1, 96, half ? 2e-3 : 1e-4, [&](size_t, size_t r) {
		std::vector<uint8_t> w = bench_read((uint8_t *)m->w + r * (weights / n), weights / n),
			             s = bench_read((uint8_t *)m->w + weights + r * (scales / n), scales / n);
		double sum = 0;
		for (int i = 0; i < k; i++)
			sum += value(W(), w.data(), s.data(), i) * (half ? m->hh[i] : m->hx[i]);
		return sum;
	});
	bench_time(b, name, p, BENCH_COLD, go);
	if (bytes < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, name, p, BENCH_WARM, [&](int) { go(0); });
}

int main(int argc, char **argv)
{
	static const int sizes[][2] = { { 1024, 1024 }, { 2048, 2048 }, { 4096, 4096 }, { 8192, 2048 }, { 14336, 4096 }, { 4096, 14336 }, { 8192, 8192 } };
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	m.pool = (size_t)1536 << 20;
	m.w = (char *)bench_alloc(m.pool);
	m.x = (__nv_bfloat16 *)bench_alloc(16384 * 2), m.half = (__half *)bench_alloc(16384 * 2), m.y = (float *)bench_alloc(16384 * 4);
	bench_fill_bf16(&b, m.x, 16384, 5);
	/* Codes below those of NaN, as fp8 and as scales in bf16 or e4m3. */
	bench_fill_bytes(&b, m.w, m.pool, 2, 0xb7b7b7b7);
	CK(cudaStreamSynchronize(b.s));
	m.hx = bench_floats(bench_read(m.x, 16384));
	std::vector<__half> h(16384);
	for (int i = 0; i < 16384; i++) {
		const int within = i % 8, to = i - within + (within < 4 ? 2 * within : 2 * within - 7);
		h[to] = __float2half(m.hx[i]), m.hh.push_back(__half2float(h[to]));
	}
	CK(cudaMemcpy(m.half, h.data(), h.size() * 2, cudaMemcpyHostToDevice));
	for (auto &s : sizes) {
		shape<w_fp8>(&b, &m, "ref-gemv-fp8", false, false, s[0], s[1]);
		shape<w_int4>(&b, &m, "ref-gemv-int4", false, true, s[0], s[1]);
		shape<w_nvfp4>(&b, &m, "ref-gemv-nvfp4", true, true, s[0], s[1]);
	}
	return bench_close(&b);
}
