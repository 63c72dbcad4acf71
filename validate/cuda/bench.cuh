/* bench.cuh - what the GPU measurements share: timing of kernels, checked results, CSV rows
 *
 * A measurement is a row `name,params,reps,min,median,max,unit,method` on stdout; a check is a line PASS or FAIL on
 * stderr, and one FAIL makes the exit code 1. Three ways to time a kernel of about a microsecond, named in `method`:
 *
 *   slope  a graph of n1 and one of n2 dependent nodes, (t(n2) - t(n1)) / (n2 - n1) by an event pair around each
 *          replay: the period of a node, that is its duration plus the gap to the next. A spinning kernel in front
 *          hides the host. Cold: the caller gives each node another buffer and the L2 is overwritten by reading.
 *   cupti  start and end of each launch as the driver's activity records say it (the times a Kineto trace shows).
 *          With --cupti only; the other methods are then skipped, since tracing slows launches.
 *   event  a pair of events around one launch: for work of 100 us and more, where its 2 us do not matter.
 *   clock  clock64 inside the kernel; SM clocks.
 *   timer  globaltimer inside the kernel; its step is measured by micro_latency.
 *
 * --trace FILE with --cupti also writes the first launches of each case as a Kineto-style trace (bench_trace.cu), which
 * `npusim trace import` reads. --once runs each case once, between the profiler's start and stop marks, and its row says
 * how many kernels that were: for a counter collector around the program.
 *
 * The program is C with kernels: no classes, one struct bench that its main owns. */
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CK(call) do { \
	cudaError_t ck_ = (call); \
	if (ck_ != cudaSuccess) { \
		fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(ck_)); \
		exit(4); \
	} } while (0)

enum bench_state {
	BENCH_WARM,     /* same buffers each time: in L2 if they fit */
	BENCH_COLD,     /* buffers of the caller rotate, L2 holds others' lines */
	BENCH_IDLE,     /* same buffers, but the device slept before (cupti only) */
};

struct bench {
	cudaStream_t s;
	cudaEvent_t e0, e1;
	cudaDeviceProp prop;
	bool cupti, quick, once;
	bool clocks;            /* a second row a case: the SM clock right behind it */
	const char *trace;      /* file of --trace, or NULL */
	int reps, passes, fails;
	uint4 *flush;
	size_t flush_bytes;
	uint32_t *sink;         /* where kernels may put what the compiler must not drop */
};

void bench_open(struct bench *b, int argc, char **argv);
int bench_close(struct bench *b);       /* the program's exit code */

std::string bench_fmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void bench_row(struct bench *b, const char *name, const std::string &params, std::vector<double> v, const char *unit,
               const char *method);
/* |got - ref| / |ref| in the 2-norm against tol; not-a-number, or an element nobody wrote, never passes */
void bench_check(struct bench *b, const char *name, const std::string &params, const std::vector<float> &got,
                 const std::vector<double> &ref, double tol);

void *bench_alloc(size_t bytes);
/* Random, because timing on zeros flatters (power) and hides wrong indices. Uniform in [-1, 1). */
void bench_fill_f32(struct bench *b, float *p, size_t n, uint32_t seed);
void bench_fill_bf16(struct bench *b, __nv_bfloat16 *p, size_t n, uint32_t seed);
void bench_fill_f16(struct bench *b, __half *p, size_t n, uint32_t seed);
void bench_fill_bytes(struct bench *b, void *p, size_t n, uint32_t seed, uint32_t mask);
void bench_flush(struct bench *b);              /* leaves the L2 full of clean lines of something else */
void bench_spin(struct bench *b, int us);       /* holds the stream while the host queues what follows */
double bench_event_us(struct bench *b);         /* e0 to e1, after waiting for e1 */

/* SM clock of the 10 us behind what is in the stream, MHz; waits for it. */
double bench_clock(struct bench *b);

struct bench_launch {
	uint64_t start_ns, end_ns;
	std::string name;
	int grid[3], block[3], cluster[3], threads, smem, regs;
	uint32_t correlation, stream, context;
	uint64_t bytes;         /* copies and sets */
};
std::vector<struct bench_launch> bench_launches(struct bench *b);      /* cupti: in order of start */
/* cupti: forget what was seen; durations in us of launches since, kernels named prep_* left out */
void bench_seen_reset(struct bench *b);
std::vector<double> bench_seen(struct bench *b);

/* What the next cases are in a trace: the annotation's KIND and SHAPE (a warm case's kind gets _warm), and the framework
 * op the kernel stands for with its tensors' dims, their type (or one each, by commas), and what follows the tensors. An
 * empty op: no op, so the launch is opaque to a reader. Without a call, KIND is the row's name and SHAPE its params. */
void bench_as(struct bench *b, const char *kind, const std::string &shape, const char *op,
              const std::vector<std::vector<long>> &dims, const char *type,
              const std::vector<std::string> &scalars = std::vector<std::string>());
/* One repetition of a case in the trace: host times, by the clock of the activity records. */
struct bench_span { uint64_t start_ns, end_ns; };
uint64_t bench_host_ns(void);
void bench_trace_case(struct bench *b, const char *name, const std::string &params, enum bench_state state,
                      const std::vector<struct bench_span> &spans);
struct bench_call { uint64_t start_ns, end_ns; uint32_t correlation, thread; };
std::vector<struct bench_call> bench_calls(struct bench *b);           /* launches' host side, with --trace */
void bench_trace_close(struct bench *b);

__device__ __forceinline__ unsigned long long bench_ns(void)
{
	unsigned long long t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t) :: "memory");
	return t;
}

template <class T> std::vector<T> bench_read(const T *dev, size_t n)
{
	std::vector<T> v(n);
	CK(cudaMemcpy(v.data(), dev, n * sizeof(T), cudaMemcpyDeviceToHost));
	return v;
}

static inline std::vector<float> bench_floats(const std::vector<float> &v) { return v; }
static inline std::vector<float> bench_floats(const std::vector<__nv_bfloat16> &v)
{
	std::vector<float> f(v.size());
	for (size_t i = 0; i < v.size(); i++)
		f[i] = __bfloat162float(v[i]);
	return f;
}

static inline std::vector<float> bench_floats(const std::vector<__half> &v)
{
	std::vector<float> f(v.size());
	for (size_t i = 0; i < v.size(); i++)
		f[i] = __half2float(v[i]);
	return f;
}

/* Slot i of a pool that buffers of the given size rotate through; 512 keeps every load aligned. */
static inline size_t bench_slot(int i, size_t bytes, size_t pool)
{
	size_t step = (bytes + 511) / 512 * 512;
	size_t slots = pool / step;
	return slots ? (size_t)i % slots * step : 0;
}

template <class F> cudaGraphExec_t bench_graph(struct bench *b, int n, F body)
{
	cudaGraph_t g;
	cudaGraphExec_t x;
	CK(cudaStreamBeginCapture(b->s, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < n; i++)
		body(i);
	CK(cudaStreamEndCapture(b->s, &g));
	CK(cudaGraphInstantiate(&x, g, 0));
	CK(cudaGraphDestroy(g));
	return x;
}

static inline double bench_replay(struct bench *b, cudaGraphExec_t x, enum bench_state state)
{
	if (state == BENCH_COLD)
		bench_flush(b);
	bench_spin(b, 40);
	CK(cudaEventRecord(b->e0, b->s));
	CK(cudaGraphLaunch(x, b->s));
	CK(cudaEventRecord(b->e1, b->s));
	return bench_event_us(b);
}

/* Period of one body(i), us, one value a repetition; a body may be several launches. */
template <class F> std::vector<double> bench_slope(struct bench *b, enum bench_state state, F body, std::vector<double> *mhz = NULL)
{
	const int n1 = 8;
	cudaGraphExec_t g1 = bench_graph(b, n1, body);
	double t = bench_replay(b, g1, state);
	t = bench_replay(b, g1, state);
	int n2 = n1 + (int)std::min(96.0, std::max(8.0, 1500.0 * n1 / t));
	cudaGraphExec_t g2 = bench_graph(b, n2, body);
	std::vector<double> v;

	bench_replay(b, g2, state);
	for (int r = 0; r < b->reps; r++) {
		double t1 = bench_replay(b, g1, state);
		double t2 = bench_replay(b, g2, state);
		v.push_back((t2 - t1) / (n2 - n1));
		if (mhz)
			mhz->push_back(bench_clock(b));
	}
	CK(cudaGraphExecDestroy(g1));
	CK(cudaGraphExecDestroy(g2));
	return v;
}

/* Durations by activity record; a sample is the sum over one body's launches. */
template <class F> std::vector<double> bench_cupti(struct bench *b, enum bench_state state, F body, std::vector<struct bench_span> *spans = NULL)
{
	const int each = state == BENCH_IDLE ? 1 : 6;
	std::vector<double> v, seen;
	int bodies = 0;

	body(0);
	CK(cudaStreamSynchronize(b->s));
	bench_seen_reset(b);
	for (int r = 0; r < b->reps; r++) {
		if (state == BENCH_IDLE) {
			struct timespec ts = { 0, 3000000 };
			CK(cudaStreamSynchronize(b->s));
			nanosleep(&ts, NULL);
		} else {
			if (state == BENCH_COLD)
				bench_flush(b);
			bench_spin(b, 60);
		}
		for (int i = 0; i < each; i++, bodies++) {
			uint64_t from = spans ? bench_host_ns() : 0;
			body(i);
			if (spans && i == each - 1)
				spans->push_back({ from, bench_host_ns() });
		}
	}
	seen = bench_seen(b);
	if (seen.empty() || seen.size() % bodies)
		return v;
	size_t per = seen.size() / bodies;
	for (size_t i = 0; i < seen.size(); i += per) {
		double sum = 0;
		for (size_t j = 0; j < per; j++)
			sum += seen[i + j];
		v.push_back(sum);
	}
	return v;
}

/* Once, and how many kernels that are. */
template <class F> double bench_one(struct bench *b, enum bench_state state, F body)
{
	cudaGraph_t g;
	size_t n = 0;
	int kernels = 0;

	body(0);
	CK(cudaStreamBeginCapture(b->s, cudaStreamCaptureModeThreadLocal));
	body(0);
	CK(cudaStreamEndCapture(b->s, &g));
	CK(cudaGraphGetNodes(g, NULL, &n));
	std::vector<cudaGraphNode_t> nodes(n);
	CK(cudaGraphGetNodes(g, nodes.data(), &n));
	for (cudaGraphNode_t node : nodes) {
		cudaGraphNodeType t;
		CK(cudaGraphNodeGetType(node, &t));
		kernels += t == cudaGraphNodeTypeKernel;
	}
	CK(cudaGraphDestroy(g));
	if (state == BENCH_COLD)
		bench_flush(b);
	CK(cudaStreamSynchronize(b->s));
	CK(cudaProfilerStart());
	body(0);
	CK(cudaStreamSynchronize(b->s));
	CK(cudaProfilerStop());
	return kernels;
}

/* One row for body(i) in the method this run uses. */
template <class F> void bench_time(struct bench *b, const char *name, const std::string &params, enum bench_state state,
                                   F body)
{
	static const char *const words[] = { "warm", "cold", "idle" };
	std::string p = params + ";state=" + words[state];
	std::vector<double> mhz;
	std::vector<struct bench_span> spans;

	CK(cudaGetLastError());
	if (b->once) {
		if (state != BENCH_IDLE)
			bench_row(b, name, p, std::vector<double>(1, bench_one(b, state, body)), "kernels", "once");
	} else if (b->cupti) {
		bench_row(b, name, p, bench_cupti(b, state, body, b->trace && state != BENCH_IDLE ? &spans : NULL), "us", "cupti");
		if (!spans.empty())
			bench_trace_case(b, name, params, state, spans);
	} else if (state != BENCH_IDLE) {
		bench_row(b, name, p, bench_slope(b, state, body, b->clocks ? &mhz : NULL), "us", "slope");
		if (!mhz.empty())
			bench_row(b, (std::string(name) + "_clock").c_str(), p, mhz, "MHz", "timer");
	}
	CK(cudaGetLastError());
}

/* The same behind a producer that just wrote the input: the period of both less the producer's own; by activity record
 * the producer is left out by its name, prep_*. */
template <class F, class P> void bench_time_after(struct bench *b, const char *name, const std::string &params, P produce, F body)
{
	std::vector<double> v;

	if (b->once)
		return;
	if (b->cupti)
		v = bench_cupti(b, BENCH_WARM, [&](int i) { produce(i), body(i); });
	else {
		std::vector<double> both = bench_slope(b, BENCH_WARM, [&](int i) { produce(i), body(i); });
		std::vector<double> one = bench_slope(b, BENCH_WARM, produce);
		std::sort(one.begin(), one.end());
		for (double t : both)
			v.push_back(t - one[one.size() / 2]);
	}
	bench_row(b, name, params + ";state=producer", v, "us", b->cupti ? "cupti" : "slope");
}
