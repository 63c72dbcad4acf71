/* cache_lru.c - least recently used: a list through the ways of a set, most recent first. Empty ways are its tail. */
#include "arch/mem/cache_policy.h"

/* state: before[ways], after[ways], first, last */
static size_t state_bytes(uint32_t ways)
{
	return 2 * (size_t)ways + 2;
}

static void init(uint8_t *state, uint32_t ways)
{
	for (uint32_t i = 0; i < ways; i++) {
		state[i] = (uint8_t)(i - 1);
		state[ways + i] = (uint8_t)(i + 1);
	}
	state[2 * ways] = 0;
	state[2 * ways + 1] = (uint8_t)(ways - 1);
}

static void hit(uint8_t *state, uint32_t ways, uint32_t way, const struct cache_use *u)
{
	uint8_t *before = state, *after = state + ways, *first = state + 2 * ways, *last = first + 1;

	(void)u;
	if (*first == way)
		return;
	if (*last == way)
		*last = before[way];
	else
		before[after[way]] = before[way];
	after[before[way]] = after[way];
	after[way] = *first;
	before[*first] = (uint8_t)way;
	*first = (uint8_t)way;
}

static uint32_t replace(uint8_t *state, uint32_t ways, struct cache_use *u)
{
	uint32_t way = state[2 * ways + 1];

	hit(state, ways, way, u);
	return way;
}

static void drop(uint8_t *state, uint32_t ways, uint32_t way)
{
	uint8_t *before = state, *after = state + ways, *first = state + 2 * ways, *last = first + 1;

	if (*last == way)
		return;
	if (*first == way)
		*first = after[way];
	else
		after[before[way]] = after[way];
	before[after[way]] = before[way];
	before[way] = *last;
	after[*last] = (uint8_t)way;
	*last = (uint8_t)way;
}

const struct cache_policy_ops cache_lru = { "lru", state_bytes, init, hit, replace, drop };
