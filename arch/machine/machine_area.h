/* machine_area.h - what a machine takes of a die, by block.
 *
 * An NPU: its units (each says itself, unit_ops.area), scratchpads by bytes and ports, L1s, DMA, the cores' sequencers, the
 * fusion engine's buffer, network ports or routers, KV buffer, L2 by bytes and banks, DRAM and links by pin. A GPU: SMs of
 * tensor cores, lanes, register files, L1 and control, and the same around them. What the file's `die` section says is built
 * beside what is used is there too. The sum and the share that is no block is the die, or all dies of a machine that has
 * several; where the edges need a larger one for their DRAM, the rest is blank.
 * Leaves out: video engines and display; packages, interposers and DRAM itself; the process's yield.
 * Invariant: I1 no amount that goes up makes the die smaller. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_AREA_H
#define NPUSIM_ARCH_MACHINE_MACHINE_AREA_H

#include "arch/machine/machine_cfg.h"

/* `t`: of c->die.node. */
void machine_area(const struct machine_cfg *c, const struct tech *t, struct area *out);

/* What of DRAM stands at a die's edges: stacks of HBM at the two long ones, 32 pins of GDDR at a time around it. 0: LPDDR and
 * DDR, or DRAM that is none of the die's. */
uint32_t machine_area_asked(const struct machine_cfg *c, const char **what);
/* nm2 of a die whose edges have room for so many of them. */
uint64_t machine_area_edges(const struct machine_cfg *c, const struct tech_limit *l, uint32_t asked);

#endif
