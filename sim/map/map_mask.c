/* map_mask.c - what a causal mask leaves of an attention.
 *
 * Query i of q sees the first kv - q + i + 1 of kv keys: its own and those of the cache. Queries come in blocks as tall as an
 * array's longer side, each of which is multiplied with the keys up to its last query's, and no more; so are its scores, on
 * whatever unit. A command of some queries alone loads no keys behind those, either (map_block.c).
 * All tiles of a loop take as long as the mean one: a running softmax takes keys in any order, so that a tile may pair early
 * keys, which nearly all queries see, with late ones. Cores are taken to share the blocks evenly, as if they took them in
 * turns. Where there are fewer keys than queries nobody knows where the diagonal is: all is computed.
 * Nothing is left out where the machine's software computes all of it (attention.masked).
 * Leaves out: rows of a block beyond what an array loads at the least; masks other than causal. */
#include "sim/map/map_int.h"

bool map_mask_skips(const struct mapper *m, const struct op *o)
{
	const struct op_shape *s = &o->shape;

	return o->kind == OP_ATTENTION && s->causal && s->q_len > 1 && s->kv_len >= s->q_len &&
	       m->c->attention.masked == ATTENTION_SKIP;
}

uint64_t map_mask_pairs(const struct op_shape *s, uint64_t block)
{
	const uint64_t whole = s->q_len / block, past = s->kv_len - s->q_len, rest = s->q_len - whole * block;

	return block * (whole * past + block * (whole * (whole + 1) / 2)) + rest * s->kv_len;
}

uint64_t map_mask_side(const struct mapper *m, enum unit unit)
{
	const struct unit_ops *u = unit_table[unit];
	struct unit_env one = m->unit[unit];
	union unit_cfg cfg = *one.cfg;

	cfg.units = one.cores = 1;
	one.cfg = &cfg;
	return ps_max(1, ps_max(u->grain ? u->grain(&one) : 1, u->depth ? u->depth(&one) : 1));
}

/* Of a whole number, what a part of it is, rounded up. */
static uint64_t map_mask_part(uint64_t n, double of)
{
	const double x = (double)n * of;

	return x < (double)n ? (uint64_t)x + 1 : n;
}

void map_mask(const struct mapper *m, const struct op *o, enum unit by, struct unit_plan *p)
{
	const struct op_shape *s = &o->shape;
	double of;

	if (!map_mask_skips(m, o))
		return;
	of = (double)map_mask_pairs(s, map_mask_side(m, by)) / ((double)s->q_len * (double)s->kv_len);
	p->span = map_mask_part(p->span, of);
	p->work = map_mask_part(p->work, of);
}
