/* noc.h - the on-chip network between the cores' DMA and the shared levels: here the ideal one.
 *
 * Models: a hop latency each way and routing by class: KV requests to the KV buffer when there is one, the rest to L2.
 * It holds nothing back: what the level behind refuses, it refuses, and retries the sender when that level does.
 * Leaves out: contention, topology (the ideal twin of what comes later; its bandwidth is unlimited).
 * Invariant: I1 one reply for each request taken, `latency` after the level behind replied. */
#ifndef NPUSIM_ARCH_MEM_NOC_H
#define NPUSIM_ARCH_MEM_NOC_H

#include "arch/comp.h"

struct noc_cfg {
	ps_t latency;
}; /* one way */

extern const struct cfg_field noc_schema[];

/* `kv` may be NULL. The replies come back through the network to req->from. */
struct comp *noc_ideal_new(const struct comp_env *env, const struct noc_cfg *cfg, struct comp *l2, struct comp *kv,
                           struct err *e);

#endif
