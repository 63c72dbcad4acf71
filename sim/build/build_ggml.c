/* build_ggml.c - a decode step as llama.cpp's graph has it on a GPU: the `llamacpp` style.
 *
 * A node of the graph is a kernel: norms are two (the norm, the gain), products of quantised weights are preceded by a
 * quantisation of their activations to blocks of 8 bits and read the weights as they are stored; attention without -fa is
 * a product with all keys, a softmax, a product with all values and a copy, both products cuBLAS's; what is written into the cache is copied. One
 * warp row or four a CTA, a row of weights each, as mul_mat_vec_q has it for one token.
 * `llamacpp_fa` is the graph of 2025: flash attention over the cache, a norm and its gain in one kernel, a gate's activation and its
 * product in another (ggml-cuda/fattn.cu, norm.cu, unary.cu as of late 2025).
 * Leaves out: batches (their products are other kernels), layers of other kinds than full attention and windows.
 * Source: github.com/ggml-org/llama.cpp, ggml-cuda.cu, ggml-cuda/mmvq.cu, quantize.cu, softmax.cu, rope.cu, norm.cu and
 * llama.cpp's build_llama, as of May 2024. */
#include "sim/build/build_int.h"

static void launch(struct builder *b, const char *kernel, uint64_t x, uint64_t y, uint64_t z, uint32_t threads)
{
	const uint64_t grid[3] = { x, y, z };

	b_launch(b, kernel, grid, threads, 1, 40);
}

static bool flash(const struct builder *b)
{
	return b->h->style == BUILD_LLAMACPP_FA;
}

/* Elementwise over all of x (and y), 256 elements a CTA. */
static uint32_t build_ggml_each(struct builder *b, enum bop what, uint64_t n, uint32_t x, uint32_t y,
                                const char *kernel)
{
	const enum dtype d = b->m->dtype;
	const uint32_t to = b_make(b, d, n);

	b_op(b, what, d, d)->shape = (struct op_shape){ .elems = n, .arity = y == NO_TENSOR ? 1 : 2 };
	b_read(b, all_of(x));
	if (y != NO_TENSOR)
		b_read(b, all_of(y));
	b_write(b, all_of(to));
	k_flat(b, kernel, n, 256, 256);
	return to;
}

static uint32_t norm(struct builder *b, uint32_t x, uint64_t rows, uint64_t cols, const char *name)
{
	const enum dtype d = b->m->dtype;
	const uint32_t gain = b_vector(b, cols, name), y = b_make(b, d, rows * cols);

	b_op(b, B_RMS, d, d)->shape = (struct op_shape){ .rows = rows, .cols = cols };
	b_read(b, all_of(x));
	if (flash(b))
		b_read(b, all_of(gain));
	b_write(b, all_of(y));
	launch(b, "rms_norm_f32", rows, 1, 1, cols < 1024 ? 32 : 1024);
	return flash(b) ? y
	                : build_ggml_each(b, B_MUL, rows * cols, y, gain, "k_bin_bcast<op_mul, float, float, float>");
}

/* --- products ------------------------------------------------------------------------------------------------------- */

static uint32_t activations(struct builder *b, uint32_t x, uint64_t n)
{
	uint32_t y;

	b_op(b, B_QUANT, b->m->dtype, DT_INT8)->shape = (struct op_shape){ .elems = n, .arity = 1 };
	y = b_make(b, DT_INT8, n + n / 32 * 4);
	b_read(b, all_of(x));
	b_write(b, all_of(y));
	k_flat(b, "quantize_q8_1", n, 256, 256);
	return y;
}

/* `experts` of a route's picks, 0: no experts. */
static uint32_t build_ggml_product(struct builder *b, uint32_t x, enum scheme_class c, uint64_t n, uint64_t k,
                                   const char *name)
{
	const struct scheme_format *f = scheme_format_of(b->h->quant, c, b->layer, b->m->layers);
	const uint32_t w = b_weight(b, c, n, k, name);
	const bool quantised = f->block > 0;
	uint32_t y;

	x = quantised ? activations(b, x, k) : x;
	/* Integers of blocks are multiplied as bytes. */
	b_op(b, B_PRODUCT, quantised ? DT_INT8 : b->m->dtype, b->m->dtype)->shape =
		(struct op_shape){ .batch = 1, .m = 1, .n = n, .k = k, .strided = true };
	if (!b->failed) {
		b->s->ops[b->s->n_ops - 1].family = "gemv";
		b->s->ops[b->s->n_ops - 1].rule = "ggml_vector";
	}
	y = b_make(b, b->m->dtype, n);
	b_read(b, all_of(x));
	b_read(b, all_of(w));
	b_write(b, all_of(y));
	if (quantised)
		launch(b, "mul_mat_vec_q<1>", n, 1, 1, 128);
	else if (flash(b))
		launch(b, "mul_mat_vec<half>", n, 1, 1, 128);
	else
		launch(b, "dequantize_mul_mat_vec<1, 1, convert_f16>", n, 1, 1, 32);
	return y;
}

static uint32_t biased(struct builder *b, uint32_t x, enum scheme_class c, uint64_t n, const char *name,
                       const char *bias)
{
	const uint32_t y = build_ggml_product(b, x, c, n, b->m->hidden, name);

	return b->m->qkv_bias ? build_ggml_each(b, B_ADD, n, y, b_vector(b, n, bias),
	                                        "k_bin_bcast<op_add, float, float, float>")
	                      : y;
}

/* --- attention ------------------------------------------------------------------------------------------------------- */

static uint32_t rope(struct builder *b, uint32_t x, uint64_t n)
{
	const enum dtype d = b->m->dtype;
	const uint32_t y = b_make(b, d, n);

	b_op(b, B_ROPE, d, d)->shape = (struct op_shape){ .elems = n, .arity = 2 };
	b_read(b, all_of(x));
	b_read(b, all_of(b->cos));
	b_write(b, all_of(y));
	k_flat(b, "rope_norm<float>", n, 512, 256);
	return y;
}

static uint32_t cached(struct builder *b, uint32_t x, uint64_t row, uint64_t room, const char *name)
{
	const enum dtype kv = b->h->kv;
	const uint64_t from = b->old_len < room - 1 ? b->old_len : room - 1;
	const uint32_t cache = b_there(b, OP_KV, kv, b_bytes(kv, room * row), 1, name);

	b_op(b, B_CACHE, b->m->dtype, kv)->shape = (struct op_shape){ .elems = row };
	b_read(b, all_of(x));
	b_write(b, b_lines(b, cache, row, from, 1));
	k_flat(b, "cpy_f32_f16<cpy_1_f32_f16>", row, 64, 64);
	return cache;
}

/* Where heads share keys the library is given addresses, three a head. */
static void addresses(struct builder *b)
{
	const uint64_t n = 3 * (uint64_t)b->m->heads, grid[3] = { 1, 1, 1 };

	b_op(b, B_ARANGE, DT_INT64, DT_INT64)->shape = (struct op_shape){ .elems = n };
	b_write(b, all_of(b_make_role(b, OP_INDEX, DT_INT64, n)));
	b_launch(b, "k_compute_batched_ptrs", grid, b->m->heads < 1024 ? b->m->heads : 1024, 1, 24);
}

/* A product of each head with what of the cache is filled: cuBLAS's, batched, between conversions to 16 bits and back. */
static uint32_t over_cache(struct builder *b, uint32_t x, uint32_t cache, uint64_t n, uint64_t k)
{
	const uint64_t heads = b->m->heads, row = (uint64_t)b->m->kv_heads * b->m->head_dim;
	const uint64_t keys = b_tensor(b, cache)->bytes < b_bytes(b->h->kv, b->kv_len * row) ? b->m->window : b->kv_len;
	struct part seen = all_of(cache);
	uint32_t y;

	x = build_ggml_each(b, B_PATCH, heads * k, x, NO_TENSOR, "convert_unary<float, half>");
	if (b->m->heads != b->m->kv_heads)
		addresses(b);
	seen.touched = b_bytes(b->h->kv, keys * row);
	b_op(b, B_PRODUCT, b->m->dtype, b->m->dtype)->shape =
		(struct op_shape){ .batch = heads, .m = 1, .n = n, .k = k, .strided = true };
	y = b_make(b, b->m->dtype, heads * n);
	b_read(b, all_of(x));
	b_read(b, seen);
	b_write(b, all_of(y));
	k_unknown(b, b_rows[B_PRODUCT].kernel);
	return build_ggml_each(b, B_PATCH, heads * n, y, NO_TENSOR, "convert_unary<half, float>");
}

/* Keys and values once, split over the SMs: the library's own flash attention, as FlashAttention lays it out. */
static uint32_t flash_attention(struct builder *b, uint32_t q, uint32_t k, uint32_t v, uint64_t keys)
{
	const struct model *m = b->m;
	const enum dtype d = m->dtype;
	const uint64_t n = (uint64_t)m->heads * m->head_dim,
		       seen = b_bytes(b->h->kv, keys * (uint64_t)m->kv_heads * m->head_dim);
	struct part from[2] = { all_of(k), all_of(v) };
	uint32_t y;

	b_op(b, B_ATTENTION, d, d)->shape = (struct op_shape){ .batch = 1,
		                                               .heads = m->heads,
		                                               .kv_heads = m->kv_heads,
		                                               .q_len = 1,
		                                               .kv_len = keys,
		                                               .head_dim = m->head_dim,
		                                               .v_dim = m->head_dim };
	y = b_make(b, d, n);
	b_read(b, all_of(q));
	for (int i = 0; i < 2; i++) {
		from[i].touched = seen;
		b_read(b, from[i]);
	}
	b_write(b, all_of(y));
	k_unknown(b, b_rows[B_ATTENTION].kernel);
	return y;
}

static uint32_t build_ggml_attention(struct builder *b, uint32_t x, uint32_t layer)
{
	const struct model *m = b->m;
	const uint64_t q_n = (uint64_t)m->heads * m->head_dim, row = (uint64_t)m->kv_heads * m->head_dim;
	const uint64_t all = b->h->context + b->h->tokens;
	const uint64_t room = m->layer[layer] == MODEL_SLIDING && m->window < all ? m->window : all;
	const uint64_t keys = b->kv_len < room ? b->kv_len : room;
	const enum dtype d = m->dtype;
	uint32_t q = biased(b, x, SCHEME_ATTENTION, q_n, "q", "q.bias"),
		 k = biased(b, x, SCHEME_ATTENTION, row, "k", "k.bias");
	uint32_t v = biased(b, x, SCHEME_VALUE, row, "v", "v.bias"), p, y;

	if (m->head_norms) {
		q = norm(b, q, m->heads, m->head_dim, "q.norm");
		k = norm(b, k, m->kv_heads, m->head_dim, "k.norm");
	}
	q = rope(b, q, q_n);
	k = cached(b, rope(b, k, row), row, room, "k");
	v = cached(b, v, row, room, "v");
	if (flash(b))
		return build_ggml_product(b, flash_attention(b, q, k, v, keys), SCHEME_OUT, m->hidden, q_n, "o");
	p = over_cache(b, q, k, keys, m->head_dim);
	b_op(b, B_SOFTMAX, d, d)->shape = (struct op_shape){ .rows = m->heads, .cols = keys };
	y = b_make(b, d, m->heads * keys);
	b_read(b, all_of(p));
	b_write(b, all_of(y));
	launch(b, "soft_max_f32<true, 0, 0>", m->heads, 1, 1, keys < 1024 ? 256 : 1024);
	y = over_cache(b, y, v, m->head_dim, keys);
	y = build_ggml_each(b, B_PATCH, q_n, y, NO_TENSOR, "cpy_f32_f16<cpy_1_f32_f32>");
	return build_ggml_product(b, y, SCHEME_OUT, m->hidden, q_n, "o");
}

static uint32_t mlp(struct builder *b, uint32_t x)
{
	const struct model *m = b->m;
	const enum bop act = m->act == MODEL_GELU ? B_GELU : B_SILU;
	uint32_t gate = build_ggml_product(b, x, SCHEME_MLP, m->inter, m->hidden, "gate");
	uint32_t up = build_ggml_product(b, x, SCHEME_MLP, m->inter, m->hidden, "up");

	if (flash(b))
		return build_ggml_product(
			b, build_ggml_each(b, B_ACT_MUL, m->inter, gate, up, "unary_gated_op_kernel<op_silu>"),
			SCHEME_DOWN, m->hidden, m->inter, "down");
	gate = build_ggml_each(b, act, m->inter, gate, NO_TENSOR, "unary_op_kernel<op_silu>");
	gate = build_ggml_each(b, B_MUL, m->inter, gate, up, "k_bin_bcast<op_mul, float, float, float>");
	return build_ggml_product(b, gate, SCHEME_DOWN, m->hidden, m->inter, "down");
}

uint32_t b_ggml_layer(struct builder *b, uint32_t x, uint32_t layer)
{
	const uint64_t n = b->m->hidden;
	uint32_t y = build_ggml_attention(b, norm(b, x, 1, n, "attention.norm"), layer);

	x = build_ggml_each(b, B_ADD, n, x, y, "k_bin_bcast<op_add, float, float, float>");
	y = mlp(b, norm(b, x, 1, n, "mlp.norm"));
	return build_ggml_each(b, B_ADD, n, x, y, "k_bin_bcast<op_add, float, float, float>");
}

void b_ggml_head(struct builder *b, uint32_t x)
{
	build_ggml_product(b, norm(b, x, 1, b->m->hidden, "norm"), SCHEME_HEAD, b->m->vocab, b->m->hidden, "head");
}

int b_ggml_check(const struct model *m, const struct build_how *h, struct err *e)
{
	const char *what = h->phase != BUILD_DECODE             ? "a prompt"
	                   : h->batch > 1                       ? "a batch"
	                   : m->moe.experts                     ? "experts"
	                   : m->mla.kv_rank                     ? "latent attention"
	                   : m->out_gate || model_has_states(m) ? "gated or linear attention, or state spaces"
	                   : m->block != MODEL_BEFORE           ? "norms behind blocks, and no blocks beside each other"
	                   : m->arch->layer_norm                ? "layer norms"
	                   : m->arch->plain_mlp                 ? "MLPs without a gate"
	                   : m->scale_block                     ? "multiplied blocks"
	                   : m->arch->no_rope_full || m->no_rope ? "layers that do not rotate"
	                                                         : NULL;

	return what ? err_set(e, ERR_USAGE, "style %s has no %s: it is a decode step of one sequence of a dense model",
	                      build_style_name(h->style), what)
	            : 0;
}
