/* sched.h - a server's scheduler: which requests a step works for, what that adds to each, and when.
 *
 * Continuous batching: between any two steps requests may come and go. A step has one row for each sequence that decodes (with
 * speculation one more for each drafted token), and pieces of prompts:
 *   chunk > 0   up to so many tokens of prompts beside whatever decodes (chunked prefill). Sequences that decode go first, then
 *               prompts that are begun, then new ones in the order of arrival
 *   chunk 0     a prompt is computed whole; while prompts wait and fit, steps have prompts alone, and nobody decodes
 * Nobody overtakes: the first that waits and does not fit stops those behind it.
 * A request is let in when its prompt's blocks and one token's are free (or those of its output too: `reserve_all`). A
 * sequence that decodes asks for blocks as it grows. Where there is none, the one that was let in last gives up its blocks and
 * waits in front of all others: its tokens are computed again, as a prompt (recompute), or its blocks are moved to the host and
 * back (swap; while they move nothing else is done). Nobody is let in within a step in which one gave up.
 * With `prefix` whoever gave up blocks to compute again finds those of them that nobody took meanwhile: free blocks are taken in the
 * order in which they came free, the last of a sequence first, as vLLM's block pool does. Of a list that tells pages of its prompts
 * (arrive.h) it also finds the first pages that others computed, used or free: users of a page share its blocks, and a page that nobody
 * uses is free like others' blocks, the last of a prompt first, and gone with the first block of it that is taken. Who computed one that
 * another had meanwhile has the other's (as SGLang's tree). The last token of a prompt is always computed.
 * The host: a request is with the scheduler `request` and so much a prompt token after it came, and a step takes `overhead` and so
 * much a sequence; where the host prepares the next step while the machine works (`ahead`) only what is longer than the step.
 * Closed loop (`loop` N): N requests come at once, and another whenever one leaves; the list's own times do not count then.
 * Speculation: of `draft` tokens that are checked the first ones are right, each with a chance of `accept_ppm` if those before it
 * were; they and one more are produced. Draws belong to (seed, request, step of it), so a greater chance accepts at least as many in
 * every step of every request.
 *
 * Pure: time and energy of a step are asked of `cost`; nothing is read, written or printed. Time is integer ps.
 * Invariants: I1 blocks in use never exceed the capacity; I2 every token of every output is produced once; I3 while a sequence decodes its cache holds its
 * prompt and all but the newest of its tokens; I4 the time-integral of requests in the system is the sum of their times in
 * it (Little's law), and where nobody gives up blocks that of those that wait the sum of their times in the queue.
 * Priorities: of who waits the one of the least number is let in first, and of equals who came first; blocks are given up by the one of the
 * greatest number, of equals who was let in last, and whoever gave them up waits among the others by its number (as vLLM's priority
 * scheduling has both). Clients that leave (arrival.gives_up) are noticed between steps: what they have is free then.
 * Leaves out: answers as a part of later prompts, the time to pick tokens from logits. Several machines are sched_pool.h's. */
#ifndef NPUSIM_SIM_SERVE_SCHED_H
#define NPUSIM_SIM_SERVE_SCHED_H

#include <stdbool.h>

#include "sim/serve/arrive.h"

#define SCHED_BATCH 65536
#define SCHED_DRAFT 64

__extension__ typedef unsigned __int128 sched_u128;

enum sched_preempt { SCHED_RECOMPUTE, SCHED_SWAP };

/* What of a request is this machine's: a pool's of several that prefill and decode apart (sched_pool.h). */
enum sched_part { SCHED_WHOLE, SCHED_FILLS, SCHED_DECODES };

struct sched_policy {
	enum sched_part part;
	bool stops;          /* no step runs while a cache moves */
	uint32_t max_batch;  /* sequences at a time */
	uint32_t max_tokens; /* rows of a step; at least max_batch * (1 + draft) */
	uint32_t chunk;      /* of them, prompts' beside what decodes; 0: prompts whole */
	uint32_t block;
	uint64_t blocks;
	bool reserve_all;
	enum sched_preempt preempt;
	uint64_t block_bytes, swap_rate; /* bytes a second, either way */
	ps_t overhead, sequence;    /* of each step: what the host does between two, and of that for each sequence */
	bool ahead;                 /* it does so while the machine works */
	ps_t request, prompt_token; /* from a request's arrival until the scheduler has it */
	bool prefix;                /* blocks that were given up are found again */
	uint32_t loop;              /* requests at a time; 0: they come when the list says */
	uint32_t draft, accept_ppm;
	uint64_t seed;
};

/* A piece of a prompt: `tokens` behind `context` that are cached. */
struct sched_piece {
	uint32_t tokens, context;
};

struct sched_step {
	uint32_t seqs;        /* that decode */
	uint64_t context_sum; /* their cached tokens */
	const struct sched_piece *pieces;
	uint32_t n_pieces;
	uint64_t prompt_tokens; /* of all pieces */
};

struct sched_cost {
	ps_t time;
	uint64_t energy_fj;
};
typedef int sched_cost_fn(void *ctx, const struct sched_step *s, struct sched_cost *out, struct err *e);

/* What became of a request. */
struct sched_request {
	ps_t at;                 /* it came */
	ps_t begun, first, last; /* its first step's start; the ends of the steps of its first and last token */
	uint32_t preempted;
	uint32_t steps; /* in which it decoded */
	bool gone;      /* its client left before its last token, which `last` is the time of then */
};

/* A step after it is done. */
struct sched_tick {
	ps_t start, time; /* with the host's part */
	uint32_t seqs, n_pieces, running, waiting;
	uint64_t prompt_tokens, made, blocks;
	uint32_t pool, machine; /* that did it (sched_pool.h) */
};
typedef void sched_seen_fn(void *ctx, const struct sched_step *s, const struct sched_tick *t);

struct sched_result {
	struct sched_request *v; /* as the arrivals */
	size_t n;
	ps_t end, busy,
		worked; /* of the last step; time in steps with the host's part and moves; of that, the machine's */
	uint64_t steps, decode_steps, prompt_steps, mixed_steps;
	uint64_t made, checked, accepted;   /* tokens produced; drafted ones looked at, and right */
	uint64_t prompt_tokens, recomputed; /* computed as prompts; of them again */
	uint64_t found;                     /* of prompts, in blocks that were given up */
	uint64_t shared, evicted;           /* of prompts, in pages that others computed; in pages that were taken */
	uint64_t pages_peak;                /* that were there at a time */
	uint64_t preemptions, swapped_bytes;
	uint64_t blocks_peak, gone; /* gone: requests whose clients left */
	uint32_t batch_peak;
	sched_u128 in_system, waiting, running, blocks_ps,
		seqs_sum; /* time-integrals: requests, requests, requests, blocks; of steps */
	sched_u128 energy_fj;
	uint64_t *gaps; /* between tokens of a request: how many lie in each class (sched_gap) */
};

/* Classes of times, each at most a 512th wide: its least, and the class of a time. */
#define SCHED_GAPS (64 << 9)
ps_t sched_gap(uint32_t class);
uint32_t sched_gap_class(ps_t t);

/* Whether the policy can be, and whether each request can be served at all by it: alone it must fit. ERR_USAGE for a policy, ERR_IO with
 * `file` (NULL: drawn) and the line for a request. `context`: what the model takes; 0: any. */
int sched_check(const struct sched_policy *p, const struct arrivals *a, uint32_t context, const char *file,
                struct err *e);
/* `seen` may be NULL. The result is freed by sched_free whether this fails or not. */
int sched_run(const struct sched_policy *p, const struct arrivals *a, sched_cost_fn *cost, sched_seen_fn *seen,
              void *ctx, struct sched_result *out, struct err *e);
void sched_free(struct sched_result *r);

#endif
