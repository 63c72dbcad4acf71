/* micro_graph.cu - what stands between kernels: chains under a CUDA graph, in a stream, and launched by a waiting host
 *
 * Part one: chains of one kernel each, by kernel and size. Part two: a chain like the dense layers of a decode step
 * (norm, product, add, product, add, norm, product, gate, product, add). Weights that rotate, or are each layer's own,
 * are cold: the L2 is overwritten before each chain.
 * Rows, for a chain of n launches:
 *   graph_wall, graph_node   event pair around a replay behind a spinning kernel; the slope between two lengths
 *   graph_host               the host's clock from the graph's launch to the end of its wait, nothing before it
 *   stream_node              slope in a stream, the host far ahead behind a spinning kernel
 *   eager_wall, eager_call   nothing hides the host: wall time to the end of the wait, and the time in launch calls,
 *                            both by the launch
 * With --cupti, by activity record: graph_kernel, graph_gap (start of a node less the end of the one before), and the same
 * for a stream behind a spinning kernel and for an eager one; mixed chains also by position in the layer. */
#include <ctime>

#include "bench.cuh"
#include "gemv.cuh"
#include "move.cuh"
#include "rows.cuh"

__global__ void nothing(void) { }

static double host_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* Bodies i = 0..n-1 make `per` launches each. */
template <class F> static void walls(struct bench *b, const std::string &p, enum bench_state state, const std::vector<int> &bodies, int per, F body)
{
	std::vector<std::vector<double>> spin(bodies.size()), host(bodies.size());
	std::vector<double> node, mhz;

	for (size_t j = 0; j < bodies.size(); j++) {
		cudaGraphExec_t g = bench_graph(b, bodies[j], body);
		bench_replay(b, g, state);
		for (int r = 0; r < b->reps; r++) {
			spin[j].push_back(bench_replay(b, g, state));
			if (state == BENCH_COLD)
				bench_flush(b);
			CK(cudaStreamSynchronize(b->s));
			double t = host_us();
			CK(cudaGraphLaunch(g, b->s));
			CK(cudaStreamSynchronize(b->s));
			host[j].push_back(host_us() - t);
			mhz.push_back(bench_clock(b));
		}
		CK(cudaGraphExecDestroy(g));
		std::string at = p + bench_fmt(";n=%d", bodies[j] * per);
		bench_row(b, "graph_wall", at, spin[j], "us", "event");
		bench_row(b, "graph_host", at, host[j], "us", "host");
	}
	for (int r = 0; r < b->reps; r++)
		node.push_back((spin.back()[r] - spin.front()[r]) / ((bodies.back() - bodies.front()) * per));
	bench_row(b, "graph_node", p, node, "us", "slope");
	bench_row(b, "graph_clock", p, mhz, "MHz", "timer");

	std::vector<double> stream, wall, call;
	for (int r = 0; r < b->reps; r++) {
		double t[2], n = 0;
		for (int j = 0; j < 2; j++) {
			if (state == BENCH_COLD)
				bench_flush(b);
			/* Long enough for the host to queue all; the queue holds about a thousand. */
			bench_spin(b, 1500);
			CK(cudaEventRecord(b->e0, b->s));
			int count = j ? bodies.back() : bodies.front();
			for (int i = 0; i < count; i++)
				body(i);
			CK(cudaEventRecord(b->e1, b->s));
			t[j] = bench_event_us(b), n += (j ? 1 : -1) * count * per;
		}
		stream.push_back((t[1] - t[0]) / n);
		if (state == BENCH_COLD)
			bench_flush(b);
		CK(cudaStreamSynchronize(b->s));
		double t0 = host_us();
		for (int i = 0; i < bodies.back(); i++)
			body(i);
		double t1 = host_us();
		CK(cudaStreamSynchronize(b->s));
		wall.push_back((host_us() - t0) / (bodies.back() * per)), call.push_back((t1 - t0) / (bodies.back() * per));
	}
	std::string at = p + bench_fmt(";n=%d", bodies.back() * per);
	bench_row(b, "stream_node", p, stream, "us", "slope");
	bench_row(b, "eager_wall", at, wall, "us", "host");
	bench_row(b, "eager_call", at, call, "us", "host");
}

/* Durations and gaps of what was launched since the reset, by position in the body when asked. */
static void record(struct bench *b, const char *how, const std::string &p, int per, bool positions, const char *const *names)
{
	std::vector<struct bench_launch> l = bench_launches(b);
	std::vector<std::vector<double>> us(per), gap(per);
	std::vector<double> all, gaps;

	for (size_t i = 0; i < l.size(); i++) {
		us[i % per].push_back((l[i].end_ns - l[i].start_ns) * 1e-3);
		all.push_back(us[i % per].back());
		/* The first of a replay stands after a wait; so does one behind a flush. */
		if (i == 0 || l[i].start_ns > l[i - 1].end_ns + 30000)
			continue;
		gap[i % per].push_back(((double)l[i].start_ns - (double)l[i - 1].end_ns) * 1e-3);
		gaps.push_back(gap[i % per].back());
	}
	std::string name = how;
	bench_row(b, (name + "_kernel").c_str(), p, all, "us", "cupti");
	bench_row(b, (name + "_gap").c_str(), p, gaps, "us", "cupti");
	for (int i = 0; positions && i < per; i++) {
		std::string at = p + bench_fmt(";at=%d;kernel=%s", i, names[i]);
		bench_row(b, (name + "_kernel_at").c_str(), at, us[i], "us", "cupti");
		bench_row(b, (name + "_gap_before").c_str(), at, gap[i], "us", "cupti");
	}
}

template <class F> static void records(struct bench *b, const std::string &p, enum bench_state state, int bodies, int per, bool positions, const char *const *names, F body)
{
	cudaGraphExec_t g = bench_graph(b, bodies, body);

	bench_replay(b, g, state);
	bench_seen_reset(b);
	for (int r = 0; r < 3; r++)
		bench_replay(b, g, state);
	record(b, "graph", p, per, positions, names);
	CK(cudaGraphExecDestroy(g));
	bench_seen_reset(b);
	for (int r = 0; r < 3; r++) {
		if (state == BENCH_COLD)
			bench_flush(b);
		bench_spin(b, 1500);
		for (int i = 0; i < bodies; i++)
			body(i);
		CK(cudaStreamSynchronize(b->s));
	}
	record(b, "stream", p, per, positions, names);
	if (state == BENCH_COLD)
		bench_flush(b);
	bench_seen_reset(b);
	for (int i = 0; i < bodies; i++)
		body(i);
	record(b, "eager", p, per, false, names);
}

template <class F> static void chain(struct bench *b, const std::string &p, enum bench_state state, const std::vector<int> &bodies, int per,
                                     const char *const *names, F body)
{
	body(0);
	CK(cudaStreamSynchronize(b->s));
	if (b->once)
		return;
	if (b->cupti)
		records(b, p + bench_fmt(";n=%d", bodies[bodies.size() / 2] * per), state, bodies[bodies.size() / 2], per, names != NULL, names, body);
	else
		walls(b, p, state, bodies, per, body);
}

struct bufs { char *w; size_t pool; float *a, *c, *y; __nv_bfloat16 *x; };

static void product(struct bench *b, const struct bufs *m, size_t at, int n, int k)
{
	gemv<w_bf16><<<(n + WARPS - 1) / WARPS, WARPS * 32, 0, b->s>>>((uint4 *)(m->w + at), m->x, (uint4 *)m->x, m->y, n, k, k / 8);
}

static void add_all(struct bench *b, const struct bufs *m, size_t n)
{
	each<ADD, float, float><<<(unsigned)((n / 8 + T - 1) / T), T, 0, b->s>>>(m->a, m->c, m->y, n);
}

static void alike(struct bench *b, const struct bufs *m)
{
	const std::vector<int> n = { 20, 50, 100, 200 };

	for (int grid : { 1, b->prop.multiProcessorCount, 4 * b->prop.multiProcessorCount })
		chain(b, bench_fmt("kernel=empty;grid=%d;block=128", grid), BENCH_WARM, n, 1, NULL, [&](int) { nothing<<<grid, 128, 0, b->s>>>(); });
	for (size_t e : { 1280ul, 16384ul, 65536ul, 262144ul, 1ul << 20, 4ul << 20, 16ul << 20 })
		chain(b, bench_fmt("kernel=add_f32;elements=%zu", e), BENCH_WARM, n, 1, NULL, [&](int) { add_all(b, m, e); });
	for (int e : { 1280, 4096, 16384, 65536, 131072 })
		chain(b, bench_fmt("kernel=row_sum_f32;elements=%d", e), BENCH_WARM, n, 1, NULL, [&](int) { row_sum<<<1, 512, 0, b->s>>>(m->a, m->y, e); });
	for (int cols : { 1280, 4096, 16384 })
		for (int rows : { 1, 64 })
			chain(b, bench_fmt("kernel=rmsnorm_f32;rows=%d;cols=%d", rows, cols), BENCH_WARM, n, 1, NULL,
			      [&](int) { rmsnorm<float, float, 256><<<rows, 256, 0, b->s>>>(m->a, m->c, m->y, cols); });
	for (int k : { 512, 1280, 2048, 4096, 8192 })
		for (int rows : { 512, 2048, 8192 }) {
			size_t bytes = (size_t)rows * k * 2;
			std::string p = bench_fmt("kernel=gemv_bf16;n_rows=%d;k=%d", rows, k);
			if (bytes < (size_t)b->prop.l2CacheSize / 2)
				chain(b, p + ";weights=warm", BENCH_WARM, n, 1, NULL, [&](int) { product(b, m, 0, rows, k); });
			chain(b, p + ";weights=rotate", BENCH_COLD, n, 1, NULL, [&](int i) { product(b, m, bench_slot(i, bytes, m->pool), rows, k); });
		}
}

static void layers(struct bench *b, const struct bufs *m)
{
	static const char *const names[] = { "rmsnorm", "gemv_qkv", "add", "gemv_o", "add", "rmsnorm", "gemv_gate_up", "silu_mul", "gemv_down", "add" };

	for (int h : { 512, 1280, 2048, 4096 }) {
		int inner = h * 11 / 4;
		size_t qkv = (size_t)3 * h * h * 2, o = (size_t)h * h * 2, up = (size_t)2 * inner * h * 2, down = (size_t)h * inner * 2;
		for (int same = 0; same < 2; same++)
			chain(b, bench_fmt("kernel=layer;hidden=%d;inner=%d;weights=%s;weight_bytes=%zu", h, inner, same ? "same" : "own", qkv + o + up + down),
			      same ? BENCH_WARM : BENCH_COLD, { 2, 5, 10, 20 }, 10, names, [&](int i) {
				size_t at = same ? 0 : bench_slot(i, qkv + o + up + down, m->pool);
				rmsnorm<float, float, 256><<<1, 256, 0, b->s>>>(m->a, m->c, m->y, h);
				product(b, m, at, 3 * h, h);
				add_all(b, m, 3 * h);
				product(b, m, at + qkv, h, h);
				add_all(b, m, h);
				rmsnorm<float, float, 256><<<1, 256, 0, b->s>>>(m->a, m->c, m->y, h);
				product(b, m, at + qkv + o, 2 * inner, h);
				each<SILU_MUL, float, float><<<(inner / 8 + T - 1) / T, T, 0, b->s>>>(m->a, m->c, m->y, inner);
				product(b, m, at + qkv + o + up, h, inner);
				add_all(b, m, h);
			});
	}
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	const size_t most = 16 << 20;

	bench_open(&b, argc, argv);
	m.pool = (size_t)(b.quick ? 512 : 3072) << 20;
	m.w = (char *)bench_alloc(m.pool);
	m.a = (float *)bench_alloc(most * 4), m.c = (float *)bench_alloc(most * 4), m.y = (float *)bench_alloc(most * 4);
	m.x = (__nv_bfloat16 *)bench_alloc((size_t)32768 * 2);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.w, m.pool / 2, 1);
	bench_fill_f32(&b, m.a, most, 2), bench_fill_f32(&b, m.c, most, 3), bench_fill_bf16(&b, m.x, 32768, 4);
	alike(&b, &m);
	layers(&b, &m);
	return bench_close(&b);
}
