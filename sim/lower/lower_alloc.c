/* lower_alloc.c - where tensors lie and what each op must wait for.
 *
 * What exists before the stream has a place of its own: weights first, then old caches, then the rest. What the
 * stream makes is placed as a caching allocator would: a block is handed on, to tensors of its very size, once the
 * last op that reads it is past. Blocks go first in first out, and small ones rest for a while, so that the new
 * writer rarely has to wait for the old readers; when it has to, the dependence is there (I1). A grown cache keeps
 * its place to the end. Dependences are those of the ranges: read after write, write after read, write after write,
 * a routed product after the host read that picks its expert, and a row of a table of ops after the row before it. */
#include <stdlib.h>

#include "sim/base/hash.h"
#include "sim/lower/lower_int.h"

#define ALIGN        256u
#define WEIGHT_ALIGN 512u
#define SMALL_BLOCK  (UINT64_C(1) << 20)
#define REST_OPS     32u /* ops a small block rests before it is used again */
#define ADDR_LIMIT   (UINT64_C(1) << 62)

/* A block that was given back: by which tensor, after which op. */
struct freed {
	uint64_t addr;
	uint32_t tensor, after, next;
};
struct size_class {
	uint64_t bytes;
	bool used;
	uint32_t head, tail;
};

struct placing {
	struct lowering *w;
	uint64_t end;                    /* first byte nobody has */
	uint32_t *last_use;              /* by tensor: op */
	uint32_t *writer;                /* by tensor: op that wrote it last */
	uint32_t *readers, *next_reader; /* by tensor; by operand: read operands since then */
	uint32_t *before;                /* by tensor: who had its block before; NO_TENSOR */
	uint32_t *op_of;                 /* by operand */
	bool *placed;
	struct freed *freed;
	uint32_t n_freed;
	struct size_class *classes;
	uint32_t n_classes;
};

static int take(struct placing *p, uint64_t bytes, uint64_t align, uint64_t *addr)
{
	*addr = (p->end + align - 1) / align * align;
	if (__builtin_add_overflow(*addr, bytes ? bytes : 1, &p->end) || p->end > ADDR_LIMIT)
		return err_set(p->w->e, ERR_IO, "the tensors need more than 2^62 bytes of address space");
	return 0;
}

static int place_external(struct placing *p)
{
	struct op_stream *s = p->w->out;

	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < s->n_tensors; i++) {
			struct op_tensor *t = &s->tensors[i];
			int mine = t->role == OP_WEIGHT ? 0 : t->role == OP_KV ? 1 : 2;
			uint64_t align = t->role == OP_WEIGHT ? WEIGHT_ALIGN : ALIGN, all = t->bytes;

			if (!t->external || mine != pass)
				continue;
			t->stride = (t->bytes + align - 1) / align * align;
			if (t->instances > 1 && __builtin_mul_overflow(t->stride, (uint64_t)t->instances, &all))
				return err_set(p->w->e, ERR_IO,
				               "the tensors need more than 2^62 bytes of address space");
			if (take(p, all, align, &t->addr) < 0)
				return -1;
			p->placed[i] = true;
		}
	return 0;
}

/* --- blocks of what the stream makes ------------------------------------------------------------------------------ */

static struct size_class *class_of(struct placing *p, uint64_t bytes)
{
	uint32_t mask = p->n_classes - 1, at = (uint32_t)hash_mix(bytes) & mask;

	while (p->classes[at].used && p->classes[at].bytes != bytes)
		at = (at + 1) & mask;
	if (!p->classes[at].used)
		p->classes[at] = (struct size_class){ bytes, true, NO_TENSOR, NO_TENSOR };
	return &p->classes[at];
}

static uint64_t block_bytes(const struct op_tensor *t)
{
	return t->bytes ? (t->bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
}

static int place_new(struct placing *p, uint32_t tensor, uint32_t op)
{
	struct op_tensor *t = &p->w->out->tensors[tensor];
	uint64_t bytes = block_bytes(t);

	t->stride = bytes;
	p->placed[tensor] = true;
	if (t->role != OP_KV) {
		struct size_class *c = class_of(p, bytes);
		struct freed *f = c->head != NO_TENSOR ? &p->freed[c->head] : NULL;

		if (f && (uint64_t)f->after + (bytes <= SMALL_BLOCK ? REST_OPS : 0) < op) {
			t->addr = f->addr;
			p->before[tensor] = f->tensor;
			c->head = f->next;
			return 0;
		}
	}
	return take(p, bytes, ALIGN, &t->addr);
}

static void give_back(struct placing *p, uint32_t tensor, uint32_t op)
{
	const struct op_tensor *t = &p->w->out->tensors[tensor];
	struct size_class *c = class_of(p, block_bytes(t));
	uint32_t at = p->n_freed++;

	p->freed[at] = (struct freed){ t->addr, tensor, op, NO_TENSOR };
	if (c->head == NO_TENSOR)
		c->head = at;
	else
		p->freed[c->tail].next = at;
	c->tail = at;
}

/* --- dependences -------------------------------------------------------------------------------------------------- */

static void depend(struct op_stream *s, struct op *o, uint32_t on)
{
	if (on != NO_OP && on != o->id)
		s->deps[o->first_dep + o->n_deps++] = on;
}

/* After all readers of what is overwritten, or its writer where nobody read it. */
static void depend_over(struct placing *p, struct op *o, uint32_t tensor)
{
	struct op_stream *s = p->w->out;

	if (p->readers[tensor] == NO_TENSOR)
		depend(s, o, p->writer[tensor]);
	for (uint32_t x = p->readers[tensor]; x != NO_TENSOR; x = p->next_reader[x])
		depend(s, o, p->op_of[x]);
	p->readers[tensor] = NO_TENSOR;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_deps(struct op_stream *s, struct op *o)
{
	uint32_t *d = s->deps + o->first_dep, n = 0;

	if (o->n_deps > 1)
		qsort(d, o->n_deps, sizeof *d, by_value);
	for (uint32_t i = 0; i < o->n_deps; i++)
		if (!n || d[n - 1] != d[i])
			d[n++] = d[i];
	o->n_deps = n;
}

static int place_op(struct placing *p, uint32_t op)
{
	struct op_stream *s = p->w->out;
	struct op *o = &s->ops[op];
	const struct op_operand *x = s->operands + o->first_operand;
	int32_t region = p->w->lops[op].region;

	o->first_dep = (uint32_t)s->n_deps;
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (!p->placed[x[i].tensor] && place_new(p, x[i].tensor, op) < 0)
			return -1;
	for (uint32_t i = 0; i < o->n_operands; i++) {
		uint32_t t = x[i].tensor;

		if (!x[i].write) {
			depend(s, o, p->writer[t]);
			continue;
		}
		depend_over(p, o, t);
		if (p->before[t] != NO_TENSOR)
			depend_over(p, o, p->before[t]);
		p->before[t] = NO_TENSOR;
		p->writer[t] = op;
	}
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (!x[i].write && p->writer[x[i].tensor] != op) {
			p->next_reader[o->first_operand + i] = p->readers[x[i].tensor];
			p->readers[x[i].tensor] = o->first_operand + i;
		}
	if (region >= 0)
		depend(s, o, p->w->regions[region].sync);
	if (p->w->lops[op].listed && op > 0)
		depend(s, o, op - 1);
	sort_deps(s, o);
	s->n_deps += o->n_deps;
	for (uint32_t i = 0; i < o->n_operands; i++) {
		uint32_t t = x[i].tensor;

		if (p->last_use[t] == op && !s->tensors[t].external && s->tensors[t].role != OP_KV) {
			give_back(p, t, op);
			p->last_use[t] = NO_OP; /* once, however often the op names it */
		}
	}
	return 0;
}

int lower_place(struct lowering *w)
{
	struct op_stream *s = w->out;
	struct placing p = { .w = w, .end = ALIGN }; /* address 0 means nothing */
	size_t nt = s->n_tensors + 1, no = s->n_operands + 1;

	p.n_classes = 16;
	while (p.n_classes < 2 * nt)
		p.n_classes *= 2;
	p.last_use = arena_array(w->a, nt, sizeof *p.last_use);
	p.writer = arena_array(w->a, nt, sizeof *p.writer);
	p.readers = arena_array(w->a, nt, sizeof *p.readers);
	p.before = arena_array(w->a, nt, sizeof *p.before);
	p.placed = arena_array(w->a, nt, sizeof *p.placed);
	p.next_reader = arena_array(w->a, no, sizeof *p.next_reader);
	p.op_of = arena_array(w->a, no, sizeof *p.op_of);
	p.freed = arena_array(w->a, nt, sizeof *p.freed);
	p.classes = arena_array(w->a, p.n_classes, sizeof *p.classes);
	/* an operand waits for one writer, a read is waited for once by what overwrites it; one more for a
	 * router or the row before */
	s->deps = arena_array(w->a, 3 * no + s->n_ops, sizeof *s->deps);
	if (!p.last_use || !p.writer || !p.readers || !p.before || !p.placed || !p.next_reader || !p.op_of ||
	    !p.freed || !p.classes || !s->deps)
		return lower_nomem(w);
	for (size_t i = 0; i < nt; i++)
		p.writer[i] = p.readers[i] = p.before[i] = NO_TENSOR;
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t j = 0; j < s->ops[i].n_operands; j++) {
			p.last_use[s->operands[s->ops[i].first_operand + j].tensor] = i;
			p.op_of[s->ops[i].first_operand + j] = i;
		}
	if (place_external(&p) < 0)
		return -1;
	for (uint32_t i = 0; i < w->n; i++)
		if (place_op(&p, i) < 0)
			return -1;
	s->addr_end = p.end;
	return 0;
}
