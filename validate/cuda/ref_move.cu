/* ref_move.cu - kernels that touch each element once: elementwise, convert, concat, gather; and small ones by neighbour
 *
 * 128 threads, 16 bytes of the wider type a thread and step, as many CTAs as the elements need. The last part times an
 * add, a cast and a one-CTA sum of 1280 to 131072 elements after what ran before them: themselves (warm), a rotation
 * through cold memory, a producer that just wrote their input, and a device that slept. */
#include "bench.cuh"

enum { T = 128 };

enum op { ADD, EXP, GELU, SILU_MUL, WIDEN, NARROW };
static const char *const op_names[] = { "add", "exp", "gelu", "silu_mul", "bf16_to_f32", "f32_to_bf16" };

static __host__ __device__ __forceinline__ float apply(enum op op, float a, float b)
{
	switch (op) {
	case ADD:      return a + b;
	case EXP:      return expf(a);
	case GELU:     return 0.5f * a * (1 + erff(a * 0.70710678f));
	case SILU_MUL: return a / (1 + expf(-a)) * b;
	default:       return a;
	}
}

template <class V> __device__ __forceinline__ void read8(const V *p, float v[8]);
template <> __device__ __forceinline__ void read8(const float *p, float v[8])
{
	float4 a = ((const float4 *)p)[0], b = ((const float4 *)p)[1];
	v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w, v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
}
template <> __device__ __forceinline__ void read8(const __nv_bfloat16 *p, float v[8])
{
	uint4 x = *(const uint4 *)p;
	uint32_t w[4] = { x.x, x.y, x.z, x.w };
	for (int i = 0; i < 4; i++)
		v[2 * i] = __uint_as_float(w[i] << 16), v[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000u);
}
__device__ __forceinline__ void write8(float *p, const float v[8])
{
	((float4 *)p)[0] = make_float4(v[0], v[1], v[2], v[3]), ((float4 *)p)[1] = make_float4(v[4], v[5], v[6], v[7]);
}
__device__ __forceinline__ void write8(__nv_bfloat16 *p, const float v[8])
{
	uint4 x;
	*(__nv_bfloat162 *)&x.x = __floats2bfloat162_rn(v[0], v[1]), *(__nv_bfloat162 *)&x.y = __floats2bfloat162_rn(v[2], v[3]);
	*(__nv_bfloat162 *)&x.z = __floats2bfloat162_rn(v[4], v[5]), *(__nv_bfloat162 *)&x.w = __floats2bfloat162_rn(v[6], v[7]);
	*(uint4 *)p = x;
}

template <int OP, class I, class O> __global__ void __launch_bounds__(T) each(const I *a, const I *c, O *y, size_t n)
{
	size_t i = (blockIdx.x * (size_t)T + threadIdx.x) * 8;
	float v[8], w[8];
	if (i >= n)
		return;
	read8(a + i, v);
	if (OP == ADD || OP == SILU_MUL)
		read8(c + i, w);
	for (int j = 0; j < 8; j++)
		v[j] = apply((enum op)OP, v[j], w[j]);
	write8(y + i, v);
}

/* [rows][ca] and [rows][cc] side by side; 16-byte units. */
__global__ void __launch_bounds__(T) concat(const uint4 *a, const uint4 *c, uint4 *y, int rows, int ca, int cc)
{
	size_t i = blockIdx.x * (size_t)T + threadIdx.x;
	int w = ca + cc, r = (int)(i / w), col = (int)(i % w);
	if (r < rows)
		y[i] = col < ca ? a[(size_t)r * ca + col] : c[(size_t)r * cc + col - ca];
}

__global__ void __launch_bounds__(T) gather(const uint4 *table, const int *index, uint4 *y, int width)
{
	const uint4 *from = table + (size_t)index[blockIdx.x] * width;
	for (int c = threadIdx.x; c < width; c += T)
		y[(size_t)blockIdx.x * width + c] = from[c];
}

__global__ void __launch_bounds__(512) row_sum(const float *x, float *y, int n)
{
	__shared__ float part[16];
	float s = 0;
	for (int i = threadIdx.x * 4; i < n; i += 512 * 4) {
		float4 v = *(const float4 *)(x + i);
		s += v.x + v.y + v.z + v.w;
	}
	for (int o = 16; o; o /= 2)
		s += __shfl_xor_sync(~0u, s, o);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = s;
	__syncthreads();
	if (threadIdx.x < 16) {
		s = part[threadIdx.x];
		for (int o = 8; o; o /= 2)
			s += __shfl_xor_sync(0xffff, s, o);
		if (threadIdx.x == 0)
			*y = s;
	}
}

/* Writes what is there already, so that a check after it still holds. */
__global__ void __launch_bounds__(T) prep_produce(const uint4 *from, uint4 *to, size_t n)
{
	size_t i = blockIdx.x * (size_t)T + threadIdx.x;
	if (i < n)
		to[i] = from[i];
}

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
			bench_time(b, "gather", p, BENCH_WARM, [&](int) { take(0); });
		}
}

/* The period of producer and kernel, less the producer's own; by cupti the producer is left out by its name. */
template <class F, class P> static void after_producer(struct bench *b, const std::string &p, P produce, F body)
{
	std::vector<double> v;
	if (b->cupti)
		v = bench_cupti(b, BENCH_WARM, [&](int i) { produce(i), body(i); });
	else {
		std::vector<double> both = bench_slope(b, BENCH_WARM, [&](int i) { produce(i), body(i); });
		std::vector<double> one = bench_slope(b, BENCH_WARM, produce);
		std::sort(one.begin(), one.end());
		for (double t : both)
			v.push_back(t - one[one.size() / 2]);
	}
	bench_row(b, "small", p + ";state=producer", v, "us", b->cupti ? "cupti" : "slope");
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
			bench_time(b, "small", p, BENCH_WARM, [&](int) { at(0); });
			bench_time(b, "small", p, BENCH_COLD, [&](int i) { at(bench_slot(i, bytes, m->pool)); });
			bench_time(b, "small", p, BENCH_IDLE, [&](int) { at(0); });
			after_producer(b, p, [&](int) {
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
