/* ref_experts.cu - products of a mixture's experts: rows sorted by expert, each group times its own weights, one launch
 *
 * Sizes of OLMoE (64 experts, 8 a token, 2048 in, 1024 inside: gate and up together, then down) and routing drawn evenly.
 * product.cuh with a list of tiles, the last of a group in part empty. */
#include "described.cuh"
#include "product.cuh"

enum { EXPERTS = 64, TOP = 8, BN = 128, STAGES = 6 };

static void shape(struct bench *b, const __nv_bfloat16 *a, const __nv_bfloat16 *w, __nv_bfloat16 *c, int tokens, int n, int k)
{
	std::vector<int> count(EXPERTS), of, at(1, 0);
	std::vector<int4> list;
	uint32_t seed = 12345;
	for (int t = 0; t < tokens; t++) {
		uint64_t taken = 0;
		for (int i = 0; i < TOP;) {
			seed = seed * 1664525u + 1013904223u;
			const int e = seed >> 16 & (EXPERTS - 1);
			if (taken >> e & 1)
				continue;
			taken |= 1ull << e, count[e]++, i++;
		}
	}
	size_t used = 0;
	for (int e = 0; e < EXPERTS; e++) {
		at.push_back(at[e] + count[e]);
		used += count[e] > 0;
		for (int r = at[e]; r < at[e + 1]; r++)
			of.push_back(e);
		for (int r = at[e]; r < at[e + 1]; r += PRODUCT_M)
			list.push_back(make_int4(r, e, at[e + 1], 0));
	}
	const int rows = tokens * TOP, shared = product_shared<__nv_bfloat16, BN, STAGES>();
	int4 *work = (int4 *)bench_alloc(list.size() * sizeof *work);
	CK(cudaMemcpy(work, list.data(), list.size() * sizeof *work, cudaMemcpyHostToDevice));
	dim3 grid(n / BN, list.size());
	CUtensorMap ta = tile_map(a, k, rows, 1, PRODUCT_M), tw = tile_map(w, k, n, EXPERTS, BN);
	auto kernel = product<__nv_bfloat16, BN, STAGES>;
	CK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
	std::string p = described(bench_fmt("problem.groups=%zu;problem.m=%d;problem.n=%d;problem.k=%d", used, rows, n, k),
	                          product<__nv_bfloat16, BN, STAGES>, grid, PRODUCT_WARPS, shared,
	                          ((size_t)rows + used * n) * k * 2, (size_t)rows * n * 2);
	auto go = [&](int) { kernel<<<grid, PRODUCT_THREADS, shared, b->s>>>(ta, tw, c, work, rows, n, k); };

	CK(cudaMemsetAsync(c, 0xff, (size_t)rows * n * 2, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	described_check(b, "ref-experts", p, bench_floats(bench_read(c, (size_t)rows * n)), rows, n, 16, 48, 4e-3, [&](size_t r, size_t j) {
		std::vector<float> x = bench_floats(bench_read(a + r * k, k)), y = bench_floats(bench_read(w + ((size_t)of[r] * n + j) * k, k));
		double s = 0;
		for (int i = 0; i < k; i++)
			s += (double)x[i] * y[i];
		return s;
	});
	/* The weights are many times the L2: no pool is needed to find them in DRAM. */
	bench_time(b, "ref-experts", p, BENCH_COLD, go);
	CK(cudaFree(work));
}

int main(int argc, char **argv)
{
	const size_t weights = (size_t)EXPERTS * 2048 * 2048, rows = (size_t)4096 * TOP;
	struct bench b;

	bench_open(&b, argc, argv);
	if (b.prop.major != 9) {
		fprintf(stderr, "warpgroup instructions are sm_90's alone\n");
		return bench_close(&b);
	}
	__nv_bfloat16 *a = (__nv_bfloat16 *)bench_alloc(rows * 2048 * 2), *w = (__nv_bfloat16 *)bench_alloc(weights * 2),
		      *c = (__nv_bfloat16 *)bench_alloc(rows * 2048 * 2);
	bench_fill_bf16(&b, a, rows * 2048, 1), bench_fill_bf16(&b, w, weights, 2);
	CK(cudaStreamSynchronize(b.s));
	for (int tokens : { 1, 16, 128, 1024, 4096 })
		shape(&b, a, w, c, tokens, 2048, 2048), shape(&b, a, w, c, tokens, 2048, 1024);
	return bench_close(&b);
}
