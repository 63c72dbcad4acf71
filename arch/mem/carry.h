/* carry.h - a way that carries bytes at a rate, the urgent first: DMA engines, links of the network. No block itself.
 *
 * Models: a request's bytes stream through as they arrive, so they may have begun up to their time before the last one
 * came. What is more urgent goes first, also before what is under way, which gives way and goes on later; else as they
 * came. So fetching ahead costs nobody.
 * Invariant: I1 what is carried never overlaps: it does no more than its rate. */
#ifndef NPUSIM_ARCH_MEM_CARRY_H
#define NPUSIM_ARCH_MEM_CARRY_H

#include "arch/comp.h"

/* One request's ride. Its event, which the owner has initialised, comes when the last byte is through; then it is to be
 * taken off with carry_over. */
struct carry_ride {
	struct ev ev;
	struct carry_ride *behind;
	const struct mem_req *rq;
};

struct carry {
	struct evq *q;
	struct carry_ride *first;       /* in the order they end */
	ps_t free_at[MEM_BLOCKING + 1]; /* by urgency: when the last of it ends */
};

void carry_reset(struct carry *l, struct evq *q); /* nothing rides */
void carry_put(struct carry *l, struct carry_ride *r, const struct mem_req *rq, ps_t span);
void carry_over(struct carry *l, struct carry_ride *r);
/* A request that is not there yet but comes at `at`, all at once: returns when its last byte is through. */
ps_t carry_pass(struct carry *l, uint8_t urgency, ps_t at, ps_t span);

#endif
