/* lower_route.c - structure the trace does not spell out: which products are a router's experts, and layers. */
#include <string.h>

#include "sim/lower/lower_int.h"
#include "workloads/experts.h"

/* --- routed regions ----------------------------------------------------------------------------------------------- */

#define MAX_EXPERTS 4096 /* a top-k over more is a sampler's, not a router's */

static bool routes(const struct lowering *w, uint32_t op)
{
	const struct lop *o = &w->lops[op];

	return !o->opaque && o->rule->routes && o->s.cols <= MAX_EXPERTS && o->s.top < o->s.cols;
}

static bool closes(const struct lowering *w, uint32_t op)
{
	const struct lop *o = &w->lops[op];
	const struct op *x = &w->out->ops[op];

	return (o->rule && o->rule->closes_routed) || lower_ends_part(x);
}

/* Shortest period of the products' weight shapes: gate, up, down again for every expert visited. A period that makes
 * as many slots as the router picks wins, for experts whose matrices are all square. */
static uint32_t period_of(const struct lowering *w, const uint32_t *products, uint32_t n, uint64_t top)
{
	uint32_t best = n;

	for (uint32_t p = n; p >= 1; p--) {
		bool repeats = n % p == 0;

		for (uint32_t i = p; i < n && repeats; i++) {
			const struct op_shape *a = &w->lops[products[i]].s, *b = &w->lops[products[i - p]].s;

			repeats = a->n == b->n && a->k == b->k;
		}
		if (!repeats)
			continue;
		if (n / p == top)
			return p;
		best = p;
	}
	return best;
}

static int close_region(struct lowering *w, struct region *r, const uint32_t *products, uint32_t last)
{
	const struct lop *router = &w->lops[r->topk];

	r->last = last;
	r->experts = router->s.cols;
	r->period = period_of(w, products, r->n_products, router->s.top);
	r->slots = r->n_products / r->period;
	/* Visits that no routing makes: more than there are experts or picks, or one where there were several picks. */
	if (r->slots > r->experts || r->slots > router->s.top * router->s.rows || (r->slots == 1 && router->s.top > 1))
		return 0;
	if (!(r->weights = arena_array(w->a, r->period, sizeof *r->weights)))
		return lower_nomem(w);
	for (uint32_t i = 0; i < r->period; i++)
		r->weights[i] = NO_TENSOR;
	for (uint32_t i = 0; i < r->n_products; i++) {
		w->lops[products[i]].region = (int32_t)w->n_regions;
		w->lops[products[i]].slot = i / r->period;
		w->lops[products[i]].place = i % r->period;
	}
	r->input = r->gathered = NO_VAL;
	w->n_regions++;
	return 0;
}

int lower_regions(struct lowering *w)
{
	struct op_stream *s = w->out;
	uint32_t topk = NO_OP, *products = NULL, routers = 0;
	struct region *r = NULL;

	for (uint32_t i = 0; i < w->n; i++)
		routers += routes(w, i);
	if (!routers)
		return 0;
	w->regions = arena_array(w->a, routers, sizeof *w->regions);
	products = arena_array(w->a, w->n, sizeof *products);
	s->routes = arena_array(w->a, routers, sizeof *s->routes);
	if (!w->regions || !products || !s->routes)
		return lower_nomem(w);
	for (uint32_t i = 0; i <= w->n; i++) {
		bool router = i < w->n && routes(w, i);

		if (r && (i == w->n || router || closes(w, i) || w->lops[i].step != w->lops[r->topk].step)) {
			if (r->n_products && close_region(w, r, products, i) < 0)
				return -1;
			r = NULL;
			topk = NO_OP;
		}
		if (i == w->n)
			break;
		if (router)
			topk = i;
		else if (!r && topk != NO_OP && w->lops[i].step != w->lops[topk].step)
			topk = NO_OP;
		if (!r && topk != NO_OP && w->lops[i].rule && w->lops[i].rule->opens_routed) {
			r = &w->regions[w->n_regions];
			*r = (struct region){ .topk = topk, .sync = i, .first = i };
		} else if (r && s->ops[i].kind == OP_GEMM) {
			products[r->n_products++] = i;
		}
	}
	s->n_routes = w->n_regions;
	for (uint32_t i = 0; i < w->n_regions; i++)
		s->routes[i] = (struct op_route){ .experts = (uint32_t)w->regions[i].experts,
			                          .top = w->regions[i].slots,
			                          .layer = -1,
			                          .topk_op = w->regions[i].topk,
			                          .sync_op = w->regions[i].sync };
	return 0;
}

/* --- grouped products --------------------------------------------------------------------------------------------- */

/* The router whose picks the rows are: the last one before over as many experts as there are groups, in this step. */
static uint32_t router_of(const struct lowering *w, uint32_t op, uint64_t groups)
{
	for (uint32_t i = op; i-- > 0 && w->lops[i].step == w->lops[op].step;)
		if (routes(w, i) && w->lops[i].s.cols == groups)
			return i;
	return NO_OP;
}

/* How many groups the rows fall on: as many as even picks of `top` different ones a token are expected to hit; where no
 * router was seen to pick so many rows, each is a pick by itself. */
static uint64_t groups_hit(const struct lowering *w, uint32_t topk, uint64_t groups, uint64_t rows)
{
	uint64_t top = topk != NO_OP ? w->lops[topk].s.top : 1;

	if (!top || rows % top || (topk != NO_OP && w->lops[topk].s.rows * top != rows))
		top = 1;
	return experts_hit((uint32_t)groups, (uint32_t)top, rows / top);
}

/* The rows of each group are on the device: so many groups are picked, and the run draws which. Products behind one
 * router use the same. Regions have the first routes. */
int lower_groups(struct lowering *w)
{
	struct op_stream *s = w->out;
	struct op_route *all;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		n += w->lops[i].open_groups;
	if (!n)
		return 0;
	if (!(all = arena_array(w->a, s->n_routes + n, sizeof *all)))
		return lower_nomem(w);
	if (s->n_routes)
		memcpy(all, s->routes, s->n_routes * sizeof *all);
	s->routes = all;
	for (uint32_t i = 0; i < w->n; i++) {
		struct lop *o = &w->lops[i];
		uint32_t topk, r = w->n_regions;

		if (!o->open_groups)
			continue;
		o->groups = (uint32_t)o->s.batch;
		topk = router_of(w, i, o->groups);
		shape_close_groups(&o->s, groups_hit(w, topk, o->groups, o->s.m));
		while (r < s->n_routes && (topk == NO_OP || all[r].topk_op != topk || all[r].top != o->s.batch))
			r++;
		if (r == s->n_routes)
			all[s->n_routes++] = (struct op_route){ .experts = o->groups,
				                                .top = (uint32_t)o->s.batch,
				                                .layer = -1,
				                                .topk_op = topk,
				                                .sync_op = NO_OP };
		o->route = (int32_t)r;
	}
	return 0;
}

/* --- layers ------------------------------------------------------------------------------------------------------- */

/* A sum of the residual stream: of what an embedding, an earlier such sum or the outside made, and something else.
 * Sums inside rotations or of experts are not: neither operand is of the stream. */
static bool residual_sum(const struct op_stream *s, const struct op *o, const uint8_t *stream)
{
	uint32_t hits = 0, reads = 0;

	if (o->kind != OP_ELEMENTWISE || strcmp(o->fn, "add") != 0)
		return false;
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];

		if (!x->write && x->bytes == s->operands[o->first_operand + o->n_operands - 1].bytes)
			reads++, hits += stream[x->tensor];
	}
	return reads == 2 && hits == 1;
}

/* Layer i of a step runs from the first op behind the last residual sum before its i-th attention to the same point
 * of layer i + 1; the last layer ends with the step's last residual sum. Without such sums (a norm that adds) a layer
 * starts at the last norm before its attention. Ops before the first and behind the last layer have none. */
static void step_layers(const struct lowering *w, uint32_t first, uint32_t last, const uint8_t *sums)
{
	struct op_stream *s = w->out;
	uint32_t start = NO_OP, previous = first, final = last;
	int32_t layer = -1;

	for (uint32_t i = first; i < last; i++) {
		uint32_t begin = i;

		if (s->ops[i].kind != OP_ATTENTION || w->lops[i].listed) /* a table has no layers */
			continue;
		while (begin > previous && !sums[begin - 1] && s->ops[begin - 1].kind != OP_EMBED)
			begin--;
		if (begin == previous)
			for (uint32_t j = i; j-- > previous;)
				if (s->ops[j].kind == OP_NORM) {
					begin = j;
					break;
				}
		for (uint32_t j = start; start != NO_OP && j < begin; j++)
			s->ops[j].layer = layer;
		layer++;
		start = begin;
		previous = i + 1;
	}
	if (start == NO_OP)
		return;
	for (uint32_t j = previous; j < last; j++)
		if (sums[j])
			final = j + 1;
	for (uint32_t j = start; j < final; j++)
		s->ops[j].layer = layer;
}

int lower_layers(struct lowering *w)
{
	struct op_stream *s = w->out;
	uint8_t *stream = arena_array(w->a, s->n_tensors + 1, 1), *sums = arena_array(w->a, w->n + 1, 1);

	if (!stream || !sums)
		return lower_nomem(w);
	for (size_t i = 0; i < s->n_tensors; i++)
		stream[i] = s->tensors[i].external && s->tensors[i].role == OP_ACTIVATION;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct op *o = &s->ops[i];

		sums[i] = residual_sum(s, o, stream);
		if (sums[i] || o->kind == OP_EMBED)
			for (uint32_t j = 0; j < o->n_operands; j++)
				if (s->operands[o->first_operand + j].write)
					stream[s->operands[o->first_operand + j].tensor] = 1;
	}
	for (uint32_t i = 0, end; i < w->n; i = end) {
		for (end = i; end < w->n && w->lops[end].step == w->lops[i].step; end++)
			;
		step_layers(w, i, end, sums);
	}
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t j = 0; j < s->ops[i].n_operands; j++) {
			struct op_tensor *t = &s->tensors[s->operands[s->ops[i].first_operand + j].tensor];

			if (t->layer < 0 && t->role != OP_CONSTANT)
				t->layer = s->ops[i].layer;
		}
	for (size_t i = 0; i < s->n_routes; i++)
		if (s->routes[i].topk_op != NO_OP)
			s->routes[i].layer = s->ops[s->routes[i].topk_op].layer;
	return 0;
}
