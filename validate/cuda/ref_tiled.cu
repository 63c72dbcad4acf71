/* ref_tiled.cu - attention with scores and results in shared memory (tiled.cuh), one switch at a time
 *
 * On the two shapes of published ablations: 8 heads of 512 tokens (an L4), 256 heads of 2048 (an H100); d = 64, fp16. Each row
 * names the kernel's switches, so that a description of a kernel can be held against it (npusim probe kernel --beside). */
#include "bench.cuh"
#include "tiled.cuh"

struct bufs { __half *q, *k, *v, *out; };
struct shape { int heads, len; };

static std::vector<double> want(const struct bufs *m, const struct shape *s)
{
	const int D = 64, rows = 4;
	std::vector<double> ref;
	for (int h = 0; h < s->heads; h += std::max(1, s->heads - 1)) {
		size_t at = (size_t)h * s->len * D;
		std::vector<float> q = bench_floats(bench_read(m->q + at, (size_t)s->len * D)), k = bench_floats(bench_read(m->k + at, (size_t)s->len * D)),
		                   v = bench_floats(bench_read(m->v + at, (size_t)s->len * D));
		for (int i = 0; i < rows; i++) {
			int r = i * (s->len - 1) / (rows - 1);
			std::vector<double> x(s->len), o(D, 0.0);
			double top = -1e30, sum = 0;
			for (int c = 0; c < s->len; c++) {
				for (int d = 0; d < D; d++)
					x[c] += (double)q[(size_t)r * D + d] * k[(size_t)c * D + d];
				x[c] /= 8, top = std::max(top, x[c]);
			}
			for (int c = 0; c < s->len; c++) {
				double e = exp(x[c] - top);
				sum += e;
				for (int d = 0; d < D; d++)
					o[d] += e * v[(size_t)c * D + d];
			}
			for (int d = 0; d < D; d++)
				ref.push_back(o[d] / sum);
		}
	}
	return ref;
}

static std::vector<float> have(const struct bufs *m, const struct shape *s)
{
	const int D = 64, rows = 4;
	std::vector<float> got;
	for (int h = 0; h < s->heads; h += std::max(1, s->heads - 1))
		for (int i = 0; i < rows; i++) {
			std::vector<float> row = bench_floats(bench_read(m->out + ((size_t)h * s->len + i * (s->len - 1) / (rows - 1)) * D, D));
			got.insert(got.end(), row.begin(), row.end());
		}
	return got;
}

template <class A> static void one(struct bench *b, const struct bufs *m, const struct shape *s, const std::vector<double> &ref)
{
	auto kernel = tiled<A>;
	int ctas = 0;
	cudaFuncAttributes a;
	CK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, A::SMEM));
	CK(cudaFuncGetAttributes(&a, kernel));
	CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, A::THREADS, A::SMEM));
	std::string p = bench_fmt("heads=%d;len=%d;d=64;share=%s;tile=%dx%d;warps=%d;producers=%d;padding=%d;math=%s;values=%s;lanes=%d;rows=%d;"
	                          "exchange=%s;stages=%d;copy=%s;bytes=%d%s;regs=%d;spill=%zu;smem=%d;ctas_per_sm=%d",
	                          s->heads, s->len, A::BLOCK ? "block" : "warp", A::BM, A::BN, A::WARPS, A::PRODUCERS, A::PAD,
	                          A::QK == TILED_WMMA ? "wmma" : "scalar", A::PV == TILED_WMMA ? "wmma" : "scalar", A::LANES, A::ROWS,
	                          A::EXCHANGE == TILED_ATOMICS ? "atomics" : "shuffle", A::STAGES, A::ASYNC ? "async" : "plain", A::BYTES,
	                          A::MEMORY ? ";sum=memory" : "", a.numRegs, a.localSizeBytes, A::SMEM, ctas);
	auto go = [&] { kernel<<<dim3(s->len / A::BM, s->heads), A::THREADS, A::SMEM, b->s>>>(m->q, m->k, m->v, m->out, s->len, 0.125f); };
	CK(cudaMemsetAsync(m->out, 0xff, (size_t)s->heads * s->len * 128, b->s));
	go();
	CK(cudaStreamSynchronize(b->s));
	bench_check(b, "tiled", p, have(m, s), ref, 4e-3);
	std::vector<double> us;
	for (int i = 0; i < 7; i++) {
		const int n = s->len <= 512 ? 8 : 1;
		bench_spin(b, 50);
		CK(cudaEventRecord(b->e0, b->s));
		for (int k = 0; k < n; k++)
			go();
		CK(cudaEventRecord(b->e1, b->s));
		us.push_back(bench_event_us(b) / n);
	}
	bench_row(b, "tiled", p, us, "us", "event");
	bench_row(b, "tiled_clock", p, { bench_clock(b) }, "MHz", "timer");
}

template <bool BLOCK, int BM, int BN, int W, int PAD, tiled_math QK, tiled_math PV, int LANES, int ROWS, tiled_exchange X = TILED_SHUFFLE,
          int ST = 1, bool ASYNC = false, int BYTES = 16, int PRODUCERS = 0, bool MEMORY = false>
using as = tiled_as<BLOCK, BM, BN, W, PAD, QK, PV, LANES, ROWS, X, ST, ASYNC, BYTES, PRODUCERS, MEMORY>;

/* Padding and products, for a tile and a number of warps. */
template <int BM, int BN, int W> static void block(struct bench *b, const struct bufs *m, const struct shape *s, const std::vector<double> &ref)
{
	constexpr tiled_math S = TILED_SCALAR, T = TILED_WMMA;
	one<as<true, BM, BN, W, 0, S, S, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, S, S, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 16, S, S, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 2, S, S, 32, 1, TILED_SHUFFLE, 1, false, 2>>(b, m, s, ref);
	one<as<true, BM, BN, W, 0, T, S, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, S, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 16, T, S, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 0, T, T, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 16, T, T, 32, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 32, 1, TILED_ATOMICS>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 16, 2>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 1, 8>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 1, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, S, S, 32, 1, TILED_ATOMICS>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, S, S, 1, 1>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 32, 1, TILED_SHUFFLE, 2>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 32, 1, TILED_SHUFFLE, 1, false, 2>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 32, 1, TILED_SHUFFLE, 1, true>>(b, m, s, ref);
	one<as<true, BM, BN, W, 8, T, T, 32, 1, TILED_SHUFFLE, 2, true>>(b, m, s, ref);
	/* The H100's: scores by wmma, rows of 80, two buffers, elements copied one by one. */
	one<as<true, BM, BN, W, 16, T, S, 32, 1, TILED_SHUFFLE, 2, false, 2>>(b, m, s, ref);
	one<as<true, BM, BN, W, 16, T, T, 32, 1, TILED_SHUFFLE, 2, false, 2>>(b, m, s, ref);
}

/* A warp with 16 rows of its own, as the L4's. */
template <int BN, int PAD> static void warp(struct bench *b, const struct bufs *m, const struct shape *s, const std::vector<double> &ref)
{
	constexpr tiled_math S = TILED_SCALAR, T = TILED_WMMA;
	one<as<false, 64, BN, 4, PAD, S, S, 1, 1>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, S, 1, 1>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 1, 1>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 1, 16>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 4, 1>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 16, 2>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 16, 1>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 16, 2, TILED_ATOMICS>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, S, S, 16, 2>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, S, 16, 2>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 1, 1, TILED_SHUFFLE, 2, true, 16, 1>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 16, 2, TILED_SHUFFLE, 2, true, 16, 1>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 16, 2, TILED_SHUFFLE, 2, true>>(b, m, s, ref);
	one<as<false, 64, BN, 4, PAD, T, T, 16, 2, TILED_SHUFFLE, 1, true>>(b, m, s, ref);
}

/* Sums of P V in shared memory. */
static void memory(struct bench *b, const struct bufs *m, const struct shape *s, const std::vector<double> &ref)
{
	constexpr tiled_math S = TILED_SCALAR, T = TILED_WMMA;
	constexpr tiled_exchange X = TILED_SHUFFLE;
	one<as<true, 32, 32, 4, 8, S, S, 32, 1, X, 1, false, 16, 0, true>>(b, m, s, ref);
	one<as<true, 64, 64, 8, 8, T, S, 32, 1, X, 1, false, 16, 0, true>>(b, m, s, ref);
	one<as<false, 64, 64, 4, 8, S, S, 1, 1, X, 1, false, 16, 0, true>>(b, m, s, ref);
	one<as<false, 64, 64, 4, 8, T, S, 1, 1, X, 1, false, 16, 0, true>>(b, m, s, ref);
	one<as<false, 64, 64, 4, 8, S, S, 16, 2, X, 1, false, 16, 0, true>>(b, m, s, ref);
	one<as<false, 64, 64, 4, 8, T, S, 16, 2, X, 1, false, 16, 0, true>>(b, m, s, ref);
}

int main(int argc, char **argv)
{
	struct shape const shapes[] = { { 8, 512 }, { 256, 2048 } };
	const size_t most = (size_t)256 * 2048 * 64;
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	m.q = (__half *)bench_alloc(most * 2), m.k = (__half *)bench_alloc(most * 2), m.v = (__half *)bench_alloc(most * 2);
	m.out = (__half *)bench_alloc(most * 2);
	bench_fill_f16(&b, m.q, most, 1), bench_fill_f16(&b, m.k, most, 2), bench_fill_f16(&b, m.v, most, 3);
	CK(cudaStreamSynchronize(b.s));
	for (auto &s : shapes) {
		std::vector<double> ref = want(&m, &s);
		block<32, 32, 4>(&b, &m, &s, ref), block<64, 64, 4>(&b, &m, &s, ref), block<64, 64, 8>(&b, &m, &s, ref);
		warp<64, 8>(&b, &m, &s, ref), warp<64, 0>(&b, &m, &s, ref), warp<32, 8>(&b, &m, &s, ref);
		memory(&b, &m, &s, ref);
	}
	return bench_close(&b);
}
