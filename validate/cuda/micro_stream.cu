/* micro_stream.cu - bytes a second against SMs used, bytes in flight and footprint: DRAM, L2, shared memory
 *
 * Each CTA takes a whole SM (its dynamic shared memory leaves no room for a second) unless `per_sm` says otherwise, so
 * grid = SMs used; in flight = threads x unroll x 16 B x CTAs an SM, as far as the compiler keeps the loads together:
 * up to unroll=4 it does; unroll=8 measures like 4, so its flight_per_sm is not what is under way. per_sm=0 is the
 * launch of library kernels: a CTA a tile, as many as the window needs, and as many an SM as fit. */
#include "bench.cuh"

enum mode { READ, WRITE, COPY, ADD };
static const char *const mode_names[] = { "read", "write", "copy", "read2_write1" };
static const int mode_bytes[] = { 1, 1, 2, 3 };         /* moved a byte of window */

template <int MODE, int U>
__global__ void stream(const uint4 *a, const uint4 *c, uint4 *out, uint32_t tiles, uint32_t total, uint32_t *sink)
{
	uint32_t x = 0;

	/* Tile t of all passes is at t mod tiles: passes follow without a gap, and no CTA meets its own lines in the L1. */
	for (uint32_t t = blockIdx.x; t < total; t += gridDim.x) {
		size_t i = (size_t)(t % tiles) * (U * blockDim.x) + threadIdx.x;
		uint4 v[U], w[U];
#pragma unroll
		for (int u = 0; u < U; u++) {
			v[u] = MODE == WRITE ? make_uint4(t, u, (uint32_t)i, x) : __ldcg(a + i + u * blockDim.x);
			if (MODE == ADD)
				w[u] = __ldcg(c + i + u * blockDim.x);
		}
#pragma unroll
		for (int u = 0; u < U; u++) {
			if (MODE == ADD)
				v[u].x += w[u].x, v[u].y += w[u].y, v[u].z += w[u].z, v[u].w += w[u].w;
			if (MODE == READ)
				x ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
			else
				out[i + u * blockDim.x] = v[u];
		}
	}
	if (MODE == READ && x == 0x9e3779b9)
		*sink = x;
}

struct pool { char *a, *c, *out; size_t bytes; };

template <int MODE, int U>
static void row(struct bench *b, const struct pool *pool, size_t window, int sms, int per_sm, int threads, bool dram)
{
	int smem = per_sm == 1 ? 128 << 10 : 0;
	size_t tile = (size_t)threads * U * 16;
	uint32_t tiles = (uint32_t)(window / tile), grid = per_sm ? sms * per_sm : tiles;
	window = tiles * tile;
	int passes = dram ? 1 : (int)std::max((size_t)4, ((size_t)sms << 24) / 2 / window);
	std::vector<double> v;
	size_t at = 0;

	CK(cudaFuncSetAttribute(stream<MODE, U>, cudaFuncAttributeMaxDynamicSharedMemorySize, 128 << 10));
	if (dram)
		bench_flush(b);
	for (int r = -1; r < std::min(b->reps, 5); r++) {
		if (at + window > pool->bytes)
			at = 0;
		bench_spin(b, 20);
		CK(cudaEventRecord(b->e0, b->s));
		stream<MODE, U><<<grid, threads, smem, b->s>>>((uint4 *)(pool->a + at), (uint4 *)(pool->c + at), (uint4 *)(pool->out + at),
		                                             tiles, tiles * passes, b->sink);
		CK(cudaEventRecord(b->e1, b->s));
		double us = bench_event_us(b);
		if (dram)
			at += window;
		if (r >= 0)
			v.push_back(1e-6 * window * passes * mode_bytes[MODE] / us);
	}
	CK(cudaGetLastError());
	int flight = threads * U * 16 * (per_sm ? per_sm : 2048 / threads) * (MODE == ADD ? 2 : 1);
	bench_row(b, dram ? "stream_dram" : "stream_l2",
	          bench_fmt("mode=%s;sms=%d;per_sm=%d;threads=%d;unroll=%d;flight_per_sm=%d;window=%zu;passes=%d", mode_names[MODE], sms,
	                    per_sm, threads, U, flight, window, passes),
	          v, "TB/s", "event");
}

template <int MODE> static void unrolls(struct bench *b, const struct pool *p, size_t w, int sms, int threads, bool dram)
{
	row<MODE, 1>(b, p, w, sms, 1, threads, dram);
	row<MODE, 2>(b, p, w, sms, 1, threads, dram);
	row<MODE, 4>(b, p, w, sms, 1, threads, dram);
	row<MODE, 8>(b, p, w, sms, 1, threads, dram);
}

template <int WORDS> __global__ void smem_read(int iters, int stride, unsigned long long *clk, uint32_t *sink)
{
	extern __shared__ uint4 tile[];
	uint32_t *w = (uint32_t *)tile, x = 0;
	for (int i = threadIdx.x; i < 12288; i += blockDim.x)
		w[i] = i * 2654435761u;
	uint32_t at = (uint32_t)__cvta_generic_to_shared(w) + threadIdx.x % 32 * WORDS * 4 * stride;
	__syncthreads();
	unsigned long long c0 = clock64();
	for (int i = 0; i < iters; i++) {
#pragma unroll
		for (int u = 0; u < 8; u++) {
			uint32_t r0, r1 = 0, r2 = 0, r3 = 0;
			/* Offsets differ by whole rows of 32 banks: same conflicts, other words. */
			uint32_t from = at + u * 1024;
			if (WORDS == 1)
				asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(r0) : "r"(from));
			if (WORDS == 2)
				asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(from));
			if (WORDS == 4)
				asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(from));
			x ^= r0 ^ r1 ^ r2 ^ r3;
		}
	}
	__syncthreads();
	if (threadIdx.x == 0)
		clk[blockIdx.x] = clock64() - c0;
	if (x == 0x9e3779b9)
		*sink = x;
}

template <int WORDS> static void smem_row(struct bench *b, int threads, int stride, unsigned long long *clk)
{
	int sms = b->prop.multiProcessorCount, iters = 2048;
	std::vector<double> v;
	smem_read<WORDS><<<sms, threads, 49152, b->s>>>(iters, stride, clk, b->sink);
	smem_read<WORDS><<<sms, threads, 49152, b->s>>>(iters, stride, clk, b->sink);
	CK(cudaStreamSynchronize(b->s));
	for (unsigned long long c : bench_read(clk, sms))
		v.push_back((double)iters * 8 * threads * WORDS * 4 / c);
	bench_row(b, "smem_read", bench_fmt("width=%d;threads=%d;stride=%d", WORDS * 4, threads, stride), v, "B/clk/SM", "clock");
}

int main(int argc, char **argv)
{
	struct bench b;
	bench_open(&b, argc, argv);
	struct pool p;
	p.bytes = (size_t)(b.quick ? 1 : 4) << 30;
	p.a = (char *)bench_alloc(p.bytes), p.c = (char *)bench_alloc(p.bytes), p.out = (char *)bench_alloc(p.bytes);
	for (char *q : { p.a, p.c, p.out })
		bench_fill_bytes(&b, q, p.bytes, 11, ~0u);
	int all = b.prop.multiProcessorCount;
	const size_t M = 1 << 20;

	/* SMs used, at 64 KB in flight each. */
	for (int sms : { 1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 120, 126, 132 }) {
		if (sms > all)
			break;
		size_t w = std::min((size_t)sms * 16 * M, (size_t)(b.quick ? 512 : 2048) * M);
		row<READ, 4>(&b, &p, w, sms, 1, 1024, true);
		row<WRITE, 4>(&b, &p, w, sms, 1, 1024, true);
		row<COPY, 4>(&b, &p, w, sms, 1, 1024, true);
		row<ADD, 4>(&b, &p, w, sms, 1, 1024, true);
		for (size_t l2 : { 8, 16, 32 }) {
			row<READ, 4>(&b, &p, l2 * M, sms, 1, 1024, false);
			row<COPY, 4>(&b, &p, l2 * M / 2, sms, 1, 1024, false);
		}
	}
	/* Bytes in flight an SM. */
	size_t w = (size_t)(b.quick ? 512 : 2048) * M;
	for (int sms : { 1, all / 2, all })
		for (int threads : { 64, 128, 256, 512, 1024 }) {
			unrolls<READ>(&b, &p, sms == 1 ? 16 * M : w, sms, threads, true);
			unrolls<READ>(&b, &p, 16 * M, sms, threads, false);
			if (sms == all) {
				unrolls<COPY>(&b, &p, w, sms, threads, true);
				unrolls<WRITE>(&b, &p, w, sms, threads, true);
			}
		}
	/* Full occupancy, and a CTA a tile. */
	for (int per_sm : { 2, 0 })
		for (int threads : { 128, 1024 }) {
			int n = per_sm ? per_sm * 1024 / threads : 0;
			row<READ, 4>(&b, &p, w, all, n, threads, true);
			row<WRITE, 4>(&b, &p, w, all, n, threads, true);
			row<COPY, 4>(&b, &p, w, all, n, threads, true);
			row<ADD, 4>(&b, &p, w, all, n, threads, true);
			row<COPY, 1>(&b, &p, w, all, n, threads, true);
			row<ADD, 1>(&b, &p, w, all, n, threads, true);
			row<WRITE, 4>(&b, &p, 16 * M, all, n ? n : 8, threads, false);
		}
	for (size_t mb : { 1, 2, 4, 8, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96, 128, 256 })
		row<READ, 4>(&b, &p, mb * M, all, 2, 1024, false);

	unsigned long long *clk = (unsigned long long *)bench_alloc(all * 8);
	for (int threads : { 128, 256, 512, 1024 }) {
		smem_row<1>(&b, threads, 1, clk);
		smem_row<2>(&b, threads, 1, clk);
		smem_row<4>(&b, threads, 1, clk);
	}
	for (int stride : { 2, 4, 8, 32 })
		smem_row<1>(&b, 1024, stride, clk);
	return bench_close(&b);
}
