/* align_walk.c - from launch to launch: operators with dims, by what was made before and by where each kernel stands.
 *
 * `values` are the newest results. A kernel works on the newest of its type whose size its grid allows; that is nearly always
 * the one just made, and where it is another of equal size the dims are the same. What no launch made (a weight, a table,
 * a mask) is one of the model's sizes. */
#include <string.h>

#include "sim/align/align_int.h"
#include "sim/base/str.h"

#define VALUES 64
#define LATELY 12
#define MAX_ND 5

struct val {
	enum dtype type;
	int32_t nd;
	uint64_t dims[MAX_ND], strides[MAX_ND], elems;
	bool read;
	const char *fn; /* of the rule that made it; "" */
};

struct walk {
	struct align *al;
	struct val v[VALUES];
	uint32_t n; /* made so far; the newest is v[(n - 1) % VALUES] */
	enum place_role last;
	uint32_t layer;
	bool begun, tables,
		expanded;      /* a step; tables of its own for each sequence; the cache has all queries' heads */
	bool queries;          /* rows have a dim of one query: [rows, 1, columns] */
	enum dtype quantised;  /* what the next products multiply; DT_NONE: as the model has it */
	struct val half;       /* the other half of what was negated; no dims: nothing was */
	struct trace_op *open; /* the last operator, which launches may join */
	bool by_grid;          /* the newest operator has its grid's size */
	const char *why;
};

/* --- values ------------------------------------------------------------------------------------------------------ */

static uint64_t product_of(int32_t nd, const uint64_t *dims)
{
	uint64_t n = 1;

	for (int32_t i = 0; i < nd; i++)
		n *= dims[i];
	return n;
}

static struct val align_walk_make(enum dtype type, int32_t nd, const uint64_t *dims)
{
	struct val v = { .type = type, .nd = nd, .elems = product_of(nd, dims), .fn = "" };

	if (nd)
		memcpy(v.dims, dims, (size_t)nd * sizeof *dims);
	align_packed(nd, v.dims, v.strides);
	return v;
}

/* Rows of the step, as code that keeps a dim for the query has them, or as products do. */
static struct val of_rows(const struct walk *w, enum dtype type, uint64_t rows, uint64_t cols)
{
	const uint64_t three[3] = { rows, 1, cols }, two[2] = { rows, cols };

	return w->queries ? align_walk_make(type, 3, three) : align_walk_make(type, 2, two);
}

/* Heads of a product's rows, `width` columns apart: a view, [rows, heads, 1, dim]. */
static struct val of_heads(enum dtype type, uint64_t rows, uint64_t heads, uint64_t dim, uint64_t width)
{
	const uint64_t dims[4] = { rows, heads, 1, dim };
	struct val v = align_walk_make(type, 4, dims);

	v.strides[0] = width;
	v.strides[2] = heads * dim;
	return v;
}

/* Do its elements lie one after the other? Dims of 1 say nothing of that. */
static bool packed(const struct val *v)
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
static struct val like(enum dtype type, const struct val *x, bool broadcasts)
{
	struct val v = align_walk_make(type, x->nd, x->dims);
	bool placed[MAX_ND] = { false };
	uint64_t n = 1;

	if (!broadcasts && packed(x))
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

static void push(struct walk *w, struct val v)
{
	w->v[w->n++ % VALUES] = v;
}

static struct val *newest(struct walk *w, uint32_t back)
{
	return back < w->n && back < VALUES ? &w->v[(w->n - 1 - back) % VALUES] : NULL;
}

static bool within(const struct kname *k, uint64_t n)
{
	return !k->hi || (n > k->lo && n <= k->hi);
}

static bool in_attention(const struct walk *w)
{
	return w->begun &&
	       (w->last == AT_Q || w->last == AT_K || w->last == AT_V || w->last == AT_QKV || w->last == AT_SCORES);
}

/* The newest of a type whose size the grid allows, of those lately made the newest that nothing read yet: a key's head
 * waits while the query's is rotated. */
static struct val *align_walk_find(struct walk *w, const struct kname *k, enum dtype type)
{
	struct val *v;

	for (uint32_t i = 0; in_attention(w) && i < LATELY && (v = newest(w, i)) != NULL; i++)
		if (!v->read && v->type == type && within(k, v->elems))
			return v;
	for (uint32_t i = 0; (v = newest(w, i)) != NULL; i++)
		if (v->type == type && within(k, v->elems))
			return v;
	return NULL;
}

static uint64_t align_walk_rows(const struct walk *w)
{
	return w->al->batch;
}

static struct model_heads heads(const struct walk *w)
{
	return model_heads_of(w->al->m, w->layer);
}

static uint64_t keys(const struct walk *w)
{
	const struct model *m = w->al->m;
	const uint64_t n = w->al->keys;

	return m->window && m->layer[w->layer] == MODEL_SLIDING && n > m->window ? m->window : n;
}

/* --- sizes of the model ------------------------------------------------------------------------------------------ */

/* One of the model's tensors that the grid allows, the likeliest where the kernel stands first. */
static bool of_model(const struct walk *w, const struct kname *k, struct val *out)
{
	const struct model *m = w->al->m;
	const struct model_heads h = heads(w);
	const uint64_t b = align_walk_rows(w), l = keys(w), d = h.dim, e = m->hidden, i = m->inter;
	const struct {
		bool here;
		int32_t nd;
		uint64_t dims[MAX_ND];
	} sizes[] = {
		{ in_attention(w), 4, { b, h.heads, 1, d } },
		{ in_attention(w), 4, { b, h.kv_heads, 1, d } },
		{ in_attention(w), 4, { b, h.heads, 1, d / 2 } },
		{ in_attention(w), 4, { b, h.kv_heads, 1, d / 2 } },
		{ in_attention(w), 4, { b, h.heads, 1, 1 } },
		{ in_attention(w), 4, { b, h.kv_heads, 1, 1 } },
		{ in_attention(w), 1, { d } },
		{ in_attention(w), 4, { b, 1, 1, l } },
		{ in_attention(w), 4, { b, h.heads, 1, l } },
		{ in_attention(w) && h.heads != h.kv_heads, 5, { b, h.kv_heads, h.heads / h.kv_heads, l, d } },
		{ in_attention(w), 4, { b, h.kv_heads, l, d } },
		{ !in_attention(w), 2, { b, e } },
		{ !in_attention(w), 1, { e } },
		{ w->last == AT_GATE || w->last == AT_UP || w->last == AT_GATE_UP, 2, { b, i } },
		{ w->last == AT_HEAD, 2, { b, m->vocab } },
		{ true, 2, { b, 1 } },
		{ true, 4, { 1, 1, 1, l } },
		{ true, 4, { b, 1, 1, l } },
		{ true, 3, { b, 1, d } },
		{ true, 3, { b, 1, d / 2 } },
		{ true, 3, { 1, 1, d } },
	};

	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		const uint64_t n = product_of(sizes[s].nd, sizes[s].dims);

		if (!sizes[s].here || !n || !within(k, n))
			continue;
		*out = align_walk_make(k->type, sizes[s].nd, sizes[s].dims);
		return true;
	}
	return false;
}

static struct val of_grid(struct walk *w, const struct kname *k)
{
	const uint64_t n = k->hi ? k->hi : 1;

	if (w->last == AT_HEAD && k->lo >= 2 * align_walk_rows(w) * w->al->m->hidden)
		w->al->rep->logits_differ++;

	w->by_grid = true;
	w->why = "none of the model's sizes fits its grid";
	return align_walk_make(k->type, 1, &n);
}

/* --- one kernel -------------------------------------------------------------------------------------------------- */

static void align_walk_tensor(struct putting *p, int32_t pos, enum dtype type, const struct val *v)
{
	align_strided(p, pos, type, v->nd, v->dims, v->strides);
}

/* Half of a value along its last dim: what rotates. */
static bool half_of(struct walk *w, const struct kname *k, struct val *out)
{
	struct val *v;

	for (uint32_t i = 0; in_attention(w) && (v = newest(w, i)) != NULL; i++)
		if (v->type == k->type && v->nd == 4 && v->dims[3] % 2 == 0 && v->dims[3] > 1 &&
		    within(k, v->elems / 2)) {
			*out = *v;
			out->dims[3] /= 2;
			out->elems /= 2;
			w->half = *out;
			return true;
		}
	return false;
}

/* The first operand of an elementwise kernel, which has its result's size. */
static struct val first_operand(struct walk *w, const struct kname *k, enum dtype type, struct val **is)
{
	const bool halves = k->rule && strcmp(k->rule->fn, "neg") == 0;
	struct val x;

	*is = NULL;
	if (halves && half_of(w, k, &x))
		return x;
	if ((*is = align_walk_find(w, k, type)) != NULL)
		return **is;
	if (half_of(w, k, &x))
		return x;
	if (of_model(w, k, &x)) {
		x.type = type != DT_NONE ? type : k->type;
		return x;
	}
	return of_grid(w, k);
}

/* A factor a row: of all of x's dims but the last. */
static struct val *row_factor(struct walk *w, const struct val *x, const struct val * not )
{
	struct val *v;

	for (uint32_t i = 0; i < 3 && (v = newest(w, i)) != NULL; i++)
		if (v != not &&v->type == x->type && !v->read && v->nd && v->dims[v->nd - 1] == 1 && x->nd &&
		    x->elems / x->dims[x->nd - 1] == v->elems)
			return v;
	return NULL;
}

/* What is broadcast over x: a factor a row, a rotary table, a mask, a weight. */
static void second_broadcast(struct walk *w, const struct kname *k, const struct val *x, const struct val *is,
                             struct putting *p)
{
	struct val *v = row_factor(w, x, is), *before = newest(w, 0);
	const uint64_t last = x->nd ? x->dims[x->nd - 1] : 1;
	uint64_t dims[MAX_ND];

	if (v) {
		memcpy(dims, x->dims, sizeof dims);
		dims[x->nd - 1] = 1;
		align_tensor(p, 1, x->type, x->nd, dims);
		v->read = true;
		return;
	}
	if (dtype_bits(x->type) <= 16 && in_attention(w) && x->nd == 4 &&
	    !(before && before == is && strcmp(before->fn, "convert") == 0)) {
		dims[0] = w->tables ? x->dims[0] : 1;
		dims[1] = dims[2] = 1;
		dims[3] = last;
		align_tensor(p, 1, x->type, 4, dims);
		return;
	}
	if (k->type == DT_BOOL) {
		align_tensor(p, 1, k->type, 0, NULL); /* of two masks one that holds for all */
		return;
	}
	if (x->type == DT_INT64 || k->type == DT_INT64) {
		dims[0] = 1;
		align_tensor(p, 1, k->type, 1, dims);
		return;
	}
	if (!w->begun && w->al->m->arch->scaled_embed && before == is) {
		align_tensor(p, 1, x->type, 0, NULL); /* the embedding's factor, a tensor of no dims */
		return;
	}
	align_tensor(p, 1, x->type, 1, &last);
}

/* x, and an operand of equal size: what was not read yet; for a sum the residual, which was; else a weight. The one that was
 * made before comes first, as in "residual + x" and "act(gate) * up". */
static void both_alike(struct walk *w, const struct kname *k, const struct val *x, const struct val *is,
                       struct putting *p)
{
	const bool sums = k->rule && strcmp(k->rule->fn, "add") == 0;
	struct val *v;

	for (int pass = 0; pass <= sums; pass++)
		for (uint32_t i = 0; (pass || i < LATELY) && (v = newest(w, i)) != NULL; i++)
			if (v != is && v->type == x->type && v->elems == x->elems && (pass || !v->read)) {
				align_walk_tensor(p, 0, x->type, v->nd == 1 || v->nd == x->nd ? v : x);
				align_walk_tensor(p, 1, x->type, x);
				v->read = true;
				return;
			}
	align_walk_tensor(p, 0, x->type, x);
	if (sums || !x->nd || x->dims[x->nd - 1] != x->elems)
		align_walk_tensor(p, 1, x->type, x);
	else
		align_tensor(p, 1, x->type, 1, &x->dims[x->nd - 1]); /* one row: its weight lies alike */
}

static enum dtype result_type(const struct kname *k)
{
	return k->rule && strcmp(k->rule->fn, "compare") == 0 ? DT_BOOL : k->type;
}

static void elementwise(struct walk *w, const struct kname *k, struct putting *p)
{
	const bool selects = strcmp(k->rule->fn, "where") == 0 && k->inputs == 3;
	struct val *is, x = first_operand(w, k, selects ? DT_BOOL : k->type, &is), y;

	if (selects) {
		if (x.nd == 4 && x.dims[0] == align_walk_rows(w) && align_walk_rows(w) > 1)
			x.strides[0] = 0; /* one mask for all sequences */
		align_walk_tensor(p, 0, DT_BOOL, &x);
		align_tensor(p, 1, k->type, 0, NULL);
		align_tensor(p, 2, k->type, 0, NULL);
	} else if (k->type == DT_INT64 && k->flat) { /* positions, to which one number is added */
		const bool counter =
			k->inputs == 1 && in_attention(w) && x.elems == 1; /* the cache's own, of no dims */

		p->op->name = counter ? "aten::add_" : p->op->name;
		align_tensor(p, 0, k->type, counter ? 0 : x.nd, x.dims);
		align_tensor(p, 1, k->type, 0, NULL);
	} else {
		x.type = k->type;
		if (k->inputs > 1 && k->flat) {
			both_alike(w, k, &x, is, p);
		} else {
			align_walk_tensor(p, 0, k->type, &x);
			if (k->inputs > 1)
				second_broadcast(w, k, &x, is, p);
		}
	}
	if (is)
		is->read = true;
	if (w->last == AT_HEAD && x.elems == align_walk_rows(w) * w->al->m->vocab)
		w->al->rep->logits_agree++;
	y = selects ? align_walk_make(k->type, x.nd, x.dims) : like(result_type(k), &x, k->inputs > 1 && !k->flat);
	y.fn = k->rule->fn;
	push(w, y);
}

/* Heads' keys or values repeated for each query's head: read once, written for all. */
static bool repeats_cache(struct walk *w, const struct kname *k, struct putting *p)
{
	const struct model_heads h = heads(w);
	const uint64_t each = h.kv_heads ? h.heads / h.kv_heads : 0, l = keys(w), d = h.dim,
		       dims[5] = { align_walk_rows(w), h.kv_heads, each, l, d },
		       out[4] = { align_walk_rows(w), h.heads, l, d };
	struct trace_arg *a;

	if (!in_attention(w) || each < 2 || !k->hi || !within(k, product_of(5, dims)))
		return false;
	align_tensor(p, 0, k->type, 5, dims);
	align_tensor(p, 1, k->type, 5, dims);
	a = &p->args[1];
	a->strides[0] = (int64_t)(h.kv_heads * l * d);
	a->strides[1] = (int64_t)(l * d);
	a->strides[2] = 0;
	a->strides[3] = (int64_t)d;
	a->strides[4] = 1;
	w->expanded = true;
	push(w, align_walk_make(k->type, 4, out));
	return true;
}

static uint64_t table_rows(const struct walk *w, size_t launch);

static struct val cast_from(struct walk *w, size_t launch, const struct kname *k)
{
	struct val *v, x;

	if (launch + 1 < w->al->t->n_launches && align_is_table(w->al, launch + 1)) {
		const uint64_t dims[3] = { table_rows(w, launch), 1, 1 };

		return align_walk_make(DT_INT64, 3, dims);
	}
	for (uint32_t i = 0; (v = newest(w, i)) != NULL; i++)
		if (within(k, v->elems) &&
		    (k->from != DT_NONE ? v->type == k->from : v->type != k->type && dtype_bits(v->type) > 8)) {
			v->read = true;
			return *v;
		}
	if (!of_model(w, k, &x))
		x = of_grid(w, k);
	x.type = k->from != DT_NONE ? k->from : k->type == DT_FP32 ? w->al->m->dtype : k->type;
	return x;
}

static void copies(struct walk *w, size_t launch, const struct kname *k, struct putting *p)
{
	struct val x, *is;

	if (!k->casts && repeats_cache(w, k, p))
		return;
	x = k->casts ? cast_from(w, launch, k) : first_operand(w, k, k->type, &is);
	{
		const struct val to = like(k->type, &x, false);

		align_walk_tensor(p, 0, k->type, &to);
	}
	align_walk_tensor(p, 1, k->casts ? x.type : k->type, &x);
	align_scalar(p, 2, "False");
	if (w->last == AT_HEAD && x.elems == align_walk_rows(w) * w->al->m->vocab)
		w->al->rep->logits_agree++;
	x = like(k->type, &x, false);
	x.fn = k->casts ? "convert" : "copy";
	push(w, x);
}

static void align_walk_list(struct putting *p, const struct val *a, const struct val *b)
{
	align_walk_tensor(p, 0, a->type, a);
	align_walk_tensor(p, 0, b->type, b);
	for (uint32_t i = 0; i < p->n; i++)
		p->args[i].list = (int32_t)i;
}

/* Does the long member have the cache's size, as far as the grid tells? */
static bool grows_cache(const struct walk *w, const struct trace_launch *l)
{
	const struct model_heads h = heads(w);
	const uint64_t row = align_walk_rows(w) * h.kv_heads * h.dim * dtype_bits(w->al->m->dtype) / 8,
		       old = keys(w) - 1;

	return !strstr(l->name, "_vectorized") || align_concat_capped(w->al, l) ||
	       (old * row > (l->grid[0] - 1) * (uint64_t)ALIGN_CAT_CTA &&
	        old * row <= l->grid[0] * (uint64_t)ALIGN_CAT_CTA);
}

/* x with so many columns, packed. */
static struct val head_of(const struct val *x, uint64_t cols)
{
	uint64_t dims[MAX_ND];

	memcpy(dims, x->dims, sizeof dims);
	dims[x->nd - 1] = cols;
	return align_walk_make(x->type, x->nd, dims);
}

/* The step's own row of keys, then of values: in this order caches are written. */
static struct val new_row(struct walk *w, struct val *made)
{
	const struct model_heads h = heads(w);
	struct val *v;

	for (uint32_t i = 0; i < LATELY && (v = newest(w, i)) != NULL; i++)
		if (v->nd == 4 && v->dims[1] == h.kv_heads && v->dims[2] == 1 && v->dims[3] == h.dim &&
		    (!v->read || v == made)) {
			v->read = true;
			return *v;
		}
	return of_heads(w->al->m->dtype, align_walk_rows(w), h.kv_heads, h.dim, (uint64_t)h.kv_heads * h.dim);
}

/* Halves that were rotated; what rotates and the rest of a head, which may be nothing; the same twice; the cache and its
 * new row. */
static void concat(struct walk *w, const struct kname *k, const struct trace_launch *l, struct putting *p)
{
	const struct model_heads h = heads(w);
	struct kname any = *k;
	struct val *v, x, y, out;
	const char *along = "-1";

	any.hi = 0;
	v = align_walk_find(w, &any, k->type);
	if (!v || !v->nd) {
		w->by_grid = true;
		w->why = "what it joins is not known";
		return;
	}
	x = y = *v;
	out = align_walk_make(k->type, v->nd, v->dims);
	v->read = true;
	if (in_attention(w) && x.nd == 4 && x.dims[3] == h.dim && strcmp(v->fn, "neg") != 0) {
		if (grows_cache(w, l)) {
			const uint64_t old[4] = { align_walk_rows(w), h.kv_heads, keys(w) - 1, h.dim },
				       all[4] = { align_walk_rows(w), h.kv_heads, keys(w), h.dim };

			y = new_row(w, v);
			x = align_walk_make(k->type, 4, old);
			out = align_walk_make(k->type, 4, all);
			out.read = true;
			along = "2";
		} else {
			y.dims[3] = 0;
		}
	} else if (in_attention(w) && x.nd == 4 && x.dims[3] == w->al->m->rotary && x.dims[3] < h.dim &&
	           strcmp(v->fn, "neg") != 0) {
		y.dims[3] = h.dim - x.dims[3];
		out = head_of(&x, h.dim);
	} else {
		if (strcmp(v->fn, "neg") == 0 && w->half.nd == x.nd && w->half.elems == x.elems)
			y = w->half;
		out = head_of(&x, 2 * x.dims[x.nd - 1]);
	}
	align_walk_list(p, &x, &y);
	align_scalar(p, 1, along);
	push(w, out);
}

static void reduces(struct walk *w, const struct kname *k, struct putting *p)
{
	const bool picks = k->rule->reduce == OP_RED_ARGMAX;
	struct kname any = *k;
	struct val *v, x;

	any.hi = 0;
	v = align_walk_find(w, &any, k->type);
	if (!v || !v->nd) {
		w->by_grid = true;
		w->why = "what it sums up is not known";
		return;
	}
	align_walk_tensor(p, 0, v->type, v);
	v->read = true;
	align_scalar(p, 1, picks ? "-1" : "[-1]");
	align_scalar(p, 2, picks ? "False" : "True");
	x = head_of(v, 1);
	x.type = picks ? DT_INT64 : k->type;
	push(w, x);
}

static void norms(struct walk *w, const struct kname *k, const struct trace_launch *l, struct putting *p)
{
	const struct model_heads h = heads(w);
	const uint64_t n = l->grid[0], cols = in_attention(w) && n != align_walk_rows(w) ? h.dim : w->al->m->hidden,
		       dims[2] = { n, cols };
	struct kname any = *k;
	struct val *v;

	any.hi = 0;
	any.lo = 0;
	if (n != align_walk_rows(w) &&
	    !(in_attention(w) && (n == align_walk_rows(w) * h.heads || n == align_walk_rows(w) * h.kv_heads))) {
		w->by_grid = true;
		w->why = "its rows are not the step's";
		return;
	}
	v = align_walk_find(w, &any, k->type);
	align_tensor(p, 0, k->type, 2, dims);
	align_scalar(p, 1, "");
	align_tensor(p, 2, k->type, 1, &cols);
	if (v)
		v->read = true;
	if (in_attention(w) && cols == h.dim) {
		push(w, of_heads(k->type, align_walk_rows(w), n / align_walk_rows(w), h.dim,
		                 n / align_walk_rows(w) * h.dim));
	} else {
		push(w, of_rows(w, k->type, n, cols));
	}
}

static void embeds(struct walk *w, const struct kname *k, struct putting *p)
{
	const struct model *m = w->al->m;
	const uint64_t table[2] = { m->vocab, m->hidden }, b = align_walk_rows(w);

	if (w->begun && w->last != AT_HEAD) {
		w->by_grid = true;
		w->why = "a row is picked within a layer";
		return;
	}
	w->begun = false;
	w->layer = 0;
	w->tables = false;
	align_tensor(p, 0, m->dtype, 2, table);
	align_scalar(p, 1, "0");
	align_tensor(p, 2, DT_INT64, 1, &b);
	push(w, of_rows(w, m->dtype, b, m->hidden));
	(void)k;
}

static void writes_cache(struct walk *w, struct putting *p)
{
	const struct model *m = w->al->m;
	const struct model_heads h = heads(w);
	const uint64_t cache[4] = { align_walk_rows(w), h.kv_heads, keys(w), h.dim }, one = 1;
	const struct val row = new_row(w, NULL);
	struct val all = align_walk_make(m->dtype, 4, cache);

	align_tensor(p, 0, m->dtype, 4, cache);
	align_scalar(p, 1, "2");
	align_tensor(p, 2, DT_INT64, 1, &one);
	align_walk_tensor(p, 3, m->dtype, &row);
	all.read = true;
	push(w, all);
}

static bool is_range(const struct walk *w, size_t launch)
{
	return launch < w->al->t->n_launches && w->al->names[launch].op &&
	       strcmp(w->al->names[launch].op, "aten::arange") == 0;
}

/* Positions: of one query, of all keys; a mask's are those of sequences, heads and queries, in a row. */
static void ranges(struct walk *w, size_t launch, const struct kname *k, struct putting *p)
{
	const bool first = !(launch && is_range(w, launch - 1)) && is_range(w, launch + 1) && is_range(w, launch + 2);
	uint64_t n = first && within(k, align_walk_rows(w)) ? align_walk_rows(w)
	             : within(k, 1)                         ? 1
	             : within(k, keys(w))                   ? keys(w)
	                                                    : k->hi;
	const uint64_t none = 0;

	align_scalar(p, 0, "0");
	align_scalar(p, 1, arena_printf(w->al->a, "%llu", (unsigned long long)n));
	align_scalar(p, 2, "1");
	align_tensor(p, 3, DT_INT64, 1, &none);
	push(w, align_walk_make(DT_INT64, 1, &n));
}

static void softmaxes(struct walk *w, const struct kname *k, struct putting *p)
{
	const struct model_heads h = heads(w);
	const uint64_t dims[4] = { align_walk_rows(w), h.heads, 1, keys(w) };

	if (!in_attention(w)) {
		w->by_grid = true;
		w->why = "a softmax outside attention";
		return;
	}
	align_tensor(p, 0, k->type, 4, dims);
	align_scalar(p, 1, "-1");
	align_scalar(p, 2, "False");
	push(w, align_walk_make(k->type, 4, dims));
}

static void fills(struct walk *w, const struct kname *k, struct putting *p)
{
	struct val x = align_walk_make(k->type, 0, NULL);

	if (k->lo && !of_model(w, k, &x))
		x = of_grid(w, k);
	align_tensor(p, 0, k->type, x.nd, x.dims);
	push(w, x);
}

/* Are a rotary table's rows the sequences' own, or are all at one position? Its cosines have as many results. */
static uint64_t table_rows(const struct walk *w, size_t launch)
{
	const struct align *al = w->al;
	const uint64_t width = al->m->rotary;

	for (size_t i = launch; i < launch + 8 && i < al->t->n_launches; i++)
		if (al->names[i].op && strcmp(al->names[i].op, "aten::cos") == 0) {
			const bool one = within(&al->names[i], width),
				   all = within(&al->names[i], width * align_walk_rows(w));

			if (one != all)
				return one ? 1 : align_walk_rows(w);
		}
	for (size_t i = launch; i < launch + 3 && i < al->t->n_launches; i++)
		if (align_is_table(al, i))
			return al->t->launches[i].grid[2] == align_walk_rows(w) ||
			                       al->t->launches[i].grid[1] == align_walk_rows(w)
			               ? align_walk_rows(w)
			               : 1;
	return align_walk_rows(w);
}

/* The product of positions and frequencies. */
static void table_product(struct walk *w, size_t launch, struct putting *p)
{
	const uint64_t n = table_rows(w, launch), half = w->al->m->rotary / 2, left[3] = { n, half, 1 },
		       right[3] = { n, 1, 1 }, out[3] = { n, 1, half }, shared[3] = { n > 1 ? 0 : half, 1, 1 };
	struct val made;

	align_strided(p, 0, DT_FP32, 3, left, shared);
	align_tensor(p, 1, DT_FP32, 3, right);
	w->tables = n > 1;
	made = align_walk_make(DT_FP32, 3, out);
	made.strides[1] = 1; /* [n, half, 1] with its last two dims swapped */
	push(w, made);
}

/* The same where it is written as a product element by element. */
static bool table_outer(struct walk *w, const struct kname *k, struct putting *p)
{
	const uint64_t half = w->al->m->rotary / 2;
	const struct val *v = newest(w, 0);
	uint64_t left[3] = { 0, 1, 1 }, out[3] = { 0, 1, half };

	if (w->begun || k->flat || k->type != DT_FP32 || k->inputs != 2 || !v || v->type != DT_FP32 ||
	    strcmp(v->fn, "convert") != 0 || v->elems > align_walk_rows(w) || !half || !within(k, v->elems * half))
		return false;
	left[0] = out[0] = v->elems;
	align_tensor(p, 0, DT_FP32, 3, left);
	align_tensor(p, 1, DT_FP32, 1, &half);
	w->tables = v->elems > 1;
	push(w, align_walk_make(DT_FP32, 3, out));
	return true;
}

/* --- engines' own kernels ---------------------------------------------------------------------------------------- */

/* Depth of the product that comes next: what a fused kernel between two makes. */
static uint64_t next_depth(const struct walk *w, size_t launch)
{
	const struct align *al = w->al;

	for (size_t i = launch + 1; i < al->t->n_launches; i++)
		if (al->at[i] != NO_PLACE)
			return al->places[al->at[i]].k;
	return 0;
}

static void gated(struct walk *w, struct putting *p)
{
	const uint64_t to[2] = { align_walk_rows(w), w->al->m->inter },
		       from[2] = { align_walk_rows(w), 2 * (uint64_t)w->al->m->inter };

	align_tensor(p, 0, w->al->m->dtype, 2, to);
	align_tensor(p, 1, w->al->m->dtype, 2, from);
	push(w, align_walk_make(w->al->m->dtype, 2, to));
}

/* Rows in the format in which the next product multiplies them; their scales are left out. */
static void quantises(struct walk *w, size_t launch, const char *kernel, struct putting *p)
{
	const uint64_t to[2] = { align_walk_rows(w), next_depth(w, launch) };

	if (!to[1]) {
		w->by_grid = true;
		w->why = "no product follows that it could be of";
		return;
	}
	w->quantised = strstr(kernel, "int8") || strstr(kernel, "q8_1")  ? DT_INT8
	               : strstr(kernel, "fp4") || strstr(kernel, "e2m1") ? DT_FP4
	                                                                 : DT_FP8;
	align_tensor(p, 0, w->quantised, 2, to);
	align_tensor(p, 1, w->al->m->dtype, 2, to);
}

static void engine_norm(struct walk *w, bool sums, struct putting *p)
{
	const uint64_t cols = w->al->m->hidden, dims[2] = { align_walk_rows(w), cols };
	const enum dtype d = w->al->m->dtype;

	align_tensor(p, 0, d, 2, dims);
	align_tensor(p, 1, d, 2, dims);
	align_tensor(p, 2, d, 1, &cols);
	push(w, align_walk_make(d, 2, dims));
	(void)sums;
}

static void engine_rope(struct walk *w, struct putting *p)
{
	const struct model_heads h = heads(w);
	const uint64_t b = align_walk_rows(w), q[2] = { b, (uint64_t)h.heads * h.dim },
		       k[2] = { b, (uint64_t)h.kv_heads * h.dim },
		       table[2] = { w->al->m->context ? w->al->m->context : 4096, w->al->m->rotary };
	const enum dtype d = w->al->m->dtype;

	align_tensor(p, 0, DT_INT64, 1, &b);
	align_tensor(p, 1, d, 2, q);
	align_tensor(p, 2, d, 2, k);
	align_tensor(p, 3, d, 2, table);
}

static void engine_cache(struct walk *w, struct putting *p)
{
	const struct model_heads h = heads(w);
	const uint64_t b = align_walk_rows(w), row[3] = { b, h.kv_heads, h.dim },
		       cache[3] = { b * keys(w), h.kv_heads, h.dim };
	const enum dtype d = w->al->m->dtype;

	align_tensor(p, 0, d, 3, row);
	align_tensor(p, 1, d, 3, row);
	align_tensor(p, 2, d, 3, cache);
	align_tensor(p, 3, d, 3, cache);
	align_tensor(p, 4, DT_INT64, 1, &b);
}

/* What inductor made one kernel of: it reads what was not read yet, and makes what the next product multiplies. */
static void fused(struct walk *w, size_t launch, struct putting *p)
{
	const struct model_heads h = heads(w);
	const enum dtype d = w->al->m->dtype;
	const uint64_t q[4] = { align_walk_rows(w), h.heads, 1, h.dim }, table[4] = { 1, 1, 1, h.dim };
	uint64_t to[2] = { align_walk_rows(w), next_depth(w, launch) };
	struct val *v;

	if (in_attention(w)) {
		align_tensor(p, 0, d, 4, q);
		align_tensor(p, 1, d, 4, table);
		align_tensor(p, 2, d, 4, q);
		push(w, align_walk_make(d, 4, q));
		return;
	}
	if (!to[1])
		to[1] = w->al->m->hidden;
	for (uint32_t i = 0, n = 0; i < 3 && n < 2 && (v = newest(w, i)) != NULL; i++)
		if (!v->read && v->type == d) {
			align_walk_tensor(p, (int32_t)n++, d, v);
			v->read = true;
		}
	align_tensor(p, 4, d, 1, &to[1]);
	align_tensor(p, 5, d, 2, to);
	push(w, align_walk_make(d, 2, to));
}

/* --- anchors ----------------------------------------------------------------------------------------------------- */

static void push_product(struct walk *w, const struct place *x)
{
	const struct model_heads h = heads(w);
	const enum dtype d = w->al->m->dtype;
	const uint64_t b = align_walk_rows(w);
	struct val half;

	if (x->role == AT_QKV || x->role == AT_V)
		push(w, of_heads(d, b, h.kv_heads, h.v_dim, x->n));
	if (x->role == AT_QKV || x->role == AT_K)
		push(w, of_heads(d, b, h.kv_heads, h.dim, x->n));
	if (x->role == AT_QKV || x->role == AT_Q)
		push(w, of_heads(d, b, h.heads, h.dim, x->n));
	if (x->role == AT_GATE_UP) {
		half = of_rows(w, d, b, x->n / 2);
		half.strides[0] = x->n;
		half.strides[1] = half.nd == 3 ? x->n : 1;
		push(w, half);
		push(w, half);
	} else if (x->role != AT_Q && x->role != AT_K && x->role != AT_V && x->role != AT_QKV) {
		push(w, of_rows(w, d, b, x->n));
	}
}

static int align_walk_product(struct walk *w, const struct place *x, const char *kernel, struct putting *p)
{
	const struct align *al = w->al;
	const struct model_heads h = heads(w);
	const enum dtype d = al->m->dtype;
	/* A product of rows that were quantised just before, and of weights that its name tells. */
	const enum dtype stored = align_weight_type(kernel), of = w->quantised;
	/* cuBLAS says so in the name where the product itself adds it. */
	const bool bias =
		x->bias && (!str_prefix(kernel, "nvjet_") || strstr(kernel, "_bias") || strstr(kernel, "splitK"));
	const uint64_t b = align_walk_rows(w), left[2] = { b, x->k }, right[2] = { x->k, x->n },
		       transposed[2] = { 1, x->k }, all = b * h.heads, l = keys(w), q[3] = { all, 1, h.dim },
		       k[3] = { all, h.dim, l }, s[3] = { all, 1, l }, v[3] = { all, l, h.v_dim },
		       scores[4] = { b, h.heads, 1, l }, out[4] = { b, h.heads, 1, h.v_dim };

	if (x->role == AT_SCORES || x->role == AT_VALUES) {
		p->op->name = "aten::bmm";
		align_tensor(p, 0, d, 3, x->role == AT_SCORES ? q : s);
		align_tensor(p, 1, d, 3, x->role == AT_SCORES ? k : v);
		push(w, x->role == AT_SCORES ? align_walk_make(d, 4, scores) : align_walk_make(d, 4, out));
		return 0;
	}
	p->op->name = bias ? "aten::addmm" : "aten::mm";
	if (bias)
		align_tensor(p, 0, d, 1, &x->n);
	align_tensor(p, bias, of != DT_NONE ? of : d, 2, left);
	align_strided(p, 1 + bias, stored != DT_NONE ? stored : of != DT_NONE ? of : d, 2, right, transposed);
	push_product(w, x);
	return 0;
}

static int attends(struct walk *w, struct putting *p)
{
	const struct model_heads h = heads(w);
	const enum dtype d = w->al->m->dtype;
	const uint64_t b = align_walk_rows(w), l = keys(w), kv = w->expanded ? h.heads : h.kv_heads,
		       q[4] = { b, h.heads, 1, h.dim }, k[4] = { b, kv, l, h.dim }, v[4] = { b, kv, l, h.v_dim },
		       mask[4] = { b, 1, 1, l };
	struct val *made = newest(w, 0);

	align_tensor(p, 0, d, 4, q);
	align_tensor(p, 1, d, 4, k);
	align_tensor(p, 2, d, 4, v);
	if (made && strcmp(made->fn, "where") == 0)
		align_tensor(p, 3, d, 4, mask);
	for (uint32_t i = 0; (made = newest(w, i)) != NULL; i++)
		made->read = made->read || made->nd == 4;
	push(w, align_walk_make(d, 4, q));
	return 0;
}

static int anchor(struct walk *w, size_t launch)
{
	const struct place *x = &w->al->places[w->al->at[launch]];
	struct putting p;

	w->begun = true;
	w->layer = x->layer;
	if (align_op(w->al, "aten::scaled_dot_product_attention", &p) < 0 ||
	    (x->role == AT_ATTEND ? attends(w, &p) : align_walk_product(w, x, w->al->t->launches[launch].name, &p)) < 0)
		return -1;
	w->last = x->role;
	if (x->role == AT_ATTEND || x->role == AT_O || x->role == AT_DOWN)
		w->quantised = DT_NONE;
	if (x->role == AT_ATTEND || x->role == AT_VALUES)
		w->expanded = false;
	w->open = p.op;
	w->al->t->launches[launch].op = p.op;
	return 0;
}

/* --- the walk ---------------------------------------------------------------------------------------------------- */

static bool reader_is(const struct kname *k, const char *name)
{
	return k->rule && k->rule->shape && strcmp(k->rule->shape, name) == 0;
}

static void between(struct walk *w, size_t launch, struct putting *p)
{
	const struct align *al = w->al;
	const struct kname *k = &al->names[launch];
	const struct trace_launch *l = &al->t->launches[launch];

	if (align_is_table(al, launch))
		p->op->name = "aten::bmm", table_product(w, launch, p);
	else if (reader_is(k, "elementwise") && !table_outer(w, k, p))
		elementwise(w, k, p);
	else if (p->n)
		return;
	else if (reader_is(k, "copy"))
		copies(w, launch, k, p);
	else if (reader_is(k, "concat"))
		concat(w, k, l, p);
	else if (reader_is(k, "reduce"))
		reduces(w, k, p);
	else if (reader_is(k, "norm"))
		norms(w, k, l, p);
	else if (reader_is(k, "arange"))
		ranges(w, launch, k, p);
	else if (reader_is(k, "fill"))
		fills(w, k, p);
	else if (reader_is(k, "softmax"))
		softmaxes(w, k, p);
	else if (reader_is(k, "gather"))
		embeds(w, k, p);
	else if (reader_is(k, "scatter") && in_attention(w))
		writes_cache(w, p);
	else if (reader_is(k, "out_first") && k->rule->kind == OP_CONVERT)
		quantises(w, launch, l->name, p);
	else if (reader_is(k, "out_first"))
		gated(w, p);
	else if (reader_is(k, "norm_out") || reader_is(k, "add_norm"))
		engine_norm(w, reader_is(k, "add_norm"), p);
	else if (reader_is(k, "rope"))
		engine_rope(w, p);
	else if (reader_is(k, "cache_write"))
		engine_cache(w, p);
	else if (reader_is(k, "fused"))
		fused(w, launch, p);
	else
		w->why = "no rule gives such a kernel operands";
}

static void missed(struct walk *w, size_t launch, const char *why)
{
	struct align_report *r = w->al->rep;
	const struct trace_launch *l = &w->al->t->launches[launch];
	const uint64_t took = l->dur_ns > 0 ? (uint64_t)l->dur_ns : 0;
	uint32_t i = 0;

	while (i < r->n_miss && (strcmp(r->miss[i].name, l->name) != 0 || strcmp(r->miss[i].why, why) != 0))
		i++;
	if (i == r->n_miss) {
		r->n_missed++;
		if (i == ALIGN_MISSES) { /* the shortest makes room */
			for (uint32_t j = i = 0; j < ALIGN_MISSES; j++)
				if (r->miss[j].ns < r->miss[i].ns)
					i = j;
			if (r->miss[i].ns >= took)
				return;
		} else {
			r->n_miss++;
		}
		r->miss[i] = (struct align_miss){ .name = l->name, .why = why };
	}
	r->miss[i].count++;
	r->miss[i].ns += took;
}

static int align_walk_one(struct walk *w, size_t i)
{
	struct align *al = w->al;
	struct trace_launch *l = &al->t->launches[i];
	const struct kname *k = &al->names[i];
	struct putting p;

	w->by_grid = false;
	w->why = NULL;
	if (al->at[i] != NO_PLACE)
		return anchor(w, i);
	if (l->kind != TRACE_KERNEL)
		return 0; /* its bytes are its own, and a set before a product joins it below */
	if (k->rule && k->rule->joins_previous) {
		l->op = w->open;
		w->why = w->open ? NULL : "nothing stands before it that it could end";
		return 0;
	}
	if (align_anchors(al, i)) {
		w->why = "no place of the model's step is left for it";
		return 0;
	}
	if (!k->op && !align_is_table(al, i)) {
		w->why = k->rule ? "no rule gives such a kernel operands" : "no rule knows it";
		return 0;
	}
	if (align_op(al, k->op ? k->op : "aten::bmm", &p) < 0)
		return -1;
	between(w, i, &p);
	if (p.n) {
		l->op = p.op;
		w->open = NULL;
	}
	return 0;
}

/* A set right before a product, or a reduction over several CTAs, clears its counters. */
static void join_sets(struct align *al)
{
	for (size_t i = 0; i + 1 < al->t->n_launches; i++) {
		struct trace_launch *l = &al->t->launches[i];

		const struct rule *next = al->names[i + 1].rule;

		if (l->kind == TRACE_MEMSET && !l->op &&
		    (al->at[i + 1] != NO_PLACE ||
		     (next && next->kind == OP_REDUCE && al->t->launches[i + 1].grid[1] > 1)))
			l->op = al->t->launches[i + 1].op;
	}
}

int align_walk(struct align *al)
{
	struct walk *w = arena_alloc(al->a, sizeof *w);
	struct align_report *r = al->rep;

	if (!w)
		return err_nomem(al->e, "for an alignment");
	w->al = al;
	/* Code that writes its norms out keeps the dim, as far as seen; code that has a kernel for them works on rows. */
	w->queries = true;
	for (size_t i = 0; i < al->t->n_launches && w->queries; i++)
		w->queries = !al->names[i].op || strcmp(al->names[i].op, "aten::_fused_rms_norm") != 0;
	for (size_t i = 0; i < al->t->n_launches; i++) {
		const struct trace_launch *l = &al->t->launches[i];
		const uint64_t took = l->dur_ns > 0 ? (uint64_t)l->dur_ns : 0;

		if (align_has_op(l))
			continue;
		if (align_walk_one(w, i) < 0)
			return -1;
		r->launches++;
		r->ns += took;
		if (w->why || w->by_grid) {
			missed(w, i, w->why);
			continue;
		}
		r->aligned++;
		r->aligned_ns += took;
	}
	join_sets(al);
	return 0;
}
