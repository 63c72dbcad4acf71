/* cache.h - a cache level, set-associative, tracked in chunks of lines: what L1 and L2 are made of (l1.h, l2.h say
 * how).
 *
 * Models: capacity, ways, sets, sectors, bandwidth, latency, miss handling (outstanding misses; requests that find
 * bytes still on the way wait for them). Two ways with writes:
 *   write-back (L2): writes are taken in without fetching (they carry byte masks), dirty sectors go out when evicted;
 *   write-through (L1, `private`): writes go to the level below and take their lines out of here. See l1.h for why.
 * A chunk of 32 consecutive lines (16 where a sector is a quarter of a line, 8 at an eighth, ...: at most 64 sectors)
 * sits in so many consecutive sets, which behave alike when tiles cover whole chunks, so one tag with a bit a sector
 * for "here" and for "dirty" stands for them exactly; partly used chunks are the approximation. A miss fetches the
 * sectors asked for, not their lines.
 * Policies: lru; srrip and drrip (cache_srrip.c, cache_drrip.c: streams do not push out what is used again); kv_aware
 * (cache_kv_aware.c: inserts by what the bytes are); stream_bypass (lru, and weights that were not asked for before
 * within about a cache's worth of weights are passed on without being kept: cache_seen.h). `hash` spreads strides over
 * the sets; `kv_ways` splits every set between KV and the rest, `pin_ways` more keep the first weights that come
 * (cache_tags.h).
 * Victim cache (Jouppi, ISCA 1990): `victim` bytes hold the chunks evicted last, with 64 ways or, if it is no larger
 * than that, fully associative, lru. A chunk found there goes back with its dirty sectors, and the one it pushes out
 * takes its place: a chunk is in one of them. Its sets are found as the cache's own are (`hash`). Looking there costs
 * no time beyond the cache's latency and moves cost no bandwidth: it stands in the shadow of the tag check.
 * Write blocks (`write_block`): where dirty chunks go out one by one, what leaves together is what shares a set, from
 * rows of DRAM far apart. With a write block the dirty neighbours of a chunk that goes, in its aligned block, are
 * written with it and stay here clean (Stuecheli et al., The Virtual Write Queue, ISCA 2010, go by DRAM rows); those
 * in the victim cache are not. Eager write-back (`eager`; Lee, Tyson and Farrens, MICRO 2000): what is dirty for long
 * is written while the level below is idle, in the order in which it became dirty, and stays here clean. Written only
 * when it is pushed out, it leaves beside what pushes it, and more capacity can cost time: on configs/npu/edge.yaml
 * with the traced step, from 6 to 10 MiB of `l2.size`, 31 MB less is read and the same 69 MB are written, but no
 * longer while concat copies the KV (bound by DMA, DRAM has time to spare) but in the products after it, which DRAM
 * bounds: 14500 us become 14785. Eager: 14359 and 14157. It looks when a request comes, so it misses what time there
 * is between requests; the victim cache is lazy.
 * Partitions (`partitions`, as the L2 of recent GPUs has two): each is a cache of its own with a share of the sets. A
 * chunk has a home in one of them, found by a hash that gives neighbours different homes, and the same set in each:
 * there it comes in from below, is written, and leaves dirty. Cores are near one partition. What they read from
 * another's home is copied into theirs, where it takes a chunk's place as any other does, and is gone when it is
 * written or pushed out; a read that does not find it near is late by `far_latency`, and so is a write to a far home.
 * Which partition a core is near: of a tile that all cores share, a chunk's reader is fixed by a second hash, as tiles
 * are spread in the same way each time; a single core (`one_core`) is near the first. Measured on an H200: hits near
 * 295 clocks, far 466; a chase over 40 MiB of its 60 finds one half of the lines far and the other in DRAM (540
 * clocks), because copies push out what is at home: the plateau of 265 ns seen there is the mean of those, not a
 * latency (traces/h200/micro/partition.csv).
 * Leaves out: the bandwidth between partitions, bank conflicts within a tile, the fills' own bandwidth, compression.
 * Invariants, where "here" is the cache and its victim cache: I1 asked bytes = hit + missed, in whole sectors; I2
 * reads below = sectors filled; I3 writes below = dirty sectors evicted or cleaned here, or written through; I4 no
 * sector is in two ways; I5 a refusal owes one retry; I6 no answer before its bytes can be there. */
#ifndef NPUSIM_ARCH_MEM_CACHE_H
#define NPUSIM_ARCH_MEM_CACHE_H

#include "arch/comp.h"
#include "arch/mem/cache_policy.h"

#define CACHE_PARTITIONS_MAX 8

enum cache_hash { CACHE_HASH_NONE, CACHE_HASH_XOR };

struct cache_cfg {
	const char *name; /* prefix of its statistics */
	enum res level;
	bool private; /* write-through; the first level from the cores */
	uint64_t size;
	uint32_t ways;
	uint64_t line, sector;
	uint64_t bandwidth; /* bytes/s */
	ps_t latency;       /* door to door, paid once by hits and misses */
	ps_t miss_latency;  /* added before a miss reaches the level below */
	uint32_t mshrs;     /* tile requests with misses outstanding */
	enum cache_policy policy;
	enum cache_hash hash;
	uint32_t kv_ways;     /* of each set, for KV alone; 0: all ways are everybody's */
	uint32_t pin_ways;    /* more of each set, that the first weights to come fill and keep */
	uint64_t write_block; /* power of two; 0: dirty chunks leave one by one */
	bool eager;           /* writes back while the level below is idle */
	uint32_t partitions;  /* at least 1 */
	ps_t far_latency;     /* added where another partition answers */
	uint64_t victim;      /* 0: none */
};

uint64_t cache_chunk_bytes(uint64_t line, uint64_t sector);
const struct cache_policy_ops *cache_policy_of(enum cache_policy policy);
uint32_t cache_victim_ways(uint64_t victim, uint64_t line, uint64_t sector);

struct comp *cache_new(const struct comp_env *env, const struct comp_ops *ops, const struct cache_cfg *cfg,
                       struct err *e);

/* What a level that is such a cache has in its comp_ops, besides kind and make. */
void cache_free(struct comp *c);
bool cache_send(struct comp *c, struct mem_req *r);
void cache_reply(struct comp *c, struct mem_req *r);
void cache_retry(struct comp *c, struct comp *below);
void cache_explain(const struct comp *c, struct str *out);
uint64_t cache_resident(const struct comp *c, uint64_t addr, uint64_t bytes);
void cache_reset(struct comp *c);
#define CACHE_OPS \
	.free = cache_free, .send = cache_send, .reply = cache_reply, .retry = cache_retry, .explain = cache_explain, \
	.resident = cache_resident, .reset = cache_reset

#endif
