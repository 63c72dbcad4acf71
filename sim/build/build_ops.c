/* build_ops.c - the ops there are, and those that every block is made of. Kind, family, rule and function of a row are
 * those that configs/rules gives a kernel of this name, so that patterns, kernel tables and error classes know it. */
#include <string.h>

#include "sim/build/build_int.h"

const struct op_row b_rows[BOPS] = {
	[B_EMBED] = { OP_EMBED, "embedding", "embedding", "", OP_COST_MOVE, 0, "indexSelectSmallIndex" },
	[B_CONVERT] = { OP_CONVERT, "convert", "convert", "convert", OP_COST_MOVE, 0, "" },
	[B_MUL] = { OP_ELEMENTWISE, "elementwise", "mul", "mul", OP_COST_ALU, 0, "BinaryFunctor<MulFunctor>" },
	[B_SCALE] = { OP_ELEMENTWISE, "elementwise", "mul", "mul", OP_COST_ALU, 0, "AUnaryFunctor<MulFunctor>" },
	[B_ADD] = { OP_ELEMENTWISE, "elementwise", "add", "add", OP_COST_ALU, 0, "CUDAFunctor_add" },
	[B_ADD_SCALAR] = { OP_ELEMENTWISE, "elementwise", "add", "add", OP_COST_ALU, 0, "CUDAFunctorOnSelf_add" },
	[B_SQUARE] = { OP_ELEMENTWISE, "elementwise", "square", "pow", OP_COST_ALU, 0,
	               "pow_tensor_scalar_kernel_impl" },
	[B_RSQRT] = { OP_ELEMENTWISE, "elementwise", "rsqrt", "rsqrt", OP_COST_SFU, 0, "rsqrt_kernel_cuda" },
	[B_NEG] = { OP_ELEMENTWISE, "elementwise", "neg", "neg", OP_COST_MOVE, 0, "neg_kernel_cuda" },
	[B_SILU] = { OP_ELEMENTWISE, "elementwise", "silu", "silu", OP_COST_ACT, 0, "silu_kernel" },
	[B_GELU] = { OP_ELEMENTWISE, "elementwise", "gelu", "gelu", OP_COST_ACT, 0, "GeluCUDAKernelImpl" },
	[B_RELU] = { OP_ELEMENTWISE, "elementwise", "clamp", "clamp", OP_COST_ALU, 0, "relu_kernel" },
	[B_SIGMOID] = { OP_ELEMENTWISE, "elementwise", "activation", "sigmoid", OP_COST_ACT, 0, "sigmoid_kernel_cuda" },
	[B_TANH] = { OP_ELEMENTWISE, "elementwise", "sfu", "tanh", OP_COST_SFU, 0, "tanh_kernel_cuda" },
	[B_COS] = { OP_ELEMENTWISE, "elementwise", "sfu", "cos", OP_COST_SFU, 0, "cos_kernel_cuda" },
	[B_SIN] = { OP_ELEMENTWISE, "elementwise", "sfu", "sin", OP_COST_SFU, 0, "sin_kernel_cuda" },
	[B_DIV] = { OP_ELEMENTWISE, "elementwise", "div", "div", OP_COST_DIV, 0, "BinaryFunctor<DivFunctor>" },
	[B_FILL] = { OP_ELEMENTWISE, "fill", "fill", "fill", OP_COST_MOVE, 0, "FillFunctor" },
	[B_ARANGE] = { OP_ELEMENTWISE, "arange", "arange", "arange", OP_COST_ALU, 0, "elementwise_kernel_with_index" },
	[B_DIV_FLOOR] = { OP_ELEMENTWISE, "elementwise", "div_floor", "div_floor", OP_COST_DIV, 0,
	                  "BUnaryFunctor<div_floor_kernel_cuda>" },
	[B_MEAN] = { OP_REDUCE, "reduce", "mean", "mean", OP_COST_MOVE, OP_RED_MEAN, "MeanOps" },
	[B_SUM] = { OP_REDUCE, "reduce", "sum", "sum", OP_COST_MOVE, OP_RED_SUM, "sum_functor" },
	[B_ARGMAX] = { OP_REDUCE, "argmax", "argmax", "argmax", OP_COST_MOVE, OP_RED_ARGMAX, "ArgMaxOps" },
	[B_CONCAT] = { OP_CONCAT, "concat", "concat", "", OP_COST_MOVE, 0, "CatArrayBatchedCopy" },
	[B_SOFTMAX] = { OP_SOFTMAX, "softmax", "softmax", "", OP_COST_MOVE, 0, "softmax_warp_forward" },
	[B_TOPK] = { OP_TOPK, "topk", "topk", "", OP_COST_MOVE, 0, "sbtopk::gatherTopK" },
	[B_SCATTER] = { OP_SCATTER, "scatter", "scatter", "", OP_COST_MOVE, 0, "_scatter_gather_elementwise_kernel" },
	[B_INDEX_PUT] = { OP_SCATTER, "index_put", "index_put", "", OP_COST_MOVE, 0, "index_put_kernel" },
	[B_COPY] = { OP_COPY, "memcpy", "memcpy", "", OP_COST_MOVE, 0, "Memcpy DtoD" },
	[B_SORT] = { OP_SORT, "sort", "sort", "", OP_COST_MOVE, 0, "bitonicSortKVInPlace" },
	[B_GATHER] = { OP_GATHER, "gather", "gather_index", "", OP_COST_MOVE, 0, "vectorized_gather_kernel" },
	[B_HOST] = { OP_HOST_SYNC, "memcpy", "host_read", "", OP_COST_MOVE, 0, "Memcpy DtoH" },
	[B_PRODUCT] = { OP_GEMM, "gemm", "nvjet", "", OP_COST_MOVE, 0, "product" },
	[B_ROUTER] = { OP_GEMM, "router_dot", "router_dot", "", OP_COST_MOVE, 0, "dot_kernel" },
	[B_GROUPED] = { OP_GEMM, "moe_gemm", "grouped_gemm", "", OP_COST_MOVE, 0, "fused_moe_kernel" },
	[B_ATTENTION] = { OP_ATTENTION, "attention", "flash_splitkv", "", OP_COST_MOVE, 0, "flash_fwd_splitkv_kernel" },
	[B_LATENT] = { OP_ATTENTION, "attention", "flash_mla", "", OP_COST_MOVE, 0, "flash_mla" },
	[B_RMS] = { OP_NORM, "norm", "vllm_rms_norm", "rms_norm", OP_COST_MOVE, 0, "vllm::rms_norm_kernel" },
	[B_ADD_RMS] = { OP_NORM, "norm", "fused_add_rms_norm", "rms_norm", OP_COST_MOVE, 0,
	                "vllm::fused_add_rms_norm_kernel" },
	[B_LAYER_NORM] = { OP_NORM, "norm", "layer_norm", "layer_norm", OP_COST_MOVE, 0,
	                   "at::native::vectorized_layer_norm_kernel<c10::BFloat16, float, false>" },
	[B_ROPE] = { OP_ROPE, "rope", "rotary_embedding", "rope", OP_COST_ALU, 0, "vllm::rotary_embedding_kernel" },
	[B_CACHE] = { OP_SCATTER, "kv_write", "reshape_and_cache", "", OP_COST_MOVE, 0,
	              "vllm::reshape_and_cache_flash_kernel" },
	[B_ACT_MUL] = { OP_ELEMENTWISE, "elementwise", "act_and_mul", "silu_and_mul", OP_COST_ACT, 0,
	                "vllm::act_and_mul_kernel" },
	[B_GATE_TOPK] = { OP_TOPK, "topk", "vllm_topk", "", OP_COST_MOVE, 0, "vllm::moe::topkGatingSoftmax" },
	[B_COMBINE] = { OP_REDUCE, "reduce", "sum", "sum", OP_COST_MOVE, OP_RED_SUM, "moe_sum" },
	[B_CONV] = { OP_ELEMENTWISE, "elementwise", "recurrence", "causal_conv", OP_COST_ACT, 0,
	             "causal_conv1d_update_kernel" },
	[B_STATE] = { OP_GEMM, "recurrence", "recurrence", "", OP_COST_MOVE, 0, "fused_recurrent_gated_delta_rule" },
	[B_PATCH] = { OP_COPY, "copy", "copy", "copy", OP_COST_MOVE, 0, "direct_copy_kernel_cuda" },
	[B_QUANT] = { OP_CONVERT, "convert", "vllm_quant", "convert", OP_COST_ALU, 0, "vllm::scaled_quant_kernel" },
	[B_ALL_REDUCE] = { OP_COLLECTIVE, "collective", "all_reduce", "all_reduce", OP_COST_MOVE, 0, "" },
	[B_ALL_GATHER] = { OP_COLLECTIVE, "collective", "all_gather", "all_gather", OP_COST_MOVE, 0, "" },
	[B_REDUCE_SCATTER] = { OP_COLLECTIVE, "collective", "reduce_scatter", "reduce_scatter", OP_COST_MOVE, 0, "" },
	[B_ALL_TO_ALL] = { OP_COLLECTIVE, "collective", "all_to_all", "all_to_all", OP_COST_MOVE, 0, "" },
	[B_SEND] = { OP_COLLECTIVE, "collective", "send", "send", OP_COST_MOVE, 0, "" },
};

/* --- weights ------------------------------------------------------------------------------------------------------ */

static const struct scheme_format *format_of(const struct builder *b, enum scheme_class c)
{
	return scheme_format_of(b->h->quant, c, b->layer, b->m->layers);
}

uint32_t b_stored(struct builder *b, const struct scheme_format *f, uint64_t bytes, uint32_t instances,
                  const char *name)
{
	const uint32_t t = b_there(b, OP_WEIGHT, f->dtype ? f->dtype : b->m->dtype, bytes, instances, name);

	b_tensor(b, t)->quant = f->stored;
	return t;
}

uint32_t b_weight(struct builder *b, enum scheme_class c, uint64_t n, uint64_t k, const char *name)
{
	const struct scheme_format *f = format_of(b, c);

	return b_stored(b, f, scheme_bytes(f, b->m->dtype, n, k), 1, name);
}

uint32_t b_vector(struct builder *b, uint64_t n, const char *name)
{
	return b_there(b, OP_WEIGHT, b->m->dtype, b_bytes(b->m->dtype, n), 1, name);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

/* Activations as the product multiplies them, where that is not how they are; engines quantise them just before. */
struct part b_quantised(struct builder *b, struct part x, enum dtype math, uint64_t elems)
{
	struct part q;

	if (math == b->m->dtype)
		return x;
	b_op(b, B_QUANT, b->m->dtype, math)->shape = (struct op_shape){ .elems = elems, .arity = 1 };
	q = all_of(b_make(b, math, elems));
	b_read(b, x);
	b_write(b, q);
	if (math == DT_FP4)
		k_flat(b, "vllm::cvt_fp16_to_fp4", elems, 4096, 256);
	else
		k_flat(b, b_rows[B_QUANT].kernel, elems, 1024, 256);
	return q;
}

static uint32_t weight_of(struct builder *b, const struct gemm *g)
{
	const struct scheme_format *f = format_of(b, g->class), *v = format_of(b, SCHEME_VALUE);
	const enum dtype own = b->m->dtype;

	return b_stored(b, f, scheme_bytes(f, own, g->n - g->values, g->k) + scheme_bytes(v, own, g->values, g->k), 1,
	                g->name);
}

uint32_t b_product(struct builder *b, struct part x, struct gemm g)
{
	const enum dtype math = scheme_math(b->h->quant, g.class, b->layer, b->m->dtype);
	const uint32_t w = weight_of(b, &g);
	struct op *o;
	uint32_t y;

	x = b_quantised(b, x, math, g.m * g.k);
	o = b_op(b, B_PRODUCT, math, b->m->dtype);
	o->shape = (struct op_shape){ .batch = 1, .m = g.m, .n = g.n, .k = g.k, .strided = true };
	o->family = g.m == 1 ? "gemv" : "gemm";
	y = b_make(b, b->m->dtype, g.m * g.n);
	b_read(b, x);
	b_read(b, all_of(w));
	if (g.bias != NO_TENSOR)
		b_read(b, all_of(g.bias));
	b_write(b, all_of(y));
	k_unknown(b, b_rows[B_PRODUCT].kernel);
	return y;
}

/* --- the rest ------------------------------------------------------------------------------------------------------ */

static uint32_t build_ops_each(struct builder *b, enum bop what, uint64_t elems, bool wide, const struct part *in,
                               uint32_t n)
{
	const enum dtype d = b_tensor(b, in[0].tensor)->dtype;
	uint32_t y;

	b_op(b, what, d, d)->shape = (struct op_shape){ .elems = elems, .arity = n };
	y = b_make_role(b, b_tensor(b, in[0].tensor)->role == OP_INDEX ? OP_INDEX : OP_ACTIVATION, d, elems);
	for (uint32_t i = 0; i < n; i++)
		b_read(b, in[i]);
	b_write(b, all_of(y));
	k_each(b, what, elems, d, d, wide);
	return y;
}

uint32_t b_each(struct builder *b, enum bop what, uint64_t elems, bool wide, struct part x, struct part y)
{
	const struct part in[] = { x, y };

	return build_ops_each(b, what, elems, wide, in, 2);
}

uint32_t b_each1(struct builder *b, enum bop what, uint64_t elems, bool wide, struct part x)
{
	return build_ops_each(b, what, elems, wide, &x, 1);
}

uint32_t b_activated(struct builder *b, uint64_t elems, bool wide, struct part x)
{
	static const enum bop of[] = { [MODEL_SILU] = B_SILU,
		                       [MODEL_GELU] = B_GELU,
		                       [MODEL_RELU] = B_RELU,
		                       [MODEL_RELU2] = B_RELU,
		                       [MODEL_XIELU] = B_SILU }; /* an exponential and some more */
	const uint32_t y = b_each1(b, of[b->m->act], elems, wide, x);

	return b->m->act == MODEL_RELU2 ? b_each1(b, B_SQUARE, elems, false, all_of(y)) : y;
}

uint32_t b_to(struct builder *b, struct part x, enum dtype to, uint64_t elems)
{
	const enum dtype from = b_tensor(b, x.tensor)->dtype;
	uint32_t y;

	b_op(b, B_CONVERT, from, to)->shape = (struct op_shape){ .elems = elems, .arity = 1 };
	y = b_make(b, to, elems);
	b_read(b, x);
	b_write(b, all_of(y));
	k_each(b, B_CONVERT, elems, from, to, false);
	return y;
}

uint32_t b_reduce(struct builder *b, enum bop what, uint64_t rows, uint64_t cols, uint32_t x, enum dtype out)
{
	const enum dtype from = b_tensor(b, x)->dtype;
	uint32_t y;

	b_op(b, what, from, out)->shape = (struct op_shape){ .rows = rows, .cols = cols };
	y = b_make_role(b, out == DT_INT64 ? OP_INDEX : OP_ACTIVATION, out, rows);
	b_read(b, all_of(x));
	b_write(b, all_of(y));
	k_reduce(b, what, rows, cols);
	return y;
}

uint32_t b_concat(struct builder *b, enum dtype d, uint64_t elems, bool strided, const struct part *in, uint32_t n,
                  uint32_t to)
{
	uint64_t largest = 0;

	b_op(b, B_CONCAT, d, d)->shape = (struct op_shape){ .elems = elems, .arity = n, .strided = strided };
	to = to == NO_TENSOR ? b_make(b, d, elems) : to;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t bytes = in[i].touched ? in[i].touched
		                       : in[i].bytes ? in[i].bytes
		                                     : b_tensor(b, in[i].tensor)->bytes;

		b_read(b, in[i]);
		largest = bytes > largest ? bytes : largest;
	}
	b_write(b, all_of(to));
	k_concat(b, largest, n, strided);
	return to;
}

/* --- norms --------------------------------------------------------------------------------------------------------- */

/* Written out, as Llama's code is: to fp32, mean of squares, reciprocal root, back, gain. */
static uint32_t eager_norm(struct builder *b, struct part x, uint64_t rows, uint64_t cols, uint32_t gain)
{
	const uint64_t n = rows * cols;
	uint32_t f = b_to(b, x, DT_FP32, n), r;

	r = b_reduce(b, B_MEAN, rows, cols, b_each1(b, B_SQUARE, n, false, all_of(f)), DT_FP32);
	r = b_each1(b, B_RSQRT, rows, false, all_of(b_each1(b, B_ADD_SCALAR, rows, false, all_of(r))));
	f = b_to(b, all_of(b_each(b, B_MUL, n, true, all_of(f), all_of(r))), b->m->dtype, n);
	/* The gain is broadcast where there is more than one row. */
	return b_each(b, B_MUL, n, rows > 1, all_of(f), all_of(gain));
}

uint32_t b_norm(struct builder *b, struct part x, uint64_t rows, uint64_t cols, const char *name)
{
	const uint32_t gain = b_vector(b, cols, name);
	uint32_t y;

	if (eager(b))
		return eager_norm(b, x, rows, cols, gain);
	b_op(b, B_RMS, b->m->dtype, b->m->dtype)->shape = (struct op_shape){ .rows = rows, .cols = cols };
	y = b_make(b, b->m->dtype, rows * cols);
	b_read(b, x);
	b_read(b, all_of(gain));
	b_write(b, all_of(y));
	k_rows(b, b_rows[B_RMS].kernel, rows, cols);
	return y;
}

/* One kernel in every style: frameworks have it as one. */
uint32_t b_layer_norm(struct builder *b, uint32_t x, uint64_t rows, uint64_t cols, bool bias, const char *name)
{
	const uint32_t gain = b_vector(b, (bias ? 2 : 1) * cols, name);
	uint32_t y;

	b_op(b, B_LAYER_NORM, b->m->dtype, b->m->dtype)->shape = (struct op_shape){ .rows = rows, .cols = cols };
	y = b_make(b, b->m->dtype, rows * cols);
	b_read(b, all_of(x));
	b_read(b, all_of(gain));
	b_write(b, all_of(y));
	k_rows(b, b_rows[B_LAYER_NORM].kernel, rows, cols);
	return y;
}
