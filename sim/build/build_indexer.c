/* build_indexer.c - sparse attention's indexer: which keys each query reads, by a small attention of its own over all of them.
 *
 * Queries of a few heads come from the latent of the queries, one key a token from the hidden row; both rotate in their first
 * dimensions. A query's score of a key is the sum over heads of its weight times relu(q . k), in FP8; the `top` largest are
 * picked. Keys lie in a cache of their own in FP8, a float for 128 of them.
 * On a GPU the product, relu and sum are one kernel, as DeepGEMM has it; on an NPU they are three ops.
 * Leaves out: the Hadamard turn of queries and keys before they are rounded.
 * Source: DeepSeek-V3.2-Exp, inference/model.py (Indexer) and inference/kernel.py (fp8_index). */
#include "sim/build/build_int.h"

static uint32_t index_product(struct builder *b, uint32_t x, uint64_t n, uint64_t k, const char *name)
{
	return b_product(b, all_of(x), (struct gemm){ SCHEME_ATTENTION, b->rows, n, k, NO_TENSOR, name, 0 });
}

/* This group's keys behind those that are cached. */
static uint32_t index_cache(struct builder *b, uint32_t keys)
{
	const uint64_t row = model_index_row(b->m), room = b->room;
	const uint32_t cache = b_there(b, OP_KV, DT_FP8, b->batch * room * row, 1, b_group_name(b, "index_keys"));

	b_op(b, B_CACHE, b->m->dtype, DT_FP8)->shape = (struct op_shape){ .elems = b->group_rows * b->m->index.dim };
	b_read(b, b_of_group(b, all_of(keys)));
	b_write(b, (struct part){ .tensor = cache,
	                          .offset = b->old_len * row,
	                          .bytes = ((b->batch - 1) * room + b->q_len) * row,
	                          .touched = b->group_rows * row });
	k_flat(b, "vllm::indexer_k_quant_and_cache_kernel", b->group_rows * b->m->index.dim, b->m->index.dim, 128);
	return cache;
}

/* Scores of all keys for each query and head, or, fused, for each query. */
static uint32_t scores_of(struct builder *b, uint32_t q, uint32_t weights, uint32_t cache)
{
	const struct model_index *x = &b->m->index;
	const uint64_t n = b->group_rows * b->kv_len;
	struct part keys = all_of(cache);
	uint32_t y;

	keys.touched = b->batch * b->kv_len * model_index_row(b->m);
	b_op(b, B_PRODUCT, DT_FP8, for_npu(b) ? b->m->dtype : DT_FP32)->shape =
		(struct op_shape){ .batch = b->batch, .m = b->q_len * x->heads, .n = b->kv_len, .k = x->dim };
	y = for_npu(b) ? b_make(b, b->m->dtype, n * x->heads) : b_make(b, DT_FP32, n);
	b_read(b, b_of_group(b, all_of(q)));
	b_read(b, keys);
	if (!for_npu(b))
		b_read(b, b_of_group(b, all_of(weights)));
	b_write(b, all_of(y));
	k_unknown(b, "deep_gemm::fp8_mqa_logits");
	return y;
}

static uint32_t weighed(struct builder *b, uint32_t scores, uint32_t weights)
{
	const enum dtype d = b->m->dtype;
	const uint64_t heads = b->m->index.heads, n = b->group_rows * b->kv_len;
	const uint32_t positive = b_each1(b, B_RELU, n * heads, false, all_of(scores));
	uint32_t y;

	b_op(b, B_PRODUCT, d, d)->shape =
		(struct op_shape){ .batch = b->group_rows, .m = 1, .n = b->kv_len, .k = heads, .strided = true };
	y = b_make(b, d, n);
	b_read(b, b_of_group(b, all_of(weights)));
	b_read(b, all_of(positive));
	b_write(b, all_of(y));
	return y;
}

uint32_t b_index_picks(struct builder *b, struct indexer x)
{
	const uint64_t top = b->m->index.top < b->kv_len ? b->m->index.top : b->kv_len;
	const uint32_t cache = index_cache(b, x.keys);
	uint32_t y = scores_of(b, x.queries, x.weights, cache), picks;

	if (for_npu(b))
		y = weighed(b, y, x.weights);
	b_op(b, B_TOPK, b_tensor(b, y)->dtype, DT_INT32)->shape =
		(struct op_shape){ .rows = b->group_rows, .cols = b->kv_len, .top = top };
	picks = b_make_role(b, OP_INDEX, DT_INT32, b->group_rows * top);
	b_read(b, all_of(y));
	b_write(b, all_of(picks));
	k_rows(b, "vllm::topk_with_indices_kernel", b->group_rows, b->kv_len);
	return picks;
}

struct indexer b_indexer(struct builder *b, uint32_t x, uint32_t q_latent)
{
	const struct model *m = b->m;
	const struct model_index *i = &m->index;
	const uint64_t q = (uint64_t)i->heads * i->dim, rope = m->mla.rope;
	struct indexer r;

	r.queries = index_product(b, q_latent, q, m->mla.q_rank, "index.q");
	r.queries = b_rope(b, all_of(r.queries), i->heads, rope < i->dim ? rope : i->dim);
	r.queries = b_quantised(b, all_of(r.queries), DT_FP8, b->rows * q).tensor;
	r.keys = index_product(b, x, i->dim, m->hidden, "index.k");
	r.keys = b_layer_norm(b, r.keys, b->rows, i->dim, true, "index.k.norm");
	r.keys = b_rope(b, all_of(r.keys), 1, rope < i->dim ? rope : i->dim);
	r.weights = index_product(b, x, i->heads, m->hidden, "index.weights");
	return r;
}
