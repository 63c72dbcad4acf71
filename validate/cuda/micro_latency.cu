/* micro_latency.cu - what one dependent step costs: pointer chase, and the barrier loop of a reduction
 *
 * chase: one thread, one load a line, each address from the load before; random order over the footprint. Footprints
 * above 128 MB are sampled (one million lines spread evenly), so the L2 cannot help and the page tables must.
 * step: one CTA; each iteration loads a tile, crosses a barrier, and its sum decides (as a zero the compiler cannot
 * see) where the next tile is: the shape of every one-CTA norm, softmax and top-k. */
#include "bench.cuh"

enum { LINE = 128, SAMPLES = 1 << 20 };

/* Loads that may hit the L1, and loads that may not. */
struct through_l1 {
	static __device__ uint64_t ld(const uint64_t *p)
	{
		uint64_t v;
		asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(v) : "l"(p));
		return v;
	}
};
struct through_l2 {
	static __device__ uint64_t ld(const uint64_t *p)
	{
		uint64_t v;
		asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(p));
		return v;
	}
};

struct span { unsigned long long clk, ns; uint64_t next; };

template <class L> __global__ void chase(const char *base, uint64_t from, int warm, int steps, uint32_t sm, span *out)
{
	uint32_t me;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(me));
	if (me != sm)
		return;
	uint64_t at = from;
	for (int i = 0; i < warm; i++)
		at = L::ld((const uint64_t *)(base + at));
	unsigned long long n0 = bench_ns(), c0 = clock64();
#pragma unroll 8
	for (int i = 0; i < steps; i++)
		at = L::ld((const uint64_t *)(base + at));
	unsigned long long c1 = clock64(), n1 = bench_ns();
	out->clk = c1 - c0, out->ns = n1 - n0, out->next = at;
}

__global__ void prep_link(char *base, const uint64_t *pairs, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		*(uint64_t *)(base + pairs[2 * i]) = pairs[2 * i + 1];
}

/* Writes byte offsets: line order[i] holds order[i+1]. */
static uint64_t chain(char *dev, size_t bytes, uint64_t *lines_used)
{
	size_t lines = bytes / LINE, n = std::min(lines, (size_t)SAMPLES);
	std::vector<uint32_t> order(n);
	uint64_t x = 88172645463325252ull;
	auto rnd = [&x]() { x ^= x << 13, x ^= x >> 7, x ^= x << 17; return x; };

	for (size_t i = 0; i < n; i++) {
		size_t lo = lines * i / n, hi = lines * (i + 1) / n;
		order[i] = (uint32_t)(lo + rnd() % (hi - lo));
	}
	for (size_t i = n - 1; i > 0; i--)
		std::swap(order[i], order[rnd() % (i + 1)]);
	/* One strided copy a line is slow for millions of lines: build contiguous spans on the host where they fit. */
	std::vector<uint64_t> host;
	if (n == lines) {
		host.resize(bytes / 8);
		for (size_t i = 0; i < n; i++)
			host[(size_t)order[i] * (LINE / 8)] = (uint64_t)order[(i + 1) % n] * LINE;
		CK(cudaMemcpy(dev, host.data(), bytes, cudaMemcpyHostToDevice));
	}
	*lines_used = n;
	if (n == lines)
		return (uint64_t)order[0] * LINE;
	host.resize(2 * n);
	for (size_t i = 0; i < n; i++)
		host[2 * i] = (uint64_t)order[i] * LINE, host[2 * i + 1] = (uint64_t)order[(i + 1) % n] * LINE;
	uint64_t *pairs = (uint64_t *)bench_alloc(n * 16);
	CK(cudaMemcpy(pairs, host.data(), n * 16, cudaMemcpyHostToDevice));
	prep_link<<<1024, 256>>>(dev, pairs, n);
	CK(cudaDeviceSynchronize());
	CK(cudaFree(pairs));
	return (uint64_t)order[0] * LINE;
}

template <class L> static void chase_rows(struct bench *b, char *buf, size_t bytes, const char *path, uint32_t sm, span *out)
{
	uint64_t lines, at = chain(buf, bytes, &lines);
	/* What fits is visited once before; what does not is never visited twice. */
	bool fits = bytes <= (size_t)b->prop.l2CacheSize;
	int steps = 16384, warm = fits ? (int)lines : 64;
	std::vector<double> ns, clk;

	bench_flush(b);
	for (int r = 0; r < b->reps; r++) {
		chase<L><<<b->prop.multiProcessorCount, 1, 0, b->s>>>(buf, at, warm, steps, sm, out);
		CK(cudaStreamSynchronize(b->s));
		span o = bench_read(out, 1)[0];
		at = o.next;
		ns.push_back((double)o.ns / steps), clk.push_back((double)o.clk / steps);
	}
	std::string p = bench_fmt("bytes=%zu;path=%s;sm=%u", bytes, path, sm);
	bench_row(b, "chase_ns", p, ns, "ns", "timer");
	bench_row(b, "chase_clk", p, clk, "clk", "clock");
}

/* mode 0: barrier only; 1: load, barrier; 2: load, warp sums, barrier, one broadcast through shared memory, barrier */
template <int MODE> __global__ void step(const char *base, size_t bytes, size_t first, int iters, span *out)
{
	__shared__ uint32_t part[32];
	uint32_t tile = blockDim.x * 16, z = 0;
	size_t at = first % bytes;
	unsigned long long n0, c0;

	part[threadIdx.x % 32] = 0;
	__syncthreads();
	n0 = bench_ns(), c0 = clock64();
	for (int i = 0; i < iters; i++) {
		if (MODE) {
			/* The data is random below the mask 0x7f, so the top bit is a zero only we know of. */
			uint4 v = __ldcg((const uint4 *)(base + at + z) + threadIdx.x);
			z = (v.x | v.y | v.z | v.w) >> 31;
		}
		if (MODE == 2) {
			for (int o = 16; o; o /= 2)
				z += __shfl_xor_sync(~0u, z, o);
			if (threadIdx.x % 32 == 0)
				part[threadIdx.x / 32] = z;
			__syncthreads();
			z = 0;
			for (int w = 0; w < (int)blockDim.x / 32; w++)
				z += part[w];
		}
		__syncthreads();
		at += tile;
		at = at + tile > bytes ? 0 : at;
	}
	if (threadIdx.x == 0)
		out->clk = clock64() - c0, out->ns = bench_ns() - n0, out->next = at + z;
}

template <int MODE> static void step_rows(struct bench *b, const char *buf, size_t bytes, const char *where, int threads, span *out)
{
	static const char *const modes[] = { "barrier", "load+barrier", "load+reduce+2barriers" };
	int iters = 1024;
	size_t span_bytes = (size_t)iters * threads * 16, at = 0;
	std::vector<double> ns, clk;

	/* Into the L2 as this CTA's own loads put it there, all of it; or out of it. */
	if (bytes > (size_t)b->prop.l2CacheSize)
		bench_flush(b);
	else
		step<1><<<1, threads, 0, b->s>>>(buf, bytes, 0, (int)(bytes / (threads * 16)), out);
	for (int r = -1; r < b->reps; r++) {
		step<MODE><<<1, threads, 0, b->s>>>(buf, bytes, at, iters, out);
		CK(cudaStreamSynchronize(b->s));
		span o = bench_read(out, 1)[0];
		at += span_bytes;
		if (r >= 0)
			ns.push_back((double)o.ns / iters), clk.push_back((double)o.clk / iters);
	}
	std::string p = bench_fmt("mode=%s;threads=%d;where=%s;footprint=%zu", modes[MODE], threads, MODE ? where : "none", bytes);
	bench_row(b, "step_ns", p, ns, "ns", "timer");
	bench_row(b, "step_clk", p, clk, "clk", "clock");
}

/* Smallest and usual difference between two reads that differ. */
__global__ void timer_steps(unsigned long long *out, int n)
{
	unsigned long long last = bench_ns(), t;
	for (int i = 0; i < n; i++) {
		do
			t = bench_ns();
		while (t == last);
		out[i] = t - last, last = t;
	}
}

__global__ void clock_rate(unsigned long long ns, span *out)
{
	unsigned long long n0 = bench_ns(), c0 = clock64(), n1;
	do
		n1 = bench_ns();
	while (n1 < n0 + ns);
	out->clk = clock64() - c0, out->ns = n1 - n0;
}

int main(int argc, char **argv)
{
	struct bench b;
	bench_open(&b, argc, argv);
	span *out = (span *)bench_alloc(sizeof *out);
	unsigned long long *steps = (unsigned long long *)bench_alloc(4096 * 8);

	timer_steps<<<1, 1, 0, b.s>>>(steps, 4096);
	CK(cudaStreamSynchronize(b.s));
	std::vector<double> v;
	for (unsigned long long t : bench_read(steps, 4096))
		v.push_back((double)t);
	bench_row(&b, "globaltimer_step", "reads=4096", v, "ns", "timer");
	v.clear();
	for (int r = 0; r < b.reps; r++) {
		clock_rate<<<1, 1, 0, b.s>>>(2000000, out);
		CK(cudaStreamSynchronize(b.s));
		span o = bench_read(out, 1)[0];
		v.push_back(1e3 * o.clk / o.ns);
	}
	bench_row(&b, "sm_clock", "load=one_thread", v, "MHz", "clock/timer");

	size_t cap = (size_t)4 << 30;
	char *buf = (char *)bench_alloc(cap);
	const size_t K = 1024, M = K * K;
	for (size_t bytes : { 16 * K, 64 * K, 128 * K, 192 * K })
		chase_rows<through_l1>(&b, buf, bytes, "l1", 0, out);
	for (size_t bytes : { 16 * K, 256 * K, 1 * M, 4 * M, 8 * M, 16 * M, 20 * M, 24 * M, 28 * M, 32 * M, 40 * M, 48 * M, 56 * M, 64 * M,
	                      96 * M, 128 * M, 256 * M, 512 * M, 1024 * M, 2048 * M, 4096 * M })
		chase_rows<through_l2>(&b, buf, bytes, "l2", 0, out);
	/* The way to the L2 is not equally long from every SM. */
	for (uint32_t sm = 0; sm < (uint32_t)b.prop.multiProcessorCount; sm += 12)
		chase_rows<through_l2>(&b, buf, 4 * M, "l2", sm, out);

	bench_fill_bytes(&b, buf, cap, 3, 0x7f7f7f7f);
	CK(cudaStreamSynchronize(b.s));
	for (int threads : { 32, 128, 256, 512, 1024 }) {
		step_rows<0>(&b, buf, 128 * K, "none", threads, out);
		step_rows<1>(&b, buf, 128 * K, "l2", threads, out);
		step_rows<2>(&b, buf, 128 * K, "l2", threads, out);
		step_rows<1>(&b, buf, 16 * M, "l2", threads, out);
		step_rows<2>(&b, buf, 16 * M, "l2", threads, out);
		step_rows<1>(&b, buf, cap, "dram", threads, out);
		step_rows<2>(&b, buf, cap, "dram", threads, out);
	}
	CK(cudaFree(buf));
	return bench_close(&b);
}
