/* cache_seen.h - which lines were asked for not long ago: what `l2.policy: stream_bypass` decides by.
 *
 * A direct-mapped table of chunk numbers and masks of their lines, as large as the cache in chunks: what was read once
 * and comes again before about a cache's worth of other such lines is used again and worth keeping; what does not is a
 * stream. It holds no data. The idea is that of a bypass by reuse history (Tyson et al., MICRO 1995; Johnson et al.,
 * ISCA 1997), by address instead of by instruction; our choice in size and form. */
#ifndef NPUSIM_ARCH_MEM_CACHE_SEEN_H
#define NPUSIM_ARCH_MEM_CACHE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct cache_seen;

struct cache_seen *cache_seen_new(uint64_t chunks, struct err *e);
void cache_seen_free(struct cache_seen *s);
void cache_seen_reset(struct cache_seen *s);
bool cache_seen_any(const struct cache_seen *s, uint64_t chunk, uint64_t mask); /* asks; changes nothing */
void cache_seen_note(struct cache_seen *s, uint64_t chunk, uint64_t mask);

#endif
