/* lib_gemm.cu - the library's own bf16 products at few tokens, cold and warm, over K and N: which kernel, how long
 *
 * y[M][N] = x[M][K] W[N][K]^T as a framework calls it (W transposed, fp32 sums, bf16 out). Not our kernel, so nothing is
 * verified beyond its first and last outputs; the row says what the library chose: name, grid, shared memory. Two
 * launches (split K and its reduce) are one time, their names joined by a plus. With activity records only, since only
 * they know the names; without them the program times by slope and leaves the names out. */
#include <cublas_v2.h>

#include "bench.cuh"
#include "lib.cuh"

struct bufs { char *w; size_t pool; __nv_bfloat16 *x, *y; cublasHandle_t h; };

static void launch(const struct bufs *m, size_t at, int rows, int n, int k)
{
	const float one = 1, zero = 0;
	CKB(cublasGemmEx(m->h, CUBLAS_OP_T, CUBLAS_OP_N, n, rows, k, &one, m->w + at, CUDA_R_16BF, k, m->x, CUDA_R_16BF, k, &zero,
	                 m->y, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

static void shape(struct bench *b, const struct bufs *m, int rows, int n, int k)
{
	size_t bytes = (size_t)n * k * 2;
	std::string p = bench_fmt("m=%d;n=%d;k=%d;bytes=%zu;launch=%s", rows, n, k, bytes, bench_choice(b, [&] { launch(m, 0, rows, n, k); }).c_str());

	if (!b->cupti) {
		CK(cudaMemsetAsync(m->y, 0xff, (size_t)rows * n * 2, b->s));
		launch(m, 0, rows, n, k);
		CK(cudaStreamSynchronize(b->s));
		std::vector<float> x = bench_floats(bench_read(m->x, (size_t)rows * k)), got;
		std::vector<float> y = bench_floats(bench_read(m->y, (size_t)rows * n));
		std::vector<double> ref;
		for (int i = 0; i < 16; i++) {
			int c = (int)((size_t)i * (n - 1) / 15), r = i % rows;
			std::vector<float> w = bench_floats(bench_read((__nv_bfloat16 *)m->w + (size_t)c * k, k));
			double s = 0;
			for (int j = 0; j < k; j++)
				s += (double)w[j] * x[(size_t)r * k + j];
			ref.push_back(s), got.push_back(y[(size_t)r * n + c]);
		}
		bench_check(b, "lib_gemm", p, got, ref, 1e-2);
	}
	bench_as(b, "gemm_bf16", bench_fmt("K=%d,M=%d,N=%d", k, rows, n), "aten::linear", { { rows, k }, { n, k } }, "c10::BFloat16", { "" });
	bench_time(b, "lib_gemm", p, BENCH_COLD, [&](int i) { launch(m, bench_slot(i, bytes, m->pool), rows, n, k); });
	if (bytes < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, "lib_gemm", p, BENCH_WARM, [&](int) { launch(m, 0, rows, n, k); });
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	bench_open(&b, argc, argv);
	CKB(cublasCreate(&m.h));
	CKB(cublasSetStream(m.h, b.s));
	/* A workspace of our own: the library's would be allocated within a capture. */
	CKB(cublasSetWorkspace(m.h, bench_alloc(64 << 20), 64 << 20));
	m.pool = (size_t)(b.quick ? 512 : 3072) << 20;
	m.w = (char *)bench_alloc(m.pool);
	m.x = (__nv_bfloat16 *)bench_alloc((size_t)64 * 16384 * 2), m.y = (__nv_bfloat16 *)bench_alloc((size_t)64 * 32768 * 2);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.w, m.pool / 2, 1);
	bench_fill_bf16(&b, m.x, (size_t)64 * 16384, 2);
	for (int k = 256; k <= (b.quick ? 512 : 8192); k += 256)
		for (int n : { 256, 512, 768, 1024, 1280, 1536, 1792, 2048 })
			shape(&b, &m, 1, n, k);
	if (!b.quick)
		for (int rows : { 1, 4, 16, 64 })
			for (int k : { 1024, 2048, 4096, 8192 })
				for (int n : { 1024, 2048, 3072, 4096, 6144, 8192, 14336, 28672 })
					if (rows > 1 || n > 2048)
						shape(&b, &m, rows, n, k);
	CKB(cublasDestroy(m.h));
	return bench_close(&b);
}
