/* l2_policy.h - which chunk of a set goes. A policy is a small file with one of these, and some bytes a set. */
#ifndef NPUSIM_ARCH_L2_POLICY_H
#define NPUSIM_ARCH_L2_POLICY_H

#include <stddef.h>
#include <stdint.h>

#define L2_WAYS_MAX 64

struct l2_policy_ops {
	const char *name;
	size_t (*state_bytes)(uint32_t ways);
	void (*init)(uint8_t *state, uint32_t ways);                 /* all ways are empty */
	void (*hit)(uint8_t *state, uint32_t ways, uint32_t way);
	uint32_t (*replace)(uint8_t *state, uint32_t ways);          /* the way that goes; counts as just filled */
};

extern const struct l2_policy_ops l2_lru, l2_srrip;

#endif
