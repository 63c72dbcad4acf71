/* micro_launch.cu - what starting work costs: kernels, graph nodes, memsets, CTAs
 *
 * A period by slope is the duration plus the gap to the next launch; `span` rows look inside with the timer: first
 * instruction of the first CTA to the last of the last, and from there to the first of the next kernel. */
#include "bench.cuh"

__global__ void empty(void) { }
__global__ void empty_pdl(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;");
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__global__ void stamp(unsigned long long *out)
{
	if (threadIdx.x == 0) {
		out[2 * blockIdx.x] = bench_ns();
		__threadfence();
		out[2 * blockIdx.x + 1] = bench_ns();
	}
}

static void launch_pdl(cudaStream_t s, int grid, int block, bool programmatic)
{
	cudaLaunchAttribute a = {};
	cudaLaunchConfig_t c = {};
	a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	a.val.programmaticStreamSerializationAllowed = programmatic;
	c.gridDim = dim3(grid), c.blockDim = dim3(block), c.stream = s, c.attrs = &a, c.numAttrs = 1;
	CK(cudaLaunchKernelEx(&c, empty_pdl));
}

/* Period of n launches into the stream; behind the spin the host is ahead as long as n is small. */
template <class F> static std::vector<double> stream_slope(struct bench *b, F body)
{
	std::vector<double> v;
	for (int r = 0; r < b->reps; r++) {
		double t[2];
		for (int j = 0; j < 2; j++) {
			bench_spin(b, 800);
			CK(cudaEventRecord(b->e0, b->s));
			for (int i = 0; i < (j ? 88 : 8); i++)
				body(i);
			CK(cudaEventRecord(b->e1, b->s));
			t[j] = bench_event_us(b);
		}
		v.push_back((t[1] - t[0]) / 80);
	}
	return v;
}

/* Host not hidden: what the queue of the driver lets through. */
template <class F> static std::vector<double> host_rate(struct bench *b, F body)
{
	std::vector<double> v;
	for (int r = 0; r < b->reps; r++) {
		struct timespec t0, t1;
		CK(cudaStreamSynchronize(b->s));
		clock_gettime(CLOCK_MONOTONIC, &t0);
		for (int i = 0; i < 4000; i++)
			body(i);
		CK(cudaStreamSynchronize(b->s));
		clock_gettime(CLOCK_MONOTONIC, &t1);
		v.push_back(((t1.tv_sec - t0.tv_sec) * 1e6 + (t1.tv_nsec - t0.tv_nsec) * 1e-3) / 4000);
	}
	return v;
}

static void spans(struct bench *b, int grid, int block)
{
	const int n = 64;
	unsigned long long *out = (unsigned long long *)bench_alloc((size_t)n * grid * 16);
	cudaGraphExec_t g = bench_graph(b, n, [&](int i) { stamp<<<grid, block, 0, b->s>>>(out + (size_t)i * grid * 2); });
	std::vector<double> in, gap, skew;

	bench_replay(b, g, BENCH_WARM);
	bench_replay(b, g, BENCH_WARM);
	std::vector<unsigned long long> t = bench_read(out, (size_t)n * grid * 2);
	unsigned long long end = 0;
	for (int i = 0; i < n; i++) {
		unsigned long long lo = ~0ull, hi = 0, last = 0;
		for (int c = 0; c < grid; c++) {
			lo = std::min(lo, t[(size_t)(i * grid + c) * 2]);
			last = std::max(last, t[(size_t)(i * grid + c) * 2]);
			hi = std::max(hi, t[(size_t)(i * grid + c) * 2 + 1]);
		}
		if (i)
			gap.push_back(((double)lo - (double)end) * 1e-3);
		in.push_back((hi - lo) * 1e-3), skew.push_back((last - lo) * 1e-3);
		end = hi;
	}
	std::string p = bench_fmt("grid=%d;block=%d", grid, block);
	bench_row(b, "span_inside", p, in, "us", "timer");
	bench_row(b, "span_first_to_last_cta", p, skew, "us", "timer");
	bench_row(b, "span_gap_to_next_node", p, gap, "us", "timer");
	CK(cudaGraphExecDestroy(g));
	CK(cudaFree(out));
}

int main(int argc, char **argv)
{
	struct bench b;
	bench_open(&b, argc, argv);
	char *buf = (char *)bench_alloc(64 << 20), *buf2 = (char *)bench_alloc(64 << 20);
	int sms = b.prop.multiProcessorCount;

	for (int grid : { 1, sms, 4 * sms })
		for (int block : { 32, 128, 1024 }) {
			auto one = [&](int) { empty<<<grid, block, 0, b.s>>>(); };
			std::string p = bench_fmt("grid=%d;block=%d", grid, block);
			bench_time(&b, "empty_node", p, BENCH_WARM, one);
			if (b.cupti)
				bench_time(&b, "empty_node", p, BENCH_IDLE, one);
			else
				bench_row(&b, "empty_stream", p, stream_slope(&b, one), "us", "slope");
		}
	for (size_t bytes : { 4, 256, 1024, 2048, 4096, 8192, 16384, 65536, 1 << 20, 16 << 20 }) {
		bench_time(&b, "memset_node", bench_fmt("bytes=%zu", bytes), BENCH_WARM,
		           [&](int) { CK(cudaMemsetAsync(buf, 0, bytes, b.s)); });
		bench_time(&b, "memcpy_node", bench_fmt("bytes=%zu", bytes), BENCH_WARM,
		           [&](int) { CK(cudaMemcpyAsync(buf2, buf, bytes, cudaMemcpyDeviceToDevice, b.s)); });
		bench_time(&b, "memset_node", bench_fmt("bytes=%zu", bytes), BENCH_IDLE,
		           [&](int) { CK(cudaMemsetAsync(buf, 0, bytes, b.s)); });
		bench_time(&b, "memcpy_node", bench_fmt("bytes=%zu", bytes), BENCH_IDLE,
		           [&](int) { CK(cudaMemcpyAsync(buf2, buf, bytes, cudaMemcpyDeviceToDevice, b.s)); });
	}
	bench_time(&b, "memset_then_empty", "bytes=4;grid=1;block=128", BENCH_WARM, [&](int) {
		CK(cudaMemsetAsync(buf, 0, 4, b.s));
		empty<<<1, 128, 0, b.s>>>();
	});
	if (b.prop.major >= 9)
		for (int grid : { 1, sms })
			for (int pdl : { 0, 1 }) {
				std::string p = bench_fmt("grid=%d;block=128;dependent_launch=%d", grid, pdl);
				bench_time(&b, "pdl_node", p, BENCH_WARM, [&](int) { launch_pdl(b.s, grid, 128, pdl); });
				if (!b.cupti)
					bench_row(&b, "pdl_stream", p, stream_slope(&b, [&](int) { launch_pdl(b.s, grid, 128, pdl); }), "us", "slope");
			}
	if (!b.cupti) {
		bench_row(&b, "host_launch", "grid=1;block=32", host_rate(&b, [&](int) { empty<<<1, 32, 0, b.s>>>(); }), "us", "host");
		for (int grid : { 1, sms, 4 * sms, 32 * sms })
			spans(&b, grid, 128);
	}
	for (int block : { 32, 128, 256, 1024 })
		for (int grid = 1; grid <= 1 << 20; grid *= 4)
			bench_time(&b, "cta_launch", bench_fmt("grid=%d;block=%d;smem=0", grid, block), BENCH_WARM,
			           [&](int) { empty<<<grid, block, 0, b.s>>>(); });
	CK(cudaFuncSetAttribute(empty, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10));
	for (int grid = 256; grid <= 1 << 18; grid *= 4)
		bench_time(&b, "cta_launch", bench_fmt("grid=%d;block=128;smem=%d", grid, 96 << 10), BENCH_WARM,
		           [&](int) { empty<<<grid, 128, 96 << 10, b.s>>>(); });
	CK(cudaFree(buf));
	CK(cudaFree(buf2));
	return bench_close(&b);
}
