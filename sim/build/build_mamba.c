/* build_mamba.c - state spaces (Mamba, Mamba-2) and the short convolutions of LFM2: what stands in place of attention.
 *
 * One product makes all a token needs; a convolution of a few taps; a scan over a state of fixed size, which is read and written
 * once a step; a gate; a product back. Mamba's steps and its vectors into and out of the state come by two more products.
 * A state counts three passes of multiplications, as that of linear attention (build_linear.c): decay, update, result.
 * Source: A. Gu, T. Dao, Mamba (arXiv 2312.00752); T. Dao, A. Gu, Mamba-2 (arXiv 2405.21060); transformers,
 * modeling_{mamba,mamba2,jamba,lfm2}.py. */
#include "sim/build/build_int.h"

static uint32_t mamba_product(struct builder *b, enum scheme_class c, struct part x, uint64_t n, uint64_t k,
                              const char *name)
{
	return b_product(b, x, (struct gemm){ c, b->rows, n, k, NO_TENSOR, name, 0 });
}

/* Steps of all channels, and what goes into the state and comes out of it, of what was convolved. */
static uint32_t steps_of(struct builder *b, uint32_t x)
{
	const struct model_ssm *s = &b->m->ssm;
	const uint64_t width = s->rank + 2 * (uint64_t)s->state;
	const uint32_t all = mamba_product(b, SCHEME_ATTENTION, all_of(x), width, s->inner, "x");

	return mamba_product(b, SCHEME_ATTENTION, b_columns(b, all, b->rows, width, 0, s->rank), s->inner, s->rank,
	                     "dt");
}

uint32_t b_mamba(struct builder *b, uint32_t x)
{
	const struct model *m = b->m;
	const struct model_ssm *s = &m->ssm;
	const uint64_t width = model_ssm_width(m), in = model_ssm_rows(m), n = b->rows * s->inner;
	const uint32_t all = mamba_product(b, SCHEME_ATTENTION, all_of(x), in, m->hidden, "in");
	const struct part gate = b_columns(b, all, b->rows, in, 0, s->inner);
	uint32_t conv, y;

	conv = b_convolved(b, b_columns(b, all, b->rows, in, s->inner, width), width, s->conv, s->conv);
	y = b_scanned(b, (struct scan){ .x = conv,
	                                .gates = s->by_channel ? steps_of(b, conv) : all,
	                                .heads = s->by_channel ? 1 : s->heads,
	                                .n = s->by_channel ? s->inner : s->head_dim,
	                                .k = s->state,
	                                .state = s->wide ? DT_FP32 : m->dtype,
	                                .kernel = "_selective_scan_update_kernel" });
	y = b_each(b, B_MUL, n, false, all_of(y), all_of(b_each1(b, B_SILU, n, true, gate)));
	if (!s->by_channel && !s->no_norm)
		y = b_norm(b, all_of(y), b->rows, s->inner, "norm");
	return mamba_product(b, SCHEME_OUT, all_of(y), m->hidden, s->inner, "out");
}

uint32_t b_short_conv(struct builder *b, uint32_t x)
{
	const struct model *m = b->m;
	const uint64_t h = m->hidden, n = b->rows * h;
	const uint32_t all = mamba_product(b, SCHEME_ATTENTION, all_of(x), 3 * h, h, "in");
	uint32_t y = b_each(b, B_MUL, n, true, b_columns(b, all, b->rows, 3 * h, 0, h),
	                    b_columns(b, all, b->rows, 3 * h, 2 * h, h));

	y = b_convolved(b, all_of(y), h, m->ssm.conv, m->ssm.conv);
	y = b_each(b, B_MUL, n, true, all_of(y), b_columns(b, all, b->rows, 3 * h, h, h));
	return mamba_product(b, SCHEME_OUT, all_of(y), h, h, "out");
}
