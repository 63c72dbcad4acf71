/* memory.h - the whole memory system, wired: what the cores' DMA asks, or a GPU's kernels, or a probe.
 *
 *     door ─ (L1) ─ NoC ┬─ KV buffer ┐
 *                       └─ L2 ───────┴─ DRAM
 *
 * A level of size 0 is not there; `dram.kind: fixed` is DRAM's trivial twin. Levels meet by messages only
 * (arch/comp.h); this module builds them in order and frees them in reverse.
 * Leaves out: who asks. Statistics of all levels are registered with the environment it is given. */
#ifndef NPUSIM_ARCH_MEM_MEMORY_H
#define NPUSIM_ARCH_MEM_MEMORY_H

#include "arch/mem/dram.h"
#include "arch/mem/kv.h"
#include "arch/mem/l1.h"
#include "arch/mem/l2.h"
#include "arch/mem/noc.h"

struct memory_cfg {
	struct l1_cfg l1;
	struct noc_cfg noc;
	struct kv_cfg kv_buffer;
	struct l2_cfg l2;
	struct dram_cfg dram;
};

struct memory;

/* `env->below` is not looked at; `cfg` is copied. */
struct memory *memory_new(const struct comp_env *env, const struct memory_cfg *cfg, struct err *e);
void memory_free(struct memory *m);
struct comp *memory_door(struct memory *m);    /* where requests go in: the L1, or the network */
struct comp *memory_network(struct memory *m); /* where cores reach each other */
uint64_t memory_resident(const struct memory *m, uint64_t addr, uint64_t bytes, bool kv); /* on chip, in any level */
void memory_watch(struct memory *m, const struct watch *w);                               /* NULL: nobody looks on */
void memory_pass_over(struct memory *m); /* statistics are of what was done by now */
void memory_rest(struct memory *m);      /* between passes that owe DRAM nothing: it is as in a new machine */
void memory_forget(struct memory *m);    /* cold: nothing on chip; statistics stay */

#endif
