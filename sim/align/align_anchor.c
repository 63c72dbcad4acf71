/* align_anchor.c - products and attention, whose dims their places say. */
#include <string.h>

#include "sim/align/align_walk.h"
#include "sim/base/str.h"

static void push_product(struct walk *w, const struct place *x)
{
	const struct model_heads h = walk_heads(w);
	const enum dtype d = w->al->m->dtype;
	const uint64_t b = walk_rows(w);
	struct val half;

	if (x->role == AT_QKV || x->role == AT_V)
		walk_push(w, walk_of_heads(d, b, h.kv_heads, h.v_dim, x->n));
	if (w->al->m->arch->wide_norms && (x->role == AT_Q || x->role == AT_K)) {
		walk_push(w, walk_of_rows(w, d, b, x->n));
		return;
	}
	if (x->role == AT_QKV || x->role == AT_K)
		walk_push(w, walk_of_heads(d, b, h.kv_heads, h.dim, x->n));
	if (x->role == AT_QKV || x->role == AT_Q)
		walk_push(w, walk_of_heads(d, b, h.heads, h.dim, x->n));
	if (x->role == AT_ROUTER) {
		const uint64_t scores[2] = { b, x->n };

		walk_push(w, walk_val(d, 2, scores));
		return;
	}
	if (x->role == AT_EXPERTS_UP || x->role == AT_EXPERTS_DOWN) {
		const uint64_t picks[2] = { walk_picks(w), x->n };

		half = walk_val(d, 2, picks);
		if (x->role == AT_EXPERTS_UP) {
			half.dims[1] /= 2;
			half.elems /= 2;
			half.strides[1] =
				w->al->m->arch->expert_bias ? 2 : 1; /* gpt-oss has a column of either in turn */
			walk_push(w, half);
			walk_push(w, half);
		}
		walk_push(w, walk_val(d, 2, picks));
		return;
	}
	if (x->role == AT_GATE_UP) {
		half = walk_of_rows(w, d, b, x->n / 2);
		half.strides[0] = x->n;
		half.strides[1] = half.nd == 3 ? x->n : 1;
		walk_push(w, half);
		walk_push(w, half);
	} else if (x->role != AT_Q && x->role != AT_K && x->role != AT_V && x->role != AT_QKV) {
		walk_push(w, walk_of_rows(w, d, b, x->n));
	}
}

static int align_walk_product(struct walk *w, const struct place *x, const char *kernel, struct putting *p)
{
	const struct align *al = w->al;
	const struct model_heads h = walk_heads(w);
	const enum dtype d = al->m->dtype;
	/* A product of rows that were quantised just before, and of weights that its name tells. */
	const enum dtype stored = align_weight_type(kernel), of = w->quantised;
	/* cuBLAS says so in the name where the product itself adds it. */
	const bool bias =
		x->bias && (!str_prefix(kernel, "nvjet_") || strstr(kernel, "_bias") || strstr(kernel, "splitK"));
	const uint64_t b = walk_rows(w), left[2] = { b, x->k }, right[2] = { x->k, x->n }, transposed[2] = { 1, x->k },
		       all = b * h.heads, l = walk_keys(w), q[3] = { all, 1, h.dim }, k[3] = { all, h.dim, l },
		       s[3] = { all, 1, l }, v[3] = { all, l, h.v_dim }, scores[4] = { b, h.heads, 1, l },
		       out[4] = { b, h.heads, 1, h.v_dim };

	if (x->role == AT_SCORES || x->role == AT_VALUES) {
		p->op->name = "aten::bmm";
		align_tensor(p, 0, d, 3, x->role == AT_SCORES ? q : s);
		align_tensor(p, 1, d, 3, x->role == AT_SCORES ? k : v);
		walk_push(w, x->role == AT_SCORES ? walk_val(d, 4, scores) : walk_val(d, 4, out));
		return 0;
	}
	if (x->role == AT_EXPERTS_UP || x->role == AT_EXPERTS_DOWN) {
		const uint64_t experts = al->m->moe.experts, rows[2] = { walk_picks(w), x->k },
			       weights[3] = { experts, x->k, x->n }, columns[3] = { x->k * x->n, 1, x->k };

		p->op->name = "aten::_grouped_mm";
		align_tensor(p, 0, of != DT_NONE ? of : d, 2, rows);
		align_strided(p, 1, stored != DT_NONE ? stored : of != DT_NONE ? of : d, 3, weights, columns);
		align_tensor(p, 2, DT_INT32, 1, &experts);
		push_product(w, x);
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
	const struct model_heads h = walk_heads(w);
	const enum dtype d = w->al->m->dtype;
	const uint64_t b = walk_rows(w), l = walk_keys(w), kv = w->expanded ? h.heads : h.kv_heads,
		       q[4] = { b, h.heads, 1, h.dim }, k[4] = { b, kv, l, h.dim }, v[4] = { b, kv, l, h.v_dim },
		       mask[4] = { b, 1, 1, l };
	struct val *made = walk_newest(w, 0);

	align_tensor(p, 0, d, 4, q);
	align_tensor(p, 1, d, 4, k);
	align_tensor(p, 2, d, 4, v);
	if (made && strcmp(made->fn, "where") == 0)
		align_tensor(p, 3, d, 4, mask);
	for (uint32_t i = 0; (made = walk_newest(w, i)) != NULL; i++)
		made->read = made->read || made->nd == 4;
	walk_push(w, walk_val(d, 4, q));
	return 0;
}

int walk_anchor(struct walk *w, size_t launch)
{
	const struct place *x = &w->al->places[w->al->at[launch]];
	struct putting p;

	w->begun = true;
	w->layer = x->layer;
	if (align_op(w->al, "aten::scaled_dot_product_attention", &p) < 0 ||
	    (x->role == AT_ATTEND ? attends(w, &p) : align_walk_product(w, x, w->al->t->launches[launch].name, &p)) < 0)
		return -1;
	w->last = x->role;
	if (x->role == AT_ROUTER)
		w->gathered = false;
	w->picks = x->role == AT_ROUTER || x->role == AT_EXPERTS_UP || x->role == AT_EXPERTS_DOWN;
	if (x->role == AT_ATTEND || x->role == AT_O || x->role == AT_DOWN || x->role == AT_EXPERTS_DOWN)
		w->quantised = DT_NONE;
	if (x->role == AT_ATTEND || x->role == AT_VALUES)
		w->expanded = false;
	w->open = p.op;
	w->al->t->launches[launch].op = p.op;
	return 0;
}
