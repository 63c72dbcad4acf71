/* machine_die.h - what of a machine's die no block of it says: the process, and what is built beside what is used.
 *
 * A product's die has more than its users see: cores and cache that are switched off, pins of a stack that is not there,
 * links, another machine of the same kind. None of it changes a time. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_DIE_H
#define NPUSIM_ARCH_MACHINE_MACHINE_DIE_H

#include "arch/power/tech.h"

/* A PHY: DIE_PHY_NONE, or 1 + enum tech_link_kind. A memory's: DIE_MEMORY_AUTO, or 1 + that. */
enum { DIE_PHY_NONE, DIE_MEMORY_AUTO = 0 };

struct die_cfg {
	char node[CFG_STR_MAX];  /* configs/tech/NODE.yaml, or a path; "none": no area is known */
	uint32_t machines;       /* of this kind, on the die or dies */
	uint32_t cores;          /* built; 0: those of the machine */
	uint32_t fp64;           /* lanes of double precision a core */
	uint64_t l2, sram;       /* built (0: the machine's); further SRAM that no block of the machine is */
	uint32_t memory;         /* PHY of DRAM */
	uint32_t memory_bits;    /* 0: of the machine's channels */
	uint32_t link, host;     /* PHYs */
	uint32_t links, lanes;   /* how many of each */
	bool graphics;           /* a ray-tracing core in each core */
	uint64_t other;          /* nm2 of what else is known to be there */
	uint64_t area;           /* nm2 of the whole, when the machine is read; 0: not known. Not a row, nor is */
	struct tech_limit limit; /* what nobody builds more of; */
	uint64_t limit_holds;    /* and bytes behind what machine_area_asked counts of DRAM; 0: not known */
};

/* What it costs to make (machine_cost.h), where the file says it. */
struct cost_cfg {
	uint32_t wafer;         /* USD; here as in the next two 0: configs/tech */
	uint32_t defects, dram; /* millionths: a cm2, of USD a GB */
	uint64_t all;           /* when the machine is read; 0: not known. Not a row */
};

extern const struct cfg_field die_schema[], cost_schema[];

/* A machine that says no node has no area. */
bool die_known(const struct die_cfg *c);

#endif
