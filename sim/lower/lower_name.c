/* lower_name.c - what a person calls the ops and tensors of a lowered trace. */
#include <stdio.h>
#include <string.h>

#include "sim/lower/lower_int.h"

#define NAME_MAX_CHARS 64
#define ALONE          UINT32_MAX

/* Numbers given out within one layer, and outside the layers at index 0. */
struct counts {
	uint32_t weights, params, experts, kvs;
};

struct naming {
	struct lowering *w;
	uint32_t step; /* of the op being looked at */
	struct counts *by_layer;
	uint32_t constants, inputs, indices;
};

/* --- ops ---------------------------------------------------------------------------------------------------------- */

/* A kernel's name without what all of them share: "void at::native::", namespaces in braces, arguments. */
static void short_kernel(const char *name, char *buf, size_t size)
{
	static const char *const skip[] = { "void ", "at::native::", "(anonymous namespace)::", "std::" };
	size_t n;

	for (size_t i = 0; i < sizeof skip / sizeof *skip;) {
		size_t k = strlen(skip[i]);

		if (strncmp(name, skip[i], k) == 0)
			name += k, i = 0;
		else
			i++;
	}
	n = strcspn(name, "(<");
	if (!n)
		n = strlen(name);
	snprintf(buf, size, "%.*s", (int)(n < size ? n : size - 1), name);
}

/* Of what no rule knows the shape of: its rule's name for it, or the kernel's. */
static void opaque_text(const struct lop *l, char *buf, size_t size)
{
	char kernel[NAME_MAX_CHARS];

	short_kernel(l->main->name ? l->main->name : "", kernel, sizeof kernel);
	snprintf(buf, size, "%s", l->rule ? l->rule->friendly : kernel);
}

/* "aten::mul_" is mul. */
static const char *op_fn(struct lowering *w, const struct lop *l)
{
	const char *colon, *base;
	size_t n;

	if (strcmp(l->rule->fn, "op") != 0)
		return l->rule->fn;
	if (!l->main->op)
		return l->rule->friendly;
	colon = strrchr(l->main->op->name, ':');
	base = colon ? colon + 1 : l->main->op->name;
	n = strlen(base);
	if (n > 1 && base[n - 1] == '_' && base[n - 2] != '_')
		n--;
	return arena_strndup(w->a, base, n);
}

/* --- tensors ------------------------------------------------------------------------------------------------------ */

static struct counts *counts_of(struct naming *g, int32_t layer)
{
	return &g->by_layer[layer + 1];
}

/* Its name, and which one it is: ALONE where there is no other. */
static int give(struct naming *g, uint32_t tensor, const char *what, uint32_t n)
{
	struct op_tensor *t = &g->w->out->tensors[tensor];
	char step[24] = "", layer[24] = "", number[12] = "";

	if (t->name)
		return 0;
	/* what steps share has a plain name; their own things and a benchmark case's say whose they are */
	if (g->step && (g->w->cases || !t->external))
		snprintf(step, sizeof step, g->w->cases ? "case%u." : "step%u.", g->step);
	if (t->layer >= 0)
		snprintf(layer, sizeof layer, "layer%d.", t->layer);
	if (n != ALONE)
		snprintf(number, sizeof number, "%u", n);
	t->name = arena_printf(g->w->a, "%s%s%s%s", step, layer, what, number);
	return t->name ? 0 : lower_nomem(g->w);
}

/* Attention's first cache operand is K, its second V; a concat hands the name on to the cache it grew. */
static int name_caches(struct naming *g)
{
	struct op_stream *s = g->w->out;
	uint8_t *which = arena_array(g->w->a, s->n_tensors + 1, 1);

	if (!which)
		return lower_nomem(g->w);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		uint8_t seen = 0;

		for (uint32_t j = 0; o->kind == OP_ATTENTION && j < o->n_operands; j++) {
			const struct op_operand *x = &s->operands[o->first_operand + j];

			if (!x->write && s->tensors[x->tensor].role == OP_KV && seen < 2)
				which[x->tensor] = ++seen;
		}
	}
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		const struct op_operand *x = &s->operands[o->first_operand];
		uint8_t k = 0;

		for (uint32_t j = 0; j < o->n_operands; j++)
			if (x[j].write && which[x[j].tensor])
				k = which[x[j].tensor];
		for (uint32_t j = 0; k && j < o->n_operands; j++)
			if (!x[j].write && s->tensors[x[j].tensor].role == OP_KV && !which[x[j].tensor])
				which[x[j].tensor] = k;
	}
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t j = 0; j < s->ops[i].n_operands; j++) {
			uint32_t t = s->operands[s->ops[i].first_operand + j].tensor;
			const char *what = which[t] == 1 ? "k" : "v";

			g->step = g->w->lops[i].step;
			if (s->tensors[t].role != OP_KV || s->tensors[t].name)
				continue;
			if (!which[t]) {
				if (give(g, t, "kv", counts_of(g, s->tensors[t].layer)->kvs++) < 0)
					return -1;
				continue;
			}
			if (s->tensors[t].external)
				what = which[t] == 1 ? "k_old" : "v_old";
			if (give(g, t, what, ALONE) < 0)
				return -1;
		}
	return 0;
}

static int name_tensor(struct naming *g, const struct op *o, const struct op_operand *x, uint32_t nth_out)
{
	struct op_tensor *t = &g->w->out->tensors[x->tensor];
	struct counts *c = counts_of(g, t->layer);
	const char *weight = op_traits[o->kind].weight;

	if (t->name)
		return 0;
	if (!t->external) {
		t->name = arena_printf(g->w->a, nth_out ? "op%u.out%u" : "op%u.out", o->id, nth_out);
		return t->name ? 0 : lower_nomem(g->w);
	}
	switch (t->role) {
	case OP_WEIGHT:
		if (t->route >= 0)
			return give(g, x->tensor, "expert.w", c->experts++);
		return weight ? give(g, x->tensor, weight, c->weights++) : give(g, x->tensor, "gain", c->params++);
	case OP_CONSTANT:
		return give(g, x->tensor, "table", g->constants++);
	case OP_INDEX:
		return give(g, x->tensor, "index", g->indices++);
	case OP_ACTIVATION:
	case OP_KV:
		break;
	}
	return give(g, x->tensor, "input", g->inputs++);
}

/* The name that a row of a table gives itself: a row without one was stored with its op's. NULL: none. */
static const char *listed_name(struct lowering *w, const struct lop *l)
{
	const char *name = l->main->name;

	return l->listed && strcmp(l->main->op->name + strlen(LISTED_SPACE), name) != 0 ? arena_strdup(w->a, name)
	                                                                                : NULL;
}

int lower_names(struct lowering *w)
{
	struct op_stream *s = w->out;
	struct naming g = { .w = w };
	char buf[160];
	int32_t layers = 0;

	for (size_t i = 0; i < s->n_ops; i++)
		layers = s->ops[i].layer >= layers ? s->ops[i].layer + 1 : layers;
	if (!(g.by_layer = arena_array(w->a, (size_t)layers + 1, sizeof *g.by_layer)))
		return lower_nomem(w);
	if (name_caches(&g) < 0)
		return -1;
	for (size_t i = 0; i < s->n_ops; i++) {
		struct op *o = &s->ops[i];
		uint32_t outs = 0;

		g.step = w->lops[i].step;
		if (o->kind != OP_OPAQUE && !(o->fn = op_fn(w, &w->lops[i])))
			return lower_nomem(w);
		if (!(o->name = listed_name(w, &w->lops[i]))) {
			if (w->lops[i].opaque)
				opaque_text(&w->lops[i], buf, sizeof buf);
			else
				op_text(s, o, buf, sizeof buf);
			o->name = arena_strdup(w->a, buf);
		}
		if (!o->name)
			return lower_nomem(w);
		for (uint32_t j = 0; j < o->n_operands; j++) {
			const struct op_operand *x = &s->operands[o->first_operand + j];

			if (name_tensor(&g, o, x, x->write ? outs++ : 0) < 0)
				return -1;
		}
	}
	return 0;
}
