/* comp.h - every hardware block from outside, and the message memory blocks exchange.
 *
 * Blocks know each other only by messages: `send` may refuse, and then owes exactly one `retry` to the refused
 * sender once it can take a request again; a request taken is answered by exactly one `reply` to `req->from`.
 * A request is one tile's bytes: an event is a tile moved, never a byte. It lives in its requester, is not copied,
 * and its runs stay valid until the reply. A posted request (a write-back) gets no reply: the level below reads it and
 * its runs during `send` and keeps neither.
 *
 * The order of calls is the order of arrival. A level may compute its service in closed form when it takes the
 * request and schedule only the reply; `not_before` says when the request reaches its door. */
#ifndef NPUSIM_ARCH_COMP_H
#define NPUSIM_ARCH_COMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/res.h"
#include "sim/base/cfg.h"
#include "sim/base/err.h"
#include "sim/base/evq.h"
#include "sim/base/stat.h"
#include "sim/base/str.h"

struct comp;
struct watch;

struct mem_run {
	uint64_t addr, bytes;
};

enum mem_class { MEM_WEIGHT, MEM_ACTIVATION, MEM_KV, MEM_INDEX, MEM_CONSTANT }; /* as enum op_role, same order */

/* Higher goes first where requests queue. */
enum mem_urgency {
	MEM_AHEAD,   /* fetched ahead of its command */
	MEM_WANTED,  /* a tile of a command that has started */
	MEM_BLOCKING /* nothing of a started command can begin without it */
};

struct mem_req {
	const struct mem_run *runs;
	uint32_t n_runs;
	bool write;
	uint8_t cls;            /* enum mem_class */
	uint64_t bytes;         /* sum of the runs */
	ps_t not_before;        /* >= now */
	struct comp *from;      /* who gets the reply, and the retry after a refusal; never NULL */
	bool posted;            /* no reply wanted (write-backs) */
	bool one_core;          /* one core asks, not all of them a part each: caches that are near some know */
	bool no_keep;           /* the requester keeps the bytes itself: a cache on the way takes nothing in */
	bool between;           /* cores among themselves: no level behind the network is asked */
	uint32_t copies;        /* cores that each byte goes to; 0: one */
	uint64_t share;         /* of the copies, the most that one core takes; 0: all cores as much */
	const uint8_t *urgency; /* enum mem_urgency, the requester's: may rise while the request waits; NULL: lowest */
	void *tag;              /* the requester's own */

	/* Written by the levels on the way, for stall accounting and for what streams through them; the requester clears
	 * them. */
	ps_t t_l1;                /* through the L1, which missed or wrote through; 0: no L1, or it hit */
	ps_t t_arrive;            /* through the NoC, at the door of that level */
	ps_t t_level;             /* service began at the first level that holds state (L1 if it hit, L2, KV buffer) */
	ps_t t_dram, t_dram_done; /* handed to DRAM, and back; 0: never went there */
	ps_t t_first;             /* of what is read, the first byte came no earlier: who replies says so */
	uint8_t level;            /* enum res of that first level */
	uint64_t noc_load;        /* what it was to the network, in bytes at its peak */
	uint64_t hit_bytes;       /* found on chip */
	uint64_t dram_bytes;      /* fetched from DRAM for this request (reads) */
};

struct comp_env {
	struct evq *q;
	struct stat_reg *stats;
	uint64_t clock_khz;        /* the machine's clock */
	struct comp *below;        /* the next memory level down; NULL at the bottom */
	const struct watch *watch; /* who looks on (arch/watch.h); NULL: nobody */
};

struct comp_ops {
	const char *kind; /* "dram", "dram_fixed", "l2", ... */
	struct comp *(*make)(const struct comp_env *env, const void *cfg, struct err *e);
	void (*free)(struct comp *c);
	bool (*send)(struct comp *c, struct mem_req *r);        /* false: full; one retry() to r->from will follow */
	void (*reply)(struct comp *c, struct mem_req *r);       /* NULL for blocks that send nothing */
	void (*retry)(struct comp *c, struct comp *below);      /* `below` can take a request again */
	void (*explain)(const struct comp *c, struct str *out); /* what am I waiting for; never empty */
	/* Bytes of the range held here or above the level below, changing nothing; NULL: holds nothing. */
	uint64_t (*resident)(const struct comp *c, uint64_t addr, uint64_t bytes);
	/* Nothing waits here, so a posted write holds up nobody; NULL: nobody can tell. */
	bool (*idle)(const struct comp *c);
	/* Every core sends and takes in for so long, from now on: returns when that is over; NULL: this is no network. */
	ps_t (*exchange)(struct comp *c, ps_t span);
	/* A pass ends now: of bytes counted, those still under way count for the next one; NULL: none ever are. */
	void (*pass_over)(struct comp *c);
	/* Forget all contents and pending state: cold. Statistics stay. */
	void (*reset)(struct comp *c);
};

struct comp {
	const struct comp_ops *ops;
	struct comp_env env;
}; /* first member of every block */

static inline uint8_t mem_urgency(const struct mem_req *r)
{
	return r->urgency ? *r->urgency : MEM_AHEAD;
}
static inline bool comp_send(struct comp *c, struct mem_req *r)
{
	return c->ops->send(c, r);
}
static inline void comp_free(struct comp *c)
{
	if (c)
		c->ops->free(c);
}

#endif
