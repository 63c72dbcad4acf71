/* cache_lru.c - least recently used: a ring through the ways of a set, most recent first, so that what goes next is the
 * one before the first, and a set that takes in one chunk after the other only turns its ring. Empty ways are its end. */
#include "arch/mem/cache_lru.h"

/* state: before[ways], after[ways], first */
static size_t state_bytes(uint32_t ways)
{
	return 2 * (size_t)ways + 1;
}

static void init(uint8_t *state, uint32_t ways)
{
	for (uint32_t i = 0; i < ways; i++) {
		state[i] = (uint8_t)(i ? i - 1 : ways - 1);
		state[ways + i] = (uint8_t)(i + 1 < ways ? i + 1 : 0);
	}
	state[2 * ways] = 0;
}

static void hit(uint8_t *state, uint32_t ways, uint32_t way, struct cache_use *u)
{
	(void)u;
	cache_lru_use(state, ways, way);
}

static uint32_t replace(uint8_t *state, uint32_t ways, struct cache_use *u)
{
	(void)u;
	return cache_lru_turn(state, ways);
}

static void cache_lru_drop(uint8_t *state, uint32_t ways, uint32_t way)
{
	uint8_t *first = state + 2 * ways;

	if (state[*first] == way)
		return;
	if (*first == way)
		*first = state[ways + way];
	else
		cache_lru_to_seam(state, ways, way);
}

const struct cache_policy_ops cache_lru = { "lru", state_bytes, init, hit, replace, cache_lru_drop };

double cache_lost(double between, double capacity, uint32_t ways)
{
	const double lines = (between - capacity) * ways / capacity, over = lines + CACHE_UNEVEN;
	double part = lines;

	if (over <= 0)
		return 0;
	if (lines < CACHE_UNEVEN)
		part = over * over / (4 * CACHE_UNEVEN);
	return part < 1 ? part : 1;
}
