/* rewrite_kv.c - kv-append: new rows go behind the cache that is there.
 *
 * A framework's cache grows by joining (torch.cat): all old rows are read and written to a new place, for one more row.
 * An engine has room behind them. Each join of a cache, read whole, with something new becomes an op that writes what is
 * new, and the old cache and the grown one are one tensor with room for the most that it ever holds.
 * Bytes: a join read the old rows and wrote them; both are gone, and nothing else is.
 * Left as it is: a join whose old cache is read in parts; one that another join's result is still read behind, when both
 * grew from one cache (steps of a trace all begin with the same old one: the next step's row goes where this one's was).
 * New rows are one piece behind the old ones, in whatever order heads and tokens lie. */
#include "sim/rewrite/rewrite_int.h"

struct join {
	uint32_t past, past_at, grown, grown_at; /* tensors; operands */
	uint64_t fresh;                          /* bytes */
};

/* A cache before and after: the tensor that stands for it, and of that one the op that reads last what was grown from it. */
struct cache {
	uint64_t bytes; /* before */
	uint32_t is, busy;
};

/* Reads all of a cache and what is new, and writes all of one cache that nothing else writes. */
static bool is_join(const struct rewriting *w, const struct cache *c, const struct op *o, struct join *j)
{
	const struct op_stream *s = w->s;

	*j = (struct join){ NONE, NONE, NONE, NONE, 0 };
	if (o->kind != OP_CONCAT)
		return false;
	for (uint32_t i = o->first_operand; i < o->first_operand + o->n_operands; i++) {
		const struct op_operand *x = &s->operands[i];
		const struct op_tensor *t = &s->tensors[x->tensor];
		const bool whole = t->role == OP_KV && t->instances <= 1 && x->touched == c[x->tensor].bytes;

		if (x->write && (j->grown != NONE || !whole || t->external))
			return false;
		if (x->write)
			j->grown = x->tensor, j->grown_at = i;
		else if (whole && j->past == NONE)
			j->past = x->tensor, j->past_at = i;
		else
			j->fresh += x->touched;
	}
	return j->grown != NONE && j->past != NONE && j->fresh && w->use[j->grown].writes == 1 &&
	       s->tensors[j->past].dtype == s->tensors[j->grown].dtype && dtype_bits(s->tensors[j->past].dtype) &&
	       c[j->past].bytes + j->fresh == c[j->grown].bytes;
}

static int append(struct rewriting *w, struct op *o, const struct join *j, const struct cache *c, struct err *e)
{
	struct op_tensor *t = &w->s->tensors[c[j->past].is];
	const struct op_tensor *grown = &w->s->tensors[j->grown];
	struct op_operand *x = &w->s->operands[j->grown_at];
	const uint64_t elems = j->fresh * 8 / dtype_bits(t->dtype);

	x->offset = c[j->past].bytes;
	x->bytes = x->touched = j->fresh;
	w->operand_gone[j->past_at] = true;
	if (grown->bytes > t->bytes)
		t->bytes = grown->bytes;
	if (c[j->past].bytes == c[c[j->past].is].bytes)
		t->name = grown->name;
	o->kind = OP_SCATTER;
	o->family = "kv_write";
	o->rule = w->how->name;
	o->cost = OP_COST_MOVE;
	o->fn = "";
	o->shape = (struct op_shape){ .elems = elems };
	o->name = arena_printf(w->a, "append kv %llu", (unsigned long long)elems);
	w->done->changed++;
	return o->name ? 0 : err_nomem(e, "for a rewritten stream");
}

static void rename_operands(struct op_stream *s, const struct cache *c)
{
	for (size_t i = 0; i < s->n_operands; i++)
		s->operands[i].tensor = c[s->operands[i].tensor].is;
}

int rewrite_kv(struct rewriting *w, struct err *e)
{
	struct cache *c = arena_array(w->a, w->s->n_tensors + 1, sizeof *c);

	if (!c)
		return err_nomem(e, "for a rewritten stream");
	for (uint32_t t = 0; t < w->s->n_tensors; t++)
		c[t] = (struct cache){ w->s->tensors[t].bytes, t, 0 };
	for (size_t i = 0; i < w->s->n_ops; i++) {
		struct op *o = &w->s->ops[i];
		uint32_t root, last;
		struct join j;

		if (!is_join(w, c, o, &j) || c[root = c[j.past].is].busy > o->id)
			continue;
		last = w->use[j.grown].last_read;
		if (last != NONE && last > c[root].busy)
			c[root].busy = last;
		if (append(w, o, &j, c, e) < 0)
			return -1;
		c[j.grown].is = root;
	}
	rename_operands(w->s, c);
	return 0;
}
