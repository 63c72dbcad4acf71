#include "arch/mem/l2.h"

#include "arch/mem/cache_tags.h"

#define POLICY_NAME(id, name, file) #name,
static const char *const policy_names[] = { CACHE_POLICIES(POLICY_NAME) NULL };
#undef POLICY_NAME
static const char *const hash_names[] = { "none", "xor", NULL };

static const char *const write_names[] = { "lazy", "eager", NULL };

const struct cfg_field l2_schema[] = {
	CFG_BYTES(struct l2_cfg, size, "size", "48 MiB", 0, UINT64_C(1) << 40, NULL, "capacity; 0: no L2",
	          "our choice: 1.5 x 32"),
	CFG_U32(struct l2_cfg, ways, "ways", "16", 1, CACHE_WAYS_MAX, NULL, "ways of a set",
	        "16 ways found on Volta: Jia et al., arXiv:1804.06826"),
	CFG_BYTES(struct l2_cfg, line, "line", "128 B", 16, 4096, cfg_pow2, "of a line",
	          "CUDA C Programming Guide: 128 B"),
	CFG_BYTES(
		struct l2_cfg, sector, "sector", "64 B", 16, 4096, cfg_pow2,
		"what a miss fetches, a part of a line; a line where that is smaller",
		"our choice between the 32 B of a GPU's sectors (Nsight Compute documentation, memory tables) and the "
		"128 B its L2 may fetch (CUDA Runtime API, cudaLimitMaxL2FetchGranularity)"),
	CFG_U32(struct l2_cfg, banks, "banks", "96", 1, 4096, NULL, "banks that serve at the same time",
	        "H100: 96 slices give the 9.7 to 11 TB/s measured (gpu-benches gpu-l2-cache/h200.txt)"),
	CFG_BYTES(struct l2_cfg, bank_width, "bank_width", "64 B", 1, 4096, cfg_pow2, "bytes a cycle and bank",
	          "H100: 64 B a cycle and slice, as for banks"),
	CFG_PS(struct l2_cfg, latency, "latency", "142 ns", 0, 100 * PS_US, NULL, "door to door, hit or miss",
	       "GH200: 280 cycles at 1.98 GHz (gpu-benches gpu-latency/gh200.txt)"),
	CFG_PS(struct l2_cfg, miss_latency, "miss_latency", "145 ns", 0, 100 * PS_US, NULL,
	       "before a miss reaches DRAM's door",
	       "GH200: 346 ns to DRAM (gpu-latency/gh200.txt) less L2 142 ns, controller 10 ns, DRAM 49 ns"),
	CFG_U32(struct l2_cfg, mshrs, "mshrs", "128", 1, 4096, NULL, "tile requests with misses outstanding",
	        "our choice: beyond the DMA's descriptors"),
	CFG_ENUM(struct l2_cfg, policy, "policy", "lru", policy_names, "which chunk of a set goes",
	         "our choice: the common one"),
	CFG_ENUM(
		struct l2_cfg, hash, "hash", "xor", hash_names, "how a set is found: low address bits, or hashed too",
		"GPUs hash (Jia et al., arXiv:1804.06826); with low bits alone, layers that lie a few ways apart meet in "
		"the same sets and 1.75 GiB hold less than 1.5"),
	CFG_U32(struct l2_cfg, kv_ways, "kv_ways", "0", 0, CACHE_WAYS_MAX - 1, NULL,
	        "ways of a set for the KV cache alone, which then uses no others; 0: all share all",
	        "our choice: shared, as on the GPUs measured"),
	CFG_U32(struct l2_cfg, weight_ways, "weight_ways", "0", 0, CACHE_WAYS_MAX - 1, NULL,
	        "ways of a set that the first weights of a run fill and keep, step after step; 0: none",
	        "our choice: none, as on the GPUs measured; profile report, 3: pinned regions"),
	CFG_ENUM(struct l2_cfg, write_back, "write_back", "eager", write_names,
	         "when dirty lines go to DRAM: as they are evicted, or also earlier while DRAM is idle",
	         "our choice: no run is slower for it; Lee, Tyson and Farrens, MICRO 2000"),
	CFG_BYTES(struct l2_cfg, write_block, "write_block", "0", 0, 1 << 20, NULL,
	          "a dirty line that goes takes those of its aligned block of so many bytes along; 0: it goes alone",
	          "our choice: none; what it is for: Stuecheli et al., The Virtual Write Queue, ISCA 2010"),
	CFG_U32(struct l2_cfg, partitions, "partitions", "1", 1, CACHE_PARTITIONS_MAX, NULL,
	        "partitions, each near some of the cores; what cores read from another's home is copied into theirs",
	        "our choice: one; H100 and H200 have two (our chase, traces/h200/micro)"),
	CFG_PS(struct l2_cfg, far_latency, "far_latency", "86 ns", 0, 100 * PS_US, NULL,
	       "added where a partition that is not near the core answers",
	       "H200: 466 clocks less 295, at 1.98 GHz (traces/h200/micro/partition.csv)"),
	CFG_BYTES(struct l2_cfg, victim, "victim", "0", 0, UINT64_C(1) << 40, NULL,
	          "size of the victim cache that takes in what the L2 evicts; 0: none",
	          "profile report: victim caches as an option; the GPUs measured show none"),
	CFG_END
};

static uint64_t l2_sector(const struct l2_cfg *c)
{
	return c->sector < c->line ? c->sector : c->line;
}

int l2_cfg_check(const struct l2_cfg *c, struct err *e)
{
	uint64_t chunk = cache_chunk_bytes(c->line, l2_sector(c));

	if (c->size % (chunk * c->ways))
		return err_set(e, ERR_CONFIG,
		               "'l2.size' is no whole number of sets: %u ways of %llu lines of %llu B are %llu B",
		               c->ways, (unsigned long long)(chunk / c->line), (unsigned long long)c->line,
		               (unsigned long long)(chunk * c->ways));
	if (c->size % (chunk * c->ways * c->partitions))
		return err_set(e, ERR_CONFIG, "'l2.size' in %u partitions is no whole number of sets in each: %llu B",
		               c->partitions, (unsigned long long)(chunk * c->ways * c->partitions));
	if (c->write_block && ((c->write_block & (c->write_block - 1)) || c->write_block < chunk))
		return err_set(
			e, ERR_CONFIG,
			"'l2.write_block' is 0 or a power of two from %llu B on, which are %llu lines: it is %llu B",
			(unsigned long long)chunk, (unsigned long long)(chunk / c->line),
			(unsigned long long)c->write_block);
	if (c->size && c->kv_ways >= c->ways)
		return err_set(e, ERR_CONFIG, "'l2.kv_ways' is %u of %u ways and leaves none for the rest", c->kv_ways,
		               c->ways);
	if (c->size && c->kv_ways + c->weight_ways >= c->ways)
		return err_set(e, ERR_CONFIG,
		               "'l2.kv_ways' and 'l2.weight_ways' are %u of %u ways and leave none for the rest",
		               c->kv_ways + c->weight_ways, c->ways);
	if (c->line / l2_sector(c) > 64)
		return err_set(e, ERR_CONFIG,
		               "'l2.sector' is at least a 64th of a line: it is %llu B, 'l2.line' %llu B",
		               (unsigned long long)c->sector, (unsigned long long)c->line);
	if (c->victim && !c->size)
		return err_set(e, ERR_CONFIG, "'l2.victim' needs an L2 whose evictions it takes: 'l2.size' is 0");
	if (c->victim % (chunk * l2_victim_ways(c)))
		return err_set(e, ERR_CONFIG,
		               "'l2.victim' is no whole number of sets: %u ways of %llu lines of %llu B are %llu B",
		               l2_victim_ways(c), (unsigned long long)(chunk / c->line), (unsigned long long)c->line,
		               (unsigned long long)(chunk * l2_victim_ways(c)));
	return 0;
}

uint32_t l2_victim_ways(const struct l2_cfg *c)
{
	return cache_victim_ways(c->victim, c->line, l2_sector(c));
}

uint64_t l2_bandwidth(const struct l2_cfg *c, uint64_t clock_khz)
{
	return c->banks * c->bank_width * clock_khz * 1000;
}

static struct comp *l2_make(const struct comp_env *env, const void *cfg, struct err *e)
{
	const struct l2_cfg *c = cfg;
	struct cache_cfg k = {
		.name = "l2",
		.level = RES_L2,
		.size = c->size,
		.ways = c->ways,
		.line = c->line,
		.sector = l2_sector(c),
		.bandwidth = l2_bandwidth(c, env->clock_khz),
		.latency = c->latency,
		.miss_latency = c->miss_latency,
		.mshrs = c->mshrs,
		.policy = c->policy,
		.hash = c->hash,
		.kv_ways = c->kv_ways,
		.pin_ways = c->weight_ways,
		.eager = c->write_back,
		.write_block = c->write_block,
		.partitions = c->partitions,
		.far_latency = c->far_latency,
		.victim = c->victim,
	};

	return cache_new(env, &l2_ops, &k, e);
}

const struct comp_ops l2_ops = { .kind = "l2", .make = l2_make, CACHE_OPS };
