/* sched_pool.h - several machines that serve one list, each with a scheduler of its own: replicas behind a router, in one pool or in two.
 *
 *   one pool     each machine does all of a request
 *   two pools    the first prefills (prompts alone, up to the first token), the second decodes; between them a request's cache moves
 * A request's first token is the prefilling machine's, so TTFT is that pool's, and the way is in the time to its second token. Its blocks
 * stay taken where it was filled until it has moved, and are taken where it goes from before it moves: it is asked for between two steps of
 * the machine that decodes, once there is room in its memory and batch. A machine has one link, on which caches go one at a time, in the
 * order in which they were asked for. Where copies run beside computation steps go on meanwhile; where not (`stops`) neither machine does a
 * step while it sends or receives. Who gives up blocks on a machine that decodes computes its tokens there again.
 * A client that leaves is noticed between steps of the machine that has its request: one that waits to be moved is free then where it was
 * filled, one on its way when that ends, on both. Priorities are each machine's among those it was given.
 * The router gives a request to the machine of a pool that has fewest of those it was given (the first of them), or to all in turn.
 *
 * One pool of one machine is sched_run, to the byte; equal machines that have the same to do do the same at the same time.
 * Leaves out: several caches on one link side by side, pieces of a cache that move while the rest is computed, what a moving cache takes of a memory's bandwidth, routers that
 * look at lengths or at what is cached, machines of one pool that differ. */
#ifndef NPUSIM_SIM_SERVE_SCHED_POOL_H
#define NPUSIM_SIM_SERVE_SCHED_POOL_H

#include "sim/serve/sched.h"

#define SCHED_POOLS    2
#define SCHED_MACHINES 1024 /* of a pool */

enum sched_router { SCHED_LEAST, SCHED_ROBIN };

/* What moving the cache of so many tokens takes. */
struct sched_move {
	ps_t time;
	uint64_t bytes, energy_fj;
};
typedef void sched_move_fn(void *ctx, uint32_t tokens, struct sched_move *out);

struct sched_plan {
	uint32_t pools;
	enum sched_router router;
	struct sched_plan_pool {
		struct sched_policy policy;
		uint32_t machines;
		void *ctx; /* of cost and seen */
	} pool[SCHED_POOLS];
	sched_cost_fn *cost;
	sched_seen_fn *seen; /* may be NULL */
	sched_move_fn *move;
	void *ctx; /* of move */
};

/* What a request's cache did between two machines. */
struct sched_way {
	uint32_t machine[SCHED_POOLS]; /* that had it */
	ps_t from, to;                 /* it moved; 0: it did not */
};

struct sched_pools {
	struct sched_result all;      /* requests, and sums over machines */
	struct sched_result *machine; /* the first pool's, then the second's: sums alone */
	uint32_t machines;
	struct sched_way *way; /* of requests */
	uint64_t moves, moved_bytes;
	ps_t moving, waiting, moving_most; /* sums: on the way, and from the first token until then; the longest way */
	sched_u128 moved_fj;
};

/* As sched_run; the result is freed by sched_pools_free whether it fails or not. */
int sched_pool_run(const struct sched_plan *p, const struct arrivals *a, struct sched_pools *out, struct err *e);
void sched_pools_free(struct sched_pools *x);

#endif
