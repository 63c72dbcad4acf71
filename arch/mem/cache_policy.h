/* cache_policy.h - which chunk of a set goes. A policy is a small file with one of these, and some bytes a set.
 *
 * A policy sees one partition of a set at a time (all ways, or where `l2.kv_ways` splits a set, the one the chunk
 * belongs to), so partitions cannot disturb each other and no policy knows of them. */
#ifndef NPUSIM_ARCH_MEM_CACHE_POLICY_H
#define NPUSIM_ARCH_MEM_CACHE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_WAYS_MAX 64

/* What a policy may know of a use, and the counters all sets of a cache share. */
struct cache_use {
	uint64_t set, sets;          /* which, of how many there are */
	uint8_t cls;                 /* enum mem_class of the request */
	bool reused;                 /* a line asked for is here; else the chunk is, but with other lines only */
	int32_t weight;              /* of its set: 1, or the sets of a larger cache that it stands for */
	bool bimodal;                /* cache_drrip.c: the rule that followers follow */
	uint32_t asked[2], found[2]; /* cache_drrip.c: uses of the leaders of each rule, and those that hit */
	uint32_t rare;               /* cache_rrip.c: insertions counted, for "one in 32" */
};

struct cache_policy_ops {
	const char *name;
	size_t (*state_bytes)(uint32_t ways);
	void (*init)(uint8_t *state, uint32_t ways); /* all ways are empty */
	void (*hit)(uint8_t *state, uint32_t ways, uint32_t way, struct cache_use *u);
	uint32_t (*replace)(uint8_t *state, uint32_t ways, struct cache_use *u); /* the way that goes; as just filled */
	void (*drop)(uint8_t *state, uint32_t ways, uint32_t way);               /* the way is empty: it goes first */
};

/* X(ID, name, file): `l2.policy: name` is CACHE_ID, whose functions are `cache_<file>` of cache_<file>.c. What stream_bypass
 * does beside lru is in cache_seen.c. */
/* clang-format off */
#define CACHE_POLICIES(X) \
	X(LRU,           lru,           lru) \
	X(SRRIP,         srrip,         srrip) \
	X(DRRIP,         drrip,         drrip) \
	X(KV_AWARE,      kv_aware,      kv_aware) \
	X(STREAM_BYPASS, stream_bypass, lru)
/* clang-format on */

#define CACHE_POLICY_ID(id, name, file) CACHE_##id,
enum cache_policy { CACHE_POLICIES(CACHE_POLICY_ID) CACHE_POLICY_COUNT };
#undef CACHE_POLICY_ID

#define CACHE_POLICY_OPS(id, name, file) extern const struct cache_policy_ops cache_##file;
CACHE_POLICIES(CACHE_POLICY_OPS)
#undef CACHE_POLICY_OPS

#endif
