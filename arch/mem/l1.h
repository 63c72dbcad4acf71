/* l1.h - the cores' first-level caches, between their DMA and the NoC, and what of them is shared memory.
 *
 * Models: an array of `l1.size` in every core, of which the share `l1.shared_split` is scratchpad on top of
 * `sram.size` (as GPUs divide one array between L1 and shared memory; the scratchpad's part is rounded down to 1 KiB)
 * and the rest a cache (cache.h). All cores' caches act as one of `cores` times the size, as a tile is spread evenly
 * over the cores: a line is in the cache of the core whose part of a tile it was, which is the same one when the
 * tensor is read again. What the chip's caches hold together is rounded down to whole sets of chunks.
 * Write-through, no allocation on a write, and what was written leaves the L1: the caches are private and the L2 is
 * the one place where cores meet. A decode step's results are written by one core and read by others, mostly once;
 * kept dirty in the writer's L1 they would have to be found there by a directory or snoops, and flushed between
 * commands. Written through they are in the L2 when the store is acknowledged, and no L1 can hold an old copy:
 * coherence without a protocol, for the price of store traffic that passes to the L2 in any case. So nothing here is
 * ever dirty, and `l1.victim` (a core's: what its L1 evicts, between L1 and L2) is clean too.
 * Reads of KV and of everything else look here first. Lines here may be in the L2 too (not inclusive, not exclusive).
 * Leaves out: a line that several cores read, held by each of them; prefetching.
 * `l1.size: 0`, the default: absent, and so it is when all of it is shared memory. */
#ifndef NPUSIM_ARCH_MEM_L1_H
#define NPUSIM_ARCH_MEM_L1_H

#include "arch/mem/cache.h"

struct l1_cfg {
	uint64_t size; /* a core, shared memory included; 0: absent */
	uint64_t line, sector;
	uint32_t ways;
	ps_t latency;
	uint64_t bandwidth;    /* bytes a cycle and core */
	uint32_t mshrs;        /* chip: tile requests with misses outstanding */
	uint64_t victim;       /* a core; 0: none */
	uint32_t shared_split; /* millionths of the size */
	uint32_t cores;        /* not a row: the machine's, set by l1_cfg_check */
};

extern const struct cfg_field l1_schema[];
extern const struct comp_ops l1_ops;

int l1_cfg_check(struct l1_cfg *c, uint32_t cores, struct err *e);
uint64_t l1_shared(const struct l1_cfg *c); /* bytes a core that are scratchpad */
uint64_t l1_cache(const struct l1_cfg *c);  /* bytes of cache, all cores; 0: none */

#endif
