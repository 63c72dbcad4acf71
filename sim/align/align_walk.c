/* align_walk.c - from launch to launch: operators with dims, by what was made before and by where each kernel stands. */
#include <string.h>

#include "sim/align/align_walk.h"

bool walk_reads(const struct kname *k, const char *name)
{
	return k->rule && k->rule->shape && strcmp(k->rule->shape, name) == 0;
}

static void between(struct walk *w, size_t launch, struct putting *p)
{
	if (!walk_experts(w, launch, p) && !walk_engine(w, launch, p))
		walk_stock(w, launch, p);
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

/* A copy on the device of as many bytes as something has that was made just before. */
static int copies_made(struct walk *w, struct trace_launch *l)
{
	struct putting p;
	struct val *v;

	for (uint32_t i = 0; i < WALK_LATELY && (v = walk_newest(w, i)) != NULL; i++) {
		const struct val packed = walk_val(v->type, v->nd, v->dims);

		if (l->bytes < 0 || dtype_bytes(v->type, v->elems) != (uint64_t)l->bytes)
			continue;
		if (align_op(w->al, "aten::copy_", &p) < 0)
			return -1;
		walk_put(&p, 0, v->type, &packed);
		walk_put(&p, 1, v->type, v);
		align_scalar(&p, 2, "False");
		l->op = p.op;
		return 0;
	}
	return 0;
}

/* Pointers of groups, a scan's counters: of the operator of the launch behind it. */
static bool sets_up_next(const struct align *al, size_t i)
{
	const struct rule *u = al->names[i].rule, *next = i + 1 < al->t->n_launches ? al->names[i + 1].rule : NULL;

	return al->t->launches[i].kind == TRACE_KERNEL && u && u->part && next && next->kind == u->kind;
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
		return walk_anchor(w, i);
	if (l->kind != TRACE_KERNEL) /* its bytes are its own, and a set before a product joins it below */
		return l->kind == TRACE_MEMCPY && l->dir == TRACE_COPY_DTOD ? copies_made(w, l) : 0;
	if (k->rule && k->rule->joins_previous) {
		l->op = w->open;
		w->why = w->open ? NULL : "nothing stands before it that it could end";
		return 0;
	}
	if (sets_up_next(al, i))
		return 0;
	if (align_anchors(al, i)) {
		w->why = "no place of the model's step is left for it";
		return 0;
	}
	if (walk_joins_topk(w, i)) {
		l->op = al->t->launches[i - 1].op;
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

		if (sets_up_next(al, i))
			l->op = al->t->launches[i + 1].op;
		else if (l->kind == TRACE_MEMSET && !l->op &&
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
