/* build_stages.c - a pipeline's stages: each unlike one is built, with a place of its own for its tensors, and the ops of all stand
 * one behind the other in a stream that nobody runs whole.
 * Invariant: I1 stages are alike where their layers are, one by one: of the same kind and stored alike. */
#include <string.h>

#include "sim/build/build_int.h"

static bool same_layer(const struct builder *b, uint32_t i, uint32_t k)
{
	const struct model *m = b->m;

	return scheme_same_layers(b->h->quant, (int32_t)i, (int32_t)k, m->layers) && model_same_layers(m, i, k);
}

/* The first has the embedding, the last the head. */
static bool same_stage(const struct builder *x, const struct builder *y)
{
	const uint32_t n = x->to - x->from;

	if (!x->from || y->to == y->layers || y->to - y->from != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!same_layer(x, x->from + i, y->from + i))
			return false;
	return true;
}

/* --- one stream of several ------------------------------------------------------------------------------------------- */

/* Room for all of them. */
static bool room(struct arena *a, const struct op_stage *x, uint32_t n, struct op_stream *out)
{
	size_t ops = 1, tensors = 1, operands = 1, deps = 1, launches = 1, routes = 1;

	for (uint32_t i = 0; i < n; i++) {
		ops += x[i].stream->n_ops;
		tensors += x[i].stream->n_tensors;
		operands += x[i].stream->n_operands;
		deps += x[i].stream->n_deps;
		launches += x[i].stream->n_launches;
		routes += x[i].stream->n_routes;
	}
	out->ops = arena_array(a, ops, sizeof *out->ops);
	out->tensors = arena_array(a, tensors, sizeof *out->tensors);
	out->operands = arena_array(a, operands, sizeof *out->operands);
	out->deps = arena_array(a, deps, sizeof *out->deps);
	out->launches = arena_array(a, launches, sizeof *out->launches);
	out->routes = arena_array(a, routes, sizeof *out->routes);
	return out->ops && out->tensors && out->operands && out->deps && out->launches && out->routes;
}

static int32_t moved(int32_t i, size_t by)
{
	return i < 0 ? i : i + (int32_t)by;
}

static void append_ops(struct op_stream *to, const struct op_stream *s)
{
	for (size_t i = 0; i < s->n_ops; i++) {
		struct op *o = &to->ops[to->n_ops + i];

		*o = s->ops[i];
		o->id += (uint32_t)to->n_ops;
		o->first_operand += (uint32_t)to->n_operands;
		o->first_dep += (uint32_t)to->n_deps;
		o->first_launch += (uint32_t)to->n_launches;
		o->routed_by = moved(o->routed_by, to->n_routes);
	}
	for (size_t i = 0; i < s->n_routes; i++) {
		struct op_route *r = &to->routes[to->n_routes + i];

		*r = s->routes[i];
		r->topk_op += r->topk_op == UINT32_MAX ? 0 : (uint32_t)to->n_ops;
		r->sync_op += r->sync_op == UINT32_MAX ? 0 : (uint32_t)to->n_ops;
	}
}

static void append(struct op_stream *to, const struct op_stream *s)
{
	append_ops(to, s);
	for (size_t i = 0; i < s->n_tensors; i++) {
		to->tensors[to->n_tensors + i] = s->tensors[i];
		to->tensors[to->n_tensors + i].route = moved(s->tensors[i].route, to->n_routes);
	}
	for (size_t i = 0; i < s->n_operands; i++) {
		to->operands[to->n_operands + i] = s->operands[i];
		to->operands[to->n_operands + i].tensor += (uint32_t)to->n_tensors;
	}
	for (size_t i = 0; i < s->n_deps; i++)
		to->deps[to->n_deps + i] = s->deps[i] + (uint32_t)to->n_ops;
	for (size_t i = 0; i < s->n_launches; i++) {
		to->launches[to->n_launches + i] = s->launches[i];
		to->launches[to->n_launches + i].waits_for = moved(s->launches[i].waits_for, to->n_launches);
	}
	to->n_ops += s->n_ops;
	to->n_tensors += s->n_tensors;
	to->n_operands += s->n_operands;
	to->n_deps += s->n_deps;
	to->n_launches += s->n_launches;
	to->n_routes += s->n_routes;
	to->addr_end = s->addr_end > to->addr_end ? s->addr_end : to->addr_end;
}

/* --- the stages ------------------------------------------------------------------------------------------------------- */

/* One more stage: another of a kind that is there, or one of its own. */
static int stage(struct builder *b, b_stage_fn *one, struct builder *kinds, struct op_stage *out, uint32_t *n,
                 uint32_t *kind)
{
	struct op_stream *s;

	for (uint32_t i = 0; i < *n; i++)
		if (same_stage(&kinds[i], b)) {
			out[i].times++;
			*kind = i;
			return 0;
		}
	if (!(s = arena_alloc(b->a, sizeof *s)))
		return err_nomem(b->e, "for a stage");
	*s = (struct op_stream){ .source = b->m->name, .wall_ns = -1, .chips = b->split.tp * b->split.dp };
	s->micro = b->split.micro;
	kinds[*n] = *b;
	b->s = s;
	if (one(b) < 0)
		return -1;
	*kind = *n;
	out[(*n)++] = (struct op_stage){ s, 1 };
	return 0;
}

int b_stages(const struct builder *as, b_stage_fn *one, struct op_stream *out)
{
	const uint32_t stages = as->split.pp, each = as->layers / stages, more = as->layers % stages;
	struct op_stage *x = arena_array(as->a, stages, sizeof *x);
	struct builder *kinds = arena_array(as->a, stages, sizeof *kinds);
	uint32_t from = 0, *of = arena_array(as->a, stages, sizeof *of);

	if (!x || !kinds || !of)
		return err_nomem(as->e, "for the stages of a pipeline");
	for (uint32_t i = 0; i < stages; i++) {
		struct builder b = *as;

		b.from = from;
		b.to = from += each + (i < more);
		if (stage(&b, one, kinds, x, &out->n_stages, &of[i]) < 0)
			return -1;
	}
	if (!room(as->a, x, out->n_stages, out))
		return err_nomem(as->e, "for the stages of a pipeline");
	for (uint32_t i = 0; i < out->n_stages; i++)
		append(out, x[i].stream);
	out->stages = x;
	out->kinds = of;
	out->micro = as->split.micro;
	out->turns = as->h->phase == BUILD_DECODE;
	return 0;
}
