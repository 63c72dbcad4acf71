/* machine_cost.h - what a machine costs to make, in millionths of a US dollar: its dies and its DRAM.
 *
 * A die: the wafer's price over the dies on it that are good. Dies on a wafer: its area less what its edge cuts, by area and
 * diagonal (J. Hennessy and D. Patterson, Computer Architecture, 6th ed., 1.6). Good: a negative binomial yield, (1 + A D / k)^-k,
 * of the wafer's defects and how they cluster. What is more than a reticle is cut into as few dies as it takes. DRAM: by the
 * gigabyte (10^9 bytes) of dram.capacity. Prices are of configs/tech, or of the machine's `cost` section, where that has them.
 * Unknown, 0: the process, a price, the DRAM's size.
 * Leaves out: package and interposer, test, board, cooling, masks, design, margins; dies sold with parts switched off. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_COST_H
#define NPUSIM_ARCH_MACHINE_MACHINE_COST_H

#include "arch/machine/machine_cfg.h"

struct machine_cost {
	uint64_t dies, die_nm2;  /* how many, each so large */
	uint64_t on_wafer;       /* of them */
	uint32_t yield;          /* millionths */
	uint64_t silicon, dram;  /* all dies; DRAM: 0: not known */
	uint32_t wafer, defects; /* as they count, and DRAM's a GB */
	uint32_t dram_gb;
};
/* `t`: of c->die.node; c->die.area is known. */
void machine_cost(const struct machine_cfg *c, const struct tech *t, struct machine_cost *out);
/* 0: not all of it is known. */
uint64_t machine_cost_all(const struct machine_cost *x);

#endif
