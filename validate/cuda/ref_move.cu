/* ref_move.cu - kernels that touch each element once: elementwise, convert, concat, gather; and small ones by neighbour
 *
 * The kernels are in move.cuh. The last part times an add, a cast and a one-CTA sum of 1280 to 131072 elements after
 * what ran before them: themselves (warm), a rotation through cold memory, a producer that just wrote their input, and a
 * device that slept. */
#include "bench.cuh"
#include "move.cuh"

struct bufs { char *a, *c, *y; int *index; size_t pool; };

template <int OP, class I, class O> static void launch(struct bench *b, const struct bufs *m, size_t at, size_t n)
{
	each<OP, I, O><<<(unsigned)((n / 8 + T - 1) / T), T, 0, b->s>>>((I *)(m->a + at), (I *)(m->c + at), (O *)(m->y + at), n);
}

template <int OP, class I, class O> static void shape(struct bench *b, const struct bufs *m, const char *type, size_t n, double tol)
{
	size_t bytes = n * std::max(sizeof(I), sizeof(O));
	std::string p = bench_fmt("op=%s;type=%s;n=%zu", op_names[OP], type, n);
	size_t look = std::min(n, (size_t)65536), from = n - look;
	std::vector<double> ref;

	CK(cudaMemsetAsync(m->y, 0xff, n * sizeof(O), b->s));
	launch<OP, I, O>(b, m, 0, n);
	CK(cudaStreamSynchronize(b->s));
	std::vector<float> a = bench_floats(bench_read((I *)m->a + from, look)), c = bench_floats(bench_read((I *)m->c + from, look));
	for (size_t i = 0; i < look; i++)
		ref.push_back(apply((enum op)OP, a[i], c[i]));
	bench_check(b, "each", p, bench_floats(bench_read((O *)m->y + from, look)), ref, tol);
	static const char *const aten[] = { "aten::add", "aten::exp", "aten::gelu", "npusim::silu_mul", "aten::copy_", "aten::copy_" };
	const bool two = OP == ADD || OP == SILU_MUL, cast = OP == WIDEN || OP == NARROW;
	const std::string in = sizeof(I) == 2 ? "c10::BFloat16" : "float", to = sizeof(O) == 2 ? "c10::BFloat16" : "float";
	bench_as(b, bench_fmt("each_%s_%s", op_names[OP], sizeof(I) == 2 ? "bf16" : "fp32").c_str(), bench_fmt("n=%zu", n), aten[OP],
	         std::vector<std::vector<long>>(two || cast ? 2 : 1, { (long)n }), (cast ? to + "," + in : in).c_str(),
	         OP == ADD ? std::vector<std::string>{ "1" } : cast ? std::vector<std::string>{ "False" } : std::vector<std::string>());
	bench_time(b, "each", p, BENCH_COLD, [&](int i) { launch<OP, I, O>(b, m, bench_slot(i, bytes, m->pool), n); });
	if (bytes * 2 < (size_t)b->prop.l2CacheSize)
		bench_time(b, "each", p, BENCH_WARM, [&](int) { launch<OP, I, O>(b, m, 0, n); });
}

static void moves(struct bench *b, const struct bufs *m)
{
	for (int rows : { 1, 32, 256, 2048 })
		for (int cols : { 128, 1024, 4096 }) {
			int unit = cols / 8, one = std::max(unit / 8, 1);      /* a cache and a short tail, bf16 */
			size_t bytes = (size_t)rows * (unit + one) * 16;
			std::string p = bench_fmt("rows=%d;cols=%d+%d;type=bf16", rows, cols, one * 8);
			auto cat = [&](size_t at) {
				concat<<<(unsigned)((bytes / 16 + T - 1) / T), T, 0, b->s>>>((uint4 *)(m->a + at), (uint4 *)(m->c + at), (uint4 *)(m->y + at), rows, unit, one);
			};
			CK(cudaMemsetAsync(m->y, 0xff, bytes, b->s));
			cat(0);
			CK(cudaStreamSynchronize(b->s));
			std::vector<float> a = bench_floats(bench_read((__nv_bfloat16 *)m->a, (size_t)rows * cols));
			std::vector<float> c = bench_floats(bench_read((__nv_bfloat16 *)m->c, (size_t)rows * one * 8));
			std::vector<double> ref;
			for (int r = 0; r < rows; r++) {
				ref.insert(ref.end(), a.begin() + (size_t)r * cols, a.begin() + (size_t)(r + 1) * cols);
				ref.insert(ref.end(), c.begin() + (size_t)r * one * 8, c.begin() + (size_t)(r + 1) * one * 8);
			}
			bench_check(b, "concat", p, bench_floats(bench_read((__nv_bfloat16 *)m->y, ref.size())), ref, 0);
			bench_as(b, "concat_bf16", bench_fmt("rows=%d,a=%d,b=%d", rows, cols, one * 8), "aten::cat", { { rows, cols }, { rows, one * 8 } }, "",
			         { "1" });
			bench_time(b, "concat", p, BENCH_COLD, [&](int i) { cat(bench_slot(i, bytes, m->pool)); });
			bench_time(b, "concat", p, BENCH_WARM, [&](int) { cat(0); });

			size_t table = m->pool / (size_t)(unit * 16);
			std::vector<int> at(rows);
			std::vector<double> want;
			for (int r = 0; r < rows; r++) {
				at[r] = (int)((r * 2654435761ull + 12345) % table);
				std::vector<float> row = bench_floats(bench_read((__nv_bfloat16 *)m->a + (size_t)at[r] * cols, cols));
				want.insert(want.end(), row.begin(), row.end());
			}
			CK(cudaMemcpy(m->index, at.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
			auto take = [&](size_t o) { gather<<<rows, T, 0, b->s>>>((uint4 *)m->a, m->index, (uint4 *)(m->y + o), unit); };
			p = bench_fmt("rows=%d;cols=%d;type=bf16;table=%zu", rows, cols, table);
			CK(cudaMemsetAsync(m->y, 0xff, (size_t)rows * unit * 16, b->s));
			take(0);
			CK(cudaStreamSynchronize(b->s));
			bench_check(b, "gather", p, bench_floats(bench_read((__nv_bfloat16 *)m->y, want.size())), want, 0);
			bench_as(b, "gather_rows_bf16", bench_fmt("cols=%d,n=%zu,rows=%d", cols, table, rows), "aten::embedding",
			         { { (long)table, cols }, { rows } }, "c10::BFloat16,long int", { "-1", "False", "False" });
			bench_time(b, "gather", p, BENCH_WARM, [&](int) { take(0); });
		}
}

static void neighbours(struct bench *b, const struct bufs *m)
{
	for (int n : { 1280, 4096, 16384, 65536, 131072 })
		for (int kind = 0; kind < 3; kind++) {
			static const char *const names[] = { "add_f32", "cast_bf16_f32", "row_sum_f32" };
			size_t bytes = (size_t)n * 4, in = kind == 1 ? bytes / 2 : bytes;
			std::string p = bench_fmt("kernel=%s;n=%d", names[kind], n);
			auto at = [&](size_t o) {
				if (kind == 0)
					launch<ADD, float, float>(b, m, o, n);
				else if (kind == 1)
					launch<WIDEN, __nv_bfloat16, float>(b, m, o, n);
				else
					row_sum<<<1, 512, 0, b->s>>>((float *)(m->a + o), (float *)(m->y + o), n);
			};
			if (kind == 2) {
				at(0);
				CK(cudaStreamSynchronize(b->s));
				double s = 0;
				for (float f : bench_read((float *)m->a, n))
					s += f;
				bench_check(b, "small", p, bench_read((float *)m->y, 1), std::vector<double>(1, s), 1e-4);
			}
			bench_as(b, bench_fmt("neighbour_%s", names[kind]).c_str(), bench_fmt("n=%d", n),
			         kind == 0 ? "aten::add" : kind == 1 ? "aten::copy_" : "aten::sum",
			         kind == 2 ? std::vector<std::vector<long>>{ { 1, n } } : std::vector<std::vector<long>>(2, { n }),
			         kind == 1 ? "float,c10::BFloat16" : "float",
			         kind == 0 ? std::vector<std::string>{ "1" } : kind == 1 ? std::vector<std::string>{ "False" } : std::vector<std::string>{ "[-1]", "False", "" });
			bench_time(b, "small", p, BENCH_WARM, [&](int) { at(0); });
			bench_time(b, "small", p, BENCH_COLD, [&](int i) { at(bench_slot(i, bytes, m->pool)); });
			bench_time(b, "small", p, BENCH_IDLE, [&](int) { at(0); });
			bench_time_after(b, "small", p, [&](int) {
				prep_produce<<<(unsigned)((in / 16 + T - 1) / T), T, 0, b->s>>>((uint4 *)m->a, (uint4 *)m->a, in / 16);
			}, [&](int) { at(0); });
		}
}

template <class I, class O> static void sizes(struct bench *b, const struct bufs *m, const char *type, bool cast)
{
	for (size_t n : { 1280ul, 4096ul, 16384ul, 65536ul, 131072ul, 262144ul, 1ul << 20, 4ul << 20, 16ul << 20, 64ul << 20 }) {
		if (b->quick && n > 1 << 20)
			break;
		double tol = sizeof(O) == 2 ? 4e-3 : 1e-6;
		if (cast) {
			if (sizeof(I) == 2)
				shape<WIDEN, I, O>(b, m, type, n, 0);
			else
				shape<NARROW, I, O>(b, m, type, n, tol);
			continue;
		}
		shape<ADD, I, O>(b, m, type, n, tol);
		shape<EXP, I, O>(b, m, type, n, tol);
		shape<GELU, I, O>(b, m, type, n, tol);
		shape<SILU_MUL, I, O>(b, m, type, n, tol);
	}
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	bench_open(&b, argc, argv);
	m.pool = (size_t)(b.quick ? 512 : 2048) << 20;
	m.a = (char *)bench_alloc(m.pool), m.c = (char *)bench_alloc(m.pool), m.y = (char *)bench_alloc(m.pool);
	m.index = (int *)bench_alloc(4096 * 4);
	bench_fill_f32(&b, (float *)m.a, m.pool / 4, 1);
	bench_fill_f32(&b, (float *)m.c, m.pool / 4, 2);
	sizes<float, float>(&b, &m, "f32", false);
	sizes<float, __nv_bfloat16>(&b, &m, "f32->bf16", true);
	neighbours(&b, &m);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.a, m.pool / 2, 1);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.c, m.pool / 2, 2);
	sizes<__nv_bfloat16, __nv_bfloat16>(&b, &m, "bf16", false);
	sizes<__nv_bfloat16, float>(&b, &m, "bf16->f32", true);
	moves(&b, &m);
	return bench_close(&b);
}
