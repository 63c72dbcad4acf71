/* t_l1.c - the L1 over a memory that answers after 100 ns: times to the picosecond, bytes to the sector; what of it is
 * scratchpad. Two cores of 16 KiB: a set of 8 chunks of 2 KiB (16 lines of 4 sectors), and one more. */
#include <stdlib.h>

#include "arch/mem/l1.h"
#include "sim/engine/machine.h"
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

#define NS    PS_NS
#define CHUNK UINT64_C(2048)
/* 2 cores of 64 B a cycle at 1 GHz: 2 KiB take 16 ns. */
#define SMALL "size: 16 KiB\nways: 8\nbandwidth: 64 B\nlatency: 20 ns\nmshrs: 4\n"

struct dev {
	struct bed b;
	struct l1_cfg cfg;
	struct comp *l1;
};

static void dev_up(struct dev *d, const char *yaml)
{
	struct err e = ERR_INIT;

	bed_up(&d->b);
	bed_cfg(l1_schema, &d->cfg, yaml);
	CHECK_OK(l1_cfg_check(&d->cfg, 2, &e), e);
	d->l1 = bed_make(&d->b, &l1_ops, &d->cfg, NULL);
}

static void dev_down(struct dev *d)
{
	comp_free(d->l1);
	bed_down(&d->b);
}

static uint64_t st(const struct dev *d, const char *name)
{
	char full[64];

	snprintf(full, sizeof full, "l1.%s", name);
	return stat_get(d->b.stats, full);
}

static void check_bytes(const struct dev *d)
{
	CHECK_U64(st(d, "read_bytes"), st(d, "hit_bytes") + st(d, "miss_bytes"));
	CHECK_U64(st(d, "fill_bytes"), d->b.below.read_bytes);
	CHECK_U64(st(d, "through_bytes"), d->b.below.write_bytes);
	CHECK_U64(st(d, "miss_bytes"), st(d, "resident_bytes") + st(d, "evicted_bytes") + st(d, "dropped_bytes"));
	CHECK(st(d, "resident_bytes") <= l1_cache(&d->cfg) + 2 * d->cfg.victim);
	CHECK_U64(d->l1->ops->resident(d->l1, 0, UINT64_C(1) << 27), st(d, "resident_bytes"));
}

TEST(a_hit_costs_the_l1_and_a_miss_the_way_below_too)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, SMALL);
	bed_ask1(&d.b, &a, 0, CHUNK, false);
	bed_stream(&d.b, d.l1, &a, 1, 1);
	CHECK_U64(a.back - a.sent, (100 + 20) * NS);
	CHECK_U64(a.rq.t_l1, a.sent);
	CHECK_U64(a.rq.hit_bytes, 0);
	bed_ask1(&d.b, &a, 0, CHUNK, false);
	bed_stream(&d.b, d.l1, &a, 1, 1);
	CHECK_U64(a.back - a.sent, (16 + 20) * NS);
	CHECK_U64(a.rq.t_l1, 0);
	CHECK_U64(a.rq.t_arrive, a.sent);
	CHECK_U64(a.rq.level, RES_L1);
	CHECK_U64(a.rq.hit_bytes, CHUNK);
	check_bytes(&d);
	dev_down(&d);
}

TEST(a_miss_fetches_sectors_not_lines)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_read(&d.b, d.l1, 40, 10);
	CHECK_U64(d.b.below.log[0].addr, 32);
	CHECK_U64(d.b.below.log[0].bytes, 32);
	bed_read(&d.b, d.l1, 0, 128); /* its other three */
	CHECK_U64(d.b.below.read_bytes, 128);
	CHECK_U64(d.b.below.n_log, 3);
	CHECK_U64(st(&d, "hit_bytes"), 32);
	check_bytes(&d);
	dev_down(&d);
}

TEST(what_is_written_goes_below_as_it_is_and_leaves)
{
	struct dev d;

	dev_up(&d, SMALL);
	bed_read(&d.b, d.l1, 0, CHUNK);
	CHECK_U64(bed_write(&d.b, d.l1, 100, 60), (100 + 20) * NS); /* acknowledged from below */
	CHECK_U64(d.b.below.log[1].addr, 100);
	CHECK_U64(d.b.below.log[1].bytes, 60);
	CHECK_U64(d.b.below.posted, 0);
	CHECK_U64(st(&d, "dropped_bytes"), 64); /* sectors 96 to 160 */
	CHECK_U64(d.l1->ops->resident(d.l1, 0, CHUNK), CHUNK - 64);
	bed_read(&d.b, d.l1, 0, CHUNK);
	CHECK_U64(d.b.below.read_bytes, CHUNK + 64);
	bed_write(&d.b, d.l1, 1 << 20, 3 * CHUNK); /* and a write takes nothing in */
	CHECK_U64(st(&d, "resident_bytes"), CHUNK);
	CHECK_U64(d.b.below.writes, 2);
	bed_write(&d.b, d.l1, 0, CHUNK);
	CHECK_U64(st(&d, "resident_bytes"), 0);
	check_bytes(&d);
	dev_down(&d);
}

TEST(its_victim_cache_takes_what_it_evicts)
{
	struct dev d;
	unsigned hits = 0;

	/* 17 chunks in order, twice: more than the 16 of the cache, not more than it and the 2 of the victim cache. */
	for (int with = 0; with < 2; with++) {
		dev_up(&d, with ? SMALL "victim: 2 KiB\n" : SMALL);
		for (uint64_t i = 0; i < 34; i++) {
			uint64_t before = d.b.below.read_bytes;

			bed_read(&d.b, d.l1, i % 17 * CHUNK, CHUNK);
			hits += with && i >= 17 && d.b.below.read_bytes == before;
		}
		CHECK((stat_get_or(d.b.stats, "l1.victim_hit_bytes", 0) > 0) == with);
		check_bytes(&d);
		bed_write(&d.b, d.l1, 0, 17 * CHUNK); /* they leave the victim cache too */
		CHECK_U64(st(&d, "resident_bytes"), 0);
		check_bytes(&d);
		dev_down(&d);
	}
	CHECK_U64(hits, 17);
}

TEST(the_split_trades_cache_for_scratchpad_byte_by_byte)
{
	static const struct {
		const char *yaml;
		uint64_t shared, cache;
	} cases[] = {
		{ "size: 256 KiB\n", 0, 2 * 256 << 10 },
		{ "size: 256 KiB\nshared_split: 50 %\n", 128 << 10, 2 * 128 << 10 },
		{ "size: 256 KiB\nshared_split: 0.001\n", 0, 2 * 256 << 10 }, /* 262 B: less than 1 KiB */
		{ "size: 256 KiB\nshared_split: 33 %\n", 84 << 10, 2 * 172 / 16 * 16 << 10 }, /* sets of 16 KiB */
		{ "size: 256 KiB\nshared_split: 100 %\n", 256 << 10, 0 },
		{ "", 0, 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct l1_cfg c;
		struct err e = ERR_INIT;

		bed_cfg(l1_schema, &c, cases[i].yaml);
		CHECK_OK(l1_cfg_check(&c, 2, &e), e);
		CHECK_U64(l1_shared(&c), cases[i].shared);
		CHECK_U64(l1_cache(&c), cases[i].cache);
		CHECK(l1_shared(&c) * 2 + l1_cache(&c) <= c.size * 2);
	}
}

TEST(the_machine_has_the_shared_part_as_scratchpad)
{
	const char *const sets[] = { "l1.size=256 KiB", "l1.shared_split=25 %" };
	const char *const all[] = { "l1.size=256 KiB", "l1.shared_split=1" };
	static const char text[] = "cores: 4\nsram: {size: 64 KiB, pin: 100 KiB}\n";
	struct err e = ERR_INIT;
	struct machine_conf *c;
	struct machine *m;

	CHECK(!machine_conf_parse(text, strlen(text), "x.yaml", NULL, 0, &e));
	CHECK_HAS(e.msg, "sram.pin");
	err_clear(&e);
	CHECK((c = machine_conf_parse(text, strlen(text), "x.yaml", sets, 2, &e)) != NULL);
	CHECK_U64(sram_size(&c->cfg.sram), (64 + 64) << 10);
	CHECK((m = machine_new(&c->cfg, NULL, &e)) != NULL);
	CHECK_STR(machine_memory(m)->ops->kind, "l1");
	machine_free(m);
	machine_conf_free(c);
	CHECK((c = machine_conf_parse(text, strlen(text), "x.yaml", all, 2, &e)) != NULL);
	CHECK_U64(sram_size(&c->cfg.sram), (64 + 256) << 10);
	CHECK((m = machine_new(&c->cfg, NULL, &e)) != NULL);
	CHECK_STR(machine_memory(m)->ops->kind, "noc");
	machine_free(m);
	machine_conf_free(c);
}

TEST(wrong_sizes_are_named)
{
	static const struct {
		const char *yaml, *says;
	} bad[] = {
		{ "size: 4 KiB\n", "'l1.size' less its shared part is too small: 4096 B in each of 2 cores" },
		{ "size: 64 KiB\nsector: 256 B\n", "'l1.sector' is a part of a line" },
		{ "victim: 64 KiB\n", "'l1.victim' needs an L1 whose evictions it takes: 'l1.size' is 0" },
		{ "size: 64 KiB\nshared_split: 1\nvictim: 64 KiB\n", "all of 'l1.size' is shared memory" },
		{ "size: 64 KiB\nvictim: 512 B\n", "'l1.victim' is too small" },
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct l1_cfg c;
		struct err e = ERR_INIT;

		bed_cfg(l1_schema, &c, bad[i].yaml);
		CHECK(l1_cfg_check(&c, 2, &e) < 0 && e.kind == ERR_CONFIG);
		CHECK_HAS(e.msg, bad[i].says);
	}
}

SUITE(t_l1, T(a_hit_costs_the_l1_and_a_miss_the_way_below_too), T(a_miss_fetches_sectors_not_lines),
      T(what_is_written_goes_below_as_it_is_and_leaves), T(its_victim_cache_takes_what_it_evicts),
      T(the_split_trades_cache_for_scratchpad_byte_by_byte), T(the_machine_has_the_shared_part_as_scratchpad),
      T(wrong_sizes_are_named));
