/* l2.h - the shared level-2 cache, set-associative and write-back, tracked in chunks of 32 lines.
 *
 * Models: capacity, ways, line, sets (a chunk of 32 consecutive lines sits in 32 consecutive sets, which behave alike
 * when tiles cover whole chunks, so one tag with a 32-bit valid and a 32-bit dirty mask stands for them exactly;
 * partly used chunks are the approximation), bank bandwidth, hit latency, miss handling (outstanding misses, requests
 * that find bytes still on the way wait for them), write-allocate without fetch (writes carry byte masks), write-back
 * of dirty lines.
 * Policies: lru; srrip and drrip (l2_srrip.c, l2_drrip.c: streams do not push out what is used again); kv_aware
 * (l2_kv_aware.c: inserts by what the bytes are); stream_bypass (lru, and weights that were not asked for before within
 * about a cache's worth of weights are passed on without being kept: l2_seen.h). `kv_ways` splits every set between KV
 * and the rest; `hash` spreads strides over the sets (l2_tags.h).
 * Victim cache (Jouppi, ISCA 1990): `victim` bytes hold the chunks evicted last, with 64 ways or, if it is no larger
 * than that, fully associative, lru. A chunk found there goes back into the L2 with its dirty lines, and the one it
 * pushes out takes its place: a chunk is in one of them. Its sets are found as the L2's are (`hash`). Looking there
 * costs no time beyond the L2's own latency and moves cost no bandwidth: it stands in the shadow of the tag check. What
 * is dirty leaves later than without it and beside other reads, which DRAM may like less.
 * Leaves out: sectors smaller than a line, bank conflicts within a tile, the fills' own bandwidth, coherence,
 * compression.
 * Invariants, where "here" is the L2 and its victim cache: I1 asked bytes = hit + missed, in whole lines; I2 DRAM reads
 * = lines filled; I3 DRAM writes = dirty lines evicted from here; I4 no line is in two ways; I5 a refusal owes one
 * retry; I6 no answer before its bytes can be there.
 * The twin "l2_none" passes every request to DRAM: `l2.size: 0` selects it. */
#ifndef NPUSIM_ARCH_L2_H
#define NPUSIM_ARCH_L2_H

#include "sim/comp.h"

enum l2_policy { L2_LRU, L2_SRRIP, L2_DRRIP, L2_KV_AWARE, L2_STREAM_BYPASS };
enum l2_hash { L2_HASH_NONE, L2_HASH_XOR };

struct l2_cfg {
	uint64_t size;                       /* 0: absent */
	uint32_t ways;
	uint64_t line;
	uint32_t banks;
	uint64_t bank_width;                 /* bytes a cycle and bank */
	ps_t latency;                        /* door to door, paid once by hits and misses */
	ps_t miss_latency;                   /* added before a miss reaches DRAM's door */
	uint32_t mshrs;                      /* tile requests with misses outstanding */
	uint32_t policy, hash;
	uint32_t kv_ways;                    /* of each set, for KV alone; 0: all ways are everybody's */
	uint64_t victim;                     /* 0: none */
};

extern const struct cfg_field l2_schema[];
extern const struct comp_ops l2_ops, l2_none_ops;

int l2_cfg_check(const struct l2_cfg *c, struct err *e);
uint32_t l2_victim_ways(const struct l2_cfg *c);
uint64_t l2_bandwidth(const struct l2_cfg *c, uint64_t clock_khz);  /* bytes/s */

#endif
