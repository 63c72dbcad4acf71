#include "sim/serve/sched.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/serve/pager.h"

enum state { WAITS, FILLS, DECODES, DONE };

struct seq {
	enum state state;
	uint32_t cached, made; /* tokens in the cache, tokens produced */
	uint32_t fill;         /* tokens to be in the cache before it decodes */
	bool away;             /* its blocks are with the host */
	uint64_t blocks;
	ps_t newest; /* its newest token's */
};

/* Free blocks in the order in which they came free: those that nobody had, then runs of those that requests gave back, by request.
 * A request has one at the most; `blocks` of it nobody took. */
struct run {
	uint64_t blocks;
	uint32_t before, after;
};

struct sched {
	const struct sched_policy *p;
	const struct arrivals *a;
	struct sched_result *r;
	struct pager pager;
	struct seq *seqs;
	uint32_t *running, n_running; /* in the order in which they were let in */
	uint32_t *back, n_back;       /* gave up their blocks; the last one first */
	uint32_t *deciding, n_deciding, *filling;
	struct sched_piece *pieces;
	struct sched_step step;
	struct run *runs;         /* n + 2: of requests, of nobody (n), and the list's ends (n + 1) */
	uint64_t rows;            /* of the step so far */
	uint64_t moved;           /* bytes to the host and back in it */
	bool gave_up;             /* somebody did */
	uint32_t *queue, n_queue; /* who never ran, a heap: the first is let in first */
	size_t asked;             /* the next that the scheduler does not have */
	size_t came, left;        /* the next that has not arrived; how many are done */
	ps_t now;
	uint64_t in_system;
};

/* --- the queue ------------------------------------------------------------------------------------------------------- */

static bool sooner(const struct sched *s, uint32_t a, uint32_t b)
{
	const uint32_t x = s->a->v[a].priority, y = s->a->v[b].priority;

	return x != y ? x < y : a < b;
}

static void push(struct sched *s, uint32_t i)
{
	uint32_t k = s->n_queue++;

	for (; k && sooner(s, i, s->queue[(k - 1) / 2]); k = (k - 1) / 2)
		s->queue[k] = s->queue[(k - 1) / 2];
	s->queue[k] = i;
}

static void pop(struct sched *s)
{
	const uint32_t last = s->queue[--s->n_queue];
	uint32_t k = 0, c;

	while ((c = 2 * k + 1) < s->n_queue) {
		c += c + 1 < s->n_queue && sooner(s, s->queue[c + 1], s->queue[c]);
		if (!sooner(s, s->queue[c], last))
			break;
		s->queue[k] = s->queue[c];
		k = c;
	}
	s->queue[k] = last;
}

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

/* When the scheduler has it. */
static ps_t known_at(const struct sched *s, size_t i)
{
	return s->r->v[i].at + s->p->request + s->a->v[i].prompt * s->p->prompt_token;
}

/* Who arrives on the way is in the system from that moment on. */
static void advance(struct sched *s, ps_t to)
{
	for (; s->came < s->a->n && s->r->v[s->came].at <= to; s->came++, s->in_system++)
		integrate(s, ps_max(s->now, s->r->v[s->came].at));
	integrate(s, to);
	while (s->asked < s->came && known_at(s, s->asked) <= to)
		push(s, (uint32_t)s->asked++);
}

/* --- blocks ---------------------------------------------------------------------------------------------------------- */

static void unlink_run(struct sched *s, uint32_t i)
{
	struct run *x = &s->runs[i];

	s->runs[x->before].after = x->after;
	s->runs[x->after].before = x->before;
	x->blocks = 0;
}

/* At the end of the free ones. */
static void link_run(struct sched *s, uint32_t i, uint64_t blocks)
{
	const uint32_t ends = (uint32_t)s->a->n + 1;

	s->runs[i] = (struct run){ blocks, s->runs[ends].before, ends };
	s->runs[s->runs[ends].before].after = i;
	s->runs[ends].before = i;
}

static void drop(struct sched *s, uint32_t i)
{
	struct seq *q = &s->seqs[i];

	if (s->p->prefix && q->blocks)
		link_run(s, i, q->blocks);
	pager_drop(&s->pager, &q->blocks);
}

/* The oldest free ones are taken; its own, where it has some, first. */
static bool grow(struct sched *s, uint32_t i, uint64_t tokens)
{
	struct seq *q = &s->seqs[i];
	const uint32_t ends = (uint32_t)s->a->n + 1;
	uint64_t had = q->blocks, more;

	if (!pager_grow(&s->pager, &q->blocks, tokens))
		return false;
	if (!s->p->prefix)
		return true;
	if (s->runs[i].blocks) {
		had += s->runs[i].blocks;
		unlink_run(s, i);
	}
	for (more = q->blocks > had ? q->blocks - had : 0; more && s->runs[ends].after != ends;) {
		const uint32_t first = s->runs[ends].after;
		struct run *x = &s->runs[first];

		if (x->blocks > more) {
			x->blocks -= more;
			break;
		}
		more -= x->blocks;
		unlink_run(s, first);
	}
	return true;
}

/* Tokens of its that are still there, in whole blocks; the last is always computed. */
static uint32_t still_there(const struct sched *s, uint32_t i)
{
	const uint64_t most = (s->seqs[i].fill - 1) / s->p->block, has = s->p->prefix ? s->runs[i].blocks : 0;

	return (uint32_t)((has < most ? has : most) * s->p->block);
}

/* --- giving up -------------------------------------------------------------------------------------------------------- */

static void give_up(struct sched *s)
{
	const uint32_t i = s->running[--s->n_running];
	struct seq *q = &s->seqs[i];

	s->gave_up = true;
	s->r->preemptions++;
	s->r->v[i].preempted++;
	if (s->p->preempt == SCHED_SWAP) {
		q->away = true;
		s->moved += q->blocks * s->p->block_bytes;
	} else {
		s->r->recomputed += q->cached;
		q->fill = s->a->v[i].prompt + q->made;
		q->cached = 0;
		q->state = WAITS;
	}
	drop(s, i);
	s->back[s->n_back++] = i;
}

static uint64_t most_of(const struct sched *s, uint32_t i)
{
	return (uint64_t)s->a->v[i].prompt + s->a->v[i].output;
}

/* --- a step's sequences ------------------------------------------------------------------------------------------------ */

/* All that decode, each with blocks for what it may produce; those let in last give up theirs for it. */
static void decoding(struct sched *s)
{
	const uint32_t rows = 1 + s->p->draft;

	for (uint32_t k = 0; k < s->n_running; k++) {
		const uint32_t i = s->running[k];
		struct seq *q = &s->seqs[i];
		uint64_t want = q->cached + rows;

		if (q->state != DECODES)
			continue;
		if (want > most_of(s, i))
			want = most_of(s, i);
		while (k < s->n_running && !grow(s, i, want))
			give_up(s);
		if (k == s->n_running)
			break;
		s->deciding[s->n_deciding++] = i;
		s->step.context_sum += q->cached;
		s->rows += rows;
	}
	s->step.seqs = s->n_deciding;
}

static void piece(struct sched *s, uint32_t i, uint32_t tokens)
{
	const uint32_t n = s->step.n_pieces++;

	s->pieces[n] = (struct sched_piece){ tokens, s->seqs[i].cached };
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
		const struct seq *q = &s->seqs[i];
		const uint32_t n = q->state == FILLS ? room_for(s, q->fill - q->cached) : 0;

		if (n)
			piece(s, i, n);
	}
}

/* --- letting in --------------------------------------------------------------------------------------------------------- */

static bool anybody(const struct sched *s)
{
	return s->n_back || s->n_queue;
}

/* Blocks for what is in its cache or is to be, and one token more. */
static bool reserve(struct sched *s, uint32_t i)
{
	struct seq *q = &s->seqs[i];
	const uint64_t most = most_of(s, i), now = q->away && q->state == DECODES ? q->cached : q->fill;
	const uint64_t want = s->p->reserve_all || now + 1 > most ? most : now + 1;

	return grow(s, i, want);
}

/* The first that waits, unless it does not fit. */
static bool let_in(struct sched *s)
{
	const uint32_t i = s->n_back ? s->back[s->n_back - 1] : s->queue[0];
	struct seq *q = &s->seqs[i];
	uint32_t n, found;

	if (s->n_running == s->p->max_batch)
		return false;
	if (!s->n_back)
		q->fill = s->a->v[i].prompt;
	found = q->away ? 0 : still_there(s, i);
	n = q->away ? 0 : room_for(s, q->fill - found);
	if ((!n && !q->away) || !reserve(s, i))
		return false;
	if (s->n_back) {
		s->n_back--;
	} else {
		pop(s);
		s->r->v[i].begun = s->now;
	}
	s->running[s->n_running++] = i;
	if (q->away) { /* it goes on in the next step */
		s->moved += pager_blocks(&s->pager, q->cached) * s->p->block_bytes;
		q->away = false;
		return true;
	}
	q->state = FILLS;
	q->cached = found;
	s->r->found += found;
	s->r->recomputed -= found;
	piece(s, i, n);
	return true;
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

static void end(struct sched *s, uint32_t i)
{
	s->in_system--;
	drop(s, i);
	s->seqs[i].state = DONE;
	s->r->v[i].last = s->now;
	s->left++;
	if (s->p->loop && s->left + s->p->loop - 1 < s->a->n)
		s->r->v[s->left + s->p->loop - 1].at = s->now;
}

static void leave(struct sched *s, uint32_t i)
{
	uint32_t k = 0;

	while (s->running[k] != i)
		k++;
	memmove(&s->running[k], &s->running[k + 1], (s->n_running - k - 1) * sizeof *s->running);
	s->n_running--;
	end(s, i);
}

/* Its client has left: true, and it is marked. */
static bool is_gone(struct sched *s, uint32_t i)
{
	const ps_t after = s->a->v[i].gives_up;

	if (!after || s->now < s->r->v[i].at + after)
		return false;
	s->r->gone++;
	return s->r->v[i].gone = true;
}

static void clients_leave(struct sched *s)
{
	const uint32_t waiting = s->n_queue, back = s->n_back;

	if (!s->a->give_up)
		return;
	for (uint32_t k = s->n_running; k-- > 0;)
		if (is_gone(s, s->running[k]))
			leave(s, s->running[k]);
	s->n_queue = s->n_back = 0; /* never ahead of what is read */
	for (uint32_t k = 0; k < waiting; k++) {
		const uint32_t i = s->queue[k];

		if (is_gone(s, i))
			end(s, i);
		else
			push(s, i);
	}
	for (uint32_t k = 0; k < back; k++) {
		const uint32_t i = s->back[k];

		if (is_gone(s, i))
			end(s, i);
		else
			s->back[s->n_back++] = i;
	}
}

static void produce(struct sched *s, uint32_t i, uint32_t n)
{
	struct seq *q = &s->seqs[i];

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
}

static void decoded(struct sched *s, uint32_t i)
{
	struct seq *q = &s->seqs[i];
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
	struct seq *q = &s->seqs[i];

	q->cached += tokens;
	s->r->prompt_tokens += tokens;
	if (q->cached == q->fill)
		produce(s, i, 1);
}

static void sched_count(struct sched *s, ps_t start, uint64_t blocks, uint32_t running, struct sched_tick *t)
{
	struct sched_result *r = s->r;

	r->steps += s->step.seqs || s->step.n_pieces; /* else blocks are moved, and nothing is worked for */
	r->decode_steps += s->step.seqs && !s->step.n_pieces;
	r->prompt_steps += !s->step.seqs && s->step.n_pieces;
	r->mixed_steps += s->step.seqs && s->step.n_pieces;
	r->seqs_sum += s->step.seqs + s->step.n_pieces;
	if (running > r->batch_peak)
		r->batch_peak = running;
	*t = (struct sched_tick){ .start = start,
		                  .time = s->now - start,
		                  .seqs = s->step.seqs,
		                  .n_pieces = s->step.n_pieces,
		                  .running = running,
		                  .waiting = (uint32_t)(s->in_system - running),
		                  .prompt_tokens = s->step.prompt_tokens,
		                  .blocks = blocks };
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
	ps_t host = any ? s->p->overhead + (s->step.seqs + s->step.n_pieces) * s->p->sequence : 0, t;

	if (any && cost(ctx, &s->step, &c, e) < 0)
		return -1;
	/* Each is far from the end of all time, so their sum is, too. */
	if (moves > most || c.time > most || host > most || s->now > 4 * most)
		return too_long(s, e);
	if (s->p->ahead)
		host -= host < c.time ? host : c.time;
	t = c.time + host + moves;
	s->r->swapped_bytes += s->moved;
	s->r->energy_fj += c.energy_fj;
	s->r->busy += t;
	s->r->worked += c.time;
	advance(s, s->now + t);
	return 0;
}

static int one_step(struct sched *s, sched_cost_fn *cost, sched_seen_fn *seen, void *ctx, struct err *e)
{
	const uint64_t made = s->r->made;
	const ps_t start = s->now;
	struct sched_tick t;

	clients_leave(s);
	make_step(s);
	assert(s->pager.used <= s->pager.capacity); /* I1 */
	if (take_time(s, cost, ctx, e) < 0)
		return -1;
	sched_count(s, start, s->pager.used, s->n_running, &t);
	for (uint32_t k = 0; k < s->step.n_pieces; k++)
		filled(s, s->filling[k], s->pieces[k].tokens);
	for (uint32_t k = 0; k < s->n_deciding; k++)
		decoded(s, s->deciding[k]);
	if (seen && s->now > start) {
		t.made = s->r->made - made;
		seen(ctx, &s->step, &t);
	}
	return 0;
}

/* --- the whole ---------------------------------------------------------------------------------------------------------- */

static bool tables(struct sched *s, size_t n)
{
	const size_t most = n < s->p->max_batch ? n : s->p->max_batch;

	s->seqs = calloc(n, sizeof *s->seqs);
	s->running = calloc(most + 1, sizeof *s->running);
	s->back = calloc(most + 1, sizeof *s->back);
	s->deciding = calloc(most + 1, sizeof *s->deciding);
	s->filling = calloc(most + 1, sizeof *s->filling);
	s->pieces = calloc(most + 1, sizeof *s->pieces);
	s->queue = calloc(n, sizeof *s->queue);
	s->runs = calloc(n + 2, sizeof *s->runs);
	s->r->v = calloc(n, sizeof *s->r->v);
	s->r->gaps = calloc(SCHED_GAPS, sizeof *s->r->gaps);
	return s->seqs && s->running && s->back && s->deciding && s->filling && s->pieces && s->queue && s->runs &&
	       s->r->v && s->r->gaps;
}

static int serve(struct sched *s, sched_cost_fn *cost, sched_seen_fn *seen, void *ctx, struct err *e)
{
	const uint32_t n = (uint32_t)s->a->n;

	for (uint32_t i = 0; i < n; i++)
		s->r->v[i].at = !s->p->loop ? s->a->v[i].at : i < s->p->loop ? 0 : PS_NEVER;
	s->runs[n + 1] = (struct run){ 0, n + 1, n + 1 };
	link_run(s, n, s->pager.capacity);
	advance(s, 0);
	while (s->left < n) {
		if (!s->n_running && !anybody(s))
			advance(s, known_at(s, s->asked));
		if (one_step(s, cost, seen, ctx, e) < 0)
			return -1;
		advance(s, s->now);
	}
	return 0;
}

int sched_run(const struct sched_policy *p, const struct arrivals *a, sched_cost_fn *cost, sched_seen_fn *seen,
              void *ctx, struct sched_result *out, struct err *e)
{
	struct sched s = { .p = p, .a = a, .r = out, .pager = { .block = p->block, .capacity = p->blocks } };
	int rc;

	memset(out, 0, sizeof *out);
	out->n = a->n;
	rc = tables(&s, a->n) ? serve(&s, cost, seen, ctx, e) : err_nomem(e, "for requests");
	out->end = s.now;
	out->blocks_peak = s.pager.peak;
	assert(rc < 0 || s.pager.used == 0);
	free(s.seqs);
	free(s.running);
	free(s.back);
	free(s.deciding);
	free(s.filling);
	free(s.pieces);
	free(s.queue);
	free(s.runs);
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
	for (size_t i = 0; i < a->n; i++) {
		const struct arrival *x = &a->v[i];
		const uint64_t tokens = (uint64_t)x->prompt + x->output, blocks = (tokens + p->block - 1) / p->block;

		if (context && tokens > context) {
			err_set(e, ERR_IO,
			        "a prompt of %u and an output of %u tokens are more than the %u that the model takes",
			        x->prompt, x->output, context);
			return sched_refuse(x, file, e);
		}
		if (blocks > p->blocks) {
			err_set(e, ERR_IO,
			        "a prompt of %u and an output of %u tokens need %" PRIu64
			        " blocks of %u, and the memory has room for %" PRIu64,
			        x->prompt, x->output, blocks, p->block, p->blocks);
			return sched_refuse(x, file, e);
		}
	}
	return 0;
}
