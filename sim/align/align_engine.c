/* align_engine.c - serving engines' own kernels, and what a compiler fused: sized by where they stand. */
#include <string.h>

#include "sim/align/align_walk.h"

/* The product that comes next, for whose depth a fused kernel between two works; NULL: none. */
static const struct place *next_product(const struct walk *w, size_t launch)
{
	const struct align *al = w->al;

	for (size_t i = launch + 1; i < al->t->n_launches; i++)
		if (al->at[i] != NO_PLACE)
			return &al->places[al->at[i]];
	return NULL;
}

static void gated(struct walk *w, struct putting *p)
{
	const uint64_t rows = w->picks ? walk_picks(w) : walk_rows(w),
		       cols = w->picks ? w->al->m->moe.inter : w->al->m->inter, to[2] = { rows, cols },
		       from[2] = { rows, 2 * cols };

	align_tensor(p, 0, w->al->m->dtype, 2, to);
	align_tensor(p, 1, w->al->m->dtype, 2, from);
	walk_push(w, walk_val(w->al->m->dtype, 2, to));
}

/* Rows in the format in which the next product multiplies them; their scales are left out. */
static void quantises(struct walk *w, size_t launch, const char *kernel, struct putting *p)
{
	const struct place *next = next_product(w, launch);
	const uint64_t to[2] = { next && next->role == AT_EXPERTS_DOWN ? walk_picks(w) : walk_rows(w),
		                 next ? next->k : 0 };

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

/* Of rows, or of each head: a CTA a row. */
static void engine_norm(struct walk *w, const struct trace_launch *l, struct putting *p)
{
	const struct model_heads h = walk_heads(w);
	const uint64_t b = walk_rows(w), n = l->grid[0];
	const bool each =
		walk_in_attention(w) && w->al->m->head_norms && n != b && (n == b * h.heads || n == b * h.kv_heads);
	const uint64_t cols = each ? h.dim : w->al->m->hidden, dims[2] = { each ? n : b, cols };
	const enum dtype d = w->al->m->dtype;

	align_tensor(p, 0, d, 2, dims);
	align_tensor(p, 1, d, 2, dims);
	align_tensor(p, 2, d, 1, &cols);
	walk_push(w, walk_val(d, 2, dims));
}

static void engine_rope(struct walk *w, struct putting *p)
{
	const struct model_heads h = walk_heads(w);
	const uint64_t b = walk_rows(w), q[2] = { b, (uint64_t)h.heads * h.dim },
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
	const struct model_heads h = walk_heads(w);
	const uint64_t b = walk_rows(w), row[3] = { b, h.kv_heads, h.dim },
		       cache[3] = { b * walk_keys(w), h.kv_heads, h.dim };
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
	const struct model_heads h = walk_heads(w);
	const enum dtype d = w->al->m->dtype;
	const uint64_t q[4] = { walk_rows(w), h.heads, 1, h.dim }, table[4] = { 1, 1, 1, h.dim };
	const struct place *next = next_product(w, launch);
	uint64_t to[2] = { walk_rows(w), next ? next->k : 0 };
	struct val *v;

	if (walk_in_attention(w)) {
		align_tensor(p, 0, d, 4, q);
		align_tensor(p, 1, d, 4, table);
		align_tensor(p, 2, d, 4, q);
		walk_push(w, walk_val(d, 4, q));
		return;
	}
	if (!to[1])
		to[1] = w->al->m->hidden;
	for (uint32_t i = 0, n = 0; i < 3 && n < 2 && (v = walk_newest(w, i)) != NULL; i++)
		if (!v->read && v->type == d) {
			walk_put(p, (int32_t)n++, d, v);
			v->read = true;
		}
	align_tensor(p, 4, d, 1, &to[1]);
	align_tensor(p, 5, d, 2, to);
	walk_push(w, walk_val(d, 2, to));
}

bool walk_engine(struct walk *w, size_t launch, struct putting *p)
{
	const struct align *al = w->al;
	const struct kname *k = &al->names[launch];

	if (walk_reads(k, "out_first") && k->rule->kind == OP_CONVERT)
		quantises(w, launch, al->t->launches[launch].name, p);
	else if (walk_reads(k, "out_first"))
		gated(w, p);
	else if (walk_reads(k, "norm_out") || walk_reads(k, "add_norm"))
		engine_norm(w, &al->t->launches[launch], p);
	else if (walk_reads(k, "rope"))
		engine_rope(w, p);
	else if (walk_reads(k, "cache_write"))
		engine_cache(w, p);
	else if (walk_reads(k, "fused"))
		fused(w, launch, p);
	else
		return false;
	return true;
}
