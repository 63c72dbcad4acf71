/* ref_sort.cu - a bitonic sort of rows in shared memory, and running sums: of rows, and of one array whose CTAs look back
 *
 * Sort: a CTA a row of fp32, two elements a thread, a barrier a step. Row sums: a CTA a row, four elements a thread and turn.
 * One array: 16 elements a thread; a CTA takes a number, leaves its own sum for those behind it, and a warp of it adds up what
 * lies before, 32 CTAs at a time (Merrill and Garland, decoupled look-back). */
#include "described.cuh"

template <int N> __global__ void __launch_bounds__(N / 2) bitonic(const float *x, float *y)
{
	__shared__ float s[N];
	const int t = threadIdx.x;

	x += (size_t)blockIdx.x * N, y += (size_t)blockIdx.x * N;
	s[t] = x[t], s[t + N / 2] = x[t + N / 2];
	for (int k = 2; k <= N; k *= 2)
		for (int j = k / 2; j; j /= 2) {
			__syncthreads();
			const int i = 2 * t - (t & (j - 1)), o = i + j;
			const float a = s[i], b = s[o];
			if ((a > b) == !(i & k))
				s[i] = b, s[o] = a;
		}
	__syncthreads();
	y[t] = s[t], y[t + N / 2] = s[t + N / 2];
}

enum { THREADS = 256, EACH = 16 };

/* Sum of those before this thread; the last thread's with its own is everyone's. `part` is one row of floats a warp. */
static __device__ __forceinline__ uint32_t before(uint32_t own, uint32_t *part, uint32_t *all)
{
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	uint32_t s = own;
	for (int o = 1; o < 32; o *= 2) {
		const uint32_t v = __shfl_up_sync(~0u, s, o);
		s += lane >= o ? v : 0;
	}
	if (lane == 31)
		part[warp] = s;
	__syncthreads();
	uint32_t p = 0, sum = 0;
#pragma unroll
	for (int w = 0; w < THREADS / 32; w++)
		p += w < warp ? part[w] : 0, sum += part[w];
	*all = sum;
	return p + s - own;
}

__global__ void __launch_bounds__(THREADS) scan_rows(const uint4 *x, uint4 *y, int cols)
{
	__shared__ uint32_t part[2][THREADS / 32];
	uint32_t past = 0, all;

	x += (size_t)blockIdx.x * (cols / 4), y += (size_t)blockIdx.x * (cols / 4);
	for (int c = threadIdx.x, turn = 0; c - (int)threadIdx.x < cols / 4; c += THREADS, turn ^= 1) {
		uint4 v = c < cols / 4 ? x[c] : make_uint4(0, 0, 0, 0);
		v.y += v.x, v.z += v.y, v.w += v.z;
		const uint32_t p = past + before(v.w, part[turn], &all);
		if (c < cols / 4)
			y[c] = make_uint4(v.x + p, v.y + p, v.z + p, v.w + p);
		past += all;
	}
}

/* state: what a CTA has told (its own sum, or all up to it) and the launch that told it; turn: the next number, CTAs done, launches. */
__global__ void __launch_bounds__(THREADS) scan_all(const uint4 *x, uint4 *y, unsigned long long *state, unsigned *turn)
{
	__shared__ uint32_t part[THREADS / 32], mine, past;
	const unsigned launch = *(volatile unsigned *)(turn + 2);
	uint4 v[EACH / 4];
	uint32_t s = 0, all;

	if (threadIdx.x == 0)
		mine = atomicAdd(turn, 1);
	__syncthreads();
	const uint32_t id = mine;
	const size_t at = ((size_t)id * THREADS + threadIdx.x) * (EACH / 4);
#pragma unroll
	for (int i = 0; i < EACH / 4; i++)
		v[i] = x[at + i];
#pragma unroll
	for (int i = 0; i < EACH / 4; i++) {
		v[i].x += s, v[i].y += v[i].x, v[i].z += v[i].y, v[i].w += v[i].z;
		s = v[i].w;
	}
	const uint32_t p = before(s, part, &all);
	volatile unsigned long long *told = state;
	if (threadIdx.x < 32) {
		const unsigned own = 2 * launch + 2, whole = own + 1; /* never 0 */
		uint32_t sum = 0;
		if (threadIdx.x == 0)
			told[id] = (unsigned long long)(id ? own : whole) << 32 | all;
		for (int from = (int)id - 1; from >= 0; from -= 32) {
			const int i = from - (int)threadIdx.x;
			unsigned long long w;
			do
				w = i >= 0 ? told[i] : (unsigned long long)whole << 32;
			while (__any_sync(~0u, (unsigned)(w >> 32) != own && (unsigned)(w >> 32) != whole));
			const unsigned ends = __ballot_sync(~0u, (unsigned)(w >> 32) == whole);
			const int last = ends ? __ffs(ends) - 1 : 31;
			sum += __reduce_add_sync(~0u, (int)threadIdx.x <= last ? (uint32_t)w : 0u);
			if (ends)
				break;
		}
		if (threadIdx.x == 0) {
			if (id)
				told[id] = (unsigned long long)whole << 32 | (uint32_t)(sum + all);
			past = sum;
		}
	}
	__syncthreads();
	const uint32_t q = past + p;
#pragma unroll
	for (int i = 0; i < EACH / 4; i++)
		y[at + i] = make_uint4(v[i].x + q, v[i].y + q, v[i].z + q, v[i].w + q);
	if (threadIdx.x == 0 && atomicAdd(turn + 1, 1) == gridDim.x - 1) {
		turn[0] = turn[1] = 0;
		__threadfence();
		turn[2] = launch + 1;
	}
}

struct bufs { char *x, *y; unsigned long long *state; unsigned *turn; size_t pool; };

template <class G> static void both(struct bench *b, const char *name, const std::string &p, G go)
{
	bench_time(b, name, p, BENCH_COLD, go);
	bench_time(b, name, p, BENCH_WARM, [&](int) { go(0); });
}

template <int N> static void sorted(struct bench *b, const struct bufs *m, int rows)
{
	const size_t bytes = (size_t)rows * N * 4;
	int steps = 0;
	for (int k = 2; k <= N; k *= 2)
		for (int j = k / 2; j; j /= 2)
			steps++;
	std::string p = described(bench_fmt("problem.rows=%d;problem.cols=%d;counts.turns=%d", rows, N, steps), bitonic<N>, dim3(rows), N / 64, 0, bytes, bytes);
	auto go = [&](int i) {
		const size_t at = bench_slot(i, bytes, m->pool);
		bitonic<N><<<rows, N / 2, 0, b->s>>>((float *)(m->x + at), (float *)(m->y + at));
	};
	bench_fill_f32(b, (float *)m->x, m->pool / 4, 3);
	CK(cudaMemsetAsync(m->y, 0xff, bytes, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	size_t at = (size_t)-1;
	std::vector<float> row;
	described_check(b, "ref-bitonic", p, bench_read((float *)m->y, (size_t)rows * N), rows, N, 6, N, 1e-9, [&](size_t r, size_t c) {
		if (at != r)
			row = bench_read((float *)m->x + r * N, N), std::sort(row.begin(), row.end()), at = r;
		return (double)row[c];
	});
	both(b, "ref-bitonic", p, go);
}

/* uint32 sums are exact; a check looks at their low 24 bits, which fp32 holds. */
static void summed(struct bench *b, const struct bufs *m, int rows, int cols, bool whole)
{
	const size_t n = (size_t)rows * cols, bytes = n * 4;
	const char *name = whole ? "ref-scan" : "ref-scan-rows";
	dim3 grid(whole ? n / (THREADS * EACH) : rows);
	std::string sizes = bench_fmt("problem.rows=%d;problem.cols=%d", rows, cols), p = whole ? described(sizes, scan_all, grid, THREADS / 32, 0, bytes, bytes) :
	                                                                       described(sizes, scan_rows, grid, THREADS / 32, 0, bytes, bytes);
	auto go = [&](int i) {
		const size_t at = bench_slot(i, bytes, m->pool);
		if (whole)
			scan_all<<<grid, THREADS, 0, b->s>>>((uint4 *)(m->x + at), (uint4 *)(m->y + at), m->state, m->turn);
		else
			scan_rows<<<grid, THREADS, 0, b->s>>>((uint4 *)(m->x + at), (uint4 *)(m->y + at), cols);
	};
	CK(cudaMemsetAsync(m->y, 0xff, bytes, b->s));
	go(0), go(0);
	CK(cudaStreamSynchronize(b->s));
	std::vector<uint32_t> x = bench_read((uint32_t *)m->x, n), y = bench_read((uint32_t *)m->y, n);
	std::vector<float> got(n);
	uint32_t s = 0;
	for (size_t i = 0; i < n; i++) {
		s = i % cols ? s + x[i] : x[i];
		got[i] = y[i] & 0xffffff, x[i] = s & 0xffffff;
	}
	described_check(b, name, p, got, 1, n, 1, 1 << 16, 1e-9, [&](size_t, size_t c) { return (double)x[c]; });
	both(b, name, p, go);
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	m.pool = (size_t)512 << 20;
	m.x = (char *)bench_alloc(m.pool), m.y = (char *)bench_alloc(m.pool);
	m.state = (unsigned long long *)bench_alloc(8192 * 8), m.turn = (unsigned *)bench_alloc(12);
	CK(cudaMemsetAsync(m.state, 0, 8192 * 8, b.s));
	CK(cudaMemsetAsync(m.turn, 0, 12, b.s));
	for (int rows : { 1, 132, 1056 })
		sorted<512>(&b, &m, rows), sorted<2048>(&b, &m, rows);
	bench_fill_bytes(&b, m.x, m.pool, 4, ~0u);
	for (int rows : { 1, 132, 1056 })
		for (int cols : { 1024, 8192 })
			summed(&b, &m, rows, cols, false);
	summed(&b, &m, 1, 65536, false);
	for (int n : { 1 << 16, 1 << 20, 1 << 24 })
		summed(&b, &m, 1, n, true);
	return bench_close(&b);
}
