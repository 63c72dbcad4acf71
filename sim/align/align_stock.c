/* align_stock.c - kernels of stock framework code between products and attention: their operators' dims. */
#include <string.h>

#include "sim/align/align_walk.h"

/* Half of a value along its last dim: what rotates. */
static bool half_of(struct walk *w, const struct kname *k, struct val *out)
{
	struct val *v;

	for (uint32_t i = 0; walk_in_attention(w) && (v = walk_newest(w, i)) != NULL; i++)
		if (v->type == k->type && v->nd == 4 && v->dims[3] % 2 == 0 && v->dims[3] > 1 &&
		    (!w->half_tables || v->dims[3] == w->al->m->rotary) && walk_within(k, v->elems / 2)) {
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
	const bool halves = k->rule && (strcmp(k->rule->fn, "neg") == 0 ||
	                                (w->half_tables && !k->flat && walk_in_attention(w) && w->last != AT_SCORES &&
	                                 strcmp(k->rule->fn, "mul") == 0));
	struct val x, *v;

	*is = NULL;
	if (halves && half_of(w, k, &x))
		return x;
	*is = walk_find(w, k, type);
	if (*is && w->picks && k->inputs > 1 && !k->flat && (v = walk_newest(w, 1)) != NULL && v->type == type &&
	    walk_within(k, v->elems) && v->elems > (*is)->elems)
		*is = v; /* what was just summed up divides it */
	if (*is)
		return **is;
	if (half_of(w, k, &x))
		return x;
	if (walk_of_model(w, k, &x)) {
		x.type = type != DT_NONE ? type : k->type;
		return x;
	}
	return walk_of_grid(w, k);
}

/* A factor a row: of all of x's dims but the last. */
static struct val *row_factor(struct walk *w, const struct val *x, const struct val * not )
{
	struct val *v;

	for (uint32_t i = 0; i < 3 && (v = walk_newest(w, i)) != NULL; i++)
		if (v != not &&v->type == x->type && !v->read && v->nd && v->dims[v->nd - 1] == 1 && x->nd &&
		    x->elems / x->dims[x->nd - 1] == v->elems)
			return v;
	return NULL;
}

/* A part of what x is another part of: its rows lie apart, so that the kernel is that of operands that broadcast. */
static bool other_part(struct walk *w, const struct val *x, const struct val *is, struct putting *p)
{
	struct val *v;

	for (uint32_t i = 0; i < WALK_LATELY && !walk_in_attention(w) && (v = walk_newest(w, i)) != NULL; i++)
		if (v != is && !v->read && v->type == x->type && v->nd == x->nd && !walk_is_packed(v) &&
		    memcmp(v->dims, x->dims, (size_t)x->nd * sizeof *x->dims) == 0) {
			walk_put(p, 1, x->type, v);
			v->read = true;
			return true;
		}
	return false;
}

/* What is broadcast over x: a factor a row, a rotary table, a mask, a weight. */
static void second_broadcast(struct walk *w, const struct kname *k, const struct val *x, const struct val *is,
                             struct putting *p)
{
	struct val *v = row_factor(w, x, is), *before = walk_newest(w, 0);
	const uint64_t last = x->nd ? x->dims[x->nd - 1] : 1;
	uint64_t dims[WALK_ND];

	if (other_part(w, x, is, p) || walk_experts_second(w, k, x, p))
		return;
	if (v) {
		memcpy(dims, x->dims, sizeof dims);
		dims[x->nd - 1] = 1;
		align_tensor(p, 1, x->type, x->nd, dims);
		v->read = true;
		return;
	}
	if (w->last == AT_SCORES && x->nd == 4) { /* a mask */
		dims[0] = x->dims[0];
		dims[1] = dims[2] = 1;
		dims[3] = last;
		align_tensor(p, 1, x->type, 4, dims);
		return;
	}
	if (dtype_bits(x->type) <= 16 && walk_in_attention(w) && x->nd == 4 &&
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
	if (!w->begun && w->al->m->scale_embed && before == is) {
		align_tensor(p, 1, x->type, 0, NULL); /* the embedding's factor, a tensor of no dims */
		return;
	}
	align_tensor(p, 1, k->casts ? w->al->m->dtype : x->type, 1, &last); /* a weight of another type is cast */
}

/* x, and an operand of equal size: what was not read yet; for a sum the residual, which was; else a weight. The one that was
 * made before comes first, as in "residual + x" and "act(gate) * up". */
static void both_alike(struct walk *w, const struct kname *k, const struct val *x, const struct val *is,
                       struct putting *p)
{
	const bool sums = k->rule && strcmp(k->rule->fn, "add") == 0;
	struct val *v;

	for (int pass = 0; pass <= sums; pass++)
		for (uint32_t i = 0; (pass || i < WALK_LATELY) && (v = walk_newest(w, i)) != NULL; i++)
			if (v != is && v->type == x->type && v->elems == x->elems && (pass || !v->read)) {
				walk_put(p, 0, x->type, v->nd == 1 || v->nd == x->nd ? v : x);
				walk_put(p, 1, x->type, x);
				v->read = true;
				return;
			}
	walk_put(p, 0, x->type, x);
	if (sums || !x->nd || x->dims[x->nd - 1] != x->elems)
		walk_put(p, 1, x->type, x);
	else
		align_tensor(p, 1, k->casts ? w->al->m->dtype : x->type, 1,
		             &x->dims[x->nd - 1]); /* one row: its weight lies alike */
}

/* One mask, which all sequences share: the newest, where as many results as it has for each are made. */
static void mask_of_all(struct walk *w, const struct kname *k, struct val *x)
{
	struct val *v;

	for (uint32_t i = 0; i < WALK_LATELY && (v = walk_newest(w, i)) != NULL; i++) {
		const uint64_t dims[4] = { walk_rows(w), 1, 1, v->elems };

		if (v->type != DT_BOOL || !v->elems)
			continue;
		if (walk_within(k, dims[0] * v->elems))
			*x = walk_val(DT_BOOL, 4, dims);
		return;
	}
}

static enum dtype result_type(const struct kname *k)
{
	return k->rule && strcmp(k->rule->fn, "compare") == 0 ? DT_BOOL : k->type;
}

/* A cache of a window, whose rows move on by one. */
static void rolls(struct walk *w, struct putting *p)
{
	const struct model_heads h = walk_heads(w);
	const uint64_t dims[4] = { walk_rows(w), h.kv_heads, walk_keys(w), h.dim };
	struct val cache = walk_val(w->al->m->dtype, 4, dims);

	walk_put(p, 0, cache.type, &cache);
	cache.read = true;
	walk_push(w, cache);
}

/* A norm over all heads together is of rows; what follows is of heads. */
static void as_heads(const struct walk *w, struct val *y)
{
	const struct model_heads h = walk_heads(w);
	const uint64_t cols = y->nd ? y->dims[y->nd - 1] : 0;

	if (walk_in_attention(w) && y->nd == 3 && h.dim &&
	    (cols == (uint64_t)h.heads * h.dim || cols == (uint64_t)h.kv_heads * h.dim))
		*y = walk_of_heads(y->type, y->dims[0], cols / h.dim, h.dim, cols);
}

static void elementwise(struct walk *w, const struct kname *k, struct putting *p)
{
	const bool selects = strcmp(k->rule->fn, "where") == 0 && k->inputs == 3;
	struct val *is, x = first_operand(w, k, selects ? DT_BOOL : k->type, &is), y;

	if (!w->begun && k->op && strcmp(k->op, "aten::cos") == 0)
		w->half_tables = x.nd == 3 && x.dims[2] == w->al->m->rotary / 2;
	if (selects && !w->begun)
		mask_of_all(w, k, &x);
	if (selects) {
		if (x.nd == 4 && x.dims[0] == walk_rows(w) && walk_rows(w) > 1)
			x.strides[0] = 0; /* one mask for all sequences */
		walk_put(p, 0, DT_BOOL, &x);
		align_tensor(p, 1, k->type, 0, NULL);
		align_tensor(p, 2, k->type, 0, NULL);
	} else if (k->type == DT_INT64 && k->flat) { /* positions, to which one number is added */
		const bool counter =
			k->inputs == 1 && walk_in_attention(w) && x.elems == 1; /* the cache's own, of no dims */

		p->op->name = counter ? "aten::add_" : p->op->name;
		align_tensor(p, 0, k->type, counter ? 0 : x.nd, x.dims);
		align_tensor(p, 1, k->type, 0, NULL);
	} else {
		x.type = k->type;
		if (k->inputs > 1 && k->flat) {
			both_alike(w, k, &x, is, p);
		} else {
			walk_put(p, 0, k->type, &x);
			if (k->inputs > 1)
				second_broadcast(w, k, &x, is, p);
		}
	}
	if (is)
		is->read = true;
	if (w->last == AT_HEAD && x.elems == walk_rows(w) * w->al->m->vocab)
		w->al->rep->logits_agree++;
	y = selects ? walk_val(k->type, x.nd, x.dims) : walk_like(result_type(k), &x, k->inputs > 1 && !k->flat);
	y.fn = k->rule->fn;
	if (w->al->m->arch->wide_norms && k->type == w->al->m->dtype)
		as_heads(w, &y);
	walk_push(w, y);
}

/* Heads' keys or values repeated for each query's head: read once, written for all. */
static bool repeats_cache(struct walk *w, const struct kname *k, struct putting *p)
{
	const struct model_heads h = walk_heads(w);
	const uint64_t each = h.kv_heads ? h.heads / h.kv_heads : 0, l = walk_keys(w), d = h.dim,
		       dims[5] = { walk_rows(w), h.kv_heads, each, l, d }, out[4] = { walk_rows(w), h.heads, l, d };
	struct trace_arg *a;

	if (!walk_in_attention(w) || each < 2 || !k->hi || !walk_within(k, walk_elems(5, dims)))
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
	walk_push(w, walk_val(k->type, 4, out));
	return true;
}

static uint64_t table_rows(const struct walk *w, size_t launch);

static struct val cast_from(struct walk *w, size_t launch, const struct kname *k)
{
	struct val *v, x;

	if (launch + 1 < w->al->t->n_launches && align_is_table(w->al, launch + 1)) {
		const uint64_t dims[3] = { table_rows(w, launch), 1, 1 };

		return walk_val(DT_INT64, 3, dims);
	}
	for (uint32_t i = 0; (v = walk_newest(w, i)) != NULL; i++)
		if (walk_within(k, v->elems) &&
		    (k->from != DT_NONE ? v->type == k->from
		                        : v->type != k->type && dtype_bits(v->type) > 8 &&
		                                  (k->type != DT_INT32 || v->type == DT_INT64))) {
			v->read = true;
			return *v;
		}
	if (!walk_of_model(w, k, &x))
		x = walk_of_grid(w, k);
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
		const struct val to = walk_like(k->type, &x, false);

		walk_put(p, 0, k->type, &to);
	}
	walk_put(p, 1, k->casts ? x.type : k->type, &x);
	align_scalar(p, 2, "False");
	if (w->last == AT_HEAD && x.elems == walk_rows(w) * w->al->m->vocab)
		w->al->rep->logits_agree++;
	x = walk_like(k->type, &x, false);
	x.fn = k->casts ? "convert" : "copy";
	walk_push(w, x);
}

static void align_walk_list(struct putting *p, const struct val *a, const struct val *b)
{
	walk_put(p, 0, a->type, a);
	walk_put(p, 0, b->type, b);
	for (uint32_t i = 0; i < p->n; i++)
		p->args[i].list = (int32_t)i;
}

/* Does the long member have the cache's size, as far as the grid tells? */
static bool grows_cache(const struct walk *w, const struct trace_launch *l)
{
	const struct model_heads h = walk_heads(w);
	const uint64_t row = walk_rows(w) * h.kv_heads * h.dim * dtype_bits(w->al->m->dtype) / 8,
		       old = walk_keys(w) - 1;

	return !strstr(l->name, "_vectorized") || align_concat_capped(w->al, l) ||
	       (old * row > (l->grid[0] - 1) * (uint64_t)ALIGN_CAT_CTA &&
	        old * row <= l->grid[0] * (uint64_t)ALIGN_CAT_CTA);
}

/* The step's own row of keys, then of values: in this order caches are written. */
static struct val new_row(struct walk *w, struct val *made)
{
	const struct model_heads h = walk_heads(w);
	struct val *v;

	for (uint32_t i = 0; i < WALK_LATELY && (v = walk_newest(w, i)) != NULL; i++)
		if (v->nd == 4 && v->dims[1] == h.kv_heads && v->dims[2] == 1 && v->dims[3] == h.dim &&
		    (!v->read || v == made)) {
			v->read = true;
			return *v;
		}
	return walk_of_heads(w->al->m->dtype, walk_rows(w), h.kv_heads, h.dim, (uint64_t)h.kv_heads * h.dim);
}

/* What was made beside x and nothing read yet. */
static struct val other_half(struct walk *w, const struct val *x)
{
	struct val *v;

	for (uint32_t i = 0; i < WALK_LATELY && (v = walk_newest(w, i)) != NULL; i++)
		if (v != x && !v->read && v->type == x->type && v->nd == x->nd && v->elems == x->elems) {
			v->read = true;
			return *v;
		}
	return *x;
}

/* Halves that were rotated; what rotates and the rest of a head, which may be nothing; the same twice; the cache and its
 * new row. */
static void concat(struct walk *w, const struct kname *k, const struct trace_launch *l, struct putting *p)
{
	const struct model_heads h = walk_heads(w);
	struct kname any = *k;
	struct val *v, x, y, out;
	const char *along = "-1";

	any.hi = 0;
	v = walk_find(w, &any, k->type);
	if (!v || !v->nd) {
		w->by_grid = true;
		w->why = "what it joins is not known";
		return;
	}
	x = y = *v;
	out = walk_val(k->type, v->nd, v->dims);
	v->read = true;
	if (w->last == AT_SCORES && w->al->m->arch->sinks) { /* a logit of each head beside its keys' */
		y.dims[3] = 1;
		y.strides[0] = 0;
		y.strides[1] = y.strides[2] = y.strides[3] = 1;
		out = walk_head_of(&x, x.dims[3] + 1);
	} else if (walk_in_attention(w) && x.nd == 4 && x.dims[3] == h.dim && strcmp(v->fn, "neg") != 0) {
		if (grows_cache(w, l)) {
			const uint64_t old[4] = { walk_rows(w), h.kv_heads, walk_keys(w) - 1, h.dim },
				       all[4] = { walk_rows(w), h.kv_heads, walk_keys(w), h.dim };

			y = new_row(w, v);
			x = walk_val(k->type, 4, old);
			out = walk_val(k->type, 4, all);
			out.read = true;
			along = "2";
		} else {
			y.dims[3] = 0;
		}
	} else if (walk_in_attention(w) && x.nd == 4 && x.dims[3] == w->al->m->rotary && x.dims[3] < h.dim &&
	           strcmp(v->fn, "neg") != 0) {
		y.dims[3] = h.dim - x.dims[3];
		out = walk_head_of(&x, h.dim);
	} else {
		if (strcmp(v->fn, "neg") == 0 && w->half.nd == x.nd && w->half.elems == x.elems)
			y = w->half;
		else if (w->half_tables)
			y = other_half(w, v);
		out = walk_head_of(&x, 2 * x.dims[x.nd - 1]);
	}
	align_walk_list(p, &x, &y);
	align_scalar(p, 1, along);
	walk_push(w, out);
}

static void reduces(struct walk *w, const struct kname *k, struct putting *p)
{
	const bool picks = k->rule->reduce == OP_RED_ARGMAX;
	struct kname any = *k;
	struct val *v, x;

	any.hi = 0;
	v = walk_find(w, &any, k->type);
	if (!v || !v->nd) {
		w->by_grid = true;
		w->why = "what it sums up is not known";
		return;
	}
	walk_put(p, 0, v->type, v);
	v->read = true;
	align_scalar(p, 1, picks ? "-1" : "[-1]");
	align_scalar(p, 2, picks ? "False" : "True");
	x = walk_head_of(v, 1);
	x.type = picks ? DT_INT64 : k->type;
	walk_push(w, x);
}

static void norms(struct walk *w, const struct kname *k, const struct trace_launch *l, struct putting *p)
{
	const struct model_heads h = walk_heads(w);
	const uint64_t n = l->grid[0], cols = walk_in_attention(w) && n != walk_rows(w) ? h.dim : w->al->m->hidden,
		       dims[2] = { n, cols };
	struct kname any = *k;
	struct val *v;

	any.hi = 0;
	any.lo = 0;
	if (n != walk_rows(w) &&
	    !(walk_in_attention(w) && (n == walk_rows(w) * h.heads || n == walk_rows(w) * h.kv_heads))) {
		w->by_grid = true;
		w->why = "its rows are not the step's";
		return;
	}
	v = walk_find(w, &any, k->type);
	align_tensor(p, 0, k->type, 2, dims);
	align_scalar(p, 1, "");
	align_tensor(p, 2, k->type, 1, &cols);
	if (v)
		v->read = true;
	if (walk_in_attention(w) && cols == h.dim) {
		walk_push(w, walk_of_heads(k->type, walk_rows(w), n / walk_rows(w), h.dim, n / walk_rows(w) * h.dim));
	} else {
		walk_push(w, walk_of_rows(w, k->type, n, cols));
	}
}

static void embeds(struct walk *w, const struct kname *k, struct putting *p)
{
	const struct model *m = w->al->m;
	const uint64_t table[2] = { m->vocab, m->hidden }, b = walk_rows(w);

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
	walk_push(w, walk_of_rows(w, m->dtype, b, m->hidden));
	(void)k;
}

static void writes_cache(struct walk *w, struct putting *p)
{
	const struct model *m = w->al->m;
	const struct model_heads h = walk_heads(w);
	const uint64_t cache[4] = { walk_rows(w), h.kv_heads, walk_keys(w), h.dim }, one = 1;
	const struct val row = new_row(w, NULL);
	struct val all = walk_val(m->dtype, 4, cache);

	align_tensor(p, 0, m->dtype, 4, cache);
	align_scalar(p, 1, "2");
	align_tensor(p, 2, DT_INT64, 1, &one);
	walk_put(p, 3, m->dtype, &row);
	all.read = true;
	walk_push(w, all);
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
	uint64_t n = first && walk_within(k, walk_rows(w)) ? walk_rows(w)
	             : walk_within(k, 1)                   ? 1
	             : walk_within(k, w->al->keys)         ? w->al->keys
	             : walk_within(k, walk_keys(w))        ? walk_keys(w)
	                                                   : k->hi;
	const uint64_t none = 0;

	align_scalar(p, 0, "0");
	align_scalar(p, 1, arena_printf(w->al->a, "%llu", (unsigned long long)n));
	align_scalar(p, 2, "1");
	align_tensor(p, 3, DT_INT64, 1, &none);
	walk_push(w, walk_val(DT_INT64, 1, &n));
}

static void softmaxes(struct walk *w, const struct kname *k, struct putting *p)
{
	const struct model_heads h = walk_heads(w);
	const uint64_t dims[4] = { walk_rows(w), h.heads, 1, walk_keys(w) + w->al->m->arch->sinks };

	if (!walk_in_attention(w)) {
		w->by_grid = true;
		w->why = "a softmax outside attention";
		return;
	}
	align_tensor(p, 0, k->type, 4, dims);
	align_scalar(p, 1, "-1");
	align_scalar(p, 2, "False");
	walk_push(w, walk_val(k->type, 4, dims));
}

static void fills(struct walk *w, const struct kname *k, struct putting *p)
{
	struct val x = walk_val(k->type, 0, NULL);

	if (k->lo && !walk_of_model(w, k, &x))
		x = walk_of_grid(w, k);
	align_tensor(p, 0, k->type, x.nd, x.dims);
	walk_push(w, x);
}

/* Are a rotary table's rows the sequences' own, or are all at one position? Its cosines have as many results. */
static uint64_t table_rows(const struct walk *w, size_t launch)
{
	const struct align *al = w->al;
	const uint64_t width = al->m->rotary;

	for (size_t i = launch; i < launch + 8 && i < al->t->n_launches; i++)
		if (al->names[i].op && strcmp(al->names[i].op, "aten::cos") == 0) {
			const bool one = walk_within(&al->names[i], width),
				   all = walk_within(&al->names[i], width * walk_rows(w));

			if (one != all)
				return one ? 1 : walk_rows(w);
		}
	for (size_t i = launch; i < launch + 3 && i < al->t->n_launches; i++)
		if (align_is_table(al, i))
			return al->t->launches[i].grid[2] == walk_rows(w) || al->t->launches[i].grid[1] == walk_rows(w)
			               ? walk_rows(w)
			               : 1;
	return walk_rows(w);
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
	made = walk_val(DT_FP32, 3, out);
	made.strides[1] = 1; /* [n, half, 1] with its last two dims swapped */
	walk_push(w, made);
}

/* The same where it is written as a product element by element. */
static bool table_outer(struct walk *w, const struct kname *k, struct putting *p)
{
	const uint64_t half = w->al->m->rotary / 2;
	const struct val *v = walk_newest(w, 0);
	uint64_t left[3] = { 0, 1, 1 }, out[3] = { 0, 1, half };

	if (w->begun || k->flat || k->type != DT_FP32 || k->inputs != 2 || !v || v->type != DT_FP32 ||
	    strcmp(v->fn, "convert") != 0 || v->elems > walk_rows(w) || !half || !walk_within(k, v->elems * half))
		return false;
	left[0] = out[0] = v->elems;
	align_tensor(p, 0, DT_FP32, 3, left);
	align_tensor(p, 1, DT_FP32, 1, &half);
	w->tables = v->elems > 1;
	walk_push(w, walk_val(DT_FP32, 3, out));
	return true;
}

void walk_stock(struct walk *w, size_t launch, struct putting *p)
{
	const struct align *al = w->al;
	const struct kname *k = &al->names[launch];
	const struct trace_launch *l = &al->t->launches[launch];

	if (align_is_table(al, launch))
		p->op->name = "aten::bmm", table_product(w, launch, p);
	else if (walk_reads(k, "elementwise") && k->rule->kind == OP_COPY)
		rolls(w, p);
	else if (walk_reads(k, "elementwise") && !table_outer(w, k, p))
		elementwise(w, k, p);
	else if (p->n)
		return;
	else if (walk_reads(k, "copy"))
		copies(w, launch, k, p);
	else if (walk_reads(k, "concat"))
		concat(w, k, l, p);
	else if (walk_reads(k, "reduce"))
		reduces(w, k, p);
	else if (walk_reads(k, "norm"))
		norms(w, k, l, p);
	else if (walk_reads(k, "arange"))
		ranges(w, launch, k, p);
	else if (walk_reads(k, "fill"))
		fills(w, k, p);
	else if (walk_reads(k, "softmax"))
		softmaxes(w, k, p);
	else if (walk_reads(k, "gather"))
		embeds(w, k, p);
	else if (walk_reads(k, "scatter") && walk_in_attention(w))
		writes_cache(w, p);
	else
		w->why = "no rule gives such a kernel operands";
}
