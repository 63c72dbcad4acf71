#include "sim/serve/cost.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"

#define CONTEXT_FIRST 128 /* the first step of the grid of contexts */
#define PROMPT_FIRST  16
#define BATCH_PARTS   4
#define CONTEXT_PARTS 1
#define PROMPT_PARTS  2
#define AHEAD         32 /* points asked for at a time, at the most */

__extension__ typedef __int128 i128;

struct entry {
	uint64_t key; /* 0: nothing is here */
	struct cost_seen seen;
};

struct cost_table {
	uint32_t queries;
	bool exact, mixed;
	cost_simulate_fn *simulate;
	void *ctx;
	struct entry *at;
	size_t cap, n;
};

/* --- memory ------------------------------------------------------------------------------------------------------------ */

static uint64_t cost_key_of(const struct cost_point *p)
{
	uint64_t h = hash_u64(hash_u64(hash_u64(HASH_INIT, p->seqs), p->queries), p->context);

	for (uint32_t i = 0; i < p->n_pieces; i++)
		h = hash_u64(hash_u64(h, p->pieces[i].tokens), p->pieces[i].context);
	return hash_mix(h) | 1;
}

static struct entry *cost_find(const struct cost_table *t, uint64_t key)
{
	size_t i = key & (t->cap - 1);

	while (t->at[i].key && t->at[i].key != key)
		i = (i + 1) & (t->cap - 1);
	return &t->at[i];
}

static int cost_room(struct cost_table *t, struct err *e)
{
	struct cost_table more = { .cap = 2 * t->cap };

	if (2 * t->n < t->cap)
		return 0;
	if (!(more.at = calloc(more.cap, sizeof *more.at)))
		return err_nomem(e, "for the steps of a server");
	for (size_t i = 0; i < t->cap; i++)
		if (t->at[i].key)
			*cost_find(&more, t->at[i].key) = t->at[i];
	free(t->at);
	t->at = more.at;
	t->cap = more.cap;
	return 0;
}

struct cost_table *cost_new(uint32_t queries, bool exact, cost_simulate_fn *simulate, void *ctx, struct err *e)
{
	struct cost_table *t = calloc(1, sizeof *t);

	if (t && (t->at = calloc(256, sizeof *t->at))) {
		t->cap = 256;
		t->queries = queries;
		t->exact = exact;
		t->simulate = simulate;
		t->ctx = ctx;
		return t;
	}
	free(t);
	err_nomem(e, "for the steps of a server");
	return NULL;
}

void cost_mixed(struct cost_table *t)
{
	t->mixed = true;
}

void cost_free(struct cost_table *t)
{
	if (t)
		free(t->at);
	free(t);
}

size_t cost_simulated(const struct cost_table *t)
{
	return t->n;
}

/* --- points that are asked for, simulated where they are not there yet ---------------------------------------------------- */

struct asked {
	struct cost_point p[AHEAD];
	struct sched_piece piece[AHEAD];
	uint32_t n;
};

static void cost_ask(struct cost_table *t, struct asked *a, uint64_t seqs, uint64_t context, uint64_t prompt,
                     uint64_t before)
{
	struct cost_point *p = &a->p[a->n];

	if (!seqs && !prompt)
		return;
	*p = (struct cost_point){ (uint32_t)seqs, seqs ? t->queries : 0, seqs ? context : 0, NULL, 0 };
	if (prompt) {
		a->piece[a->n] = (struct sched_piece){ (uint32_t)prompt, (uint32_t)before };
		p->pieces = &a->piece[a->n];
		p->n_pieces = 1;
	}
	if (cost_find(t, cost_key_of(p))->key)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		if (cost_key_of(&a->p[i]) == cost_key_of(p))
			return;
	a->n++;
}

static int cost_simulate(struct cost_table *t, const struct asked *a, struct err *e)
{
	struct cost_seen got[AHEAD];

	if (!a->n)
		return 0;
	if (t->simulate(t->ctx, a->p, a->n, got, e) < 0)
		return -1;
	for (uint32_t i = 0; i < a->n; i++) {
		struct entry *x;

		if (cost_room(t, e) < 0)
			return -1;
		x = cost_find(t, cost_key_of(&a->p[i]));
		*x = (struct entry){ cost_key_of(&a->p[i]), got[i] };
		t->n++;
	}
	return 0;
}

/* Differences of costs are signed. */
struct value {
	i128 time, energy;
};

static const struct cost_seen *seen(const struct cost_table *t, uint64_t seqs, uint64_t context, uint64_t prompt,
                                    uint64_t before)
{
	struct sched_piece piece = { (uint32_t)prompt, (uint32_t)before };
	const struct cost_point p = { (uint32_t)seqs, seqs ? t->queries : 0, seqs ? context : 0, prompt ? &piece : NULL,
		                      prompt ? 1 : 0 };
	static const struct cost_seen nothing;

	return seqs || prompt ? &cost_find(t, cost_key_of(&p))->seen : &nothing;
}

static struct value known(const struct cost_table *t, uint64_t seqs, uint64_t context, uint64_t prompt)
{
	const struct cost_seen *s = seen(t, seqs, context, prompt, 0);

	return (struct value){ s->time, s->energy_fj };
}

/* --- lines between grid points ------------------------------------------------------------------------------------------- */

/* v lies num / den of the way from lo to hi, lo <= v <= hi; num 0 where it is a point. */
struct span {
	uint64_t lo, hi;
	i128 num, den;
};

/* Points: `first` times 0 and 1, then every power of two times that and `parts` - 1 between each two. */
static struct span between(uint64_t v, uint64_t first, uint32_t parts)
{
	uint64_t top = first, step = first;
	struct span s;

	if (v >= first) {
		while (top <= v / 2)
			top *= 2;
		step = top >= parts ? top / parts : 1;
	}
	s.lo = v / step * step;
	s.hi = s.lo == v ? v : s.lo + step;
	s.num = (i128)(v - s.lo);
	s.den = s.hi > s.lo ? (i128)(s.hi - s.lo) : 1;
	return s;
}

static struct value line(const struct span *s, struct value a, struct value b)
{
	return (struct value){ a.time + (b.time - a.time) * s->num / s->den,
		               a.energy + (b.energy - a.energy) * s->num / s->den };
}

static struct value minus(struct value a, struct value b)
{
	return (struct value){ a.time - b.time, a.energy - b.energy };
}

static struct value plus(struct value a, struct value b)
{
	return (struct value){ a.time + b.time, a.energy + b.energy };
}

/* --- the three terms --------------------------------------------------------------------------------------------------------- */

/* Where a step lies: on the grids of batch (fine, for D; coarse, for M), context, prompt. */
struct place {
	struct span batch, coarse, context, prompt;
	struct span behind; /* contexts that M is of */
};

/* No tokens are no step: a line from there would miss what any prompt costs. */
static struct span prompt_span(uint64_t tokens)
{
	const struct span s = between(tokens, PROMPT_FIRST, PROMPT_PARTS);

	return s.lo ? s : (struct span){ 1, PROMPT_FIRST, (i128)tokens - 1, PROMPT_FIRST - 1 };
}

static struct place cost_place_of(const struct cost_table *t, const struct sched_step *s)
{
	struct place x = { .batch = between(s->seqs, 1, BATCH_PARTS), .coarse = between(s->seqs, 1, 1) };

	if (s->seqs) {
		x.context = between(s->context_sum / s->seqs, CONTEXT_FIRST, CONTEXT_PARTS);
		x.context.num = (i128)s->context_sum - (i128)x.context.lo * s->seqs;
		if (x.context.num && x.context.hi == x.context.lo)
			x.context.hi = between(x.context.lo + 1, CONTEXT_FIRST, CONTEXT_PARTS).hi;
		x.context.den = (i128)(x.context.hi > x.context.lo ? x.context.hi - x.context.lo : 1) * s->seqs;
	}
	x.behind = t->mixed && s->seqs ? x.context : (struct span){ COST_CONTEXT, COST_CONTEXT, 0, 1 };
	if (s->prompt_tokens)
		x.prompt = prompt_span(s->prompt_tokens);
	return x;
}

static void ask_decode(struct cost_table *t, struct asked *a, const struct place *x)
{
	for (int i = 0; i < 4; i++)
		cost_ask(t, a, i & 1 ? x->batch.hi : x->batch.lo, i & 2 ? x->context.hi : x->context.lo, 0, 0);
}

static struct value decode(const struct cost_table *t, const struct place *x)
{
	const struct span *b = &x->batch, *c = &x->context;

	return line(b, line(c, known(t, b->lo, c->lo, 0), known(t, b->lo, c->hi, 0)),
	            line(c, known(t, b->hi, c->lo, 0), known(t, b->hi, c->hi, 0)));
}

static void ask_added(struct cost_table *t, struct asked *a, const struct place *x)
{
	const int n = x->behind.hi > x->behind.lo ? 8 : 4; /* of one context alone the others are these again */

	for (int i = 0; i < n; i++) {
		const uint64_t b = i & 1 ? x->coarse.hi : x->coarse.lo, c = i & 4 ? x->behind.hi : x->behind.lo;

		cost_ask(t, a, b, c, 0, 0);
		cost_ask(t, a, b, c, i & 2 ? x->prompt.hi : x->prompt.lo, 0);
	}
}

static struct value added_at(const struct cost_table *t, const struct span *behind, uint64_t batch, uint64_t prompt)
{
	return line(behind, minus(known(t, batch, behind->lo, prompt), known(t, batch, behind->lo, 0)),
	            minus(known(t, batch, behind->hi, prompt), known(t, batch, behind->hi, 0)));
}

static struct value added(const struct cost_table *t, const struct place *x)
{
	const struct span *b = &x->coarse, *p = &x->prompt, *c = &x->behind;

	return line(b, line(p, added_at(t, c, b->lo, p->lo), added_at(t, c, b->lo, p->hi)),
	            line(p, added_at(t, c, b->hi, p->lo), added_at(t, c, b->hi, p->hi)));
}

/* Attention of one piece of a prompt. */
struct piece {
	struct span tokens, before;
};

static struct piece piece_of(const struct sched_piece *p)
{
	return (struct piece){ prompt_span(p->tokens), between(p->context, CONTEXT_FIRST, CONTEXT_PARTS) };
}

static void ask_piece(struct cost_table *t, struct asked *a, const struct piece *x)
{
	for (int i = 0; i < 4; i++)
		cost_ask(t, a, 0, 0, i & 1 ? x->tokens.hi : x->tokens.lo, i & 2 ? x->before.hi : x->before.lo);
}

static struct value attention_at(const struct cost_table *t, uint64_t tokens, uint64_t before)
{
	const struct cost_seen *s = seen(t, 0, 0, tokens, before);

	return (struct value){ s->attention, s->attention_fj };
}

static struct value cost_attention(const struct cost_table *t, const struct piece *x)
{
	const struct span *p = &x->tokens, *k = &x->before;

	return line(p, line(k, attention_at(t, p->lo, k->lo), attention_at(t, p->lo, k->hi)),
	            line(k, attention_at(t, p->hi, k->lo), attention_at(t, p->hi, k->hi)));
}

/* One prompt's first piece is what M has, and all that it has. */
static bool other_pieces(const struct sched_step *s)
{
	return s->n_pieces > 1 || s->pieces[0].context;
}

static int pieces(struct cost_table *t, const struct sched_step *s, struct asked *a, struct value *v, struct err *e)
{
	const struct sched_piece whole = { (uint32_t)s->prompt_tokens, 0 };
	struct value sum = { 0, 0 };

	for (uint32_t i = 0; i <= s->n_pieces; i++) {
		const struct piece x = piece_of(i < s->n_pieces ? &s->pieces[i] : &whole);

		a->n = 0;
		ask_piece(t, a, &x);
		if (cost_simulate(t, a, e) < 0)
			return -1;
		sum = i < s->n_pieces ? plus(sum, cost_attention(t, &x)) : minus(sum, cost_attention(t, &x));
	}
	*v = plus(*v, sum);
	return 0;
}

/* --- a step ------------------------------------------------------------------------------------------------------------------- */

struct cost_point cost_point_of(const struct cost_table *t, const struct sched_step *s)
{
	return (struct cost_point){ s->seqs, s->seqs ? t->queries : 0,
		                    s->seqs ? (s->context_sum + s->seqs - 1) / s->seqs : 0, s->pieces, s->n_pieces };
}

int cost_exact(struct cost_table *t, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	const struct cost_point p = cost_point_of(t, s);
	const uint64_t key = cost_key_of(&p);
	struct cost_seen x = cost_find(t, key)->seen;

	if (!cost_find(t, key)->key) {
		if (t->simulate(t->ctx, &p, 1, &x, e) < 0 || cost_room(t, e) < 0)
			return -1;
		*cost_find(t, key) = (struct entry){ key, x };
		t->n++;
	}
	*out = (struct sched_cost){ x.time, x.energy_fj };
	return 0;
}

int cost_of(struct cost_table *t, const struct sched_step *s, struct sched_cost *out, struct err *e)
{
	const struct place x = cost_place_of(t, s);
	struct asked a = { .n = 0 };
	struct value v = { 0, 0 };

	if (t->exact)
		return cost_exact(t, s, out, e);
	ask_decode(t, &a, &x);
	if (s->prompt_tokens)
		ask_added(t, &a, &x);
	if (cost_simulate(t, &a, e) < 0)
		return -1;
	if (s->seqs)
		v = decode(t, &x);
	if (s->prompt_tokens)
		v = plus(v, added(t, &x));
	if (s->prompt_tokens && other_pieces(s) && pieces(t, s, &a, &v, e) < 0)
		return -1;
	*out = (struct sched_cost){ v.time > 1 ? (ps_t)v.time : 1, v.energy > 0 ? (uint64_t)v.energy : 0 };
	return 0;
}
