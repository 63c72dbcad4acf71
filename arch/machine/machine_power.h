/* machine_power.h - what an NPU's events and time cost, filled in from its node where its configuration gives nothing.
 *
 * A cost is the node's bare operation (configs/tech, arch/power/tech.h) times what is around it; bytes of a level by the
 * size of its banks, of the network by the way on a chip of this area, of DRAM by its kind. `npusim config explain power -c FILE`
 * shows what each was made of.
 * Leakage is that of the machine's blocks (arch/machine/machine_area.h), the clock's trunk goes with the area of the die.
 * Known it is where die.node is, and the energy of the kind of DRAM or power.dram_read. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_POWER_H
#define NPUSIM_ARCH_MACHINE_MACHINE_POWER_H

#include "arch/machine/machine_cfg.h"
#include "arch/machine/machine_techs.h"

/* Fills in c->power.used; of a machine that has no node nothing. `raw`: its rows that nobody gave are set, too, with their sources, for
 * people to see; NULL: they stay 0, so that machines are compared by what was said of them. */
int machine_power_fill(struct machine_cfg *c, struct cfg *raw, const struct source *from, struct machine_techs **kept,
                       struct err *e);
/* Hops that a byte goes in the mean, in hundredths. */
uint64_t machine_hops(const struct machine_cfg *c);

#endif
