#include "workloads/place.h"

#include <stdlib.h>

#include "sim/base/hash.h"

#define ALIGN        256u
#define WEIGHT_ALIGN 512u
#define SMALL_BLOCK  (UINT64_C(1) << 20)
#define REST_OPS     32u /* ops a small block rests before it is used again */
#define ADDR_LIMIT   (UINT64_C(1) << 62)
#define NONE         UINT32_MAX

/* A block that was given back: by which tensor, after which op. */
struct freed {
	uint64_t addr;
	uint32_t tensor, after, next;
};
struct size_class {
	uint64_t bytes; /* 0: free */
	uint32_t head, tail;
};

/* Of a tensor. */
struct use {
	uint32_t last;    /* op that names it last */
	uint32_t writer;  /* op that wrote it last */
	uint32_t readers; /* first of the operands that read it since then */
	uint32_t before;  /* tensor that had its block before */
	bool placed;
};

struct placing {
	struct op_stream *s;
	enum err_kind kind;
	struct err *e;
	uint64_t end; /* first byte nobody has */
	struct use *use;
	uint32_t *next_reader, *op_of; /* by operand */
	struct freed *freed;
	uint32_t n_freed, n_classes;
	struct size_class *classes; /* open addressing; a power of two */
};

static int place_take(struct placing *p, uint64_t bytes, uint64_t align, uint64_t *addr)
{
	*addr = (p->end + align - 1) / align * align;
	if (__builtin_add_overflow(*addr, bytes ? bytes : 1, &p->end) || p->end > ADDR_LIMIT)
		return err_set(p->e, p->kind, "the tensors need more than 2^62 bytes of address space");
	return 0;
}

static int place_external(struct placing *p)
{
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < p->s->n_tensors; i++) {
			struct op_tensor *t = &p->s->tensors[i];
			const int mine = t->role == OP_WEIGHT ? 0 : t->role == OP_KV ? 1 : 2;
			const uint64_t align = t->role == OP_WEIGHT ? WEIGHT_ALIGN : ALIGN;
			uint64_t all = t->bytes;

			if (!t->external || mine != pass)
				continue;
			t->stride = (t->bytes + align - 1) / align * align;
			if (t->instances > 1 && __builtin_mul_overflow(t->stride, (uint64_t)t->instances, &all))
				all = UINT64_MAX;
			if (place_take(p, all, align, &t->addr) < 0)
				return -1;
			p->use[i].placed = true;
		}
	return 0;
}

/* --- blocks of what the stream makes ------------------------------------------------------------------------------ */

static uint64_t block_bytes(const struct op_tensor *t)
{
	return t->bytes ? (t->bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
}

static struct size_class *place_class_of(struct placing *p, uint64_t bytes)
{
	uint32_t mask = p->n_classes - 1, at = (uint32_t)hash_mix(bytes) & mask;

	while (p->classes[at].bytes && p->classes[at].bytes != bytes)
		at = (at + 1) & mask;
	if (!p->classes[at].bytes)
		p->classes[at] = (struct size_class){ bytes, NONE, NONE };
	return &p->classes[at];
}

static int place_new(struct placing *p, uint32_t tensor, uint32_t op)
{
	struct op_tensor *t = &p->s->tensors[tensor];
	const uint64_t bytes = block_bytes(t);

	t->stride = bytes;
	p->use[tensor].placed = true;
	if (t->role != OP_KV) {
		struct size_class *c = place_class_of(p, bytes);
		const struct freed *f = c->head != NONE ? &p->freed[c->head] : NULL;

		if (f && (uint64_t)f->after + (bytes <= SMALL_BLOCK ? REST_OPS : 0) < op) {
			t->addr = f->addr;
			p->use[tensor].before = f->tensor;
			c->head = f->next;
			return 0;
		}
	}
	return place_take(p, bytes, ALIGN, &t->addr);
}

static void give_back(struct placing *p, uint32_t tensor, uint32_t op)
{
	const struct op_tensor *t = &p->s->tensors[tensor];
	struct size_class *c = place_class_of(p, block_bytes(t));
	const uint32_t at = p->n_freed++;

	p->freed[at] = (struct freed){ t->addr, tensor, op, NONE };
	if (c->head == NONE)
		c->head = at;
	else
		p->freed[c->tail].next = at;
	c->tail = at;
}

/* --- dependences -------------------------------------------------------------------------------------------------- */

static void depend(struct op_stream *s, struct op *o, uint32_t on)
{
	if (on != NONE && on != o->id)
		s->deps[o->first_dep + o->n_deps++] = on;
}

/* After all readers of what is overwritten, or its writer where nobody read it. */
static void depend_over(struct placing *p, struct op *o, uint32_t tensor)
{
	struct use *u = &p->use[tensor];

	if (u->readers == NONE)
		depend(p->s, o, u->writer);
	for (uint32_t x = u->readers; x != NONE; x = p->next_reader[x])
		depend(p->s, o, p->op_of[x]);
	u->readers = NONE;
}

static void depend_operands(struct placing *p, struct op *o)
{
	const struct op_operand *x = p->s->operands + o->first_operand;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		struct use *u = &p->use[x[i].tensor];

		if (!x[i].write) {
			depend(p->s, o, u->writer);
			continue;
		}
		depend_over(p, o, x[i].tensor);
		if (u->before != NONE)
			depend_over(p, o, u->before);
		u->before = NONE;
		u->writer = o->id;
	}
	for (uint32_t i = 0; i < o->n_operands; i++) {
		struct use *u = &p->use[x[i].tensor];

		if (x[i].write || u->writer == o->id)
			continue;
		p->next_reader[o->first_operand + i] = u->readers;
		u->readers = o->first_operand + i;
	}
}

static void depend_order(struct op_stream *s, struct op *o)
{
	if (o->routed_by >= 0) {
		const struct op_route *r = &s->routes[o->routed_by];

		depend(s, o, r->sync_op != NONE ? r->sync_op : r->topk_op);
	}
	if (o->listed && o->id > 0)
		depend(s, o, o->id - 1);
}

static int place_by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_deps(struct op_stream *s, struct op *o)
{
	uint32_t *d = s->deps + o->first_dep, n = 0;

	if (o->n_deps > 1)
		qsort(d, o->n_deps, sizeof *d, place_by_value);
	for (uint32_t i = 0; i < o->n_deps; i++)
		if (!n || d[n - 1] != d[i])
			d[n++] = d[i];
	o->n_deps = n;
}

static int place_op(struct placing *p, struct op *o)
{
	const struct op_operand *x = p->s->operands + o->first_operand;

	o->first_dep = (uint32_t)p->s->n_deps;
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (!p->use[x[i].tensor].placed && place_new(p, x[i].tensor, o->id) < 0)
			return -1;
	depend_operands(p, o);
	depend_order(p->s, o);
	sort_deps(p->s, o);
	p->s->n_deps += o->n_deps;
	for (uint32_t i = 0; i < o->n_operands; i++) {
		struct use *u = &p->use[x[i].tensor];
		const struct op_tensor *t = &p->s->tensors[x[i].tensor];

		if (u->last != o->id || t->external || t->role == OP_KV)
			continue;
		give_back(p, x[i].tensor, o->id);
		u->last = NONE; /* once, however often the op names it */
	}
	return 0;
}

static void find_uses(struct placing *p)
{
	for (size_t i = 0; i < p->s->n_tensors; i++)
		p->use[i] = (struct use){ NONE, NONE, NONE, NONE, false };
	for (uint32_t i = 0; i < p->s->n_ops; i++)
		for (uint32_t k = 0; k < p->s->ops[i].n_operands; k++) {
			const uint32_t at = p->s->ops[i].first_operand + k;

			p->use[p->s->operands[at].tensor].last = i;
			p->op_of[at] = i;
		}
}

int place_stream(struct op_stream *s, enum err_kind kind, struct arena *a, struct err *e)
{
	struct placing p = { .s = s, .kind = kind, .e = e, .end = ALIGN }; /* address 0 means nothing */
	const size_t nt = s->n_tensors + 1, no = s->n_operands + 1;

	p.n_classes = 16;
	while (p.n_classes < 2 * nt)
		p.n_classes *= 2;
	p.use = arena_array(a, nt, sizeof *p.use);
	p.next_reader = arena_array(a, no, sizeof *p.next_reader);
	p.op_of = arena_array(a, no, sizeof *p.op_of);
	p.freed = arena_array(a, nt, sizeof *p.freed);
	p.classes = arena_array(a, p.n_classes, sizeof *p.classes);
	/* an operand waits for one writer, a read is waited for once by what overwrites it; one for a router, one
	 * for the row before */
	s->deps = arena_array(a, 3 * no + 2 * s->n_ops, sizeof *s->deps);
	if (!p.use || !p.next_reader || !p.op_of || !p.freed || !p.classes || !s->deps)
		return err_nomem(e, "for the places of tensors");
	s->n_deps = 0;
	find_uses(&p);
	if (place_external(&p) < 0)
		return -1;
	for (size_t i = 0; i < s->n_ops; i++)
		if (place_op(&p, &s->ops[i]) < 0)
			return -1;
	s->addr_end = p.end;
	return 0;
}
