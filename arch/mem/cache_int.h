/* cache_int.h - what the files of a cache share: cache.c is the block, cache_walk.c what a request does to the tags. */
#ifndef NPUSIM_ARCH_MEM_CACHE_INT_H
#define NPUSIM_ARCH_MEM_CACHE_INT_H

#include "arch/mem/cache.h"
#include "arch/mem/cache_seen.h"
#include "arch/mem/cache_tags.h"
#include "arch/mem/memq.h"
#include "arch/mem/memslot.h"

#define CACHE_STATS 21

struct cache {
	struct comp comp;
	struct cache_cfg k;
	struct cache_tags *tags[CACHE_PARTITIONS_MAX];
	struct cache_tags *victim; /* NULL without */
	struct cache_seen *seen;   /* stream_bypass; else NULL */
	struct memslots *slots;
	struct memq *down;
	struct memq_wait wait;
	struct memslot *parked; /* its walk waits for a request to the level below */
	struct memq_sub *post;  /* write-backs being gathered */
	/* Eager write-back: chunks in the order in which they became dirty, and how much had come in by then. */
	struct cache_aged {
		uint64_t chunk, at;
	} * aged;
	uint64_t aged_first, aged_n, aged_room, came;
	unsigned shift;     /* log2 of a sector's bytes */
	uint32_t per_chunk; /* sectors of a chunk: 32 or 64 */
	uint64_t full;      /* mask of them all */
	uint64_t read_bytes, write_bytes, hit_bytes, miss_bytes, fill_bytes, writeback_bytes, through_bytes;
	uint64_t evicted_bytes, dirty_bytes, dropped_bytes, victim_hit_bytes, bypassed_bytes, resident_bytes;
	uint64_t eager_bytes, requests, refusals, busy_ps, copy_bytes, copy_hit_bytes, far_bytes;
	char stat_name[CACHE_STATS][32];
};

static inline uint64_t cache_first(const struct cache *l, uint64_t addr)
{
	return addr >> l->shift;
}

/* One past the last sector of a run. */
static inline uint64_t cache_end(const struct cache *l, const struct mem_run *r)
{
	return r->bytes ? ((r->addr + r->bytes - 1) >> l->shift) + 1 : r->addr >> l->shift;
}

/* Bytes of the sectors in a mask; nearly every one is empty or full. */
static inline uint64_t cache_bytes(const struct cache *l, uint64_t mask)
{
	uint32_t n = mask == l->full ? l->per_chunk : mask ? (uint32_t)__builtin_popcountll(mask) : 0;

	return (uint64_t)n << l->shift;
}

/* What of a chunk is in the cache, copies and its victim cache included; changes nothing. */
uint64_t cache_here(const struct cache *l, uint64_t chunk);
/* Goes on with a request's walk; parks it where the level below can take no more. */
void cache_walk(struct cache *l, struct memslot *s);

#endif
