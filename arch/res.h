/* res.h - what an op's time is put down to and what can bound it: the one list of resources (L2: plain data).
 *
 * A resource that moves bytes has the time in which it was the fullest and near its peak; where bytes were asked for and
 * none was, the time is LATENCY's: too few were in flight (arch/npu/core.h has the rule). Of a unit's time, what cores wait in
 * the mean for the one with the most to do is IMBALANCE's.
 * Tables, JSON, the results database, stalls and timelines all use these names, in this order. The compute units are
 * those of arch/units.h. */
#ifndef NPUSIM_ARCH_RES_H
#define NPUSIM_ARCH_RES_H

#include "arch/units.h"

/* X(ID, name) for a block, UNIT(ID, name, ...) for a compute unit. */
/* clang-format off */
#define RESOURCES(X, UNIT) \
	X(DRAM, dram) X(L2, l2) X(L1, l1) X(KV, kv) X(SRAM, sram) X(NOC, noc) X(LINK, link) X(DMA, dma) UNITS(UNIT) \
	X(FUSION, fusion) X(LATENCY, latency) X(IMBALANCE, imbalance) X(DISPATCH, dispatch) X(DEPENDENCY, dependency) X(HOST, host)

#define RES_OF_BLOCK(id, name)             RES_##id,
#define RES_OF_UNIT(id, name, code, insn, area) RES_##id,
enum res { RESOURCES(RES_OF_BLOCK, RES_OF_UNIT) RES_COUNT };
#undef RES_OF_BLOCK
#undef RES_OF_UNIT
/* clang-format on */

const char *res_name(enum res r);

#endif
