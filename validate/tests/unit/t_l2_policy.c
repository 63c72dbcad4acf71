/* t_l2_policy.c - what stays in the L2 under each policy, with hashed sets, ways of KV's own and
 * ways that weights keep, and a victim cache. */
#include "arch/mem/cache_tags.h"
#include "validate/tests/membed.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/test.h"

#define NS    PS_NS
#define KIB   UINT64_C(1024)
#define MIB   (KIB * 1024)
#define CHUNK (4 * KIB)
/* 64 B a cycle at 1 GHz: 4 KiB take 64 ns. 4 sets of 2 ways, found by the address alone. */
#define SMALL \
	"size: 32 KiB\nways: 2\nhash: none\nbanks: 1\nbank_width: 64 B\nlatency: 20 ns\nmiss_latency: 5 ns\nmshrs: 4\n"

struct dev {
	struct bed b;
	struct l2_cfg cfg;
	struct comp *l2;
};

static void dev_up(struct dev *d, const char *yaml)
{
	struct err e = ERR_INIT;

	bed_up(&d->b);
	bed_cfg(l2_schema, &d->cfg, yaml);
	CHECK_OK(l2_cfg_check(&d->cfg, &e), e);
	d->l2 = bed_make(&d->b, &l2_ops, &d->cfg, NULL);
}

static void dev_down(struct dev *d)
{
	CHECK_U64(stat_get(d->b.stats, "l2.fill_bytes"), d->b.below.read_bytes);
	CHECK_U64(stat_get(d->b.stats, "l2.writeback_bytes"), d->b.below.write_bytes);
	CHECK_U64(d->l2->ops->resident(d->l2, 0, UINT64_C(1) << 30), stat_get(d->b.stats, "l2.resident_bytes"));
	comp_free(d->l2);
	bed_down(&d->b);
}

static uint64_t st(const struct dev *d, const char *name)
{
	return stat_get(d->b.stats, name);
}

static uint64_t held(const struct dev *d, uint64_t addr, uint64_t bytes)
{
	return d->l2->ops->resident(d->l2, addr, bytes);
}

/* Reads a range in tiles of 64 KiB; the bytes of it that hit. */
static uint64_t sweep(struct dev *d, enum mem_class cls, uint64_t addr, uint64_t bytes)
{
	uint64_t hit = 0;

	for (uint64_t at = 0; at < bytes; at += 64 * KIB) {
		struct bed_ask a;

		bed_ask1(&d->b, &a, addr + at, bytes - at < 64 * KIB ? bytes - at : 64 * KIB, false);
		a.rq.cls = (uint8_t)cls;
		bed_stream(&d->b, d->l2, &a, 1, 1);
		hit += a.rq.hit_bytes;
	}
	return hit;
}

/* --- policies ---------------------------------------------------------------------------------------------- */

#define ROUNDS 20

/* Percent of the reads of a small set that hit, when `reads` of it in a row and then a stream of other bytes of another
 * class go by, again and again; after two rounds to warm up. */
static uint64_t reused_pct(const char *yaml, enum mem_class hot, unsigned reads, uint64_t stream_bytes)
{
	struct dev d;
	uint64_t hit = 0, asked = 0, next = UINT64_C(1) << 24;

	dev_up(&d, yaml);
	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < reads; i++) {
			uint64_t n = sweep(&d, hot, 0, 512 * KIB);

			hit += round >= 2 ? n : 0;
			asked += round >= 2 ? 512 * KIB : 0;
		}
		sweep(&d, MEM_WEIGHT, next, stream_bytes);
		next += stream_bytes;
	}
	dev_down(&d);
	return hit * 100 / asked;
}

#define CACHE "size: 1 MiB\nways: 16\n"

TEST(a_stream_as_large_as_the_cache_washes_out_lru_and_nothing_else)
{
	/* Two reads in a row: lru finds the second only. The stream ages what rrip knows as near twice at most. */
	CHECK_U64(reused_pct(CACHE, MEM_ACTIVATION, 2, MIB), 50);
	CHECK_U64(reused_pct(CACHE "policy: srrip\n", MEM_ACTIVATION, 2, MIB), 100);
	CHECK_U64(reused_pct(CACHE "policy: drrip\n", MEM_ACTIVATION, 2, MIB), 100);
	CHECK_U64(reused_pct(CACHE "policy: kv_aware\n", MEM_ACTIVATION, 2, MIB), 100);
	CHECK_U64(reused_pct(CACHE "policy: stream_bypass\n", MEM_ACTIVATION, 2, MIB), 100);
}

TEST(a_stream_of_eight_caches_leaves_what_policies_that_know_the_class_protect)
{
	/* One read a round: nothing tells rrip that it is used again before the stream has gone by. */
	CHECK_U64(reused_pct(CACHE, MEM_ACTIVATION, 1, 8 * MIB), 0);
	CHECK_U64(reused_pct(CACHE "policy: srrip\n", MEM_ACTIVATION, 1, 8 * MIB), 0);
	/* what is near ages by the one weight in 32 that is not distant: 128 go by each set between two reads */
	CHECK_U64(reused_pct(CACHE "policy: kv_aware\n", MEM_ACTIVATION, 1, 8 * MIB), 100);
	CHECK_U64(reused_pct(CACHE "policy: kv_aware\n", MEM_KV, 1, 8 * MIB), 100);
	CHECK_U64(reused_pct(CACHE "policy: stream_bypass\n", MEM_KV, 1, 8 * MIB), 100);
	CHECK_U64(reused_pct(CACHE "kv_ways: 8\n", MEM_KV, 1, 8 * MIB), 100);
	CHECK_U64(reused_pct(CACHE "kv_ways: 7\n", MEM_KV, 1, 8 * MIB), 0); /* 448 of 512 KiB, and lru */
	CHECK_U64(reused_pct(CACHE "kv_ways: 8\n", MEM_ACTIVATION, 1, 8 * MIB), 0);
}

/* Percent of hits of a working set of one and a half caches read round and round. */
static uint64_t cyclic_pct(const char *yaml, enum mem_class cls)
{
	struct dev d;
	uint64_t hit = 0;

	dev_up(&d, yaml);
	for (int round = 0; round < 60; round++) {
		uint64_t n = sweep(&d, cls, 0, 12 * MIB);

		hit += round >= 20 ? n : 0;
	}
	dev_down(&d);
	return hit * 100 / (40 * 12 * MIB);
}

TEST(of_a_loop_larger_than_the_cache_drrip_keeps_a_part_where_lru_and_srrip_keep_nothing)
{
#define EIGHT "size: 8 MiB\nways: 16\n"
	uint64_t drrip = cyclic_pct(EIGHT "policy: drrip\n", MEM_ACTIVATION);
	uint64_t weights = cyclic_pct(EIGHT "policy: kv_aware\n", MEM_WEIGHT);

	printf("drrip %u %%, kv_aware on weights %u %%; the best there is: 66 %%\n", (unsigned)drrip,
	       (unsigned)weights);
	CHECK_U64(cyclic_pct(EIGHT, MEM_ACTIVATION), 0);
	CHECK_U64(cyclic_pct(EIGHT "policy: srrip\n", MEM_ACTIVATION), 0);
	CHECK(drrip >= 45 && drrip <= 66);
	CHECK(weights >= 45 && weights <= 66);
}

TEST(drrip_is_srrip_where_everything_fits)
{
	struct dev d;

	dev_up(&d, "size: 1 MiB\nways: 16\npolicy: drrip\n");
	sweep(&d, MEM_ACTIVATION, 0, MIB);
	CHECK_U64(sweep(&d, MEM_ACTIVATION, 0, MIB), MIB);
	CHECK_U64(st(&d, "l2.evicted_bytes"), 0);
	dev_down(&d);
}

TEST(reading_on_in_a_chunk_is_no_second_use)
{
	struct dev d;

	/* Tiles of half a chunk: a stream of them still evicts itself, not what was used twice. */
	dev_up(&d, SMALL "policy: srrip\n");
	bed_read(&d.b, d.l2, 0, CHUNK);
	bed_read(&d.b, d.l2, 0, CHUNK);
	for (uint64_t i = 1; i < 3; i++) {
		bed_read(&d.b, d.l2, i * 4 * CHUNK, CHUNK / 2);
		bed_read(&d.b, d.l2, i * 4 * CHUNK + CHUNK / 2, CHUNK / 2);
	}
	CHECK_U64(held(&d, 0, CHUNK), CHUNK);
	CHECK_U64(held(&d, 4 * CHUNK, CHUNK), 0);
	CHECK_U64(held(&d, 8 * CHUNK, CHUNK), CHUNK);
	dev_down(&d);
}

TEST(bypass_passes_weights_on_until_they_come_again)
{
	struct dev d;

	dev_up(&d, SMALL "policy: stream_bypass\n");
	CHECK_U64(sweep(&d, MEM_WEIGHT, 0, CHUNK / 2), 0);
	CHECK_U64(held(&d, 0, CHUNK), 0);
	CHECK_U64(sweep(&d, MEM_WEIGHT, CHUNK / 2, CHUNK / 2), 0); /* its other half is not it again */
	CHECK_U64(held(&d, 0, CHUNK), 0);
	CHECK_U64(st(&d, "l2.bypassed_bytes"), CHUNK);
	CHECK_U64(sweep(&d, MEM_WEIGHT, 0, CHUNK), 0); /* the second time: kept */
	CHECK_U64(held(&d, 0, CHUNK), CHUNK);
	CHECK_U64(sweep(&d, MEM_WEIGHT, 0, CHUNK), CHUNK);
	CHECK_U64(st(&d, "l2.bypassed_bytes"), CHUNK);
	sweep(&d, MEM_ACTIVATION, 8 * CHUNK, CHUNK); /* others are kept at once */
	sweep(&d, MEM_KV, 9 * CHUNK, CHUNK);
	CHECK_U64(held(&d, 8 * CHUNK, 2 * CHUNK), 2 * CHUNK);
	d.l2->ops->reset(d.l2);
	sweep(&d, MEM_WEIGHT, 0, CHUNK); /* what was seen is forgotten too */
	CHECK_U64(held(&d, 0, CHUNK), 0);
	dev_down(&d);
}

/* --- sets and ways ----------------------------------------------------------------------------------------- */

TEST(a_power_of_two_stride_meets_one_set_and_with_the_hash_all)
{
	for (int hashed = 0; hashed < 2; hashed++) {
		struct dev d;
		uint64_t again = 0;

		/* 64 sets of 16 ways; 256 chunks 256 KiB apart: a quarter of the cache, all with the same low bits. */
		dev_up(&d, hashed ? "size: 4 MiB\nways: 16\n" : "size: 4 MiB\nways: 16\nhash: none\n");
		for (int round = 0; round < 2; round++)
			for (uint64_t i = 0; i < 256; i++) {
				uint64_t n = sweep(&d, MEM_ACTIVATION, i * 256 * KIB, CHUNK);

				again += round ? n / CHUNK : 0;
			}
		CHECK_U64(again, hashed ? 256 : 0);
		dev_down(&d);
	}
}

TEST(the_hash_keeps_every_range_as_large_as_the_cache)
{
	static const char *const sizes[] = {
		"size: 192 KiB\nways: 16\nhash: xor\n",
		"size: 1 MiB\nways: 16\nhash: xor\n",
	};

	for (int i = 0; i < 2; i++) {
		struct dev d;

		dev_up(&d, sizes[i]);
		sweep(&d, MEM_ACTIVATION, 5 * d.cfg.size, d.cfg.size);
		CHECK_U64(sweep(&d, MEM_ACTIVATION, 5 * d.cfg.size, d.cfg.size), d.cfg.size);
		dev_down(&d);
	}
}

/* Bytes that miss of a stream of so many pieces, so far apart, when it comes round the third time. */
static uint64_t third_misses(uint64_t size, uint64_t from, uint64_t pieces, uint64_t bytes, uint64_t apart)
{
	struct dev d;
	char yaml[64];
	uint64_t hit = 0;

	snprintf(yaml, sizeof yaml, "size: %llu MiB\n", (unsigned long long)(size / MIB));
	dev_up(&d, yaml);
	for (int round = 0; round < 3; round++) {
		hit = 0;
		for (uint64_t i = 0; i < pieces; i++)
			hit += sweep(&d, MEM_WEIGHT, from + i * apart, bytes);
	}
	dev_down(&d);
	return pieces * bytes - hit;
}

TEST(more_capacity_misses_no_more_of_a_stream)
{
	for (uint64_t bytes = 7 * MIB; bytes <= 35 * MIB; bytes += 3 * MIB + 308 * KIB) {
		uint64_t least = bytes;

		/* in eighths between powers of two */
		for (uint64_t size = 8 * MIB; size <= 32 * MIB; size += size < 16 * MIB ? MIB : 2 * MIB) {
			uint64_t n = third_misses(size, bytes * 5 + 44 * KIB, 1, bytes, 0);

			CHECK(n <= least + bytes / 100);
			CHECK(n == 0 || bytes + size / 16 > size); /* all fits, a way apart */
			least = n < least ? n : least;
		}
	}
}

TEST(layers_a_few_ways_apart_do_not_meet_in_the_same_sets)
{
	/* 22 pieces of 1 MiB, 7 MiB apart: of 28 MiB, whose ways have 1.75, that is four ways exactly */
	const uint64_t none = third_misses(28 * MIB, 0, 22, MIB, 7 * MIB),
		       less = third_misses(24 * MIB, 0, 22, MIB, 7 * MIB);

	printf("%llu MiB miss in 28 MiB, %llu in 24\n", (unsigned long long)(none / MIB),
	       (unsigned long long)(less / MIB));
	CHECK(none <= less && none < 11 * MIB);
}

TEST(places_are_one_to_one_with_and_without_the_hash)
{
	for (int hashed = 0; hashed < 2; hashed++) {
		struct cache_tags_cfg k = { 12, 4, 0, 0, hashed, &cache_lru, 1, 1 };
		struct err e = ERR_INIT;
		struct cache_tags *t = cache_tags_new(&k, &e);
		struct cache_place walk;

		CHECK(t);
		walk = cache_tags_place(t, 1000);
		for (uint64_t n = 1000; n < 1500; n++, cache_tags_next(t, &walk)) {
			struct cache_place p = cache_tags_place(t, n);
			struct cache_chunk old;

			CHECK(p.set == walk.set && p.tag == walk.tag && p.set < 12);
			cache_tags_insert(t, &p, 0, &old)->valid = 1;
			if (old.valid) {
				const uint64_t old_chunk = cache_tags_number(t, p.set, old.tag);
				struct cache_place was = cache_tags_place(t, old_chunk);

				CHECK(old_chunk >= 1000 && old_chunk < n && was.set == p.set && was.tag == old.tag);
			}
		}
		cache_tags_free(t);
	}
}

TEST(kv_and_the_rest_never_take_each_others_ways)
{
	struct dev d;

	dev_up(&d, "size: 1 MiB\nways: 16\nkv_ways: 4\n");
	sweep(&d, MEM_KV, 0, 4 * MIB);
	CHECK_U64(st(&d, "l2.resident_bytes"), 256 * KIB); /* enforced: no more than its ways */
	sweep(&d, MEM_WEIGHT, 16 * MIB, 4 * MIB);
	CHECK_U64(st(&d, "l2.resident_bytes"), MIB);
	CHECK_U64(held(&d, 0, 4 * MIB), 256 * KIB);
	CHECK_U64(held(&d, 16 * MIB, 4 * MIB), 768 * KIB);
	/* A hit is a hit whoever asks. */
	CHECK_U64(sweep(&d, MEM_WEIGHT, 4 * MIB - 64 * KIB, 64 * KIB), 64 * KIB);
	dev_down(&d);
}

/* --- the victim cache -------------------------------------------------------------------------------------- */

TEST(a_victim_hit_costs_what_an_l2_hit_costs_and_asks_nobody)
{
	struct dev d;

	dev_up(&d, SMALL "victim: 8 KiB\n");
	for (uint64_t i = 0; i < 3; i++)
		bed_read(&d.b, d.l2, i * 4 * CHUNK, CHUNK);
	CHECK_U64(st(&d, "l2.resident_bytes"), 3 * CHUNK); /* two ways and a victim */
	CHECK_U64(st(&d, "l2.evicted_bytes"), 0);
	CHECK_U64(bed_read(&d.b, d.l2, 0, CHUNK), (64 + 20) * NS);
	CHECK_U64(d.b.below.n_log, 3);
	CHECK_U64(st(&d, "l2.victim_hit_bytes"), CHUNK);
	CHECK_U64(bed_read(&d.b, d.l2, 0, CHUNK), (64 + 20) * NS);
	CHECK_U64(st(&d, "l2.victim_hit_bytes"), CHUNK); /* it is back in the L2 */
	CHECK_U64(held(&d, 0, 16 * CHUNK), 3 * CHUNK);
	dev_down(&d);
}

TEST(dirty_lines_move_along_and_leave_from_the_victim_cache)
{
	struct dev d;

	dev_up(&d, SMALL "victim: 4 KiB\n");
	bed_write(&d.b, d.l2, 256, 384);
	bed_read(&d.b, d.l2, 4 * CHUNK, CHUNK);
	bed_read(&d.b, d.l2, 8 * CHUNK, CHUNK); /* pushes the written chunk out */
	CHECK_U64(st(&d, "l2.writeback_bytes"), 0);
	CHECK_U64(st(&d, "l2.dirty_bytes"), 384);
	CHECK_U64(bed_read(&d.b, d.l2, 0, CHUNK), (64 + 5 + 100 + 20 - 64) * NS); /* its other lines are missed */
	CHECK_U64(st(&d, "l2.fill_bytes"), 2 * CHUNK + CHUNK - 384);
	CHECK_U64(st(&d, "l2.dirty_bytes"), 384);
	bed_read(&d.b, d.l2, 12 * CHUNK, CHUNK);
	bed_read(&d.b, d.l2, 16 * CHUNK, CHUNK);
	CHECK_U64(st(&d, "l2.dirty_bytes"), 384); /* in the victim cache again */
	bed_read(&d.b, d.l2, 20 * CHUNK, CHUNK);
	CHECK_U64(st(&d, "l2.writeback_bytes"), 384);
	CHECK_U64(st(&d, "l2.dirty_bytes"), 0);
	CHECK(d.b.below.log[d.b.below.n_log - 1].addr == 256 || d.b.below.log[d.b.below.n_log - 2].addr == 256);
	dev_down(&d);
}

TEST(what_the_requester_keeps_stays_where_it_is)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, SMALL "victim: 4 KiB\n");
	for (uint64_t i = 0; i < 3; i++)
		bed_read(&d.b, d.l2, i * 4 * CHUNK, CHUNK);
	bed_ask1(&d.b, &a, 0, CHUNK, false);
	a.rq.no_keep = true;
	bed_stream(&d.b, d.l2, &a, 1, 1);
	CHECK_U64(a.rq.hit_bytes, CHUNK);
	bed_read(&d.b, d.l2, 4 * CHUNK, 128); /* the L2 still holds both of these */
	bed_read(&d.b, d.l2, 8 * CHUNK, 128);
	CHECK_U64(st(&d, "l2.victim_hit_bytes"), CHUNK);
	dev_down(&d);
}

TEST(one_set_and_its_victims_are_a_set_with_more_ways)
{
	uint64_t hits[2], dram[2];

	for (int split = 0; split < 2; split++) {
		struct dev d;
		uint64_t x = 1;

		dev_up(&d, split ? "size: 32 KiB\nways: 8\nvictim: 96 KiB\n" : "size: 128 KiB\nways: 32\n");
		for (int i = 0; i < 4000; i++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
			uint64_t chunk = (x >> 33) % 48;

			if (x >> 62)
				bed_read(&d.b, d.l2, chunk * CHUNK, CHUNK);
			else
				bed_write(&d.b, d.l2, chunk * CHUNK, CHUNK);
		}
		hits[split] = st(&d, "l2.hit_bytes");
		dram[split] = d.b.below.read_bytes + d.b.below.write_bytes;
		dev_down(&d);
	}
	CHECK_U64(hits[1], hits[0]);
	CHECK_U64(dram[1], dram[0]);
}

TEST(bytes_on_their_way_are_waited_for_in_the_victim_cache_too)
{
	struct dev d;
	struct bed_ask a[4];

	/* Three chunks of one set at once: the first is pushed out while it is still coming. */
	dev_up(&d, SMALL "victim: 4 KiB\n");
	for (uint64_t i = 0; i < 3; i++)
		bed_ask1(&d.b, &a[i], i * 4 * CHUNK, CHUNK, false);
	bed_ask1(&d.b, &a[3], 0, 128, false);
	bed_stream(&d.b, d.l2, a, 4, 4);
	CHECK_U64(d.b.below.reads, 3);
	CHECK_U64(a[3].rq.hit_bytes, 128);
	CHECK(a[3].back >= a[0].back);
	dev_down(&d);
}

TEST(contradictions_are_errors)
{
	static const struct {
		const char *yaml, *say;
	} bad[] = {
		{ "kv_ways: 16\n", "leaves none for the rest" },
		{ "size: 0\nvictim: 1 MiB\n", "needs an L2" },
		{ "victim: 6 KiB\n", "'l2.victim' is no whole number of sets: 1 ways of 32 lines of 128 B are 4096 B" },
		{ "victim: 300 KiB\n", "64 ways of 32 lines of 128 B are 262144 B" },
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct l2_cfg c;
		struct err e = ERR_INIT;

		bed_cfg(l2_schema, &c, bad[i].yaml);
		CHECK(l2_cfg_check(&c, &e) < 0);
		CHECK_HAS(e.msg, bad[i].say);
	}
}

TEST(pinned_ways_keep_the_first_weights_for_good)
{
	const struct words policies = l2_policies();

	for (size_t k = 0; k < policies.n; k++) {
		struct dev d;
		struct bed_ask a;
		char yaml[256];
		uint64_t hits = 0;

		/* 4 sets of 4 ways of 4 KiB; one way is pinned: 16 KiB of a stream of 256 KiB */
		snprintf(yaml, sizeof yaml, "size: 64 KiB\nways: 4\nweight_ways: 1\npolicy: %s\n", policies.v[k]);
		dev_up(&d, yaml);
		for (int pass = 0; pass < 3; pass++)
			for (uint64_t i = 0; i < 64; i++) {
				bed_ask1(&d.b, &a, i * CHUNK, CHUNK, false);
				a.rq.cls = MEM_WEIGHT;
				bed_stream(&d.b, d.l2, &a, 1, 1);
				CHECK(i >= 4 || a.rq.hit_bytes == (pass ? CHUNK : 0));
				hits += a.rq.hit_bytes;
			}
		/* what is no weight has the other ways and never these */
		for (uint64_t i = 0; i < 64; i++)
			bed_read(&d.b, d.l2, (1 << 20) + i * CHUNK, CHUNK);
		CHECK_U64(d.l2->ops->resident(d.l2, 0, 4 * CHUNK), 4 * CHUNK);
		CHECK(hits >= 2 * 4 * CHUNK);
		d.l2->ops->reset(d.l2); /* free again */
		CHECK_U64(d.l2->ops->resident(d.l2, 0, 4 * CHUNK), 0);
		bed_ask1(&d.b, &a, 8 * CHUNK, CHUNK, false);
		a.rq.cls = MEM_WEIGHT;
		bed_stream(&d.b, d.l2, &a, 1, 1);
		for (uint64_t i = 0; i < 64; i++)
			bed_read(&d.b, d.l2, (1 << 20) + i * CHUNK, CHUNK);
		CHECK_U64(d.l2->ops->resident(d.l2, 8 * CHUNK, CHUNK), CHUNK);
		dev_down(&d);
	}
}

SUITE(t_l2_policy, T(pinned_ways_keep_the_first_weights_for_good),
      T(a_stream_as_large_as_the_cache_washes_out_lru_and_nothing_else),
      T(a_stream_of_eight_caches_leaves_what_policies_that_know_the_class_protect),
      T(of_a_loop_larger_than_the_cache_drrip_keeps_a_part_where_lru_and_srrip_keep_nothing),
      T(drrip_is_srrip_where_everything_fits), T(reading_on_in_a_chunk_is_no_second_use),
      T(bypass_passes_weights_on_until_they_come_again), T(a_power_of_two_stride_meets_one_set_and_with_the_hash_all),
      T(the_hash_keeps_every_range_as_large_as_the_cache), T(more_capacity_misses_no_more_of_a_stream),
      T(layers_a_few_ways_apart_do_not_meet_in_the_same_sets), T(places_are_one_to_one_with_and_without_the_hash),
      T(kv_and_the_rest_never_take_each_others_ways), T(a_victim_hit_costs_what_an_l2_hit_costs_and_asks_nobody),
      T(dirty_lines_move_along_and_leave_from_the_victim_cache), T(what_the_requester_keeps_stays_where_it_is),
      T(one_set_and_its_victims_are_a_set_with_more_ways), T(bytes_on_their_way_are_waited_for_in_the_victim_cache_too),
      T(contradictions_are_errors));
