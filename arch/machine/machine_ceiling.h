/* machine_ceiling.h - power that no run of a machine takes more of, by its description alone.
 *
 * Of an NPU: what waits (leakage, clock tree, DRAM's standby and refresh), and all blocks at their full rates at once, at the
 * costs that runs are priced by (arch/npu/npu_power.h), the full clock and its voltage:
 *   units      each at the format whose multiply-adds and operands from the scratchpad take most; of a vector unit its lanes, special
 *              functions, converters, sorters and the parts made for activations and norms
 *   SRAM, network, L1, L2, KV buffer at their bandwidths; DRAM's pins, and a row opened as often as its timing lets them
 *   dispatch   commands and descriptors one after the other
 * `power.cap` is one, too. Of a GPU its board's cap; where its power is not modelled, what it is built of (machine_peak.h).
 * No run comes near: products do not fill DRAM. Of a design with a known board machine_peak.h is the better guess of that board.
 * Units: uW; 0: the process or the kind of DRAM is not known. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_CEILING_H
#define NPUSIM_ARCH_MACHINE_MACHINE_CEILING_H

#include "arch/machine/machine_area.h"

/* `a`: of this machine, in `t`. All dies of it. */
uint64_t machine_ceiling(const struct machine_cfg *c, const struct tech *t, const struct area *a);

#endif
