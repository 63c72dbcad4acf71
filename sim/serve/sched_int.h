/* sched_int.h - one machine of a scheduler, a step at a time: what sched_run and the pools of sched_pool.h are made of.
 *
 * Who drives it gives requests as they come, lets it begin a step at sched_next and finish it at `until`. Of one moment requests come first,
 * then steps end, then steps begin. Times given never fall. Machines of one pool share tables by request, as each has one at a time. */
#ifndef NPUSIM_SIM_SERVE_SCHED_INT_H
#define NPUSIM_SIM_SERVE_SCHED_INT_H

#include "sim/serve/pager.h"
#include "sim/serve/sched.h"

#define SCHED_NONE UINT32_MAX

enum state { WAITS, FILLS, DECODES, DONE };

struct seq {
	enum state state;
	uint32_t cached, made; /* tokens in the cache, tokens produced */
	uint32_t turn;         /* of those that the machine was given */
	uint32_t fill;         /* tokens to be in the cache before it decodes */
	bool away;             /* its blocks are with the host */
	bool apart;            /* its cache is on the machine that filled it */
	uint64_t blocks;       /* its own */
	uint32_t pages;        /* of its prompt that it has, in blocks that are also others' */
	uint32_t had;          /* of them when it gave up its blocks */
	ps_t known, ready;     /* to the scheduler; its cache is here */
	ps_t newest;           /* its newest token's */
};

/* Free blocks in the order in which they came free: those that nobody had, then runs of those that requests gave back, by request, and
 * pages that nobody has any more. A request has one at the most; `blocks` of it nobody took. */
struct run {
	uint64_t blocks;
	uint32_t before, after;
};

/* A page of prompts on a machine (arrive.h), in blocks of its own. */
struct page {
	uint32_t users;
	bool there; /* computed, and in nobody else's blocks */
};

struct sched_tables {
	struct seq *seqs;
	uint32_t *after;    /* in a list, and beside it in a queue */
	uint32_t *under;    /* in a queue: the first of those that are later */
	struct run *runs;   /* of requests, of each machine those of nobody and the list's ends, and of its pages */
	struct page *pages; /* of each machine */
};

/* The cache of request `i`, which has room here from `now` on, is here when? */
typedef ps_t sched_fetch_fn(void *ctx, uint32_t i, ps_t now);
/* It is not asked for any more: its client has left. */
typedef void sched_forget_fn(void *ctx, uint32_t i, ps_t now);

struct sched {
	const struct sched_policy *p;
	const struct arrivals *a;
	struct sched_result *r;
	struct sched_tables *t;
	uint32_t ends;     /* of runs */
	uint32_t page_run; /* of the first page */
	struct page *pages;
	uint64_t n_pages;       /* that are there */
	uint32_t pool, machine; /* for who looks on */
	struct pager pager;
	uint32_t *running, n_running; /* in the order in which they were let in */
	uint32_t *back, n_back; /* gave up their blocks, the last one first; with priorities they are in the queue */
	uint32_t *coming, n_coming; /* have blocks here, and their caches are on the way */
	uint32_t *filled, n_filled; /* in the last step, to decode elsewhere */
	uint32_t *deciding, n_deciding, *filling;
	uint32_t first, last; /* that are not known yet */
	uint32_t queue;       /* who is let in first, the others under it */
	uint32_t given;
	ps_t leaves; /* no client of the queue's leaves before */
	struct sched_piece *pieces;
	struct sched_step step;
	uint64_t rows;  /* of the step so far */
	uint64_t moved; /* bytes to the host and back in it */
	bool gave_up;   /* somebody did */
	bool stuck;     /* nobody can be worked for until something changes */
	size_t left;    /* how many are done */
	uint64_t in_system;
	ps_t now, start, until; /* counted so far; of the step; its end, PS_NEVER: there is none */
	ps_t hold;              /* no step goes on before: caches move in its place */

	sched_fetch_fn *fetch;
	sched_forget_fn *forget;
	void *fetch_ctx;
};

bool sched_tables_new(struct sched_tables *t, const struct arrivals *a, uint32_t machines);
void sched_tables_free(struct sched_tables *t);
/* Machine `k` of those that share tables; the result's counts are its own. False: no memory. Closed in any case. */
bool sched_open(struct sched *s, const struct sched_policy *p, const struct arrivals *a, struct sched_tables *t,
                uint32_t k, struct sched_result *r);
void sched_close(struct sched *s);

void sched_give(struct sched *s, uint32_t i, ps_t at);
/* When a step begins unless something comes before; PS_NEVER: one runs, or there is nothing to do. */
ps_t sched_next(const struct sched *s);
int sched_begin(struct sched *s, ps_t at, sched_cost_fn *cost, void *ctx, struct err *e);
void sched_finish(struct sched *s, sched_seen_fn *seen, void *ctx);
/* The cache of one that it filled is where it goes. */
void sched_release(struct sched *s, uint32_t i, ps_t at);

/* --- blocks (sched_blocks.c) */

/* All free, of machine `k`. */
void sched_blocks_open(struct sched *s, uint32_t k);
/* What it has is free: its own, and pages that nobody else has. */
void sched_drop(struct sched *s, uint32_t i);
/* As many more of its own as so many tokens need beside its pages; false: they are not there. */
bool sched_grow(struct sched *s, uint32_t i, uint64_t tokens);
/* Of a prompt's pages the first ones that are there; tokens with its own blocks that nobody took: the last token is always computed. */
uint32_t sched_pages_there(const struct sched *s, uint32_t i);
uint32_t sched_still_there(const struct sched *s, uint32_t i, uint32_t pages);
/* It has so many pages from now on, unless blocks for `tokens` are not there then: false, and nothing is changed. */
bool sched_share(struct sched *s, uint32_t i, uint32_t pages, uint64_t tokens);
/* Whole pages of its prompt that are computed by now can be found by others. */
void sched_keep_pages(struct sched *s, uint32_t i);
uint64_t sched_page_blocks(const struct sched *s, uint64_t pages);

/* A result's tables, and when requests come: those of a closed loop as others leave. False: no memory. */
bool sched_result_new(struct sched_result *r, const struct sched_policy *p, const struct arrivals *a);
void sched_loop(struct sched_result *r, const struct sched_policy *p, size_t left, ps_t at);

#endif
