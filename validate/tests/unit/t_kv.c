/* t_kv.c - the KV buffer over a memory that answers after 100 ns. */
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

#define NS PS_NS
/* Four chunks; 64 B a ns: a chunk takes 64 ns. */
#define SMALL "size: 16 KiB\nbandwidth: 64 GB/s\nlatency: 20 ns\n"

struct dev {
	struct bed b;
	struct kv_cfg cfg;
	struct comp *kv;
};

static void dev_up(struct dev *d, const char *yaml)
{
	struct err e = ERR_INIT;

	bed_up(&d->b);
	bed_cfg(kv_schema, &d->cfg, yaml);
	CHECK_OK(kv_cfg_check(&d->cfg, &e), e);
	d->kv = bed_make(&d->b, &kv_ops, &d->cfg, NULL);
}

static void dev_down(struct dev *d)
{
	comp_free(d->kv);
	bed_down(&d->b);
}

static uint64_t st(const struct dev *d, const char *name)
{
	char full[64];

	snprintf(full, sizeof full, "kv_buffer.%s", name);
	return stat_get(d->b.stats, full);
}

static void check_bytes(const struct dev *d)
{
	CHECK_U64(st(d, "read_bytes") + st(d, "write_bytes"),
	          st(d, "hit_bytes") + st(d, "fill_bytes") + st(d, "spill_read_bytes") + st(d, "spill_write_bytes"));
	CHECK_U64(st(d, "fill_bytes") + st(d, "spill_read_bytes"), d->b.below.read_bytes);
	CHECK_U64(st(d, "spill_write_bytes"), d->b.below.write_bytes);
	CHECK(st(d, "resident_bytes") <= d->cfg.size);
	CHECK_U64(d->kv->ops->resident(d->kv, 0, UINT64_C(1) << 26), st(d, "resident_bytes"));
}

TEST(the_first_read_fetches_and_later_ones_do_not)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, SMALL);
	CHECK_U64(bed_read(&d.b, d.kv, 0, KV_CHUNK), (100 + 20) * NS);
	CHECK_U64(bed_read(&d.b, d.kv, 0, KV_CHUNK), (64 + 20) * NS);
	CHECK_U64(d.b.below.read_bytes, KV_CHUNK);
	bed_ask1(&d.b, &a, 100, 100, false);
	bed_stream(&d.b, d.kv, &a, 1, 1);
	CHECK_U64(a.rq.hit_bytes, 256); /* two lines */
	CHECK_U64(a.rq.level, RES_KV);
	CHECK_U64(a.rq.t_dram, 0);
	check_bytes(&d);
	dev_down(&d);
}

TEST(writes_stay)
{
	struct dev d;

	dev_up(&d, SMALL);
	CHECK_U64(bed_write(&d.b, d.kv, 4096, 128), (2 + 20) * NS);
	CHECK_U64(bed_read(&d.b, d.kv, 4096, 128), (2 + 20) * NS);
	CHECK_U64(st(&d, "dirty_bytes"), 128);
	CHECK_U64(bed_read(&d.b, d.kv, 4096, KV_CHUNK), (100 + 20) * NS); /* the rest of the chunk is still outside */
	CHECK_U64(d.b.below.read_bytes, KV_CHUNK - 128);
	CHECK_U64(d.b.below.write_bytes, 0);
	check_bytes(&d);
	dev_down(&d);
}

TEST(what_does_not_fit_spills_and_what_is_pinned_stays)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_read(&d.b, d.kv, 0, 4 * KV_CHUNK);
	for (int i = 0; i < 2; i++)
		CHECK_U64(bed_read(&d.b, d.kv, 8 * KV_CHUNK, KV_CHUNK), (100 + 20) * NS);
	CHECK_U64(bed_write(&d.b, d.kv, 9 * KV_CHUNK, KV_CHUNK), (100 + 20) * NS);
	CHECK_U64(st(&d, "spill_read_bytes"), 2 * KV_CHUNK);
	CHECK_U64(st(&d, "spill_write_bytes"), KV_CHUNK);
	CHECK_U64(d.kv->ops->resident(d.kv, 0, 4 * KV_CHUNK), 4 * KV_CHUNK);
	CHECK_U64(d.kv->ops->resident(d.kv, 8 * KV_CHUNK, KV_CHUNK), 0);
	CHECK_U64(bed_read(&d.b, d.kv, 0, 4 * KV_CHUNK), (256 + 20) * NS);
	check_bytes(&d);
	dev_down(&d);
}

TEST(a_large_buffer_finds_what_it_took_in_before_it_grew)
{
	const uint64_t chunks = 100000, apart = 7 * KV_CHUNK;
	struct dev d;

	dev_up(&d, "size: 1 GiB\nbandwidth: 4 TB/s\nlatency: 20 ns\n");
	for (uint64_t i = 0; i < chunks; i++)
		bed_write(&d.b, d.kv, i * apart, KV_CHUNK);
	CHECK_U64(st(&d, "resident_bytes"), chunks * KV_CHUNK);
	CHECK_U64(st(&d, "spill_write_bytes"), 0);
	for (uint64_t i = 0; i < chunks; i += 11) {
		CHECK_U64(d.kv->ops->resident(d.kv, i * apart, KV_CHUNK), KV_CHUNK);
		CHECK_U64(d.kv->ops->resident(d.kv, i * apart + KV_CHUNK, KV_CHUNK), 0);
	}
	CHECK_U64(bed_read(&d.b, d.kv, 0, KV_CHUNK), clock_transfer(KV_CHUNK, 4000000000000) + 20 * NS);
	d.kv->ops->reset(d.kv);
	CHECK_U64(d.kv->ops->resident(d.kv, 0, KV_CHUNK), 0);
	CHECK_U64(bed_write(&d.b, d.kv, 0, KV_CHUNK), clock_transfer(KV_CHUNK, 4000000000000) + 20 * NS);
	CHECK_U64(d.kv->ops->resident(d.kv, 0, KV_CHUNK), KV_CHUNK);
	dev_down(&d);
}

TEST(a_request_across_the_last_room_is_part_kept_and_part_spilled)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, SMALL);
	bed_ask1(&d.b, &a, 0, 6 * KV_CHUNK, false);
	bed_stream(&d.b, d.kv, &a, 1, 1);
	CHECK_U64(d.b.below.reads, 2); /* one no cache below keeps, one any other data */
	CHECK_U64(a.rq.dram_bytes, 6 * KV_CHUNK);
	CHECK_U64(st(&d, "fill_bytes"), 4 * KV_CHUNK);
	CHECK_U64(st(&d, "spill_read_bytes"), 2 * KV_CHUNK);
	check_bytes(&d);
	dev_down(&d);
}

TEST(what_spills_around_what_is_held_is_asked_for_in_one_piece_each)
{
	struct dev d;
	struct bed_ask a;

	for (int write = 0; write < 2; write++) {
		dev_up(&d, SMALL);
		bed_write(&d.b, d.kv, 100 * KV_CHUNK, 4 * KV_CHUNK); /* it is full */
		bed_ask1(&d.b, &a, 90 * KV_CHUNK + 128, 30 * KV_CHUNK, write);
		bed_stream(&d.b, d.kv, &a, 1, 1);
		CHECK_U64(a.rq.hit_bytes, 4 * KV_CHUNK);
		CHECK_U64(st(&d, write ? "spill_write_bytes" : "spill_read_bytes"), 26 * KV_CHUNK);
		CHECK_U64(d.b.below.n_log, 2);
		CHECK_U64(d.b.below.log[0].addr, 90 * KV_CHUNK + 128);
		CHECK_U64(d.b.below.log[0].bytes, 10 * KV_CHUNK - 128);
		CHECK_U64(d.b.below.log[1].addr, 104 * KV_CHUNK);
		CHECK_U64(d.b.below.log[1].bytes, 16 * KV_CHUNK + 128);
		check_bytes(&d);
		dev_down(&d);
	}
}

TEST(a_second_reader_waits_for_the_first_ones_bytes)
{
	struct dev d;
	struct bed_ask a[2];

	dev_up(&d, SMALL);
	for (int i = 0; i < 2; i++)
		bed_ask1(&d.b, &a[i], 0, 128, false);
	bed_stream(&d.b, d.kv, a, 2, 2);
	CHECK_U64(a[1].back, (100 + 20) * NS);
	CHECK_U64(d.b.below.read_bytes, 128);
	check_bytes(&d);
	dev_down(&d);
}

TEST(over_an_l2_nothing_is_held_twice)
{
	struct dev d;
	struct l2_cfg c;
	struct comp *l2, *kv;

	bed_up(&d.b);
	bed_cfg(l2_schema, &c, "size: 1 MiB\n");
	bed_cfg(kv_schema, &d.cfg, SMALL);
	l2 = bed_make(&d.b, &l2_ops, &c, NULL);
	kv = bed_make(&d.b, &kv_ops, &d.cfg, l2);
	bed_read(&d.b, kv, 0, 6 * KV_CHUNK);
	CHECK_U64(kv->ops->resident(kv, 0, 6 * KV_CHUNK), 4 * KV_CHUNK);
	CHECK_U64(l2->ops->resident(l2, 0, 6 * KV_CHUNK), 2 * KV_CHUNK);
	CHECK_U64(l2->ops->resident(l2, 0, 4 * KV_CHUNK), 0);
	comp_free(kv);
	comp_free(l2);
	bed_down(&d.b);
}

TEST(reset_forgets_what_was_pinned)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_write(&d.b, d.kv, 0, 2 * KV_CHUNK);
	d.kv->ops->reset(d.kv);
	CHECK_U64(st(&d, "resident_bytes"), 0);
	CHECK_U64(st(&d, "dirty_bytes"), 0);
	bed_read(&d.b, d.kv, 16 * KV_CHUNK, 4 * KV_CHUNK);
	CHECK_U64(st(&d, "resident_bytes"), 4 * KV_CHUNK);
	check_bytes(&d);
	dev_down(&d);
}

TEST(sizes_are_whole_chunks)
{
	struct kv_cfg c;
	struct err e = ERR_INIT;

	bed_cfg(kv_schema, &c, "size: 5000 B\n");
	CHECK(kv_cfg_check(&c, &e) < 0);
	CHECK_HAS(e.msg, "kv_buffer.size");
}

TEST(what_is_waited_for_is_served_first)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_urgent_first(&d.b, d.kv, KV_CHUNK);
	dev_down(&d);
}

SUITE(t_kv, T(what_is_waited_for_is_served_first), T(the_first_read_fetches_and_later_ones_do_not), T(writes_stay),
      T(what_does_not_fit_spills_and_what_is_pinned_stays), T(a_large_buffer_finds_what_it_took_in_before_it_grew),
      T(a_request_across_the_last_room_is_part_kept_and_part_spilled),
      T(what_spills_around_what_is_held_is_asked_for_in_one_piece_each),
      T(a_second_reader_waits_for_the_first_ones_bytes), T(over_an_l2_nothing_is_held_twice),
      T(reset_forgets_what_was_pinned), T(sizes_are_whole_chunks));
