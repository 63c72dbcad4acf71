/* ref_batched.cu - batches of products of fp8 (e4m3), sums in fp32, results in bf16: product.cuh with z as the batch */
#include "described.cuh"
#include "product.cuh"

enum { BN = 128, STAGES = 6 };
typedef __nv_fp8_e4m3 fp8;

static double value(uint8_t x)
{
	__half_raw h = __nv_cvt_fp8_to_halfraw(x, __NV_E4M3);
	return __half2float(__half(h));
}

static void shape(struct bench *b, const fp8 *a, const fp8 *w, __nv_bfloat16 *c, int batch, int m, int n, int k)
{
	const size_t rows = (size_t)batch * m;
	const int shared = product_shared<fp8, BN, STAGES>();
	dim3 grid(n / BN, (m + PRODUCT_M - 1) / PRODUCT_M, batch);
	CUtensorMap ta = tile_map(a, k, m, batch, PRODUCT_M), tw = tile_map(w, k, n, batch, BN);
	CK(cudaFuncSetAttribute(product<fp8, BN, STAGES>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
	std::string p = described(bench_fmt("problem.batch=%d;problem.m=%d;problem.n=%d;problem.k=%d", batch, m, n, k),
	                          product<fp8, BN, STAGES>, grid, PRODUCT_WARPS, shared,
	                          (rows + (size_t)batch * n) * k, rows * n * 2);
	auto go = [&](int) { product<fp8, BN, STAGES><<<grid, PRODUCT_THREADS, shared, b->s>>>(ta, tw, c, NULL, m, n, k); };

	CK(cudaMemsetAsync(c, 0xff, rows * n * 2, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	described_check(b, "ref-bmm-fp8", p, bench_floats(bench_read(c, rows * n)), rows, n, 12, 48, 1e-2, [&](size_t r, size_t j) {
		std::vector<uint8_t> x = bench_read((const uint8_t *)a + r * k, k), y = bench_read((const uint8_t *)w + ((r / m) * n + j) * k, k);
		double s = 0;
		for (int i = 0; i < k; i++)
			s += value(x[i]) * value(y[i]);
		return s;
	});
	bench_time(b, "ref-bmm-fp8", p, BENCH_WARM, go);
}

int main(int argc, char **argv)
{
	static const int sizes[][4] = { { 1, 1024, 1024, 1024 }, { 1, 4096, 4096, 4096 }, { 16, 128, 512, 128 }, { 16, 512, 512, 512 },
		                        { 32, 1024, 1024, 1024 }, { 128, 128, 128, 512 }, { 1, 8192, 8192, 8192 } };
	const size_t most = (size_t)8192 * 8192;
	struct bench b;

	bench_open(&b, argc, argv);
	if (b.prop.major != 9) {
		fprintf(stderr, "warpgroup instructions are sm_90's alone\n");
		return bench_close(&b);
	}
	fp8 *a = (fp8 *)bench_alloc(most), *w = (fp8 *)bench_alloc(most);
	__nv_bfloat16 *c = (__nv_bfloat16 *)bench_alloc(most * 2);
	/* No exponent above 2^-1: sums stay tame, and no code is a NaN. */
	bench_fill_bytes(&b, a, most, 1, 0xb7b7b7b7), bench_fill_bytes(&b, w, most, 2, 0xb7b7b7b7);
	CK(cudaStreamSynchronize(b.s));
	for (auto &s : sizes)
		shape(&b, a, w, c, s[0], s[1], s[2], s[3]);
	return bench_close(&b);
}
