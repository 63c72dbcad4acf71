/* lib_matmul.cu - the library's products in fp32, tf32 and fp16, from one token to 4096
 *
 * y[M][N] = x[M][K] W[N][K]^T, fp32 sums; the bf16 ones at few tokens are lib_gemm's. tf32 is what the library does with
 * fp32 operands when it may; fp32 must be exact products. Names and grids by activity record, as in lib_gemm; the clock
 * row beside each says what the SMs ran at, since large products lower it. */
#include <cublas_v2.h>

#include "bench.cuh"
#include "lib.cuh"

enum type { F32, TF32, F16 };
static const char *const type_names[] = { "f32", "tf32", "f16" };

struct bufs { char *w; size_t pool; void *x, *y; cublasHandle_t h; };

static void launch(const struct bufs *m, enum type t, size_t at, int rows, int n, int k)
{
	const float one = 1, zero = 0;
	cudaDataType_t d = t == F16 ? CUDA_R_16F : CUDA_R_32F;
	CKB(cublasGemmEx(m->h, CUBLAS_OP_T, CUBLAS_OP_N, n, rows, k, &one, m->w + at, d, k, m->x, d, k, &zero, m->y, d, n,
	                 t == TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

template <class T> static void check(struct bench *b, const struct bufs *m, const std::string &p, double tol, int rows, int n, int k)
{
	std::vector<float> got;
	std::vector<double> ref;
	/* 16 outputs, first and last among them. */
	for (int i = 0; i < 16; i++) {
		int c = (int)((size_t)i * (n - 1) / 15), r = (int)((size_t)i * (rows - 1) / 15);
		std::vector<float> w = bench_floats(bench_read((T *)m->w + (size_t)c * k, k));
		std::vector<float> x = bench_floats(bench_read((T *)m->x + (size_t)r * k, k));
		double s = 0;
		for (int j = 0; j < k; j++)
			s += (double)w[j] * x[j];
		ref.push_back(s), got.push_back(bench_floats(bench_read((T *)m->y + (size_t)r * n + c, 1))[0]);
	}
	bench_check(b, "lib_matmul", p, got, ref, tol);
}

static void shape(struct bench *b, const struct bufs *m, enum type t, int rows, int n, int k)
{
	size_t size = t == F16 ? 2 : 4, bytes = (size_t)n * k * size;
	auto at = [&](size_t o) { launch(m, t, o, rows, n, k); };
	std::string p = bench_fmt("type=%s;m=%d;n=%d;k=%d;bytes=%zu;launch=%s", type_names[t], rows, n, k, bytes,
	                          bench_choice(b, [&] { at(0); }).c_str());

	if (!b->cupti) {
		CK(cudaMemsetAsync(m->y, 0xff, (size_t)rows * n * size, b->s));
		at(0);
		CK(cudaStreamSynchronize(b->s));
		if (t == F16)
			check<__half>(b, m, p, 2e-3, rows, n, k);
		else
			check<float>(b, m, p, t == TF32 ? 2e-3 : 1e-5, rows, n, k);
	}
	bench_as(b, bench_fmt("gemm_%s", t == F32 ? "fp32" : t == TF32 ? "tf32" : "fp16").c_str(), bench_fmt("K=%d,M=%d,N=%d", k, rows, n),
	         "aten::linear", { { rows, k }, { n, k } }, t == F16 ? "c10::Half" : "float", { "" });
	bench_time(b, "lib_matmul", p, BENCH_COLD, [&](int i) { at(bench_slot(i, bytes, m->pool)); });
	if (bytes < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, "lib_matmul", p, BENCH_WARM, [&](int) { at(0); });
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	struct { int n, k; } const dims[] = { { 64, 1280 }, { 256, 2048 }, { 1024, 1024 }, { 1280, 1280 }, { 2048, 2048 }, { 4096, 4096 },
	                                      { 14336, 4096 }, { 8192, 8192 } };
	bench_open(&b, argc, argv);
	b.clocks = true;
	CKB(cublasCreate(&m.h));
	CKB(cublasSetStream(m.h, b.s));
	/* A workspace of our own: the library's would be allocated within a capture. */
	CKB(cublasSetWorkspace(m.h, bench_alloc(64 << 20), 64 << 20));
	m.pool = (size_t)(b.quick ? 512 : 3072) << 20;
	m.w = (char *)bench_alloc(m.pool);
	m.x = bench_alloc((size_t)4096 * 8192 * 4), m.y = bench_alloc((size_t)4096 * 14336 * 4);
	for (enum type t : { F32, TF32, F16 }) {
		if (t == F32) {
			bench_fill_f32(&b, (float *)m.w, m.pool / 4, 1);
			bench_fill_f32(&b, (float *)m.x, (size_t)4096 * 8192, 2);
		} else if (t == F16) {
			bench_fill_f16(&b, (__half *)m.w, m.pool / 2, 1);
			bench_fill_f16(&b, (__half *)m.x, (size_t)4096 * 8192, 2);
		}
		for (auto &d : dims)
			for (int rows : { 1, 2, 4, 16, 64, 256, 1024, 4096 }) {
				/* fp32 of the largest: 10 ms a launch say nothing new. */
				if ((b.quick && (rows > 64 || d.n > 2048)) || (t == F32 && (double)rows * d.n * d.k > 70e9))
					continue;
				shape(&b, &m, t, rows, d.n, d.k);
			}
	}
	CKB(cublasDestroy(m.h));
	return bench_close(&b);
}
