/* cache_kv_aware.c - re-reference interval prediction that knows what the bytes are, as a compiler can tell the
 * hardware: KV and activations come in as "near" (they are read again within a step or two), weights as "distant" (a
 * decode step reads each once), but one in 32 as "long", so that what is near and dead still ages; the rest, small
 * tables, as "long". Any chunk used again is near.
 *
 * The ordering is RRIP's (Jaleel et al., ISCA 2010); inserting by class is our choice, after the profile report's
 * recommendation to keep KV and activations on chip while weights stream. */
#include "arch/comp.h"
#include "arch/mem/cache_rrip.h"

static uint32_t replace(uint8_t *state, uint32_t ways, struct cache_use *u)
{
	uint32_t way = cache_rrip_victim(state, ways);

	if (u->cls == MEM_KV || u->cls == MEM_ACTIVATION)
		state[way] = RRIP_NEAR;
	else
		state[way] = u->cls == MEM_WEIGHT ? cache_rrip_rarely_long(u) : RRIP_LONG;
	return way;
}

const struct cache_policy_ops cache_kv_aware = {
	"kv_aware", cache_rrip_state_bytes, cache_rrip_init, cache_rrip_hit, replace, cache_rrip_drop,
};
