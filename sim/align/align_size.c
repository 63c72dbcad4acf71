/* align_size.c - how many sequences, and how long the cache is, from grids that cannot be otherwise.
 *
 * Sequences: an activation has one result for each sequence and column of the MLP, which its grid tells to the CTA; a norm's
 * kernel has a CTA a row, as a router's top-k has. Each such launch votes for the numbers that it allows, the fewer the more; the number with the
 * most votes is taken.
 * Keys: a copy that repeats the cache for each query's head, and one that joins it with the new row, have grids of
 * the cache's size. Where none is, the range of positions that a mask is made of has at least its CTAs. Within what the
 * grids leave open the roundest number is taken: caches are allocated so. */
#include <string.h>

#include "sim/align/align_int.h"

#define MOST_ROWS  4096
#define ONE_VOTE   5040 /* divisible by what is usual */
#define TIMES_STEP 4    /* a copy of the cache is larger than any tensor of the step by this, or is not looked at */

static void vote(uint64_t *votes, uint64_t lo, uint64_t hi)
{
	if (!lo)
		lo = 1;
	if (hi > MOST_ROWS)
		hi = MOST_ROWS;
	for (uint64_t r = lo; r <= hi; r++)
		votes[r] += ONE_VOTE / (hi - lo + 1);
}

uint64_t align_gated(const struct align *al)
{
	const struct model_moe *moe = &al->m->moe;

	return moe->experts ? (uint64_t)moe->top * moe->inter : al->m->inter;
}

/* A CTA a row; an activation's rows are picks where there are experts. */
static void vote_rows(const struct align *al, uint64_t rows, bool activation, uint64_t *votes)
{
	const uint64_t each = activation && al->m->moe.experts ? al->m->moe.top : 1;

	if (rows % each == 0)
		vote(votes, rows / each, rows / each);
}

static bool is_activation(const struct rule *u)
{
	return u && u->cost == OP_COST_ACT && u->kind == OP_ELEMENTWISE &&
	       (strcmp(u->fn, "silu") == 0 || strcmp(u->fn, "gelu") == 0);
}

void align_batch(struct align *al)
{
	const struct trace *t = al->t;
	uint64_t votes[MOST_ROWS + 1] = { 0 };
	const uint64_t gated = align_gated(al);
	uint64_t best = 0;

	for (size_t i = 0; i < t->n_launches; i++) {
		const struct kname *k = &al->names[i];
		const char *reader = k->rule && k->rule->shape ? k->rule->shape : "";

		if (is_activation(k->rule) && k->hi)
			vote(votes, k->lo / gated + 1, k->hi / gated);
		else if (strstr(t->launches[i].name, "sbtopk::"))
			vote(votes, t->launches[i].grid[0], t->launches[i].grid[0]);
		else if (k->rule && k->rule->kind != OP_CONVERT &&
		         (strcmp(reader, "out_first") == 0 || strcmp(reader, "add_norm") == 0))
			vote_rows(al, t->launches[i].grid[0], strcmp(reader, "out_first") == 0, votes);
		else if (k->op && !al->m->head_norms &&
		         (strcmp(k->op, "aten::_fused_rms_norm") == 0 || strcmp(reader, "norm_out") == 0))
			vote(votes, t->launches[i].grid[0], t->launches[i].grid[0]);
	}
	for (uint64_t r = 1; r <= MOST_ROWS; r++)
		if (votes[r] > votes[best])
			best = r;
	if (!al->batch)
		al->batch = best;
}

/* --- keys -------------------------------------------------------------------------------------------------------- */

struct bounds {
	uint64_t lo, hi; /* inclusive; hi 0: nothing was said */
};

static void narrow(struct bounds *b, uint64_t lo, uint64_t hi)
{
	if (lo > hi)
		return;
	if (!b->hi) {
		*b = (struct bounds){ lo, hi };
		return;
	}
	if (lo > b->hi || hi < b->lo)
		return; /* of something else: the first that was said holds */
	b->lo = lo > b->lo ? lo : b->lo;
	b->hi = hi < b->hi ? hi : b->hi;
}

static uint64_t roundest(struct bounds b)
{
	for (uint64_t by = UINT64_C(1) << 40; by > 1; by /= 2)
		if (b.hi / by * by >= b.lo && b.hi / by)
			return b.hi / by * by;
	return b.hi;
}

static bool before_attention(enum place_role r)
{
	return r == AT_Q || r == AT_K || r == AT_V || r == AT_QKV || r == AT_SCORES;
}

static void of_copy(const struct align *al, const struct kname *k, struct model_heads h, struct bounds *b)
{
	const uint64_t row = al->batch * h.heads * h.dim; /* of a key for every query's head */

	if (!k->casts && k->hi && h.heads != h.kv_heads && k->lo >= TIMES_STEP * row)
		narrow(b, k->lo / row + 1, k->hi / row);
}

bool align_concat_capped(const struct align *al, const struct trace_launch *l)
{
	return al->t->n_devices && al->t->devices[0].sms > 0 &&
	       l->grid[0] == (uint64_t)al->t->devices[0].sms * ALIGN_CAT_CTAS_SM;
}

static void of_concat(struct align *al, const struct trace_launch *l, struct model_heads h, struct bounds *b)
{
	const uint64_t row = al->batch * h.kv_heads * h.dim * dtype_bits(al->m->dtype) / 8,
		       bytes = l->grid[0] * (uint64_t)ALIGN_CAT_CTA;

	/* Halves of the queries' heads are joined, too. */
	if (!strstr(l->name, "_vectorized") || !h.kv_heads || bytes < TIMES_STEP * row * h.heads / h.kv_heads)
		return;
	al->grows = true;
	if (!align_concat_capped(al, l))
		narrow(b, (bytes - ALIGN_CAT_CTA) / row + 2,
		       bytes / row + 1); /* the long member is what was there before */
}

static bool sees_all(const struct model *m, uint32_t layer)
{
	return m->layer[layer] == MODEL_FULL || !m->window;
}

void align_keys(struct align *al)
{
	struct bounds exact = { 0, 0 }, mask = { 0, 0 }, b;
	const uint64_t told = al->keys;
	const struct place *last = NULL;
	bool all = false;

	for (uint32_t i = 0; i < al->m->layers; i++)
		all = all || sees_all(al->m, i);
	for (size_t i = 0; i < al->t->n_launches; i++) {
		const struct kname *k = &al->names[i];
		const char *op = k->op ? k->op : "";

		if (al->at[i] != NO_PLACE)
			last = &al->places[al->at[i]];
		else if (last && before_attention(last->role) && (!all || sees_all(al->m, last->layer)) &&
		         strcmp(op, "aten::copy_") == 0)
			of_copy(al, k, model_heads_of(al->m, last->layer), &exact);
		else if (last && before_attention(last->role) && (!all || sees_all(al->m, last->layer)) &&
		         strcmp(op, "aten::cat") == 0)
			of_concat(al, &al->t->launches[i], model_heads_of(al->m, last->layer), &exact);
		else if (strcmp(op, "aten::arange") == 0 && al->t->launches[i].grid[0] > 1)
			narrow(&mask, k->lo + 1, k->hi);
	}
	b = exact.hi ? exact : mask;
	al->rep->keys_known = b.hi ? ALIGN_BY_GRID : ALIGN_TOLD;
	if (!b.hi) {
		al->keys = told ? told + al->grows : 0;
		al->rep->keys_low = al->rep->keys_high = al->keys;
		return;
	}
	al->rep->keys_low = b.lo;
	al->rep->keys_high = b.hi;
	if (told && told + al->grows >= b.lo && told + al->grows <= b.hi)
		al->keys = told + al->grows;
	else if (al->grows)
		al->keys = roundest((struct bounds){ b.lo - 1, b.hi - 1 }) + 1;
	else
		al->keys = roundest(b);
}
