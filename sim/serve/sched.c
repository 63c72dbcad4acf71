#include "sim/serve/sched_int.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"

/* --- time ------------------------------------------------------------------------------------------------------------ */

static void integrate(struct sched *s, ps_t to)
{
	const ps_t t = to - s->now;

	s->r->in_system += (sched_u128)t * s->in_system;
	s->r->waiting += (sched_u128)t * (s->in_system - s->n_running);
	s->r->running += (sched_u128)t * s->n_running;
	s->r->blocks_ps += (sched_u128)t * s->pager.used;
	s->now = to;
}

/* --- queue ----------------------------------------------------------------------------------------------------------- */

void sched_give(struct sched *s, uint32_t i, ps_t at)
{
	struct seq *q = &s->t->seqs[i];

	integrate(s, ps_max(s->now, at));
	s->in_system++;
	s->stuck = false;
	q->known = at;
	if (s->p->part == SCHED_DECODES) { /* its cache is where it was filled */
		q->cached = q->fill = s->a->v[i].prompt;
		q->made = 1;
		q->newest = at;
		q->state = DECODES;
		q->apart = true;
	} else {
		q->known += s->p->request + s->a->v[i].prompt * s->p->prompt_token;
	}
	q->turn = s->given++;
	*(s->first == SCHED_NONE ? &s->first : &s->t->after[s->last]) = i;
	s->last = i;
	s->t->after[i] = SCHED_NONE;
}

/* Whose client leaves, and when. */
static ps_t leaves_at(const struct sched *s, uint32_t i)
{
	return s->a->give_up && s->a->v[i].gives_up ? s->r->v[i].at + s->a->v[i].gives_up : PS_NEVER;
}

static bool sooner(const struct sched *s, uint32_t a, uint32_t b)
{
	const uint32_t x = s->a->v[a].priority, y = s->a->v[b].priority;

	return x != y ? x < y : s->t->seqs[a].turn < s->t->seqs[b].turn;
}

/* A pairing heap, as one of many machines is given few of a list: those under another are linked by `after`. */
static uint32_t meld(struct sched *s, uint32_t a, uint32_t b)
{
	const bool swap = a == SCHED_NONE || (b != SCHED_NONE && sooner(s, b, a));
	const uint32_t top = swap ? b : a, other = swap ? a : b;

	if (other != SCHED_NONE) {
		s->t->after[other] = s->t->under[top];
		s->t->under[top] = other;
	}
	return top;
}

static void push(struct sched *s, uint32_t i)
{
	s->t->under[i] = SCHED_NONE;
	s->queue = meld(s, s->queue, i);
	s->leaves = ps_min(s->leaves, leaves_at(s, i));
}

static void pop(struct sched *s)
{
	uint32_t next = s->t->under[s->queue], pairs = SCHED_NONE;

	while (next != SCHED_NONE) {
		const uint32_t a = next, b = s->t->after[a];
		uint32_t two;

		next = b == SCHED_NONE ? SCHED_NONE : s->t->after[b];
		two = meld(s, a, b);
		s->t->after[two] = pairs;
		pairs = two;
	}
	s->queue = SCHED_NONE;
	while (pairs != SCHED_NONE) {
		next = s->t->after[pairs];
		s->queue = meld(s, s->queue, pairs);
		pairs = next;
	}
}

/* Those that are known by now. */
static void asked(struct sched *s)
{
	while (s->first != SCHED_NONE && s->t->seqs[s->first].known <= s->now) {
		const uint32_t i = s->first;

		s->first = s->t->after[i];
		push(s, i);
	}
}

/* --- giving up -------------------------------------------------------------------------------------------------------- */

/* Which of those that run gives up its blocks: of those who matter least the one that was let in last. */
static uint32_t gives_up(const struct sched *s)
{
	uint32_t out = s->n_running - 1;

	for (uint32_t k = out; s->a->priorities && k-- > 0;)
		if (s->a->v[s->running[k]].priority > s->a->v[s->running[out]].priority)
			out = k;
	return out;
}

/* It is in this step no more, if it was. */
static void take_out(struct sched *s, uint32_t i)
{
	uint32_t k = 0;

	while (k < s->n_deciding && s->deciding[k] != i)
		k++;
	if (k == s->n_deciding)
		return;
	memmove(&s->deciding[k], &s->deciding[k + 1], (--s->n_deciding - k) * sizeof *s->deciding);
	s->step.context_sum -= s->t->seqs[i].cached;
	s->rows -= 1 + s->p->draft;
}

static void give_up(struct sched *s, uint32_t k)
{
	const uint32_t i = s->running[k];
	struct seq *q = &s->t->seqs[i];

	memmove(&s->running[k], &s->running[k + 1], (--s->n_running - k) * sizeof *s->running);
	take_out(s, i);
	s->gave_up = true;
	s->r->preemptions++;
	s->r->v[i].preempted++;
	if (s->p->preempt == SCHED_SWAP) {
		q->away = true;
		s->moved += (q->blocks + sched_page_blocks(s, q->pages)) * s->p->block_bytes;
	} else {
		s->r->recomputed += q->cached;
		q->fill = s->a->v[i].prompt + q->made;
		q->cached = 0;
		q->state = WAITS;
	}
	sched_drop(s, i);
	if (s->a->priorities)
		push(s, i);
	else
		s->back[s->n_back++] = i;
}

static uint64_t most_of(const struct sched *s, uint32_t i)
{
	return (uint64_t)s->a->v[i].prompt + (s->p->part == SCHED_FILLS ? 1 : s->a->v[i].output);
}

/* --- a step's sequences ------------------------------------------------------------------------------------------------ */

/* Blocks for so many tokens of the one at `*k`, for which others give up theirs; false: it gave up its own. */
static bool make_room(struct sched *s, uint32_t *k, uint64_t tokens)
{
	const uint32_t i = s->running[*k];

	while (!sched_grow(s, i, tokens)) {
		const uint32_t who = gives_up(s);

		give_up(s, who);
		if (who == *k)
			return false;
		*k -= who < *k;
	}
	return true;
}

/* All that decode, each with blocks for what it may produce. */
static void decoding(struct sched *s)
{
	const uint32_t rows = 1 + s->p->draft;
	uint32_t k = 0;

	while (k < s->n_running) {
		const uint32_t i = s->running[k];
		struct seq *q = &s->t->seqs[i];
		uint64_t want = q->cached + rows;

		if (want > most_of(s, i))
			want = most_of(s, i);
		if (q->state == DECODES) {
			if (!make_room(s, &k, want))
				continue; /* the next one is at its place */
			s->deciding[s->n_deciding++] = i;
			s->step.context_sum += q->cached;
			s->rows += rows;
		}
		k++;
	}
	s->step.seqs = s->n_deciding;
}

static void piece(struct sched *s, uint32_t i, uint32_t tokens)
{
	const uint32_t n = s->step.n_pieces++;

	s->pieces[n] = (struct sched_piece){ tokens, s->t->seqs[i].cached };
	s->filling[n] = i;
	s->step.prompt_tokens += tokens;
	s->rows += tokens;
}

/* How much of a prompt this step still has room for. One that is computed whole and longer than any step has one alone. */
static uint32_t room_for(const struct sched *s, uint32_t tokens)
{
	uint64_t left = s->p->max_tokens > s->rows ? s->p->max_tokens - s->rows : 0;

	if (!s->p->chunk)
		return tokens <= left || !s->rows ? tokens : 0;
	if (left > s->p->chunk - s->step.prompt_tokens)
		left = s->p->chunk - s->step.prompt_tokens;
	return tokens < left ? tokens : (uint32_t)left;
}

static void begun_prompts(struct sched *s)
{
	for (uint32_t k = 0; k < s->n_running; k++) {
		const uint32_t i = s->running[k];
		const struct seq *q = &s->t->seqs[i];
		const uint32_t n = q->state == FILLS ? room_for(s, q->fill - q->cached) : 0;

		if (n)
			piece(s, i, n);
	}
}

/* --- letting in --------------------------------------------------------------------------------------------------------- */

static bool anybody(const struct sched *s)
{
	return s->n_back || s->queue != SCHED_NONE;
}

/* Blocks for what is in its cache or is to be, and one token more; `pages` of its prompt are there. */
static bool reserve(struct sched *s, uint32_t i, uint32_t pages)
{
	struct seq *q = &s->t->seqs[i];
	const uint64_t most = most_of(s, i), now = (q->away || q->apart) && q->state == DECODES ? q->cached : q->fill;
	const uint64_t want = s->p->reserve_all || now + 1 > most ? most : now + 1;

	return sched_share(s, i, pages, want) && sched_grow(s, i, want);
}

/* It has blocks here from now on, and decodes when its cache is here. */
static void expect(struct sched *s, uint32_t i)
{
	struct seq *q = &s->t->seqs[i];

	q->apart = false;
	q->ready = s->fetch(s->fetch_ctx, i, s->now);
	if (s->p->stops)
		s->hold = ps_max(s->hold, q->ready);
	s->coming[s->n_coming++] = i;
}

/* The first that waits, unless it does not fit. */
static bool let_in(struct sched *s)
{
	const uint32_t i = s->n_back ? s->back[s->n_back - 1] : s->queue;
	struct seq *q = &s->t->seqs[i];
	const bool whole = q->away || q->apart, anew = !q->apart && !s->r->v[i].preempted;
	uint32_t n, found, pages;

	if (s->n_running + s->n_coming == s->p->max_batch)
		return false;
	if (anew)
		q->fill = s->a->v[i].prompt;
	pages = whole ? 0 : sched_pages_there(s, i);
	found = whole ? 0 : sched_still_there(s, i, pages);
	n = whole ? 0 : room_for(s, q->fill - found);
	if ((!n && !whole) || !reserve(s, i, pages))
		return false;
	if (s->n_back)
		s->n_back--;
	else
		pop(s);
	if (anew)
		s->r->v[i].begun = s->now;
	if (q->apart) {
		expect(s, i);
		return true;
	}
	s->running[s->n_running++] = i;
	if (q->away) { /* it goes on in the next step */
		s->moved += pager_blocks(&s->pager, q->cached) * s->p->block_bytes;
		q->away = false;
		return true;
	}
	q->state = FILLS;
	q->cached = found;
	if (anew) {
		s->r->shared += found;
	} else {
		s->r->found += found;
		s->r->recomputed -= found;
	}
	piece(s, i, n);
	return true;
}

/* Whose caches are here decode, in the order in which they were asked for. */
static void arrived(struct sched *s)
{
	uint32_t left = 0;

	for (uint32_t k = 0; k < s->n_coming; k++) {
		const uint32_t i = s->coming[k];

		if (s->t->seqs[i].ready <= s->now)
			s->running[s->n_running++] = i;
		else
			s->coming[left++] = i;
	}
	s->n_coming = left;
}

static void new_prompts(struct sched *s)
{
	while (!s->gave_up && anybody(s) && let_in(s))
		continue;
}

/* Prompts whole: theirs alone where there is one that fits. */
static void make_step(struct sched *s)
{
	s->step = (struct sched_step){ .pieces = s->pieces };
	s->rows = s->moved = s->n_deciding = 0;
	s->gave_up = false;
	if (!s->p->chunk) {
		begun_prompts(s);
		new_prompts(s);
		if (!s->step.n_pieces)
			decoding(s);
		return;
	}
	decoding(s);
	begun_prompts(s);
	new_prompts(s);
}

/* --- what a step brings --------------------------------------------------------------------------------------------------- */

static uint32_t accepted(const struct sched *s, uint32_t i, uint32_t step)
{
	uint64_t h = hash_mix(hash_u64(hash_u64(hash_u64(HASH_INIT, s->p->seed), i), step));
	uint32_t n = 0;

	for (; n < s->p->draft; n++) {
		h = hash_mix(h + UINT64_C(0x9e3779b97f4a7c15));
		if ((h >> 32) * 1000000 >> 32 >= s->p->accept_ppm)
			break;
	}
	return n;
}

/* It is none of this machine's any more, but for its blocks. */
static void sched_out(struct sched *s, uint32_t i)
{
	uint32_t k = 0;

	while (s->running[k] != i)
		k++;
	memmove(&s->running[k], &s->running[k + 1], (s->n_running - k - 1) * sizeof *s->running);
	s->n_running--;
	s->in_system--;
	s->t->seqs[i].state = DONE;
}

static void leave(struct sched *s, uint32_t i)
{
	sched_out(s, i);
	sched_drop(s, i);
	s->r->v[i].last = s->now;
	s->left++;
}

/* --- clients that leave ----------------------------------------------------------------------------------------------------- */

/* Its client has left: true, and it is marked. */
static bool is_gone(struct sched *s, uint32_t i)
{
	if (s->now < leaves_at(s, i))
		return false;
	s->r->gone++;
	s->r->end = s->now;
	s->r->blocks_peak = s->pager.peak;
	return s->r->v[i].gone = true;
}

/* One that waits: it has no blocks here, and may have some where it was filled. */
static void give_in(struct sched *s, uint32_t i)
{
	s->in_system--;
	s->t->seqs[i].state = DONE;
	s->r->v[i].last = s->now;
	s->left++;
	if (s->t->seqs[i].apart)
		s->forget(s->fetch_ctx, i, s->now);
}

/* The heap anew, of those who stay: a list that begins with its first. */
static void waiting_leave(struct sched *s)
{
	uint32_t next = s->queue;

	if (s->now < s->leaves)
		return;
	s->t->after[next] = s->queue = SCHED_NONE;
	s->leaves = PS_NEVER;
	while (next != SCHED_NONE) {
		const uint32_t i = next;
		uint32_t *end = &s->t->under[i];

		while (*end != SCHED_NONE)
			end = &s->t->after[*end];
		*end = s->t->after[i];
		next = s->t->under[i];
		if (is_gone(s, i))
			give_in(s, i);
		else
			push(s, i);
	}
}

/* Of those whose caches are on the way when they are here. */
static void clients_leave(struct sched *s)
{
	const uint32_t back = s->n_back;

	if (!s->a->give_up)
		return;
	for (uint32_t k = s->n_running; k-- > 0;)
		if (is_gone(s, s->running[k]))
			leave(s, s->running[k]);
	if (s->queue != SCHED_NONE)
		waiting_leave(s);
	s->n_back = 0; /* never ahead of what is read */
	for (uint32_t k = 0; k < back; k++) {
		const uint32_t i = s->back[k];

		if (is_gone(s, i))
			give_in(s, i);
		else
			s->back[s->n_back++] = i;
	}
}

/* --- what a step brings, on ------------------------------------------------------------------------------------------------- */

static void hand_over(struct sched *s, uint32_t i)
{
	sched_out(s, i);
	s->filled[s->n_filled++] = i;
}

static void produce(struct sched *s, uint32_t i, uint32_t n)
{
	struct seq *q = &s->t->seqs[i];

	if (!q->made)
		s->r->v[i].first = s->now;
	else
		s->r->gaps[sched_gap_class(s->now - q->newest)]++;
	q->newest = s->now;
	q->made += n;
	s->r->made += n;
	q->state = DECODES;
	assert(q->cached + 1 == s->a->v[i].prompt + q->made); /* I3 */
	if (q->made == s->a->v[i].output)
		leave(s, i);
	else if (s->p->part == SCHED_FILLS)
		hand_over(s, i);
}

static void decoded(struct sched *s, uint32_t i)
{
	struct seq *q = &s->t->seqs[i];
	const uint32_t left = s->a->v[i].output - q->made, right = s->p->draft ? accepted(s, i, s->r->v[i].steps) : 0;
	const uint32_t n = right + 1 < left ? right + 1 : left;

	s->r->v[i].steps++;
	s->r->checked += s->p->draft;
	s->r->accepted += right;
	q->cached += n;
	produce(s, i, n);
}

static void filled(struct sched *s, uint32_t i, uint32_t tokens)
{
	struct seq *q = &s->t->seqs[i];

	q->cached += tokens;
	s->r->prompt_tokens += tokens;
	sched_keep_pages(s, i);
	if (q->cached == q->fill)
		produce(s, i, 1);
}

static void sched_count(struct sched *s, ps_t start, uint64_t blocks, uint32_t running, struct sched_tick *t)
{
	struct sched_result *r = s->r;
	const bool any = s->step.seqs || s->step.n_pieces; /* else blocks are moved, and nothing is worked for */

	r->steps += any;
	r->decode_steps += s->step.seqs && !s->step.n_pieces;
	r->prompt_steps += !s->step.seqs && s->step.n_pieces;
	r->mixed_steps += s->step.seqs && s->step.n_pieces;
	r->seqs_sum += s->step.seqs + s->step.n_pieces;
	if (any && running > r->batch_peak)
		r->batch_peak = running;
	*t = (struct sched_tick){ .start = start,
		                  .time = s->now - start,
		                  .seqs = s->step.seqs,
		                  .n_pieces = s->step.n_pieces,
		                  .running = running,
		                  .waiting = (uint32_t)(s->in_system - running),
		                  .prompt_tokens = s->step.prompt_tokens,
		                  .blocks = blocks,
		                  .pool = s->pool,
		                  .machine = s->machine };
}

static int too_long(const struct sched *s, struct err *e)
{
	const double swapped = (double)(s->r->swapped_bytes + s->moved);

	if (!s->p->swap_rate || swapped == 0)
		return err_set(e, ERR_USAGE, "the requests take more than 100 days to serve");
	return err_set(
		e, ERR_USAGE,
		"the requests take more than 100 days to serve; blocks of %.3g GB that go to the host and back at "
		"%.3g GB/s are among them",
		swapped / 1e9, (double)s->p->swap_rate / 1e9);
}

/* The step's time, the moves' and the host's, one after the other. */
static int take_time(struct sched *s, sched_cost_fn *cost, void *ctx, struct err *e)
{
	struct sched_cost c = { 0, 0 };
	const bool any = s->step.seqs || s->step.n_pieces;
	const ps_t moves = s->moved ? clock_transfer(s->moved, s->p->swap_rate) : 0, most = UINT64_MAX / 8;
	const ps_t stops = s->hold > s->now ? s->hold - s->now : 0;
	ps_t host = any ? s->p->overhead + (s->step.seqs + s->step.n_pieces) * s->p->sequence : 0, t;

	if (any && cost(ctx, &s->step, &c, e) < 0)
		return -1;
	/* Each is far from the end of all time, so their sum is, too. */
	if (moves > most || stops > most || c.time > most || host > most || s->now > 4 * most)
		return too_long(s, e);
	if (s->p->ahead)
		host -= host < c.time ? host : c.time;
	t = c.time + host + moves + stops;
	s->r->swapped_bytes += s->moved;
	s->r->energy_fj += c.energy_fj;
	s->r->busy += t;
	s->r->worked += c.time;
	s->until = s->now + t;
	return 0;
}

ps_t sched_next(const struct sched *s)
{
	ps_t t = PS_NEVER;

	if (s->until != PS_NEVER)
		return PS_NEVER;
	if (s->first != SCHED_NONE)
		t = s->t->seqs[s->first].known;
	if (!s->stuck && (s->n_running || anybody(s)))
		t = s->now;
	for (uint32_t k = 0; k < s->n_coming; k++)
		t = ps_min(t, s->t->seqs[s->coming[k]].ready);
	return t == PS_NEVER ? t : ps_max(t, ps_max(s->now, s->hold));
}

int sched_begin(struct sched *s, ps_t at, sched_cost_fn *cost, void *ctx, struct err *e)
{
	integrate(s, at);
	s->start = at;
	asked(s);
	arrived(s);
	clients_leave(s);
	make_step(s);
	assert(s->pager.used <= s->pager.capacity); /* I1 */
	s->stuck = !s->step.seqs && !s->step.n_pieces && !s->moved && !s->gave_up;
	return s->stuck ? 0 : take_time(s, cost, ctx, e);
}

void sched_finish(struct sched *s, sched_seen_fn *seen, void *ctx)
{
	const uint64_t made = s->r->made;
	const bool any = s->step.seqs || s->step.n_pieces;
	struct sched_tick t;

	integrate(s, s->until);
	s->until = PS_NEVER;
	s->n_filled = 0;
	sched_count(s, s->start, s->pager.used, s->n_running, &t);
	for (uint32_t k = 0; k < s->step.n_pieces; k++)
		filled(s, s->filling[k], s->pieces[k].tokens);
	for (uint32_t k = 0; k < s->n_deciding; k++)
		decoded(s, s->deciding[k]);
	if (seen && (any || (s->moved && s->now > s->start))) {
		t.made = s->r->made - made;
		seen(ctx, &s->step, &t);
	}
	s->r->end = s->now;
	s->r->blocks_peak = s->pager.peak;
}

void sched_release(struct sched *s, uint32_t i, ps_t at)
{
	integrate(s, ps_max(s->now, at));
	sched_drop(s, i);
	s->stuck = false;
}

/* --- the whole ---------------------------------------------------------------------------------------------------------- */

bool sched_tables_new(struct sched_tables *t, const struct arrivals *a, uint32_t machines)
{
	const size_t n = a->n, pages = (size_t)machines * a->page_kinds;

	if (n + 2 * (size_t)machines + pages > UINT32_MAX / 2)
		return false;
	t->seqs = calloc(n, sizeof *t->seqs);
	t->after = calloc(n, sizeof *t->after);
	t->under = calloc(n, sizeof *t->under);
	t->runs = calloc(n + 2 * (size_t)machines + pages, sizeof *t->runs);
	t->pages = calloc(pages + 1, sizeof *t->pages);
	return t->seqs && t->after && t->under && t->runs && t->pages;
}

void sched_tables_free(struct sched_tables *t)
{
	free(t->seqs);
	free(t->after);
	free(t->under);
	free(t->runs);
	free(t->pages);
}

bool sched_open(struct sched *s, const struct sched_policy *p, const struct arrivals *a, struct sched_tables *t,
                uint32_t k, struct sched_result *r)
{
	const size_t most = (a->n < p->max_batch ? a->n : p->max_batch) + 1;

	*s = (struct sched){ .p = p,
		             .a = a,
		             .r = r,
		             .t = t,
		             .ends = (uint32_t)a->n + k * (2 + a->page_kinds) + 1,
		             .pager = { .block = p->block, .capacity = p->blocks },
		             .first = SCHED_NONE,
		             .queue = SCHED_NONE,
		             .leaves = PS_NEVER,
		             .until = PS_NEVER };
	s->running = calloc(most, sizeof *s->running);
	s->back = calloc(most, sizeof *s->back);
	s->coming = calloc(most, sizeof *s->coming);
	s->filled = calloc(most, sizeof *s->filled);
	s->deciding = calloc(most, sizeof *s->deciding);
	s->filling = calloc(most, sizeof *s->filling);
	s->pieces = calloc(most, sizeof *s->pieces);
	if (!s->running || !s->back || !s->coming || !s->filled || !s->deciding || !s->filling || !s->pieces)
		return false;
	sched_blocks_open(s, k);
	return true;
}

void sched_close(struct sched *s)
{
	free(s->running);
	free(s->back);
	free(s->coming);
	free(s->filled);
	free(s->deciding);
	free(s->filling);
	free(s->pieces);
}

bool sched_result_new(struct sched_result *r, const struct sched_policy *p, const struct arrivals *a)
{
	memset(r, 0, sizeof *r);
	r->n = a->n;
	r->v = calloc(a->n, sizeof *r->v);
	r->gaps = calloc(SCHED_GAPS, sizeof *r->gaps);
	for (size_t i = 0; r->v && i < a->n; i++)
		r->v[i].at = !p->loop ? a->v[i].at : i < p->loop ? 0 : PS_NEVER;
	return r->v && r->gaps;
}

/* One that leaves a closed loop makes room for the next. */
void sched_loop(struct sched_result *r, const struct sched_policy *p, size_t left, ps_t at)
{
	if (p->loop && left + p->loop - 1 < r->n)
		r->v[left + p->loop - 1].at = at;
}

static int serve(struct sched *s, sched_cost_fn *cost, sched_seen_fn *seen, void *ctx, struct err *e)
{
	const uint32_t n = (uint32_t)s->a->n;
	uint32_t came = 0;
	size_t left = 0;

	while (s->left < n) {
		const ps_t at = came < n ? s->r->v[came].at : PS_NEVER, next = ps_min(sched_next(s), s->until);

		if (at <= next) {
			sched_give(s, came++, at);
		} else if (s->until == PS_NEVER) {
			if (sched_begin(s, next, cost, ctx, e) < 0)
				return -1;
		} else {
			sched_finish(s, seen, ctx);
		}
		while (left < s->left)
			sched_loop(s->r, s->p, ++left, s->now);
	}
	return 0;
}

int sched_run(const struct sched_policy *p, const struct arrivals *a, sched_cost_fn *cost, sched_seen_fn *seen,
              void *ctx, struct sched_result *out, struct err *e)
{
	struct sched_tables t = { NULL, NULL, NULL, NULL, NULL };
	struct sched s = { .p = NULL };
	const bool room = sched_result_new(out, p, a) && sched_tables_new(&t, a, 1) && sched_open(&s, p, a, &t, 0, out);
	const int rc = room ? serve(&s, cost, seen, ctx, e) : err_nomem(e, "for requests");

	assert(rc < 0 || s.pager.used == 0);
	sched_close(&s);
	sched_tables_free(&t);
	return rc;
}

void sched_free(struct sched_result *r)
{
	free(r->v);
	free(r->gaps);
	r->v = NULL;
	r->gaps = NULL;
}

/* --- classes of times ---------------------------------------------------------------------------------------------------- */

#define GAP_BITS 9

uint32_t sched_gap_class(ps_t t)
{
	uint32_t e = 0;

	while (t >> e >= UINT64_C(2) << GAP_BITS)
		e++;
	return (e << GAP_BITS) + (uint32_t)(t >> e);
}

ps_t sched_gap(uint32_t class)
{
	const uint32_t e = class >> GAP_BITS;

	return e ? ((ps_t)(class & ((1u << GAP_BITS) - 1)) | UINT64_C(1) << GAP_BITS) << (e - 1) : class;
}

/* --- whether it can be ------------------------------------------------------------------------------------------------------ */

static int check_policy(const struct sched_policy *p, struct err *e)
{
	const uint64_t rows = (uint64_t)p->max_batch * (1 + p->draft);

	if (!p->max_batch || p->max_batch > SCHED_BATCH)
		return err_set(e, ERR_USAGE, "a batch of %u: it is 1 to %u", p->max_batch, SCHED_BATCH);
	if (p->draft > SCHED_DRAFT)
		return err_set(e, ERR_USAGE, "%u drafted tokens are more than %u", p->draft, SCHED_DRAFT);
	if (p->max_tokens > ARRIVE_TOKENS || p->chunk > ARRIVE_TOKENS)
		return err_set(e, ERR_USAGE, "a step of %u tokens, %u of prompts: it is %u at most", p->max_tokens,
		               p->chunk, ARRIVE_TOKENS);
	if (p->block_bytes && p->blocks > UINT64_MAX / 8 / p->block_bytes)
		return err_set(e, ERR_USAGE, "%" PRIu64 " blocks of %" PRIu64 " bytes are beyond any memory", p->blocks,
		               p->block_bytes);
	if (p->preempt == SCHED_SWAP && !p->swap_rate)
		return err_set(e, ERR_USAGE, "nothing is swapped at 0 B/s");
	if (p->block & (p->block - 1) || !p->block)
		return err_set(e, ERR_USAGE, "a block of %u tokens is no power of two", p->block);
	if (p->accept_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a chance of acceptance lies between 0 and 1");
	if (p->max_tokens < rows)
		return err_set(e, ERR_USAGE,
		               "a step of %u tokens does not hold %u sequences of %u each: '--max-tokens %" PRIu64
		               "' or more, or '--max-batch %u' or less",
		               p->max_tokens, p->max_batch, 1 + p->draft, rows,
		               p->max_tokens / (1 + p->draft) ? p->max_tokens / (1 + p->draft) : 1);
	return 0;
}

static int sched_refuse(const struct arrival *a, const char *file, struct err *e)
{
	return file ? err_at(e, file, (int)a->line, 1) : err_add(e, "drawing request %u", a->line);
}

int sched_check(const struct sched_policy *p, const struct arrivals *a, uint32_t context, const char *file,
                struct err *e)
{
	if (check_policy(p, e) < 0)
		return -1;
	if (p->prefix && a->page_kinds && p->block > ARRIVE_PAGE)
		return err_set(
			e, ERR_USAGE,
			"blocks of %u tokens, where hash_ids are of %d each: option '--block' of as many or fewer",
			p->block, ARRIVE_PAGE);
	for (size_t i = 0; i < a->n; i++) {
		const struct arrival *x = &a->v[i];
		const uint32_t output = p->part == SCHED_FILLS ? 1 : x->output;
		const uint64_t tokens = (uint64_t)x->prompt + output, blocks = (tokens + p->block - 1) / p->block;

		if (context && tokens > context) {
			err_set(e, ERR_IO,
			        "a prompt of %u and an output of %u tokens are more than the %u that the model takes",
			        x->prompt, output, context);
			return sched_refuse(x, file, e);
		}
		if (blocks > p->blocks) {
			err_set(e, ERR_IO,
			        "a prompt of %u and an output of %u tokens need %" PRIu64
			        " blocks of %u, and the memory has room for %" PRIu64,
			        x->prompt, output, blocks, p->block, p->blocks);
			return sched_refuse(x, file, e);
		}
	}
	return 0;
}
