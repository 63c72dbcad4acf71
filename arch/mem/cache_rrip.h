/* cache_rrip.h - what the policies of re-reference interval prediction share (Jaleel et al., ISCA 2010), with 2 bits.
 *
 * A chunk is expected to be used again soon (near), later (long) or not at all (distant). The first distant one goes;
 * where there is none, all age together until there is one. A use makes a chunk near ("hit priority"). The policies
 * differ in what a chunk comes in as. Here a use counts only if a line asked for was there: a tile that reads the next
 * lines of a chunk it has just brought in is no second use. */
#ifndef NPUSIM_ARCH_MEM_CACHE_RRIP_H
#define NPUSIM_ARCH_MEM_CACHE_RRIP_H

#include "arch/mem/cache_policy.h"

enum { RRIP_NEAR = 0, RRIP_LONG = 2, RRIP_DISTANT = 3, RRIP_EMPTY = 4 };

/* Where others come in distant, one in so many is long: the paper's epsilon. Which one, a hash of their number says: were
 * it each 32nd, a stream that passes the sets in order would bring it to the same sets over and over. */
#define RRIP_RARE 32

size_t cache_rrip_state_bytes(uint32_t ways);
void cache_rrip_init(uint8_t *state, uint32_t ways);
void cache_rrip_hit(uint8_t *state, uint32_t ways, uint32_t way, struct cache_use *u);
void cache_rrip_drop(uint8_t *state, uint32_t ways, uint32_t way);
uint32_t cache_rrip_victim(uint8_t *state, uint32_t ways); /* the way that goes; the caller says as what */
uint8_t cache_rrip_rarely_long(struct cache_use *u);       /* distant, but one in RRIP_RARE long */

#endif
