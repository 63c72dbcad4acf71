/* build_latent.c - latent attention (MLA): queries through a rank, keys and values from one latent a token.
 *
 * eager keeps keys and values of all heads, as the framework's own code does. Engines keep the latent and the rotating
 * part. A decode step multiplies it as it is (absorbed): what would make keys of it goes into the queries, what would make
 * values into the result. A prompt expands the latent of its own tokens, and those cached before. Asked for by name, mla is
 * absorbed in either, and every other algorithm is over the expanded latent. With an indexer (build_indexer.c) attention is
 * absorbed in either, too: each query reads the rows of its own picks. */
#include "sim/build/build_int.h"

static struct gemm build_latent_product(enum scheme_class c, uint64_t m, uint64_t n, uint64_t k, const char *name)
{
	return (struct gemm){ c, m, n, k, NO_TENSOR, name, 0 };
}

/* `latent`: what an indexer's queries are made of, too. */
static uint32_t queries(struct builder *b, uint32_t x, uint32_t *latent)
{
	const struct model_mla *l = &b->m->mla;
	const uint64_t n = (uint64_t)b->m->heads * (l->nope + l->rope);

	if (!l->q_rank)
		return b_product(b, all_of(x), build_latent_product(SCHEME_ATTENTION, b->rows, n, b->m->hidden, "q"));
	x = b_product(b, all_of(x), build_latent_product(SCHEME_LATENT, b->rows, l->q_rank, b->m->hidden, "q_a"));
	*latent = x = b_norm(b, all_of(x), b->rows, l->q_rank, "q_a.norm");
	return b_product(b, all_of(x), build_latent_product(SCHEME_ATTENTION, b->rows, n, l->q_rank, "q_b"));
}

/* The rotating columns of each head turned; the whole in one tensor again. */
static uint32_t turned_queries(struct builder *b, uint32_t q)
{
	const struct model_mla *l = &b->m->mla;
	const uint64_t heads = b->m->heads, n = b->rows * heads;
	struct part turning = all_of(q), still = all_of(q), members[2];

	turning.touched = b_bytes(b->m->dtype, n * l->rope);
	still.touched = b_bytes(b->m->dtype, n * l->nope);
	members[0] = still;
	members[1] = all_of(b_rope(b, turning, heads, l->rope));
	if (!eager(b))
		return members[1].tensor;
	return b_concat(b, b->m->dtype, n * (l->nope + l->rope), true, members, 2, NO_TENSOR);
}

/* A product for each head: w is heads x n x k. */
static uint32_t each_head(struct builder *b, struct part x, uint64_t n, uint64_t k, const char *name, uint32_t into)
{
	const enum dtype d = b->m->dtype;
	const uint64_t heads = b->m->heads;
	const struct scheme_format *f = scheme_format_of(b->h->quant, SCHEME_KV_B, b->layer, b->m->layers);
	const uint32_t w = b_stored(b, f, scheme_bytes(f, d, heads * n, k), 1, name);
	struct op *o = b_op(b, B_PRODUCT, d, d);
	uint32_t y;

	o->shape = (struct op_shape){ .batch = heads, .m = b->group_rows, .n = n, .k = k, .strided = true };
	y = into != NO_TENSOR ? into : b_make(b, d, b->group_rows * heads * n);
	b_read(b, x);
	b_read(b, all_of(w));
	b_write(b, into != NO_TENSOR ? b_of_group(b, all_of(y)) : all_of(y));
	k_unknown(b, b_rows[B_PRODUCT].kernel);
	return y;
}

/* The normed latent and the rotated part of this step's tokens, written behind the others. */
static uint32_t latent_cache(struct builder *b, uint32_t latent, uint32_t rope)
{
	const struct model_mla *l = &b->m->mla;
	const enum dtype kv = b->h->kv;
	const uint64_t row = l->kv_rank + l->rope, batch = b->batch, room = b->room;
	const uint32_t cache = b_there(b, OP_KV, kv, b_bytes(kv, batch * room * row), 1, b_group_name(b, "latent"));
	struct part to = { .tensor = cache, .offset = b_bytes(kv, b->old_len * row) };

	to.bytes = b_bytes(kv, ((batch - 1) * room + b->q_len) * row);
	to.touched = b_bytes(kv, b->group_rows * row);
	b_op(b, B_CACHE, b->m->dtype, kv)->shape = (struct op_shape){ .elems = b->group_rows * row };
	b_read(b, b_of_group(b, all_of(latent)));
	b_read(b, b_of_group(b, all_of(rope)));
	b_write(b, to);
	k_flat(b, "vllm::concat_and_cache_mla_kernel", b->group_rows * row, row, 256);
	return cache;
}

/* `picks` NO_TENSOR: every query reads all keys. */
static uint32_t absorbed(struct builder *b, uint32_t q, uint32_t q_rope, uint32_t cache, uint32_t picks, uint32_t into)
{
	const struct model *m = b->m;
	const struct model_mla *l = &m->mla;
	const enum dtype d = m->dtype;
	const uint64_t heads = m->heads, batch = b->batch, row = l->kv_rank + l->rope;
	struct part still = b_of_group(b, all_of(q)), seen = all_of(cache);
	uint64_t keys = b->kv_len;
	uint32_t y, q_latent;
	struct op *o;

	still.touched = b_bytes(d, b->group_rows * heads * l->nope);
	q_latent = each_head(b, still, l->kv_rank, l->nope, "k_b", NO_TENSOR);
	if (picks != NO_TENSOR && m->index.top < b->kv_len)
		keys = m->index.top;
	/* Queries of a prompt pick rows that others pick, too. */
	seen.touched = b_bytes(b->h->kv, batch * (b->q_len * keys < b->kv_len ? b->q_len * keys : b->kv_len) * row);
	o = b_op(b, B_LATENT, dtype_bits(b->h->kv) == 8 ? b->h->kv : d, d);
	o->shape = (struct op_shape){ .batch = batch,
		                      .heads = heads,
		                      .kv_heads = 1,
		                      .q_len = b->q_len,
		                      .kv_len = keys,
		                      .head_dim = row,
		                      .v_dim = l->kv_rank,
		                      .causal = b->q_len > 1 && keys == b->kv_len,
		                      .paged = b->h->style == BUILD_FUSED };
	o->algorithm = OP_ATTN_MLA;
	y = b_make(b, d, b->group_rows * heads * l->kv_rank);
	b_read(b, all_of(q_latent));
	b_read(b, b_of_group(b, all_of(q_rope)));
	b_read(b, seen);
	if (picks != NO_TENSOR)
		b_read(b, all_of(picks));
	b_read_table(b);
	b_write(b, all_of(y));
	k_unknown(b, b_rows[B_LATENT].kernel);
	return each_head(b, all_of(y), l->v, l->kv_rank, "v_b", into);
}

/* Keys and values of all heads from the latent of `rows` tokens. */
static struct attend expanded(struct builder *b, uint32_t q, struct part latent, uint64_t rows)
{
	const struct model *m = b->m;
	const struct model_mla *l = &m->mla;
	const uint64_t heads = m->heads;
	const uint32_t kv = b_product(
		b, latent, build_latent_product(SCHEME_KV_B, rows, heads * (l->nope + l->v), l->kv_rank, "kv_b"));

	return (struct attend){ .q = all_of(q),
		                .k = kv,
		                .v = kv,
		                .batch = b->batch,
		                .heads = heads,
		                .kv_heads = heads,
		                .q_len = b->q_len,
		                .kv_len = b->kv_len,
		                .dim = l->nope + l->rope,
		                .v_dim = l->v,
		                .causal = true,
		                .into = NO_TENSOR };
}

/* What the framework's code keeps: keys with their rotated part repeated for each head, and values. */
static uint32_t build_latent_kept(struct builder *b, struct part fresh, uint64_t row, const char *name)
{
	const enum dtype kv = b->h->kv;
	const uint64_t batch = b->batch;
	struct part members[2];
	uint32_t to;

	if (!b->old_len)
		return fresh.tensor;
	to = b_grown_from(b, b_there(b, OP_KV, kv, b_bytes(kv, batch * b->old_len * row), 1, name));
	members[0] = b_lines(b, to, row, 0, batch * b->old_len);
	members[1] = fresh;
	to = b_make_role(b, OP_KV, kv, batch * b->kv_len * row);
	b_grown_to(b, to);
	return b_concat(b, kv, batch * b->kv_len * row, false, members, 2, to);
}

static uint32_t eager_attention(struct builder *b, uint32_t q, uint32_t latent, uint32_t rope)
{
	const struct model_mla *l = &b->m->mla;
	const uint64_t heads = b->m->heads, n = b->rows * heads;
	struct attend a = expanded(b, q, all_of(latent), b->rows);
	struct part k = b_columns(b, a.k, n, l->nope + l->v, 0, l->nope),
		    v = b_columns(b, a.k, n, l->nope + l->v, l->nope, l->v);
	const struct part members[2] = { k, all_of(rope) };

	k = all_of(b_concat(b, b->m->dtype, n * (l->nope + l->rope), true, members, 2, NO_TENSOR));
	a.k = build_latent_kept(b, k, heads * (l->nope + l->rope), "k_old");
	a.v = build_latent_kept(b, v, heads * l->v, "v_old");
	return b_attend(b, a);
}

/* A group's tokens into its cache, and its attention over that. */
static uint32_t attend_group(struct builder *b, uint32_t q, uint32_t turned, uint32_t latent, uint32_t rope,
                             const struct indexer *index, uint32_t into)
{
	const uint32_t cache = latent_cache(b, latent, rope);
	struct attend a;

	if (b->m->index.top)
		return absorbed(b, q, turned, cache, b_index_picks(b, *index), into);
	if (b->h->attend == ATTEND_OWN ? b->phase == OP_DECODE : b->h->attend == ATTEND_MLA)
		return absorbed(b, q, turned, cache, NO_TENSOR, into);
	a = expanded(b, q, b->old_len ? all_of(cache) : b_of_group(b, all_of(latent)), b->batch * b->kv_len);
	a.into = into;
	return b_attend(b, a);
}

static uint32_t attended(struct builder *b, uint32_t q, uint32_t latent, uint32_t rope, const struct indexer *index)
{
	const uint32_t turned = turned_queries(b, q);
	uint32_t y = NO_TENSOR, into = NO_TENSOR;

	if (b->n_groups > 1)
		into = b_make(b, b->m->dtype, b->rows * b->m->heads * b->m->mla.v);
	for (uint32_t g = 0; g < b->n_groups; g++) {
		b_use_group(b, g);
		y = attend_group(b, q, turned, latent, rope, index, into);
	}
	b_use_group(b, 0);
	return y;
}

uint32_t b_latent(struct builder *b, uint32_t x, uint32_t layer)
{
	const struct model *m = b->m;
	const struct model_mla *l = &m->mla;
	const uint64_t row = l->kv_rank + l->rope;
	struct indexer index = { NO_TENSOR, NO_TENSOR, NO_TENSOR };
	uint32_t q_latent = NO_TENSOR, q = queries(b, x, &q_latent), down, latent, rope, y;

	(void)layer; /* all are alike */
	down = b_product(b, all_of(x), build_latent_product(SCHEME_LATENT, b->rows, row, m->hidden, "kv_a"));
	latent = b_norm(b, b_columns(b, down, b->rows, row, 0, l->kv_rank), b->rows, l->kv_rank, "kv_a.norm");
	rope = b_rope(b, b_columns(b, down, b->rows, row, l->kv_rank, l->rope), 1, l->rope);
	if (m->index.top)
		index = b_indexer(b, x, q_latent);
	y = eager(b) && b->h->attend != ATTEND_MLA ? eager_attention(b, turned_queries(b, q), latent, rope)
	                                           : attended(b, q, latent, rope, &index);
	return b_product(b, all_of(y),
	                 build_latent_product(SCHEME_OUT, b->rows, m->hidden, (uint64_t)m->heads * l->v, "o"));
}
