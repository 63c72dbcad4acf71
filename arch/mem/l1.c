#include "arch/mem/l1.h"

#include "arch/mem/cache_tags.h"

#define PPM          1000000
#define SHARED_GRAIN 1024

const struct cfg_field l1_schema[] = {
	CFG_BYTES(struct l1_cfg, size, "size", "0", 0, UINT64_C(1) << 32, NULL,
	          "L1 array of one core, shared memory included; 0: no L1",
	          "our choice: absent, tiles go to the scratchpad; an H100's SM has 256 KiB (H100 whitepaper)"),
	CFG_PPM(struct l1_cfg, shared_split, "shared_split", "0", 0, PPM,
	        "share of l1.size that is scratchpad, on top of sram.size",
	        "profile report, 3: trade L1 for scratchpad; GPUs carve shared memory out of one array"),
	CFG_BYTES(struct l1_cfg, line, "line", "128 B", 16, 4096, cfg_pow2, "of a line",
	          "CUDA C Programming Guide: 128 B"),
	CFG_BYTES(struct l1_cfg, sector, "sector", "32 B", 16, 4096, cfg_pow2, "what a miss fetches, a part of a line",
	          "four sectors a line: Nsight Compute documentation, memory tables"),
	CFG_U32(struct l1_cfg, ways, "ways", "8", 1, CACHE_WAYS_MAX, NULL, "ways of a set", "our choice"),
	CFG_PS(struct l1_cfg, latency, "latency", "20.8 ns", 0, 100 * PS_US, NULL, "door to door, hit or miss",
	       "H200: 41 cycles at 1.98 GHz (traces/h200/micro/latency.csv, path=l1)"),
	CFG_BYTES(struct l1_cfg, bandwidth, "bandwidth", "128 B", 1, 65536, NULL, "bytes a cycle and core",
	          "128 B a cycle and SM on Volta (Jia et al., arXiv:1804.06826); the line of a warp"),
	CFG_U32(struct l1_cfg, mshrs, "mshrs", "128", 1, 4096, NULL, "tile requests with misses outstanding, chip",
	        "our choice: beyond the DMA's descriptors"),
	CFG_BYTES(struct l1_cfg, victim, "victim", "0", 0, UINT64_C(1) << 32, NULL,
	          "size of a core's victim cache that takes in what its L1 evicts; 0: none",
	          "profile report: victim caches between L1 and L2"),
	CFG_END
};

uint64_t l1_shared(const struct l1_cfg *c)
{
	uint64_t bytes = c->size / PPM * c->shared_split + c->size % PPM * c->shared_split / PPM;

	return c->shared_split == PPM ? c->size : bytes / SHARED_GRAIN * SHARED_GRAIN;
}

/* Of `bytes` in each core, what makes whole sets of chunks on the chip. */
static uint64_t whole_sets(const struct l1_cfg *c, uint64_t bytes, uint32_t ways)
{
	uint64_t set = cache_chunk_bytes(c->line, c->sector) * ways;

	return bytes * c->cores / set * set;
}

uint64_t l1_cache(const struct l1_cfg *c)
{
	return whole_sets(c, c->size - l1_shared(c), c->ways);
}

static uint64_t victim(const struct l1_cfg *c)
{
	return whole_sets(c, c->victim, cache_victim_ways(c->victim * c->cores, c->line, c->sector));
}

int l1_cfg_check(struct l1_cfg *c, uint32_t cores, struct err *e)
{
	uint64_t set = cache_chunk_bytes(c->line, c->sector) * c->ways, cached = c->size - l1_shared(c);

	c->cores = cores;
	if (c->sector > c->line || c->line / c->sector > 64)
		return err_set(e, ERR_CONFIG,
		               "'l1.sector' is a part of a line, at least a 64th: it is %llu B, 'l1.line' %llu B",
		               (unsigned long long)c->sector, (unsigned long long)c->line);
	if (cached && !l1_cache(c))
		return err_set(e, ERR_CONFIG,
		               "'l1.size' less its shared part is too small: %llu B in each of %u cores make no set of "
		               "%u ways, which is %llu B",
		               (unsigned long long)cached, cores, c->ways, (unsigned long long)set);
	if (c->victim && !cached)
		return err_set(e, ERR_CONFIG, "'l1.victim' needs an L1 whose evictions it takes: %s",
		               c->size ? "all of 'l1.size' is shared memory" : "'l1.size' is 0");
	if (c->victim && !victim(c))
		return err_set(e, ERR_CONFIG,
		               "'l1.victim' is too small: the cores' together hold less than a chunk of %llu B",
		               (unsigned long long)cache_chunk_bytes(c->line, c->sector));
	return 0;
}

static struct comp *l1_make(const struct comp_env *env, const void *cfg, struct err *e)
{
	const struct l1_cfg *c = cfg;
	struct cache_cfg k = {
		.name = "l1",
		.level = RES_L1,
		.private = true,
		.size = l1_cache(c),
		.ways = c->ways,
		.line = c->line,
		.sector = c->sector,
		.bandwidth = c->bandwidth * c->cores * env->clock_khz * 1000,
		.latency = c->latency,
		.mshrs = c->mshrs,
		.partitions = 1,
		.policy = CACHE_LRU,
		.hash = CACHE_HASH_XOR,
		.victim = victim(c),
	};

	return cache_new(env, &l1_ops, &k, e);
}

const struct comp_ops l1_ops = { .kind = "l1", .make = l1_make, CACHE_OPS };
