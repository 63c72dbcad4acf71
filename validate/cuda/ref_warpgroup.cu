/* ref_warpgroup.cu - attention of many queries by warpgroup products, tiles by tensor map, a warp that only copies
 *
 * Q, K, V and the result are [head][length][d] in bf16. A CTA has 128 queries of a head: two warpgroups of 64, scores,
 * probabilities and sums in registers; keys and values come 128 at a time, two tiles deep. Tiles lie as columns of 128 bytes. */
#include "described.cuh"
#include "hopper.cuh"

enum { QUERIES = 128, KEYS = 128, STAGES = 2, THREADS = 288, COLUMN = 128 * ROW_BYTES };

template <int D> static constexpr int shared_of(void) { return (1 + 2 * STAGES) * D / 64 * COLUMN + 1024 + 8 + 16 * STAGES; }

template <int D>
__global__ void __launch_bounds__(THREADS, 1) attend(const __grid_constant__ CUtensorMap tq, const __grid_constant__ CUtensorMap tk,
                                                     const __grid_constant__ CUtensorMap tv, __nv_bfloat16 *out, int len, float scale)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	constexpr int TILE = D / 64 * COLUMN;
	extern __shared__ char shared[];
	const uint32_t q = (shared_at(shared) + 1023) & ~1023u, kv = q + TILE, full = kv + 2 * STAGES * TILE, empty = full + 8 * STAGES, queries = empty + 8 * STAGES;
	const int head = blockIdx.y, first = blockIdx.x * QUERIES, group = threadIdx.x / 128, tiles = len / KEYS;

	if (threadIdx.x == 0) {
		for (int s = 0; s < STAGES; s++)
			bar_init(full + 8 * s, 1), bar_init(empty + 8 * s, 8);
		bar_init(queries, 1);
		bar_ready();
	}
	__syncthreads();
	if (group == 2) {
		if (threadIdx.x % 32)
			return;
		bar_expect(queries, TILE);
		for (int c = 0; c < D / 64; c++)
			tile_load(q + c * COLUMN, &tq, c * 64, first, head, queries);
		for (int i = 0, s = 0, parity = 1; i < tiles; i++) {
			const uint32_t to = kv + 2 * s * TILE;
			bar_wait(empty + 8 * s, parity);
			bar_expect(full + 8 * s, 2 * TILE);
			for (int c = 0; c < D / 64; c++) {
				tile_load(to + c * COLUMN, &tk, c * 64, i * KEYS, head, full + 8 * s);
				tile_load(to + TILE + c * COLUMN, &tv, c * 64, i * KEYS, head, full + 8 * s);
			}
			if (++s == STAGES)
				s = 0, parity ^= 1;
		}
		return;
	}
	float o[D / 2], most[2] = { -INFINITY, -INFINITY }, sum[2] = { 0, 0 };
#pragma unroll
	for (int i = 0; i < D / 2; i++)
		o[i] = 0;
	bar_wait(queries, 0);
	for (int i = 0, t = 0, parity = 0; i < tiles; i++) {
		const uint32_t k = kv + 2 * t * TILE, v = k + TILE;
		float s[64];
		bar_wait(full + 8 * t, parity);
		wg_fence();
#pragma unroll
		for (int j = 0; j < D / 16; j++)
			wg_bf16(s, wg_desc(q + j / 4 * COLUMN + group * 64 * ROW_BYTES + j % 4 * 32), wg_desc(k + j / 4 * COLUMN + j % 4 * 32), j);
		wg_commit();
		wg_wait<0>();
		wg_hold(s);
		/* A thread has 32 scores of each of two rows, four threads a row. */
		float high[2] = { most[0], most[1] }, fade[2];
#pragma unroll
		for (int j = 0; j < 64; j++)
			high[j / 2 % 2] = fmaxf(high[j / 2 % 2], s[j]);
#pragma unroll
		for (int h = 0; h < 2; h++) {
			high[h] = fmaxf(high[h], __shfl_xor_sync(~0u, high[h], 1));
			high[h] = fmaxf(high[h], __shfl_xor_sync(~0u, high[h], 2));
			fade[h] = exp2f((most[h] - high[h]) * scale), most[h] = high[h], sum[h] *= fade[h];
		}
		uint32_t p[32];
#pragma unroll
		for (int j = 0; j < 32; j++) {
			const float base = high[j % 2] * scale, x = exp2f(s[2 * j] * scale - base), y = exp2f(s[2 * j + 1] * scale - base);
			__nv_bfloat162 both = __floats2bfloat162_rn(x, y);
			sum[j % 2] += x + y, p[j] = *(uint32_t *)&both;
		}
#pragma unroll
		for (int j = 0; j < D / 2; j++)
			o[j] *= fade[j / 2 % 2];
		wg_hold(o), wg_hold(p);
		wg_fence();
#pragma unroll
		for (int j = 0; j < KEYS / 16; j++)
			wg_down(o, p + 4 * j, wg_desc(v + j * 16 * ROW_BYTES, COLUMN));
		wg_commit();
		wg_wait<0>();
		wg_hold(o);
		if (threadIdx.x % 32 == 0)
			bar_arrive(empty + 8 * t);
		if (++t == STAGES)
			t = 0, parity ^= 1;
	}
	const int row = first + group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
	for (int h = 0; h < 2; h++) {
		sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
		sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
		sum[h] = 1 / sum[h];
	}
#pragma unroll
	for (int j = 0; j < D / 8; j++)
#pragma unroll
		for (int h = 0; h < 2; h++)
			*(__nv_bfloat162 *)(out + ((size_t)head * len + row + 8 * h) * D + 8 * j + col) =
				__floats2bfloat162_rn(o[4 * j + 2 * h] * sum[h], o[4 * j + 2 * h + 1] * sum[h]);
#else
	(void)out, (void)len, (void)scale;
#endif
}

struct bufs { __nv_bfloat16 *q, *k, *v, *out; };

template <int D> static void shape(struct bench *b, const struct bufs *m, int heads, int len)
{
	const size_t all = (size_t)heads * len * D;
	dim3 grid(len / QUERIES, heads);
	CUtensorMap q = tile_map(m->q, D, len, heads, QUERIES), k = tile_map(m->k, D, len, heads, KEYS), v = tile_map(m->v, D, len, heads, KEYS);
	CK(cudaFuncSetAttribute(attend<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_of<D>()));
	std::string p = described(bench_fmt("problem.heads=%d;problem.q_len=%d;problem.head_dim=%d", heads, len, D),
	                          attend<D>, grid, THREADS / 32 - 1, shared_of<D>(), all * 6, all * 2);
	auto go = [&](int) { attend<D><<<grid, THREADS, shared_of<D>(), b->s>>>(q, k, v, m->out, len, 1.44269504f / sqrtf(D)); };

	CK(cudaMemsetAsync(m->out, 0xff, all * 2, b->s));
	go(0);
	CK(cudaStreamSynchronize(b->s));
	size_t at = (size_t)-1;
	std::vector<double> row(D);
	described_check(b, "ref-attention-wgmma", p, bench_floats(bench_read(m->out, all)), (size_t)heads * len, D, 9, D, 1e-2, [&](size_t r, size_t c) {
		if (at == r)
			return row[c];
		const size_t h = r / len * len;
		std::vector<float> qf = bench_floats(bench_read(m->q + r * D, D)), kf = bench_floats(bench_read(m->k + h * D, (size_t)len * D)),
			           vf = bench_floats(bench_read(m->v + h * D, (size_t)len * D));
		std::vector<double> s(len);
		double top = -1e30, sum = 0;
		for (int i = 0; i < len; i++) {
			for (int d = 0; d < D; d++)
				s[i] += (double)qf[d] * kf[(size_t)i * D + d];
			s[i] /= sqrt((double)D), top = std::max(top, s[i]);
		}
		std::fill(row.begin(), row.end(), 0.0);
		for (int i = 0; i < len; i++) {
			const double e = exp(s[i] - top);
			sum += e;
			for (int d = 0; d < D; d++)
				row[d] += e * vf[(size_t)i * D + d];
		}
		for (double &x : row)
			x /= sum;
		at = r;
		return row[c];
	});
	bench_time(b, "ref-attention-wgmma", p, BENCH_WARM, go);
}

int main(int argc, char **argv)
{
	const size_t most = (size_t)32 * 4096 * 128 * 2;
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	if (b.prop.major != 9) {
		fprintf(stderr, "warpgroup instructions are sm_90's alone\n");
		return bench_close(&b);
	}
	m.q = (__nv_bfloat16 *)bench_alloc(most * 2), m.k = (__nv_bfloat16 *)bench_alloc(most * 2);
	m.v = (__nv_bfloat16 *)bench_alloc(most * 2), m.out = (__nv_bfloat16 *)bench_alloc(most * 2);
	bench_fill_bf16(&b, m.q, most, 1), bench_fill_bf16(&b, m.k, most, 2), bench_fill_bf16(&b, m.v, most, 3);
	CK(cudaStreamSynchronize(b.s));
	for (auto s : { std::pair<int, int>{ 8, 512 }, { 32, 1024 }, { 16, 4096 }, { 256, 2048 } })
		shape<64>(&b, &m, s.first, s.second);
	for (auto s : { std::pair<int, int>{ 8, 512 }, { 32, 1024 }, { 32, 4096 }, { 32, 8192 } })
		shape<128>(&b, &m, s.first, s.second);
	return bench_close(&b);
}
