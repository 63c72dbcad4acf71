/* memq.h - what the memory blocks share; no block itself: the senders they refused, and the requests they send down.
 *
 * struct memq_wait keeps the promise "a refusal owes exactly one retry": refused senders wait in order, each at most
 * once; while some wait, a newcomer waits behind them. struct memq is a block's way to the level below: a fixed pool of
 * requests with room for MEMQ_RUNS runs each, for two purposes with room of their own (what somebody waits for, and
 * posted write-backs), sent in order of purpose and the most urgent first, kept while the level below refuses.
 * Invariants: I1 nothing is allocated after memq_new; I2 after a refusal nothing is sent until the retry. */
#ifndef NPUSIM_ARCH_MEM_MEMQ_H
#define NPUSIM_ARCH_MEM_MEMQ_H

#include "arch/comp.h"

/* --- refused senders --------------------------------------------------------------------------------------- */

#define MEMQ_SENDERS 64

struct memq_wait {
	struct comp *who[MEMQ_SENDERS];
	uint32_t n;
	struct comp *turn; /* being retried now */
	bool waking;
};

/* Whether `from` may be served now, as far as the order of waiting goes. */
bool memq_wait_turn(const struct memq_wait *w, const struct comp *from);
void memq_wait_add(struct memq_wait *w, struct comp *from);
/* Retries waiting senders in order for as long as `self` has room. */
void memq_wait_wake(struct memq_wait *w, struct comp *self, bool (*room)(const struct comp *self));
void memq_wait_reset(struct memq_wait *w);

/* --- requests to the level below --------------------------------------------------------------------------- */

#define MEMQ_RUNS 64

enum memq_use { MEMQ_ASK, MEMQ_POST, MEMQ_USES };

struct memq_sub {
	struct mem_req rq; /* first member: a reply's request is its memq_sub */
	struct memq_sub *next;
	void *owner;
	enum memq_use use;
	struct mem_run runs[MEMQ_RUNS];
};

struct memq;

struct memq *memq_new(struct comp *self, struct comp *below, uint32_t n_ask, uint32_t n_post, struct err *e);
void memq_free(struct memq *q);
void memq_reset(struct memq *q);                               /* all requests are back in the pool */
struct memq_sub *memq_take(struct memq *q, enum memq_use use); /* an empty request; NULL when all are in use */
void memq_give(struct memq *q, struct memq_sub *s);
/* Sends it, or keeps it until the level below can take it. `write`, `cls`, `not_before` and `owner` are set. A posted
 * request goes back to the pool by itself, one that asks by memq_give in the block's reply. */
void memq_send(struct memq *q, struct memq_sub *s);
void memq_retry(struct memq *q);                                /* the level below can take a request again */
bool memq_free_for(const struct memq *q, enum memq_use use);    /* memq_take would not return NULL */
uint32_t memq_waiting(const struct memq *q, enum memq_use use); /* kept because of a refusal */

/* Appends a run, joined to the last one where they touch; false when it is full. */
static inline bool memq_add(struct memq_sub *s, uint64_t addr, uint64_t bytes)
{
	uint32_t n = s->rq.n_runs;

	if (n && s->runs[n - 1].addr + s->runs[n - 1].bytes == addr) {
		s->runs[n - 1].bytes += bytes;
	} else {
		if (n == MEMQ_RUNS)
			return false;
		s->runs[n] = (struct mem_run){ addr, bytes };
		s->rq.n_runs = n + 1;
	}
	s->rq.bytes += bytes;
	return true;
}

/* Bits lo .. lo + n - 1: units of a chunk, such as lines or sectors. */
static inline uint64_t memq_mask(uint32_t lo, uint64_t n)
{
	return (n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << lo;
}

/* The units of a mask, of 2^shift bytes each from `base`, as runs; there is room for them. */
void memq_add_mask(struct memq_sub *s, uint64_t base, unsigned shift, uint64_t mask);

#endif
