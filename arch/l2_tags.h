/* l2_tags.h - the tag store of the L2: sets of ways, each with a chunk of 32 lines, and which of them are there.
 *
 * A set is a line of signatures and policy state and a line or more of chunks; a lookup touches two cache lines of the
 * host. Neighbouring chunks lie in neighbouring sets, so a walk over a tile is a walk through memory.
 *
 * With `hash` a chunk's set is moved by a hash of its tag, folded by xor: power-of-two strides, which meet the same few
 * sets over and over, spread over all. Within a tag neighbours stay neighbours, so it works for any number of sets (an
 * index made by xor alone needs a power of two) and walks stay walks. With `kv_ways` the first ways of a set take in
 * KV and nothing else, and the others no KV: each part has a policy's state of its own; looking up sees all ways.
 * Invariants: I1 a chunk is in at most one way; I2 a chunk brought in by KV is in a KV way, any other is not. */
#ifndef NPUSIM_ARCH_L2_TAGS_H
#define NPUSIM_ARCH_L2_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/l2_policy.h"
#include "sim/err.h"

#define L2_CHUNK_LINES 32

/* valid, dirty: bit i is line i of the chunk. `fill` is the owner's: which fill may still be bringing lines. */
struct l2_chunk { uint64_t tag; uint32_t valid, dirty, fill; };

/* Where a chunk belongs, and a guess at its way: the one its neighbour was in. `skew` is the set the tag begins at. */
struct l2_place { uint64_t set, tag, skew; uint32_t way; };

struct l2_tags_cfg { uint64_t sets; uint32_t ways, kv_ways; bool hash; const struct l2_policy_ops *policy; };

struct l2_tags;

struct l2_tags *l2_tags_new(const struct l2_tags_cfg *cfg, struct err *e);
void l2_tags_free(struct l2_tags *t);
void l2_tags_reset(struct l2_tags *t);
struct l2_place l2_tags_place(const struct l2_tags *t, uint64_t chunk);
void l2_tags_next(const struct l2_tags *t, struct l2_place *p);      /* of the next chunk */
struct l2_chunk *l2_tags_peek(const struct l2_tags *t, struct l2_place p); /* NULL when absent; changes nothing */
/* The same, and counts as a use of those lines. */
struct l2_chunk *l2_tags_hit(struct l2_tags *t, struct l2_place *p, uint32_t mask);
/* Makes room for an absent chunk of class `cls` (enum mem_class): the entry, without lines. What was there is in *old
 * (tag, masks) and its number in *old_chunk, if old->valid. */
struct l2_chunk *l2_tags_insert(struct l2_tags *t, struct l2_place *p, uint8_t cls, struct l2_chunk *old,
                                uint64_t *old_chunk);
void l2_tags_drop(struct l2_tags *t, struct l2_place p);             /* a chunk that is there is no more */

#endif
