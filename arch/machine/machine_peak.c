#include "arch/machine/machine_peak.h"

#include "arch/power/energy.h"
#include "sim/base/root.h"

#define BANK 8192 /* bytes of a register file's */
#define MIB  (UINT64_C(1) << 20)

/* So many events a second of so many femtojoules, in microwatts. */
static uint64_t rate_power(uint64_t a_second, uint64_t fj)
{
	return energy_events(a_second / 1000000, fj, 1000);
}

static uint64_t machine_peak_product(uint64_t a, uint64_t b)
{
	return energy_events(a, b, ENERGY_ONE);
}

/* --- leakage ------------------------------------------------------------------------------------------------------- */

static uint64_t leakage(const struct tech *t, const struct area *a)
{
	uint64_t logic = 0, sram = 0;

	for (int b = 0; b < AREA_COUNT; b++)
		if (b != AREA_blank) {
			logic = energy_add(logic, a->block[b].logic);
			sram = energy_add(sram, a->block[b].sram);
		}
	/* nm2 times uW a mm2: 1e-12 in all. */
	return energy_add(energy_scale(logic / ENERGY_ONE, t->leakage.logic),
	                  energy_scale(sram / ENERGY_ONE, t->leakage.sram));
}

/* --- units ----------------------------------------------------------------------------------------------------------- */

/* A value of 16 bits and a sum of 32 go on through an array's registers. */
#define ARRAY_BITS 48

static uint64_t npu_units(const struct machine_cfg *c, const struct tech *t)
{
	const uint64_t mac = tech_mac(t, DT_BF16, DT_BF16), wide = tech_mac(t, DT_FP32, DT_FP32),
		       passed = ARRAY_BITS * t->arithmetic.flip_flop;
	uint64_t most = 0;

	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_ops *u = unit_table[i];
		const struct unit_env env = machine_unit(c, (enum unit)i);
		const uint64_t macs = c->unit[i].units && u->peak ? u->peak(&env, DT_BF16, DT_BF16) : 0,
			       uw = rate_power(machine_peak_product(macs, c->clock * 1000),
		                               (u->last_resort ? wide : mac) + passed);

		most = uw > most ? uw : most;
	}
	return most;
}

/* An operation on registers takes three operands and gives one, of four bytes; a tensor core's sums of 16 steps along k go to
 * and fro once, and its operands are shared by 16 and more. */
#define FMA_BYTES       16
#define TENSOR_BYTES_10 6

static uint64_t gpu_units(const struct machine_cfg *c, const struct tech *t)
{
	const struct gpu_common_cfg *g = &c->gpu.common;
	const uint64_t byte = tech_sram_byte(t, BANK), hz = c->clock * 1000,
		       lanes = round_up(g->flop_fp32 / 2, 32), /* what is reached is a little less */
		fma = rate_power(machine_peak_product(c->cores * lanes, hz),
	                         tech_mac(t, DT_FP32, DT_FP32) + FMA_BYTES * byte),
		       tensor = rate_power(machine_peak_product(c->cores * (uint64_t)(g->flop_bf16 / 2), hz),
	                                   tech_mac(t, DT_BF16, DT_BF16) + TENSOR_BYTES_10 * byte / 10);

	return fma > tensor ? fma : tensor;
}

/* --- caches and DRAM ------------------------------------------------------------------------------------------------- */

static uint64_t caches(const struct machine_cfg *c, const struct tech *t, const struct area *a)
{
	const uint64_t way = root_down(area_die(a) / c->die.machines) * 2 / 3,
		       byte = tech_sram_byte(t, MIB) + 8 * t->wire.bit * (way / 1000) / 1000;
	uint64_t rate = c->mem.l2.size ? l2_bandwidth(&c->mem.l2, c->clock) : 0;

	if (c->mem.kv_buffer.size)
		rate = energy_add(rate, c->mem.kv_buffer.bandwidth);
	return rate_power(rate, byte);
}

/* A device's bits, and the host's interface to a stack; of GDDR and DDR both are one figure. */
static uint64_t dram(const struct machine_cfg *c, const struct tech *t)
{
	const int kind = tech_dram_kind(c->mem.dram.kind);
	const struct tech_dram *d = kind < 0 ? NULL : &t->dram[kind];
	uint64_t bit = 0;

	if (d)
		bit = d->access ? d->access + t->link[TECH_LINK_hbm3_interface].bit : d->io;
	return rate_power(dram_peak(&c->mem.dram), 8 * bit);
}

void machine_peak(const struct machine_cfg *c, const struct tech *t, const struct area *a, struct machine_peak *out)
{
	const uint64_t n = c->die.machines;

	out->leakage = leakage(t, a);
	out->units = machine_peak_product(n, machine_runs(c) == MACHINE_LAUNCHES ? gpu_units(c, t) : npu_units(c, t));
	out->caches = machine_peak_product(n, caches(c, t, a));
	out->dram = machine_peak_product(n, dram(c, t));
}

uint64_t machine_peak_sum(const struct machine_peak *p)
{
	return p->dram ? energy_add(energy_add(p->leakage, p->units), energy_add(p->caches, p->dram)) : 0;
}
