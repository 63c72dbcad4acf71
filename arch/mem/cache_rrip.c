#include "arch/mem/cache_rrip.h"

#include <string.h>

#include "sim/base/hash.h"

size_t cache_rrip_state_bytes(uint32_t ways)
{
	return ways;
}

void cache_rrip_init(uint8_t *state, uint32_t ways)
{
	memset(state, RRIP_EMPTY, ways);
}

void cache_rrip_hit(uint8_t *state, uint32_t ways, uint32_t way, struct cache_use *u)
{
	(void)ways;
	if (u->reused)
		state[way] = RRIP_NEAR;
}

void cache_rrip_drop(uint8_t *state, uint32_t ways, uint32_t way)
{
	(void)ways;
	state[way] = RRIP_EMPTY;
}

uint32_t cache_rrip_victim(uint8_t *state, uint32_t ways)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < ways; i++)
		if (state[i] > state[best])
			best = i;
	if (state[best] < RRIP_DISTANT) {
		uint8_t older = (uint8_t)(RRIP_DISTANT - state[best]);

		for (uint32_t i = 0; i < ways; i++)
			state[i] = (uint8_t)(state[i] + older);
	}
	return best;
}

uint8_t cache_rrip_rarely_long(struct cache_use *u)
{
	return hash_mix(u->rare++) % RRIP_RARE == 0 ? RRIP_LONG : RRIP_DISTANT;
}
