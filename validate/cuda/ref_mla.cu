/* ref_mla.cu - attention of one new token over a latent that all heads share (DeepSeek's, absorbed): keys are its 576 values, values
 * the first 512 of the same
 *
 * q is [sequence][head][576], the cache [sequence][length][576] in bf16; the result fp32. A CTA has 16 heads and a part of the
 * length: tiles of 64 keys by cp.async, two deep, rows 16 bytes longer than their data, so that no two of ldmatrix meet in a bank.
 * Four warps: 16 keys each of the scores, 128 columns each of the result; probabilities cross between them in shared memory. */
#include "described.cuh"
#include "decode.cuh"

enum { HEADS = 16, KEYS = 64, LATENT = 512, WIDE = 576, ROW = WIDE + 8, P_ROW = KEYS + 8, STAGES = 2 };
static constexpr int SHARED = ((HEADS + STAGES * KEYS) * ROW + HEADS * P_ROW) * 2 + 2 * WARPS * HEADS * 4;

static __device__ __forceinline__ uint32_t at_of(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

static __device__ __forceinline__ void four(uint32_t (&r)[4], const __nv_bfloat16 *p)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at_of(p)));
}

static __device__ __forceinline__ void four_down(uint32_t (&r)[4], const __nv_bfloat16 *p)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at_of(p)));
}

static __device__ __forceinline__ void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(WARPS * 32) mla(const __nv_bfloat16 *q, const __nv_bfloat16 *cache, float *part, float *out, int len, int each, float scale)
{
	extern __shared__ __align__(128) char shared[];
	__nv_bfloat16 *sq = (__nv_bfloat16 *)shared, *kv = sq + HEADS * ROW, *sp = kv + STAGES * KEYS * ROW;
	float *high = (float *)(sp + HEADS * P_ROW), *all = high + WARPS * HEADS;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * each, end = min(len, first + each), tiles = (end - first + KEYS - 1) / KEYS;
	const size_t heads = (size_t)blockIdx.z * gridDim.y * HEADS + blockIdx.y * HEADS;
	float o[16][4] = {}, most[2] = { -1e30f, -1e30f }, sum[2] = { 0, 0 };

	q += heads * WIDE, cache += (size_t)blockIdx.z * len * WIDE;
	auto copy = [&](__nv_bfloat16 *to, const __nv_bfloat16 *from, int rows, int last) {
		for (int i = threadIdx.x; i < rows * (WIDE / 8); i += WARPS * 32) {
			const int r = i / (WIDE / 8), x = i % (WIDE / 8) * 8;
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at_of(to + r * ROW + x)), "l"(from + (size_t)min(r, last) * WIDE + x) : "memory");
		}
	};
	copy(sq, q, HEADS, HEADS - 1);
	copy(kv, cache + (size_t)first * WIDE, KEYS, end - first - 1);
	asm volatile("cp.async.commit_group;" ::: "memory");
	for (int t = 0; t < tiles; t++) {
		const int next = first + (t + 1) * KEYS;
		const __nv_bfloat16 *k = kv + t % STAGES * KEYS * ROW;
		if (t + 1 < tiles)
			copy(kv + (t + 1) % STAGES * KEYS * ROW, cache + (size_t)next * WIDE, KEYS, end - next - 1);
		asm volatile("cp.async.commit_group;" ::: "memory");
		asm volatile("cp.async.wait_group 1;" ::: "memory");
		__syncthreads();
		float s[2][4] = {}, fade[2];
#pragma unroll 4
		for (int x = 0; x < WIDE; x += 16) {
			uint32_t a[4], w[4];
			four(a, sq + lane % 16 * ROW + x + lane / 16 * 8);
			four(w, k + (warp * 16 + lane / 16 * 8 + lane % 8) * ROW + x + lane / 8 % 2 * 8);
			mma(s[0], a, w[0], w[1]);
			mma(s[1], a, w[2], w[3]);
		}
#pragma unroll
		for (int h = 0; h < 2; h++) {
			float top = -1e30f;
#pragma unroll
			for (int n = 0; n < 2; n++)
#pragma unroll
				for (int x = 0; x < 2; x++) {
					float *v = &s[n][2 * h + x];
					*v = first + t * KEYS + warp * 16 + n * 8 + lane % 4 * 2 + x < end ? *v * scale : -INFINITY;
					top = fmaxf(top, *v);
				}
			top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
			top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
			if (lane % 4 == 0)
				high[warp * HEADS + lane / 4 + 8 * h] = top;
		}
		__syncthreads();
#pragma unroll
		for (int h = 0; h < 2; h++) {
			float top = most[h];
#pragma unroll
			for (int w = 0; w < WARPS; w++)
				top = fmaxf(top, high[w * HEADS + lane / 4 + 8 * h]);
			fade[h] = exp2f(most[h] - top), most[h] = top, sum[h] *= fade[h];
#pragma unroll
			for (int n = 0; n < 2; n++) {
				const float x = exp2f(s[n][2 * h] - top), y = exp2f(s[n][2 * h + 1] - top);
				sum[h] += x + y;
				*(__nv_bfloat162 *)(sp + (lane / 4 + 8 * h) * P_ROW + warp * 16 + n * 8 + lane % 4 * 2) = __floats2bfloat162_rn(x, y);
			}
		}
		__syncthreads();
#pragma unroll
		for (int n = 0; n < 16; n++)
#pragma unroll
			for (int x = 0; x < 4; x++)
				o[n][x] *= fade[x / 2];
#pragma unroll
		for (int x = 0; x < KEYS; x += 16) {
			uint32_t a[4], w[4];
			four(a, sp + lane % 16 * P_ROW + x + lane / 16 * 8);
#pragma unroll
			for (int n = 0; n < 8; n++) {
				four_down(w, k + (x + lane % 16) * ROW + warp * 128 + n * 16 + lane / 16 * 8);
				mma(o[2 * n], a, w[0], w[1]);
				mma(o[2 * n + 1], a, w[2], w[3]);
			}
		}
		__syncthreads();
	}
#pragma unroll
	for (int h = 0; h < 2; h++) {
		sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
		sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
		if (lane % 4 == 0)
			all[warp * HEADS + lane / 4 + 8 * h] = sum[h];
	}
	__syncthreads();
#pragma unroll
	for (int h = 0; h < 2; h++) {
		const int row = lane / 4 + 8 * h;
		float total = 0;
		for (int w = 0; w < WARPS; w++)
			total += all[w * HEADS + row];
		float *to = gridDim.x == 1 ? out + (heads + row) * LATENT : part + ((heads + row) * gridDim.x + blockIdx.x) * (LATENT + 2);
		const float scaled = gridDim.x == 1 ? 1 / total : 1;
#pragma unroll
		for (int n = 0; n < 16; n++)
			*(float2 *)(to + warp * 128 + n * 8 + lane % 4 * 2) = make_float2(o[n][2 * h] * scaled, o[n][2 * h + 1] * scaled);
		if (gridDim.x > 1 && warp == 0 && lane % 4 == 0)
			to[LATENT] = most[h], to[LATENT + 1] = total;
	}
}

struct bufs { __nv_bfloat16 *q; char *cache; float *part, *out; size_t pool; };

static void shape(struct bench *b, const struct bufs *m, int batch, int heads, int len)
{
	const int ctas = batch * heads / HEADS, tiles = (len + KEYS - 1) / KEYS, parts = std::max(1, std::min(tiles, b->prop.multiProcessorCount / ctas));
	const int each = (tiles + parts - 1) / parts * KEYS;
	dim3 grid((len + each - 1) / each, heads / HEADS, batch);
	const size_t bytes = (size_t)batch * len * WIDE * 2, rows = (size_t)batch * heads;
	CK(cudaFuncSetAttribute(mla, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
	const std::string sizes = bench_fmt("problem.batch=%d;problem.heads=%d;problem.kv_heads=1;problem.kv_len=%d;problem.head_dim=%d;problem.v_dim=%d", batch,
	                                    heads, len, WIDE, LATENT);
	std::string p = described(sizes, mla, grid, WARPS, SHARED, bytes + rows * WIDE * 2,
	                          grid.x > 1 ? rows * grid.x * (LATENT + 2) * 4 : rows * LATENT * 4);
	const float scale = 1 / sqrtf(192);
	auto go = [&](int i) {
		mla<<<grid, WARPS * 32, SHARED, b->s>>>(m->q, (__nv_bfloat16 *)(m->cache + bench_slot(i, bytes, m->pool)), m->part, m->out, len, each,
		                                        scale * 1.44269504f);
	};

	CK(cudaMemsetAsync(m->out, 0xff, rows * LATENT * 4, b->s));
	go(0);
	if (grid.x > 1)
		join<LATENT><<<rows, LATENT, 0, b->s>>>(m->part, m->out, grid.x);
	CK(cudaStreamSynchronize(b->s));
	size_t at = (size_t)-1;
	std::vector<double> row(LATENT);
	described_check(b, "ref-mla", p, bench_read(m->out, rows * LATENT), rows, LATENT, 5, LATENT, 1e-2, [&](size_t r, size_t c) {
		if (at == r)
			return row[c];
		std::vector<float> q = bench_floats(bench_read(m->q + r * WIDE, WIDE)),
			           kv = bench_floats(bench_read((__nv_bfloat16 *)m->cache + r / heads * len * WIDE, (size_t)len * WIDE));
		std::vector<double> s(len);
		double top = -1e30, sum = 0;
		for (int i = 0; i < len; i++) {
			for (int d = 0; d < WIDE; d++)
				s[i] += (double)q[d] * kv[(size_t)i * WIDE + d];
			s[i] *= scale, top = std::max(top, s[i]);
		}
		std::fill(row.begin(), row.end(), 0.0);
		for (int i = 0; i < len; i++) {
			const double e = exp(s[i] - top);
			sum += e;
			for (int d = 0; d < LATENT; d++)
				row[d] += e * kv[(size_t)i * WIDE + d];
		}
		for (double &x : row)
			x /= sum;
		at = r;
		return row[c];
	});
	bench_time(b, "ref-mla", p, BENCH_COLD, go);
	if (bytes < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, "ref-mla", p, BENCH_WARM, [&](int) { go(0); });
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;

	bench_open(&b, argc, argv);
	if (b.prop.major < 8)
		return bench_close(&b);
	m.pool = (size_t)1 << 30;
	m.cache = (char *)bench_alloc(m.pool), m.q = (__nv_bfloat16 *)bench_alloc((size_t)64 * 128 * WIDE * 2);
	m.out = (float *)bench_alloc((size_t)64 * 128 * LATENT * 4), m.part = (float *)bench_alloc((size_t)256 * 128 * (LATENT + 2) * 4);
	bench_fill_bf16(&b, m.q, (size_t)64 * 128 * WIDE, 1), bench_fill_bf16(&b, (__nv_bfloat16 *)m.cache, m.pool / 2, 2);
	CK(cudaStreamSynchronize(b.s));
	for (int heads : { 16, 128 })
		for (auto s : { std::pair<int, int>{ 1, 1024 }, { 1, 4096 }, { 1, 16384 }, { 16, 4096 }, { 64, 4096 } })
			shape(&b, &m, s.first, heads, s.second);
	return bench_close(&b);
}
