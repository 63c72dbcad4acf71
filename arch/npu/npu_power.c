#include "arch/npu/npu_power.h"

#include <string.h>

#define MILLION ENERGY_ONE

#define FILLED  "0: by die.node, and the sizes of the machine (npusim config explain power -c FILE)"
#define MOST_FJ UINT64_C(1000000000)
#define MOST_UW UINT64_C(1000000000000000) /* 1 GW: machines of any size are asked about */
#define SOME_UW UINT64_C(1000000000)

static const char *const mode_names[] = { "race", "pace", NULL };

#define MAC_COST(name, help) \
	CFG_ENERGY(struct npu_power_cfg, given.mac_##name, "mac_" #name, "0 fJ", 0, MOST_FJ, NULL, \
	           "a multiply-add of " help ", its unit's registers and control included", FILLED),
#define COST(name, unit, scaled, help) \
	CFG_ENERGY(struct npu_power_cfg, given.name, #name, "0 fJ", 0, MOST_FJ, NULL, "a " #unit " " help, FILLED),

const struct cfg_field npu_power_schema[] = {
	CFG_STR(struct npu_power_cfg, dram, "dram", "",
	        "kind of configs/tech/dram.yaml whose energies count; empty: that of dram.kind", "dram.kind"),
	CFG_ENUM(
		struct npu_power_cfg, mode, "mode", "race", mode_names,
		"race: run at the full clock, then wait for the rest of latency_target; pace: at the slowest clock that"
		" meets it",
		"our choice: what chips do by themselves"),
	CFG_PS(struct npu_power_cfg, latency_target, "latency_target", "0", 0, 1000 * PS_MS, NULL,
	       "time that a run may take: pace slows down to it, and the energy until then is told; 0: none", "none"),
	CFG_POWER(struct npu_power_cfg, cap, "cap", "0 W", 0, MOST_UW, NULL,
	          "mean power that a run may take; the clock is lowered until it fits. 0: none", "none"),
	CFG_BOOL(struct npu_power_cfg, clock_gating, "clock_gating", "true", "units that wait are not clocked",
	         "done in almost all designs (semiengineering.com, clock tree optimization)"),
	CFG_PPM(struct npu_power_cfg, arithmetic, "arithmetic", "2.5", 100000, 100000000,
	        "times a bare operation's energy: operand registers and control of a unit",
	        "between 1.7 (TPU v4's arrays in NeuSim, 0.98 pJ a MAC in 7 nm) and 3.5 (tensor cores of our H200s)"),
	CFG_PPM(struct npu_power_cfg, dram_path, "dram_path", "2.07", 100000, 100000000,
	        "times the device's energy: controller and PHY on the chip, and what its supply loses",
	        "our H200s: 7.13 pJ a bit of random data beside rows and L2 (traces/h200/energy), over 3.44 of the device"),
	CFG_ENERGY(struct npu_power_cfg, wire, "wire", "50 fJ", 0, MOST_FJ, NULL, "a bit over a millimetre of the chip",
	           "W. Dally, keynote of NOCS 2022: about 50 fJ a bit and mm in 5 nm; 100 in 14 nm (CACM 63(7), 2020)"),
	CFG_ENERGY(struct npu_power_cfg, trunk, "trunk", "30.8 pJ", 0, MOST_FJ, NULL,
	           "of the clock's trunk, a cycle and square millimetre, whatever is gated",
	           "our H200s: 49.7 W between the lowest clocks and 1.98 GHz with nothing to do, over 814 mm2"),
	CFG_PPM(struct npu_power_cfg, clock_idle, "clock_idle", "0.3", 0, 1000000,
	        "of the energy of a unit's work, what its clocks take while it waits and is not gated",
	        "clocks are a third of a processor's power where nothing is gated (Gowan et al., DAC 1998, Alpha 21264)"),
	CFG_POWER(struct npu_power_cfg, standby_gib, "standby_gib", "283 mW", 0, SOME_UW, NULL,
	          "that a GiB of DRAM takes beside refresh",
	          "NeuSim (platformxlab/NeuSim 45dbdc1), configs/chips/tpuv4.json: 10 W of 32 GiB, refresh included"),
	CFG_POWER(struct npu_power_cfg, given.leakage, "leakage", "0 W", 0, MOST_UW, NULL,
	          "of the chip, at the node's nominal voltage", FILLED),
	CFG_POWER(struct npu_power_cfg, given.clock_tree, "clock_tree", "0 W", 0, MOST_UW, NULL,
	          "of the clock's trunk, at the full clock and the nominal voltage", FILLED),
	CFG_POWER(struct npu_power_cfg, given.standby, "standby", "0 W", 0, MOST_UW, NULL, "of DRAM that waits",
	          FILLED),
	NPU_FORMAT_ROWS(MAC_COST) NPU_COST_ROWS(COST) CFG_END
};

/* --- rows -------------------------------------------------------------------------------------------------------- */

#define COST_ROW(name, unit, scaled, help) [NPU_COST_##name] = { #unit, scaled },
/* clang-format off */
static const struct {
	const char *unit;
	int scaled;
} costs[NPU_COSTS] = { NPU_COST_ROWS(COST_ROW) };

#define UNIT_ROWS(id, unit, code, insn, area) \
	{ #unit, "mac_fp32", "MAC", "multiply-adds", 1 }, { #unit, "mac_bf16", "MAC", "multiply-adds", 1 }, \
	{ #unit, "mac_fp16", "MAC", "multiply-adds", 1 }, { #unit, "mac_fp8", "MAC", "multiply-adds", 1 }, \
	{ #unit, "mac_int8", "MAC", "multiply-adds", 1 }, { #unit, "mac_int4", "MAC", "multiply-adds", 1 },
_Static_assert(NPU_FORMATS == 6, "a row for each format of each unit");
const struct energy_row npu_energy_rows[NPU_ENERGIES] = {
#define X(name, block, help) { #block, #name, "", help, 1 },
	NPU_WAIT_ROWS(X)
#undef X
	UNITS(UNIT_ROWS)
#define X(name, block, cost, help) { #block, #name, "", help, 1 },
	NPU_EVENT_ROWS(X)
#undef X
};
static const uint8_t cost_of[NPU_EVENTS] = {
#define X(name, block, cost, help) [NPU_EVENT_##name] = NPU_COST_##cost,
	NPU_EVENT_ROWS(X)
#undef X
};
/* clang-format on */

static enum npu_cost npu_event_cost(int event)
{
	return event < UNIT_COUNT * NPU_FORMATS ? (enum npu_cost)(event % NPU_FORMATS) : (enum npu_cost)cost_of[event];
}

uint64_t npu_mac_energy(const struct npu_power_cfg *p, int unit, enum npu_format format)
{
	return p->unit_mac[unit] ? p->unit_mac[unit] : p->used.cost[format];
}

uint64_t npu_event_energy(const struct npu_power_cfg *p, int event)
{
	if (event < UNIT_COUNT * NPU_FORMATS)
		return npu_mac_energy(p, event / NPU_FORMATS, (enum npu_format)(event % NPU_FORMATS));
	return p->used.cost[cost_of[event]];
}

/* --- energy ------------------------------------------------------------------------------------------------------ */

bool npu_power_known(const struct npu_power_cfg *p)
{
	return p->known;
}

/* Below the first point no less, beyond the last as between the two before it. */
static uint64_t voltage(const struct npu_power_cfg *p, uint64_t clock)
{
	uint32_t i = 1;

	if (!p->n_points)
		return MILLION;
	if (p->n_points == 1 || clock <= p->points[0].clock)
		return p->points[0].voltage;
	while (i + 1 < p->n_points && clock > p->points[i].clock)
		i++;
	return p->points[i - 1].voltage + ((uint64_t)p->points[i].voltage - p->points[i - 1].voltage) *
	                                          (clock - p->points[i - 1].clock) /
	                                          (p->points[i].clock - p->points[i - 1].clock);
}

uint64_t npu_voltage2(const struct npu_power_cfg *p, uint64_t clock)
{
	const uint64_t v = voltage(p, clock);

	return v * v / MILLION;
}

/* Steps of a unit that multiplies nothing are its lanes'. */
static uint64_t waiting_cost(const struct npu_power_cfg *p, int unit)
{
	return unit_table[unit]->last_resort ? p->used.alu : npu_mac_energy(p, unit, NPU_bf16);
}

static uint64_t ungated(const struct npu_power_cfg *p, const uint64_t *waited, uint64_t v2)
{
	uint64_t fj = 0;

	for (int u = 0; u < UNIT_COUNT && !p->clock_gating; u++)
		fj = energy_add(fj, energy_scale(energy_events(waited[u], waiting_cost(p, u), p->clock_idle), v2));
	return fj;
}

void npu_energy_of(const struct npu_power_cfg *p, uint64_t clock, uint64_t top, const struct npu_activity *x, ps_t t,
                   struct npu_energy *out)
{
	const uint64_t v2 = npu_voltage2(p, clock), tick = v2 * (clock * MILLION / top) / MILLION;

	out->part[NPU_WAIT_leakage] = energy_scale(energy_over(p->used.leakage, t), v2);
	out->part[NPU_WAIT_clock_tree] = energy_scale(energy_over(p->used.clock_tree, t), tick);
	out->part[NPU_WAIT_ungated] = ungated(p, x->waited, v2);
	out->part[NPU_WAIT_standby] = energy_over(p->used.standby, t);
	for (int i = 0; i < NPU_EVENTS; i++) {
		const enum npu_cost c = npu_event_cost(i);
		const bool scaled = (int)c < NPU_FORMATS || costs[c].scaled;

		out->part[NPU_WAITS + i] = energy_events(x->n[i], npu_event_energy(p, i), scaled ? v2 : MILLION);
	}
}
