/* area.h - what blocks take of a die: transistors, bits and pins by what they come to in a process.
 *
 * A part is logic, SRAM and PHYs apart, as they leak apart; a block of a machine has one, and the sum of all with what no
 * block has (AREA_BLANK: whitespace, pads, test) is the die. Who has blocks: arch/npu/unit_*.c for units, and
 * arch/machine/machine_area.h for all of a machine.
 *     logic   transistors at the node's mean of logic
 *     SRAM    bits, times the cells that a bit of a buffer takes with its decoders, sense amplifiers, repair and routing,
 *             more for every further port; a bank's port has logic of its own
 *     PHYs    as published, at their own node: they do not shrink; their controllers are logic
 *     blank   a share of the die
 * Constants: configs/tech/die.yaml and link.yaml, by published shares of other dies. An unknown constant is 0, and so is
 * what it is of.
 * Units: square nanometres; saturate at UINT64_MAX (18 million mm2). Rounded down once, where a part is made.
 * Invariant: I1 more bytes, ports, transistors or pins never take less. */
#ifndef NPUSIM_ARCH_POWER_AREA_H
#define NPUSIM_ARCH_POWER_AREA_H

#include "arch/power/tech.h"
#include "arch/units.h"

#define AREA_MM2 1e12 /* nm2 */

/* X(name, what it is): the blocks of a machine, in the order of tables; first UNIT(..., name, ..., what it is) for each compute
 * unit. */
/* clang-format off */
#define AREA_BLOCKS(X, UNIT) \
	UNITS(UNIT) \
	X(sram, "scratchpads, or shared memory and L1") \
	X(l1, "first-level caches") \
	X(registers, "register files") \
	X(control, "of cores and of commands: fetch, schedule, address") \
	X(fusion, "the fusion engine's buffer") \
	X(dma, "engines that move tiles") \
	X(noc, "the network on the chip, by port") \
	X(kv, "the KV buffer") \
	X(l2, "L2: its bytes and its banks") \
	X(dram, "DRAM's PHYs and controllers, by pin") \
	X(link, "links and host: PHYs and controllers") \
	X(other, "what the machine's file says is there beside") \
	X(blank, "no block: space between, pads, test")
/* clang-format on */

enum area_block {
#define BLOCK(name, help)                AREA_##name,
#define UNIT(id, name, code, insn, help) AREA_##name,
	AREA_BLOCKS(BLOCK, UNIT)
#undef BLOCK
#undef UNIT
		AREA_COUNT
};

struct area_part {
	uint64_t logic, sram, phy; /* nm2 */
};
struct area {
	struct area_part block[AREA_COUNT];
};

const char *area_name(enum area_block b);
const char *area_help(enum area_block b);

uint64_t area_logic(const struct tech *t, uint64_t transistors);
/* So many bytes, all banks together, each with so many ports. */
uint64_t area_sram(const struct tech *t, uint64_t bytes, uint32_t ports);
/* Transistors of what moves so many bits a cycle between a bank and who asks. */
uint64_t area_crossing(const struct tech *t, uint64_t bits);
/* So many bits or lanes of a PHY, and its controllers. */
struct area_part area_phy(const struct tech *t, enum tech_link_kind k, uint64_t width);

void area_add(struct area_part *sum, const struct area_part *x);
uint64_t area_of(const struct area_part *x); /* all three */
/* The part of the die that is no block; `a` has all others. */
void area_fill(struct area *a, const struct tech *t);
uint64_t area_die(const struct area *a);

#endif
