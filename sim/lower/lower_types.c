/* lower_types.c - what a recording leaves out of an op's arguments. PyTorch's emit_nvtx says sizes: no types, no numbers,
 * and of a list of tensors its members as if they were arguments.
 *
 * A type comes from the first of these that knows: the recording (an op around this one of the same name, or a tensor of
 * the same sizes in its call), what the op takes (indices are int64), the kernel's name, the newest value of these sizes
 * that an op before it made or read, what an op behind it reads, and at last the type that the user names. Numbers are told
 * by sizes: the dim of a concat is where its members differ, a reduction's result is what ops behind it read. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/str.h"
#include "sim/lower/lower_int.h"
#include "workloads/kernel_type.h"

#define BEHIND 24   /* ops in which a result is looked for */
#define BEFORE 4096 /* values among which a tensor is */

/* An op that was told more than the recording has. */
struct told {
	const struct trace_op *from;
	struct trace_op op;
	struct trace_arg *args;
	uint8_t *how; /* of each argument, enum lower_type */
	const struct trace_launch *launch;
	struct kernel_type k;
	bool bare; /* neither types nor numbers are recorded */
};

/* A tensor that was met, with its type. */
struct met {
	uint64_t elems;
	int32_t ndims;
	enum dtype d;
	bool made;
	uint64_t dims[TRACE_MAX_DIMS];
};

struct types {
	struct rules *rules;
	struct arena *a;
	struct told *ops; /* in order of their first launch */
	uint32_t n;
	uint32_t *slots, cap; /* by the op's address; 0 free */
	struct met *met;
	uint32_t n_met;
	struct shape *shape;
	enum dtype assumed;
};

/* --- ops that lack types ------------------------------------------------------------------------------------------- */

static bool sized(const struct trace_arg *x)
{
	return x->ndims > 0 || (x->ndims == 0 && x->list >= 0);
}

static bool lacks(const struct trace_arg *x)
{
	return sized(x) && !*x->dtype;
}

static bool op_lacks(const struct trace_op *o)
{
	for (uint32_t i = 0; i < o->n_args; i++)
		if (lacks(&o->args[i]) && o->args[i].list < 0)
			return true;
	return false;
}

static uint64_t elems_of(const struct trace_arg *x)
{
	uint64_t n = 1;

	for (int32_t i = 0; i < x->ndims; i++)
		if (x->dims[i] < 0 || __builtin_mul_overflow(n, (uint64_t)x->dims[i], &n) || n > SHAPE_MAX_ELEMS)
			return 0;
	return n;
}

static bool same_dims(const struct trace_arg *x, const struct trace_arg *y)
{
	return x->ndims == y->ndims && memcmp(x->dims, y->dims, (size_t)x->ndims * sizeof *x->dims) == 0;
}

static const char *base_name(const struct trace_op *o)
{
	const char *colon = strrchr(o->name, ':');

	return colon ? colon + 1 : o->name;
}

static bool one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static uint32_t *slot_of(const struct types *t, const struct trace_op *o)
{
	uint32_t at = (uint32_t)hash_mix(hash_u64(HASH_INIT, (uint64_t)(uintptr_t)o)) & (t->cap - 1);

	while (t->slots[at] && t->ops[t->slots[at] - 1].from != o)
		at = (at + 1) & (t->cap - 1);
	return &t->slots[at];
}

/* The same call again, which another recorder put around it and told more of. */
static const struct trace_op *told_around(const struct trace_op *o)
{
	for (const struct trace_op *up = o->up; up; up = up->up)
		if (strcmp(up->name, o->name) == 0 && up->n_args && !op_lacks(up))
			return up;
	return NULL;
}

static int add_op(struct types *t, const struct trace_op *o)
{
	struct told *x = &t->ops[t->n];
	const struct trace_op *more = told_around(o), *from = more ? more : o;

	x->from = o;
	x->op = *o;
	x->args = arena_array(t->a, from->n_args + 1, sizeof *x->args);
	x->how = arena_array(t->a, from->n_args + 1, sizeof *x->how);
	if (!x->args || !x->how)
		return -1;
	if (from->n_args)
		memcpy(x->args, from->args, from->n_args * sizeof *x->args);
	x->op.args = x->args;
	x->op.n_args = from->n_args;
	x->bare = true;
	for (uint32_t i = 0; i < from->n_args; i++) {
		x->how[i] = lacks(&x->args[i]) ? LOWER_TYPE_NONE : LOWER_TYPE_RECORDED;
		x->bare = x->bare && !*x->args[i].dtype && !*x->args[i].scalar;
	}
	t->n++;
	return 0;
}

static void set_type(struct told *x, uint32_t i, enum dtype d, enum lower_type how)
{
	if (d == DT_NONE || *x->args[i].dtype)
		return;
	x->args[i].dtype = dtype_to_framework(d);
	if (*x->args[i].dtype)
		x->how[i] = (uint8_t)how;
}

/* --- numbers ------------------------------------------------------------------------------------------------------- */

static const char *const digits[] = { "0", "1", "2", "3", "4", "5", "6", "7" };

/* How many ops behind op `at` one reads a tensor of these dims; 0: none does. */
static uint32_t read_later(const struct types *t, uint32_t at, const int64_t *dims, int32_t ndims)
{
	for (uint32_t i = at + 1; i < t->n && i <= at + BEHIND; i++)
		for (uint32_t k = 0; k < t->ops[i].op.n_args; k++) {
			const struct trace_arg *x = &t->ops[i].args[k];

			if (x->ndims == ndims && memcmp(x->dims, dims, (size_t)ndims * sizeof *dims) == 0)
				return i - at;
		}
	return 0;
}

/* `cat(members, dim)`: the members become a list again. */
static void tell_concat(const struct types *t, struct told *x, uint32_t at)
{
	const struct trace_arg *first = NULL;
	int64_t dims[TRACE_MAX_DIMS];
	uint32_t n = x->op.n_args, members = 0;
	int32_t axis = -1;

	if (n < 2)
		return;
	for (uint32_t i = 0; i + 1 < n; i++) {
		struct trace_arg *m = &x->args[i];

		if (!sized(m))
			continue;
		m->pos = 0;
		m->list = (int32_t)members++;
		if (!first)
			first = m;
		for (int32_t d = 0; d < m->ndims && m->ndims == first->ndims; d++)
			if (m->dims[d] != first->dims[d])
				axis = d;
	}
	if (!first || first->ndims < 1)
		return;
	for (int32_t d = first->ndims; axis < 0 && d-- > 0;) {
		memcpy(dims, first->dims, sizeof dims);
		if (!__builtin_mul_overflow(dims[d], (int64_t)members, &dims[d]) &&
		    read_later(t, at, dims, first->ndims))
			axis = d;
	}
	x->args[n - 1].pos = 1;
	x->args[n - 1].scalar = digits[axis < 0 ? first->ndims - 1 : axis];
}

/* `mean(x, dim, keepdim)`, where a dim is given: the one without which, or of which 1 element, what is left is read next;
 * the last where none is. */
static void tell_reduction(const struct types *t, struct told *x, uint32_t at)
{
	const struct trace_arg *in = &x->args[0];
	uint32_t nearest = BEHIND + 1;

	if (x->op.n_args < 3 || in->ndims < 1)
		return;
	x->args[1].scalar = digits[in->ndims - 1];
	x->args[2].scalar = "False";
	for (int32_t d = in->ndims; d-- > 0;)
		for (int keep = 1; keep >= 0; keep--) {
			int64_t dims[TRACE_MAX_DIMS] = { 0 };
			uint32_t far;
			int32_t n = 0;

			for (int32_t i = 0; i < in->ndims; i++)
				if (i != d || keep)
					dims[n++] = i == d ? 1 : in->dims[i];
			far = in->dims[d] > 1 ? read_later(t, at, dims, n) : 0;
			if (!far || far >= nearest)
				continue;
			nearest = far;
			x->args[1].scalar = digits[d];
			x->args[2].scalar = keep ? "True" : "False";
		}
}

/* `arange(end, ...)`: no more numbers than the launch has threads. */
static void tell_range(struct told *x, struct arena *a)
{
	const struct trace_launch *l = x->launch;
	const char *end = arena_printf(a, "%llu", (unsigned long long)l->grid[0] * l->block[0]);

	if (x->op.n_args && end)
		x->args[0].scalar = end;
}

/* A tensor without dims looks like a number: where nothing has dims, the first argument is one. */
static void tell_single(struct told *x)
{
	for (uint32_t i = 0; i < x->op.n_args; i++)
		if (sized(&x->args[i]))
			return;
	if (!x->op.n_args || !x->k.n_in || !strstr(x->launch->name, "elementwise_kernel"))
		return;
	x->args[0].ndims = 0;
	set_type(x, 0, x->k.in[0], LOWER_TYPE_KERNEL);
}

/* `topk(x, k, ...)`: a result is as x but in its last dim. */
static void tell_topk(const struct types *t, struct told *x, uint32_t at, struct arena *a)
{
	const struct trace_arg *in = &x->args[0];

	if (x->op.n_args < 3 || in->ndims < 1)
		return;
	for (uint32_t i = at + 1; i < t->n && i <= at + BEHIND; i++)
		for (uint32_t k = 0; k < t->ops[i].op.n_args; k++) {
			const struct trace_arg *y = &t->ops[i].args[k];
			const int32_t last = in->ndims - 1;

			if (y->ndims != in->ndims || y->dims[last] < 1 || y->dims[last] >= in->dims[last] ||
			    memcmp(y->dims, in->dims, (size_t)last * sizeof *y->dims) != 0)
				continue;
			if ((x->args[1].scalar = arena_printf(a, "%lld", (long long)y->dims[last])) == NULL)
				x->args[1].scalar = "";
			return;
		}
}

static void tell_softmax(struct told *x)
{
	if (x->op.n_args < 3)
		return;
	x->args[1].scalar = "-1";
	if (x->k.n_in && x->k.out == DT_FP32 && x->k.in[0] != DT_FP32)
		x->args[2].scalar = "True";
}

/* As many queries as keys and no mask: a prompt, which nobody attends to from the front. */
static void tell_attention(struct told *x)
{
	static const struct {
		const char *name;
		uint32_t causal;
		bool heads_first;
	} known[] = { { "_scaled_dot_product_flash_attention", 4, true },
		      { "_scaled_dot_product_efficient_attention", 6, true },
		      { "_scaled_dot_product_cudnn_attention", 6, true },
		      { "_cudnn_attention_forward", 10, true },
		      { "_flash_attention_forward", 8, false },
		      { "_efficient_attention_forward", 9, false } };
	const struct trace_arg *q = x->args, *k = x->args + 1;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const int32_t l = known[i].heads_first ? q->ndims - 2 : q->ndims - 3;

		if (strcmp(base_name(&x->op), known[i].name) != 0 || x->op.n_args <= known[i].causal || q->ndims < 3 ||
		    k->ndims != q->ndims)
			continue;
		if (q->dims[l] > 1 && q->dims[l] == k->dims[l] && !sized(&x->args[3]))
			x->args[known[i].causal].scalar = "True";
	}
}

static void tell_numbers(struct types *t, uint32_t at)
{
	static const char *const concats[] = { "cat", "_cat", "concat", NULL };
	static const char *const reductions[] = {
		"mean", "sum", "argmax", "argmin", "amax", "amin", "max", "min", NULL
	};
	struct told *x = &t->ops[at];
	const char *name = base_name(&x->op);

	if (one_of(name, concats))
		tell_concat(t, x, at);
	else if (one_of(name, reductions))
		tell_reduction(t, x, at);
	else if (strcmp(name, "topk") == 0)
		tell_topk(t, x, at, t->a);
	else if (strcmp(name, "_softmax") == 0 || strcmp(name, "_log_softmax") == 0)
		tell_softmax(x);
	else if (strstr(name, "attention"))
		tell_attention(x);
	else if (strcmp(name, "arange") == 0)
		tell_range(x, t->a);
	else
		tell_single(x);
}

/* --- types --------------------------------------------------------------------------------------------------------- */

static bool is_copy(const struct told *x)
{
	return strcmp(base_name(&x->op), "copy_") == 0 || strcmp(base_name(&x->op), "_copy_from") == 0;
}

/* A typed tensor of these sizes in a call around this one: most likely the same, as it lies there. */
static void tell_by_call(struct told *x, uint32_t i)
{
	for (const struct trace_op *up = x->from->up; up; up = up->up)
		for (uint32_t k = 0; k < up->n_args; k++) {
			const struct trace_arg *y = &up->args[k];

			if (!*y->dtype || y->ndims < 0 || !same_dims(y, &x->args[i]))
				continue;
			x->args[i].dtype = y->dtype;
			memcpy(x->args[i].strides, y->strides, sizeof y->strides);
			x->how[i] = LOWER_TYPE_RECORDED;
			return;
		}
}

static void tell_by_calls(struct told *x)
{
	/* What a copy is into is made inside of the call. */
	for (uint32_t i = is_copy(x); i < x->op.n_args; i++)
		if (lacks(&x->args[i]))
			tell_by_call(x, i);
}

/* Positions and masks have one type whatever the data's is. */
static void tell_by_op(struct told *x)
{
	static const struct {
		const char *name;
		int32_t pos;
		enum dtype d;
	} known[] = { { "embedding", 1, DT_INT64 },   { "index_select", 2, DT_INT64 },
		      { "gather", 2, DT_INT64 },      { "scatter", 2, DT_INT64 },
		      { "scatter_", 2, DT_INT64 },    { "scatter_add_", 2, DT_INT64 },
		      { "index_copy_", 2, DT_INT64 }, { "index_add_", 2, DT_INT64 },
		      { "index_fill_", 2, DT_INT64 }, { "index_copy", 2, DT_INT64 },
		      { "index_add", 2, DT_INT64 },   { "take_along_dim", 1, DT_INT64 },
		      { "where", 0, DT_BOOL },        { "masked_fill", 1, DT_BOOL },
		      { "masked_fill_", 1, DT_BOOL }, { "masked_scatter_", 1, DT_BOOL } };
	static const char *const puts[] = { "index_put", "index_put_", "_index_put_impl_", NULL };
	const char *name = base_name(&x->op);
	uint32_t last = 0;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		for (uint32_t k = 0; k < x->op.n_args; k++)
			if (strcmp(name, known[i].name) == 0 && x->args[k].pos == known[i].pos && lacks(&x->args[k]))
				set_type(x, k, known[i].d, LOWER_TYPE_OP);
	if (!x->bare)
		return;
	for (uint32_t k = 0; k < x->op.n_args; k++)
		if (sized(&x->args[k]))
			last = k;
	for (uint32_t k = 1; k < x->op.n_args; k++) /* `index(x, positions...)`, `index_put(x, positions..., values)` */
		if (lacks(&x->args[k]) && (strcmp(name, "index") == 0 || (one_of(name, puts) && k < last)))
			set_type(x, k, DT_INT64, LOWER_TYPE_OP);
}

/* Newest first; of the same dims before one of the same size. `not`: another type than this; `bits`: 0 any. */
static enum dtype met_type(const struct types *t, const struct trace_arg *x, enum dtype not, uint32_t bits)
{
	const uint64_t elems = elems_of(x);
	enum dtype found = DT_NONE;
	bool made = false;

	for (uint32_t i = t->n_met; i-- > 0 && i + BEFORE > t->n_met;) {
		const struct met *m = &t->met[i];

		if (m->elems != elems || m->d == not || (bits && dtype_bits(m->d) != bits))
			continue;
		if (m->made && m->ndims == x->ndims &&
		    memcmp(m->dims, x->dims, (size_t)x->ndims * sizeof *m->dims) == 0)
			return m->d;
		if (found == DT_NONE || (m->made && !made))
			found = m->d, made = m->made;
	}
	return found;
}

/* What a conversion into `to` is made of: a value of these sizes, else the newest other float format. */
static enum dtype other_type(const struct types *t, const struct trace_arg *x, enum dtype to)
{
	static const bool is_float[DTYPES] = {
		[DT_FP64] = true, [DT_FP32] = true, [DT_BF16] = true, [DT_FP16] = true, [DT_FP8] = true
	};
	const enum dtype found = met_type(t, x, to, 0);

	if (found != DT_NONE || !is_float[to])
		return found;
	for (uint32_t i = t->n_met; i-- > 0 && i + BEFORE > t->n_met;)
		if (t->met[i].d != to && is_float[t->met[i].d])
			return t->met[i].d;
	return DT_NONE;
}

/* `copy_(to, from)` */
static void tell_copy(const struct types *t, struct told *x)
{
	if (x->op.n_args < 2)
		return;
	set_type(x, 0, x->k.out, LOWER_TYPE_KERNEL);
	if (x->k.casts)
		set_type(x, 1, other_type(t, &x->args[1], x->k.out), LOWER_TYPE_NEIGHBOUR);
	else if (x->k.n_in)
		set_type(x, 1, x->k.in[0], LOWER_TYPE_KERNEL);
}

static void tell_by_kernel(const struct types *t, struct told *x)
{
	uint32_t n = 0, at = 0;

	if (is_copy(x)) {
		tell_copy(t, x);
		return;
	}
	for (uint32_t i = 0; i < x->op.n_args; i++)
		n += sized(&x->args[i]);
	for (uint32_t i = 0; i < x->op.n_args && x->k.n_in; i++) {
		if (!sized(&x->args[i]))
			continue;
		if (x->k.casts && lacks(&x->args[i]))
			set_type(x, i, met_type(t, &x->args[i], DT_NONE, 0), LOWER_TYPE_NEIGHBOUR);
		set_type(x, i, x->k.in[x->k.n_in >= n ? at : 0], LOWER_TYPE_KERNEL);
		at++;
	}
}

static void tell_by_before(const struct types *t, struct told *x)
{
	enum dtype d = DT_NONE;

	for (uint32_t i = 0; i < x->op.n_args; i++)
		if (lacks(&x->args[i]))
			set_type(x, i, met_type(t, &x->args[i], DT_NONE, 8 * x->k.bytes), LOWER_TYPE_NEIGHBOUR);
	/* What is computed together has one type, but for positions and masks. */
	for (uint32_t i = 0; i < x->op.n_args; i++)
		if (sized(&x->args[i]) && x->how[i] != LOWER_TYPE_OP && d == DT_NONE)
			d = dtype_from_framework(x->args[i].dtype);
	for (uint32_t i = 0; i < x->op.n_args && !is_copy(x); i++)
		if (lacks(&x->args[i]))
			set_type(x, i, d, LOWER_TYPE_NEIGHBOUR);
}

static void meet(struct types *t, enum dtype d, const uint64_t *dims, int32_t ndims, uint64_t elems, bool made)
{
	struct met *m = &t->met[t->n_met++];

	*m = (struct met){ .elems = elems, .ndims = ndims, .d = d, .made = made };
	memcpy(m->dims, dims, (size_t)ndims * sizeof *dims);
}

/* The op's shape as it would be read now; NULL: it cannot be. */
static const struct shape *shape_of(struct types *t, const struct told *x)
{
	struct trace_launch l = *x->launch;
	const struct rule *u;
	const char *why;

	l.op = &x->op;
	u = rules_match(t->rules, &l);
	return u && u->reader >= 0 && shape_read(u->reader, &l, t->shape, &why) == 0 ? t->shape : NULL;
}

static void meet_all(struct types *t, const struct told *x)
{
	const struct shape *s;

	for (uint32_t i = 0; i < x->op.n_args; i++) {
		const struct trace_arg *y = &x->args[i];
		const enum dtype d = sized(y) ? dtype_from_framework(y->dtype) : DT_NONE;

		if (d != DT_NONE && elems_of(y))
			meet(t, d, (const uint64_t *)y->dims, y->ndims, elems_of(y), false);
	}
	if (!(s = shape_of(t, x)))
		return;
	for (uint32_t i = 0; i < s->n_out; i++)
		if (s->out[i].ndims >= 0 && !s->out[i].dtype_guess)
			meet(t, s->out[i].dtype, s->out[i].dims, s->out[i].ndims, s->out[i].elems, true);
}

/* Elements of an indexed read, whose result is not made before its positions are known. */
static uint64_t rows_of(const struct shape *s)
{
	uint64_t n;

	if (!s->n_in || s->in[0].ndims < 1 || !s->in[0].dims[0] ||
	    __builtin_mul_overflow(s->s.elems, s->in[0].extent / s->in[0].dims[0], &n))
		return 0;
	return n;
}

/* What an op reads or writes that nobody before it made: the type of what it makes is the type of who reads that. */
static void tell_by_behind(struct types *t, uint32_t at)
{
	struct told *x = &t->ops[at];
	const struct shape *s;
	enum dtype found = DT_NONE;
	uint64_t elems;

	if (!op_lacks(&x->op))
		return;
	for (uint32_t i = 0; i < x->op.n_args; i++) { /* for a moment, to see how large its result is */
		if (lacks(&x->args[i]))
			x->args[i].dtype = "float", x->how[i] = LOWER_TYPES;
	}
	s = shape_of(t, x);
	for (uint32_t i = 0; i < x->op.n_args; i++)
		if (x->how[i] == LOWER_TYPES)
			x->args[i].dtype = "", x->how[i] = LOWER_TYPE_NONE;
	if (!s || !(elems = s->open_index ? rows_of(s) : s->n_out ? s->out[0].elems : 0))
		return;
	for (uint32_t i = at + 1; i < t->n && i <= at + BEHIND && found == DT_NONE; i++)
		for (uint32_t k = 0; k < t->ops[i].op.n_args && found == DT_NONE; k++) {
			const struct trace_arg *y = &t->ops[i].args[k];

			if (sized(y) && elems_of(y) == elems)
				found = dtype_from_framework(y->dtype);
			if (x->k.bytes && dtype_bits(found) != 8 * x->k.bytes)
				found = DT_NONE;
		}
	for (uint32_t i = 0; i < x->op.n_args; i++)
		if (lacks(&x->args[i]))
			set_type(x, i, found, LOWER_TYPE_NEIGHBOUR);
}

/* --- all of it ------------------------------------------------------------------------------------------------------ */

static bool needed(const struct trace *t)
{
	for (size_t i = 0; i < t->n_launches; i++)
		if (t->launches[i].op && op_lacks(t->launches[i].op))
			return true;
	return false;
}

static int collect(struct types *t, const struct trace *from)
{
	size_t n = 0;
	uint64_t args = 1;

	for (t->cap = 16; t->cap < 2 * from->n_launches + 1;)
		t->cap *= 2;
	t->slots = arena_array(t->a, t->cap, sizeof *t->slots);
	t->ops = arena_array(t->a, from->n_launches + 1, sizeof *t->ops);
	if (!t->slots || !t->ops || !(t->shape = arena_alloc(t->a, sizeof *t->shape)))
		return -1;
	for (size_t i = 0; i < from->n_launches; i++) {
		const struct trace_launch *l = &from->launches[i];
		const struct rule *u = l->op ? rules_match(t->rules, l) : NULL;
		uint32_t *slot;
		struct told *x;
		struct kernel_type k;

		if (!l->op)
			continue;
		slot = slot_of(t, l->op);
		if (!*slot) {
			if (add_op(t, l->op) < 0)
				return -1;
			*slot = t->n;
			t->ops[t->n - 1].launch = l;
		}
		x = &t->ops[*slot - 1];
		k = l->kind == TRACE_KERNEL ? kernel_type(l->name) : (struct kernel_type){ .n_in = 0 };
		if (x->launch->kind != TRACE_KERNEL && l->kind == TRACE_KERNEL && !(u && u->part))
			x->launch = l;
		if (!x->k.n_in && (k.n_in || k.bytes))
			x->k = k;
	}
	for (n = 0; n < t->n; n++)
		args += t->ops[n].op.n_args + SHAPE_MAX_OUT;
	return (t->met = arena_array(t->a, args, sizeof *t->met)) ? 0 : -1;
}

static void tell_all(struct types *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->ops[i].bare)
			tell_numbers(t, i);
	for (uint32_t i = 0; i < t->n; i++) {
		struct told *x = &t->ops[i];

		tell_by_calls(x);
		tell_by_op(x);
		tell_by_kernel(t, x);
		tell_by_before(t, x);
		meet_all(t, x);
	}
	for (uint32_t i = t->n; i-- > 0;)
		tell_by_behind(t, i);
	for (uint32_t i = 0; i < t->n; i++)
		for (uint32_t k = 0; k < t->ops[i].op.n_args; k++)
			if (lacks(&t->ops[i].args[k]) && t->ops[i].args[k].list < 0)
				set_type(&t->ops[i], k, t->assumed, LOWER_TYPE_ASSUMED);
}

/* The least sure of an op's types stands for it; a list that the kernel's name alone tells of is not counted. */
static void count(struct told *x, struct lower_stats *st)
{
	static const enum lower_type doubt[] = { LOWER_TYPE_NONE, LOWER_TYPE_ASSUMED, LOWER_TYPE_NEIGHBOUR,
		                                 LOWER_TYPE_KERNEL, LOWER_TYPE_OP };
	uint64_t of[LOWER_TYPES] = { 0 };

	for (uint32_t i = 0; i < x->op.n_args; i++)
		if (sized(&x->args[i]) && (x->args[i].list < 0 || *x->args[i].dtype))
			of[x->how[i]]++;
	for (int k = 0; k < LOWER_TYPES; k++)
		st->types[k] += of[k];
	for (size_t i = 0; i < sizeof doubt / sizeof *doubt && !x->op.types; i++)
		x->op.types = of[doubt[i]] ? lower_type_name(doubt[i]) : NULL;
}

const char *lower_type_name(enum lower_type how)
{
	static const char *const names[LOWER_TYPES] = { "unknown", "recorded", "op", "kernel", "neighbour", "assumed" };

	return names[how];
}

int lower_types_check(const char *name, struct err *e)
{
	struct str known = STR_INIT;

	if (*dtype_to_framework(dtype_parse(name)))
		return 0;
	for (int d = DT_NONE + 1; d < DTYPES; d++)
		if (*dtype_to_framework((enum dtype)d))
			str_addf(&known, "%s%s", known.len ? ", " : "", dtype_name((enum dtype)d));
	err_set(e, ERR_USAGE, "'%.40s' is no number format for option '--dtype': %s", name, str_c(&known));
	str_free(&known);
	return -1;
}

int lower_types(const struct trace *from, struct rules *r, struct arena *a, struct trace *to, struct lower_stats *st,
                struct err *e)
{
	struct types t = { .rules = r, .a = a, .assumed = from->dtype ? dtype_parse(from->dtype) : DT_NONE };

	*to = *from;
	if (!needed(from))
		return 0;
	to->launches = arena_array(a, from->n_launches, sizeof *to->launches);
	if (!to->launches || collect(&t, from) < 0)
		return err_set(e, ERR_NOMEM, "out of memory while lowering");
	tell_all(&t);
	for (size_t i = 0; i < from->n_launches; i++) {
		to->launches[i] = from->launches[i];
		if (to->launches[i].op)
			to->launches[i].op = &t.ops[*slot_of(&t, to->launches[i].op) - 1].op;
	}
	for (uint32_t i = 0; i < t.n; i++)
		count(&t.ops[i], st);
	return 0;
}
