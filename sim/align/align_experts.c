/* align_experts.c - a mixture's picks: what stands between a router and the sum over what its experts made.
 *
 * Stock code sorts the picks, gathers their rows, counts how many each expert has, multiplies them in groups and puts them
 * back; engines have kernels of their own for the same. How many rows there are is the model's: those of the step, times
 * the experts that each picks. Which expert has which is on the device, as in an eager step. */
#include <string.h>

#include "sim/align/align_walk.h"
#include "sim/base/str.h"

uint64_t walk_picks(const struct walk *w)
{
	return walk_rows(w) * w->al->m->moe.top;
}

static struct val of_picks(const struct walk *w, enum dtype type, uint64_t cols)
{
	const uint64_t dims[2] = { walk_picks(w), cols };

	return walk_val(type, cols ? 2 : 1, dims);
}

/* The newest of the scores, or of the picked ones'. */
static struct val *of_scores(struct walk *w)
{
	const uint64_t b = walk_rows(w), all = b * w->al->m->moe.experts, picked = walk_picks(w);
	struct val *v;

	for (uint32_t i = 0; (v = walk_newest(w, i)) != NULL; i++)
		if (v->nd == 2 && v->type != DT_INT64 && v->type != DT_INT32 && v->dims[0] == b &&
		    (v->elems == all || v->elems == picked))
			return v;
	return NULL;
}

static void scored(struct walk *w, struct putting *p)
{
	struct val *v = of_scores(w), x;

	if (!v) {
		w->by_grid = true;
		w->why = "no scores stand before it";
		return;
	}
	v->read = true;
	x = *v;
	walk_put(p, 0, x.type, &x);
	align_scalar(p, 1, "-1");
	align_scalar(p, 2, "False");
	walk_push(w, walk_val(x.type, x.nd, x.dims));
}

/* A kernel that follows of the same operator, as a sort of what was picked, joins it. */
static void picked(struct walk *w, struct putting *p)
{
	const struct model_moe *moe = &w->al->m->moe;
	const uint64_t scores[2] = { walk_rows(w), moe->experts }, dims[2] = { walk_rows(w), moe->top };
	struct val *v = of_scores(w);
	const enum dtype d = v ? v->type : w->al->m->dtype;

	if (v)
		v->read = true;
	align_tensor(p, 0, d, 2, scores);
	align_scalar(p, 1, arena_printf(w->al->a, "%u", moe->top));
	align_scalar(p, 2, "-1");
	align_scalar(p, 3, "True");
	align_scalar(p, 4, "True");
	walk_push(w, walk_val(DT_INT64, 2, dims));
	walk_push(w, walk_val(d, 2, dims));
}

bool walk_joins_topk(const struct walk *w, size_t launch)
{
	const struct kname *k = &w->al->names[launch];

	return w->picks && launch && strstr(w->al->t->launches[launch].name, "at::native::") &&
	       w->al->t->launches[launch - 1].op && walk_reads(k - 1, "topk") && (k - 1)->rule->routes &&
	       (walk_reads(k, "topk") || walk_reads(k, "sort"));
}

static void counts(struct walk *w, struct putting *p)
{
	const uint64_t experts = w->al->m->moe.experts;
	const struct val x = of_picks(w, DT_INT32, 0);

	walk_put(p, 0, DT_INT32, &x);
	align_scalar(p, 1, arena_printf(w->al->a, "%llu", (unsigned long long)experts));
	align_scalar(p, 2, "0");
	walk_push(w, walk_val(DT_INT32, 1, &experts));
}

static void sums_up(struct walk *w, struct putting *p)
{
	const uint64_t experts = w->al->m->moe.experts;

	align_tensor(p, 0, DT_INT32, 1, &experts);
	align_scalar(p, 1, "0");
	walk_push(w, walk_val(DT_INT32, 1, &experts));
}

static void sorts(struct walk *w, struct putting *p)
{
	const struct val x = of_picks(w, DT_INT64, 0);

	walk_put(p, 0, DT_INT64, &x);
	align_scalar(p, 1, "False");
	align_scalar(p, 2, "-1");
	walk_push(w, x);
	walk_push(w, x);
}

/* Rows of x, of a bias of each expert, of the results; or the picks' weights in another order. */
static void gathers(struct walk *w, const struct trace_launch *l, struct putting *p)
{
	const struct model *m = w->al->m;
	const enum dtype d = m->dtype;
	const uint64_t x[2] = { walk_rows(w), m->hidden }, up[2] = { m->moe.experts, 2 * (uint64_t)m->moe.inter },
		       down[2] = { m->moe.experts, m->hidden }, all[2] = { walk_picks(w), m->hidden };
	const uint64_t *table = w->last == AT_EXPERTS_DOWN ? all
	                        : w->last == AT_EXPERTS_UP ? down
	                        : w->gathered              ? up
	                                                   : x;
	struct val y;

	p->op->name = "aten::index";
	if (!strstr(l->name, "vectorized_gather")) {
		y = of_picks(w, d, 0);
		walk_put(p, 0, d, &y);
	} else {
		align_tensor(p, 0, d, 2, table);
		y = of_picks(w, d, table[1]);
		w->gathered = true;
	}
	walk_push(w, y);
}

static void puts_back(struct walk *w, struct putting *p)
{
	const struct val x = of_picks(w, DT_INT64, 0);

	walk_put(p, 0, DT_INT64, &x);
	walk_put(p, 2, DT_INT64, &x);
	align_scalar(p, 3, "False");
	align_scalar(p, 4, "False");
	walk_push(w, x);
}

/* What each token's experts made. */
static void joins(struct walk *w, struct putting *p)
{
	const struct model *m = w->al->m;
	const uint64_t dims[3] = { walk_rows(w), m->moe.top, m->hidden };

	align_tensor(p, 0, m->dtype, 3, dims);
	align_scalar(p, 1, "[1]");
	align_scalar(p, 2, "False");
	walk_push(w, walk_of_rows(w, m->dtype, dims[0], dims[2]));
	w->picks = false;
}

/* Rows of experts that are elsewhere are cleared by a mask; a factor of each row is its pick's weight. */
bool walk_experts_second(const struct walk *w, const struct kname *k, const struct val *x, struct putting *p)
{
	const uint64_t one[2] = { x->nd ? x->dims[0] : 1, 1 };

	if (!w->picks || x->nd != 2)
		return false;
	align_tensor(p, 1, strcmp(k->rule->fn, "where") == 0 ? DT_BOOL : x->type, 2, one);
	return true;
}

static void ranges(struct walk *w, struct putting *p)
{
	const uint64_t none = 0;

	align_scalar(p, 0, "0");
	align_scalar(p, 1, arena_printf(w->al->a, "%llu", (unsigned long long)walk_picks(w)));
	align_scalar(p, 2, "1");
	align_tensor(p, 3, DT_INT64, 1, &none);
	walk_push(w, of_picks(w, DT_INT64, 0));
}

bool walk_experts(struct walk *w, size_t launch, struct putting *p)
{
	const struct align *al = w->al;
	const struct kname *k = &al->names[launch];
	const struct trace_launch *l = &al->t->launches[launch];
	const uint64_t experts = al->m->moe.experts;

	if (!w->picks)
		return false;
	if (walk_reads(k, "softmax"))
		scored(w, p);
	else if (walk_reads(k, "topk"))
		picked(w, p);
	else if (walk_reads(k, "sort"))
		sorts(w, p);
	else if (walk_reads(k, "histogram"))
		counts(w, p);
	else if (walk_reads(k, "scan"))
		sums_up(w, p);
	else if (walk_reads(k, "gather") || walk_reads(k, "index"))
		gathers(w, l, p);
	else if (walk_reads(k, "scatter"))
		puts_back(w, p);
	else if (walk_reads(k, "arange"))
		ranges(w, p);
	else if (walk_reads(k, "fill") && k->type == DT_INT32)
		align_tensor(p, 0, DT_INT32, 1, &experts);
	else if (walk_reads(k, "reduce") && w->last == AT_EXPERTS_DOWN)
		joins(w, p);
	else
		return false;
	return true;
}
