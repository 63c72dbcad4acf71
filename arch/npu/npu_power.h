/* npu_power.h - what an NPU's work and its time take, in femtojoules.
 *
 *   energy = leakage V^2 t + clock tree V^2 f t + DRAM's standby t      what is there
 *          + clocks of units that wait and are not gated, V^2          what is awake
 *          + events x fJ, those on chip times V^2                      what is done
 *
 * V is the voltage that the clock needs, over the nominal one, by the points of the node (die.node). Costs are parameters
 * (npu_event.h); those that nobody gave come of the node, the kind of DRAM and the machine's sizes when a configuration is
 * read (arch/machine/machine_power.h), and `npusim config explain power -c FILE` shows where each is from.
 * An ungated unit: its clock pins switch in every cycle, and take `clock_idle` of what its work would in that time.
 * power.cap and power.mode choose the clock (sim/engine/pass_clock.h).
 * Leaves out: temperature, what data toggle, voltage regulators and fans, voltages of blocks apart, time to change them.
 * Invariants: I1 all parts sum to the energy exactly; I2 more events, more time or a higher clock never take less; I3 with
 * die.node none nothing here changes anything. */
#ifndef NPUSIM_ARCH_NPU_NPU_POWER_H
#define NPUSIM_ARCH_NPU_NPU_POWER_H

#include "arch/npu/npu_event.h"
#include "arch/npu/unit.h"
#include "arch/power/energy.h"
#include "sim/base/cfg.h"

#define NPU_POINTS 16

enum npu_mode { NPU_RACE, NPU_PACE };

struct npu_costs {
	uint64_t leakage, clock_tree, standby; /* uW, of the whole: nominal voltage, full clock */
	union {
		uint64_t cost[NPU_COSTS]; /* fJ */
		struct {
#define X(name, help) uint64_t mac_##name;
			NPU_FORMAT_ROWS(X)
#undef X
#define X(name, unit, scaled, help) uint64_t name;
			NPU_COST_ROWS(X)
#undef X
		};
	};
};

struct npu_power_cfg {
	char dram[CFG_STR_MAX]; /* constants of which kind of DRAM, "": by dram.kind */
	uint32_t mode;          /* enum npu_mode */
	ps_t latency_target;    /* 0: none */
	uint64_t cap;           /* uW; 0: none */
	bool clock_gating;
	uint32_t arithmetic, dram_path, clock_idle; /* millionths */
	uint64_t wire;                              /* fJ a bit and mm */
	uint64_t trunk;                             /* fJ a cycle and square millimetre */
	uint64_t standby_gib;                       /* uW */
	struct npu_costs given;                     /* rows; 0: by the node */
	/* Not rows: set when the configuration is read. */
	bool known; /* there is a node, and energies of the DRAM */
	struct npu_costs used;
	uint64_t unit_mac[UNIT_COUNT]; /* fJ of a unit's multiply-add; 0: by its format */
	uint32_t n_points;
	struct {
		uint64_t clock;   /* kHz */
		uint32_t voltage; /* millionths of the nominal one */
	} points[NPU_POINTS];
};

extern const struct cfg_field npu_power_schema[];

/* What a run did, and what its units could have done in the time in which they waited. */
struct npu_activity {
	uint64_t n[NPU_EVENTS];
	uint64_t waited[UNIT_COUNT]; /* multiply-adds of 16 bits; of a unit that takes none, steps */
};

/* fJ, in the order of npu_energy_rows: waits, then events. */
struct npu_energy {
	uint64_t part[NPU_ENERGIES];
};
extern const struct energy_row npu_energy_rows[NPU_ENERGIES];
uint64_t npu_event_energy(const struct npu_power_cfg *p, int event); /* fJ of one, at the nominal voltage */
uint64_t npu_mac_energy(const struct npu_power_cfg *p, int unit, enum npu_format format); /* of a multiply-add */

bool npu_power_known(const struct npu_power_cfg *p);
/* Square of the voltage at that clock, over the nominal one. */
uint64_t npu_voltage2(const struct npu_power_cfg *p, uint64_t clock);
/* Of what takes `t`, at a clock of a machine whose full one is `top`. */
void npu_energy_of(const struct npu_power_cfg *p, uint64_t clock, uint64_t top, const struct npu_activity *x, ps_t t,
                   struct npu_energy *out);

#endif
