/* lower_pick.c - which value an operand means. A trace gives an operand's type, dims and strides, not its address;
 * what tells values of one size apart is who has read them, how they lay in memory, and when they were made.
 *
 * The rules, strongest first:
 *   1. a slice (strides reach further than its elements) is taken of the tensor that was read or made last;
 *   2. a value nobody has read yet is what the next op of that type and size is for, the newest first; of products of
 *      one input (q, k, v) the oldest, since they are consumed in the order they were made;
 *   3. strides of a value are known: dims that agree with strides that do not are another tensor;
 *   4. a sum's other operand is the residual stream: what an earlier sum, or the embedding, made;
 *   5. else the newest of the same dims, unless one of the same size was made after that was last used; squares on
 *      their way to a mean are never meant;
 *   6. a value from outside is meant again by another kind of op, not by the same one: benchmarks go round buffers. */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/lower/lower_int.h"

#define LOOK_BACK  512  /* values of one type and size looked at; a step makes a few hundred */
#define UNREAD_AGE 1024 /* ops after which a value nobody read is not waited for any longer */
#define SIBLINGS   16

static const struct bucket no_bucket = { 0, DT_NONE, NO_VAL, 0 };

static struct bucket *slot(struct bucket *buckets, uint32_t n, enum dtype dtype, uint64_t elems)
{
	uint32_t at = (uint32_t)hash_mix(elems * DTYPES + (uint64_t)dtype) & (n - 1);

	while (buckets[at].head != NO_VAL && (buckets[at].elems != elems || buckets[at].dtype != dtype))
		at = (at + 1) & (n - 1);
	return &buckets[at];
}

/* Values of one type and size; never NULL. */
static const struct bucket *bucket(const struct lowering *w, enum dtype dtype, uint64_t elems)
{
	return w->n_buckets ? slot(w->buckets, w->n_buckets, dtype, elems) : &no_bucket;
}

static uint32_t newest(const struct lowering *w, enum dtype dtype, uint64_t elems)
{
	return bucket(w, dtype, elems)->head;
}

static uint32_t older(const struct lowering *w, uint32_t val)
{
	return w->vals[val].next;
}

static int lower_pick_grow(struct lowering *w)
{
	uint32_t n = w->n_buckets ? 2 * w->n_buckets : 256;
	struct bucket *b = arena_array(w->a, n, sizeof *b);

	if (!b)
		return lower_nomem(w);
	for (uint32_t i = 0; i < n; i++)
		b[i].head = NO_VAL;
	for (uint32_t i = 0; i < w->n_buckets; i++)
		if (w->buckets[i].head != NO_VAL)
			*slot(b, n, w->buckets[i].dtype, w->buckets[i].elems) = w->buckets[i];
	w->buckets = b;
	w->n_buckets = n;
	return 0;
}

/* NO_VAL only when memory is out. */
uint32_t lower_val_add(struct lowering *w, const struct shape_io *io, uint32_t tensor, uint32_t producer)
{
	/* a part that was written stands for the whole tensor */
	uint64_t elems = io->extent > io->elems ? io->extent : io->elems;
	uint32_t at = w->n_vals;
	struct val *v = &w->vals[at];
	struct bucket *b;

	if (2 * w->used_buckets >= w->n_buckets && lower_pick_grow(w) < 0)
		return NO_VAL;
	b = slot(w->buckets, w->n_buckets, io->dtype, elems);
	if (b->head == NO_VAL)
		*b = (struct bucket){ elems, io->dtype, NO_VAL, 0 }, w->used_buckets++;
	*v = (struct val){ .tensor = tensor,
		           .producer = producer,
		           .io = io,
		           .elems = elems,
		           .left = NO_TENSOR,
		           .kind = producer == NO_OP ? OP_OPAQUE : w->out->ops[producer].kind,
		           .next = b->head,
		           .next_int = NO_VAL };
	w->n_vals++;
	b->head = at;
	b->unread++;
	if (io->dtype == DT_INT64 || io->dtype == DT_INT32) {
		v->next_int = w->ints;
		w->ints = at;
	}
	return at;
}

void lower_val_read(struct lowering *w, uint32_t val, uint32_t op)
{
	struct val *v = &w->vals[val];

	if (!v->reads++ && !v->superseded)
		slot(w->buckets, w->n_buckets, v->io->dtype, v->elems)->unread--;
	v->last_read = op + 1;
	v->reader = w->lops[op].rule;
}

bool lower_known(const struct lowering *w, enum dtype dtype, uint64_t elems)
{
	return bucket(w, dtype, elems)->head != NO_VAL;
}

void lower_val_drop(struct lowering *w, uint32_t val)
{
	struct val *v = &w->vals[val];

	if (!v->superseded && !v->reads)
		slot(w->buckets, w->n_buckets, v->io->dtype, v->elems)->unread--;
	v->superseded = true;
}

static bool taken(const struct pick *p, uint32_t val)
{
	for (uint32_t i = 0; i < p->n_not; i++)
		if (p->not [i] == val)
			return true;
	return false;
}

static bool same_dims(const struct val *v, const struct shape_io *io)
{
	return v->io->ndims == io->ndims && memcmp(v->io->dims, io->dims, (size_t)io->ndims * sizeof *io->dims) == 0;
}

/* Rule 3. Dims of 1 count here: their strides tell a fresh result from a transposed view of something else. */
static bool other_layout(const struct val *v, const struct shape_io *io)
{
	return io->strides_known && same_dims(v, io) &&
	       memcmp(v->io->strides, io->strides, (size_t)io->ndims * sizeof *io->strides) != 0;
}

static bool expected(const struct val *v, uint32_t op)
{
	return !v->reads && (v->producer == NO_OP || op - v->producer <= UNREAD_AGE);
}

/* When a value came about and when it was last of use, in ops from 1; 0: before the stream. */
static uint32_t made_at(const struct val *v)
{
	return v->producer == NO_OP ? 0 : v->producer + 1;
}

static uint32_t used_at(const struct val *v)
{
	return v->last_read > made_at(v) ? v->last_read : made_at(v);
}

/* Rule 2: `at` is a product nobody read; the first made of its unread siblings. */
static uint32_t eldest(const struct lowering *w, const struct pick *p, uint32_t at)
{
	const struct val *v = &w->vals[at];
	uint32_t best = at;

	if (v->kind != OP_GEMM || v->left == NO_TENSOR)
		return at;
	for (uint32_t i = v->next, n = 0; i != NO_VAL && n < SIBLINGS; i = older(w, i), n++) {
		const struct val *x = &w->vals[i];

		if (!x->superseded && x->kind == OP_GEMM && x->left == v->left && expected(x, p->op) && !taken(p, i) &&
		    same_dims(x, v->io))
			best = i;
	}
	return best;
}

/* Rule 1. */
static uint32_t pick_slice(const struct lowering *w, const struct pick *p, bool no_product)
{
	uint32_t best = NO_VAL, n = 0;
	uint64_t best_at = 0;

	for (uint32_t i = newest(w, p->io->dtype, p->io->extent); i != NO_VAL && n < LOOK_BACK; i = older(w, i), n++) {
		const struct val *v = &w->vals[i];
		/* read at op k counts after made at op k: a slice is rather of an op's input than of its result */
		uint64_t at = v->last_read ? 2 * (uint64_t)v->last_read + 1 : 2 * (uint64_t)made_at(v);

		if (v->superseded || (no_product && v->kind == OP_GEMM))
			continue;
		if (best == NO_VAL || at > best_at)
			best = i, best_at = at;
	}
	return best;
}

static uint32_t pick_whole(const struct lowering *w, const struct pick *p, uint64_t elems)
{
	const struct bucket *b = bucket(w, p->io->dtype, elems);
	uint32_t same = NO_VAL, sized = NO_VAL, residual = NO_VAL, other = NO_VAL, n = 0, unread = b->unread;

	for (uint32_t i = b->head; i != NO_VAL && n < LOOK_BACK; i = older(w, i), n++) {
		const struct val *v = &w->vals[i];

		if (v->superseded)
			continue;
		unread -= !v->reads && unread;
		if (taken(p, i) || (v->producer == NO_OP && v->reader == p->rule))
			continue;
		if (other_layout(v, p->io)) {
			if (other == NO_VAL)
				other = i;
			continue;
		}
		if (expected(v, p->op))
			return eldest(w, p, i);
		if (v->temporary)
			continue;
		if (same_dims(v, p->io)) {
			if (same == NO_VAL)
				same = i;
			if (residual == NO_VAL && v->residual)
				residual = i;
		} else if (sized == NO_VAL) {
			sized = i;
		}
		if (!unread && same != NO_VAL && (residual != NO_VAL || !p->residual_add))
			break;
	}
	if (p->residual_add && residual != NO_VAL)
		return residual;
	if (same == NO_VAL)
		return sized != NO_VAL ? sized : other;
	return sized != NO_VAL && made_at(&w->vals[sized]) > used_at(&w->vals[same]) ? sized : same;
}

uint32_t lower_pick(const struct lowering *w, const struct pick *p)
{
	uint32_t v = NO_VAL;

	if (p->io->elems < p->io->extent)
		v = pick_slice(w, p, false);
	if (v == NO_VAL)
		v = pick_whole(w, p, p->io->elems);
	if (v == NO_VAL && p->io->extent != p->io->elems)
		v = pick_whole(w, p, p->io->extent);
	return v;
}

/* What a scatter, or a copy into a part, writes into: memory nobody read yet (zeros), a cache, or, where the result
 * adds to what is there, whatever has these dims. NO_VAL: memory of its own. */
uint32_t lower_pick_target(const struct lowering *w, const struct pick *p)
{
	uint32_t v;

	if (!p->io->dense)
		return pick_slice(w, p, false);
	v = pick_whole(w, p, p->io->extent);
	return v != NO_VAL && (p->io->elems || p->io->ndims >= 4 || !w->vals[v].reads) ? v : NO_VAL;
}

/* Left operand of a product: the newest value of its size that is not itself a product, read or not (q, k and v, gate
 * and up read one input); failing that a product's result nobody read. */
uint32_t lower_pick_left(const struct lowering *w, const struct pick *p)
{
	uint32_t product = NO_VAL, n = 0, v;

	if (p->io->elems < p->io->extent && (v = pick_slice(w, p, true)) != NO_VAL)
		return v;
	for (uint32_t i = newest(w, p->io->dtype, p->io->elems); i != NO_VAL && n < LOOK_BACK; i = older(w, i), n++) {
		const struct val *x = &w->vals[i];

		if (x->superseded || x->temporary)
			continue;
		if (x->kind != OP_GEMM)
			return i;
		if (product == NO_VAL && expected(x, p->op))
			product = i;
	}
	return product;
}

/* A value with exactly these dims, for operands that are parameters unless the stream made them. */
uint32_t lower_pick_exact(const struct lowering *w, const struct pick *p)
{
	uint32_t n = 0;

	for (uint32_t i = newest(w, p->io->dtype, p->io->elems); i != NO_VAL && n < SIBLINGS; i = older(w, i), n++) {
		const struct val *v = &w->vals[i];

		if (!v->superseded && v->producer != NO_OP && same_dims(v, p->io) && !taken(p, i))
			return i;
	}
	return NO_VAL;
}

/* A right operand the stream made of an external tensor: a weight converted or scaled on the way. */
uint32_t lower_pick_weight(const struct lowering *w, const struct pick *p)
{
	const struct shape_io *io = p->io;
	uint32_t n = 0;

	for (uint32_t i = newest(w, io->dtype, io->elems); i != NO_VAL && n < LOOK_BACK; i = older(w, i), n++) {
		const struct val *v = &w->vals[i];

		if (!v->superseded && v->from_external && v->io->ndims == 2 && io->ndims == 2 && !taken(p, i) &&
		    (v->io->dims[0] == io->dims[0] || v->io->dims[0] == io->dims[1]))
			return i;
	}
	return NO_VAL;
}

/* The KV tensor that was read longest ago: caches are visited in the same order every step. */
uint32_t lower_pick_kv(const struct lowering *w, const struct pick *p)
{
	uint32_t best = NO_VAL, n = 0;

	for (uint32_t i = newest(w, p->io->dtype, p->io->extent); i != NO_VAL && n < LOOK_BACK; i = older(w, i), n++) {
		const struct val *v = &w->vals[i];

		if (v->superseded || w->out->tensors[v->tensor].role != OP_KV || v->producer == NO_OP || taken(p, i))
			continue;
		if (best == NO_VAL || v->last_read <= w->vals[best].last_read)
			best = i;
	}
	return best;
}

/* Positions whose dims the trace does not show: `want` of them if that is known, unread ones first. */
uint32_t lower_pick_positions(const struct lowering *w, uint32_t op, uint64_t want)
{
	uint32_t unread = NO_VAL, fits = NO_VAL, newest = NO_VAL, n = 0;

	for (uint32_t i = w->ints; i != NO_VAL && n < SIBLINGS; i = w->vals[i].next_int, n++) {
		const struct val *v = &w->vals[i];

		if (v->superseded || !v->elems)
			continue;
		if (newest == NO_VAL)
			newest = i;
		if (want && v->elems != want)
			continue;
		if (unread == NO_VAL && expected(v, op))
			unread = i;
		if (fits == NO_VAL)
			fits = i;
	}
	if (unread != NO_VAL)
		return unread;
	return fits != NO_VAL || want ? fits : newest;
}
