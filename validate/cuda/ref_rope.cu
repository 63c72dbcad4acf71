/* ref_rope.cu - rotary embedding of a step's queries and keys: pairs half a head apart, angles from a table by position
 *
 * x and y are [token][head][128] in bf16, the table [position][cosine, sine][64] in fp32. A thread has 8 pairs. */
#include "described.cuh"

enum { D = 128, HALF = 64, EACH = 8, THREADS = 128, POSITIONS = 8192 };

static __device__ __forceinline__ float2 open(uint32_t x) { return __bfloat1622float2(*(__nv_bfloat162 *)&x); }
static __device__ __forceinline__ uint32_t close(float a, float b)
{
	__nv_bfloat162 v = __floats2bfloat162_rn(a, b);
	return *(uint32_t *)&v;
}

__global__ void __launch_bounds__(THREADS) rope(const uint4 *x, const float4 *table, const int *position, uint4 *y, int heads, int all)
{
	const int i = blockIdx.x * THREADS + threadIdx.x, part = i % (HALF / EACH), head = i / (HALF / EACH);
	if (i >= all)
		return;
	const float4 *t = table + (size_t)position[head / heads] * (2 * HALF / 4) + 2 * part;
	const size_t at = (size_t)head * (D / 8) + part;
	const uint4 l = x[at], h = x[at + HALF / 8];
	const float4 c[2] = { t[0], t[1] }, s[2] = { t[HALF / 4], t[HALF / 4 + 1] };
	const uint32_t lw[4] = { l.x, l.y, l.z, l.w }, hw[4] = { h.x, h.y, h.z, h.w };
	uint32_t lo[4], hi[4];
#pragma unroll
	for (int j = 0; j < 4; j++) {
		const float2 a = open(lw[j]), b = open(hw[j]);
		const float c0 = j % 2 ? c[j / 2].z : c[j / 2].x, c1 = j % 2 ? c[j / 2].w : c[j / 2].y;
		const float s0 = j % 2 ? s[j / 2].z : s[j / 2].x, s1 = j % 2 ? s[j / 2].w : s[j / 2].y;
		lo[j] = close(a.x * c0 - b.x * s0, a.y * c1 - b.y * s1);
		hi[j] = close(b.x * c0 + a.x * s0, b.y * c1 + a.y * s1);
	}
	y[at] = make_uint4(lo[0], lo[1], lo[2], lo[3]);
	y[at + HALF / 8] = make_uint4(hi[0], hi[1], hi[2], hi[3]);
}

static void shape(struct bench *b, char *x, char *y, float *table, int *position, size_t pool, int tokens, int heads)
{
	const int all = tokens * heads * (HALF / EACH);
	const size_t elems = (size_t)tokens * heads * D, bytes = elems * 2;
	dim3 grid((all + THREADS - 1) / THREADS);
	std::string p = described(bench_fmt("problem.rows=%d;problem.cols=%d", tokens * heads, D),
	                          rope, grid, THREADS / 32, 0, bytes + (size_t)tokens * (D * 4 + 4), bytes);
	auto go = [&](int i) {
		const size_t at = bench_slot(i, bytes, pool);
		rope<<<grid, THREADS, 0, b->s>>>((uint4 *)(x + at), (float4 *)table, position, (uint4 *)(y + at), heads, all);
	};

	CK(cudaMemsetAsync(y, 0xff, bytes, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	std::vector<int> pos = bench_read(position, tokens);
	described_check(b, "ref-rope", p, bench_floats(bench_read((__nv_bfloat16 *)y, elems)), (size_t)tokens * heads, D, 64, D, 4e-3, [&](size_t r, size_t c) {
		std::vector<float> v = bench_floats(bench_read((__nv_bfloat16 *)x + r * D, D)), t = bench_read(table + (size_t)pos[r / heads] * D, D);
		const double co = t[c % HALF], si = t[HALF + c % HALF];
		return c < HALF ? v[c] * co - v[c + HALF] * si : v[c] * co + v[c - HALF] * si;
	});
	bench_time(b, "ref-rope", p, BENCH_COLD, go);
	bench_time(b, "ref-rope", p, BENCH_WARM, [&](int) { go(0); });
}

int main(int argc, char **argv)
{
	const size_t pool = (size_t)1 << 30;
	struct bench b;

	bench_open(&b, argc, argv);
	char *x = (char *)bench_alloc(pool), *y = (char *)bench_alloc(pool);
	float *table = (float *)bench_alloc((size_t)POSITIONS * D * 4);
	int *position = (int *)bench_alloc(POSITIONS * 4);
	std::vector<float> t((size_t)POSITIONS * D);
	std::vector<int> at(POSITIONS);
	for (int p = 0; p < POSITIONS; p++) {
		at[p] = (p * 37 + 11) % POSITIONS;
		for (int i = 0; i < HALF; i++) {
			const double angle = p * pow(500000.0, -(double)i / HALF);
			t[(size_t)p * D + i] = cos(angle), t[(size_t)p * D + HALF + i] = sin(angle);
		}
	}
	CK(cudaMemcpy(table, t.data(), t.size() * 4, cudaMemcpyHostToDevice));
	CK(cudaMemcpy(position, at.data(), at.size() * 4, cudaMemcpyHostToDevice));
	bench_fill_bf16(&b, (__nv_bfloat16 *)x, pool / 2, 1);
	CK(cudaStreamSynchronize(b.s));
	for (int tokens : { 1, 16, 128, 1024, 4096 })
		shape(&b, x, y, table, position, pool, tokens, 40);
	return bench_close(&b);
}
