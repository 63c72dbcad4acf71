/* device.cu - what the numbers beside it were measured on: `key: value` lines */
#include <cuda_runtime.h>

#include <cstdio>
#include <ctime>

int main(void)
{
	cudaDeviceProp p;
	int driver = 0, runtime = 0, mhz = 0, mem = 0;
	time_t now = time(NULL);
	char day[32];

	if (cudaGetDeviceProperties(&p, 0) != cudaSuccess)
		return fprintf(stderr, "no CUDA device\n"), 4;
	cudaDriverGetVersion(&driver);
	cudaRuntimeGetVersion(&runtime);
	cudaDeviceGetAttribute(&mhz, cudaDevAttrClockRate, 0);
	cudaDeviceGetAttribute(&mem, cudaDevAttrMemoryClockRate, 0);
	strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
	printf("device: %s\ncompute_capability: %d.%d\ndate: %s\n", p.name, p.major, p.minor, day);
	printf("cuda_driver_api: %d\ncuda_runtime: %d\n", driver, runtime);
	printf("sm_count: %d\nl2_bytes: %d\nmemory_bytes: %zu\nmemory_bus_bits: %d\n", p.multiProcessorCount, p.l2CacheSize,
	       p.totalGlobalMem, p.memoryBusWidth);
	printf("sm_clock_max_khz: %d\nmemory_clock_max_khz: %d\n", mhz, mem);
	printf("smem_per_sm_bytes: %zu\nsmem_per_block_optin_bytes: %zu\n", p.sharedMemPerMultiprocessor, p.sharedMemPerBlockOptin);
	printf("registers_per_sm: %d\nthreads_per_sm: %d\nblocks_per_sm: %d\n", p.regsPerMultiprocessor,
	       p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);
	return 0;
}
