#include "sim/base/ratio.h"
#include "sim/map/map_int.h"

enum { BATCH, ROWS, COLS, DIMS };

static uint64_t at_least_1(uint64_t n)
{
	return n ? n : 1;
}

static bool has_mnk(const struct op *o)
{
	return op_traits[o->kind].dims == OP_DIMS_PRODUCT;
}

/* A product's columns are its weights'; attention's are its heads, which have their own keys and values. */
static void dims_of(const struct op *o, uint64_t of[DIMS])
{
	of[BATCH] = at_least_1(o->shape.batch);
	of[ROWS] = has_mnk(o) ? o->shape.m : o->shape.q_len;
	of[COLS] = has_mnk(o) ? o->shape.n : at_least_1(o->shape.kv_heads);
}

static void shrink(struct op *o, const struct map_block *b)
{
	struct op_shape *s = &o->shape;

	if (b->dim[BATCH].of > 1)
		s->batch = b->dim[BATCH].n;
	if (has_mnk(o)) {
		s->m = b->dim[ROWS].n;
		s->n = b->dim[COLS].n;
		return;
	}
	s->q_len = b->dim[ROWS].n;
	if (b->dim[COLS].of > 1) {
		s->heads = s->heads / s->kv_heads * b->dim[COLS].n;
		s->kv_heads = b->dim[COLS].n;
	}
}

void map_block_keys(const struct mapper *m, struct op *o, struct map_block *b)
{
	b->keys = b->all_keys = o->shape.kv_len;
	if (o->kind != OP_ATTENTION || !map_mask_skips(m, &m->s->ops[o->id]))
		return;
	b->keys -= b->dim[ROWS].of - (b->dim[ROWS].from + b->dim[ROWS].n);
	o->shape.kv_len = b->keys;
}

bool map_block_take(struct op *o, enum map_cut cut, uint64_t blocks, uint64_t k, struct map_block *b)
{
	uint64_t of[DIMS], parts[DIMS] = { 1, 1, 1 };

	dims_of(o, of);
	if (cut == MAP_CUT_ROWS)
		parts[ROWS] = blocks;
	for (int d = 0; cut != MAP_CUT_ROWS && d < DIMS;
	     d++) { /* the outer ones first: what is inside stays together */
		parts[d] = blocks < of[d] ? blocks : at_least_1(of[d]);
		blocks = div_up(blocks, parts[d]);
	}
	if (blocks > 1 && cut != MAP_CUT_ROWS)
		return false;
	for (int d = DIMS - 1; d >= 0; d--) {
		uint64_t each = div_up(of[d], parts[d]), n = each ? div_up(of[d], each) : 1, from = k % n * each;

		b->dim[d].of = of[d];
		b->dim[d].from = from;
		b->dim[d].n = of[d] - from < each ? of[d] - from : each;
		k /= n;
	}
	if (k)
		return false;
	shrink(o, b);
	return true;
}

/* Whether an operand is as large as it would be with one for each of the batch; else it is one for all. */
static bool one_each(const struct op *o, const struct op_operand *x, uint64_t batch, enum dtype d)
{
	return !has_mnk(o) || x->touched >= batch * dtype_bytes(d, o->shape.k * o->shape.n);
}

/* Which dimensions an operand has. */
static bool has_dim(const struct mapper *m, const struct op *o, uint32_t i, int dim, uint64_t of)
{
	const struct op_operand *x = &m->s->operands[o->first_operand + i];
	const struct op *whole = &m->s->ops[o->id];

	if (dim == BATCH)
		return !map_streams(m, whole, i) || one_each(whole, x, of, m->s->tensors[x->tensor].dtype);
	if (dim == ROWS) /* a bias is every row's */
		return !map_streams(m, whole, i) && !(has_mnk(o) && m->s->tensors[x->tensor].role == OP_WEIGHT);
	return o->kind == OP_ATTENTION || i != 0;
}

/* Of weights that are an operand each of the batch, those of other blocks. */
static bool is_of_others(const struct mapper *m, const struct op *o, uint32_t i, const struct map_block *b)
{
	const struct op *whole = &m->s->ops[o->id];
	uint64_t all = 0, before = 0;

	if (!has_mnk(o) || !map_streams(m, whole, i))
		return false;
	for (uint32_t k = 0; k < o->n_operands; k++) {
		all += map_streams(m, whole, k);
		before += k < i && map_streams(m, whole, k);
	}
	return all > 1 && all == b->dim[BATCH].of &&
	       (before < b->dim[BATCH].from || before >= b->dim[BATCH].from + b->dim[BATCH].n);
}

/* Of the bytes of all, those of a part; parts side by side have all bytes, also of fewer bytes than rows. */
static void cut(struct isa_insn *x, const struct map_range *r)
{
	const uint64_t from = ratio_of(x->bytes, r->from, r->of);

	x->offset += from;
	x->bytes = ratio_of(x->bytes, r->from + r->n, r->of) - from;
}

void map_block_moves(const struct mapper *m, const struct op *o, const struct map_block *b, struct map_candidate *d)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < d->n; n++) {
		struct isa_insn *x = &d->insn[kept];
		uint32_t i = 0;

		*x = d->insn[n];
		kept++;
		if (x->code != ISA_LOAD && x->code != ISA_STORE)
			continue;
		while (m->s->operands[o->first_operand + i].tensor != x->tensor ||
		       m->s->operands[o->first_operand + i].write != (x->code == ISA_STORE) ||
		       m->s->operands[o->first_operand + i].slot != x->slot)
			i++;
		if (is_of_others(m, o, i, b)) {
			kept--;
			continue;
		}
		for (int k = 0; k < DIMS; k++) {
			if (b->dim[k].of < 2 || !has_dim(m, o, i, k, b->dim[k].of))
				continue;
			cut(x, &b->dim[k]);
		}
		if (map_streams(m, &m->s->ops[o->id], i) && b->keys < b->all_keys)
			x->bytes = map_rows_bytes(x->bytes, b->keys, b->all_keys);
	}
	d->n = kept;
}
