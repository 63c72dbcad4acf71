/* build_place.c - where tensors lie and what each op must wait for.
 *
 * As a trace's tensors are placed (sim/lower/lower_alloc.c): what is there before the stream first, weights, then caches,
 * then the rest; what it makes takes a block that was given back, of its very size, first in first out, small ones after a
 * rest, else a new one. Caches that grow keep their place. An op waits for the writers of what it reads, and for readers
 * and writer of what it overwrites, whoever had the block before included; a routed op for the pick of its experts. */
#include <stdlib.h>

#include "sim/base/hash.h"
#include "sim/build/build_int.h"

#define ALIGN        256u
#define WEIGHT_ALIGN 512u
#define SMALL_BLOCK  (UINT64_C(1) << 20)
#define REST_OPS     32u
#define ADDR_LIMIT   (UINT64_C(1) << 62)
#define NONE         UINT32_MAX

struct block {
	uint64_t addr;
	uint32_t tensor, after, next;
};

struct sizes {
	uint64_t bytes;
	uint32_t head, tail;
};

/* Of a tensor. */
struct use {
	uint32_t last, writer, readers, before; /* ops; first reader's operand; the tensor that had the block */
	bool placed;
};

struct placing {
	struct builder *b;
	struct op_stream *s;
	uint64_t end;
	struct use *use;
	uint32_t *next_reader, *op_of; /* by operand */
	struct block *blocks;
	uint32_t n_blocks, n_sizes;
	struct sizes *sizes; /* open addressing; bytes 0: free */
};

static int take(struct placing *p, uint64_t bytes, uint64_t align, uint64_t *addr)
{
	*addr = (p->end + align - 1) / align * align;
	if (__builtin_add_overflow(*addr, bytes ? bytes : 1, &p->end) || p->end > ADDR_LIMIT)
		return err_set(p->b->e, ERR_CONFIG, "the model's tensors need more than 2^62 bytes of address space");
	return 0;
}

static int place_outside(struct placing *p)
{
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < p->s->n_tensors; i++) {
			struct op_tensor *t = &p->s->tensors[i];
			const int mine = t->role == OP_WEIGHT ? 0 : t->role == OP_KV ? 1 : 2;
			const uint64_t align = t->role == OP_WEIGHT ? WEIGHT_ALIGN : ALIGN;
			uint64_t all;

			if (!t->external || mine != pass)
				continue;
			t->stride = (t->bytes + align - 1) / align * align;
			if (__builtin_mul_overflow(t->stride, (uint64_t)t->instances, &all))
				all = UINT64_MAX;
			if (take(p, t->instances > 1 ? all : t->bytes, align, &t->addr) < 0)
				return -1;
			p->use[i].placed = true;
		}
	return 0;
}

static uint64_t block_bytes(const struct op_tensor *t)
{
	return t->bytes ? (t->bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
}

static struct sizes *sizes_of(struct placing *p, uint64_t bytes)
{
	uint32_t at = (uint32_t)hash_mix(bytes) & (p->n_sizes - 1);

	while (p->sizes[at].bytes && p->sizes[at].bytes != bytes)
		at = (at + 1) & (p->n_sizes - 1);
	if (!p->sizes[at].bytes)
		p->sizes[at] = (struct sizes){ bytes, NONE, NONE };
	return &p->sizes[at];
}

static int place_new(struct placing *p, uint32_t tensor, uint32_t op)
{
	struct op_tensor *t = &p->s->tensors[tensor];
	const uint64_t bytes = block_bytes(t);
	struct sizes *c;

	t->stride = bytes;
	p->use[tensor].placed = true;
	if (t->role == OP_KV)
		return take(p, bytes, ALIGN, &t->addr);
	c = sizes_of(p, bytes);
	if (c->head != NONE && p->blocks[c->head].after + (bytes <= SMALL_BLOCK ? REST_OPS : 0) < op) {
		const struct block *f = &p->blocks[c->head];

		t->addr = f->addr;
		p->use[tensor].before = f->tensor;
		c->head = f->next;
		return 0;
	}
	return take(p, bytes, ALIGN, &t->addr);
}

static void give_back(struct placing *p, uint32_t tensor, uint32_t op)
{
	struct sizes *c = sizes_of(p, block_bytes(&p->s->tensors[tensor]));
	const uint32_t at = p->n_blocks++;

	p->blocks[at] = (struct block){ p->s->tensors[tensor].addr, tensor, op, NONE };
	if (c->head == NONE)
		c->head = at;
	else
		p->blocks[c->tail].next = at;
	c->tail = at;
}

/* --- dependences ------------------------------------------------------------------------------------------------------- */

static void depend(struct placing *p, struct op *o, uint32_t on)
{
	if (on != NONE && on != o->id)
		p->s->deps[o->first_dep + o->n_deps++] = on;
}

static void depend_over(struct placing *p, struct op *o, uint32_t tensor)
{
	struct use *u = &p->use[tensor];

	if (u->readers == NONE)
		depend(p, o, u->writer);
	for (uint32_t x = u->readers; x != NONE; x = p->next_reader[x])
		depend(p, o, p->op_of[x]);
	u->readers = NONE;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_deps(struct placing *p, struct op *o)
{
	uint32_t *d = p->s->deps + o->first_dep, n = 0;

	if (o->n_deps > 1)
		qsort(d, o->n_deps, sizeof *d, by_value);
	for (uint32_t i = 0; i < o->n_deps; i++)
		if (!n || d[n - 1] != d[i])
			d[n++] = d[i];
	o->n_deps = n;
}

static void depend_operands(struct placing *p, struct op *o)
{
	const struct op_operand *x = p->s->operands + o->first_operand;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		struct use *u = &p->use[x[i].tensor];

		if (!x[i].write) {
			depend(p, o, u->writer);
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

static int place_op(struct placing *p, struct op *o)
{
	const struct op_operand *x = p->s->operands + o->first_operand;

	o->first_dep = (uint32_t)p->s->n_deps;
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (!p->use[x[i].tensor].placed && place_new(p, x[i].tensor, o->id) < 0)
			return -1;
	depend_operands(p, o);
	if (o->routed_by >= 0) {
		const struct op_route *r = &p->s->routes[o->routed_by];

		depend(p, o, r->sync_op != NONE ? r->sync_op : r->topk_op);
	}
	sort_deps(p, o);
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

static void uses(struct placing *p)
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

int b_place(struct builder *b)
{
	struct op_stream *s = b->s;
	struct placing p = { .b = b, .s = s, .end = ALIGN }; /* address 0 means nothing */
	const size_t nt = s->n_tensors + 1, no = s->n_operands + 1;

	p.n_sizes = 16;
	while (p.n_sizes < 2 * nt)
		p.n_sizes *= 2;
	p.use = arena_array(b->a, nt, sizeof *p.use);
	p.next_reader = arena_array(b->a, no, sizeof *p.next_reader);
	p.op_of = arena_array(b->a, no, sizeof *p.op_of);
	p.blocks = arena_array(b->a, nt, sizeof *p.blocks);
	p.sizes = arena_array(b->a, p.n_sizes, sizeof *p.sizes);
	/* an operand waits for one writer, a read is waited for once by what overwrites it; one more for a router */
	s->deps = arena_array(b->a, 3 * no + s->n_ops, sizeof *s->deps);
	if (!p.use || !p.next_reader || !p.op_of || !p.blocks || !p.sizes || !s->deps)
		return err_nomem(b->e, "for the ops of a model");
	uses(&p);
	if (place_outside(&p) < 0)
		return -1;
	for (size_t i = 0; i < s->n_ops; i++)
		if (place_op(&p, &s->ops[i]) < 0)
			return -1;
	s->addr_end = p.end;
	return 0;
}
