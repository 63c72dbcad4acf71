/* carry.h - a way that carries bytes at a rate, the urgent first: DMA engines, links of the network. No block itself.
 *
 * Models: a request's bytes stream through as they arrive: those that came before the last one are through already, as far as
 * the way was idle since the first one came, and in their own time at the most. What is more urgent goes first, also before
 * what is under way, which gives way and goes on later; else as they came. So fetching ahead costs nobody.
 * Invariants: I1 what is carried never overlaps: it does no more than its rate; I2 nothing is carried before it can be
 * there, so a request takes at least its time here. */
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

#define CARRY_GAPS 8 /* must be a power of two */
struct carry {
	struct evq *q;
	struct carry_ride *first;       /* in the order they end */
	ps_t free_at[MEM_BLOCKING + 1]; /* by urgency: when the last of it ends */
	struct carry_gap {
		ps_t from, to;
	} gap[CARRY_GAPS]; /* when it was idle; the oldest is forgotten */
	uint32_t newest;
};

void carry_reset(struct carry *l, struct evq *q); /* nothing rides */
/* All of it is there now, or from `first` on where that is to come; its first byte since `first`. Returns when that goes in, if
 * its bytes go one after the other. */
ps_t carry_put(struct carry *l, struct carry_ride *r, const struct mem_req *rq, ps_t first, ps_t span);
void carry_over(struct carry *l, struct carry_ride *r);
/* A request that is not there yet but comes at `at`, all at once, and gives way to nobody: of the most urgent. Returns when
 * its last byte is through; carry_when: when it would be. */
ps_t carry_when(const struct carry *l, uint8_t urgency, ps_t at, ps_t span);
ps_t carry_pass(struct carry *l, uint8_t urgency, ps_t at, ps_t span);

#endif
