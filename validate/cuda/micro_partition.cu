/* micro_partition.cu - which part of the L2 answers: a pointer chase in which every load is timed by itself
 *
 * One thread of one SM goes round a random cycle of all lines of a footprint; the histogram of its loads shows what a
 * mean hides: lines near, lines whose home is the other partition, and DRAM behind either. `cold`: after the L2 was
 * overwritten; `warm`: rounds after that; `from=A`: a first round by another SM after A has been round twice.
 * Prints CSV: what, footprint, clocks (lower edge of a bin of 8), share of the loads. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

enum { BINS = 128, BIN = 8, LINE = 128 };

static void ck(cudaError_t e)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "micro_partition: %s\n", cudaGetErrorString(e));
		exit(1);
	}
}

__global__ void chase(const char *base, uint64_t from, int skip, int steps, uint32_t sm, unsigned *hist, uint64_t *end)
{
	__shared__ unsigned h[BINS];
	__shared__ volatile uint64_t sink;
	uint64_t at = from;
	uint32_t me;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(me));
	if (me != sm)
		return;
	for (int i = 0; i < BINS; i++)
		h[i] = 0;
	for (int i = 0; i < skip + steps; i++) {
		long long c = clock64();
		asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(at) : "l"((const uint64_t *)(base + at)) : "memory");
		sink = at; /* waits for the load; the clock is read after it */
		c = clock64() - c;
		if (i >= skip)
			h[min((int)c / BIN, BINS - 1)]++;
	}
	for (int i = 0; i < BINS; i++)
		hist[i] = h[i];
	*end = at;
}

__global__ void overwrite(uint32_t *b, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		b[i] = b[i] * 3 + 1;
}

static const size_t CAP = (size_t)512 << 20;
static char *buf;
static uint32_t *other;
static unsigned *hist;
static uint64_t *out, x = 88172645463325252ull;
static int sms;

/* A random cycle through all lines; returns where it starts. */
static uint64_t cycle(size_t bytes)
{
	size_t n = bytes / LINE;
	std::vector<uint32_t> o(n);
	std::vector<uint64_t> host(bytes / 8);

	for (size_t i = 0; i < n; i++)
		o[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		std::swap(o[i], o[x % (i + 1)]);
	}
	for (size_t i = 0; i < n; i++)
		host[o[i] * (LINE / 8)] = (uint64_t)o[(i + 1) % n] * LINE;
	ck(cudaMemcpy(buf, host.data(), bytes, cudaMemcpyHostToDevice));
	return (uint64_t)o[0] * LINE;
}

static void flush()
{
	for (int i = 0; i < 2; i++)
		overwrite<<<1024, 256>>>(other, CAP / 4);
	ck(cudaDeviceSynchronize());
}

static uint64_t round_of(const char *what, size_t bytes, uint64_t from, int skip, uint32_t sm)
{
	int n = (int)(bytes / LINE);
	unsigned h[BINS];
	uint64_t end;

	chase<<<sms, 1>>>(buf, from, skip, n, sm, hist, out);
	ck(cudaMemcpy(h, hist, sizeof h, cudaMemcpyDeviceToHost));
	ck(cudaMemcpy(&end, out, sizeof end, cudaMemcpyDeviceToHost));
	for (int i = 0; what && i < BINS; i++)
		if (h[i] > (unsigned)n / 200)
			printf("%s,%zu,%d,%.3f\n", what, bytes >> 20, i * BIN, (double)h[i] / n);
	return end;
}

int main()
{
	cudaDeviceProp p;

	ck(cudaGetDeviceProperties(&p, 0));
	sms = p.multiProcessorCount;
	ck(cudaMalloc(&buf, CAP)), ck(cudaMalloc(&other, CAP));
	ck(cudaMalloc(&hist, BINS * sizeof *hist)), ck(cudaMalloc(&out, sizeof *out));
	printf("what,mib,clk,share\n");
	for (size_t mib : { 1, 8, 16, 24, 26, 28, 30, 32, 36, 40, 48, 56, 60, 64, 100 }) {
		size_t bytes = mib << 20;
		uint64_t at = cycle(bytes);

		flush();
		at = round_of("cold", bytes, at, 0, 0);
		at = round_of("warm", bytes, at, (int)(bytes / LINE), 0);
		for (uint32_t sm : { 1, 2, 16, 60 }) {
			char what[32];

			if (mib != 16 && mib != 48)
				continue;
			snprintf(what, sizeof what, "from=0;by=%u", sm);
			flush();
			at = round_of(NULL, bytes, at, (int)(bytes / LINE), 0);
			at = round_of(what, bytes, at, 0, sm);
		}
	}
	return 0;
}
