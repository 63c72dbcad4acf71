/* ref_decode.cu - attention of one new token over a cache: KV split over CTAs, then a kernel that joins the parts
 *
 * The kernels are in decode.cuh; K and V are [kv head][length][d]. The time is both kernels together. */
#include "bench.cuh"
#include "decode.cuh"

template <int D, int G>
__global__ void __launch_bounds__(WARPS * 32) decode(const float *q, const uint4 *k, const uint4 *v, float *part, float *out,
                                                     int len, int each)
{
	const int first = blockIdx.x * each, head = blockIdx.y;
	decode_part<D, G>(q, k + (size_t)head * len * (D / 8), v + (size_t)head * len * (D / 8), part, out, head, first, min(len, first + each),
	                  [](int r) { return (size_t)r; });
}

struct bufs { char *k, *v; float *q, *part, *out; size_t pool; std::vector<float> hq; };

template <int D, int G> static void launch(struct bench *b, const struct bufs *m, size_t at, int heads, int len, int parts)
{
	int each = (len + parts - 1) / parts;
	decode<D, G><<<dim3(parts, heads), WARPS * 32, 0, b->s>>>(m->q, (uint4 *)(m->k + at), (uint4 *)(m->v + at), m->part, m->out, len, each);
	if (parts > 1)
		join<D><<<heads * G, D, 0, b->s>>>(m->part, m->out, parts);
}

template <int D, int G> static void check(struct bench *b, const struct bufs *m, const std::string &p, int heads, int len, int parts)
{
	std::vector<double> ref;
	CK(cudaMemsetAsync(m->out, 0xff, heads * G * D * 4, b->s));
	launch<D, G>(b, m, 0, heads, len, parts);
	CK(cudaStreamSynchronize(b->s));
	std::vector<float> out = bench_read(m->out, heads * G * D), got;
	/* First and last KV head: the rest is the same code at another offset; a NaN elsewhere is caught below. */
	for (int h = 0; h < heads; h += std::max(1, heads - 1)) {
		std::vector<float> k = bench_floats(bench_read((__nv_bfloat16 *)m->k + (size_t)h * len * D, (size_t)len * D));
		std::vector<float> v = bench_floats(bench_read((__nv_bfloat16 *)m->v + (size_t)h * len * D, (size_t)len * D));
		for (int g = 0; g < G; g++) {
			std::vector<double> s(len), a(D, 0.0);
			double top = -1e30, sum = 0;
			for (int r = 0; r < len; r++) {
				for (int d = 0; d < D; d++)
					s[r] += (double)m->hq[(h * G + g) * D + d] * k[(size_t)r * D + d];
				s[r] /= sqrt((double)D), top = std::max(top, s[r]);
			}
			for (int r = 0; r < len; r++) {
				double e = exp(s[r] - top);
				sum += e;
				for (int d = 0; d < D; d++)
					a[d] += e * v[(size_t)r * D + d];
			}
			for (int d = 0; d < D; d++)
				ref.push_back(a[d] / sum), got.push_back(out[(h * G + g) * D + d]);
		}
	}
	double all = 0;
	for (float f : out)
		all += f;
	if (std::isnan(all))
		got[0] = NAN;
	bench_check(b, "decode", p, got, ref, 1e-4);
}

template <int D, int G> static void shape(struct bench *b, const struct bufs *m, int heads, int len, int parts, bool also_warm)
{
	size_t bytes = (size_t)heads * len * D * 2;
	std::string p = bench_fmt("d=%d;q_heads=%d;kv_heads=%d;len=%d;parts=%d;ctas=%d;kv_bytes=%zu", D, heads * G, heads, len, parts,
	                          heads * parts, 2 * bytes);
	if (!b->cupti)
		check<D, G>(b, m, p, heads, len, parts);
	bench_as(b, bench_fmt("attn_decode_parts%d", parts).c_str(), bench_fmt("b=1,d=%d,h=%d,hk=%d,lk=%d,lq=1", D, heads * G, heads, len),
	         "aten::_scaled_dot_product_flash_attention", { { 1, heads * G, 1, D }, { 1, heads, len, D }, { 1, heads, len, D } },
	         "float,c10::BFloat16,c10::BFloat16", { "0.", "False", "False", "" });
	bench_time(b, "decode", p, BENCH_COLD, [&](int i) { launch<D, G>(b, m, bench_slot(i, bytes, m->pool), heads, len, parts); });
	if (also_warm && 2 * bytes < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, "decode", p, BENCH_WARM, [&](int) { launch<D, G>(b, m, 0, heads, len, parts); });
}

template <int D, int G> static void model(struct bench *b, const struct bufs *m, int heads)
{
	int sms = b->prop.multiProcessorCount;
	for (int len = 128; len <= (b->quick ? 1024 : 32768); len *= 2)
		for (int fill : { 0, 1, 2, 4 }) {
			/* One part, then about 1, 2 and 4 CTAs an SM, but no part below 32 rows. */
			int parts = fill ? std::min(len / 32, (sms * fill + heads - 1) / heads) : 1;
			shape<D, G>(b, m, heads, len, parts, true);
			if (fill && parts == len / 32)
				break;
		}
	/* CTA count at fixed bytes: where few CTAs cannot keep the memory busy. */
	if (!b->quick)
		for (int parts = 2; parts * heads <= 4 * sms; parts += parts < 24 ? 2 : 6)
			shape<D, G>(b, m, heads, 8192, parts, false);
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	bench_open(&b, argc, argv);
	m.pool = (size_t)(b.quick ? 256 : 1536) << 20;
	m.k = (char *)bench_alloc(m.pool), m.v = (char *)bench_alloc(m.pool);
	m.q = (float *)bench_alloc(64 * 128 * 4), m.out = (float *)bench_alloc(64 * 128 * 4);
	m.part = (float *)bench_alloc((size_t)64 * 1024 * 130 * 4);
	bench_fill_f32(&b, m.q, 64 * 128, 1);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.k, m.pool / 2, 2);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.v, m.pool / 2, 3);
	CK(cudaStreamSynchronize(b.s));
	m.hq = bench_read(m.q, 64 * 128);
	model<64, 4>(&b, &m, 8);
	model<128, 4>(&b, &m, 8);
	model<128, 1>(&b, &m, 10);
	return bench_close(&b);
}
