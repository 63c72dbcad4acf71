/* analytic_residency.h - which bytes a memory level holds, by blocks of its chunks: a cache in closed form.
 *
 * Models: capacity in chunks (what the event model's tags count), dirty chunks, and reuse distance: the block used
 * longest ago goes first, its lowest chunks first, as a stream that came that way would lose them. Sets are those of the
 * event model, a block's worth of neighbours taken as one: so what shares sets pushes each other out, and a working set
 * about the size of the level is partly lost, as there. A level that keeps (`ways` 0: the KV buffer) takes in what fits and
 * never gives it up. What an L2 keeps under another policy than lru, analytic_sample.h tells.
 * Leaves out: conflicts within a block; sectors of a chunk (one byte of it here is all of it here).
 * A block is one to 64 chunks, about a 64th of the level. Neighbouring sets that hold the same blocks of a tag in the same order are
 * followed as one, so a stream costs the host what differs among sets, and not each block that it passes; the answer is that of one
 * block after the other (t_analytic).
 * Invariant: I1 chunks held <= capacity, always. */
#ifndef NPUSIM_SIM_ENGINE_ANALYTIC_RESIDENCY_H
#define NPUSIM_SIM_ENGINE_ANALYTIC_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct residency;

enum residency_use { RESIDENCY_READ, RESIDENCY_WRITE, RESIDENCY_PASS }; /* pass: a read that leaves nothing behind */

struct residency_found {
	uint64_t hit;     /* bytes that were here */
	uint64_t kept;    /* bytes that are here now */
	uint64_t evicted; /* dirty bytes that had to go */
};

/* Addresses lie below `end`; `hash`: sets are found by a hash too (arch/mem/cache_tags.h). */
struct residency *residency_new(uint64_t capacity, uint64_t chunk, uint32_t ways, bool hash, uint64_t end,
                                struct err *e);
void residency_free(struct residency *r);
/* Holds nothing again; costs what was held. */
void residency_clear(struct residency *r);
struct residency_found residency_touch(struct residency *r, uint64_t addr, uint64_t bytes, enum residency_use use);
uint64_t residency_here(const struct residency *r, uint64_t addr, uint64_t bytes); /* bytes; changes nothing */
void residency_drop(struct residency *r, uint64_t addr, uint64_t bytes); /* whole chunks that lie in the range leave */
uint64_t residency_capacity(const struct residency *r);                  /* bytes */
uint64_t residency_dirty(const struct residency *r);                     /* bytes */
uint64_t residency_bytes(const struct residency *r);

#endif
