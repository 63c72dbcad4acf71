/* t_dram.c - DRAM to the picosecond: one pseudo-channel with HBM2's times where a number is exact, the committed kinds
 * where an efficiency is claimed. */
#include <stdlib.h>

#include "arch/mem/dram_tile.h"
#include "validate/tests/membed.h"
#include "validate/tests/tablebed.h"
#include "validate/tests/test.h"

/* One unit, no refresh, no controller: what is left is the device. 4 groups x 4 banks, rows of 1 KiB, 32 B in 2 ns. */
#define ONE_UNIT "channels: 1\npseudo_channels: 1\nmap: plain\nt_refi: 0\nt_controller: 0\n"
#define STRIPE   UINT64_C(4096) /* one row in each of four groups */
#define NS       PS_NS

struct dev {
	struct bed b;
	struct dram_cfg cfg;
	struct comp *dram;
};

static void dev_up(struct dev *d, const char *kind, const char *yaml)
{
	bed_up(&d->b);
	bed_dram_kind(&d->cfg, kind, yaml);
	d->dram = bed_make(&d->b, &dram_ops, &d->cfg, NULL);
}

static void dev_down(struct dev *d)
{
	comp_free(d->dram);
	bed_down(&d->b);
}

TEST(row_empty_hit_and_conflict_cost_their_closed_form)
{
	struct dev d;

	dev_up(&d, "hbm2-2000", ONE_UNIT);
	CHECK_U64(bed_read(&d.b, d.dram, 0, 32), (14 + 14 + 2) * NS);
	CHECK_U64(bed_read(&d.b, d.dram, 128, 32), (14 + 2) * NS);                  /* same row, same bank group */
	CHECK_U64(bed_read(&d.b, d.dram, 4 * STRIPE, 32), (14 + 14 + 14 + 2) * NS); /* same bank, next row */
	CHECK_U64(dram_unloaded(&d.cfg, DRAM_ROW_EMPTY), 30 * NS);
	CHECK_U64(dram_unloaded(&d.cfg, DRAM_ROW_HIT), 16 * NS);
	CHECK_U64(dram_unloaded(&d.cfg, DRAM_ROW_CONFLICT), 44 * NS);
	dev_down(&d);
}

TEST(rows_of_one_bank_follow_each_other_at_trc)
{
	struct dev d;
	struct bed_ask a[3];

	dev_up(&d, "hbm2-2000", ONE_UNIT);
	for (int i = 0; i < 3; i++) {
		bed_ask1(&d.b, &a[i], 4 * STRIPE * (uint64_t)i, 32, false);
		CHECK(comp_send(d.dram, &a[i].rq));
	}
	bed_run(&d.b);
	CHECK_U64(a[0].back, 30 * NS);
	CHECK_U64(a[1].back, (48 + 30) * NS);
	CHECK_U64(a[2].back, (96 + 30) * NS);
	dev_down(&d);
}

TEST(a_write_recovers_before_its_row_closes)
{
	struct dev d;
	struct bed_ask a[2];

	dev_up(&d, "hbm2-2000", ONE_UNIT);
	for (int i = 0; i < 2; i++) {
		bed_ask1(&d.b, &a[i], 4 * STRIPE * (uint64_t)i, 32, true);
		CHECK(comp_send(d.dram, &a[i].rq));
	}
	bed_run(&d.b);
	CHECK_U64(a[0].back, (12 + 5 + 2) * NS);                /* tRCD of a write, tCWL, burst */
	CHECK_U64(a[1].back, (19 + 16 + 14 + 12 + 5 + 2) * NS); /* tWR, tRP: later than tRC */
	dev_down(&d);
}

TEST(every_kind_has_the_unloaded_times_of_its_source)
{
	/* idle_closed_ns and idle_conflict_ns of timings.csv, in ps; peak of one unit from the pins */
	static const struct {
		const char *kind;
		ps_t empty, conflict;
		uint64_t mb_s;
	} rows[] = {
		{ "hbm2-2000", 30000, 44000, 16000 },   { "hbm3-6400", 33125, 49375, 25600 },
		{ "hbm4-8000", 30500, 47000, 32000 },   { "gddr6-14000", 30210, 45600, 28000 },
		{ "gddr7-28000", 31976, 49106, 28000 }, { "lpddr5-6400", 42500, 61250, 12800 },
		{ "ddr5-4800", 31616, 45760, 19200 },   { "ddr5-6400", 31200, 45552, 25600 },
		{ "ddr4-3200", 30000, 43750, 25600 },   { "ddr4-2400", 29988, 43316, 19200 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct dram_cfg c;
		ps_t empty, conflict;

		bed_dram_kind(&c, rows[i].kind, "");
		empty = dram_unloaded(&c, DRAM_ROW_EMPTY);
		conflict = dram_unloaded(&c, DRAM_ROW_CONFLICT);
		/* The source rounds tCK, so its burst may differ from the pins' by a few ps. */
		CHECK(empty + 10 >= rows[i].empty && empty <= rows[i].empty + 10);
		CHECK(conflict + 10 >= rows[i].conflict && conflict <= rows[i].conflict + 10);
		CHECK_U64(dram_peak(&c) / (c.channels * c.pseudo_channels), rows[i].mb_s * 1000000);
	}
}

TEST(the_defaults_are_the_file_hbm3_6400)
{
	struct dram_cfg file, def;

	memset(&file, 0, sizeof file); /* padding is compared too */
	memset(&def, 0, sizeof def);
	bed_dram_kind(&file, "hbm3-6400", "");
	bed_dram_cfg(&def, "");
	CHECK(memcmp(&file, &def, sizeof file) == 0);
}

TEST(reads_and_writes_of_one_row_pay_the_turnaround)
{
	struct dev d;
	struct bed_ask a[4];

	dev_up(&d, "hbm2-2000", ONE_UNIT "write_batch: 1\n");
	bed_read(&d.b, d.dram, 0, 128); /* rows open, bus free at 38 ns - tCL */
	for (int i = 0; i < 4; i++)
		bed_ask1(&d.b, &a[i], 0, 128, i % 2 == 1);
	for (int i = 0; i < 4; i++) {
		a[i].rq.not_before = 1000 * NS;
		CHECK(comp_send(d.dram, &a[i].rq));
	}
	bed_run(&d.b);
	CHECK_U64(a[0].back, (1000 + 8 + 14) * NS);      /* four bursts, then tCL */
	CHECK_U64(a[1].back, (1008 + 11 + 8 + 5) * NS);  /* last RD to WR 13: 11 more than a burst; tCWL */
	CHECK_U64(a[2].back, (1027 + 13 + 8 + 14) * NS); /* tCWL + tWTR = 13 */
	CHECK_U64(a[3].back, (1048 + 11 + 8 + 5) * NS);
	CHECK_U64(stat_get(d.b.stats, "dram.turnarounds"), 3);
	dev_down(&d);
}

TEST(a_small_write_pays_its_share_of_a_batch)
{
	struct dev d;
	struct bed_ask a[3];

	dev_up(&d, "hbm2-2000", ONE_UNIT "write_batch: 16\n");
	bed_read(&d.b, d.dram, 0, 128);
	for (int i = 0; i < 3; i++) {
		bed_ask1(&d.b, &a[i], 0, 128, i == 1);
		a[i].rq.not_before = 1000 * NS;
		CHECK(comp_send(d.dram, &a[i].rq));
	}
	bed_run(&d.b);
	CHECK_U64(a[1].back, 1008 * NS + 11 * NS / 4 + (8 + 5) * NS); /* 4 of 16 bursts */
	CHECK_U64(a[2].back, 1016 * NS + 11 * NS / 4 + 13 * NS / 4 + (8 + 14) * NS);
	dev_down(&d);
}

TEST(activates_of_a_unit_keep_their_distance)
{
	struct dev d;
	struct bed_ask a[4];

	/* One burst in each of four banks of one group: ACT every 4 ns (tRRD), data tRCD + tCL + 2 after it. */
	dev_up(&d, "hbm2-2000", ONE_UNIT "t_row_bus: 0\n");
	for (int i = 0; i < 4; i++) {
		bed_ask1(&d.b, &a[i], (uint64_t)i * STRIPE, 32, false);
		CHECK(comp_send(d.dram, &a[i].rq));
	}
	bed_run(&d.b);
	for (int i = 0; i < 4; i++)
		CHECK_U64(a[i].back, (30 + 4 * (ps_t)i) * NS);
	CHECK_U64(stat_get(d.b.stats, "dram.activates"), 4);
	dev_down(&d);
}

TEST(a_full_stripe_opens_a_row_in_every_group)
{
	struct dev d;

	dev_up(&d, "hbm2-2000", ONE_UNIT "t_row_bus: 0\n");
	CHECK_U64(bed_read(&d.b, d.dram, 0, STRIPE), (14 + 256 + 14) * NS);
	CHECK_U64(stat_get(d.b.stats, "dram.activates"), 4);
	CHECK_U64(stat_get(d.b.stats, "dram.row_hits"), 124);
	CHECK_U64(bed_read(&d.b, d.dram, 0, STRIPE), (256 + 14) * NS);
	CHECK_U64(stat_get(d.b.stats, "dram.activates"), 4);
	dev_down(&d);
}

TEST(a_row_opened_by_a_small_read_is_a_hit_for_a_large_one_and_back)
{
	struct dev d;

	dev_up(&d, "hbm2-2000", ONE_UNIT "t_row_bus: 0\n");
	bed_read(&d.b, d.dram, 0, 32);     /* group 0 */
	bed_read(&d.b, d.dram, 0, STRIPE); /* opens the other three */
	CHECK_U64(stat_get(d.b.stats, "dram.activates"), 4);
	CHECK_U64(bed_read(&d.b, d.dram, 64, 32), 16 * NS);
	CHECK_U64(bed_read(&d.b, d.dram, 96, 64), 18 * NS); /* groups 3 and 0 */
	CHECK_U64(stat_get(d.b.stats, "dram.activates"), 4);
	dev_down(&d);
}

TEST(a_request_in_a_refresh_window_waits_for_its_end_and_for_activates)
{
	struct dev d;
	struct bed_ask a;
	const ps_t block = (5 + 14 + 350 + 14) * NS, at = 3900 * NS + 10 * NS;

	dev_up(&d, "hbm2-2000", "channels: 1\npseudo_channels: 1\nmap: plain\nt_controller: 0\n");
	bed_read(&d.b, d.dram, 0, 128);
	bed_ask1(&d.b, &a, 0, 32, false);
	a.rq.not_before = at;
	CHECK(comp_send(d.dram, &a.rq));
	bed_run(&d.b);
	CHECK_U64(a.back, 3900 * NS + block + 16 * NS);
	CHECK_U64(stat_get(d.b.stats, "dram.refreshes"), 1);
	/* One that is half done when the window opens goes on after it. */
	bed_ask1(&d.b, &a, 0, 128, false);
	a.rq.not_before = 7800 * NS - 4 * NS;
	CHECK(comp_send(d.dram, &a.rq));
	bed_run(&d.b);
	CHECK_U64(a.back, 7800 * NS + block + (4 + 14) * NS);
	dev_down(&d);
}

TEST(a_bank_in_refresh_is_waited_for_and_others_are_not)
{
	struct dev d;
	/* 16 banks in 3900 ns, group 0's first: bank 0 of it at 243.75 ns and every 3900 ns from there. */
	const ps_t turn = 3900 * NS / 16, again = turn + (5 + 14 + 160 + 14) * NS;
	struct {
		uint64_t addr, bytes;
		ps_t at, back;
	} asks[] = {
		{ 0, 128, 0, (3 * 4 + 14 + 2 + 14) * NS }, /* opens a row in each group */
		{ 0, 32, 250 * NS, again + (2 + 14) * NS },
		{ 32, 32, (3900 + 250) * NS, (3900 + 250 + 2 + 14) * NS }, /* group 1 */
		{ 0, 128, (3900 + 280) * NS, 3900 * NS + again + (2 + 14) * NS },
		{ 0, 128, (3900 + 460) * NS, (3900 + 460 + 8 + 14) * NS },
	};

	dev_up(&d, "hbm2-2000", "channels: 1\npseudo_channels: 1\nmap: plain\nt_controller: 0\nrefresh: per_bank\n");
	for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
		struct bed_ask a;

		bed_ask1(&d.b, &a, asks[i].addr, asks[i].bytes, false);
		a.rq.not_before = asks[i].at;
		CHECK(comp_send(d.dram, &a.rq));
		bed_run(&d.b);
		CHECK_U64(a.back, asks[i].back);
	}
	CHECK_U64(stat_get(d.b.stats, "dram.refreshes"), (3900 + 482) * NS / turn);
	dev_down(&d);
}

TEST(open_time_and_its_inverse_agree_at_every_edge)
{
	struct dram_timing t = { .t_refi = 1000, .t_block = 300 };
	ps_t before = 0;

	for (ps_t when = 0; when < 5000; when++) {
		ps_t open = dram_tile_open(&t, when), back = dram_tile_when(&t, open);

		CHECK(open == before || open == before + 1);
		CHECK(back <= when && dram_tile_open(&t, back) == open);
		before = open;
	}
	CHECK_U64(dram_tile_open(&t, 1000), 1000);
	CHECK_U64(dram_tile_open(&t, 1300), 1000);
	CHECK_U64(dram_tile_open(&t, 1301), 1001);
	CHECK_U64(dram_tile_when(&t, 1000), 1000);
	CHECK_U64(dram_tile_when(&t, 1001), 1301);
	CHECK_U64(dram_tile_when(&t, 1700), 2000);
	CHECK_U64(dram_tile_when(&t, 1701), 2301);
	CHECK_U64(dram_tile_windows(&t, 999), 0);
	CHECK_U64(dram_tile_windows(&t, 1000), 1);
}

TEST(the_controller_adds_its_latency_and_scaling_scales)
{
	struct dev d;

	dev_up(&d, "hbm2-2000", "channels: 1\nmap: plain\nt_refi: 0\nt_controller: 10 ns\n");
	CHECK_U64(bed_read(&d.b, d.dram, 0, 32), 40 * NS);
	dev_down(&d);
	dev_up(&d, "hbm2-2000", "channels: 1\nmap: plain\nt_refi: 0\nt_controller: 10 ns\nlatency_scale: 0.5\n");
	CHECK_U64(bed_read(&d.b, d.dram, 0, 32), (5 + 7 + 7 + 2) * NS);
	dev_down(&d);
}

TEST(bytes_are_counted_as_asked_and_bursts_apart)
{
	struct dev d;
	struct bed_ask a;

	dev_up(&d, "hbm2-2000", ONE_UNIT);
	bed_read(&d.b, d.dram, 30, 4); /* touches two bursts */
	CHECK_U64(stat_get(d.b.stats, "dram.read_bytes"), 4);
	CHECK_U64(stat_get(d.b.stats, "dram.rounding_bytes"), 60);
	bed_ask1(&d.b, &a, 0, 0, true);
	a.runs[0] = (struct mem_run){ 0, 64 };
	a.runs[1] = (struct mem_run){ 1000000, 32 };
	a.runs[2] = (struct mem_run){ 99, 0 };
	a.rq.n_runs = 3;
	a.rq.bytes = 96;
	CHECK(comp_send(d.dram, &a.rq));
	bed_run(&d.b);
	CHECK_U64(stat_get(d.b.stats, "dram.write_bytes"), 96);
	CHECK_U64(stat_get(d.b.stats, "dram.rounding_bytes"), 60);
	CHECK_U64(a.rq.dram_bytes, 0);
	CHECK_U64(a.rq.t_dram_done, a.back);
	dev_down(&d);
}

TEST(a_posted_write_holds_a_place_and_gets_no_reply)
{
	struct dev d;
	struct bed_ask a, c;

	dev_up(&d, "hbm2-2000", ONE_UNIT "queue: 1\n");
	bed_ask1(&d.b, &a, 0, 64, true);
	a.rq.posted = true;
	CHECK(comp_send(d.dram, &a.rq));
	memset(&a, 0xff, sizeof a); /* it was read and is not needed any more */
	bed_ask1(&d.b, &c, 0, 64, false);
	d.b.from.to = d.dram;
	d.b.from.blocked = true;
	CHECK(!comp_send(d.dram, &c.rq));
	bed_run(&d.b);
	CHECK_U64(d.b.from.replies, 0);
	CHECK_U64(d.b.from.retries, 1);
	dev_down(&d);
}

TEST(small_posted_writes_share_a_place_in_order_of_address)
{
	static const uint64_t at[] = { 128 << 10, 64, (128 << 10) + 64, 0 };
	ps_t end[2];

	for (int one = 0; one < 2; one++) {
		struct dev d;
		struct bed_ask a;

		dev_up(&d, "hbm2-2000", ONE_UNIT "queue: 16\nwrite_queue: 64\n"); /* 16 bursts of 64 B a place */
		for (int i = 0; i < (one ? 1 : 4); i++) {
			bed_ask1(&d.b, &a, one ? 0 : at[i], one ? 128 : 64, true);
			if (one) {
				a.runs[1] = (struct mem_run){ 128 << 10, 128 };
				a.rq.n_runs = 2;
				a.rq.bytes = 256;
			}
			a.rq.posted = true;
			a.rq.not_before = PS_US;
			CHECK(comp_send(d.dram, &a.rq));
		}
		bed_run(&d.b);
		end[one] = evq_now(d.b.q);
		CHECK_U64(stat_get(d.b.stats, "dram.held_most"), 1);
		CHECK_U64(stat_get(d.b.stats, "dram.write_requests"), one ? 1 : 4);
		CHECK_U64(stat_get(d.b.stats, "dram.write_bytes"), 256);
		dev_down(&d);
	}
	CHECK_U64(end[0], end[1]);
}

TEST(one_beyond_the_queue_is_refused_and_retried_once)
{
	struct dev d;
	struct bed_ask a[3];

	dev_up(&d, "hbm2-2000", ONE_UNIT "queue: 2\n");
	for (int i = 0; i < 3; i++)
		bed_ask1(&d.b, &a[i], (uint64_t)i * 32, 32, false);
	bed_stream(&d.b, d.dram, a, 3, 3);
	CHECK_U64(d.b.from.refused, 1);
	CHECK_U64(d.b.from.retries, 1);
	CHECK_U64(a[2].sent, a[0].back); /* refused until then, taken at that moment */
	CHECK_U64(stat_get(d.b.stats, "dram.refusals"), 1);
	CHECK_U64(stat_get(d.b.stats, "dram.held_most"), 2);
	dev_down(&d);
}

TEST(a_tile_over_all_units_takes_the_time_of_one_share)
{
	struct dev d;
	uint64_t round;

	dev_up(&d, "hbm2-2000", "channels: 12\nt_refi: 0\nt_controller: 0\ninterleave: 256 B\n");
	round = 24 * 256;
	/* and the last piece of it that of a unit with a part of a block more: 2 bursts */
	CHECK_U64(bed_read(&d.b, d.dram, 0, 16 * round), (14 + 256 + 14 + 4) * NS);
	CHECK_U64(stat_get(d.b.stats, "dram.activates"), 24 * 4);
	CHECK_U64(stat_get(d.b.stats, "dram.rounding_bytes"), 0);
	dev_down(&d);
}

TEST(bandwidth_sets_the_pin_rate_and_channels_are_the_other_axis)
{
	struct dram_cfg c;

	bed_dram_kind(&c, "hbm3-6400", "channels: 80\n");
	CHECK_U64(c.bandwidth, UINT64_C(4096000000000));
	bed_dram_kind(&c, "hbm3-6400", "channels: 80\nbandwidth: 4.8 TB/s\n");
	CHECK_U64(c.bandwidth, UINT64_C(4800000000000));
	CHECK_U64(dram_peak(&c), UINT64_C(4800000000000));
	CHECK_U64(c.pin_mbps, 7500);
	CHECK_U64(c.t_rcd, 19375);
	bed_dram_kind(&c, "hbm3-6400", "channels: 40\n");
	CHECK_U64(c.bandwidth, UINT64_C(2048000000000));
}

TEST(bandwidth_and_a_pin_rate_that_contradict_are_an_error)
{
	const struct cfg_section sections[] = { { "dram", dram_schema, 0 }, { NULL, NULL, 0 } };
	struct dram_cfg c, before;
	struct err e = ERR_INIT;
	struct cfg *raw;

	memset(&c, 0, sizeof c); /* compared whole, padding included */
	CHECK((raw = cfg_new(sections, &c, &e)));
	CHECK_OK(cfg_set(raw, "dram.bandwidth=1 TB/s", &e), e);
	CHECK_OK(cfg_set(raw, "dram.pin_mbps=6400", &e), e);
	CHECK(dram_cfg_resolve(&c, raw, &e) < 0);
	CHECK_HAS(e.msg, "dram.pin_mbps");
	CHECK_HAS(e.msg, "dram.channels");
	err_clear(&e);
	CHECK_OK(cfg_set(raw, "dram.pin_mbps=7813", &e), e); /* 1 TB/s over 1024 pins, rounded */
	CHECK_OK(dram_cfg_resolve(&c, raw, &e), e);
	memcpy(&before, &c, sizeof c);
	CHECK_OK(dram_cfg_resolve(&c, raw, &e), e); /* twice changes nothing */
	CHECK(memcmp(&before, &c, sizeof c) == 0);
	cfg_free(raw);
}

TEST(times_and_geometry_that_cannot_be_are_errors)
{
	static const struct {
		const char *set, *says;
	} rows[] = {
		{ "dram.t_ras=50 ns", "dram.t_rc" },
		{ "dram.t_refi=390 ns", "dram.t_refi" },
		{ "dram.t_faw=1 ns", "dram.t_rrd_s" },
		{ "dram.interleave=16 B", "dram.interleave" },
		{ "dram.bandwidth=1000 TB/s", "dram.channels" },
		{ "dram.burst_length=1", "dram.width_bits" },
		{ "dram.t_rrd_s=9 ns", "dram.t_rrd_l" },
		{ "dram.channels=1024", NULL },
		{ "dram.pseudo_channels=8", NULL },
	};
	const struct cfg_section sections[] = { { "dram", dram_schema, 0 }, { NULL, NULL, 0 } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct dram_cfg c;
		struct err e = ERR_INIT;
		struct cfg *raw = cfg_new(sections, &c, &e);

		CHECK(raw);
		CHECK_OK(cfg_set(raw, rows[i].set, &e), e);
		if (rows[i].says) {
			CHECK(dram_cfg_resolve(&c, raw, &e) < 0);
			CHECK_HAS(e.msg, rows[i].says);
		} else {
			CHECK_OK(dram_cfg_resolve(&c, raw, &e), e);
		}
		cfg_free(raw);
	}
}

/* --- efficiency -------------------------------------------------------------------------------------------- */

struct rate {
	double of_peak;
	uint64_t activates;
};

/* `n` tiles with all arrivals at 0: an endless queue. */
static struct rate stream(const char *kind, const char *yaml, uint64_t tile, size_t n, int pattern)
{
	struct dram_cfg c;
	struct dram_timing t;
	struct dram_tile *d;
	struct dram_tile_stats s = { 0 };
	struct err e = ERR_INIT;
	uint64_t rnd = 1, bytes = 0;
	ps_t end = 0;

	bed_dram_kind(&c, kind, yaml);
	t = dram_timing(&c);
	CHECK((d = dram_tile_new(&t, &e)));
	for (size_t i = 0; i < n; i++) {
		struct mem_run r = { i * tile, tile };

		rnd = rnd * UINT64_C(6364136223846793005) + 1442695040888963407u;
		if (pattern)
			r.addr = (rnd >> 24) % (UINT64_C(1) << 34) / tile * tile;
		end = ps_max(end, dram_tile_serve(d, 0, &r, 1, pattern == 2 && i % 2, &s));
		bytes += tile;
	}
	dram_tile_free(d);
	return (struct rate){ (double)bytes / ((double)end * 1e-12) / (double)dram_peak(&c), s.activates };
}

static void check_near(double got, double want, double within, const char *what)
{
	if (got < want - within || got > want + within)
		test_fail(__FILE__, __LINE__, "%s: %.4f is not within %.3f of %.4f", what, got, within, want);
}

TEST(sequential_reads_lose_what_refresh_takes)
{
	/* Ramulator 2.1, seq_read, BGI, 64 or 128 entries (reference.csv); LPDDR5 at 32, where it is the same. */
	static const struct {
		const char *kind;
		double want;
	} rows[] = {
		{ "hbm2-2000", 0.89520 },
		{ "hbm3-6400", 0.88737 },
		{ "lpddr5-6400", 0.91588 },
		{ "gddr7-28000", 0.88491 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_near(stream(rows[i].kind, "", 65536, 4000, 0).of_peak, rows[i].want, 0.015, rows[i].kind);
}

TEST(sequential_reads_without_refresh_run_at_the_pins)
{
	struct arena *a = arena_new(0);
	const struct words kinds = memories(a);

	for (size_t i = 0; i < kinds.n; i++) {
		struct rate r = stream(kinds.v[i], "t_refi: 0\n", 65536, 1000, 0);

		/* times of HBM2E are HBM2's (its file): rows open a little later than its faster pins could use them */
		if (r.of_peak <= (strcmp(kinds.v[i], "hbm2e-3600") == 0 ? 0.98 : 0.99) || r.of_peak > 1)
			test_fail(__FILE__, __LINE__, "%s: %.4f of its peak", kinds.v[i], r.of_peak);
	}
	arena_free(a);
}

TEST(random_bursts_are_held_by_activates_and_by_banks)
{
	/* Ramulator 2.1, random_read_burst, BGI, 128 entries (reference.csv); an endless queue sees more */
	static const struct {
		const char *kind;
		double want, within;
	} rows[] = {
		{ "hbm2-2000", 0.30135, 0.01 },
		{ "hbm3-6400", 0.29271, 0.015 },
		{ "lpddr5-6400", 0.45671, 0.015 },
		{ "gddr7-28000", 0.29795, 0.03 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rate r = stream(rows[i].kind, "channels: 1\ninterleave: 32 B\n", 32, 100000, 1);

		check_near(r.of_peak, rows[i].want, rows[i].within, rows[i].kind);
		CHECK(r.activates > 99000);
	}
	/* One bank alone: tRC for each burst of 2 ns. */
	check_near(stream("hbm2-2000", ONE_UNIT "bank_groups: 1\nbanks: 1\n", 32, 10000, 1).of_peak, 2.0 / 48, 0.001,
	           "one bank");
}

TEST(random_tiles_of_4k_do_better_than_bursts_and_worse_than_streams)
{
	static const char *const kinds[] = { "hbm2-2000", "hbm3-6400", "lpddr5-6400", "gddr7-28000" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		double burst = stream(kinds[i], "", 64, 20000, 1).of_peak,
		       tile = stream(kinds[i], "", 4096, 20000, 1).of_peak;
		double seq = stream(kinds[i], "", 65536, 2000, 0).of_peak;

		CHECK(burst < tile && tile < seq + 0.01); /* LPDDR5 loses nothing */
	}
}

TEST(alternating_directions_cost_efficiency)
{
	double seq = stream("hbm3-6400", "", 65536, 2000, 0).of_peak,
	       one = stream("hbm3-6400", "", 65536, 2000, 1).of_peak;
	double both = stream("hbm3-6400", "", 65536, 2000, 2).of_peak;

	CHECK(one <= seq && both < one);
	CHECK(both > 0.37); /* the least any simulator found on a mix */
}

TEST(strides_of_a_power_of_two_camp_only_on_the_plain_map)
{
	struct dram_timing t;
	struct dram_cfg c;
	ps_t end[2] = { 0, 0 };

	for (int plain = 0; plain < 2; plain++) {
		struct dram_tile_stats s = { 0 };
		struct err e = ERR_INIT;
		struct dram_tile *d;

		bed_dram_kind(&c, "hbm3-6400", plain ? "map: plain\n" : "map: hashed\n");
		t = dram_timing(&c);
		CHECK((d = dram_tile_new(&t, &e)));
		for (uint64_t i = 0; i < 4096; i++) {
			struct mem_run r = { i * 65536, 512 };

			end[plain] = ps_max(end[plain], dram_tile_serve(d, 0, &r, 1, false, &s));
		}
		dram_tile_free(d);
	}
	CHECK(end[1] > 8 * end[0]);
}

/* --- the twin ---------------------------------------------------------------------------------------------- */

TEST(the_fixed_twin_is_a_pipe_with_a_latency)
{
	struct bed b;
	struct dram_cfg c;
	struct comp *d;
	struct bed_ask a[2];

	bed_up(&b);
	bed_dram_cfg(&c, "kind: fixed\nbandwidth: 1 TB/s\nfixed_latency: 100 ns\n");
	CHECK(dram_is_fixed(&c));
	CHECK_U64(dram_peak(&c), UINT64_C(1000000000000));
	d = bed_make(&b, &dram_fixed_ops, &c, NULL);
	CHECK_U64(bed_read(&b, d, 12345, 4096), 100 * NS + 4096);
	for (int i = 0; i < 2; i++) {
		bed_ask1(&b, &a[i], 0, 1000, i);
		a[i].rq.not_before = 200 * NS;
		CHECK(comp_send(d, &a[i].rq));
	}
	bed_run(&b);
	CHECK_U64(a[0].back, 200 * NS + 1000 + 100 * NS);
	CHECK_U64(a[1].back, 200 * NS + 2000 + 100 * NS);
	CHECK_U64(stat_get(b.stats, "dram.read_bytes"), 5096);
	CHECK_U64(stat_get(b.stats, "dram.write_bytes"), 1000);
	comp_free(d);
	bed_down(&b);
}

/* Eight tiles of a megabyte, 1 us each at least, are fetched ahead; who comes behind them waits for a piece or two, and the
 * last of them only for what passed it. */
TEST(a_demand_passes_what_is_fetched_ahead)
{
	static const uint8_t blocking = MEM_BLOCKING;
	static const char *const kinds[] = { "kind: fixed\nbandwidth: 1 TB/s\nfixed_latency: 100 ns\n",
		                             "channels: 8\n" };

	for (int i = 0; i < 2; i++) {
		struct bed b;
		struct dram_cfg c;
		struct comp *d;
		struct bed_ask a[9];

		bed_up(&b);
		bed_dram_cfg(&c, kinds[i]);
		d = bed_make(&b, i ? &dram_ops : &dram_fixed_ops, &c, NULL);
		for (int k = 0; k < 9; k++)
			bed_ask1(&b, &a[k], (uint64_t)k << 20, k < 8 ? 1 << 20 : 4096, k == 8 && !i);
		a[8].rq.urgency = &blocking;
		bed_stream(&b, d, a, 9, 9);
		CHECK(a[8].back - a[8].sent <= 1000 * NS);
		CHECK(a[7].back - a[7].sent >= clock_transfer((8 << 20) + 4096, dram_peak(&c)));
		if (!i) {
			CHECK_U64(a[8].back - a[8].sent, 100 * NS + 4096);
			CHECK_U64(a[7].back - a[7].sent, 100 * NS + (8 << 20) + 4096);
		}
		comp_free(d);
		bed_down(&b);
	}
}

/* A write counts when the pins have passed it: in no pass more than they can, and in the end all. */
TEST(what_is_posted_counts_for_the_pass_it_is_written_in)
{
	static const char *const kinds[] = { "kind: fixed\nbandwidth: 1 TB/s\nfixed_latency: 100 ns\n",
		                             "channels: 8\n" };

	for (int i = 0; i < 2; i++) {
		const uint64_t all = 16 * 65536;
		struct bed b;
		struct dram_cfg c;
		struct comp *d;
		struct bed_ask a[16];
		uint64_t before = 0;
		ps_t then = 0;

		bed_up(&b);
		bed_dram_cfg(&c, kinds[i]);
		d = bed_make(&b, i ? &dram_ops : &dram_fixed_ops, &c, NULL);
		for (int k = 0; k < 16; k++) {
			bed_ask1(&b, &a[k], (uint64_t)k << 16, 65536, true);
			a[k].rq.posted = true;
			CHECK(comp_send(d, &a[k].rq));
		}
		do {
			const ps_t now = evq_now(b.q);
			uint64_t written;

			d->ops->pass_over(d);
			written = stat_get(b.stats, "dram.write_bytes");
			CHECK_U64(written + stat_get(b.stats, "dram.posted_bytes"), all);
			CHECK(clock_transfer(written, dram_peak(&c)) <= now + 1);
			CHECK(clock_transfer(written - before, dram_peak(&c)) <= now - then + (i ? 100 * NS : 1));
			before = written;
			then = now;
		} while (evq_step(b.q));
		CHECK_U64(before, all);
		comp_free(d);
		bed_down(&b);
	}
}

SUITE(t_dram, T(a_demand_passes_what_is_fetched_ahead), T(what_is_posted_counts_for_the_pass_it_is_written_in),
      T(row_empty_hit_and_conflict_cost_their_closed_form), T(rows_of_one_bank_follow_each_other_at_trc),
      T(a_write_recovers_before_its_row_closes), T(every_kind_has_the_unloaded_times_of_its_source),
      T(the_defaults_are_the_file_hbm3_6400), T(reads_and_writes_of_one_row_pay_the_turnaround),
      T(a_small_write_pays_its_share_of_a_batch), T(activates_of_a_unit_keep_their_distance),
      T(a_full_stripe_opens_a_row_in_every_group), T(a_row_opened_by_a_small_read_is_a_hit_for_a_large_one_and_back),
      T(a_request_in_a_refresh_window_waits_for_its_end_and_for_activates),
      T(a_bank_in_refresh_is_waited_for_and_others_are_not), T(open_time_and_its_inverse_agree_at_every_edge),
      T(the_controller_adds_its_latency_and_scaling_scales), T(bytes_are_counted_as_asked_and_bursts_apart),
      T(a_posted_write_holds_a_place_and_gets_no_reply), T(small_posted_writes_share_a_place_in_order_of_address),
      T(one_beyond_the_queue_is_refused_and_retried_once), T(a_tile_over_all_units_takes_the_time_of_one_share),
      T(bandwidth_sets_the_pin_rate_and_channels_are_the_other_axis),
      T(bandwidth_and_a_pin_rate_that_contradict_are_an_error), T(times_and_geometry_that_cannot_be_are_errors),
      T(sequential_reads_lose_what_refresh_takes), T(sequential_reads_without_refresh_run_at_the_pins),
      T(random_bursts_are_held_by_activates_and_by_banks),
      T(random_tiles_of_4k_do_better_than_bursts_and_worse_than_streams), T(alternating_directions_cost_efficiency),
      T(strides_of_a_power_of_two_camp_only_on_the_plain_map), T(the_fixed_twin_is_a_pipe_with_a_latency));
