/* cache_lru.h - what streams do to a set under lru (cache_lru.c has the policy), for loops that do nothing else. */
#ifndef NPUSIM_ARCH_MEM_CACHE_LRU_H
#define NPUSIM_ARCH_MEM_CACHE_LRU_H

#include "arch/mem/cache_policy.h"

static inline uint32_t cache_lru_last(const uint8_t *state, uint32_t ways)
{
	return state[state[2 * ways]];
}

/* The last of the ring is its first from now on: cache_lru's `replace`. */
static inline uint32_t cache_lru_turn(uint8_t *state, uint32_t ways)
{
	return state[2 * ways] = (uint8_t)cache_lru_last(state, ways);
}

/* Out of the ring, and in again between its last and its first; it is neither. */
static inline void cache_lru_to_seam(uint8_t *state, uint32_t ways, uint32_t way)
{
	uint8_t *before = state, *after = state + ways, first = state[2 * ways], last = before[first];

	before[after[way]] = before[way];
	after[before[way]] = after[way];
	before[way] = last;
	after[way] = first;
	after[last] = (uint8_t)way;
	before[first] = (uint8_t)way;
}

/* cache_lru's `hit`. */
static inline void cache_lru_use(uint8_t *state, uint32_t ways, uint32_t way)
{
	uint8_t *first = state + 2 * ways;

	if (*first == way)
		return;
	if (state[*first] != way)
		cache_lru_to_seam(state, ways, way);
	*first = (uint8_t)way;
}

#endif
