/* evq.h - the only thing that advances time.
 *
 * Order is total: (when, prio, push number). Ties are first in, first out, so a run is byte-identical on any host.
 * An event lives in its owner and is in the queue at most once. Nothing is allocated after the heap has grown. */
#ifndef NPUSIM_SIM_BASE_EVQ_H
#define NPUSIM_SIM_BASE_EVQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/clock.h"

enum ev_prio { EV_REPLY = 0, EV_WORK = 10, EV_SAMPLE = 90 }; /* gaps are for newcomers */

struct ev {
	ps_t when;
	uint64_t seq;
	void (*fn)(void *owner, struct ev *ev);
	void *owner;
	int prio;
	int slot; /* place in the heap; -1 when idle */
};

struct evq;

struct evq *evq_new(void);
void evq_free(struct evq *q);
void evq_reset(struct evq *q); /* time 0, empty; every event still queued becomes idle */
void ev_init(struct ev *ev, enum ev_prio prio, void (*fn)(void *owner, struct ev *ev), void *owner);
static inline bool ev_idle(const struct ev *ev)
{
	return ev->slot < 0;
}
/* Asserts when >= now and that the event is idle. Without memory for one more the queue has failed: it is empty, and stays so. */
void evq_push(struct evq *q, struct ev *ev, ps_t when);
int evq_reserve(struct evq *q, size_t events); /* 0 or -1; evq_push grows on its own, too */
bool evq_failed(const struct evq *q);          /* until evq_reset */
void evq_cancel(struct evq *q, struct ev *ev); /* an idle event is fine */
bool evq_step(struct evq *q);                  /* one event; false when empty */
ps_t evq_now(const struct evq *q);
uint64_t evq_count(const struct evq *q); /* events served since evq_new */

#endif
