/* evq.c - a 4-ary heap. A heap entry carries the whole key, so that sifting reads no event; the event learns only
 * its new slot. `rank` is (prio, push number) in one word: 8 bits of priority over 56 of number. */
#include "sim/base/evq.h"

#include <assert.h>
#include <stdlib.h>

#define WAYS     4
#define SEQ_BITS 56

struct entry {
	ps_t when;
	uint64_t rank;
	struct ev *ev;
};

struct evq {
	struct entry *heap;
	size_t n, cap;
	ps_t now;
	uint64_t seq, served;
	bool failed;
};

struct evq *evq_new(void)
{
	return calloc(1, sizeof(struct evq));
}

void evq_free(struct evq *q)
{
	if (!q)
		return;
	free(q->heap); /* the events are not touched: their owners may be gone already */
	free(q);
}

void evq_reset(struct evq *q)
{
	for (size_t i = 0; i < q->n; i++)
		q->heap[i].ev->slot = -1;
	q->n = 0;
	q->now = 0;
	q->seq = 0;
	q->failed = false;
}

void ev_init(struct ev *ev, enum ev_prio prio, void (*fn)(void *owner, struct ev *ev), void *owner)
{
	*ev = (struct ev){ .fn = fn, .owner = owner, .prio = (int)prio, .slot = -1 };
}

static bool evq_before(const struct entry *a, const struct entry *b)
{
	return a->when != b->when ? a->when < b->when : a->rank < b->rank;
}

static void evq_place(struct evq *q, size_t i, struct entry x)
{
	q->heap[i] = x;
	x.ev->slot = (int)i;
}

static void sift_up(struct evq *q, size_t i, struct entry x)
{
	while (i > 0) {
		size_t up = (i - 1) / WAYS;

		if (!evq_before(&x, &q->heap[up]))
			break;
		evq_place(q, i, q->heap[up]);
		i = up;
	}
	evq_place(q, i, x);
}

static void sift_down(struct evq *q, size_t i, struct entry x)
{
	for (;;) {
		size_t first = WAYS * i + 1, least = first, end = first + WAYS < q->n ? first + WAYS : q->n;

		if (first >= q->n)
			break;
		for (size_t c = first + 1; c < end; c++)
			if (evq_before(&q->heap[c], &q->heap[least]))
				least = c;
		if (!evq_before(&q->heap[least], &x))
			break;
		evq_place(q, i, q->heap[least]);
		i = least;
	}
	evq_place(q, i, x);
}

/* Takes entry i out; the last one fills the hole. */
static void evq_take(struct evq *q, size_t i)
{
	struct entry last = q->heap[--q->n];

	q->heap[i].ev->slot = -1;
	if (i == q->n)
		return;
	if (i > 0 && evq_before(&last, &q->heap[(i - 1) / WAYS]))
		sift_up(q, i, last);
	else
		sift_down(q, i, last);
}

int evq_reserve(struct evq *q, size_t events)
{
	struct entry *heap;

	if (events <= q->cap)
		return 0;
	if (q->failed || events > INT32_MAX || !(heap = realloc(q->heap, events * sizeof *heap)))
		return -1;
	q->heap = heap;
	q->cap = events;
	return 0;
}

/* Nothing is served from here on: a clock that lost an event would go wrong. */
static void evq_fail(struct evq *q)
{
	for (size_t i = 0; i < q->n; i++)
		q->heap[i].ev->slot = -1;
	q->n = q->cap = 0;
	q->failed = true;
}

void evq_push(struct evq *q, struct ev *ev, ps_t when)
{
	assert(when >= q->now);
	assert(ev_idle(ev));
	assert(ev->fn && ev->prio >= 0 && ev->prio < 1 << (64 - SEQ_BITS));
	if (q->n == q->cap && evq_reserve(q, q->cap ? 2 * q->cap : 64) < 0) {
		evq_fail(q);
		return;
	}
	ev->when = when;
	ev->seq = q->seq++;
	sift_up(q, q->n++, (struct entry){ when, (uint64_t)ev->prio << SEQ_BITS | ev->seq, ev });
}

void evq_cancel(struct evq *q, struct ev *ev)
{
	if (ev_idle(ev))
		return;
	assert((size_t)ev->slot < q->n && q->heap[ev->slot].ev == ev);
	evq_take(q, (size_t)ev->slot);
}

bool evq_step(struct evq *q)
{
	struct ev *ev;

	if (q->n == 0)
		return false;
	ev = q->heap[0].ev;
	q->now = q->heap[0].when;
	q->served++;
	evq_take(q, 0);
	ev->fn(ev->owner, ev); /* idle by now: it may push itself again, or free its owner */
	return true;
}

ps_t evq_now(const struct evq *q)
{
	return q->now;
}

bool evq_failed(const struct evq *q)
{
	return q->failed;
}

uint64_t evq_count(const struct evq *q)
{
	return q->served;
}
