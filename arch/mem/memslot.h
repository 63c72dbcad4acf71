/* memslot.h - what a memory level holds: requests it took and has not answered; no block itself (used by cache.c, kv.c).
 *
 * Its banks serve one request at a time, at a rate: what is more urgent first, also before what is under way, which gives way and
 * goes on later; else as they came. So fetching ahead costs nobody the banks' time.
 * A request is walked chunk by chunk; what is not on chip is asked for from the level below (memq.h). It is answered
 * when it is walked to its end, all it asked for has come, and every fill of another request that it found under way,
 * and that may hold bytes of its own, is complete too. So nothing is answered before its bytes can have arrived.
 * Invariants: I1 one reply for each request taken; I2 a request waits for fills of older ones only, so waiting ends; I3 the banks
 * do no more than their rate. */
#ifndef NPUSIM_ARCH_MEM_MEMSLOT_H
#define NPUSIM_ARCH_MEM_MEMSLOT_H

#include "arch/comp.h"
#include "arch/mem/memq.h"

struct memslot {
	struct ev ev;         /* the reply leaves */
	struct mem_req *rq;   /* NULL: spare */
	ps_t start;           /* service begins */
	ps_t ready;           /* what is here has been read or written */
	ps_t span;            /* of service */
	ps_t late;            /* its answer takes so much longer than others */
	ps_t first;           /* the first byte came from the level below no earlier; PS_NEVER: none so far */
	uint64_t hit_below;   /* bytes found on chip there */
	uint32_t run;         /* where the walk stands: next run, ... */
	uint64_t line;        /* ... and its next line; UINT64_MAX: its first */
	struct memq_sub *ask; /* being filled with runs */
	uint32_t fill;        /* its id while it has bytes on the way; 0: none, nobody waits for it */
	uint32_t asked, deps; /* answers and other requests' fills it waits for */
	bool walked;
	uint32_t idx, generation;
	uint64_t *dep; /* bit i: waits for the fill of slot i */
	struct memslot *next;
};

struct memslots;

/* `freed` is called when a slot became spare, before its request is answered: refused senders may be retried. The banks served
 * it from..to, or gave way in between and began before. */
struct memslots *memslots_new(struct comp *self, uint32_t n, ps_t latency,
                              void (*freed)(struct comp *self, const struct mem_req *r, ps_t from, ps_t to),
                              struct err *e);
void memslots_free(struct memslots *m);
void memslots_reset(struct memslots *m);
bool memslots_room(const struct memslots *m);
uint32_t memslots_held(const struct memslots *m);
uint32_t memslots_filling(const struct memslots *m); /* requests with bytes on the way */

struct memslot *memslots_take(struct memslots *m, struct mem_req *r); /* there is room */
/* The banks serve it for `span`, from `at` on at the earliest: sets start and ready, its own and of what gives way. */
void memslots_serve(struct memslots *m, struct memslot *s, ps_t at, ps_t span);
void memslots_fill(struct memslots *m, struct memslot *s); /* it misses: gets its id, if it has none */
/* It found bytes of fill `id`: waits for it if it is under way; false: it is not, and the id means nothing more. */
bool memslots_depend(struct memslots *m, struct memslot *s, uint32_t id);
void memslots_asked(struct memslot *s); /* one more answer to come */
/* An answer: its stamps go to the request. */
void memslots_answered(struct memslots *m, struct memslot *s, const struct memq_sub *sub);
void memslots_walked(struct memslots *m, struct memslot *s);

#endif
