/* bw_server.h - a way that carries bytes at a rate, the urgent first: DMA engines, links of the network. No block itself.
 *
 * Models: a request's bytes stream through as they arrive: those that came before the last one are through already, as far as
 * the way was idle since the first one came, and in their own time at the most. What is more urgent goes first, also before
 * what is under way, which gives way and goes on later; else as they came. So fetching ahead costs nobody.
 * Invariants: I1 what is carried never overlaps: it does no more than its rate; I2 nothing is carried before it can be
 * there, so a request takes at least its time here. */
#ifndef NPUSIM_ARCH_MEM_BW_SERVER_H
#define NPUSIM_ARCH_MEM_BW_SERVER_H

#include "arch/comp.h"

/* One request's ride. Its event, which the owner has initialised, comes when the last byte is through; then it is to be
 * taken off with bw_server_over. */
struct bw_server_job {
	struct ev ev;
	struct bw_server_job *behind;
	const struct mem_req *rq;
};

#define BW_SERVER_GAPS 8 /* must be a power of two */
struct bw_server {
	struct evq *q;
	struct bw_server_job *first;    /* in the order they end */
	ps_t free_at[MEM_BLOCKING + 1]; /* by urgency: when the last of it ends */
	struct bw_server_gap {
		ps_t from, to;
	} gap[BW_SERVER_GAPS]; /* when it was idle; the oldest is forgotten */
	uint32_t newest;
};

void bw_server_reset(struct bw_server *l, struct evq *q); /* nothing rides */
/* All of it is there now, or from `first` on where that is to come; its first byte since `first`. Returns when that goes in:
 * what came slowly goes as it came, all of it as late as its last byte is. */
ps_t bw_server_put(struct bw_server *l, struct bw_server_job *r, const struct mem_req *rq, ps_t first, ps_t span);
void bw_server_over(struct bw_server *l, struct bw_server_job *r);
/* A request that is not there yet but comes at `at`, all at once, and gives way to nobody: of the most urgent. Returns when
 * its last byte is through; bw_server_when: when it would be. */
ps_t bw_server_when(const struct bw_server *l, uint8_t urgency, ps_t at, ps_t span);
ps_t bw_server_pass(struct bw_server *l, uint8_t urgency, ps_t at, ps_t span);

#endif
