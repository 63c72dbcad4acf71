#include "arch/mem/memq.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- refused senders --------------------------------------------------------------------------------------- */

bool memq_wait_turn(const struct memq_wait *w, const struct comp *from)
{
	return w->n == 0 || w->turn == from;
}

void memq_wait_add(struct memq_wait *w, struct comp *from)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->who[i] == from)
			return;
	assert(w->n < MEMQ_SENDERS);
	w->who[w->n++] = from;
}

void memq_wait_wake(struct memq_wait *w, struct comp *self, bool (*room)(const struct comp *self))
{
	if (w->waking)
		return; /* a retried sender's request made room: the loop below goes on */
	w->waking = true;
	while (w->n > 0 && room(self)) {
		struct comp *from = w->who[0];

		memmove(w->who, w->who + 1, --w->n * sizeof *w->who);
		w->turn = from;
		from->ops->retry(from, self);
		w->turn = NULL;
	}
	w->waking = false;
}

void memq_wait_reset(struct memq_wait *w)
{
	*w = (struct memq_wait){ .n = 0 };
}

/* --- requests to the level below --------------------------------------------------------------------------- */

struct list {
	struct memq_sub *head, *tail;
	uint32_t n;
};

struct memq {
	struct comp *self, *below;
	struct memq_sub *subs;
	uint32_t n_ask, n_post;
	struct list spare[MEMQ_USES], kept[MEMQ_USES];
	bool refused; /* the level below owes a retry */
};

static void memq_put(struct list *l, struct memq_sub *s)
{
	s->next = NULL;
	if (l->tail)
		l->tail->next = s;
	else
		l->head = s;
	l->tail = s;
	l->n++;
}

static void put_first(struct list *l, struct memq_sub *s)
{
	s->next = l->head;
	l->head = s;
	if (!l->tail)
		l->tail = s;
	l->n++;
}

/* Behind all that is as urgent. */
static void put_urgent(struct list *l, struct memq_sub *s)
{
	struct memq_sub **at = &l->head;

	if (!l->tail || mem_urgency(&l->tail->rq) >= mem_urgency(&s->rq)) {
		memq_put(l, s);
		return;
	}
	while (mem_urgency(&(*at)->rq) >= mem_urgency(&s->rq))
		at = &(*at)->next;
	s->next = *at;
	*at = s;
	l->n++;
}

static struct memq_sub *pop(struct list *l)
{
	struct memq_sub *s = l->head;

	if (!s)
		return NULL;
	l->head = s->next;
	if (!l->head)
		l->tail = NULL;
	l->n--;
	return s;
}

struct memq *memq_new(struct comp *self, struct comp *below, uint32_t n_ask, uint32_t n_post, struct err *e)
{
	struct memq *q = calloc(1, sizeof *q);

	if (!q || !(q->subs = calloc((size_t)n_ask + n_post, sizeof *q->subs))) {
		err_set(e, ERR_NOMEM, "out of memory for requests to the level below");
		memq_free(q);
		return NULL;
	}
	q->self = self;
	q->below = below;
	q->n_ask = n_ask;
	q->n_post = n_post;
	memq_reset(q);
	return q;
}

void memq_free(struct memq *q)
{
	if (!q)
		return;
	free(q->subs);
	free(q);
}

void memq_reset(struct memq *q)
{
	memset(q->spare, 0, sizeof q->spare);
	memset(q->kept, 0, sizeof q->kept);
	q->refused = false;
	for (uint32_t i = 0; i < q->n_ask + q->n_post; i++) {
		q->subs[i].use = i < q->n_ask ? MEMQ_ASK : MEMQ_POST;
		memq_put(&q->spare[q->subs[i].use], &q->subs[i]);
	}
}

struct memq_sub *memq_take(struct memq *q, enum memq_use use)
{
	struct memq_sub *s = pop(&q->spare[use]);

	if (!s)
		return NULL;
	s->rq = (struct mem_req){ .runs = s->runs, .from = q->self, .posted = use == MEMQ_POST };
	s->owner = NULL;
	return s;
}

void memq_give(struct memq *q, struct memq_sub *s)
{
	put_first(&q->spare[s->use], s); /* the one still in the host's cache */
}

/* Sends what is kept, what somebody waits for first. */
static void pump(struct memq *q)
{
	for (int use = MEMQ_ASK; use < MEMQ_USES; use++)
		while (!q->refused && q->kept[use].head) { /* I2 */
			struct memq_sub *s = pop(&q->kept[use]);

			s->rq.not_before = ps_max(s->rq.not_before, evq_now(q->self->env.q));
			if (!comp_send(q->below, &s->rq)) {
				put_first(&q->kept[use], s);
				q->refused = true;
			} else if (use == MEMQ_POST) {
				memq_give(q, s);
			}
		}
}

void memq_send(struct memq *q, struct memq_sub *s)
{
	put_urgent(&q->kept[s->use], s);
	pump(q);
}

void memq_retry(struct memq *q)
{
	q->refused = false;
	pump(q);
}

bool memq_free_for(const struct memq *q, enum memq_use use)
{
	return q->spare[use].head != NULL;
}

uint32_t memq_waiting(const struct memq *q, enum memq_use use)
{
	return q->kept[use].n;
}

void memq_add_mask(struct memq_sub *s, uint64_t base, unsigned shift, uint64_t mask)
{
	while (mask) {
		uint32_t lo = (uint32_t)__builtin_ctzll(mask);
		uint64_t rest = ~(mask >> lo), n = rest ? (uint32_t)__builtin_ctzll(rest) : 64;
		bool fits = memq_add(s, base + ((uint64_t)lo << shift), n << shift);

		assert(fits);
		(void)fits;
		mask &= ~memq_mask(lo, n);
	}
}
