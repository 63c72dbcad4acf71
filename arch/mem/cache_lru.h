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

/* Of `between` distinct bytes that pass a cache of LRU sets in turn, the part that is gone before it is asked for again, 0 to 1.
 * A set that more lines pass than it has ways loses all of them. Operands begin and end anywhere in a set's turn, so sets
 * are not all as full: as if by up to CACHE_UNEVEN lines more or fewer, each number as likely. Never less for more bytes.
 * Events, 8.3 MB of three operands in turn, sets hashed or not, of 16 ways: 1.06 of the capacity loses 0.75, 1.025 0.53, 0.99
 * 0.26 to 0.34, 0.96 0.1 to 0.2, 0.94 0.05, 0.9 nothing; the formula 0.99, 0.60, 0.32, 0.12, 0.05 and 0. */
#define CACHE_UNEVEN 1.5
double cache_lost(double between, double capacity, uint32_t ways);

#endif
