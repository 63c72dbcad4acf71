/* micro_bulk.cu - bulk asynchronous copies into shared memory: what a stage of a library GEMM waits for
 *
 * One thread a CTA, one CTA an SM, `stages` copies of `size` bytes under way, each with its barrier; a copy is issued
 * when the one `stages` before it has arrived, nothing reads the data. stages=1 is the round trip of one copy; more
 * show how bytes under way become bandwidth (Little's law), a stage of 64 rows x 64 columns in bf16 being 8 KB.
 * Contiguous copies, no tensor maps and no multicast. sm_90 and later. */
#include "bench.cuh"

struct span { unsigned long long clk, ns; };

__global__ void bulk(const char *base, uint32_t copies, uint32_t size, int stages, int iters, span *out)
{
#if __CUDA_ARCH__ >= 900
	extern __shared__ __align__(128) char tile[];
	__shared__ uint64_t bar[32];
	uint32_t dst = (uint32_t)__cvta_generic_to_shared(tile), b0 = (uint32_t)__cvta_generic_to_shared(bar);

	for (int s = 0; s < stages; s++)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b0 + 8 * s) : "memory");
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	unsigned long long n0 = bench_ns(), c0 = clock64();
	/* Slot, parity and source are carried along: a division a copy would be slower than the copies. */
	uint32_t at = blockIdx.x % copies, step = gridDim.x % copies, parity = 1;
	for (int i = 0, s = 0; i < iters + stages; i++) {
		if (i >= stages) {
			uint32_t done = 0;
			while (!done)
				asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
				             : "=r"(done) : "r"(b0 + 8 * s), "r"(parity) : "memory");
		}
		if (i < iters) {
			asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b0 + 8 * s), "r"(size) : "memory");
			asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
			             :: "r"(dst + s * size), "l"(base + (size_t)at * size), "r"(size), "r"(b0 + 8 * s) : "memory");
			at += step;
			at = at >= copies ? at - copies : at;
		}
		if (++s == stages)
			s = 0, parity ^= 1;     /* first lap 1, never waited for; the next waits for phase 0 */
	}
	out[blockIdx.x].clk = clock64() - c0, out[blockIdx.x].ns = bench_ns() - n0;
#else
	(void)base, (void)copies, (void)size, (void)stages, (void)iters, (void)out;
#endif
}

static void row(struct bench *b, const char *buf, size_t cap, bool dram, int sms, uint32_t size, int stages, span *out)
{
	int iters = std::max(256, (int)((1 << 20) / size));
	size_t window = dram ? (size_t)sms * iters * size : (size_t)16 << 20, at = 0;
	std::vector<double> ns, clk, rate;

	if (dram)
		bench_flush(b);
	for (int r = -1; r < b->reps; r++) {
		at = at + window > cap ? 0 : at;
		/* Warm means every line was read once: a long first run by all SMs. */
		int n = r < 0 && !dram ? (int)(window / size) : iters;
		bulk<<<r < 0 && !dram ? b->prop.multiProcessorCount : sms, 1, stages * size, b->s>>>(buf + at, (uint32_t)(window / size), size, stages, n, out);
		CK(cudaStreamSynchronize(b->s));
		at += dram ? window : 0;
		if (r < 0)
			continue;
		double worst = 0;
		for (span o : bench_read(out, sms)) {
			worst = std::max(worst, (double)o.ns);
			ns.push_back((double)o.ns / iters), clk.push_back((double)o.clk / iters);
		}
		rate.push_back(1e-3 * sms * iters * size / worst);
	}
	CK(cudaGetLastError());
	std::string p = bench_fmt("where=%s;sms=%d;size=%u;stages=%d;flight_per_sm=%u", dram ? "dram" : "l2", sms, size, stages, size * stages);
	bench_row(b, stages == 1 ? "bulk_round_trip" : "bulk_step", p, ns, "ns", "timer");
	bench_row(b, stages == 1 ? "bulk_round_trip_clk" : "bulk_step_clk", p, clk, "clk", "clock");
	bench_row(b, "bulk_rate", p, rate, "TB/s", "timer");
}

int main(int argc, char **argv)
{
	struct bench b;
	bench_open(&b, argc, argv);
	if (b.prop.major < 9) {
		fprintf(stderr, "bulk copies need compute capability 9.0\n");
		return bench_close(&b);
	}
	size_t cap = (size_t)4 << 30;
	char *buf = (char *)bench_alloc(cap);
	span *out = (span *)bench_alloc(b.prop.multiProcessorCount * sizeof *out);
	bench_fill_bytes(&b, buf, cap, 4, ~0u);
	CK(cudaFuncSetAttribute(bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, 192 << 10));
	for (int dram = 0; dram < 2; dram++)
		for (int sms : { 1, 16, 32, 66, 96, b.prop.multiProcessorCount })
			for (uint32_t size : { 1024u, 2048u, 4096u, 8192u, 16384u, 32768u })
				for (int stages : { 1, 2, 4, 8, 16 })
					if (size * stages <= 192u << 10)
						row(&b, buf, cap, dram, sms, size, stages, out);
	return bench_close(&b);
}
