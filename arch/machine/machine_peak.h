/* machine_peak.h - what a machine takes at most, by its description alone: all that it has at its full rate at once, at the
 * full clock, data of the usual kind.
 *
 *   leakage    by area, at the nominal voltage
 *   units      the busiest kind, 16-bit operands: bare arithmetic and what feeds it. Of an array the registers that operands
 *              and sums pass through; of an SM its register file, half a byte a multiply-add of a tensor core and 16 of an
 *              fp32 one, and the busier of the two
 *   caches     L2 and KV buffer at their bandwidth, over two thirds of the chip's side
 *   dram       its pins at their rate: the device, and the host's interface to it
 * It is what data sheets' board powers are near to, where a card is not held far below what its die could take. It is no ceiling:
 * runs are priced by other constants, which were fitted to whole boards (arch/npu/npu_power.h); that is machine_ceiling.h.
 * Leaves out: regulators' losses, fans, links, host.
 * Constants: configs/tech, none of a device of ours. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_PEAK_H
#define NPUSIM_ARCH_MACHINE_MACHINE_PEAK_H

#include "arch/machine/machine_area.h"

struct machine_peak {
	uint64_t leakage, units, caches, dram; /* uW; 0: none, or not known */
};

/* `a`: of this machine. */
void machine_peak(const struct machine_cfg *c, const struct tech *t, const struct area *a, struct machine_peak *out);
/* All of them; 0 where a part is not known: an unknown kind of DRAM. */
uint64_t machine_peak_sum(const struct machine_peak *p);

#endif
