/* What an NPU's run takes: one product by arithmetic that stands here, costs that come of a node, and what is refused. */
#include "arch/machine/machine_power.h"
#include "sim/engine/pass_energy.h"
#include "sim/engine/run.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

/* Every cost is a round number; 1.98 GHz is where n7's voltage is the nominal one. */
#define TOY \
	"name: toy\nclock: 1.98 GHz\ncores: 1\ngemv: {units: 1, lanes: 32, vectors: 4}\nmatrix: {units: 0}\n" \
	"l2: {size: 0 B}\nkv_buffer: {size: 0 B}\nfusion: {enabled: false}\nsram: {size: 1 MiB}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 100 GB/s, fixed_latency: 100 ns}\n"
#define COSTS \
	"die: {node: n7}\n" \
	"power: {leakage: 1 W, clock_tree: 2 W, standby: 4 W, mac_bf16: 1 pJ, sram: 100 fJ, noc: 200 fJ," \
	" dram_read: 5 pJ, dram_write: 6 pJ, command: 7 fJ, transfer: 11 fJ}\n"

struct bed {
	struct arena *a;
	struct machine_conf *conf;
	struct run_result x;
	struct err e;
};

static void bed_up(struct bed *b, const char *text)
{
	memset(b, 0, sizeof *b);
	b->a = arena_new(0);
	b->conf = machine_conf_parse(text, strlen(text), "toy", NULL, 0, &b->e);
	CHECK_OK(b->conf ? 0 : -1, b->e);
}

static void bed_down(struct bed *b)
{
	machine_conf_free(b->conf);
	arena_free(b->a);
}

static void bed_run(struct bed *b, uint64_t m, enum run_fidelity f)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = f };

	CHECK_OK(run_stream(synth_product(b->a, m, 64, 128), b->conf, &o, b->a, &b->x, &b->e), b->e);
}

static uint64_t part(const struct run_result *x, const char *block, const char *name)
{
	for (size_t i = 0; i < x->n_energy; i++)
		if (strcmp(x->energy[i].row->block, block) == 0 && strcmp(x->energy[i].row->name, name) == 0)
			return x->energy[i].fj;
	test_fail(__FILE__, __LINE__, "no part %s.%s", block, name);
	return 0;
}

static uint64_t stat(const struct run_result *x, const char *name)
{
	for (size_t i = 0; i < x->n_stats; i++)
		if (strcmp(x->stats[i].name, name) == 0)
			return x->stats[i].value;
	return 0;
}

static uint64_t all(const struct run_result *x)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->n_energy; i++)
		sum += x->energy[i].fj;
	return sum;
}

/* --- one product ------------------------------------------------------------------------------------------------- */

/* 6 rows of 128 values of 16 bits times 128 x 64 weights, on a GEMV unit that holds 4 rows. */
TEST(a_product_takes_what_a_hand_computes)
{
	for (int f = RUN_EVENT; f <= RUN_ANALYTIC; f++) {
		struct bed b;
		struct run_result *x = &b.x;

		bed_up(&b, TOY COSTS);
		bed_run(&b, 6, (enum run_fidelity)f);
		/* 6 x 64 x 128 = 49152 multiply-adds of 1 pJ */
		CHECK_U64(part(x, "gemv", "mac_bf16"), UINT64_C(49152) * 1000);
		CHECK_U64(part(x, "matrix", "mac_bf16"), 0);
		/* weights 64 x 128 x 2 B = 16384 B and rows 6 x 128 x 2 B = 1536 B come in: 17920 B of 5 pJ; 6 x 64 x 2 B =
		 * 768 B leave, of 6 pJ */
		CHECK_U64(part(x, "dram", "dram_read"), UINT64_C(17920) * 5000);
		CHECK_U64(part(x, "dram", "dram_write"), UINT64_C(768) * 6000);
		/* the same over one hop of 200 fJ, and into and out of the scratchpad at 100 fJ */
		CHECK_U64(part(x, "noc", "noc_up"), UINT64_C(17920) * 200);
		CHECK_U64(part(x, "noc", "noc_down"), UINT64_C(768) * 200);
		CHECK_U64(part(x, "sram", "sram_fill"), UINT64_C(17920) * 100);
		CHECK_U64(part(x, "sram", "sram_drain"), UINT64_C(768) * 100);
		/* the unit asks for each weight once for 4 of the 6 rows, 49152 / 4 x 2 B = 24576 B, for its rows once,
		 * 49152 / 64 x 2 B = 1536 B, and puts 49152 / 128 x 4 B = 1536 B of sums there: 27648 B */
		CHECK_U64(part(x, "sram", "sram_operand"), UINT64_C(27648) * 100);
		CHECK_U64(part(x, "dispatch", "command"), 7);
		CHECK_U64(part(x, "dispatch", "transfer"), 11 * stat(x, "dma.transfers"));
		/* 1 W of leakage, 2 W of the clock at its full rate, 4 W of DRAM: a W over a ps is 1000 fJ */
		CHECK_U64(part(x, "chip", "leakage"), 1000 * x->total_ps);
		CHECK_U64(part(x, "chip", "clock_tree"), 2000 * x->total_ps);
		CHECK_U64(part(x, "dram", "standby"), 4000 * x->total_ps);
		CHECK_U64(x->energy_fj, all(x));
		CHECK_U64(x->energy_fj, UINT64_C(49152) * 1000 + UINT64_C(17920) * 5000 + UINT64_C(768) * 6000 +
		                                (UINT64_C(17920) + 768) * 300 + UINT64_C(27648) * 100 + 7 +
		                                11 * stat(x, "dma.transfers") + 7000 * x->total_ps);
		CHECK_U64(x->ops[0].energy_fj, x->energy_fj);
		bed_down(&b);
	}
}

TEST(units_that_wait_are_clocked_where_nothing_gates_them)
{
	static const char gates[] = TOY COSTS,
			  none[] = TOY "die: {node: n7}\npower: {dram_read: 5 pJ, clock_gating: false}\n";
	struct bed b;
	uint64_t idle;

	bed_up(&b, gates);
	bed_run(&b, 1, RUN_EVENT);
	CHECK_U64(part(&b.x, "chip", "ungated"), 0);
	bed_down(&b);
	bed_up(&b, none);
	bed_run(&b, 1, RUN_EVENT);
	idle = part(&b.x, "chip", "ungated");
	/* at least the lanes' part of the time in which nothing was computed: 32 MACs a cycle, 0.3 of a MAC */
	CHECK(idle >= (b.x.total_ps - stat(&b.x, "gemv.busy_ps")) * 198 / 100000 * 32 *
	                      b.conf->cfg.power.used.mac_bf16 * 29 / 100);
	CHECK_U64(b.x.energy_fj, all(&b.x));
	bed_down(&b);
}

TEST(without_energies_nothing_is_told_and_nothing_changes)
{
	struct bed b, c;

	bed_up(&b, TOY); /* energies of a fixed DRAM nobody knows */
	bed_run(&b, 3, RUN_EVENT);
	bed_up(&c, TOY COSTS);
	bed_run(&c, 3, RUN_EVENT);
	CHECK(!b.x.energy && !b.x.energy_fj && !b.x.clock_khz);
	CHECK_U64(b.x.total_ps, c.x.total_ps);
	CHECK_U64(c.x.clock_khz, 1980000);
	bed_down(&b);
	bed_down(&c);
}

/* --- costs ------------------------------------------------------------------------------------------------------- */

TEST(a_node_gives_what_nobody_did)
{
	struct bed b;
	const struct npu_costs *u;

	bed_up(&b, TOY "die: {node: n7}\npower: {dram_read: 5 pJ, sram: 1 pJ, arithmetic: 2}\n");
	u = &b.conf->cfg.power.used;
	CHECK_U64(u->mac_bf16, 2 * (210 + 380)); /* configs/tech/n7.yaml: multiply, add in fp32 */
	CHECK_U64(u->mac_int8, 2 * (70 + 30));
	CHECK_U64(u->alu, 380 + 1310);
	CHECK_U64(u->sram, 1000); /* given */
	CHECK(u->leakage > 0 && u->clock_tree > 0 && u->noc > 0);
	CHECK_U64(u->standby, 0); /* of no known capacity */
	CHECK_U64(b.conf->cfg.power.given.mac_bf16, 0);
	CHECK_OK(machine_conf_explain(b.conf, &b.e), b.e);
	CHECK_U64(b.conf->cfg.power.given.mac_bf16, 2 * (210 + 380));
	bed_down(&b);
}

TEST(voltage_goes_with_the_clock_between_the_nodes_points)
{
	struct bed b;
	const struct npu_power_cfg *p;

	bed_up(&b, TOY COSTS);
	p = &b.conf->cfg.power;
	CHECK_U64(npu_voltage2(p, 1980000), ENERGY_ONE);
	CHECK_U64(npu_voltage2(p, 345000), UINT64_C(628400) * 628400 / ENERGY_ONE);
	CHECK_U64(npu_voltage2(p, 1), npu_voltage2(p, 345000));
	/* beyond the points as between the last two: (1 - 0.6284) / 1635 MHz more a MHz */
	CHECK_U64(npu_voltage2(p, 2480000), UINT64_C(1113639) * 1113639 / ENERGY_ONE);
	for (uint64_t f = 345000; f < 3000000; f += 15000)
		CHECK(npu_voltage2(p, f) < npu_voltage2(p, f + 15000));
	bed_down(&b);
}

TEST(what_waits_does_so_at_its_lowest_clock)
{
	struct bed b;

	bed_up(&b, TOY COSTS);
	/* a millisecond at 345 MHz, whose voltage is 0.6284 of the nominal one, its square 0.394886: 1 mJ of leakage times
	 * that, 2 mJ of the clock times that and 345 / 1980, together 0.068805, and 4 mJ of DRAM */
	CHECK_U64(pass_energy_waiting(&b.conf->cfg, PS_MS),
	          UINT64_C(394886000000) + UINT64_C(137610000000) + UINT64_C(4000000000000));
	bed_down(&b);
	bed_up(&b, TOY);
	CHECK_U64(pass_energy_waiting(&b.conf->cfg, PS_MS), 0);
	bed_down(&b);
}

static void refused(const char *text, const char *said)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(text, strlen(text), "m.yaml", NULL, 0, &e);

	CHECK(!c);
	CHECK(e.kind == ERR_CONFIG || e.kind == ERR_IO);
	CHECK_HAS(e.msg, said);
	machine_conf_free(c);
}

TEST(what_cannot_be_is_one_line)
{
	refused(TOY "die: {node: n6}\n", "while reading 'die.node'");
	refused(TOY "power: {dram: hbm3f}\n", "did you mean 'hbm3");
	refused(TOY "power: {dram_read: 5 pJ, cap: 10 mW}\n", "with nothing to do at its lowest clock");
	refused(TOY "power: {cap: 10 W}\n", "needs to know what the machine takes");
	refused(TOY "power: {dram_read: 5 pJ, mode: pace}\n", "give 'power.latency_target'");
}

SUITE(t_npu_power, T(a_product_takes_what_a_hand_computes), T(units_that_wait_are_clocked_where_nothing_gates_them),
      T(without_energies_nothing_is_told_and_nothing_changes), T(a_node_gives_what_nobody_did),
      T(voltage_goes_with_the_clock_between_the_nodes_points), T(what_waits_does_so_at_its_lowest_clock),
      T(what_cannot_be_is_one_line));
