/* cache_drrip.c - dynamic re-reference interval prediction (Jaleel et al., ISCA 2010): the static rule, or the bimodal
 * one under which nearly everything comes in as "distant", so that a part of a working set larger than the cache
 * stays.
 *
 * Which of them is better is found by set dueling (Qureshi et al., ISCA 2007): one set in 32 always follows the one
 * rule, one in 32 the other; a counter of 10 bits goes up with each chunk the first ones bring in and down with each
 * of the second ones, and all other sets follow the rule that misses less. A cache of one set is a leader of the
 * static rule. The counters are integers and a set's part depends on its number alone, so runs repeat to the bit. */
#include "arch/mem/cache_rrip.h"

#define PERIOD   32
#define DUEL_MAX 511 /* and as far below 0: 10 bits */

enum part { STATIC, BIMODAL, FOLLOWS };

/* Leaders lie on a diagonal: tiles that start every 32 sets must not meet the same kind of leader each time. */
static enum part cache_drrip_part_of(uint64_t set)
{
	uint64_t n = (set + set / PERIOD) % PERIOD;

	return n == 0 ? STATIC : n == 1 ? BIMODAL : FOLLOWS;
}

static uint32_t replace(uint8_t *state, uint32_t ways, struct cache_use *u)
{
	uint32_t way = cache_rrip_victim(state, ways);
	enum part part = cache_drrip_part_of(u->set);

	if (part == STATIC)
		u->duel = u->duel + u->weight < DUEL_MAX ? u->duel + u->weight : DUEL_MAX;
	else if (part == BIMODAL)
		u->duel = u->duel - u->weight > -DUEL_MAX ? u->duel - u->weight : -DUEL_MAX;
	if (part == FOLLOWS)
		part = u->duel > 0 ? BIMODAL : STATIC;
	state[way] = part == BIMODAL ? cache_rrip_rarely_long(u) : RRIP_LONG;
	return way;
}

const struct cache_policy_ops cache_drrip = { "drrip", cache_rrip_state_bytes, cache_rrip_init, cache_rrip_hit,
	                                      replace, cache_rrip_drop };
