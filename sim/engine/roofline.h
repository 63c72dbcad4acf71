/* roofline.h - what a run must at least take, and what it must at least take as it was mapped.
 *
 * roofline   the largest of two times of necessary work at its peak: the products' multiply-adds on the fastest unit for
 *            their formats, and the compulsory bytes over the pins. Neither mapping nor tiles, fusion, dispatch or what an
 *            earlier pass left on chip is in it, so no design of those gets under it.
 *            Compulsory is each tensor once, as it is stored: of those that are there before the workload what it reads
 *            (of experts, the picked ones), less what the chip could keep: in a steady run as many bytes as its caches,
 *            buffers and pinned SRAM hold may be there from the pass before, whichever they are. So of a workload that the
 *            chip could hold nothing is compulsory once it is warm, and of one that is run cold all of its reads. And of
 *            those that it makes what nothing in it reads, where no cache is in front of DRAM: behind one that writes back,
 *            a run may end before its results are in DRAM.
 * mapped     the largest over resources of all the work on it as it was mapped, at its peak: the bytes each level moved,
 *            busy time of units, dispatches and host trips; of DRAM, first reads of what was not on chip.
 * Leaves out: steps of vector units, the ways between cores. Invariant: roofline and mapped <= the run. */
#ifndef NPUSIM_SIM_ENGINE_ROOFLINE_H
#define NPUSIM_SIM_ENGINE_ROOFLINE_H

#include "arch/machine/machine_cfg.h"
#include "sim/base/stat.h"
#include "sim/engine/run_result.h"

/* Both, of a run that is done: its bytes are known, and `first_read_bytes`. */
int roofline_of(struct stat_reg *st, const struct machine_cfg *c, enum run_start start, const uint32_t *const *picks,
                struct arena *a, struct run_result *r, struct err *e);

#endif
