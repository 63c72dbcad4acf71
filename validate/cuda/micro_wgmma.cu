/* micro_wgmma.cu - the tensor rate of sm_90's warpgroup instructions, and how the clock holds under them
 *
 * Both operands in shared memory in the 128-byte swizzle, 64 x 256 tiles, fp32 sums: the instruction and layout of the
 * library kernels, with no loads behind it. One CTA an SM, `groups` warpgroups. The rate a clock is from clock64, the
 * FLOP/s from events; kernels of 50 us to 50 ms show when the clock gives way. Built for sm_90a; elsewhere the program
 * prints its header and ends. */
#include "bench.cuh"

enum { A_BYTES = 64 * 128, B_BYTES = 256 * 128 };

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WGMMA(NAME, KIND, TAIL) \
	static __device__ __forceinline__ void NAME(float (&d)[128], uint64_t a, uint64_t w) \
	{ \
		asm volatile("{wgmma.mma_async.sync.aligned." KIND " {" \
		             "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
		             "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
		             "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
		             "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
		             "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
		             "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
		             "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
		             "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127" \
		             "}, %128, %129, 1, 1, 1" TAIL ";}" \
		             : R16(0), R16(16), R16(32), R16(48), R16(64), R16(80), R16(96), R16(112) : "l"(a), "l"(w)); \
	}
#define R4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
WGMMA(wgmma_bf16, "m64n256k16.f32.bf16.bf16", ", 0, 0")
WGMMA(wgmma_e4m3, "m64n256k32.f32.e4m3.e4m3", "")

/* Address / 16, leading offset unused under swizzle, 1024 B between groups of eight rows, 128-byte swizzle. */
static __device__ uint64_t desc(uint32_t at)
{
	return (uint64_t)(at >> 4 & 0x3fff) | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}
#endif

struct span { unsigned long long clk, ns; };

template <int FP8> __global__ void __launch_bounds__(384, 1) tensor(int iters, uint32_t seed, span *out, uint32_t *sink)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
	extern __shared__ __align__(1024) uint32_t tile[];
	float d[128];

	/* bf16 near one with random sign and mantissa; as fp8 these bytes are finite too. Zeros would draw less power. */
	for (uint32_t i = threadIdx.x; i < (3 * A_BYTES + B_BYTES) / 4; i += blockDim.x) {
		uint32_t h = (i + seed) * 2654435761u;
		h ^= h >> 15, h *= 0x2c1b3c6d, h ^= h >> 12;
		tile[i] = FP8 ? h & 0xb7b7b7b7u : (h & 0x807f807fu) | 0x3f003f00u;
	}
	for (int i = 0; i < 128; i++)
		d[i] = 0;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	uint32_t at = (uint32_t)__cvta_generic_to_shared(tile);
	uint64_t a = desc(at + threadIdx.x / 128 * A_BYTES), w = desc(at + 3 * A_BYTES);
	unsigned long long n0 = bench_ns(), c0 = clock64();
	for (int i = 0; i < iters; i++) {
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (FP8)
				wgmma_e4m3(d, a + k * 2, w + k * 2);
			else
				wgmma_bf16(d, a + k * 2, w + k * 2);
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
	}
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x].clk = clock64() - c0, out[blockIdx.x].ns = bench_ns() - n0;
	float x = 0;
	for (int i = 0; i < 128; i++)
		x += d[i];
	if (x == 1.2345f)
		*sink = 1;
#else
	(void)iters, (void)seed, (void)out, (void)sink;
#endif
}

template <int FP8> static void rows(struct bench *b, int sms, int groups, int iters, int rest_ms, span *out)
{
	int smem = 3 * A_BYTES + B_BYTES, k = FP8 ? 32 : 16;
	double flop = 2.0 * 64 * 256 * k * 4 * iters * groups;          /* a CTA */
	std::vector<double> clk, mhz, tf;

	CK(cudaFuncSetAttribute(tensor<FP8>, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
	for (int r = -1; r < std::min(b->reps, 5); r++) {
		if (rest_ms) {
			struct timespec ts = { 0, rest_ms * 1000000l };
			CK(cudaStreamSynchronize(b->s));
			nanosleep(&ts, NULL);
		}
		CK(cudaEventRecord(b->e0, b->s));
		tensor<FP8><<<sms, groups * 128, smem, b->s>>>(iters, r, out, b->sink);
		CK(cudaEventRecord(b->e1, b->s));
		double us = bench_event_us(b);
		if (r < 0)
			continue;
		for (span o : bench_read(out, sms))
			clk.push_back(flop / o.clk), mhz.push_back(1e3 * o.clk / o.ns);
		tf.push_back(flop * sms / us * 1e-6);
	}
	CK(cudaGetLastError());
	std::string p = bench_fmt("type=%s;sms=%d;groups=%d;iters=%d;rest_ms=%d", FP8 ? "e4m3" : "bf16", sms, groups, iters, rest_ms);
	bench_row(b, "wgmma_rate", p, clk, "FLOP/clk/SM", "clock");
	bench_row(b, "wgmma_clock", p, mhz, "MHz", "clock/timer");
	bench_row(b, "wgmma_flops", p, tf, "TFLOP/s", "event");
}

int main(int argc, char **argv)
{
	struct bench b;
	bench_open(&b, argc, argv);
	if (b.prop.major != 9) {
		fprintf(stderr, "warpgroup instructions are sm_90's alone\n");
		return bench_close(&b);
	}
	int all = b.prop.multiProcessorCount;
	span *out = (span *)bench_alloc(all * sizeof *out);
	for (int groups : { 1, 2, 3 }) {
		rows<0>(&b, all, groups, 2000, 0, out);
		rows<1>(&b, all, groups, 2000, 0, out);
	}
	/* Two warpgroups and 128 clocks an instruction: 1000 iterations are about 0.6 ms. After a rest the clock is at its
	 * most and gives way within the kernel; without, the kernels before have pulled it down. */
	for (int rest_ms : { 200, 0 })
		for (int iters : { 30, 100, 300, 1000, 3000, 10000, 30000, 100000 }) {
			rows<0>(&b, all, 2, iters, rest_ms, out);
			rows<1>(&b, all, 2, iters, rest_ms, out);
		}
	for (int sms : { 1, 16, 66, 99, 120 })
		rows<0>(&b, sms, 2, 10000, 0, out);
	return bench_close(&b);
}
