/* cache_tags.h - the tag store of a cache: sets of ways, each with a chunk of up to 64 sectors, and which are there.
 *
 * A set is a line of signatures and policy state; its chunks lie way by way, the first of all sets, then the second of
 * all. A lookup touches two cache lines of the host. Neighbouring chunks lie in neighbouring sets and mostly in one way,
 * so a walk over a tile is a walk through memory, and of a cache that is nearly empty little of it.
 *
 * With `hash` a chunk's set is moved by a hash of its tag, folded by xor: power-of-two strides, which meet the same few
 * sets over and over, spread over all. Within a tag neighbours stay neighbours, so it works for any number of sets (an
 * index made by xor alone needs a power of two) and walks stay walks.
 * With `kv_ways` the first ways of a set take in KV and nothing else, and the others no KV. Each part has a policy's
 * state of its own; looking up sees all ways. `pin_ways` more are filled by the first weights that come and keep them for
 * good; weights that find them full share the rest.
 * With `share` n the store is one of n, and each chunk is in one of them. Then n neighbouring chunks have the same set
 * here, so every set has work, and what a stream pushes out is equally old in all sets.
 * A store that holds nothing is all zeroes, and a set is made when the first chunk comes into it: a large cache costs the
 * host what is touched of it (sim/base/pages.h). So tags are kept plus one, as a place has them, and 0 is none.
 * Of every 64 neighbouring sets and every tag it is known how many chunks are here (several share a count, by hash; with
 * share 1): where that is none, a stream over new bytes comes in without its sets being searched, and a question about them
 * is answered.
 * Invariants: I1 a chunk is in at most one way; I2 where there are KV ways, a chunk brought in by KV is in one, and any
 * other is not; I3 what is pinned stays until the reset; I4 a count is never less than the chunks it stands for. */
#ifndef NPUSIM_ARCH_MEM_CACHE_TAGS_H
#define NPUSIM_ARCH_MEM_CACHE_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/mem/cache_policy.h"
#include "sim/base/err.h"

/* tag: 0 for none. valid, dirty: bit i is sector i of the chunk. `fill` and `copy` are the owner's: which fill may still be
 * bringing some, and whether its home is another store. */
struct cache_chunk {
	uint64_t tag;
	uint64_t valid, dirty;
	uint32_t fill;
	bool copy;
};

/* Where a chunk belongs, and a guess at its way: the one its neighbour was in. `skew` is the set the tag begins at. */
struct cache_place {
	uint64_t set, tag, skew;
	uint32_t way;
};

struct cache_tags_cfg {
	uint64_t sets;
	uint32_t ways, kv_ways, pin_ways;
	bool hash;
	const struct cache_policy_ops *policy;
	uint32_t share;      /* of so many neighbours one lives here; 0 or 1: all do */
	uint32_t stands_for; /* sets of a larger cache, each of these; 0: itself */
};

struct cache_tags;

struct cache_tags *cache_tags_new(const struct cache_tags_cfg *cfg, struct err *e);
void cache_tags_free(struct cache_tags *t);
/* With `hash`, how far the sets of a tag's chunks are moved: the set its first chunk lies in. */
uint64_t cache_tags_skew(uint64_t tag, uint64_t sets);
void cache_tags_reset(struct cache_tags *t);
struct cache_place cache_tags_place(const struct cache_tags *t, uint64_t chunk);
/* Of the next; where neighbours share a set, of the first of the next ones, from the first of some. */
void cache_tags_next(const struct cache_tags *t, struct cache_place *p);
uint64_t cache_tags_number(const struct cache_tags *t, uint64_t set,
                           uint64_t tag); /* of the chunk that has such a place */
/* NULL when absent; changes nothing. */
struct cache_chunk *cache_tags_peek(const struct cache_tags *t, struct cache_place p);
/* The same for a walk: tries the guess first, and leaves where it is as the next one's. */
const struct cache_chunk *cache_tags_look(const struct cache_tags *t, struct cache_place *p);
/* Asks the host for what the set a few further on will need: a walk over a tile waits for memory otherwise. */
void cache_tags_ahead(const struct cache_tags *t, const struct cache_place *p);
/* The same, and counts as a use of those lines. */
struct cache_chunk *cache_tags_hit(struct cache_tags *t, struct cache_place *p, uint64_t mask);
/* Whether that would be pinned if it came in now. */
bool cache_tags_pins(const struct cache_tags *t, struct cache_place p, uint8_t cls);
/* Makes room for an absent chunk of class `cls` (enum mem_class): the entry, without lines. What was there is in *old. */
struct cache_chunk *cache_tags_insert(struct cache_tags *t, struct cache_place *p, uint8_t cls,
                                      struct cache_chunk *old);
/* What a stream pushed out: sectors that were clean, and a chunk that was not, if old.dirty. */
struct cache_pushed {
	uint64_t sectors;
	struct cache_chunk old;
	uint64_t old_set;
};

/* The same for chunks one after the other, all of them as *as is, from *p on, which goes behind them: at most n, until one
 * is there already, or after the first that pushes out dirty sectors. Returns how many came, with share 1. */
uint64_t cache_tags_stream(struct cache_tags *t, struct cache_place *p, uint64_t n, uint8_t cls,
                           const struct cache_chunk *as, struct cache_pushed *out);
/* Fills that may still bring some of what is here: one that is waited for, one that is over, and one met of which neither
 * is known; 0: none. */
struct cache_fills {
	uint32_t waited, over, met;
};

/* Uses of chunks one after the other from *p on, which goes behind them: at most n, until one lacks some of `mask` or may
 * wait for f->met. Returns how many were used. With share 1. */
uint64_t cache_tags_reuse(struct cache_tags *t, struct cache_place *p, uint64_t n, uint64_t mask,
                          struct cache_fills *f);
/* How many of at most n chunks, before the first that is there, are absent; *p goes behind them. With share 1. */
uint64_t cache_tags_absent(const struct cache_tags *t, struct cache_place *p, uint64_t n);
void cache_tags_drop(struct cache_tags *t, struct cache_place p); /* a chunk that is there is no more */

#endif
