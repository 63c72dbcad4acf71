/* lower_recurrent.c - a recurrent network's call into the steps that its launches do.
 *
 * cuDNN and MIOpen compute all layers and steps of an LSTM, GRU or plain RNN behind one framework op, by many launches: products of
 * the input for many steps together, and for each step a product of the state and a cell. Each launch is given an op of its own
 * here, with its own sizes, so that it is timed as what it does, and so that a step waits for the one before it.
 *
 * Which launch does what: cells are told by their kernel's name, and there is one for each layer, direction and step. Products of a
 * kernel that runs as often are those of the state; the others share the input's rows evenly. A call whose launches do not add up
 * so (one persistent kernel for all steps) is left as it was.
 * Leaves out: that a layer waits for the layer before it; the cell's own state of an LSTM, which is small; a projection.
 * Arguments: torch/csrc/autograd and aten/src/ATen/native/cudnn/RNN.cpp, `_cudnn_rnn(input, weights, ..., hx, ...)`. */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/lower/lower_int.h"

#define APART   1024 /* launches of others between two of one call */
#define KERNELS 16   /* products' kernels of one call; cuDNN has two or three */

struct call {
	const struct trace_op *op;
	const struct trace_arg *x;
	uint64_t sequences, batch, steps, hidden, gates, in; /* sequences: layers times directions */
	size_t first, last, cells, products, n_kernels;
	struct {
		const char *name;
		size_t n;
	} kernel[KERNELS]; /* of products, and how often each runs */
};

static const struct trace_arg *arg_at(const struct trace_op *op, int32_t pos, int32_t list)
{
	for (uint32_t i = 0; i < op->n_args; i++)
		if (op->args[i].pos == pos && op->args[i].list == list && op->args[i].ndims > 0)
			return &op->args[i];
	return NULL;
}

static bool positive(const struct trace_arg *a)
{
	for (int32_t i = 0; i < a->ndims; i++)
		if (a->dims[i] <= 0 || a->dims[i] > INT32_MAX)
			return false;
	return true;
}

/* Sizes of the call; false: it is none, or does not say. */
static bool recurrent_call(const struct trace_op *op, struct call *c)
{
	const struct trace_arg *w, *u, *h = NULL;
	uint64_t rows;

	if (!op || (strcmp(op->name, "aten::_cudnn_rnn") != 0 && strcmp(op->name, "aten::miopen_rnn") != 0))
		return false;
	*c = (struct call){ .op = op, .x = arg_at(op, 0, -1) };
	w = arg_at(op, 1, 0), u = arg_at(op, 1, 1);
	if (!c->x || !w || !u || c->x->ndims < 2 || w->ndims != 2 || u->ndims != 2 || !positive(c->x) || !positive(w) ||
	    !positive(u))
		return false;
	for (uint32_t i = 0; i < op->n_args && !h; i++)
		if (op->args[i].pos > 1 && op->args[i].list < 0 && op->args[i].ndims == 3 && positive(&op->args[i]) &&
		    op->args[i].dims[2] == u->dims[1])
			h = &op->args[i];
	if (!h || w->dims[0] != u->dims[0])
		return false;
	c->gates = (uint64_t)u->dims[0], c->hidden = (uint64_t)u->dims[1], c->in = (uint64_t)w->dims[1];
	c->sequences = (uint64_t)h->dims[0], c->batch = (uint64_t)h->dims[1];
	rows = (uint64_t)c->x->dims[0] * (c->x->ndims > 2 ? (uint64_t)c->x->dims[1] : 1);
	c->steps = rows / c->batch;
	return c->steps * c->batch == rows && (uint64_t)c->x->dims[c->x->ndims - 1] == c->in;
}

enum does { NOTHING, CELL, PRODUCT, STATE, INPUT };

/* By the rule of its kernel; a product's is not told apart yet. */
static enum does recurrent_does(struct rules *r, const struct call *c, const struct trace_launch *l)
{
	const struct rule *u;

	if (!l->op || l->op->id != c->op->id || l->kind != TRACE_KERNEL || !(u = rules_match(r, l)))
		return NOTHING;
	if (strcmp(u->name, "rnn_cell") == 0)
		return CELL;
	return u->kind == OP_GEMM && !u->part && !u->joins_previous ? PRODUCT : NOTHING;
}

static size_t *times_of(struct call *c, const char *name)
{
	size_t k = 0;

	while (k < c->n_kernels && strcmp(c->kernel[k].name, name) != 0)
		k++;
	if (k == KERNELS)
		return NULL;
	if (k == c->n_kernels)
		c->kernel[c->n_kernels++].name = name;
	return &c->kernel[k].n;
}

/* False: more kernels than such a call has. */
static bool find_launches(const struct trace *t, struct rules *r, struct call *c)
{
	bool known = true;

	for (size_t i = c->last = c->first; i < t->n_launches && i - c->last < APART; i++) {
		const enum does what = recurrent_does(r, c, &t->launches[i]);
		size_t *n = what == PRODUCT ? times_of(c, t->launches[i].name) : NULL;

		if (t->launches[i].op && t->launches[i].op->id == c->op->id)
			c->last = i;
		known &= what != PRODUCT || n;
		if (n)
			++*n;
		c->cells += what == CELL;
		c->products += what == PRODUCT;
	}
	return known;
}

/* An op of two dense matrices, as a framework would have called it. */
static struct trace_op *op_of(struct arena *a, const struct call *c, const struct trace_launch *l, int64_t id,
                              const char *name, const uint64_t (*dims)[2])
{
	struct trace_op *op = arena_alloc(a, sizeof *op);
	struct trace_arg *args = arena_array(a, 2, sizeof *args);

	if (!op || !args)
		return NULL;
	*op = *c->op;
	op->id = id;
	op->name = name;
	/* A layer has a stream, and its products of the state one kernel. */
	op->weights =
		hash_mix(hash_str(hash_u64(hash_u64(HASH_INIT, (uint64_t)c->op->id), (uint64_t)l->stream), l->name)) |
		1;
	op->n_args = 2;
	op->args = args;
	for (int32_t i = 0; i < 2; i++)
		args[i] = (struct trace_arg){ .dtype = c->x->dtype,
			                      .scalar = "",
			                      .ndims = 2,
			                      .list = -1,
			                      .pos = i,
			                      .dims = { (int64_t)dims[i][0], (int64_t)dims[i][1] },
			                      .strides = { (int64_t)dims[i][1], 1 } };
	return op;
}

static int split(struct trace *t, struct rules *r, struct call *c, struct arena *a)
{
	const uint64_t all = c->sequences * c->steps * c->batch;
	size_t of_state = 0, seen = 0, others;

	for (size_t k = 0; k < c->n_kernels; k++)
		of_state += c->kernel[k].n >= c->cells ? c->kernel[k].n : 0;
	others = c->products - of_state;
	if (c->cells != c->sequences * c->steps || of_state != c->cells || !others || all % others)
		return 0;
	for (size_t i = c->first; i <= c->last; i++) {
		struct trace_launch *l = &t->launches[i];
		enum does what = recurrent_does(r, c, l);

		if (what == NOTHING)
			continue;
		if (what == PRODUCT)
			what = *times_of(c, l->name) >= c->cells ? STATE : INPUT;

		const uint64_t rows = what == INPUT ? all / others : c->batch;
		const uint64_t in = what == INPUT && seen * c->sequences < others ? c->in : c->hidden;
		const uint64_t product[2][2] = { { rows, in }, { c->gates, in } },
			       gates[2][2] = { { rows, c->hidden }, { rows, c->gates } };

		seen += what == INPUT;
		l->op = op_of(a, c, l, -(int64_t)i - 2, what == CELL ? "aten::rnn_cell" : "aten::linear",
		              what == CELL ? gates : product);
		if (!l->op)
			return -1;
	}
	return 0;
}

int lower_recurrent(struct trace *t, struct rules *r, struct arena *a, struct err *e)
{
	struct trace_launch *own = NULL;
	struct call c;

	for (size_t i = 0; i < t->n_launches; i++) {
		if (!recurrent_call(t->launches[i].op, &c))
			continue;
		if (!own) {
			if (!(own = arena_array(a, t->n_launches, sizeof *own)))
				return err_set(e, ERR_NOMEM, "out of memory while lowering");
			memcpy(own, t->launches, t->n_launches * sizeof *own);
			t->launches = own;
		}
		c.first = i;
		if (find_launches(t, r, &c) && c.cells && split(t, r, &c, a) < 0)
			return err_set(e, ERR_NOMEM, "out of memory while lowering");
		i = c.last;
	}
	return 0;
}
