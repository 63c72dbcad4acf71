/* l2_srrip.c - static re-reference interval prediction with 2 bits (Jaleel et al., ISCA 2010): a chunk comes in as
 * "long", a hit makes it "near-immediate", the first "distant" one goes; when there is none all age together. A stream
 * that is not used again passes through without pushing out what is. */
#include <string.h>

#include "arch/l2_policy.h"

enum { NEAR = 0, LONG = 2, DISTANT = 3, EMPTY = 4 };

static size_t state_bytes(uint32_t ways)
{
	return ways;
}

static void init(uint8_t *state, uint32_t ways)
{
	memset(state, EMPTY, ways);
}

static void hit(uint8_t *state, uint32_t ways, uint32_t way)
{
	(void)ways;
	state[way] = NEAR;
}

static uint32_t replace(uint8_t *state, uint32_t ways)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < ways; i++)
		if (state[i] > state[best])
			best = i;
	if (state[best] < DISTANT) {
		uint8_t older = (uint8_t)(DISTANT - state[best]);

		for (uint32_t i = 0; i < ways; i++)
			state[i] = (uint8_t)(state[i] + older);
	}
	state[best] = LONG;
	return best;
}

const struct l2_policy_ops l2_srrip = { "srrip", state_bytes, init, hit, replace };
