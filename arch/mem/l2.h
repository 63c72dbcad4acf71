/* l2.h - the shared level-2 cache, in front of DRAM: a write-back cache (cache.h says what that models and how).
 *
 * Its bandwidth is that of its banks, together; `l2.victim` is a victim cache for what it evicts. All levels and cores
 * find the latest of a byte here, DRAM is behind it: coherence costs nothing, as L1s are write-through (l1.h).
 * Leaves out, beside what cache.h does: conflicts between banks.
 * The twin "l2_none" passes every request to DRAM: `l2.size: 0` selects it. */
#ifndef NPUSIM_ARCH_MEM_L2_H
#define NPUSIM_ARCH_MEM_L2_H

#include "arch/mem/cache.h"

struct l2_cfg {
	uint64_t size; /* 0: absent */
	uint32_t ways;
	uint64_t line, sector;
	uint32_t banks;
	uint64_t bank_width;   /* bytes a cycle and bank */
	ps_t latency;          /* door to door, paid once by hits and misses */
	ps_t miss_latency;     /* added before a miss reaches DRAM's door */
	uint32_t mshrs;        /* tile requests with misses outstanding */
	uint32_t policy, hash; /* enum cache_policy, cache_hash */
	uint32_t kv_ways;      /* of each set, for KV alone; 0: all ways are everybody's */
	uint32_t weight_ways;  /* of each set, that the first weights to come fill and keep; 0: none */
	uint32_t write_back;   /* 1: eager */
	uint64_t write_block;  /* dirty chunks of one leave together; 0: one by one */
	uint32_t partitions;
	ps_t far_latency; /* added where a partition that is not near the core answers */
	uint64_t victim;  /* 0: none */
};

extern const struct cfg_field l2_schema[];
extern const struct comp_ops l2_ops, l2_none_ops;

int l2_cfg_check(const struct l2_cfg *c, struct err *e);
uint32_t l2_victim_ways(const struct l2_cfg *c);
uint64_t l2_bandwidth(const struct l2_cfg *c, uint64_t clock_khz); /* bytes/s */

#endif
