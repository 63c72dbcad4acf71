/* ref_small.cu - the small kernels of a decode step, 1 to 64 rows: softmax, norm, sum, top-k, cache append, indexed write
 *
 * What ref_rows and ref_move leave out: every kernel warm, cold, and behind a producer that just wrote its input; row
 * counts between 1 and 64; and the chains of a router. Top-k is one CTA a row: the row in shared memory, then k rounds of
 * an arg-max over all (two reductions with two barriers each), as library kernels for few columns do it. Append copies a
 * cache and a new row into a longer cache, as concat does; scatter writes rows to where an index says. */
#include "bench.cuh"
#include "move.cuh"
#include "rows.cuh"

template <int CTA> __global__ void __launch_bounds__(CTA) topk(const float *x, float *value, int *index, int cols, int k)
{
	extern __shared__ float row[];
	__shared__ float part[32];
	x += (size_t)blockIdx.x * cols, value += (size_t)blockIdx.x * k, index += (size_t)blockIdx.x * k;
	for (int c = threadIdx.x; c < cols; c += CTA)
		row[c] = x[c];
	for (int r = 0; r < k; r++) {
		float m = -INFINITY;
		int at = 0;
		for (int c = threadIdx.x; c < cols; c += CTA)
			if (row[c] > m)
				m = row[c], at = c;
		float best = together<most, CTA>(m, part);
		int first = (int)-together<most, CTA>(m == best ? -(float)at : -INFINITY, part);
		if (first % CTA == (int)threadIdx.x) {
			row[first] = -INFINITY;
			value[r] = best, index[r] = first;
		}
	}
}

__global__ void __launch_bounds__(T) scatter(const uint4 *x, const int *index, uint4 *y, int width)
{
	uint4 *to = y + (size_t)index[blockIdx.x] * width;
	for (int c = threadIdx.x; c < width; c += T)
		to[c] = x[(size_t)blockIdx.x * width + c];
}

struct bufs { char *x, *c, *y; int *index; size_t pool; };

/* Warm, cold, produced; `in` bytes of input at x are what the producer writes. */
template <class F> static void states(struct bench *b, const struct bufs *m, const std::string &p, size_t in, size_t slot, F at)
{
	size_t n = (in + 15) / 16;
	bench_time(b, "small", p, BENCH_WARM, [&](int) { at(0); });
	bench_time(b, "small", p, BENCH_COLD, [&](int i) { at(bench_slot(i, slot, m->pool)); });
	bench_time_after(b, "small", p, [&](int) {
		prep_produce<<<(unsigned)((n + T - 1) / T), T, 0, b->s>>>((uint4 *)m->x, (uint4 *)m->x, n);
	}, [&](int) { at(0); });
}

template <int CTA> static void row_kernels(struct bench *b, const struct bufs *m, int rows, int cols)
{
	size_t bytes = (size_t)rows * cols * 4;
	for (int op = 0; op < 3; op++) {
		static const char *const names[] = { "softmax", "rmsnorm", "sum" }, *const aten[] = { "aten::_softmax", "aten::rms_norm", "aten::sum" };
		std::string p = bench_fmt("kernel=%s_f32;rows=%d;cols=%d;threads=%d", names[op], rows, cols, CTA);
		auto at = [&](size_t o) {
			float *x = (float *)(m->x + o), *y = (float *)(m->y + o);
			if (op == 0)
				softmax<float, float, CTA><<<rows, CTA, 0, b->s>>>(x, x, y, cols);
			else if (op == 1)
				rmsnorm<float, float, CTA><<<rows, CTA, 0, b->s>>>(x, (float *)m->c, y, cols);
			else
				sum<float, float, CTA><<<rows, CTA, 0, b->s>>>(x, x, y, cols);
		};
		CK(cudaMemsetAsync(m->y, 0xff, bytes, b->s));
		at(0);
		CK(cudaStreamSynchronize(b->s));
		std::vector<float> x = bench_read((float *)m->x, (size_t)rows * cols), g = bench_read((float *)m->c, cols);
		std::vector<double> ref;
		for (int r = 0; r < rows; r++) {
			const float *v = x.data() + (size_t)r * cols;
			double s = 0, top = *std::max_element(v, v + cols);
			for (int c = 0; c < cols; c++)
				s += op == 0 ? exp(v[c] - top) : op == 1 ? (double)v[c] * v[c] : v[c];
			for (int c = 0; c < cols && op < 2; c++)
				ref.push_back(op == 0 ? exp(v[c] - top) / s : v[c] * (double)g[c] / sqrt(s / cols + 1e-6));
			if (op == 2)
				ref.push_back(s);
		}
		bench_check(b, "small", p, bench_read((float *)m->y, ref.size()), ref, 1e-4);
		std::vector<std::vector<long>> dims = { { rows, cols } };
		std::vector<std::string> rest = { "-1", "False" };
		if (op == 1)
			dims = { { rows, cols }, {}, { cols } }, rest = { "" };
		else if (op == 2)
			rest = { "[-1]", "False", "" };
		bench_as(b, bench_fmt("small_%s_fp32", names[op]).c_str(), bench_fmt("cols=%d,rows=%d,threads=%d", cols, rows, CTA), aten[op], dims,
		         "float", rest);
		states(b, m, p, bytes, bytes, at);
	}
}

template <int CTA> static void top(struct bench *b, const struct bufs *m, int rows, int cols, int k)
{
	size_t bytes = (size_t)rows * cols * 4;
	std::string p = bench_fmt("kernel=topk_f32;rows=%d;cols=%d;k=%d;threads=%d", rows, cols, k, CTA);
	auto at = [&](size_t o) {
		topk<CTA><<<rows, CTA, cols * 4, b->s>>>((float *)(m->x + o), (float *)(m->y + o), (int *)(m->y + o) + rows * k, cols, k);
	};
	CK(cudaMemsetAsync(m->y, 0xff, (size_t)rows * k * 8, b->s));
	at(0);
	CK(cudaStreamSynchronize(b->s));
	std::vector<float> x = bench_read((float *)m->x, (size_t)rows * cols), got = bench_read((float *)m->y, rows * k);
	std::vector<int> index = bench_read((int *)m->y + rows * k, rows * k);
	std::vector<double> ref;
	for (int r = 0; r < rows; r++) {
		std::vector<float> v(x.begin() + (size_t)r * cols, x.begin() + (size_t)(r + 1) * cols);
		std::stable_sort(v.begin(), v.end(), std::greater<float>());
		for (int i = 0; i < k; i++) {
			ref.push_back(v[i]);
			int c = index[r * k + i];
			if (c < 0 || c >= cols || x[(size_t)r * cols + c] != v[i])
				got[0] = NAN;
		}
	}
	bench_check(b, "small", p, got, ref, 0);
	bench_as(b, "small_topk_fp32", bench_fmt("cols=%d,k=%d,rows=%d,threads=%d", cols, k, rows, CTA), "aten::topk", { { rows, cols } }, "float",
	         { bench_fmt("%d", k), "-1", "True", "True" });
	states(b, m, p, bytes, std::max(bytes, (size_t)rows * k * 8), at);
}

/* heads x (len + 1) rows of d bf16 from heads x len and heads x 1. */
static void append(struct bench *b, const struct bufs *m, int heads, int len, int d)
{
	int ca = len * d / 8, cc = d / 8;
	size_t bytes = (size_t)heads * (ca + cc) * 16;
	std::string p = bench_fmt("kernel=append_bf16;heads=%d;len=%d;d=%d", heads, len, d);
	auto at = [&](size_t o) {
		concat<<<(unsigned)((bytes / 16 + T - 1) / T), T, 0, b->s>>>((uint4 *)(m->x + o), (uint4 *)m->c, (uint4 *)(m->y + o), heads, ca, cc);
	};
	CK(cudaMemsetAsync(m->y, 0xff, bytes, b->s));
	at(0);
	CK(cudaStreamSynchronize(b->s));
	std::vector<uint16_t> x = bench_read((uint16_t *)m->x, (size_t)heads * ca * 8), c = bench_read((uint16_t *)m->c, (size_t)heads * cc * 8);
	std::vector<uint16_t> y = bench_read((uint16_t *)m->y, bytes / 2);
	std::vector<float> got(1, 0);
	for (int h = 0; h < heads; h++)
		if (memcmp(&y[(size_t)h * (ca + cc) * 8], &x[(size_t)h * ca * 8], (size_t)ca * 16) ||
		    memcmp(&y[((size_t)h * (ca + cc) + ca) * 8], &c[(size_t)h * cc * 8], (size_t)cc * 16))
			got[0] = 1;
	bench_check(b, "small", p, got, std::vector<double>(1, 0), 0);
	bench_as(b, "small_append_bf16", bench_fmt("b=1,d=%d,h=%d,s=%d", d, heads, len), "aten::cat",
	         { { 1, heads, len, d }, { 1, heads, 1, d } }, "", { "2" });
	states(b, m, p, (size_t)heads * ca * 16, bytes, at);
}

static void put(struct bench *b, const struct bufs *m, int rows, int cols)
{
	int width = cols / 8, table = 4096;
	size_t bytes = (size_t)rows * cols * 2;
	std::string p = bench_fmt("kernel=scatter_bf16;rows=%d;cols=%d;table=%d", rows, cols, table);
	std::vector<int> where(rows);
	auto at = [&](size_t o) { scatter<<<rows, T, 0, b->s>>>((uint4 *)(m->x + o), m->index, (uint4 *)m->y, width); };
	for (int r = 0; r < rows; r++)
		where[r] = (int)((r * 2654435761ull + 77) % table);      /* odd factor, a power of two: no two alike */
	CK(cudaMemcpy(m->index, where.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
	CK(cudaMemsetAsync(m->y, 0xff, (size_t)table * cols * 2, b->s));
	at(0);
	CK(cudaStreamSynchronize(b->s));
	std::vector<uint16_t> x = bench_read((uint16_t *)m->x, (size_t)rows * cols);
	std::vector<float> got(1, 0);
	for (int r = 0; r < rows; r++)
		if (memcmp(bench_read((uint16_t *)m->y + (size_t)where[r] * cols, cols).data(), &x[(size_t)r * cols], (size_t)cols * 2))
			got[0] = 1;
	bench_check(b, "small", p, got, std::vector<double>(1, 0), 0);
	bench_as(b, "small_index_put_bf16", bench_fmt("cols=%d,n=%d,rows=%d", cols, table, rows), "aten::index_put_",
	         { { table, cols }, {}, { rows, cols } }, "c10::BFloat16,,c10::BFloat16", { "False" });
	states(b, m, p, bytes, bytes, at);
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	bench_open(&b, argc, argv);
	m.pool = (size_t)512 << 20;
	m.x = (char *)bench_alloc(m.pool), m.y = (char *)bench_alloc(m.pool), m.c = (char *)bench_alloc(1 << 20);
	m.index = (int *)bench_alloc(64 * 4);
	bench_fill_f32(&b, (float *)m.x, m.pool / 4, 1), bench_fill_f32(&b, (float *)m.c, (1 << 20) / 4, 2);
	CK(cudaStreamSynchronize(b.s));
	const std::vector<int> counts = b.quick ? std::vector<int>{ 1, 64 } : std::vector<int>{ 1, 2, 4, 8, 16, 32, 64 };
	for (int rows : counts) {
		for (int cols : { 64, 256, 896, 1280, 2048, 4096, 7168 }) {
			if (cols <= 1280 && cols % 128 == 0)
				row_kernels<32>(&b, &m, rows, cols);
			if (cols >= 256)
				row_kernels<256>(&b, &m, rows, cols);
		}
		for (int cols : { 64, 128, 256, 1280 })
			for (int k : { 1, 2, 6, 8 }) {
				if (cols <= 256)
					top<32>(&b, &m, rows, cols, k);
				if (cols >= 128)
					top<128>(&b, &m, rows, cols, k);
			}
		for (int cols : { 128, 1280, 2048, 4096 })
			put(&b, &m, rows, cols);
	}
	for (int heads : { 1, 8, 10, 32 })
		for (int len : { 64, 256, 1024, 2048, 4096 })
			for (int d : { 64, 128 })
				if (!b.quick || len < 256)
					append(&b, &m, heads, len, d);
	return bench_close(&b);
}
