/* ref_paged.cu - attention of one new token a sequence over a paged cache: pages of 16 tokens, found by a table
 *
 * K and V are [page][kv head][16][d] in bf16, pages in random order; a CTA has a KV head of a sequence and a part of its
 * length. The kernels are decode.cuh's with a row that is looked up; a row of the first is the kernel alone. */
#include "described.cuh"
#include "decode.cuh"

enum { PAGE = 16, KV = 8 };

template <int D, int G>
__global__ void __launch_bounds__(WARPS * 32) paged(const float *q, const uint4 *k, const uint4 *v, const int *table, float *part, float *out,
                                                    int len, int each)
{
	const int first = blockIdx.x * each, head = blockIdx.y % KV, sequence = blockIdx.y / KV;
	const int *pages = table + (size_t)sequence * (len / PAGE);
	decode_part<D, G>(q, k, v, part, out, blockIdx.y, first, min(len, first + each), [=](int r) {
		return ((size_t)__ldg(pages + r / PAGE) * KV + head) * PAGE + r % PAGE;
	});
}

struct bufs { __nv_bfloat16 *k, *v; float *q, *part, *out; int *table; size_t pages; };

template <int D, int G> static void shape(struct bench *b, const struct bufs *m, int batch, int len)
{
	const int heads = batch * KV, sms = b->prop.multiProcessorCount, parts = std::max(1, std::min(len / 128, 4 * sms / heads));
	const int each = (len / PAGE + parts - 1) / parts * PAGE;
	dim3 grid((len + each - 1) / each, heads);
	const size_t bytes = (size_t)heads * len * D * 2 * 2, out = (size_t)heads * G * D;
	std::string p = described(bench_fmt("problem.batch=%d;problem.heads=%d;problem.kv_heads=%d;problem.kv_len=%d;problem.head_dim=%d", batch,
	                          KV * G, KV, len, D), paged<D, G>, grid, WARPS, 0,
	                          bytes + out * 4 + (size_t)batch * len / PAGE * 4, grid.x > 1 ? (size_t)heads * G * grid.x * (D + 2) * 4 : out * 4);
	/* Cold: each launch has pages of its own, as many sets as there are pages for. */
	const size_t used = (size_t)batch * len / PAGE;
	auto go = [&](int i) {
		const int *table = m->table + i % (m->pages / used) * used;
		paged<D, G><<<grid, WARPS * 32, 0, b->s>>>(m->q, (uint4 *)m->k, (uint4 *)m->v, table, m->part, m->out, len, each);
	};

	CK(cudaMemsetAsync(m->out, 0xff, out * 4, b->s));
	go(0);
	if (grid.x > 1)
		join<D><<<heads * G, D, 0, b->s>>>(m->part, m->out, grid.x);
	CK(cudaStreamSynchronize(b->s));
	std::vector<float> q = bench_read(m->q, out);
	std::vector<int> table = bench_read(m->table, used);
	size_t at = (size_t)-1;
	std::vector<double> row(D);
	described_check(b, "ref-paged", p, bench_read(m->out, out), (size_t)heads * G, D, 5, D, 1e-4, [&](size_t r, size_t c) {
		if (at == r)
			return row[c];
		const size_t head = r / G % KV, sequence = r / G / KV;
		std::vector<double> s(len);
		std::vector<float> v((size_t)len * D);
		double top = -1e30, sum = 0;
		for (int i = 0; i < len; i += PAGE) {
			const size_t from = ((size_t)table[sequence * (len / PAGE) + i / PAGE] * KV + head) * PAGE * D;
			std::vector<float> kf = bench_floats(bench_read(m->k + from, PAGE * D)), vf = bench_floats(bench_read(m->v + from, PAGE * D));
			std::copy(vf.begin(), vf.end(), v.begin() + (size_t)i * D);
			for (int j = 0; j < PAGE; j++) {
				for (int d = 0; d < D; d++)
					s[i + j] += (double)q[r * D + d] * kf[j * D + d];
				s[i + j] /= sqrt((double)D), top = std::max(top, s[i + j]);
			}
		}
		std::fill(row.begin(), row.end(), 0.0);
		for (int i = 0; i < len; i++) {
			const double e = exp(s[i] - top);
			sum += e;
			for (int d = 0; d < D; d++)
				row[d] += e * v[(size_t)i * D + d];
		}
		for (double &x : row)
			x /= sum;
		at = r;
		return row[c];
	});
	bench_time(b, "ref-paged", p, BENCH_COLD, go);
	if (bytes < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, "ref-paged", p, BENCH_WARM, [&](int) { go(0); });
}

int main(int argc, char **argv)
{
	const size_t most = (size_t)64 * KV * 8192 * 128;
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	m.pages = most / (KV * PAGE * 128);
	m.k = (__nv_bfloat16 *)bench_alloc(most * 2), m.v = (__nv_bfloat16 *)bench_alloc(most * 2);
	m.q = (float *)bench_alloc(64 * 64 * 128 * 4), m.out = (float *)bench_alloc(64 * 64 * 128 * 4);
	m.part = (float *)bench_alloc((size_t)64 * 64 * 64 * 130 * 4), m.table = (int *)bench_alloc(m.pages * 4);
	std::vector<int> order(m.pages);
	uint32_t seed = 7;
	for (size_t i = 0; i < order.size(); i++)
		order[i] = i;
	for (size_t i = order.size(); i-- > 1;) {
		seed = seed * 1664525u + 1013904223u;
		std::swap(order[i], order[(uint64_t)seed * (i + 1) >> 32]);
	}
	CK(cudaMemcpy(m.table, order.data(), order.size() * 4, cudaMemcpyHostToDevice));
	bench_fill_f32(&b, m.q, 64 * 64 * 128, 1);
	bench_fill_bf16(&b, m.k, most, 2), bench_fill_bf16(&b, m.v, most, 3);
	CK(cudaStreamSynchronize(b.s));
	for (int batch : { 1, 16, 64 })
		for (int len : { 512, 2048, 8192 })
			shape<128, 4>(&b, &m, batch, len);
	return bench_close(&b);
}
