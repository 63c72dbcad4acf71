/* capture.cu - a program whose device activity is known: what a capture of it must hold
 *
 * A step launches EAGER kernels, replays a graph of NODES kernels, sets and copies; NVTX ranges step_0, step_1... are
 * around the steps. With --cupti it counts its own activity records, kernels and their time; then it must not run under
 * another capture. Prints name,value rows; wall_us is the host's time of the median step. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <vector>
#ifdef BENCH_CUPTI
#include <cupti.h>
#endif

#define CK(call) do { \
	cudaError_t r_ = (call); \
	if (r_ != cudaSuccess) \
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(r_)), exit(4); \
	} while (0)

enum { EAGER = 100, NODES = 50, N = 1 << 20 };

__global__ void scale(float *x, int n, float by)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		x[i] *= by;
}

#ifdef BENCH_CUPTI
static unsigned long long kernels, kernel_ns, others;

static void CUPTIAPI asked(uint8_t **buf, size_t *size, size_t *most)
{
	*size = 4 << 20, *most = 0;
	*buf = (uint8_t *)aligned_alloc(8, *size);
}

static void CUPTIAPI done(CUcontext, uint32_t, uint8_t *buf, size_t, size_t valid)
{
	CUpti_Activity *r = NULL;
	while (valid && cuptiActivityGetNextRecord(buf, valid, &r) == CUPTI_SUCCESS) {
		if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			const CUpti_ActivityKernel9 *k = (const CUpti_ActivityKernel9 *)r;
			kernels++, kernel_ns += k->end - k->start;
		} else {
			others++;
		}
	}
	free(buf);
}

static void count(void)
{
	cuptiActivityRegisterCallbacks(asked, done);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
}

static void tell(void)
{
	cuptiActivityFlushAll(1);
	printf("kernels,%llu\nkernel_us,%.3f\nothers,%llu\n", kernels, kernel_ns * 1e-3, others);
}
#else
static void count(void)
{
	fprintf(stderr, "built without CUPTI: --cupti is not possible\n");
	exit(2);
}
static void tell(void) { }
#endif

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 3;
	const bool own = argc > 1 && !strcmp(argv[argc - 1], "--cupti");
	std::vector<float> host(N);
	std::vector<double> wall;
	cudaGraphExec_t exec;
	cudaStream_t s;
	cudaGraph_t g;
	float *x;

	if (own)
		count();
	CK(cudaMalloc(&x, N * sizeof *x));
	CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < NODES; i++)
		scale<<<132, 256, 0, s>>>(x, N, 1.0f + i);
	CK(cudaStreamEndCapture(s, &g));
	CK(cudaGraphInstantiate(&exec, g, 0));
	for (int k = 0; k < steps; k++) {
		char name[32];
		snprintf(name, sizeof name, "step_%d", k);
		nvtxRangePushA(name);
		double t = now_us();
		CK(cudaMemsetAsync(x, 0, N * sizeof *x, s));
		for (int i = 0; i < EAGER; i++)
			scale<<<64, 128, 0, s>>>(x, N / 4, 1.5f);
		CK(cudaGraphLaunch(exec, s));
		CK(cudaMemcpyAsync(host.data(), x, N * sizeof *x, cudaMemcpyDeviceToHost, s));
		CK(cudaStreamSynchronize(s));
		wall.push_back(now_us() - t);
		nvtxRangePop();
	}
	std::sort(wall.begin(), wall.end());
	printf("steps,%d\nwall_us,%.1f\n", steps, wall[wall.size() / 2]);
	if (own)
		tell();
	return 0;
}
