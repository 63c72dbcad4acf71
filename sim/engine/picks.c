#include "sim/engine/picks.h"

#include <string.h>

#define PPM 1000000u

/* A routed tensor that the route's products read: routes over the same one are the same layer's, in other steps. */
static uint32_t weights_of(const struct op_stream *s, uint32_t route)
{
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t k = 0; s->ops[i].routed_by == (int32_t)route && k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + k];

			if (!x->write && s->tensors[x->tensor].route >= 0)
				return x->tensor;
		}
	return UINT32_MAX;
}

int picks_new(struct picks *p, const struct op_stream *s, struct arena *a, struct err *e)
{
	const size_t n = s->n_routes ? s->n_routes : 1;
	uint32_t *weights = arena_array(a, n, sizeof *weights);
	size_t most = 1;

	p->now = arena_array(a, n, sizeof *p->now);
	p->before = arena_array(a, n, sizeof *p->before);
	for (uint32_t r = 0; p->now && p->before && weights && r < s->n_routes; r++) {
		const struct op_route *t = &s->routes[r];

		if (t->top > t->experts)
			return err_set(e, ERR_IO, "router %u picks %u of %u experts", r, t->top, t->experts);
		if (t->experts > most)
			most = t->experts;
		if (!(p->now[r] = arena_array(a, t->top ? t->top : 1, sizeof **p->now)))
			p->now = NULL;
		weights[r] = weights_of(s, r);
		p->before[r] = r;
		for (uint32_t q = 0; q < r; q++)
			if (weights[q] == weights[r] && s->routes[q].top == t->top) {
				p->before[r] = q;                                    /* the latest so far */
				p->before[q] = p->before[q] >= q ? r : p->before[q]; /* the first follows the last */
			}
	}
	p->scratch = arena_array(a, most, sizeof *p->scratch);
	return weights && p->now && p->before && p->scratch ? 0
	                                                    : err_set(e, ERR_NOMEM, "out of memory for expert picks");
}

/* `n` of `pool` without replacement, moved to the pool's front. */
static void picks_draw(struct rng *g, uint32_t *pool, uint32_t size, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i + (uint32_t)rng_below(g, size - i), t = pool[i];

		pool[i] = pool[k];
		pool[k] = t;
	}
}

/* Every pick of the step before stays with probability `keep`; the rest come from the experts it did not pick. */
static void follow(struct picks *p, const struct op_stream *s, uint32_t r, struct rng *g, uint32_t keep_ppm)
{
	const uint32_t n = s->routes[r].experts, top = s->routes[r].top, *was = p->now[p->before[r]];
	uint32_t free_n = 0, used = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool taken = false;

		for (uint32_t k = 0; k < top; k++)
			taken |= was[k] == i;
		if (!taken)
			p->scratch[free_n++] = i;
	}
	picks_draw(g, p->scratch, free_n, free_n < top ? free_n : top);
	for (uint32_t k = 0; k < top; k++)
		p->now[r][k] = rng_below(g, PPM) >= keep_ppm && used < free_n ? p->scratch[used++] : was[k];
}

void picks_first(struct picks *p, const struct op_stream *s, struct rng *g, uint32_t keep_ppm)
{
	for (uint32_t r = 0; r < s->n_routes; r++) {
		const uint32_t n = s->routes[r].experts, top = s->routes[r].top;

		if (p->before[r] < r) {
			follow(p, s, r, g, keep_ppm);
			continue;
		}
		for (uint32_t i = 0; i < n; i++)
			p->scratch[i] = i;
		picks_draw(g, p->scratch, n, top);
		if (top)
			memcpy(p->now[r], p->scratch, top * sizeof *p->scratch);
	}
}

void picks_next(struct picks *p, const struct op_stream *s, struct rng *g, uint32_t keep_ppm)
{
	for (uint32_t r = 0; r < s->n_routes; r++)
		follow(p, s, r, g, keep_ppm);
}

uint32_t picks_reuse(const struct op_stream *s)
{
	uint64_t top = 0, experts = 0;

	for (size_t r = 0; r < s->n_routes; r++) {
		top += s->routes[r].top;
		experts += s->routes[r].experts;
	}
	return experts ? (uint32_t)(top * PPM / experts) : 0;
}
