/* build_attention.c - attention of heads: products, norms of heads, rope, the cache. */
#include "sim/build/build_int.h"

/* Queries, keys and values of this step's tokens, each a part of some tensor. */
struct qkv {
	struct part q, k, v;
	uint64_t gate; /* columns of the gate beside the queries; 0: none */
	uint32_t gates;
};

/* --- rope ---------------------------------------------------------------------------------------------------------- */

/* x * cos + rotate_half(x) * sin, as Llama's code writes it: half of each head negated, halves swapped. */
static uint32_t eager_rope(struct builder *b, struct part x, uint64_t heads, uint64_t rotary)
{
	const uint64_t n = b->rows * heads * rotary;
	const enum dtype d = b->m->dtype;
	const uint64_t bytes = x.bytes ? x.bytes : b_tensor(b, x.tensor)->bytes - x.offset,
		       shift = b_bytes(d, rotary / 2);
	struct part low = x, high = x, halves[2];
	uint32_t direct = b_each(b, B_MUL, n, true, x, all_of(b->cos)), turned;

	low.bytes = high.bytes = bytes > shift ? bytes - shift : bytes;
	low.touched = high.touched = b_bytes(d, n / 2);
	high.offset += bytes > shift ? shift : 0;
	halves[0] = all_of(b_each1(b, B_NEG, n / 2, true, high));
	halves[1] = low;
	turned = b_concat(b, d, n, true, halves, 2, NO_TENSOR);
	turned = b_each(b, B_MUL, n, true, all_of(turned), all_of(b->sin));
	return b_each(b, B_ADD, n, b->q_len > 1, all_of(direct), all_of(turned));
}

static uint32_t one_rope(struct builder *b, struct part x, uint64_t heads, uint64_t dim, uint64_t rotary)
{
	const enum dtype d = b->m->dtype;
	const uint32_t y = b_make(b, d, b->rows * heads * dim);

	b_op(b, B_ROPE, d, d)->shape = (struct op_shape){ .elems = b->rows * heads * rotary, .arity = 2 };
	b_read(b, x);
	b_read(b, all_of(b->cos));
	b_write(b, all_of(y));
	k_flat(b, b_rows[B_ROPE].kernel, b->rows * heads * rotary, heads * rotary, 256);
	return y;
}

/* Queries and keys by one kernel, as engines do. */
static void joined_rope(struct builder *b, struct qkv *x, struct model_heads h, struct attend *a)
{
	const uint64_t rotary = b->m->rotary < h.dim ? b->m->rotary : h.dim, heads = h.heads + h.kv_heads;
	const enum dtype d = b->m->dtype;
	struct part k;

	b_op(b, B_ROPE, d, d)->shape = (struct op_shape){ .elems = b->rows * heads * rotary, .arity = 2 };
	a->q = all_of(b_make(b, d, b->rows * h.heads * h.dim));
	k = all_of(b_make(b, d, b->rows * h.kv_heads * h.dim));
	b_read(b, x->q);
	b_read(b, x->k);
	b_read(b, all_of(b->cos));
	b_write(b, a->q);
	b_write(b, k);
	x->k = k;
	k_flat(b, b_rows[B_ROPE].kernel, b->rows * heads * rotary, heads * rotary, 256);
}

uint32_t b_rope(struct builder *b, struct part x, uint64_t heads, uint64_t dim)
{
	const uint64_t rotary = b->m->rotary < dim ? b->m->rotary : dim, width = heads * dim;
	struct part turning = x, members[2];

	if (!eager(b))
		return one_rope(b, x, heads, dim, rotary);
	if (rotary == dim)
		return eager_rope(b, x, heads, dim);
	turning.touched = b_bytes(b->m->dtype, b->rows * heads * rotary);
	members[0] = all_of(eager_rope(b, turning, heads, rotary));
	members[1] = x;
	members[1].touched = b_bytes(b->m->dtype, b->rows * heads * (dim - rotary));
	return b_concat(b, b->m->dtype, b->rows * width, true, members, 2, NO_TENSOR);
}

/* --- the cache ----------------------------------------------------------------------------------------------------- */

/* Grown by concatenation: what a framework's dynamic cache does. A first prompt is its cache. */
static uint32_t grown(struct builder *b, struct part fresh, uint64_t row, uint64_t old_len, const char *name)
{
	const enum dtype kv = b->h->kv;
	const uint64_t batch = b->batch;
	struct part members[2];
	uint32_t to, old;

	if (!old_len)
		return fresh.tensor;
	old = b_grown_from(b, b_there(b, OP_KV, kv, b_bytes(kv, batch * old_len * row), 1, name));
	to = b_make_role(b, OP_KV, kv, batch * (old_len + b->q_len) * row);
	b_grown_to(b, to);
	members[0] = b_lines(b, old, row, 0, batch * old_len);
	members[1] = fresh;
	return b_concat(b, kv, batch * (old_len + b->q_len) * row, false, members, 2, to);
}

/* A cache with room for all steps, and where this step's rows go. */
static uint32_t cache_of(struct builder *b, uint64_t row, uint64_t room, const char *name, struct part *to)
{
	const enum dtype kv = b->h->kv;
	const uint64_t batch = b->batch, cap = room < b->q_len ? b->q_len : room;
	const uint64_t from = b->old_len < cap - b->q_len ? b->old_len : cap - b->q_len;
	const uint32_t cache = b_there(b, OP_KV, kv, b_bytes(kv, batch * cap * row), 1, b_group_name(b, name));

	*to = (struct part){ .tensor = cache, .offset = b_bytes(kv, from * row) };
	to->bytes = b_bytes(kv, ((batch - 1) * cap + b->q_len) * row);
	to->touched = b_bytes(kv, b->group_rows * row);
	return cache;
}

/* Written in place, behind what is there: `n` of keys and values by one op. */
static void build_attention_write_rows(struct builder *b, const struct part *fresh, const struct part *to, int n,
                                       uint64_t row)
{
	b_op(b, B_CACHE, b->m->dtype, b->h->kv)->shape = (struct op_shape){ .elems = n * b->group_rows * row };
	for (int i = 0; i < n; i++)
		b_read(b, fresh[i]);
	for (int i = 0; i < n; i++)
		b_write(b, to[i]);
	k_flat(b, b_rows[B_CACHE].kernel, n * b->group_rows * row, n * row, 256);
}

/* Keys and values into their caches: an engine's kernel does both. */
static void build_attention_written(struct builder *b, struct part k, struct part v, uint64_t row, uint64_t room,
                                    struct attend *a)
{
	const struct part fresh[2] = { k, v };
	struct part to[2];

	a->k = cache_of(b, row, room, "k", &to[0]);
	a->v = cache_of(b, row, room, "v", &to[1]);
	if (b->h->style == BUILD_FUSED) {
		build_attention_write_rows(b, fresh, to, 2, row);
		return;
	}
	build_attention_write_rows(b, &fresh[0], &to[0], 1, row);
	build_attention_write_rows(b, &fresh[1], &to[1], 1, row);
}

/* --- a layer's ------------------------------------------------------------------------------------------------------ */

static uint32_t bias(struct builder *b, bool there, uint64_t n, const char *name)
{
	return there ? b_vector(b, n, name) : NO_TENSOR;
}

static struct qkv joined_products(struct builder *b, uint32_t x, struct model_heads h, bool shared)
{
	const struct model *m = b->m;
	const uint64_t q = (uint64_t)h.heads * h.dim, gate = m->out_gate ? q : 0, kv = (uint64_t)h.kv_heads * h.dim;
	const uint64_t n = q + gate + (shared ? 1 : 2) * kv;
	const uint32_t y = b_product(b, all_of(x),
	                             (struct gemm){ SCHEME_ATTENTION, b->rows, n, m->hidden,
	                                            bias(b, m->qkv_bias, n, "qkv.bias"), "qkv", shared ? 0 : kv });
	struct qkv r = { .q = b_columns(b, y, b->rows, n, 0, q),
		         .k = b_columns(b, y, b->rows, n, q + gate, kv),
		         .v = b_columns(b, y, b->rows, n, q + gate + (shared ? 0 : kv), kv),
		         .gate = gate,
		         .gates = y };

	return r;
}

static void q_product(struct builder *b, uint32_t x, struct model_heads h, struct qkv *r)
{
	const struct model *m = b->m;
	const uint64_t q = (uint64_t)h.heads * h.dim, n = q + (m->out_gate ? q : 0);

	r->gate = n - q;
	r->gates = b_product(
		b, all_of(x),
		(struct gemm){ SCHEME_ATTENTION, b->rows, n, m->hidden, bias(b, m->qkv_bias, n, "q.bias"), "q", 0 });
	r->q = r->gate ? b_columns(b, r->gates, b->rows, n, 0, q) : all_of(r->gates);
}

static struct part k_product(struct builder *b, uint32_t x, struct model_heads h)
{
	const uint64_t kv = (uint64_t)h.kv_heads * h.dim;

	return all_of(b_product(b, all_of(x),
	                        (struct gemm){ SCHEME_ATTENTION, b->rows, kv, b->m->hidden,
	                                       bias(b, b->m->qkv_bias, kv, "k.bias"), "k", 0 }));
}

static struct part v_product(struct builder *b, uint32_t x, struct model_heads h)
{
	const uint64_t kv = (uint64_t)h.kv_heads * h.dim;

	return all_of(b_product(b, all_of(x),
	                        (struct gemm){ SCHEME_VALUE, b->rows, kv, b->m->hidden,
	                                       bias(b, b->m->qkv_bias, kv, "v.bias"), "v", kv }));
}

static struct qkv products(struct builder *b, uint32_t x, struct model_heads h, bool shared)
{
	struct qkv r;

	q_product(b, x, h, &r);
	r.k = k_product(b, x, h);
	r.v = shared ? r.k : v_product(b, x, h);
	return r;
}

static struct part head_norm(struct builder *b, struct part x, uint64_t heads, uint64_t dim, const char *name)
{
	if (b->m->arch->wide_norms)
		return all_of(b_norm(b, x, b->rows, heads * dim, name));
	return b->m->head_norms ? all_of(b_norm(b, x, b->rows * heads, dim, name)) : x;
}

static void head_norms(struct builder *b, struct qkv *x, struct model_heads h)
{
	x->q = head_norm(b, x->q, h.heads, h.dim, "q.norm");
	x->k = head_norm(b, x->k, h.kv_heads, h.dim, "k.norm");
}

/* What a layer keeps of a group's sequences: no more than its window. */
struct reach {
	uint64_t old, room;
};

static struct reach reach_of(const struct builder *b, uint32_t layer)
{
	const uint64_t window = b->m->window;

	if (!model_windowed(b->m, layer))
		return (struct reach){ b->old_len, b->room };
	return (struct reach){ b->old_len > window - 1 ? window - 1 : b->old_len, b->room > window ? window : b->room };
}

static bool rotates(const struct builder *b, uint32_t layer)
{
	if (b->m->no_rope)
		return false;
	return !b->m->arch->no_rope_full || b->m->layer[layer] != MODEL_FULL;
}

static struct part rotated(struct builder *b, uint32_t layer, struct part x, uint64_t heads, uint64_t dim)
{
	return rotates(b, layer) ? all_of(b_rope(b, x, heads, dim)) : x;
}

/* The rkllm style: what is done to queries, keys and values stands behind the product of each. */
static struct qkv each_with_its_product(struct builder *b, uint32_t x, uint32_t layer, struct model_heads h,
                                        bool shared, struct attend *a)
{
	const uint64_t room = reach_of(b, layer).room;
	const uint64_t row = (uint64_t)h.kv_heads * h.dim;
	struct qkv r;
	struct part to, turned;

	q_product(b, x, h, &r);
	a->q = rotated(b, layer, head_norm(b, r.q, h.heads, h.dim, "q.norm"), h.heads, h.dim);
	r.k = k_product(b, x, h);
	turned = rotated(b, layer, head_norm(b, r.k, h.kv_heads, h.dim, "k.norm"), h.kv_heads, h.dim);
	a->k = cache_of(b, row, room, "k", &to);
	build_attention_write_rows(b, &turned, &to, 1, row);
	r.v = shared ? r.k : v_product(b, x, h);
	a->v = cache_of(b, row, room, "v", &to);
	build_attention_write_rows(b, &r.v, &to, 1, row);
	return r;
}

/* The gate beside the queries weighs what attention gives. */
static uint32_t gated(struct builder *b, const struct qkv *x, uint32_t y)
{
	const uint64_t n = b->rows * x->gate;
	struct part gate = all_of(x->gates);

	if (!x->gate)
		return y;
	gate.touched = b_bytes(b->m->dtype, n);
	return b_each(b, B_MUL, n, false, all_of(y), all_of(b_each1(b, B_SIGMOID, n, true, gate)));
}

/* Queries and keys of a layer with a window: no more keys than that. Of a prompt longer than the window each query sees
 * as many, so there is no triangle. */
static void windowed(const struct builder *b, uint32_t layer, struct attend *x)
{
	const struct model_seen s = model_seen(b->m, layer, b->old_len, b->q_len);

	x->kv_len = s.keys;
	x->causal = s.causal;
}

/* Queries, keys and values of all groups. */
static struct qkv prepared(struct builder *b, uint32_t x, uint32_t layer, struct model_heads h, struct attend *a)
{
	const struct model *m = b->m;
	const bool shared = m->k_is_v && m->layer[layer] == MODEL_FULL;
	const bool join = b->h->style == BUILD_FUSED || (eager(b) && m->arch->joined);
	struct qkv p;

	if (b->h->style == BUILD_RKLLM)
		return each_with_its_product(b, x, layer, h, shared, a);
	p = join ? joined_products(b, x, h, shared) : products(b, x, h, shared);
	head_norms(b, &p, h);
	if (b->h->style == BUILD_FUSED && rotates(b, layer)) {
		joined_rope(b, &p, h, a);
	} else {
		a->q = rotated(b, layer, p.q, h.heads, h.dim);
		p.k = rotated(b, layer, p.k, h.kv_heads, h.dim);
	}
	return p;
}

/* This group's attention over its cache, into which its rows of `k` and `v` go before. */
static uint32_t attend_group(struct builder *b, uint32_t layer, struct part k, struct part v, struct attend a)
{
	const uint64_t row = (uint64_t)a.kv_heads * a.dim;
	const struct reach r = reach_of(b, layer);

	a.batch = b->batch;
	a.q_len = b->q_len;
	a.kv_len = b->kv_len;
	if (eager(b)) {
		a.k = grown(b, k, row, r.old, "k_old");
		a.v = grown(b, v, row, r.old, "v_old");
	} else if (b->h->style != BUILD_RKLLM) {
		build_attention_written(b, b_of_group(b, k), b_of_group(b, v), row, r.room, &a);
	}
	windowed(b, layer, &a);
	return b_attend(b, a);
}

uint32_t b_attention(struct builder *b, uint32_t x, uint32_t layer)
{
	const struct model *m = b->m;
	const struct model_heads h = model_heads_of(m, layer);
	struct attend a = { .heads = h.heads,
		            .kv_heads = h.kv_heads,
		            .dim = h.dim,
		            .v_dim = h.v_dim,
		            .causal = true,
		            .into = NO_TENSOR };
	const struct qkv p = prepared(b, x, layer, h, &a);
	uint32_t y = NO_TENSOR;

	if (b->n_groups > 1)
		a.into = b_make(b, m->dtype, b->rows * h.heads * h.v_dim);
	for (uint32_t g = 0; g < b->n_groups; g++) {
		b_use_group(b, g);
		y = attend_group(b, layer, p.k, p.v, a);
	}
	b_use_group(b, 0);
	y = gated(b, &p, y);
	return b_product(b, all_of(y),
	                 (struct gemm){ SCHEME_OUT, b->rows, m->hidden, (uint64_t)h.heads * h.v_dim,
	                                bias(b, m->out_bias, m->hidden, "o.bias"), "o", 0 });
}
