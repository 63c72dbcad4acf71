/* bench.cu - see bench.cuh */
#include "bench.cuh"

#include <ctime>
#ifdef BENCH_CUPTI
#include <cupti.h>
#endif

__global__ void prep_spin(unsigned long long ns)
{
	unsigned long long end = bench_ns() + ns;
	while (bench_ns() < end)
		;
}

__global__ void prep_clock(unsigned long long ns, double *mhz)
{
	unsigned long long t0, t1, c0;
	/* From a step of the timer to a step of the timer. */
	for (t1 = bench_ns(); (t0 = bench_ns()) == t1; )
		;
	c0 = clock64();
	while ((t1 = bench_ns()) < t0 + ns)
		;
	*mhz = (clock64() - c0) * 1e3 / (double)(t1 - t0);
}

__global__ void prep_flush(const uint4 *p, size_t n, uint32_t *sink)
{
	uint32_t x = 0;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		x ^= __ldcg(p + i).x;
	if (x == 0x12345678)
		*sink = x;
}

static __device__ __forceinline__ uint32_t hash(uint64_t i, uint32_t seed)
{
	uint32_t h = (uint32_t)(i ^ (i >> 32)) * 0x9E3779B1u + seed * 0x85EBCA77u;
	h ^= h >> 15, h *= 0x2C1B3C6Du, h ^= h >> 12, h *= 0x297A2D39u, h ^= h >> 15;
	return h;
}

__global__ void prep_fill_f32(float *p, size_t n, uint32_t seed)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		p[i] = (int32_t)hash(i, seed) * 0x1p-31f;
}

__global__ void prep_fill_bf16(__nv_bfloat16 *p, size_t n, uint32_t seed)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		p[i] = __float2bfloat16((int32_t)hash(i, seed) * 0x1p-31f);
}

__global__ void prep_fill_f16(__half *p, size_t n, uint32_t seed)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		p[i] = __float2half((int32_t)hash(i, seed) * 0x1p-31f);
}

__global__ void prep_fill_bytes(uint32_t *p, size_t n, uint32_t seed, uint32_t mask)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		p[i] = hash(i, seed) & mask;
}

#ifdef BENCH_CUPTI
/* The activity library calls back without a handle of ours, so what it saw is file-scope. */
static std::vector<struct bench_launch> seen;
static std::vector<struct bench_call> calls;

#define CKP(call) do { \
	CUptiResult r_ = (call); \
	if (r_ != CUPTI_SUCCESS) { \
		const char *s_ = NULL; \
		cuptiGetResultString(r_, &s_); \
		fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, s_ ? s_ : "?"); \
		exit(4); \
	} } while (0)

static void CUPTIAPI buffer_ask(uint8_t **buf, size_t *size, size_t *max)
{
	*size = 4 << 20;
	*buf = (uint8_t *)aligned_alloc(8, *size);
	*max = 0;
}

static void CUPTIAPI buffer_done(CUcontext, uint32_t, uint8_t *buf, size_t, size_t valid)
{
	CUpti_Activity *r = NULL;
	while (valid && cuptiActivityGetNextRecord(buf, valid, &r) == CUPTI_SUCCESS) {
		if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)r;
			if (!strstr(k->name, "prep_"))
				seen.push_back({k->start, k->end, k->name, {k->gridX, k->gridY, k->gridZ}, {k->blockX, k->blockY, k->blockZ},
				                {(int)k->clusterX, (int)k->clusterY, (int)k->clusterZ}, k->blockX * k->blockY * k->blockZ,
				                k->staticSharedMemory + k->dynamicSharedMemory, k->registersPerThread, k->correlationId, k->streamId,
				                k->contextId, 0});
		} else if (r->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
			const CUpti_ActivityMemset4 *m = (const CUpti_ActivityMemset4 *)r;
			seen.push_back({m->start, m->end, "memset", {}, {}, {}, 0, 0, 0, m->correlationId, m->streamId, m->contextId, m->bytes});
		} else if (r->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
			const CUpti_ActivityMemcpy6 *m = (const CUpti_ActivityMemcpy6 *)r;
			if (m->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
				seen.push_back({m->start, m->end, "memcpy", {}, {}, {}, 0, 0, 0, m->correlationId, m->streamId, m->contextId, m->bytes});
		} else if (r->kind == CUPTI_ACTIVITY_KIND_RUNTIME || r->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
			const CUpti_ActivityAPI *c = (const CUpti_ActivityAPI *)r;
			calls.push_back({c->start, c->end, c->correlationId, c->threadId});
		}
	}
	free(buf);
}

static void cupti_start(bool trace)
{
	CKP(cuptiActivityRegisterCallbacks(buffer_ask, buffer_done));
	CKP(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	CKP(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	CKP(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	if (trace) {
		CKP(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
		CKP(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	}
}

uint64_t bench_host_ns(void)
{
	uint64_t t = 0;
	CKP(cuptiGetTimestamp(&t));
	return t;
}

std::vector<struct bench_call> bench_calls(struct bench *b)
{
	CK(cudaStreamSynchronize(b->s));
	CKP(cuptiActivityFlushAll(0));
	return calls;
}

void bench_seen_reset(struct bench *b)
{
	CK(cudaStreamSynchronize(b->s));
	CKP(cuptiActivityFlushAll(0));
	seen.clear(), calls.clear();
}

std::vector<struct bench_launch> bench_launches(struct bench *b)
{
	CK(cudaStreamSynchronize(b->s));
	CKP(cuptiActivityFlushAll(0));
	/* Records of one stream may come in any order. */
	std::sort(seen.begin(), seen.end(), [](const bench_launch &x, const bench_launch &y) { return x.start_ns < y.start_ns; });
	return seen;
}
#else
static void cupti_start(bool)
{
	fprintf(stderr, "built without CUPTI: --cupti is not possible\n");
	exit(2);
}
uint64_t bench_host_ns(void) { return 0; }
std::vector<struct bench_call> bench_calls(struct bench *) { return std::vector<struct bench_call>(); }
void bench_seen_reset(struct bench *) { }
std::vector<struct bench_launch> bench_launches(struct bench *) { return std::vector<struct bench_launch>(); }
#endif

std::vector<double> bench_seen(struct bench *b)
{
	std::vector<double> us;
	for (const struct bench_launch &k : bench_launches(b))
		us.push_back((k.end_ns - k.start_ns) * 1e-3);
	return us;
}

void bench_open(struct bench *b, int argc, char **argv)
{
	memset((void *)b, 0, sizeof *b);
	b->reps = 9;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--cupti"))
			b->cupti = true;
		else if (!strcmp(argv[i], "--quick"))
			b->quick = true, b->reps = 3;
		else if (!strcmp(argv[i], "--once"))
			b->once = true;
		else if (!strcmp(argv[i], "--trace") && i + 1 < argc)
			b->trace = argv[++i];
		else
			fprintf(stderr, "usage: %s [--cupti [--trace FILE] | --once] [--quick]\n", argv[0]), exit(2);
	}
	if ((b->trace && !b->cupti) || (b->once && b->cupti))
		fprintf(stderr, "%s: --trace goes with --cupti, --once without\n", argv[0]), exit(2);
	if (b->cupti)
		cupti_start(b->trace);
	CK(cudaGetDeviceProperties(&b->prop, 0));
	CK(cudaStreamCreateWithFlags(&b->s, cudaStreamNonBlocking));
	CK(cudaEventCreate(&b->e0));
	CK(cudaEventCreate(&b->e1));
	b->flush_bytes = std::max((size_t)256 << 20, (size_t)4 * b->prop.l2CacheSize);
	b->flush = (uint4 *)bench_alloc(b->flush_bytes);
	b->sink = (uint32_t *)bench_alloc(4096);
	bench_fill_bytes(b, b->flush, b->flush_bytes, 7, ~0u);
	printf("name,params,reps,min,median,max,unit,method\n");
	/* A cold device runs at its idle clock: some 100 ms of work before the first number. */
	for (int i = 0; i < 1500; i++)
		bench_flush(b);
	CK(cudaStreamSynchronize(b->s));
}

int bench_close(struct bench *b)
{
	CK(cudaStreamSynchronize(b->s));
	CK(cudaGetLastError());
	bench_trace_close(b);
	if (b->passes + b->fails)
		fprintf(stderr, "%d passed, %d failed\n", b->passes, b->fails);
	return b->fails != 0;
}

std::string bench_fmt(const char *fmt, ...)
{
	char buf[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof buf, fmt, ap);
	va_end(ap);
	return buf;
}

void bench_row(struct bench *, const char *name, const std::string &params, std::vector<double> v, const char *unit,
               const char *method)
{
	if (v.empty()) {
		fprintf(stderr, "no samples: %s %s\n", name, params.c_str());
		return;
	}
	std::sort(v.begin(), v.end());
	size_t n = v.size();
	double med = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	printf("%s,%s,%zu,%.5g,%.5g,%.5g,%s,%s\n", name, params.c_str(), n, v[0], med, v[n - 1], unit, method);
	fflush(stdout);
}

void bench_check(struct bench *b, const char *name, const std::string &params, const std::vector<float> &got,
                 const std::vector<double> &ref, double tol)
{
	double d = 0, r = 0;
	bool ok = got.size() == ref.size();
	for (size_t i = 0; ok && i < got.size(); i++) {
		d += (got[i] - ref[i]) * (got[i] - ref[i]);
		r += ref[i] * ref[i];
	}
	double err = r > 0 ? sqrt(d / r) : sqrt(d);
	ok = ok && err <= tol;          /* false for a NaN */
	*(ok ? &b->passes : &b->fails) += 1;
	fprintf(stderr, "%s %s %s n=%zu err=%.3g tol=%.3g\n", ok ? "PASS" : "FAIL", name, params.c_str(), got.size(), err, tol);
}

void *bench_alloc(size_t bytes)
{
	void *p;
	CK(cudaMalloc(&p, bytes));
	/* Bytes of 0xff are a NaN in every float format: what nobody writes fails its check. */
	CK(cudaMemset(p, 0xff, bytes));
	CK(cudaDeviceSynchronize());
	return p;
}

void bench_fill_f32(struct bench *b, float *p, size_t n, uint32_t seed) { prep_fill_f32<<<1024, 256, 0, b->s>>>(p, n, seed); }
void bench_fill_bf16(struct bench *b, __nv_bfloat16 *p, size_t n, uint32_t seed)
{
	prep_fill_bf16<<<1024, 256, 0, b->s>>>(p, n, seed);
}
void bench_fill_f16(struct bench *b, __half *p, size_t n, uint32_t seed) { prep_fill_f16<<<1024, 256, 0, b->s>>>(p, n, seed); }
void bench_fill_bytes(struct bench *b, void *p, size_t n, uint32_t seed, uint32_t mask)
{
	prep_fill_bytes<<<1024, 256, 0, b->s>>>((uint32_t *)p, n / 4, seed, mask);
}
void bench_flush(struct bench *b)
{
	prep_flush<<<b->prop.multiProcessorCount * 4, 512, 0, b->s>>>(b->flush, b->flush_bytes / 16, b->sink);
}
void bench_spin(struct bench *b, int us) { prep_spin<<<1, 1, 0, b->s>>>(us * 1000ull); }
double bench_clock(struct bench *b)
{
	prep_clock<<<1, 1, 0, b->s>>>(10000, (double *)(b->sink + 64));
	CK(cudaStreamSynchronize(b->s));
	return bench_read((double *)(b->sink + 64), 1)[0];
}
double bench_event_us(struct bench *b)
{
	float ms;
	CK(cudaEventSynchronize(b->e1));
	CK(cudaEventElapsedTime(&ms, b->e0, b->e1));
	return ms * 1e3;
}
