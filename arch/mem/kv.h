/* kv.h - the KV buffer: on-chip memory that holds the KV cache and nothing else, pinned.
 *
 * Models: capacity, bandwidth, latency. A KV chunk (4 KiB) is taken in on first touch while there is room and never
 * evicted (pinned); within it, lines of 128 B are fetched when they are first read. What does not fit spills: it goes
 * to the level below as any other data; with `kv_buffer.spill: false` a run whose KV cache does not fit is refused
 * before it starts (sim/map/map). What is taken in is asked for as `no_keep`, so that no cache below holds it
 * too. Dirty chunks stay until the end. Requests of other classes are not sent here. `kv_buffer.size: 0`: absent, and
 * KV goes through the L2. Leaves out: banks, moving the pinned set during a run. Invariants: I1 resident bytes <= size,
 * always; I2 asked = served here + filled + spilled, in whole lines; I3 a refusal owes one retry; I4 no answer before
 * its bytes can be there. */
#ifndef NPUSIM_ARCH_MEM_KV_H
#define NPUSIM_ARCH_MEM_KV_H

#include "arch/comp.h"

#define KV_CHUNK UINT64_C(4096)
#define KV_LINE  UINT64_C(128)

struct kv_cfg {
	uint64_t size;
	uint64_t bandwidth; /* bytes/s */
	ps_t latency;
	bool spill;
};

extern const struct cfg_field kv_schema[];
extern const struct comp_ops kv_ops;
int kv_cfg_check(const struct kv_cfg *c, struct err *e);

#endif
