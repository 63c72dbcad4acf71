/* ref_gemv.cu - y = W x at one token: bf16, fp8 e4m3 and int4 with group scales, a warp a row, K split or whole
 *
 * The kernels are in gemv.cuh. Split K is two launches; a time is both together.
 * Cold: each launch has its own W in a pool far larger than the L2; x and y stay, as in a decode step. */
#include "bench.cuh"
#include "gemv.cuh"

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

	/* No framework op has int4 weights: opaque. */
	bench_as(b, bench_fmt("gemv_%s_parts%d", type_names[t], parts).c_str(), bench_fmt("K=%d,M=1,N=%d", k, n), t == INT4 ? "" : "aten::linear",
	         { { 1, k }, { n, k } }, t == FP8 ? "c10::BFloat16,c10::Float8_e4m3fn" : "c10::BFloat16", { "" });
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
