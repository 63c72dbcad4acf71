/* memory_alone.h - a memory system with a clock and counters of its own, and nothing else: what a GPU's traffic goes
 * through, and what a probe measures. A machine, whose other blocks share its clock, builds its memory itself. */
#ifndef NPUSIM_ARCH_MEM_MEMORY_ALONE_H
#define NPUSIM_ARCH_MEM_MEMORY_ALONE_H

#include "arch/mem/memory.h"

struct memory_alone {
	struct comp_env env; /* for the component that asks: `below` is the memory's door */
	struct memory *mem;
};

int memory_alone_up(struct memory_alone *a, const struct memory_cfg *c, uint64_t clock_khz, struct err *e);
void memory_alone_down(struct memory_alone *a); /* one that is all zero, or down already, is fine */

#endif
