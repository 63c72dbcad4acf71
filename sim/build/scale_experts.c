/* scale_experts.c - the experts of a step that was measured, at another batch: other ones, and more or fewer.
 *
 * A framework runs a router's experts one after the other, each the same few ops (a group). Groups are found by the slots
 * of their products; what else is in them must be each group's own. The new step has a group for each expert that the new
 * batch is expected to pick (build_picks.h): the first ones are those that were there, the others are made as the last.
 * What reads a tensor of every group, as the concatenation behind them, reads those of the new ones. Rows of a group's ops
 * and tensors follow its own picks, everything else the batch; but what is made of weights alone, the counts of tokens by
 * expert and what the host reads of them stay, and sorting and counting picks have longer rows and no more of them. */
#include <inttypes.h>
#include <string.h>

#include "sim/build/build_picks.h"
#include "sim/build/scale_int.h"

#define NOBODY UINT32_MAX

/* A router's experts: groups of `len` ops from op `first` on. */
struct groups {
	uint32_t route, first, len, n;
	uint32_t own;  /* tensors that each group writes */
	uint64_t *was; /* of each slot's rows the first, and behind the last */
	struct build_picks to;
	uint32_t *made; /* [slot][own]: the new step's tensors */
};

/* Whose a tensor is. */
struct owner {
	uint32_t route, group, nth; /* route NOBODY: not of a group */
};

struct widening {
	struct scaling *x;
	const struct op_stream *from;
	struct op_stream *s;
	struct arena *a;
	struct groups *g; /* by route */
	struct owner *owner;
	uint32_t *kept; /* by tensor: what it is in the new step */
};

static int scale_experts_unknown(const struct op *o, const char *what, struct err *e)
{
	return err_set(
		e, ERR_CONFIG,
		"op %u ('%s') %s: only experts that run one after the other, each in ops of its own, can be asked at"
		" another batch; a model can ('-m')",
		o->id, o->name, what);
}

/* --- which ops are whose ----------------------------------------------------------------------------------------------- */

static const struct op_operand *operands(const struct op_stream *s, const struct op *o)
{
	return &s->operands[o->first_operand];
}

static uint32_t slot_of(const struct op_stream *s, const struct op *o)
{
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (s->tensors[operands(s, o)[i].tensor].route == o->routed_by)
			return operands(s, o)[i].slot;
	return 0;
}

/* First and last product of a route, and how many slots they name. */
static int find_groups(const struct op_stream *s, struct groups *g, struct err *e)
{
	const struct op_route *r = &s->routes[g->route];
	uint32_t last = 0, slots = 0;

	g->first = NOBODY;
	for (uint32_t i = 0; i < s->n_ops; i++) {
		if (s->ops[i].routed_by != (int32_t)g->route)
			continue;
		if (g->first == NOBODY)
			g->first = i;
		last = i;
		slots = slot_of(s, &s->ops[i]) >= slots ? slot_of(s, &s->ops[i]) + 1 : slots;
	}
	if (g->first == NOBODY || r->topk_op >= s->n_ops)
		return err_set(e, ERR_CONFIG,
		               "router %u has no experts' products, or none that picks them: a batch of"
		               " others cannot be made of it",
		               g->route);
	if ((last - g->first + 1) % slots)
		return scale_experts_unknown(&s->ops[last], "ends experts that do not have the same ops each", e);
	g->n = slots;
	g->len = (last - g->first + 1) / slots;
	return 0;
}

/* Op j of group k is that of the first group, for the k-th pick; its product's rows are the group's. */
static int same_group(const struct op_stream *s, struct groups *g, uint32_t k, struct err *e)
{
	for (uint32_t j = 0; j < g->len; j++) {
		const struct op *a = &s->ops[g->first + j], *o = &s->ops[g->first + k * g->len + j];

		if (o->kind != a->kind || o->n_operands != a->n_operands || o->routed_by != a->routed_by)
			return scale_experts_unknown(o, "is no op of the router's first expert", e);
		if (o->routed_by < 0)
			continue;
		if (o->kind != OP_GEMM || !o->shape.m || slot_of(s, o) != k ||
		    (j && o->shape.m != s->ops[o->id - j].shape.m))
			return scale_experts_unknown(o, "is no product of one expert's rows", e);
	}
	g->was[k + 1] = g->was[k] + s->ops[g->first + k * g->len].shape.m;
	return 0;
}

/* What a group writes is its own. */
static int own_tensors(struct widening *w, const struct groups *g, uint32_t k, uint32_t *n, struct err *e)
{
	*n = 0;
	for (uint32_t j = 0; j < g->len; j++) {
		const struct op *o = &w->from->ops[g->first + k * g->len + j];

		for (uint32_t i = 0; i < o->n_operands; i++) {
			const struct op_operand *p = &operands(w->from, o)[i];
			struct owner *is = &w->owner[p->tensor];

			if (!p->write || (is->route == g->route && is->group == k))
				continue;
			if (is->route != NOBODY || w->from->tensors[p->tensor].role != OP_ACTIVATION)
				return scale_experts_unknown(o, "writes what is not its expert's alone", e);
			*is = (struct owner){ g->route, k, (*n)++ };
		}
	}
	return 0;
}

static int route_groups(struct widening *w, struct groups *g, struct err *e)
{
	const struct op_route *r = &w->from->routes[g->route];
	uint32_t n;
	uint64_t picks;

	if (find_groups(w->from, g, e) < 0)
		return -1;
	picks = w->x->was.batch * w->from->ops[r->topk_op].shape.top;
	if (!(g->was = arena_array(w->a, g->n + 1u, sizeof *g->was)))
		return err_nomem(e, "for experts at another batch");
	g->was[0] = 0;
	for (uint32_t k = 0; k < g->n; k++) {
		if (same_group(w->from, g, k, e) < 0 || own_tensors(w, g, k, &n, e) < 0)
			return -1;
		if (k && n != g->own)
			return scale_experts_unknown(&w->from->ops[g->first + k * g->len],
			                             "begins an expert with other tensors", e);
		g->own = n;
	}
	if (g->was[g->n] != picks)
		return err_set(e, ERR_CONFIG,
		               "router %u's experts have %" PRIu64 " rows, and its %" PRIu64 " sequences pick %" PRIu64,
		               g->route, g->was[g->n], w->x->was.batch, picks);
	return 0;
}

/* --- the new step ------------------------------------------------------------------------------------------------------- */

static uint32_t add_tensor(struct widening *w, uint32_t from, struct scale_ratio by, uint32_t slot)
{
	const uint32_t t = (uint32_t)w->s->n_tensors++;

	w->s->tensors[t] = w->from->tensors[from];
	w->x->of_tensor[t] = by;
	if (slot != NOBODY)
		w->s->tensors[t].name = arena_printf(w->a, "%s.%" PRIu32, w->from->tensors[from].name, slot);
	return t;
}

/* The group that slot `slot` is made as. */
static uint32_t like(const struct groups *g, uint32_t slot)
{
	return slot < g->n ? slot : g->n - 1;
}

static struct scale_ratio scale_experts_rows_of(const struct groups *g, uint32_t slot)
{
	const uint32_t k = like(g, slot);

	return (struct scale_ratio){ build_picks_rows(&g->to, slot), g->was[k + 1] - g->was[k] };
}

static void tensors(struct widening *w)
{
	for (uint32_t t = 0; t < w->from->n_tensors; t++)
		if (w->owner[t].route == NOBODY)
			w->kept[t] = add_tensor(w, t, (struct scale_ratio){ w->x->to.batch, w->x->was.batch }, NOBODY);
	for (uint32_t t = 0; t < w->from->n_tensors; t++) {
		const struct owner *is = &w->owner[t];
		const struct groups *g = is->route == NOBODY ? NULL : &w->g[is->route];

		for (uint32_t slot = 0; g && slot < g->to.hit; slot++)
			if (like(g, slot) == is->group)
				g->made[slot * g->own + is->nth] =
					add_tensor(w, t, scale_experts_rows_of(g, slot), slot < g->n ? NOBODY : slot);
	}
}

static struct op *scale_experts_add_op(struct widening *w, const struct op *from, struct scale_ratio by)
{
	struct op *o = &w->s->ops[w->s->n_ops];

	*o = *from;
	o->id = (uint32_t)w->s->n_ops++;
	o->first_operand = (uint32_t)w->s->n_operands;
	o->n_operands = 0;
	o->first_launch = (uint32_t)w->s->n_launches;
	memcpy(&w->s->launches[w->s->n_launches], &w->from->launches[from->first_launch],
	       from->n_launches * sizeof *w->s->launches);
	w->s->n_launches += from->n_launches;
	w->x->of_op[o->id].by = by;
	return o;
}

static struct op_operand *add_operand(struct widening *w, struct op *o, const struct op_operand *from, uint32_t tensor)
{
	struct op_operand *p = &w->s->operands[w->s->n_operands++];

	*p = *from;
	p->tensor = tensor;
	o->n_operands++;
	return p;
}

/* An expert's rows of what all of them read; of anything else, all. */
static int lines(struct widening *w, struct op *o, struct op_operand *p, const struct groups *g, uint32_t slot,
                 struct err *e)
{
	const uint32_t k = like(g, slot);
	const uint64_t rows = g->was[k + 1] - g->was[k], line = p->touched / rows;
	const enum op_role role = w->s->tensors[p->tensor].role;

	if (role == OP_WEIGHT || role == OP_CONSTANT)
		return 0;
	if (p->touched % rows || p->bytes != p->touched || p->offset != g->was[k] * line)
		return scale_experts_unknown(o, "does not read its expert's rows alone", e);
	p->offset = build_picks_first(&g->to, slot) * line;
	p->bytes = p->touched = build_picks_rows(&g->to, slot) * line;
	w->x->final[w->s->n_operands - 1] = true;
	return 0;
}

static int expert_op(struct widening *w, const struct groups *g, uint32_t slot, const struct op *from, struct err *e)
{
	struct op *o = scale_experts_add_op(w, from, scale_experts_rows_of(g, slot));

	for (uint32_t i = 0; i < from->n_operands; i++) {
		const struct op_operand *p = &operands(w->from, from)[i];
		const struct owner *is = &w->owner[p->tensor];

		if (is->route == g->route && is->group == like(g, slot))
			add_operand(w, o, p, g->made[slot * g->own + is->nth]);
		else if (is->route != NOBODY)
			return scale_experts_unknown(from, "reads what is another expert's", e);
		else if (w->from->tensors[p->tensor].route == (int32_t)g->route)
			add_operand(w, o, p, w->kept[p->tensor])->slot = slot;
		else if (lines(w, o, add_operand(w, o, p, w->kept[p->tensor]), g, slot, e) < 0)
			return -1;
	}
	return 0;
}

static int experts(struct widening *w, const struct groups *g, struct err *e)
{
	for (uint32_t slot = 0; slot < g->to.hit; slot++)
		for (uint32_t j = 0; j < g->len; j++)
			if (expert_op(w, g, slot, &w->from->ops[g->first + like(g, slot) * g->len + j], e) < 0)
				return -1;
	return 0;
}

/* Outside of groups: what is read of every expert's is read of every new one's. */
static int common_op(struct widening *w, const struct op *from, struct err *e)
{
	struct op *o = scale_experts_add_op(w, from, (struct scale_ratio){ w->x->to.batch, w->x->was.batch });

	for (uint32_t i = 0; i < from->n_operands; i++) {
		const struct op_operand *p = &operands(w->from, from)[i];
		const struct owner *is = &w->owner[p->tensor];
		const struct groups *g = is->route == NOBODY ? NULL : &w->g[is->route];

		if (!g) {
			add_operand(w, o, p, w->kept[p->tensor]);
			continue;
		}
		if (p->offset || p->bytes != w->from->tensors[p->tensor].bytes || from->kind != OP_CONCAT)
			return scale_experts_unknown(from, "puts experts' results together in a way that is not known",
			                             e);
		for (uint32_t slot = 0; slot < g->to.hit; slot++)
			if (like(g, slot) == is->group)
				add_operand(w, o, p, g->made[slot * g->own + is->nth]);
	}
	if (o->kind == OP_CONCAT)
		o->shape.arity += o->n_operands - from->n_operands;
	return 0;
}

static const struct groups *begins(const struct widening *w, uint32_t op)
{
	for (uint32_t r = 0; r < w->from->n_routes; r++)
		if (w->g[r].first == op)
			return &w->g[r];
	return NULL;
}

static int ops(struct widening *w, struct err *e)
{
	for (uint32_t i = 0; i < w->from->n_ops;) {
		const struct groups *g = begins(w, i);

		if ((g ? experts(w, g, e) : common_op(w, &w->from->ops[i], e)) < 0)
			return -1;
		for (uint32_t r = 0; r < w->from->n_routes && !g; r++) {
			if (w->from->routes[r].topk_op == i)
				w->s->routes[r].topk_op = (uint32_t)w->s->n_ops - 1;
			if (w->from->routes[r].sync_op == i)
				w->s->routes[r].sync_op = (uint32_t)w->s->n_ops - 1;
		}
		i += g ? g->n * g->len : 1;
	}
	return 0;
}

/* --- what follows otherwise ---------------------------------------------------------------------------------------------- */

static void stays(struct widening *w, struct op *o)
{
	w->x->of_op[o->id].by = (struct scale_ratio){ 1, 1 };
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (operands(w->s, o)[i].write)
			w->x->of_tensor[operands(w->s, o)[i].tensor] = (struct scale_ratio){ 1, 1 };
}

/* A table of weights in another format, and what is made of it. */
static bool of_weights_alone(const struct widening *w, const struct op *o)
{
	bool read = false;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *p = &operands(w->s, o)[i];

		if (p->write)
			continue;
		if (w->s->tensors[p->tensor].role != OP_WEIGHT && !scale_stays(w->x->of_tensor[p->tensor]))
			return false;
		read = true;
	}
	return read;
}

/* Between a router and its experts: the picks' sums by expert, read by the host, and the picks in order. */
static void along_columns(struct widening *w, const struct op_route *r, const struct groups *g)
{
	for (uint32_t i = r->topk_op; i < w->s->n_ops && w->s->ops[i].routed_by < 0; i++) {
		struct op *o = &w->s->ops[i];

		if (o->kind == OP_REDUCE && o->shape.rows == r->experts && o->shape.cols == w->x->was.batch) {
			stays(w, o);
			w->x->of_op[i] = (struct scale_op){ { w->x->to.batch, w->x->was.batch }, true };
		} else if ((o->kind == OP_SORT || o->kind == OP_SCAN) && o->shape.rows == 1 &&
		           o->shape.cols == g->was[g->n]) {
			w->x->of_op[i].cols = true;
		}
	}
}

static void other_ways(struct widening *w)
{
	for (uint32_t r = 0; r < w->s->n_routes; r++)
		along_columns(w, &w->s->routes[r], &w->g[r]);
	for (uint32_t i = 0; i < w->s->n_ops; i++)
		if (w->s->ops[i].routed_by < 0 && of_weights_alone(w, &w->s->ops[i]))
			stays(w, &w->s->ops[i]);
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

static bool inside(const struct groups *g, uint32_t op)
{
	return op >= g->first && op - g->first < g->n * g->len;
}

/* Operands that become one a slot: what stands behind the groups and reads of each. */
static size_t joined(const struct widening *w, const struct groups *g)
{
	size_t n = 0;

	for (uint32_t i = 0; i < w->from->n_ops; i++)
		for (uint32_t k = 0; !inside(g, i) && k < w->from->ops[i].n_operands; k++)
			n += w->owner[operands(w->from, &w->from->ops[i])[k].tensor].route == g->route;
	return n * g->to.hit;
}

/* Room for the new step's tables: each group's, so many times. */
static int scale_experts_room(struct widening *w, struct err *e)
{
	const struct op_stream *f = w->from;
	size_t n_ops = f->n_ops, n_tensors = f->n_tensors, n_operands = f->n_operands, n_launches = f->n_launches;
	struct scaling *x = w->x;

	for (uint32_t r = 0; r < f->n_routes; r++) {
		const struct groups *g = &w->g[r];
		const struct op *o = &f->ops[g->first + (g->n - 1) * g->len];

		n_ops += (size_t)g->to.hit * g->len;
		n_tensors += (size_t)g->to.hit * g->own;
		n_operands += joined(w, g);
		for (uint32_t j = 0; j < g->len; j++) {
			n_operands += (size_t)g->to.hit * o[j].n_operands;
			n_launches += (size_t)g->to.hit * o[j].n_launches;
		}
	}
	w->s->ops = arena_array(w->a, n_ops + 1, sizeof *w->s->ops);
	w->s->tensors = arena_array(w->a, n_tensors + 1, sizeof *w->s->tensors);
	w->s->operands = arena_array(w->a, n_operands + 1, sizeof *w->s->operands);
	w->s->launches = arena_array(w->a, n_launches + 1, sizeof *w->s->launches);
	w->s->routes = arena_array(w->a, f->n_routes + 1, sizeof *w->s->routes);
	x->of_op = arena_array(w->a, n_ops + 1, sizeof *x->of_op);
	x->of_tensor = arena_array(w->a, n_tensors + 1, sizeof *x->of_tensor);
	x->final = arena_array(w->a, n_operands + 1, sizeof *x->final);
	if (!w->s->ops || !w->s->tensors || !w->s->operands || !w->s->launches || !w->s->routes || !x->of_op ||
	    !x->of_tensor || !x->final)
		return err_nomem(e, "for experts at another batch");
	memset(x->of_op, 0, (n_ops + 1) * sizeof *x->of_op);
	memset(x->final, 0, (n_operands + 1) * sizeof *x->final);
	memcpy(w->s->routes, f->routes, f->n_routes * sizeof *f->routes);
	w->s->n_ops = w->s->n_tensors = w->s->n_operands = w->s->n_launches = 0;
	return 0;
}

/* How the new batch picks. */
static int pick(struct widening *w, struct groups *g, struct err *e)
{
	const struct op_route *r = &w->from->routes[g->route];
	const uint32_t top = (uint32_t)w->from->ops[r->topk_op].shape.top;
	const struct build_router router = { r->experts, top, r->experts, w->x->to.skew };

	if (build_picks_make(w->a, &router, w->x->to.batch, &g->to) < 0 ||
	    !(g->made = arena_array(w->a, (size_t)g->to.hit * g->own + 1, sizeof *g->made)))
		return err_nomem(e, "for experts at another batch");
	return 0;
}

int scale_experts(struct scaling *x, struct err *e)
{
	struct op_stream *s = arena_array(x->a, 1, sizeof *s);
	struct widening w = { .x = x, .from = x->from, .s = s, .a = x->a };

	w.g = arena_array(x->a, w.from->n_routes + 1, sizeof *w.g);
	w.owner = arena_array(x->a, w.from->n_tensors + 1, sizeof *w.owner);
	w.kept = arena_array(x->a, w.from->n_tensors + 1, sizeof *w.kept);
	if (!s || !w.g || !w.owner || !w.kept)
		return err_nomem(e, "for experts at another batch");
	*s = *x->from;
	memset(w.owner, 0xff, (w.from->n_tensors + 1) * sizeof *w.owner); /* NOBODY's */
	for (uint32_t r = 0; r < w.from->n_routes; r++) {
		w.g[r] = (struct groups){ .route = r };
		if (route_groups(&w, &w.g[r], e) < 0 || pick(&w, &w.g[r], e) < 0)
			return -1;
	}
	if (scale_experts_room(&w, e) < 0)
		return -1;
	tensors(&w);
	if (ops(&w, e) < 0)
		return -1;
	for (uint32_t r = 0; r < s->n_routes; r++)
		s->routes[r].top = w.g[r].to.hit;
	other_ways(&w);
	x->from = s;
	return 0;
}
