/* What blocks take of a die: the sum of its parts, more for more, by the constants of the node. */
#include <stdio.h>

#include "arch/machine/machine_area.h"
#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_cost.h"
#include "arch/machine/machine_peak.h"
#include "sim/engine/real.h"
#include "validate/tests/test.h"

static struct tech *load(const char *node)
{
	struct err e = ERR_INIT;
	struct tech *t = tech_load(node, &e);

	CHECK_OK(t ? 0 : -1, e);
	return t;
}

static struct area of(const char *machine, const char *const *sets, int n)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_load(machine, sets, n, &e);
	struct area a = { 0 };
	struct tech *t;

	CHECK_OK(c ? 0 : -1, e);
	t = load(c->cfg.die.node);
	machine_area(&c->cfg, t, &a);
	CHECK_U64(c->cfg.die.area, area_die(&a));
	tech_free(t);
	machine_conf_free(c);
	return a;
}

static uint64_t die(const char *machine, const char *set)
{
	const struct area a = of(machine, &set, set ? 1 : 0);

	return area_die(&a);
}

TEST(sram_takes_its_cells_and_more_for_a_port)
{
	struct tech *t = load("n7");
	const uint64_t one = area_sram(t, 1 << 20, 1);

	/* 2^23 bits of 27,000 nm2 times 3.81; times 1.41 */
	CHECK_U64(one, (uint64_t)(8 << 20) * 27000 / 100 * 381);
	CHECK_U64(area_sram(t, 1 << 20, 2), one + one * 41 / 100);
	CHECK_U64(area_sram(t, 0, 2), 0);
	tech_free(t);
}

TEST(a_phy_is_by_pin_and_does_not_shrink_but_its_controller)
{
	struct tech *n7 = load("n7"), *n4 = load("n4");
	const struct area_part a = area_phy(n7, TECH_LINK_hbm2e_phy, 1024), b = area_phy(n7, TECH_LINK_hbm2e_phy, 2048),
			       c = area_phy(n4, TECH_LINK_hbm2e_phy, 1024);

	CHECK_U64(a.phy, UINT64_C(10450000000000));
	CHECK_U64(b.phy, 2 * a.phy);
	CHECK_U64(c.phy, a.phy);
	CHECK(c.logic < a.logic && c.logic > a.logic / 2);
	CHECK_U64(area_of(&b), 2 * area_of(&a));
	tech_free(n7);
	tech_free(n4);
}

TEST(an_array_is_its_multiply_adds_wherever_they_stand)
{
	const char *const sets[] = { "matrix.rows=128", "matrix.cols=128",    "cores=1",           "matrix.units=4",
		                     "die.node=n7",     "matrix.rate_8bit=1", "matrix.rate_4bit=1" };
	const struct area a = of("dsocr", sets, 7);

	/* TPU v4i's four arrays: 11 % of 400 mm2. */
	CHECK(a.block[AREA_matrix].logic / 1000000000 == 44000 || a.block[AREA_matrix].logic / 1000000000 == 43999);
}

TEST(a_die_is_the_sum_of_its_blocks_and_the_share_that_is_none)
{
	static const char *const machines[] = { "dsocr", "edge", "imc-256m", "tpu-v4", "h200", "rtx5090" };

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		const struct area a = of(machines[i], NULL, 0);
		uint64_t sum = 0;

		for (int b = 0; b < AREA_COUNT; b++)
			if (b != AREA_blank)
				sum += a.block[b].logic + a.block[b].sram + a.block[b].phy;
		CHECK_U64(area_die(&a), sum + a.block[AREA_blank].logic);
		CHECK_U64(a.block[AREA_blank].logic / (area_die(&a) / 100000), 20999);
	}
}

TEST(no_amount_that_goes_up_makes_a_die_smaller)
{
	static const struct {
		const char *machine, *less, *more;
	} v[] = {
		{ "dsocr", "cores=32", "cores=64" },
		{ "dsocr", "sram.size=128 KiB", "sram.size=256 KiB" },
		{ "dsocr", "sram.ports=1", "sram.ports=2" },
		{ "dsocr", "sram.banks=16", "sram.banks=64" },
		{ "dsocr", "sram.bank_width=16 B", "sram.bank_width=64 B" },
		{ "dsocr", "l2.size=64 MiB", "l2.size=192 MiB" },
		{ "dsocr", "l2.banks=32", "l2.banks=64" },
		{ "dsocr", "kv_buffer.size=0 B", "kv_buffer.size=32 MiB" },
		{ "dsocr", "kv_buffer.bandwidth=1 TB/s", "kv_buffer.bandwidth=9 TB/s" },
		{ "dsocr", "matrix.rows=16", "matrix.rows=32" },
		{ "dsocr", "matrix.rate_8bit=1", "matrix.rate_8bit=4" },
		{ "dsocr", "matrix.rate_4bit=2", "matrix.rate_4bit=8" },
		{ "dsocr", "gemv.macs_8bit=1", "gemv.macs_8bit=4" },
		{ "dsocr", "gemv.macs_4bit=4", "gemv.macs_4bit=16" },
		{ "dsocr", "gemv.lanes=16", "gemv.lanes=32" },
		{ "dsocr", "vector.lanes=16", "vector.lanes=32" },
		{ "dsocr", "vector.sfu=2", "vector.sfu=16" },
		{ "dsocr", "vector.act=0", "vector.act=4" },
		{ "dsocr", "vector.norm=0", "vector.norm=4" },
		{ "dsocr", "vector.sorter=0", "vector.sorter=8" },
		{ "dsocr", "dram.channels=16", "dram.channels=64" },
		{ "dsocr", "dma.engines=1", "dma.engines=2" },
		{ "dsocr", "fusion.buffer=0 B", "fusion.buffer=4 MiB" },
		{ "dsocr", "l1.size=0 B", "l1.size=64 KiB" },
		{ "dsocr", "die.machines=1", "die.machines=2" },
		{ "dsocr", "die.sram=0 B", "die.sram=1 MiB" },
		{ "dsocr", "die.host=none", "die.host=pcie5_phy" },
		{ "dsocr", "die.memory=none", "die.memory=ddr5_phy" },
		{ "dsocr", "die.node=n5", "die.node=n7" },
		{ "dsocr", "die.node=n7", "die.node=n16" },
		{ "dsocr", "die.node=n4", "die.node=n5" },
		{ "imc-256m", "imc.rows=128", "imc.rows=256" },
		{ "h200", "die.cores=132", "die.cores=144" },
		{ "h200", "die.fp64=0", "die.fp64=64" },
		{ "h200", "die.l2=60 MiB", "die.l2=120 MiB" },
		{ "h200", "die.graphics=false", "die.graphics=true" },
		{ "h200", "gpu.flop_bf16=2048", "gpu.flop_bf16=4096" },
		{ "h200", "gpu.flop_fp32=128", "gpu.flop_fp32=256" },
		{ "h200", "sm.registers=32768", "sm.registers=65536" },
	};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		if (die(v[i].machine, v[i].less) >= die(v[i].machine, v[i].more)) {
			printf("%s: %s is not under %s\n", v[i].machine, v[i].less, v[i].more);
			CHECK(false);
		}
}

TEST(leakage_of_a_square_millimetre_goes_with_power_and_density)
{
	struct tech *n7 = load("n7"), *n5 = load("n5");

	CHECK_U64(n7->leakage.logic, 111000);
	CHECK_U64(n5->leakage.logic, 111000ULL * 7 * 1518 / 10000);
	CHECK_U64(n5->leakage.sram / 100, 1745); /* 194 mW times 0.7 times 1.2857 */
	CHECK_U64(n5->clock.share, n7->clock.share);
	tech_free(n7);
	tech_free(n5);
}

/* Nothing of configs/tech was found on one of these but TPU v4's nearest kin; GA100 gave an SM's control and the network. */
static const struct published {
	const char *machine;
	double mm2, watts; /* 0: a card that is held far below what its die takes */
} published[] = {
	{ "h200", 814, 700 },      /* GH100, NVIDIA H100 white paper; board, H200 data sheet */
	{ "h100", 814, 700 },      /* the same; H100 data sheet */
	{ "rtx5090", 750, 575 },   /* GB202, NVIDIA RTX Blackwell whitepaper */
	{ "tpu-v4", 600, 192 },    /* at most; measured maximum, ISCA 2023, table 4: no TDP was published */
	{ "a100", 826, 400 },      /* GA100, NVIDIA A100 whitepaper; 80 GB SXM data sheet */
	{ "rtx4090", 608.4, 450 }, /* AD102, NVIDIA Ada whitepaper */
	{ "l40s", 608.4, 0 },      { "l4", 294.5, 0 }, /* AD104 */
	{ "a10", 628.4, 0 },                           /* GA102, NVIDIA Ampere GA102 whitepaper */
	{ "b200", 0, 1000 },                           /* HGX B200 data sheet */
};

static bool within(const char *machine, const char *what, double got, double want, double percent)
{
	const double error = 100 * (got / want - 1);

	if (error <= percent && -error <= percent)
		return true;
	printf("%s: %s of %.0f where %.0f is published, %+.1f %%\n", machine, what, got, want, error);
	return false;
}

TEST(dies_are_within_a_quarter_of_published_ones_and_boards_within_a_fifth)
{
	for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
		const struct published *p = &published[i];
		struct err e = ERR_INIT;
		struct machine_conf *c = machine_conf_load(p->machine, NULL, 0, &e);
		struct machine_peak peak;
		struct area a;
		struct tech *t;

		CHECK_OK(c ? 0 : -1, e);
		t = load(c->cfg.die.node);
		machine_area(&c->cfg, t, &a);
		machine_peak(&c->cfg, t, &a, &peak);
		CHECK(!p->mm2 || within(p->machine, "a die", (double)area_die(&a) / AREA_MM2, p->mm2, 25));
		CHECK(!p->watts || within(p->machine, "a board", (double)machine_peak_sum(&peak) / 1e6, p->watts, 20));
		tech_free(t);
		machine_conf_free(c);
	}
}

TEST(a_peak_is_not_known_where_the_memory_is_not_and_rises_with_what_there_is)
{
	static const char *const sets[][2] = { { "cores=32", "cores=64" },
		                               { "clock=1 GHz", "clock=1.4 GHz" },
		                               { "matrix.rows=16", "matrix.rows=32" },
		                               { "dram.channels=16", "dram.channels=48" },
		                               { "l2.banks=32", "l2.banks=64" },
		                               { "die.node=n4", "die.node=n5" } };
	struct tech *n5 = load("n5"), *n4 = load("n4");

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		uint64_t sum[2];

		for (int k = 0; k < 2; k++) {
			struct err e = ERR_INIT;
			struct machine_conf *c = machine_conf_load("dsocr", &sets[i][k], 1, &e);
			const struct tech *t = strcmp(c->cfg.die.node, "n4") == 0 ? n4 : n5;
			struct machine_peak p;
			struct area a;

			machine_area(&c->cfg, t, &a);
			machine_peak(&c->cfg, t, &a, &p);
			sum[k] = machine_peak_sum(&p);
			CHECK_U64(sum[k], p.leakage + p.units + p.caches + p.dram);
			p.dram = 0;
			CHECK_U64(machine_peak_sum(&p), 0);
			machine_conf_free(c);
		}
		CHECK(sum[0] && sum[0] < sum[1]);
	}
	tech_free(n5);
	tech_free(n4);
}

static void refused(const char *set, const char *part)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_load("dsocr", &set, 1, &e);

	CHECK(!c && e.kind == ERR_CONFIG);
	CHECK_HAS(e.msg, part);
	machine_conf_free(c);
}

TEST(a_node_that_is_not_there_is_told_when_the_machine_is_read)
{
	refused("die.node=n6", "there are n16, n8, n7, n5 and n4");
	refused("die.host=pcie9", "pcie5_phy");
	refused("die.machines=0", "1 to 4096");
}

/* What nobody builds: dies over a reticle, more stacks than its edges hold, more than a module is fed. Those that are sold are
 * within it, two dies of a product counted as two. */
static size_t beyond(const char *machine, const char *const *sets, int n, unsigned dies,
                     struct real_beyond out[REAL_MOST])
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_load(machine, sets, n, &e);
	size_t found;

	CHECK_OK(c ? 0 : -1, e);
	found = real_machine(&c->cfg, dies, out);
	machine_conf_free(c);
	return found;
}

TEST(what_nobody_builds_is_told_and_what_is_sold_is_not)
{
	static const char *const sold[] = { "h100",   "h200",    "a100",   "rtx5090", "rtx4090", "l4",
		                            "tpu-v4", "tpu-v6e", "gaudi2", "dsocr",   "edge" };
	static const char *const l2[] = { "l2.size=1248 MiB" }, *const stacks[] = { "dram.channels=112" };
	struct real_beyond x[REAL_MOST];
	struct err e = ERR_INIT;
	struct machine_conf *c;

	for (size_t i = 0; i < sizeof sold / sizeof *sold; i++)
		CHECK_U64(beyond(sold[i], NULL, 0, 1, x), 0);
	CHECK_U64(beyond("b200", NULL, 0, 1, x), 2);
	CHECK_U64(beyond("b200", NULL, 0, 2, x), 0);
	CHECK_U64(beyond("dsocr", l2, 1, 1, x), 1);
	CHECK_STR(x[0].what, "reticle");
	CHECK_HAS(x[0].text, "858");
	CHECK_U64(beyond("dsocr", stacks, 1, 1, x), 1);
	CHECK_STR(x[0].what, "edges");
	CHECK_HAS(x[0].text, "7 stacks of HBM");
	c = machine_conf_load("dsocr", NULL, 0, &e);
	CHECK_U64(real_power(&c->cfg, 1, 1399, x), 0);
	CHECK_U64(real_power(&c->cfg, 1, 1401, x), 1);
	CHECK_U64(real_power(&c->cfg, 2, 1401, x), 0);
	machine_conf_free(c);
}

/* A small die has no room for many stacks: it is as large as its edges need, and no larger where it has room. */
TEST(a_die_is_as_large_as_its_edges_need)
{
	static const char *const small[] = { "cores=1",         "l2.size=0 B",      "kv_buffer.size=0 B",
		                             "matrix.units=0",  "dram.channels=96", "dram.channels=16",
		                             "dram.channels=48" };
	struct err e = ERR_INIT;
	double mm2[3];

	for (int i = 0; i < 3; i++) {
		const char *sets[5];
		struct machine_conf *c;

		memcpy(sets, small, sizeof sets);
		sets[4] = small[4 + i];
		c = machine_conf_load("dsocr", sets, 5, &e);
		CHECK_OK(c ? 0 : -1, e);
		mm2[i] = (double)c->cfg.die.area / AREA_MM2;
		machine_conf_free(c);
	}
	/* 6, 1 and 3 stacks of 10.7 mm at two edges of a die of 33 to 26, over 1.32. */
	CHECK(mm2[0] > 614 && mm2[0] < 616);
	CHECK(mm2[2] > 153 && mm2[2] < 155);
	CHECK(mm2[1] < 60 && mm2[1] > 17.2);
}

static bool near(double got, double want, double by)
{
	return got > want - by && got < want + by;
}

static struct machine_conf *loaded(const char *machine, const char *const *sets, int n)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_load(machine, sets, n, &e);

	CHECK_OK(c ? 0 : -1, e);
	return c;
}

static double usd(const char *machine, const char *const *sets, int n)
{
	struct machine_conf *c = loaded(machine, sets, n);
	const double all = (double)c->cfg.cost.all / 1e6;

	machine_conf_free(c);
	return all;
}

TEST(a_machine_costs_its_good_dies_and_its_dram)
{
	static const char *const half[] = { "dram.capacity=24 GiB" }, *const clean[] = { "cost.defects=0.0001" },
				 *const own[] = { "cost.wafer=1000", "cost.dram=1.5" },
				 *const none[] = { "dram.capacity=0 B" }, *const two[] = { "l2.size=1536 MiB" };
	struct machine_conf *c = loaded("dsocr", NULL, 0);
	struct tech *t = load("n5");
	struct machine_cost x;

	machine_cost(&c->cfg, t, &x);
	/* 680.75 mm2: 103.84 in a wafer's area, 25.54 at its edge; (1 + 6.8075 x 0.105 / 3)^-3; 51.54 GB at 7 */
	CHECK_U64(x.dies, 1);
	CHECK_U64(x.on_wafer, 78);
	CHECK(x.yield > 526000 && x.yield < 527500);
	CHECK(near((double)x.silicon / 1e6, 16988.0 / 78 / 0.52674, 0.001 * 413));
	CHECK(near((double)x.dram / 1e6, 51.5396 * 7, 0.01));
	CHECK(near(usd("dsocr", NULL, 0), 413.5 + 360.8, 0.5));
	CHECK(near(usd("dsocr", half, 1), 413.5 + 180.4, 0.5));
	CHECK(near(usd("dsocr", clean, 1), 16988.0 / 78 + 360.8, 0.5));
	CHECK(near(usd("dsocr", own, 2), 413.5 * 1000 / 16988 + 51.5396 * 1.5, 0.1));
	CHECK(usd("dsocr", none, 1) == 0); /* not known, and not free */
	tech_free(t);
	machine_conf_free(c);
	c = loaded("dsocr", two, 1);
	t = load("n5");
	machine_cost(&c->cfg, t, &x);
	CHECK(x.dies == 3 && x.die_nm2 <= t->die.limit.reticle && x.die_nm2 * 3 + 3 > c->cfg.die.area);
	tech_free(t);
	machine_conf_free(c);
}

TEST(more_area_and_more_defects_cost_more)
{
	static const char *const sizes[] = { "l2.size=24 MiB", "l2.size=96 MiB", "l2.size=192 MiB", "l2.size=400 MiB" };
	static const char *const defects[] = { "cost.defects=0.05", "cost.defects=0.105", "cost.defects=0.5" };

	for (int i = 1; i < 4; i++)
		CHECK(usd("dsocr", &sizes[i], 1) > usd("dsocr", &sizes[i - 1], 1));
	for (int i = 1; i < 3; i++)
		CHECK(usd("dsocr", &defects[i], 1) > usd("dsocr", &defects[i - 1], 1));
}

TEST(prices_that_nobody_says_change_no_hash)
{
	static const char *const zero[] = { "cost.wafer=0" }, *const own[] = { "cost.wafer=1000" };
	struct machine_conf *a = loaded("dsocr", NULL, 0), *b = loaded("dsocr", zero, 1), *c = loaded("dsocr", own, 1);

	CHECK_U64(cfg_hash(b->raw), cfg_hash(a->raw));
	CHECK(cfg_hash(c->raw) != cfg_hash(a->raw));
	machine_conf_free(a);
	machine_conf_free(b);
	machine_conf_free(c);
}

TEST(stacks_hold_so_much_and_no_more)
{
	static const char *const holds[] = { "dram.capacity=72 GiB" }, *const over[] = { "dram.capacity=73 GiB" },
				 *const fewer[] = { "dram.channels=16" };
	struct real_beyond beyond[REAL_MOST];
	struct machine_conf *c = loaded("dsocr", holds, 1);

	CHECK_U64(real_machine(&c->cfg, 1, beyond), 0); /* three stacks of 24 GiB */
	machine_conf_free(c);
	c = loaded("dsocr", over, 1);
	CHECK_U64(real_machine(&c->cfg, 1, beyond), 1);
	CHECK_STR(beyond[0].what, "capacity");
	CHECK(beyond[0].limit > 71.9 && beyond[0].limit < 72.1);
	machine_conf_free(c);
	c = loaded("dsocr", fewer, 1); /* one stack, and 48 GiB */
	CHECK_U64(real_machine(&c->cfg, 1, beyond), 1);
	CHECK_STR(beyond[0].what, "capacity");
	machine_conf_free(c);
}

SUITE(t_area, T(sram_takes_its_cells_and_more_for_a_port), T(a_phy_is_by_pin_and_does_not_shrink_but_its_controller),
      T(an_array_is_its_multiply_adds_wherever_they_stand),
      T(a_die_is_the_sum_of_its_blocks_and_the_share_that_is_none), T(no_amount_that_goes_up_makes_a_die_smaller),
      T(leakage_of_a_square_millimetre_goes_with_power_and_density),
      T(what_nobody_builds_is_told_and_what_is_sold_is_not), T(a_die_is_as_large_as_its_edges_need),
      T(a_machine_costs_its_good_dies_and_its_dram), T(more_area_and_more_defects_cost_more),
      T(prices_that_nobody_says_change_no_hash), T(stacks_hold_so_much_and_no_more),
      T(a_node_that_is_not_there_is_told_when_the_machine_is_read),
      T(dies_are_within_a_quarter_of_published_ones_and_boards_within_a_fifth),
      T(a_peak_is_not_known_where_the_memory_is_not_and_rises_with_what_there_is));
