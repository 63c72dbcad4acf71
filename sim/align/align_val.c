/* align_val.c - what the launches made so far, and the model's own sizes: what a kernel between products works on.
 *
 * `values` are the newest results. A kernel works on the newest of its type whose size its grid allows; that is nearly always
 * the one just made, and where it is another of equal size the dims are the same. What no launch made (a weight, a table,
 * a mask) is one of the model's sizes. */
#include <string.h>

#include "sim/align/align_walk.h"

uint64_t walk_elems(int32_t nd, const uint64_t *dims)
{
	uint64_t n = 1;

	for (int32_t i = 0; i < nd; i++)
		n *= dims[i];
	return n;
}

struct val walk_val(enum dtype type, int32_t nd, const uint64_t *dims)
{
	struct val v = { .type = type, .nd = nd, .elems = walk_elems(nd, dims), .fn = "" };

	if (nd)
		memcpy(v.dims, dims, (size_t)nd * sizeof *dims);
	align_packed(nd, v.dims, v.strides);
	return v;
}

/* Rows of the step, as code that keeps a dim for the query has them, or as products do. */
struct val walk_of_rows(const struct walk *w, enum dtype type, uint64_t rows, uint64_t cols)
{
	const uint64_t three[3] = { rows, 1, cols }, two[2] = { rows, cols };

	return w->queries ? walk_val(type, 3, three) : walk_val(type, 2, two);
}

/* Heads of a product's rows, `width` columns apart: a view, [rows, heads, 1, dim]. */
struct val walk_of_heads(enum dtype type, uint64_t rows, uint64_t heads, uint64_t dim, uint64_t width)
{
	const uint64_t dims[4] = { rows, heads, 1, dim };
	struct val v = walk_val(type, 4, dims);

	v.strides[0] = width;
	v.strides[2] = heads * dim;
	return v;
}

/* x with so many columns, packed. */
struct val walk_head_of(const struct val *x, uint64_t cols)
{
	uint64_t dims[WALK_ND];

	memcpy(dims, x->dims, sizeof dims);
	dims[x->nd - 1] = cols;
	return walk_val(x->type, x->nd, dims);
}

/* Do its elements lie one after the other? Dims of 1 say nothing of that. */
bool walk_is_packed(const struct val *v)
{
	uint64_t n = 1;

	for (int32_t i = v->nd - 1; i >= 0; i--) {
		if (v->dims[i] > 1 && v->strides[i] != n)
			return false;
		n *= v->dims[i];
	}
	return true;
}

/* What an elementwise op makes of x: dims in the order in which x has them in memory, the smaller first where two are alike
 * (TensorIterator's rule); packed where all its operands are and have its dims. */
struct val walk_like(enum dtype type, const struct val *x, bool broadcasts)
{
	struct val v = walk_val(type, x->nd, x->dims);
	bool placed[WALK_ND] = { false };
	uint64_t n = 1;

	if (!broadcasts && walk_is_packed(x))
		return v;
	for (int32_t k = 0; k < x->nd; k++) {
		int32_t best = -1;

		for (int32_t i = x->nd - 1; i >= 0; i--)
			if (!placed[i] && (best < 0 || x->strides[i] < x->strides[best] ||
			                   (x->strides[i] == x->strides[best] && x->dims[i] < x->dims[best])))
				best = i;
		placed[best] = true;
		v.strides[best] = n;
		n *= x->dims[best];
	}
	return v;
}

void walk_push(struct walk *w, struct val v)
{
	w->v[w->n++ % WALK_VALUES] = v;
}

struct val *walk_newest(struct walk *w, uint32_t back)
{
	return back < w->n && back < WALK_VALUES ? &w->v[(w->n - 1 - back) % WALK_VALUES] : NULL;
}

bool walk_within(const struct kname *k, uint64_t n)
{
	return !k->hi || (n > k->lo && n <= k->hi);
}

bool walk_in_attention(const struct walk *w)
{
	return w->begun &&
	       (w->last == AT_Q || w->last == AT_K || w->last == AT_V || w->last == AT_QKV || w->last == AT_SCORES);
}

/* The newest of a type whose size the grid allows, of those lately made the newest that nothing read yet: a key's head
 * waits while the query's is rotated. */
struct val *walk_find(struct walk *w, const struct kname *k, enum dtype type)
{
	struct val *v;

	for (uint32_t i = 0; walk_in_attention(w) && i < WALK_LATELY && (v = walk_newest(w, i)) != NULL; i++)
		if (!v->read && v->type == type && walk_within(k, v->elems))
			return v;
	for (uint32_t i = 0; (v = walk_newest(w, i)) != NULL; i++)
		if (v->type == type && walk_within(k, v->elems))
			return v;
	return NULL;
}

uint64_t walk_rows(const struct walk *w)
{
	return w->al->batch;
}

struct model_heads walk_heads(const struct walk *w)
{
	return model_heads_of(w->al->m, w->layer);
}

uint64_t walk_keys(const struct walk *w)
{
	const struct model *m = w->al->m;
	const uint64_t n = w->al->keys;

	return m->window && m->layer[w->layer] == MODEL_SLIDING && n > m->window ? m->window : n;
}

/* --- sizes of the model ------------------------------------------------------------------------------------------ */

/* One of the model's tensors that the grid allows, the likeliest where the kernel stands first. */
bool walk_of_model(const struct walk *w, const struct kname *k, struct val *out)
{
	const struct model *m = w->al->m;
	const struct model_heads h = walk_heads(w);
	const uint64_t b = walk_rows(w), d = h.dim, e = m->hidden, i = m->inter,
		       l = w->begun ? walk_keys(w) : w->al->keys; /* masks of all layers are made first */
	const struct {
		bool here;
		int32_t nd;
		uint64_t dims[WALK_ND];
	} sizes[] = {
		{ walk_in_attention(w), 4, { b, h.heads, 1, d } },
		{ walk_in_attention(w), 4, { b, h.kv_heads, 1, d } },
		{ walk_in_attention(w), 4, { b, h.heads, 1, d / 2 } },
		{ walk_in_attention(w), 4, { b, h.kv_heads, 1, d / 2 } },
		{ walk_in_attention(w), 4, { b, h.heads, 1, 1 } },
		{ walk_in_attention(w), 4, { b, h.kv_heads, 1, 1 } },
		{ walk_in_attention(w), 1, { d } },
		{ walk_in_attention(w), 4, { b, 1, 1, l } },
		{ walk_in_attention(w), 4, { b, h.heads, 1, l } },
		{ walk_in_attention(w) && h.heads != h.kv_heads, 5, { b, h.kv_heads, h.heads / h.kv_heads, l, d } },
		{ walk_in_attention(w), 4, { b, h.kv_heads, l, d } },
		{ !walk_in_attention(w), 2, { b, e } },
		{ !walk_in_attention(w), 1, { e } },
		{ w->last == AT_GATE || w->last == AT_UP || w->last == AT_GATE_UP, 2, { b, i } },
		{ w->last == AT_HEAD, 2, { b, m->vocab } },
		{ w->picks, 2, { b, m->moe.top } },
		{ w->picks, 2, { b, m->moe.experts } },
		{ w->picks, 2, { b * m->moe.top, m->moe.inter } },
		{ w->picks, 2, { b * m->moe.top, e } },
		{ true, 2, { b, 1 } },
		{ true, 4, { 1, 1, 1, l } },
		{ true, 4, { b, 1, 1, l } },
		{ true, 3, { b, 1, d } },
		{ true, 3, { b, 1, d / 2 } },
		{ true, 3, { 1, 1, d } },
	};

	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		const uint64_t n = walk_elems(sizes[s].nd, sizes[s].dims);

		if (!sizes[s].here || !n || !walk_within(k, n))
			continue;
		*out = walk_val(k->type, sizes[s].nd, sizes[s].dims);
		return true;
	}
	return false;
}

struct val walk_of_grid(struct walk *w, const struct kname *k)
{
	const uint64_t n = k->hi ? k->hi : 1;

	if (w->last == AT_HEAD && k->lo >= 2 * walk_rows(w) * w->al->m->hidden)
		w->al->rep->logits_differ++;

	w->by_grid = true;
	w->why = "none of the model's sizes fits its grid";
	return walk_val(k->type, 1, &n);
}

void walk_put(struct putting *p, int32_t pos, enum dtype type, const struct val *v)
{
	align_strided(p, pos, type, v->nd, v->dims, v->strides);
}
