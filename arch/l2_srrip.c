/* l2_srrip.c - static re-reference interval prediction: a chunk comes in as "long". A stream that is not used again
 * passes through without pushing out what is. */
#include "arch/l2_rrip.h"

static uint32_t replace(uint8_t *state, uint32_t ways, struct l2_use *u)
{
	uint32_t way = l2_rrip_victim(state, ways);

	(void)u;
	state[way] = RRIP_LONG;
	return way;
}

const struct l2_policy_ops l2_srrip = {
	"srrip", l2_rrip_state_bytes, l2_rrip_init, l2_rrip_hit, replace, l2_rrip_drop
};
