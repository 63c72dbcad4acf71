/* l2.h - the shared level-2 cache, set-associative and write-back, tracked in chunks of 32 lines.
 *
 * Models: capacity, ways, line, sets (a chunk of 32 consecutive lines sits in 32 consecutive sets, which behave alike
 * when tiles cover whole chunks, so one tag with a 32-bit valid and a 32-bit dirty mask stands for them exactly;
 * partly used chunks are the approximation), bank bandwidth, hit latency, miss handling (outstanding misses, requests
 * that find bytes still on the way wait for them), policies lru and srrip, write-allocate without fetch (writes carry
 * byte masks), write-back of dirty lines.
 * Leaves out: sectors smaller than a line, bank conflicts within a tile, the fills' own bandwidth, coherence,
 * compression.
 * Invariants: I1 asked bytes = hit + missed, in whole lines; I2 DRAM reads = lines filled; I3 DRAM writes = dirty lines
 * evicted; I4 no line is in two ways; I5 a refusal owes one retry; I6 no answer before its bytes can be there.
 * The twin "l2_none" passes every request to DRAM: `l2.size: 0` selects it. */
#ifndef NPUSIM_ARCH_L2_H
#define NPUSIM_ARCH_L2_H

#include "sim/comp.h"

enum l2_policy { L2_LRU, L2_SRRIP };

struct l2_cfg {
	uint64_t size;                       /* 0: absent */
	uint32_t ways;
	uint64_t line;
	uint32_t banks;
	uint64_t bank_width;                 /* bytes a cycle and bank */
	ps_t latency;                        /* door to door, paid once by hits and misses */
	ps_t miss_latency;                   /* added before a miss reaches DRAM's door */
	uint32_t mshrs;                      /* tile requests with misses outstanding */
	uint32_t policy;
};

extern const struct cfg_field l2_schema[];
extern const struct comp_ops l2_ops, l2_none_ops;

int l2_cfg_check(const struct l2_cfg *c, struct err *e);
uint64_t l2_bandwidth(const struct l2_cfg *c, uint64_t clock_khz);  /* bytes/s */

#endif
