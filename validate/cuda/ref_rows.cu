/* ref_rows.cu - kernels that reduce rows: rms-norm, softmax, sum, argmax; one CTA a row, or one warp for short rows
 *
 * The kernels are in rows.cuh. Cold rotates input and output through a pool. */
#include "bench.cuh"
#include "rows.cuh"

enum { CTA = 256 };

enum op { RMSNORM, SOFTMAX, SUM, ARGMAX };
static const char *const op_names[] = { "rmsnorm", "softmax", "sum", "argmax" };

struct bufs { char *x, *y; void *g; size_t pool; };

static double want(enum op op, const float *x, const float *g, int cols, std::vector<double> *out)
{
	double s = 0, m = x[0];
	int at = 0;
	for (int c = 0; c < cols; c++)
		if (x[c] > m)
			m = x[c], at = c;
	for (int c = 0; c < cols; c++)
		s += op == RMSNORM ? (double)x[c] * x[c] : op == SOFTMAX ? exp(x[c] - m) : (double)x[c];
	if (op == SUM)
		return s;
	if (op == ARGMAX)
		return at;
	for (int c = 0; c < cols; c++)
		out->push_back(op == RMSNORM ? x[c] * (double)g[c] / sqrt(s / cols + 1e-6) : exp(x[c] - m) / s);
	return 0;
}

template <class T, int THREADS> static void launch(struct bench *b, enum op op, const T *x, const T *g, T *y, int rows, int cols)
{
	switch (op) {
	case RMSNORM: rmsnorm<T, T, THREADS><<<rows, THREADS, 0, b->s>>>(x, g, y, cols); break;
	case SOFTMAX: softmax<T, T, THREADS><<<rows, THREADS, 0, b->s>>>(x, g, y, cols); break;
	case SUM:     sum<T, T, THREADS><<<rows, THREADS, 0, b->s>>>(x, g, y, cols); break;
	case ARGMAX:  argmax<T, T, THREADS><<<rows, THREADS, 0, b->s>>>(x, g, y, cols); break;
	}
}

template <class T, int THREADS> static void shape(struct bench *b, const struct bufs *m, enum op op, const char *type, int rows, int cols)
{
	size_t bytes = (size_t)rows * cols * sizeof(T);
	bool whole = op == RMSNORM || op == SOFTMAX;
	std::string p = bench_fmt("op=%s;type=%s;rows=%d;cols=%d;threads=%d", op_names[op], type, rows, cols, THREADS);
	auto at = [&](size_t o) { launch<T, THREADS>(b, op, (T *)(m->x + o), (T *)m->g, (T *)(m->y + o), rows, cols); };

	CK(cudaMemsetAsync(m->y, 0xff, std::max(bytes, (size_t)rows * 4), b->s));
	at(0);
	CK(cudaStreamSynchronize(b->s));
	std::vector<float> g = bench_floats(bench_read((T *)m->g, cols)), got;
	std::vector<double> ref;
	for (int i = 0; i < std::min(rows, 8); i++) {
		int r = rows > 8 ? (int)((size_t)i * (rows - 1) / 7) : i;
		std::vector<float> x = bench_floats(bench_read((T *)m->x + (size_t)r * cols, cols));
		double one = want(op, x.data(), g.data(), cols, &ref);
		if (whole) {
			std::vector<float> y = bench_floats(bench_read((T *)m->y + (size_t)r * cols, cols));
			got.insert(got.end(), y.begin(), y.end());
		} else {
			ref.push_back(one), got.push_back(bench_read((float *)m->y + r, 1)[0]);
		}
	}
	bench_check(b, "rows", p, got, ref, whole && sizeof(T) == 2 ? 4e-3 : op == ARGMAX ? 0 : 1e-4);
	static const char *const aten[] = { "aten::rms_norm", "aten::_softmax", "aten::sum", "aten::argmax" };
	std::vector<std::vector<long>> dims = { { rows, cols } };
	std::vector<std::string> rest = { op == SUM ? "[-1]" : "-1", "False" };
	if (op == RMSNORM)
		dims = { { rows, cols }, {}, { cols } }, rest = { "" };
	else if (op == SUM)
		rest.push_back("");
	bench_as(b, bench_fmt("rows_%s_%s", op_names[op], type).c_str(), bench_fmt("cols=%d,rows=%d,threads=%d", cols, rows, THREADS), aten[op],
	         dims, sizeof(T) == 2 ? "c10::BFloat16" : "float", rest);
	bench_time(b, "rows", p, BENCH_WARM, [&](int) { at(0); });
	bench_time(b, "rows", p, BENCH_COLD, [&](int i) { at(bench_slot(i, std::max(bytes, (size_t)rows * 4), m->pool)); });
}

template <class T> static void type(struct bench *b, const struct bufs *m, const char *name)
{
	const size_t most_elements = 1 << 24;
	for (enum op op : { RMSNORM, SOFTMAX, SUM, ARGMAX })
		for (int rows : { 1, 8, 64, 512, 4096 })
			for (int cols : { 128, 256, 1024, 1280, 2048, 4096, 8192, 16384, 32768, 131072 }) {
				if ((size_t)rows * cols > most_elements || (b->quick && (cols > 2048 || rows > 64)))
					continue;
				if (cols <= 1024)
					shape<T, 32>(b, m, op, name, rows, cols);
				if (cols >= 1024)
					shape<T, CTA>(b, m, op, name, rows, cols);
				if (cols >= 8192 && rows <= 64)
					shape<T, 1024>(b, m, op, name, rows, cols);
			}
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	bench_open(&b, argc, argv);
	m.pool = (size_t)(b.quick ? 256 : 1024) << 20;
	m.x = (char *)bench_alloc(m.pool), m.y = (char *)bench_alloc(m.pool);
	m.g = bench_alloc(131072 * 4);
	bench_fill_f32(&b, (float *)m.x, m.pool / 4, 1);
	bench_fill_f32(&b, (float *)m.g, 131072, 2);
	type<float>(&b, &m, "f32");
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.x, m.pool / 2, 1);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.g, 131072, 2);
	type<__nv_bfloat16>(&b, &m, "bf16");
	return bench_close(&b);
}
