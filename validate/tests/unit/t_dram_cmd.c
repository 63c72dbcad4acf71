/* t_dram_cmd.c - the command path gate by gate: refused a tick before, accepted at the tick; address maps; the loop. */
#include <stdlib.h>

#include "arch/mem/dram_cmd.h"
#include "sim/accuracy/probe_dram_ref.h"
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

/* HBM2 ticks are whole clocks of 1 ns; an ACT takes two. Times below are from first tick to first tick. */
struct rig {
	struct dram_cfg cfg;
	struct dram_cmd_table t;
	struct dram_fieldmap map;
	struct dram_cmd *d;
	uint64_t done;
};

static void on_done(void *owner, const struct dram_burst *b, tick_t accepted, tick_t data)
{
	struct rig *r = owner;

	(void)accepted;
	r->done++;
	CHECK(b->tag < 1000000 && data > 0);
}

static void rig_up(struct rig *r, const char *kind, const char *yaml)
{
	struct err e = ERR_INIT;

	memset(r, 0, sizeof *r);
	bed_dram_kind(&r->cfg, kind, yaml);
	CHECK_OK(dram_cmd_table(&r->t, &r->cfg, &e), e);
	CHECK_OK(dram_map_parse(&r->map, r->cfg.fields, &r->t.size, &e), e);
	CHECK((r->d = dram_cmd_new(&r->t, &r->map, on_done, r, &e)) != NULL);
}

#define PLACE(b, r) (&(struct dram_place){ 0, (b), (r), 0 })
/* After `first` at tick 100 the device refuses `then` one tick before `gap` and takes it at `gap`. */
#define GATE(r, first, b1, then, b2, gap) \
	do { \
		dram_cmd_issue((r)->d, first, PLACE(b1, 1), 100); \
		CHECK_U64(dram_cmd_ready_at((r)->d, then, PLACE(b2, 1)), 100 + (gap)); \
	} while (0)
#define GATE_TEST(name, kind, first, b1, then, b2, gap) \
	TEST(name) \
	{ \
		struct rig r; \
		rig_up(&r, kind, ""); \
		GATE(&r, first, b1, then, b2, gap); \
		dram_cmd_free(r.d); \
	}

/* hbm2-2000: banks 0-3 are one group, 4-7 the next; 16-31 the other pseudo-channel */
GATE_TEST(trcd_of_a_read, "hbm2-2000", DRAM_ACT, 0, DRAM_RD, 0, 14 + 1)
GATE_TEST(trcd_of_a_write, "hbm2-2000", DRAM_ACT, 0, DRAM_WR, 0, 12 + 1)
GATE_TEST(tras, "hbm2-2000", DRAM_ACT, 0, DRAM_PRE, 0, 34 + 1)
GATE_TEST(trc, "hbm2-2000", DRAM_ACT, 0, DRAM_ACT, 0, 48)
GATE_TEST(trp, "hbm2-2000", DRAM_PRE, 0, DRAM_ACT, 0, 14 - 1)
GATE_TEST(trrd_s, "hbm2-2000", DRAM_ACT, 0, DRAM_ACT, 4, 4)
GATE_TEST(trrd_l, "hbm3-6400", DRAM_ACT, 0, DRAM_ACT, 1, 2 * 5)
GATE_TEST(tccd_s, "hbm2-2000", DRAM_RD, 0, DRAM_RD, 4, 2)
GATE_TEST(tccd_l, "hbm2-2000", DRAM_RD, 0, DRAM_RD, 1, 4)
GATE_TEST(tccd_of_writes, "hbm2-2000", DRAM_WR, 0, DRAM_WR, 1, 4)
GATE_TEST(tccd_l_wr, "ddr5-4800", DRAM_WR, 0, DRAM_WR, 1, 48)
GATE_TEST(tccd_of_stack_ids, "hbm3-6400", DRAM_RD, 0, DRAM_RD, 16, 2 * 3)
GATE_TEST(tccd_of_a_bank, "gddr7-28000", DRAM_RD, 0, DRAM_RD, 0, 4)
GATE_TEST(tccd_of_banks, "gddr7-28000", DRAM_RD, 0, DRAM_RD, 1, 2)
GATE_TEST(trtw, "hbm2-2000", DRAM_RD, 0, DRAM_WR, 4, 13)
GATE_TEST(twtr_s, "hbm2-2000", DRAM_WR, 0, DRAM_RD, 4, 5 + 2 + 6)
GATE_TEST(twtr_l, "hbm2-2000", DRAM_WR, 0, DRAM_RD, 1, 5 + 2 + 8)
GATE_TEST(trtp, "hbm2-2000", DRAM_RD, 0, DRAM_PRE, 0, 5)
GATE_TEST(twr, "hbm2-2000", DRAM_WR, 0, DRAM_PRE, 0, 5 + 2 + 16)
GATE_TEST(tppd, "hbm3-6400", DRAM_PRE, 0, DRAM_PRE, 5, 2 * 2)
GATE_TEST(tras_of_all_banks, "hbm2-2000", DRAM_ACT, 0, DRAM_PREAB, 7, 34 + 1)
GATE_TEST(trc_before_a_refresh, "hbm2-2000", DRAM_ACT, 0, DRAM_REFAB, 7, 48 + 1)
GATE_TEST(trp_before_a_refresh, "hbm2-2000", DRAM_PREAB, 0, DRAM_REFAB, 7, 14)
GATE_TEST(trfc, "hbm2-2000", DRAM_REFAB, 0, DRAM_ACT, 7, 350 - 1)
GATE_TEST(trfc_pb, "hbm2-2000", DRAM_REFPB, 0, DRAM_ACT, 0, 160 - 1)
GATE_TEST(rank_to_rank_reads, "ddr4-3200", DRAM_RD, 0, DRAM_RD, 16, 4 + 2)
GATE_TEST(ranks_do_not_share_trrd, "ddr4-3200", DRAM_ACT, 0, DRAM_ACT, 16, -100)
GATE_TEST(pseudo_channels_do_not_share_times, "hbm2-2000", DRAM_ACT, 0, DRAM_ACT, 16, -100)

TEST(the_fifth_act_waits_for_tfaw)
{
	struct rig r;

	rig_up(&r, "hbm2-2000", "t_faw: 30 ns\n");
	for (uint32_t i = 0; i < 4; i++)
		dram_cmd_issue(r.d, DRAM_ACT, PLACE(4 * i, 1), 100 + 5 * i);
	CHECK_U64(dram_cmd_ready_at(r.d, DRAM_ACT, PLACE(1, 1)), 100 + 30);
	dram_cmd_free(r.d);
}

/* Runs until all is served or the tick; returns the tick of the last step. */
static tick_t run(struct rig *r, uint64_t served, tick_t until)
{
	while (r->done < served && dram_cmd_next(r->d) <= until)
		dram_cmd_step(r->d, dram_cmd_next(r->d));
	return dram_cmd_now(r->d);
}

static void ask(struct rig *r, uint64_t addr, uint64_t tag, bool write)
{
	struct dram_place at = dram_map_place(&r->map, addr);

	CHECK(dram_cmd_offer(r->d, &at, &(struct dram_burst){ tag, 0, write }));
}

TEST(a_read_opens_its_row_and_a_conflict_closes_it)
{
	struct rig r;

	rig_up(&r, "hbm2-2000", "channels: 1\nrefresh: none\n");
	ask(&r, 0, 0, false);
	CHECK_U64(run(&r, 1, 1000), 1 + 15);           /* ACT at 1, RD at tRCD + 1 */
	ask(&r, 32 * 4096, 1, false);                  /* BGI: the next row of the same bank */
	CHECK_U64(run(&r, 2, 1000), 1 + 35 + 13 + 15); /* PRE at tRAS */
	CHECK_U64(dram_cmd_stats(r.d).commands[DRAM_PRE], 1);
	dram_cmd_free(r.d);
}

TEST(a_full_queue_refuses)
{
	struct rig r;
	struct dram_place at = { 0, 0, 0, 0 };

	rig_up(&r, "hbm2-2000", "channels: 1\nread_queue: 3\n");
	for (uint64_t i = 0; i < 3; i++)
		CHECK(dram_cmd_offer(r.d, &at, &(struct dram_burst){ i, 0, false }));
	CHECK(!dram_cmd_offer(r.d, &at, &(struct dram_burst){ 3, 0, false }));
	CHECK(dram_cmd_offer(r.d, &at, &(struct dram_burst){ 4, 0, true }));
	CHECK(!dram_cmd_room(r.d, 0, false) && dram_cmd_room(r.d, 0, true));
	dram_cmd_free(r.d);
}

TEST(every_bank_is_refreshed_at_trefi)
{
	struct rig r;

	rig_up(&r, "hbm2-2000", "channels: 1\n");
	run(&r, 1, 3900 * 4 - 1);
	CHECK_U64(dram_cmd_stats(r.d).commands[DRAM_REFAB], 2 * 3);
	dram_cmd_free(r.d);
}

TEST(a_refresh_of_one_bank_stops_that_bank_alone)
{
	struct rig r;
	tick_t other;

	rig_up(&r, "hbm2-2000", "channels: 1\nrefresh: per_bank\n");
	run(&r, 1, 123);
	CHECK_U64(dram_cmd_stats(r.d).commands[DRAM_REFPB], 1); /* bank 0, at 122 */
	CHECK(dram_cmd_offer(r.d, &(struct dram_place){ 0, 0, 1, 0 }, &(struct dram_burst){ 0, 0, false }));
	CHECK(dram_cmd_offer(r.d, &(struct dram_place){ 0, 5, 1, 0 }, &(struct dram_burst){ 1, 0, false }));
	other = run(&r, 1, 1000);
	CHECK(other < 122 + 40);
	CHECK_U64(run(&r, 2, 1000), 122 + 159 + 15);
	/* All 32 of both pseudo-channels have their turn in a tREFI. */
	run(&r, 3, 8 * 32 * 122 + 121);
	CHECK_U64(dram_cmd_stats(r.d).commands[DRAM_REFPB], 8 * 32);
	dram_cmd_free(r.d);
}

TEST(going_tick_by_tick_changes_nothing)
{
	static const char *const kinds[] = { "hbm3-6400", "gddr7-28000", "lpddr5-6400", "ddr5-4800" };

	for (size_t k = 0; k < 4; k++) {
		tick_t end[2];
		struct dram_cmd_stats s[2];

		for (int slow = 0; slow < 2; slow++) {
			struct rig r;
			uint64_t sent = 0;

			rig_up(&r, kinds[k], "channels: 1\n");
			while (r.done < 3000) {
				for (; sent < 3000; sent++) {
					uint64_t addr =
						sent % 2 ? sent * 64 : sent * UINT64_C(6364136223846793005) >> 34;
					struct dram_place at = dram_map_place(&r.map, addr);

					if (!dram_cmd_offer(r.d, &at, &(struct dram_burst){ sent, 0, sent % 3 == 0 }))
						break;
				}
				dram_cmd_step(r.d, slow ? dram_cmd_now(r.d) + 1 : dram_cmd_next(r.d));
			}
			end[slow] = dram_cmd_now(r.d);
			s[slow] = dram_cmd_stats(r.d);
			dram_cmd_free(r.d);
		}
		CHECK_U64(end[0], end[1]); /* I4 */
		CHECK(memcmp(s[0].commands, s[1].commands, sizeof s[0].commands) == 0);
	}
}

TEST(closed_pages_make_every_read_open_its_row)
{
	struct rig r;

	rig_up(&r, "ddr4-3200", "page: closed\nrefresh: none\n");
	for (uint64_t i = 0; i < 4; i++) {
		ask(&r, 0, i, false);
		run(&r, i + 1, 100000);
	}
	CHECK_U64(dram_cmd_stats(r.d).commands[DRAM_ACT], 4);
	CHECK_U64(dram_cmd_stats(r.d).commands[DRAM_PRE], 0);
	dram_cmd_free(r.d);
}

static int map_of(const char *text, struct err *e)
{
	static const struct dram_map_size size = { { 2, 2, 2, 4, 4, 1024, 32 }, 32 };
	struct dram_fieldmap m;

	err_clear(e);
	return dram_map_parse(&m, text, &size, e);
}

TEST(a_map_covers_every_field_once)
{
	struct err e = ERR_INIT;

	CHECK_OK(map_of("BGI", &e), e);
	CHECK_OK(map_of("MOP4CLXOR", &e), e);
	CHECK_OK(map_of("RobaRaCoBgPcCh", &e), e);
	CHECK(map_of("RoBaCoBgPcCh", &e) < 0);
	CHECK_HAS(e.msg, "'Ra' 0 bits of 1");
	CHECK(map_of("RoBaRaCoBgPcChCo", &e) < 0);
	CHECK_HAS(e.msg, "names 'Co' twice");
	CHECK(map_of("RoBaRaXxBgPcCh", &e) < 0);
	CHECK_HAS(e.msg, "'Xx' is no field");
}

TEST(a_map_is_one_to_one)
{
	static const struct dram_map_size size = { { 3, 2, 2, 4, 4, 4, 4 }, 32 };
	static const char *const maps[] = { "BGI", "MOP4CLXOR", "RoBaRaCoCh", "CoRoBaBgRaPcCo1Ch^" };
	struct err e = ERR_INIT;

	for (size_t k = 0; k < 4; k++) {
		bool seen[3][64][4][4] = { 0 };
		struct dram_fieldmap m;

		CHECK_OK(dram_map_parse(&m, maps[k], &size, &e), e);
		for (uint64_t i = 0; i < 3 * 64 * 16; i++) {
			struct dram_place p = dram_map_place(&m, i * 32);

			CHECK(p.channel < 3 && p.bank < 64 && p.row < 4 && p.column < 4);
			CHECK(!seen[p.channel][p.bank][p.row][p.column]);
			seen[p.channel][p.bank][p.row][p.column] = true;
		}
	}
}

TEST(contradicting_times_are_refused)
{
	static const struct {
		const char *set, *part;
	} bad[] = {
		{ "dram.t_ras=20 ns", "t_rcd" },
		{ "dram.t_faw=1 ns", "t_faw" },
		{ "dram.t_ck=0", "t_ck" },
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = ERR_INIT;
		struct dram_cfg c;
		char path[512];

		snprintf(path, sizeof path, "%s/configs/dram/hbm3-6400.yaml", test_root());
		CHECK(probe_dram_load(&c, path, &bad[i].set, 1, &e) < 0);
		CHECK_HAS(e.msg, bad[i].part);
	}
}

SUITE(t_dram_cmd, T(trcd_of_a_read), T(trcd_of_a_write), T(tras), T(trc), T(trp), T(trrd_s), T(trrd_l), T(tccd_s),
      T(tccd_l), T(tccd_of_writes), T(tccd_l_wr), T(tccd_of_stack_ids), T(tccd_of_a_bank), T(tccd_of_banks), T(trtw),
      T(twtr_s), T(twtr_l), T(trtp), T(twr), T(tppd), T(tras_of_all_banks), T(trc_before_a_refresh),
      T(trp_before_a_refresh), T(trfc), T(trfc_pb), T(rank_to_rank_reads), T(ranks_do_not_share_trrd),
      T(pseudo_channels_do_not_share_times), T(the_fifth_act_waits_for_tfaw),
      T(a_read_opens_its_row_and_a_conflict_closes_it), T(a_full_queue_refuses), T(every_bank_is_refreshed_at_trefi),
      T(a_refresh_of_one_bank_stops_that_bank_alone), T(going_tick_by_tick_changes_nothing),
      T(closed_pages_make_every_read_open_its_row), T(a_map_covers_every_field_once), T(a_map_is_one_to_one),
      T(contradicting_times_are_refused));
