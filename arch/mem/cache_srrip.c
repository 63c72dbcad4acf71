/* cache_srrip.c - static re-reference interval prediction: a chunk comes in as "long". A stream that is not used again
 * passes through without pushing out what is. */
#include "arch/mem/cache_rrip.h"

static uint32_t replace(uint8_t *state, uint32_t ways, struct cache_use *u)
{
	uint32_t way = cache_rrip_victim(state, ways);

	(void)u;
	state[way] = RRIP_LONG;
	return way;
}

const struct cache_policy_ops cache_srrip = { "srrip", cache_rrip_state_bytes, cache_rrip_init, cache_rrip_hit,
	                                      replace, cache_rrip_drop };
