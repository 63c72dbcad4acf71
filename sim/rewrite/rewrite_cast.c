/* rewrite_cast.c - native-bf16 and its like: no detours by fp32.
 *
 * A framework casts a 16-bit value up, computes in fp32 and casts down: around norms, routers, softmax, logits. Hardware
 * that takes 16-bit values and sums them in fp32 needs neither cast. What comes from a cast up is in the narrow format
 * from there on: each fp32 tensor that an op makes of it has half the bytes, and casts between two names of one format go.
 * Sums stay in the format they were in (op.acc_dtype).
 * Bytes: a cast that goes read and wrote its value; of every other op half of what it read and wrote of such tensors.
 * Left as it is: fp32 values that no cast up made (tables computed in fp32, then cast down; weights and inputs stored in
 * fp32, and an op that reads one of those computes in fp32 as before), and fp64. A cast stays, as a copy within one
 * format, where it reads a value in parts or spread out, and where its result or what it read is written again while the
 * other is still wanted. */
#include "sim/rewrite/rewrite_int.h"

/* Where a tensor that goes is found: in another, from that byte on. */
struct alias {
	uint32_t tensor;
	uint64_t offset;
};

struct casting {
	struct rewriting *w;
	bool *narrowed;      /* by tensor */
	struct alias *alias; /* by tensor; itself */
};

static struct op_operand *operand(const struct rewriting *w, const struct op *o, uint32_t i)
{
	return &w->s->operands[o->first_operand + i];
}

/* The first operand that is read, or written. */
static struct op_operand *first(const struct rewriting *w, const struct op *o, bool write)
{
	for (uint32_t i = 0; i < o->n_operands; i++)
		if (operand(w, o, i)->write == write)
			return operand(w, o, i);
	return NULL;
}

/* --- what comes from a cast up ------------------------------------------------------------------------------------- */

static bool comes_from_cast(const struct casting *c, const struct op *o)
{
	const struct rewriting *w = c->w;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = operand(w, o, i);

		if (!x->write && c->narrowed[x->tensor])
			return true;
		if (!x->write && o->kind == OP_CONVERT && w->s->tensors[x->tensor].dtype == w->how->narrow)
			return true;
	}
	return false;
}

static void find_narrowed(struct casting *c)
{
	const struct rewriting *w = c->w;

	for (size_t i = 0; i < w->s->n_ops; i++) {
		const struct op *o = &w->s->ops[i];

		if (o->kind == OP_OPAQUE || !comes_from_cast(c, o))
			continue;
		for (uint32_t k = 0; k < o->n_operands; k++) {
			const struct op_operand *x = operand(w, o, k);
			const struct op_tensor *t = &w->s->tensors[x->tensor];

			if (x->write && t->dtype == DT_FP32 && !t->external)
				c->narrowed[x->tensor] = true;
		}
	}
}

/* --- half the bytes ------------------------------------------------------------------------------------------------- */

static void narrow_tensors(struct casting *c)
{
	struct op_stream *s = c->w->s;

	for (size_t i = 0; i < s->n_tensors; i++)
		if (c->narrowed[i]) {
			s->tensors[i].dtype = c->w->how->narrow;
			s->tensors[i].bytes /= 2;
		}
	for (size_t i = 0; i < s->n_operands; i++)
		if (c->narrowed[s->operands[i].tensor]) {
			s->operands[i].offset /= 2;
			s->operands[i].bytes /= 2;
			s->operands[i].touched /= 2;
		}
}

/* Whether it has another format than before. */
static bool narrow_op(const struct casting *c, struct op *o)
{
	const enum dtype in = o->dtype, out = o->out_dtype;
	bool touches = false, makes = false, wide = false;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = operand(c->w, o, i);

		touches |= c->narrowed[x->tensor];
		makes |= c->narrowed[x->tensor] && x->write;
		wide |= !x->write && c->w->s->tensors[x->tensor].dtype == DT_FP32;
	}
	if (touches && !wide && in == DT_FP32)
		o->dtype = c->w->how->narrow;
	if (makes && out == DT_FP32)
		o->out_dtype = c->w->how->narrow;
	return touches;
}

/* --- casts that go -------------------------------------------------------------------------------------------------- */

/* Nobody sees another value than before: neither is written again; or the result is, and what was read is done with. */
static bool same_values(const struct rewriting *w, uint32_t op, uint32_t root, uint32_t made)
{
	const struct rewrite_use *from = &w->use[root], *to = &w->use[made];
	const bool again = to->writes > 1, done = from->last_read <= op && !w->s->tensors[root].external;

	return to->first_write == op && (from->last_write == NONE || from->last_write < op) && (!again || done);
}

/* The whole of its result lies, in order, in what it reads, and stays there as it is. */
static bool can_go(const struct casting *c, const struct op *o, const struct op_operand *from,
                   const struct op_operand *to)
{
	const struct rewriting *w = c->w;
	const struct op_tensor *t = &w->s->tensors[to->tensor];
	const uint32_t root = c->alias[from->tensor].tensor;
	const struct op_tensor *r = &w->s->tensors[root];

	return o->n_operands == 2 && from->bytes == t->bytes && from->touched == t->bytes && to->touched == t->bytes &&
	       r->instances <= 1 && t->role != OP_KV && same_values(w, o->id, root, to->tensor);
}

/* What is done to the result is now done to what it was made of. */
static void used_as(struct rewriting *w, uint32_t root, uint32_t made)
{
	struct rewrite_use *u = &w->use[root];
	const struct rewrite_use *x = &w->use[made];

	if (x->last_read != NONE && (u->last_read == NONE || x->last_read > u->last_read))
		u->last_read = x->last_read;
	if (x->writes > 1)
		u->last_write = x->last_write;
}

static int copies(struct rewriting *w, struct op *o, struct err *e)
{
	o->kind = OP_COPY;
	o->family = "copy";
	o->rule = w->how->name;
	o->cost = OP_COST_MOVE;
	o->fn = "";
	o->name = arena_printf(w->a, "copy %llu", (unsigned long long)o->shape.elems);
	w->done->kept++;
	return o->name ? 0 : err_nomem(e, "for a rewritten stream");
}

static int drop_cast(struct casting *c, struct op *o, struct err *e)
{
	struct rewriting *w = c->w;
	const struct op_operand *from = first(w, o, false), *to = first(w, o, true);
	const struct alias *a = &c->alias[from->tensor];

	/* An op has to be left, for what was measured. */
	if (!can_go(c, o, from, to) || w->done->removed + 1 == w->s->n_ops)
		return copies(w, o, e);
	c->alias[to->tensor] = (struct alias){ a->tensor, a->offset + from->offset };
	used_as(w, a->tensor, to->tensor);
	w->op_gone[o->id] = true;
	w->done->removed++;
	return 0;
}

/* A cast of narrowed values to something else is called otherwise. */
static int renamed(struct rewriting *w, struct op *o, struct err *e)
{
	o->name = arena_printf(w->a, "%s to %s %llu", dtype_name(o->dtype), dtype_name(o->out_dtype),
	                       (unsigned long long)o->shape.elems);
	return o->name ? 0 : err_nomem(e, "for a rewritten stream");
}

static int rewrite_op(struct casting *c, struct op *o, struct err *e)
{
	struct rewriting *w = c->w;
	const struct op_operand *from = first(w, o, false), *to = first(w, o, true);
	const bool changed = narrow_op(c, o);

	if (!changed || o->kind != OP_CONVERT) {
		w->done->changed += changed;
		return 0;
	}
	if (from && to && w->s->tensors[from->tensor].dtype == w->s->tensors[to->tensor].dtype)
		return drop_cast(c, o, e);
	w->done->changed++;
	return renamed(w, o, e);
}

static void follow_aliases(struct casting *c)
{
	struct op_stream *s = c->w->s;

	for (size_t i = 0; i < s->n_operands; i++) {
		const struct alias *a = &c->alias[s->operands[i].tensor];

		s->operands[i].offset += a->offset;
		s->operands[i].tensor = a->tensor;
	}
}

int rewrite_cast(struct rewriting *w, struct err *e)
{
	const size_t n = w->s->n_tensors + 1;
	struct casting c = { w, arena_array(w->a, n, sizeof *c.narrowed), arena_array(w->a, n, sizeof *c.alias) };

	if (!c.narrowed || !c.alias)
		return err_nomem(e, "for a rewritten stream");
	for (uint32_t t = 0; t < w->s->n_tensors; t++)
		c.alias[t].tensor = t;
	find_narrowed(&c);
	narrow_tensors(&c);
	for (size_t i = 0; i < w->s->n_ops; i++)
		if (rewrite_op(&c, &w->s->ops[i], e) < 0)
			return -1;
	follow_aliases(&c);
	return 0;
}
