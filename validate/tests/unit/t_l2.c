/* t_l2.c - the L2 over a memory that answers after 100 ns: times to the picosecond, bytes to the line. Small cache
 * unless said otherwise: 4 sets of 2 ways of 4 KiB chunks (lines of 128 B). */
#include <stdlib.h>

#include "arch/mem/cache_tags.h"
#include "validate/tests/membed.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/test.h"

#define NS    PS_NS
#define CHUNK UINT64_C(4096)
/* 64 B a cycle at 1 GHz: 4 KiB take 64 ns. */
#define SMALL \
	"size: 32 KiB\nways: 2\nbanks: 1\nbank_width: 64 B\nsector: 128 B\n" \
	"latency: 20 ns\nmiss_latency: 5 ns\nmshrs: 4\n"

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
	comp_free(d->l2);
	bed_down(&d->b);
}

static uint64_t st(const struct dev *d, const char *name)
{
	char full[64];

	snprintf(full, sizeof full, "l2.%s", name);
	return stat_get(d->b.stats, full);
}

/* What must hold whatever was done: I1 to I3 of l2.h, and that levels are what is really there. */
static void check_bytes(const struct dev *d)
{
	CHECK_U64(st(d, "read_bytes") + st(d, "write_bytes"), st(d, "hit_bytes") + st(d, "miss_bytes"));
	CHECK_U64(st(d, "fill_bytes"), d->b.below.read_bytes);
	CHECK_U64(st(d, "writeback_bytes"), d->b.below.write_bytes);
	CHECK(st(d, "resident_bytes") <= d->cfg.size);
	CHECK(st(d, "dirty_bytes") <= st(d, "resident_bytes"));
	CHECK_U64(d->l2->ops->resident(d->l2, 0, UINT64_C(1) << 27), st(d, "resident_bytes"));
}

TEST(a_miss_pays_both_ways_and_a_hit_only_the_l2)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, SMALL);
	/* Fill at the door after 5 ns and 100 ns, longer than its 2 ns in the banks; 20 ns of L2. */
	CHECK_U64(bed_read(&d.b, d.l2, 256, 128), (5 + 100 + 20) * NS);
	CHECK_U64(bed_read(&d.b, d.l2, 256, 128), (2 + 20) * NS);
	CHECK_U64(bed_read(&d.b, d.l2, 300, 10), (2 + 20) * NS);        /* a line is a line */
	CHECK_U64(bed_read(&d.b, d.l2, 256, 256), (5 + 100 + 20) * NS); /* half of it is new */
	CHECK_U64(d.b.below.n_log, 2);
	CHECK_U64(d.b.below.log[1].addr, 384);
	CHECK_U64(d.b.below.log[1].bytes, 128);
	CHECK_U64(st(&d, "hit_bytes"), 3 * 128);
	CHECK_U64(st(&d, "miss_bytes"), 2 * 128);
	bed_ask1(&d.b, &a, 0, 1024, false);
	bed_stream(&d.b, d.l2, &a, 1, 1);
	CHECK_U64(a.rq.hit_bytes, 256);
	CHECK_U64(a.rq.dram_bytes, 768);
	CHECK_U64(a.rq.level, RES_L2);
	CHECK_U64(a.rq.t_level, a.sent);
	CHECK_U64(a.rq.t_dram, a.sent + 5 * NS);
	CHECK_U64(a.rq.t_dram_done, a.sent + 105 * NS);
	check_bytes(&d);
	dev_down(&d);
}

TEST(the_banks_serve_one_after_the_other)
{
	struct dev d;
	struct bed_ask a[2];

	dev_up(&d, SMALL);
	bed_read(&d.b, d.l2, 0, CHUNK);
	for (int i = 0; i < 2; i++)
		bed_ask1(&d.b, &a[i], 0, CHUNK, false);
	bed_stream(&d.b, d.l2, a, 2, 2);
	CHECK_U64(a[0].back - a[0].sent, (64 + 20) * NS);
	CHECK_U64(a[1].back - a[1].sent, (128 + 20) * NS);
	CHECK_U64(st(&d, "busy_ps"), 3 * 64 * NS);
	dev_down(&d);
}

TEST(writes_fetch_nothing_and_go_out_when_evicted)
{
	struct dev d;

	dev_up(&d, SMALL);
	CHECK_U64(bed_write(&d.b, d.l2, 0, CHUNK), (64 + 20) * NS);
	CHECK_U64(d.b.below.n_log, 0);
	CHECK_U64(st(&d, "dirty_bytes"), CHUNK);
	CHECK_U64(bed_read(&d.b, d.l2, 0, CHUNK), (64 + 20) * NS);
	/* Two more chunks of the same set: the written one goes. */
	bed_read(&d.b, d.l2, 4 * CHUNK, CHUNK);
	bed_read(&d.b, d.l2, 8 * CHUNK, CHUNK);
	CHECK_U64(st(&d, "writeback_bytes"), CHUNK);
	CHECK_U64(st(&d, "evicted_bytes"), CHUNK);
	CHECK_U64(st(&d, "dirty_bytes"), 0);
	CHECK_U64(st(&d, "resident_bytes"), 2 * CHUNK);
	CHECK_U64(d.b.below.posted, 1);
	CHECK(d.b.below.log_write[2] && d.b.below.log[2].addr == 0 && d.b.below.log[2].bytes == CHUNK);
	CHECK_U64(d.l2->ops->resident(d.l2, 0, CHUNK), 0);
	check_bytes(&d);
	dev_down(&d);
}

TEST(a_miss_fetches_sectors_and_what_is_dirty_is_sectors)
{
	static const uint64_t sectors[] = { 32, 64, 128, 4096 };

	for (int i = 0; i < 4; i++) {
		struct dev d;
		char yaml[160];
		uint64_t sector = sectors[i] < 128 ? sectors[i] : 128; /* a line at most */
		uint64_t chunk = cache_chunk_bytes(128, sector), sets = 32768 / 2 / chunk;

		snprintf(yaml, sizeof yaml, "size: 32 KiB\nways: 2\nhash: none\nsector: %llu B\n",
		         (unsigned long long)sectors[i]);
		dev_up(&d, yaml);
		bed_read(&d.b, d.l2, 1000, 8);
		CHECK_U64(d.b.below.log[0].addr, 1000 / sector * sector);
		CHECK_U64(d.b.below.log[0].bytes, sector);
		bed_write(&d.b, d.l2, 200, 8);
		CHECK_U64(st(&d, "dirty_bytes"), sector);
		bed_read(&d.b, d.l2, sets * chunk, chunk);
		bed_read(&d.b, d.l2, 2 * sets * chunk, chunk); /* the first chunk goes */
		CHECK_U64(st(&d, "writeback_bytes"), sector);
		CHECK_U64(st(&d, "evicted_bytes"), 2 * sector);
		check_bytes(&d);
		dev_down(&d);
	}
}

TEST(only_dirty_lines_are_written_back)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_read(&d.b, d.l2, 0, CHUNK);
	bed_write(&d.b, d.l2, 256, 128);
	bed_write(&d.b, d.l2, 1024, 256);
	bed_read(&d.b, d.l2, 4 * CHUNK, CHUNK);
	bed_read(&d.b, d.l2, 8 * CHUNK, CHUNK);
	CHECK_U64(st(&d, "writeback_bytes"), 3 * 128);
	CHECK_U64(d.b.below.log[3].addr, 256);
	CHECK_U64(d.b.below.log[3].bytes, 128);
	CHECK_U64(d.b.below.log[4].addr, 1024);
	CHECK_U64(d.b.below.log[4].bytes, 256);
	check_bytes(&d);
	dev_down(&d);
}

TEST(misses_that_touch_are_one_run_and_far_ones_one_request)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, "size: 1 MiB\nsector: 128 B\n");
	bed_read(&d.b, d.l2, 100 * CHUNK, 16 * CHUNK);
	CHECK_U64(d.b.below.n_log, 1);
	CHECK_U64(d.b.below.log[0].bytes, 16 * CHUNK);
	bed_ask1(&d.b, &a, 0, 0, false);
	for (int i = 0; i < 40; i++)
		a.runs[i] = (struct mem_run){ (uint64_t)i * 8192, 256 };
	a.rq.n_runs = 40;
	a.rq.bytes = 40 * 256;
	bed_stream(&d.b, d.l2, &a, 1, 1);
	CHECK_U64(d.b.below.reads, 2);
	CHECK_U64(d.b.below.n_log, 41);
	check_bytes(&d);
	dev_down(&d);
}

TEST(more_runs_than_a_request_holds_are_several)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, "size: 1 MiB\nmshrs: 1\nsector: 128 B\n");
	d.b.below.room = 1;
	bed_ask1(&d.b, &a, 0, 0, false);
	for (int i = 0; i < 80; i++)
		a.runs[i] = (struct mem_run){ (uint64_t)i * 8192, 256 };
	a.rq.n_runs = 80;
	a.rq.bytes = 80 * 256;
	bed_stream(&d.b, d.l2, &a, 1, 1);
	CHECK_U64(d.b.below.read_bytes, 80 * 256);
	CHECK_U64(d.b.below.reads, 2);
	CHECK_U64(a.rq.dram_bytes, 80 * 256);
	check_bytes(&d);
	dev_down(&d);
}

TEST(a_hit_on_bytes_that_are_still_coming_waits_for_them)
{
	struct dev d;
	struct bed_ask a[3];

	dev_up(&d, SMALL);
	bed_ask1(&d.b, &a[0], 0, CHUNK, false);
	bed_ask1(&d.b, &a[1], 1024, 512, false);
	bed_ask1(&d.b, &a[2], 8192, 128, false);
	bed_stream(&d.b, d.l2, a, 3, 3);
	CHECK_U64(d.b.below.reads, 2); /* fetched once */
	CHECK_U64(a[0].back, (5 + 100 + 20) * NS);
	CHECK_U64(a[1].back, (5 + 100 + 20) * NS); /* not at 72 + 20 */
	CHECK_U64(a[1].rq.hit_bytes, 512);
	CHECK_U64(a[1].rq.dram_bytes, 0);
	CHECK_U64(a[1].rq.t_dram_done, 105 * NS);
	check_bytes(&d);
	dev_down(&d);
}

TEST(waiting_goes_through_a_chain_of_fills)
{
	struct dev d;
	struct bed_ask a[3];

	/* b asks for lines of a's chunk and more of it, c hits what b brings: c may not come before a and b. */
	dev_up(&d, SMALL);
	bed_ask1(&d.b, &a[0], 0, 1024, false);
	bed_ask1(&d.b, &a[1], 512, 1024, false);
	bed_ask1(&d.b, &a[2], 1024, 128, false);
	bed_stream(&d.b, d.l2, a, 3, 3);
	CHECK_U64(d.b.below.read_bytes, 1536);
	CHECK(a[1].back >= a[0].back && a[2].back >= a[1].back);
	CHECK_U64(a[2].back, (16 + 5 + 100 + 20) * NS); /* b's fill leaves at 16 + 5 */
	dev_down(&d);
}

TEST(what_the_requester_keeps_is_not_taken_in)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, SMALL);
	for (int i = 0; i < 2; i++) {
		bed_ask1(&d.b, &a, 0, CHUNK, false);
		a.rq.no_keep = true;
		bed_stream(&d.b, d.l2, &a, 1, 1);
	}
	CHECK_U64(d.b.below.read_bytes, 2 * CHUNK);
	CHECK_U64(st(&d, "resident_bytes"), 0);
	bed_write(&d.b, d.l2, 0, 1024);
	bed_ask1(&d.b, &a, 0, CHUNK, false);
	a.rq.no_keep = true;
	bed_stream(&d.b, d.l2, &a, 1, 1);
	CHECK_U64(a.rq.hit_bytes, 1024);
	CHECK_U64(st(&d, "resident_bytes"), 1024);
	check_bytes(&d);
	dev_down(&d);
}

TEST(no_more_misses_than_mshrs_and_one_retry_each)
{
	struct dev d;
	struct bed_ask a[6];

	dev_up(&d, "size: 1 MiB\nmshrs: 4\nlatency: 20 ns\nmiss_latency: 5 ns\n");
	for (int i = 0; i < 6; i++)
		bed_ask1(&d.b, &a[i], (uint64_t)i * CHUNK, 128, false);
	bed_stream(&d.b, d.l2, a, 6, 6);
	CHECK_U64(d.b.from.refused, 2); /* the fifth, and the sixth after it */
	CHECK_U64(d.b.from.retries, 2);
	CHECK_U64(st(&d, "refusals"), 2);
	CHECK(a[4].sent == a[0].back - 20 * NS && a[3].sent == 0); /* when the first fill is there */
	dev_down(&d);
}

TEST(a_hit_is_taken_under_as_many_misses_as_there_are_mshrs)
{
	struct dev d;
	struct bed_ask a[3];

	dev_up(&d, "size: 1 MiB\nmshrs: 1\nlatency: 20 ns\nmiss_latency: 5 ns\n");
	bed_read(&d.b, d.l2, 0, CHUNK);
	bed_ask1(&d.b, &a[0], 10 * CHUNK, 128, false);
	bed_ask1(&d.b, &a[1], 0, 128, false);
	bed_ask1(&d.b, &a[2], 20 * CHUNK, 128, true);
	bed_stream(&d.b, d.l2, a, 3, 3);
	CHECK_U64(d.b.from.refused, 0);
	CHECK(a[1].back < a[0].back && a[2].back < a[0].back);
	dev_down(&d);
}

TEST(write_backs_that_dram_refuses_stop_the_l2_and_none_is_lost)
{
	struct dev d;
	struct bed_ask *a = calloc(200, sizeof *a);

	CHECK(a);
	dev_up(&d, "size: 64 KiB\nways: 1\nmshrs: 2\n");
	d.b.below.room = 1;
	for (uint64_t i = 0; i < 200; i++)
		bed_ask1(&d.b, &a[i], i % 25 * 9 * CHUNK, CHUNK, i % 4 != 3);
	bed_stream(&d.b, d.l2, a, 200, 16);
	CHECK(d.b.below.refused > 0);
	CHECK(st(&d, "writeback_bytes") > 100 * CHUNK);
	check_bytes(&d);
	dev_down(&d);
	free(a);
}

TEST(lru_keeps_what_was_used_last_and_srrip_what_was_used_again)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_read(&d.b, d.l2, 0, CHUNK);
	bed_read(&d.b, d.l2, 4 * CHUNK, CHUNK);
	bed_read(&d.b, d.l2, 0, 128);
	bed_read(&d.b, d.l2, 8 * CHUNK, CHUNK);
	CHECK_U64(d.l2->ops->resident(d.l2, 0, CHUNK), CHUNK);
	CHECK_U64(d.l2->ops->resident(d.l2, 4 * CHUNK, CHUNK), 0);
	dev_down(&d);
	dev_up(&d, SMALL "policy: srrip\n");
	bed_read(&d.b, d.l2, 0, CHUNK);
	bed_read(&d.b, d.l2, 0, CHUNK); /* used again */
	for (uint64_t i = 1; i < 3; i++)
		bed_read(&d.b, d.l2, i * 4 * CHUNK, CHUNK); /* a stream goes by: it evicts itself */
	CHECK_U64(d.l2->ops->resident(d.l2, 0, CHUNK), CHUNK);
	CHECK_U64(d.l2->ops->resident(d.l2, 4 * CHUNK, CHUNK), 0);
	dev_down(&d);
}

TEST(reset_is_cold)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_write(&d.b, d.l2, 0, 2 * CHUNK);
	d.l2->ops->reset(d.l2);
	CHECK_U64(st(&d, "resident_bytes"), 0);
	CHECK_U64(st(&d, "dirty_bytes"), 0);
	CHECK_U64(d.l2->ops->resident(d.l2, 0, 2 * CHUNK), 0);
	CHECK_U64(bed_read(&d.b, d.l2, 0, 128), (5 + 100 + 20) * NS);
	CHECK_U64(st(&d, "writeback_bytes"), 0);
	dev_down(&d);
}

TEST(resident_counts_bytes_of_the_range)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_read(&d.b, d.l2, 1024, 256);
	CHECK_U64(d.l2->ops->resident(d.l2, 0, CHUNK), 256);
	CHECK_U64(d.l2->ops->resident(d.l2, 1100, 10), 10);
	CHECK_U64(d.l2->ops->resident(d.l2, 1000, 100), 76);
	CHECK_U64(d.l2->ops->resident(d.l2, 1279, 100), 1);
	CHECK_U64(d.l2->ops->resident(d.l2, 1280, 100), 0);
	CHECK_U64(d.l2->ops->resident(d.l2, 1024, 0), 0);
	dev_down(&d);
}

TEST(sizes_that_are_no_sets_are_an_error)
{
	struct l2_cfg c;
	struct err e = ERR_INIT;

	bed_cfg(l2_schema, &c, "size: 100 KiB\n");
	CHECK(l2_cfg_check(&c, &e) < 0);
	CHECK_HAS(e.msg, "l2.size");
	err_clear(&e);
	bed_cfg(l2_schema, &c, "size: 192 MiB\n"); /* 3072 sets: no power of two */
	CHECK_OK(l2_cfg_check(&c, &e), e);
	bed_cfg(l2_schema, &c, "size: 0\n");
	CHECK_OK(l2_cfg_check(&c, &e), e);
	bed_cfg(l2_schema, &c, "banks: 96\nbank_width: 64 B\n");
	CHECK_U64(l2_bandwidth(&c, 1700000), UINT64_C(96) * 64 * 1700000000);
}

TEST(without_an_l2_requests_pass)
{
	struct bed b;
	struct l2_cfg c;
	struct comp *l2;
	struct bed_ask a;

	bed_up(&b);
	bed_cfg(l2_schema, &c, "size: 0\n");
	l2 = bed_make(&b, &l2_none_ops, &c, NULL);
	CHECK_U64(bed_read(&b, l2, 77, 1000), 100 * NS);
	CHECK_U64(bed_read(&b, l2, 77, 1000), 100 * NS);
	CHECK_U64(bed_write(&b, l2, 77, 1000), 100 * NS);
	CHECK_U64(b.below.read_bytes, 2000);
	CHECK_U64(b.below.write_bytes, 1000);
	bed_ask1(&b, &a, 5, 6, false);
	bed_stream(&b, l2, &a, 1, 1);
	CHECK_U64(a.rq.dram_bytes, 6);
	CHECK_U64(a.rq.level, RES_DRAM);
	CHECK_U64(a.rq.t_dram_done, a.back);
	comp_free(l2);
	bed_down(&b);
}

/* --- tags and policies ------------------------------------------------------------------------------------- */

TEST(every_way_count_keeps_exactly_its_ways)
{
	static const uint32_t counts[] = { 1, 2, 3, 7, 8, 9, 16, 24, 64 };
	const size_t policies = l2_policies().n;

	for (size_t p = 0; p < policies; p++)
		for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
			struct err e = ERR_INIT;
			const struct cache_policy_ops *by = cache_policy_of((enum cache_policy)p);
			struct cache_tags_cfg k = { 5, counts[n], 0, 0, false, by, 1, 1 };
			struct cache_tags *t = cache_tags_new(&k, &e);
			struct cache_place another;
			struct cache_chunk old;

			CHECK(t);
			for (uint64_t i = 0; i < counts[n]; i++) {
				struct cache_place p = cache_tags_place(t, 2 + 5 * i);
				struct cache_chunk *c = cache_tags_insert(t, &p, 0, &old);

				CHECK(!old.valid); /* empty ways go first */
				c->valid = 1;
			}
			for (uint64_t i = 0; i < counts[n]; i++) {
				struct cache_place p = cache_tags_place(t, 2 + 5 * i);

				CHECK(cache_tags_hit(t, &p, 1) == cache_tags_peek(t, p) && cache_tags_hit(t, &p, 1));
			}
			another = cache_tags_place(t, 2 + 5 * 1000);
			cache_tags_insert(t, &another, 0, &old)->valid = 1;
			CHECK(old.valid &&
			      cache_tags_number(t, another.set, old.tag) == 2); /* the first used goes, in all */
			CHECK(!cache_tags_peek(t, cache_tags_place(t, 2)));
			cache_tags_free(t);
		}
}

/* Two partitions; far is 30 ns more. */
#define HALVES "latency: 20 ns\nmiss_latency: 5 ns\nbanks: 1\nsector: 128 B\npartitions: 2\nfar_latency: 30 ns\n"

static ps_t read_one(struct dev *d, uint64_t addr, uint64_t bytes)
{
	struct bed_ask a;

	bed_ask1(&d->b, &a, addr, bytes, false);
	a.rq.one_core = true;
	bed_stream(&d->b, d->l2, &a, 1, 1);
	return a.back - a.sent;
}

TEST(a_far_line_is_late_once_and_then_a_copy_is_near)
{
	struct dev d;
	unsigned far = 0;

	dev_up(&d, HALVES "size: 1 MiB\n");
	for (uint64_t i = 0; i < 100; i++) {
		ps_t first = read_one(&d, i * CHUNK, 128), again = read_one(&d, i * CHUNK, 128);

		CHECK(first == 125 * NS || first == 155 * NS);
		far += first == 155 * NS;
		CHECK_U64(again, 22 * NS);
	}
	CHECK_U64(far, 50); /* of two neighbours one is far */
	CHECK_U64(st(&d, "far_bytes"), 50 * 128);
	CHECK_U64(st(&d, "copy_bytes"), 50 * 128);
	CHECK_U64(st(&d, "copy_hit_bytes"), 50 * 128);
	CHECK_U64(d.b.below.read_bytes, 100 * 128);
	check_bytes(&d);
	dev_down(&d);
}

TEST(a_write_goes_home_and_takes_the_copies_away)
{
	struct dev d;
	uint64_t far;

	dev_up(&d, HALVES "size: 1 MiB\n");
	far = read_one(&d, 0, 128) == (5 + 100 + 20 + 30) * NS ? 0 : CHUNK;
	d.l2->ops->reset(d.l2);
	read_one(&d, far, 256);
	CHECK_U64(st(&d, "copy_bytes"), 256);
	bed_write(&d.b, d.l2, far, 128);
	CHECK_U64(st(&d, "copy_bytes"), 128);
	CHECK_U64(st(&d, "dirty_bytes"), 128);
	CHECK_U64(read_one(&d, far + 128, 128), (2 + 20) * NS);
	CHECK_U64(read_one(&d, far, 128), (2 + 20 + 30) * NS); /* from home, where it is dirty */
	CHECK_U64(st(&d, "writeback_bytes"), 0);
	dev_down(&d);
}

TEST(copies_take_the_place_of_what_is_at_home)
{
	/* Round and round by one core, halves of 384 chunks: all is near while it fits one; then, under lru, nothing near
	 * stays: half of it is far and half comes from below, until its homes do not fit either. */
	static const struct {
		uint64_t chunks;
		unsigned near, far, below;
	} cases[] = {
		{ 256, 256, 0, 0 },
		{ 640, 0, 310, 310 },
		{ 2048, 0, 0, 2000 },
	};

	for (size_t k = 0; k < 3; k++) {
		uint64_t n = cases[k].chunks;
		struct dev d;
		unsigned near = 0, far = 0, below = 0;

		dev_up(&d, HALVES "ways: 64\nsize: 3 MiB\n");
		for (uint64_t i = 0; i < 3 * n; i++) {
			ps_t t = read_one(&d, i % n * CHUNK, 128);

			if (i < 2 * n)
				continue;
			near += t == 22 * NS;
			far += t == 52 * NS;
			below += t > 100 * NS;
		}
		printf("%llu chunks: %u near, %u far, %u from below\n", (unsigned long long)n, near, far, below);
		CHECK_U64(near + far + below, n);
		CHECK(near >= cases[k].near && far >= cases[k].far && below >= cases[k].below);
		dev_down(&d);
	}
}

TEST(a_stream_pushes_out_of_partitions_what_is_as_old_everywhere)
{
	struct dev d;

	dev_up(&d, HALVES "size: 1 MiB\nhash: none\n");
	for (uint64_t i = 0; i < 1024; i++) {
		bed_write(&d.b, d.l2, i * CHUNK, CHUNK);
		CHECK_U64(d.b.below.n_log, i < 256 ? 0 : i - 255);
		if (i >= 256) { /* the same home of the pair 1 MiB before */
			CHECK_U64(d.b.below.log[i - 256].addr / CHUNK / 2, i / 2 - 128);
			CHECK(d.b.below.log_write[i - 256]);
		}
	}
	CHECK_U64(st(&d, "writeback_bytes"), 768 * CHUNK);
	dev_down(&d);
}

TEST(dirty_neighbours_leave_with_one_that_goes_and_stay_clean)
{
	struct dev d;

	dev_up(&d, SMALL "write_block: 16 KiB\n");
	bed_write(&d.b, d.l2, 0, 2 * CHUNK);
	bed_write(&d.b, d.l2, 3 * CHUNK + 128, 256);
	bed_write(&d.b, d.l2, 5 * CHUNK, CHUNK); /* of another block */
	bed_read(&d.b, d.l2, 4 * CHUNK, CHUNK);
	CHECK_U64(st(&d, "writeback_bytes"), 0);
	bed_read(&d.b, d.l2, 8 * CHUNK, CHUNK); /* chunk 0 goes, and what is dirty in 1 to 3 */
	CHECK_U64(d.b.below.posted, 1);
	CHECK_U64(st(&d, "writeback_bytes"), 2 * CHUNK + 256);
	CHECK_U64(st(&d, "dirty_bytes"), CHUNK);
	CHECK_U64(st(&d, "evicted_bytes"), CHUNK);
	CHECK_U64(d.l2->ops->resident(d.l2, CHUNK, 3 * CHUNK), CHUNK + 256);
	bed_read(&d.b, d.l2, 9 * CHUNK, CHUNK); /* chunk 1 goes, clean */
	CHECK_U64(st(&d, "writeback_bytes"), 2 * CHUNK + 256);
	check_bytes(&d);
	dev_down(&d);
}

TEST(what_is_dirty_for_long_is_written_while_the_memory_below_is_idle)
{
	for (int eager = 0; eager < 2; eager++) {
		struct dev d;

		dev_up(&d, eager ? SMALL "write_back: eager\n" : SMALL "write_back: lazy\n");
		bed_write(&d.b, d.l2, 0, 256);
		bed_write(&d.b, d.l2, 2 * CHUNK, 256); /* 512 B, a 64th, since the first: no more than due */
		CHECK_U64(st(&d, "dirty_bytes"), 512);
		d.b.below.idle = true;
		bed_write(&d.b, d.l2, 2 * CHUNK, 256); /* a request, that brings nothing in */
		CHECK_U64(d.b.below.posted, 0);
		bed_read(&d.b, d.l2, 3 * CHUNK, 256);
		CHECK_U64(d.b.below.posted, eager);
		CHECK_U64(st(&d, "dirty_bytes"), eager ? 256 : 512);
		bed_write(&d.b, d.l2, 0, 128); /* dirty again: last in line */
		bed_read(&d.b, d.l2, 3 * CHUNK + 256, 256);
		CHECK_U64(st(&d, "dirty_bytes"), eager ? 128 : 512);
		CHECK_U64(st(&d, "resident_bytes"), 256 + 256 + 512);
		if (eager) {
			CHECK_U64(st(&d, "eager_bytes"), 512);
			CHECK_U64(d.b.below.posted, 2);
			CHECK(d.b.below.log[1].addr == 0 && d.b.below.log[1].bytes == 256 && d.b.below.log_write[1]);
		}
		check_bytes(&d);
		dev_down(&d);
	}
}

TEST(what_is_waited_for_is_served_first)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_urgent_first(&d.b, d.l2, CHUNK);
	dev_down(&d);
}

SUITE(t_l2, T(what_is_waited_for_is_served_first), T(what_is_dirty_for_long_is_written_while_the_memory_below_is_idle),
      T(a_stream_pushes_out_of_partitions_what_is_as_old_everywhere),
      T(dirty_neighbours_leave_with_one_that_goes_and_stay_clean), T(a_far_line_is_late_once_and_then_a_copy_is_near),
      T(a_write_goes_home_and_takes_the_copies_away), T(copies_take_the_place_of_what_is_at_home),
      T(a_miss_pays_both_ways_and_a_hit_only_the_l2), T(the_banks_serve_one_after_the_other),
      T(writes_fetch_nothing_and_go_out_when_evicted), T(a_miss_fetches_sectors_and_what_is_dirty_is_sectors),
      T(only_dirty_lines_are_written_back), T(misses_that_touch_are_one_run_and_far_ones_one_request),
      T(more_runs_than_a_request_holds_are_several), T(a_hit_on_bytes_that_are_still_coming_waits_for_them),
      T(waiting_goes_through_a_chain_of_fills), T(what_the_requester_keeps_is_not_taken_in),
      T(no_more_misses_than_mshrs_and_one_retry_each), T(a_hit_is_taken_under_as_many_misses_as_there_are_mshrs),
      T(write_backs_that_dram_refuses_stop_the_l2_and_none_is_lost),
      T(lru_keeps_what_was_used_last_and_srrip_what_was_used_again), T(reset_is_cold),
      T(resident_counts_bytes_of_the_range), T(sizes_that_are_no_sets_are_an_error), T(without_an_l2_requests_pass),
      T(every_way_count_keeps_exactly_its_ways));
