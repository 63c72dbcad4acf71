/* l2_seen.h - which lines were asked for not long ago: what `l2.policy: stream_bypass` decides by.
 *
 * A direct-mapped table of chunk numbers and masks of their lines, as large as the cache in chunks: what was read once
 * and comes again before about a cache's worth of other such lines is used again and worth keeping; what does not is a
 * stream. It holds no data. The idea is that of a bypass by reuse history (Tyson et al., MICRO 1995; Johnson et al.,
 * ISCA 1997), by address instead of by instruction; our choice in size and form. */
#ifndef NPUSIM_ARCH_L2_SEEN_H
#define NPUSIM_ARCH_L2_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/err.h"

struct l2_seen;

struct l2_seen *l2_seen_new(uint64_t chunks, struct err *e);
void l2_seen_free(struct l2_seen *s);
void l2_seen_reset(struct l2_seen *s);
bool l2_seen_any(const struct l2_seen *s, uint64_t chunk, uint32_t mask);  /* asks; changes nothing */
void l2_seen_note(struct l2_seen *s, uint64_t chunk, uint32_t mask);

#endif
