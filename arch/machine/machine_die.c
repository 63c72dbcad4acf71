#include "arch/machine/machine_die.h"

#include <string.h>

#define PHY_NAME(name) #name,
static const char *const phy_names[] = { "none", TECH_LINKS(PHY_NAME) NULL };
static const char *const memory_names[] = { "auto", "none", TECH_LINKS(PHY_NAME) NULL };
#undef PHY_NAME

#define BUILT 1u << 20

const struct cfg_field die_schema[] = {
	CFG_STR(struct die_cfg, node, "node", "n5",
	        "process that the die is made in: a file of configs/tech, or a path; none: no area and no energy",
	        "our choice: accelerators of 2022 to 2025 are made in TSMC's N5 family"),
	CFG_U32(struct die_cfg, machines, "machines", "1", 1, 4096, NULL,
	        "machines of this kind on the die: each runs its own program", "this one"),
	CFG_U32(struct die_cfg, cores, "cores", "0", 0, BUILT, NULL,
	        "cores built in a machine, those switched off included; 0: as many as it has", "all are used"),
	CFG_U32(struct die_cfg, fp64, "fp64", "0", 0, BUILT, NULL, "lanes of double precision a core", "none"),
	CFG_BYTES(struct die_cfg, l2, "l2", "0", 0, UINT64_C(1) << 40, NULL,
	          "L2 built, parts switched off included; 0: l2.size", "all of it is used"),
	CFG_BYTES(struct die_cfg, sram, "sram", "0", 0, UINT64_C(1) << 40, NULL,
	          "further SRAM on the die that is no block of the machine's description", "none"),
	CFG_ENUM(struct die_cfg, memory, "memory", "auto", memory_names,
	         "PHY of the DRAM, a row of configs/tech/link.yaml; auto: by dram.kind; none: on another die",
	         "by dram.kind"),
	CFG_U32(struct die_cfg, memory_bits, "memory_bits", "0", 0, BUILT, NULL,
	        "pins of data of that PHY as built; 0: those of the channels", "all are used"),
	CFG_ENUM(struct die_cfg, link, "link", "none", phy_names, "PHY of links to other chips", "none"),
	CFG_U32(struct die_cfg, links, "links", "0", 0, 65536, NULL, "links, in the width of that PHY's row", "none"),
	CFG_ENUM(struct die_cfg, host, "host", "none", phy_names, "PHY to the host",
	         "none: an accelerator inside a larger chip; a board has pcie5_phy"),
	CFG_U32(struct die_cfg, lanes, "lanes", "16", 0, 65536, NULL, "lanes to the host", "PCI Express cards have 16"),
	CFG_BOOL(struct die_cfg, graphics, "graphics", "false", "each core has a ray-tracing core", "none"),
	CFG_AREA(struct die_cfg, other, "other", "0 mm2", 0, UINT64_C(1000000000000000000), NULL,
	         "area of what else is known to be on the die", "nothing"),
	CFG_END
};

#define BY_TECH "configs/tech has it"

const struct cfg_field cost_schema[] = {
	CFG_U32(struct cost_cfg, wafer, "wafer", "0", 0, 1u << 20, NULL,
	        "price of a processed wafer in USD; 0: that of die.node in configs/tech", BY_TECH),
	CFG_PPM(struct cost_cfg, defects, "defects", "0", 0, 4000000000u,
	        "defects of it a cm2; 0: those of die.node in configs/tech", BY_TECH),
	CFG_PPM(struct cost_cfg, dram, "dram", "0", 0, 4000000000u,
	        "price of a GB of DRAM in USD; 0: that of dram.kind in configs/tech", BY_TECH),
	CFG_END
};

bool die_known(const struct die_cfg *c)
{
	return strcmp(c->node, "none") != 0;
}
