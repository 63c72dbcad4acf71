/* ref_attention.cu - attention over many tokens (attention.cuh): tile, stages and asynchronous copy on and off
 *
 * Over shapes from one head of 128 tokens, where a few CTAs wait for memory, to 256 heads of 2048, where the tensor
 * cores are the limit; two of them are the shapes of published ablations (batch 1, 8 heads, 512 tokens, d = 64 on an
 * L4; batch 16, 16 heads, 2048 tokens, d = 64 on an H100). fp16, and two kernels in bf16. Each row names the launch:
 * CTAs, registers, shared memory, CTAs an SM holds. */
#include "attention.cuh"
#include "bench.cuh"

struct bufs { char *q, *k, *v, *out; unsigned *bad; size_t pool; };
/* What a shape must give, for all the kernels that compute it. */
struct want { int d, bh, len, causal; std::vector<int> at; std::vector<double> ref; };

__global__ void prep_bad(const uint32_t *x, size_t n, unsigned *bad)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		if (x[i] == ~0u)
			atomicAdd(bad, 1);
}

template <class T> static void fill(struct bench *b, char *p, size_t bytes, uint32_t seed);
template <> void fill<__nv_bfloat16>(struct bench *b, char *p, size_t bytes, uint32_t seed)
{
	bench_fill_bf16(b, (__nv_bfloat16 *)p, bytes / 2, seed);
}
template <> void fill<__half>(struct bench *b, char *p, size_t bytes, uint32_t seed) { bench_fill_f16(b, (__half *)p, bytes / 2, seed); }

/* Up to 16 rows of the first and the last head, in double from the 16-bit inputs. */
template <class T> static void reference(const struct bufs *m, struct want *w, int d, int bh, int len, int causal)
{
	if (w->d == d && w->bh == bh && w->len == len && w->causal == causal)
		return;
	*w = { d, bh, len, causal, {}, {} };
	for (int h = 0; h < bh; h += std::max(1, bh - 1)) {
		size_t at = (size_t)h * len * d;
		std::vector<float> q = bench_floats(bench_read((T *)m->q + at, (size_t)len * d));
		std::vector<float> k = bench_floats(bench_read((T *)m->k + at, (size_t)len * d));
		std::vector<float> v = bench_floats(bench_read((T *)m->v + at, (size_t)len * d));
		for (int i = 0; i < std::min(len, 16); i++) {
			int r = len > 16 ? (int)((size_t)i * (len - 1) / 15) : i, end = causal ? r + 1 : len;
			std::vector<double> s(end), o(d, 0.0);
			double top = -1e30, sum = 0;
			for (int c = 0; c < end; c++) {
				for (int j = 0; j < d; j++)
					s[c] += (double)q[(size_t)r * d + j] * k[(size_t)c * d + j];
				s[c] /= sqrt((double)d), top = std::max(top, s[c]);
			}
			for (int c = 0; c < end; c++) {
				double e = exp(s[c] - top);
				sum += e;
				for (int j = 0; j < d; j++)
					o[j] += e * v[(size_t)c * d + j];
			}
			w->at.push_back(h * len + r);
			for (int j = 0; j < d; j++)
				w->ref.push_back(o[j] / sum);
		}
	}
}

template <class T, int D, int BM, int BN, int STAGES, bool ASYNC>
static void one(struct bench *b, const struct bufs *m, struct want *w, int bh, int len, int causal, bool time)
{
	auto kernel = attention<T, D, BM, BN, STAGES, ASYNC>;
	int smem = (BM + 2 * STAGES * BN) * D * 2, ctas = 0, threads = BM * 2, rows = (len + BM - 1) / BM;
	size_t bytes = (size_t)bh * len * D * 2;
	float scale = 1.44269504f / sqrtf(D);
	cudaFuncAttributes a;

	if (smem > (int)b->prop.sharedMemPerBlockOptin)
		return;
	CK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
	CK(cudaFuncGetAttributes(&a, kernel));
	CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, threads, smem));
	double flop = 4.0 * bh * len * len * D / (causal ? 2 : 1);
	std::string p = bench_fmt("type=%s;d=%d;heads=%d;len=%d;causal=%d;tile=%dx%d;stages=%d;async=%d;ctas=%d;threads=%d;regs=%d;spill=%zu;"
	                          "smem=%d;ctas_per_sm=%d;mflop=%.0f",
	                          sizeof(T) == 2 && std::is_same<T, __half>::value ? "f16" : "bf16", D, bh, len, causal, BM, BN, STAGES,
	                          ASYNC, rows * bh, threads, a.numRegs, a.localSizeBytes, smem, ctas, flop * 1e-6);
	auto at = [&](size_t o) {
		kernel<<<dim3(rows, bh), threads, smem, b->s>>>((uint4 *)(m->q + o), (uint4 *)(m->k + o), (uint4 *)(m->v + o),
		                                                (uint32_t *)m->out, len, scale, causal);
	};
	if (!b->cupti) {
		reference<T>(m, w, D, bh, len, causal);
		CK(cudaMemsetAsync(m->out, 0xff, bytes, b->s));
		CK(cudaMemsetAsync(m->bad, 0, 4, b->s));
		at(0);
		prep_bad<<<256, 256, 0, b->s>>>((uint32_t *)m->out, bytes / 4, m->bad);
		CK(cudaStreamSynchronize(b->s));
		std::vector<float> got;
		for (int r : w->at) {
			std::vector<float> row = bench_floats(bench_read((T *)m->out + (size_t)r * D, D));
			got.insert(got.end(), row.begin(), row.end());
		}
		if (bench_read(m->bad, 1)[0])
			got[0] = NAN;
		bench_check(b, "attention", p, got, w->ref, std::is_same<T, __half>::value ? 2e-3 : 1e-2);
	}
	if (!time)
		return;
	bench_as(b, "attn_prefill_ref", bench_fmt("b=1,causal=%d,d=%d,h=%d,hk=%d,lk=%d,lq=%d,tile=%dx%d,stages=%d,async=%d", causal, D, bh,
	                                          bh, len, len, BM, BN, STAGES, ASYNC),
	         "aten::_scaled_dot_product_flash_attention", std::vector<std::vector<long>>(3, { 1, bh, len, D }),
	         std::is_same<T, __half>::value ? "c10::Half" : "c10::BFloat16", { "0.", causal ? "True" : "False", "False", "" });
	bench_time(b, "attention", p, BENCH_WARM, [&](int) { at(0); });
	if (STAGES < 3 && !causal && 3 * bytes < (size_t)b->prop.l2CacheSize)
		bench_time(b, "attention", p, BENCH_COLD, [&](int i) { at(bench_slot(i, bytes, m->pool)); });
}

template <int D, int BM, int BN> static void tile(struct bench *b, const struct bufs *m, struct want *w, int bh, int len, int causal, bool time)
{
	one<__half, D, BM, BN, 1, false>(b, m, w, bh, len, causal, time);
	one<__half, D, BM, BN, 1, true>(b, m, w, bh, len, causal, time);
	one<__half, D, BM, BN, 2, false>(b, m, w, bh, len, causal, time);
	one<__half, D, BM, BN, 2, true>(b, m, w, bh, len, causal, time);
	one<__half, D, BM, BN, 3, false>(b, m, w, bh, len, causal, time);
	one<__half, D, BM, BN, 3, true>(b, m, w, bh, len, causal, time);
}

template <int D> static void shape(struct bench *b, const struct bufs *m, struct want *w, int bh, int len, int causal, bool time)
{
	tile<D, 64, 64>(b, m, w, bh, len, causal, time);
	tile<D, 128, 64>(b, m, w, bh, len, causal, time);
	tile<D, 128, 128>(b, m, w, bh, len, causal, time);
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	struct want w = { 0, 0, 0, 0, {}, {} };
	struct { int bh, len; bool causal; } const shapes[] = {
		{ 8, 512, true }, { 256, 2048, true },       /* the published ones */
		{ 1, 128, false }, { 1, 512, false }, { 1, 1024, false }, { 1, 2048, false }, { 1, 4096, true }, { 1, 8192, false },
		{ 8, 128, false }, { 8, 1024, false }, { 8, 2048, true }, { 8, 4096, false },
		{ 32, 128, false }, { 32, 256, false }, { 32, 512, false }, { 32, 1024, true }, { 32, 2048, false }, { 32, 4096, true },
		{ 128, 128, false }, { 128, 512, false }, { 128, 1024, false }, { 128, 2048, false },
		{ 256, 512, false },
	};
	int todo = 0;

	bench_open(&b, argc, argv);
	b.clocks = true;
	m.pool = (size_t)512 << 20;
	m.q = (char *)bench_alloc(m.pool), m.k = (char *)bench_alloc(m.pool), m.v = (char *)bench_alloc(m.pool);
	m.out = (char *)bench_alloc((size_t)256 * 2048 * 128 * 2), m.bad = (unsigned *)bench_alloc(4);
	fill<__half>(&b, m.q, m.pool, 1), fill<__half>(&b, m.k, m.pool, 2), fill<__half>(&b, m.v, m.pool, 3);
	CK(cudaStreamSynchronize(b.s));
	/* Lengths that no tile divides, and fewer rows than a tile: only whether they are right. */
	for (int len : { 1, 200, 333 })
		for (int causal : { 0, 1 })
			shape<64>(&b, &m, &w, 3, len, causal, false), shape<128>(&b, &m, &w, 3, len, causal, false);
	for (auto &s : shapes) {
		if (b.quick && todo++ > 1)
			break;
		for (int causal = 0; causal <= s.causal; causal++)
			shape<64>(&b, &m, &w, s.bh, s.len, causal, true), shape<128>(&b, &m, &w, s.bh, s.len, causal, true);
	}
	fill<__nv_bfloat16>(&b, m.q, m.pool, 1), fill<__nv_bfloat16>(&b, m.k, m.pool, 2), fill<__nv_bfloat16>(&b, m.v, m.pool, 3);
	CK(cudaStreamSynchronize(b.s));
	w.d = 0;
	for (int i = 0; i < (b.quick ? 1 : 2); i++) {
		one<__nv_bfloat16, 64, 64, 64, 2, true>(&b, &m, &w, shapes[i].bh, shapes[i].len, 0, true);
		one<__nv_bfloat16, 128, 128, 64, 2, true>(&b, &m, &w, shapes[i].bh, shapes[i].len, 0, true);
	}
	return bench_close(&b);
}
