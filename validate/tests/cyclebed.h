/* cyclebed.h - a machine that is stepped clock by clock and computes: for tests, beside event fidelity.
 *
 *     sequencer ─ systolic array ─ tile buffers (SRAM) ─ DMA ─ one port of B bytes a cycle ─ memory
 *
 * It runs the tile program of one product in order. Loads bring the values of their tile, and no others; math multiplies
 * what is there (what was not loaded is no number of the product's), and what stores bring to memory is compared with
 * the plain product. A tile at the edge is as small as it is: in bytes, and in cycles.
 * A descriptor takes `setup` cycles, then `hop` to the port, which serves one at a time, B bytes of one of them a cycle,
 * the most urgent first (results and what a command needs before its tiles; tiles of a command that has started; what loads
 * ahead), else in order of request; a byte or an acknowledgement is back `latency` and `hop` later. So many
 * `descriptors` are under way for commands that have started, and as many for those that load ahead of their turn.
 * SRAM is given out as arch/npu/core.h says; up to `stages` tiles of a command are in it.
 * Several cores have an array each, and a part of every tile as the program cuts it (isa_insn.parts); a tile is done when the
 * last of them is. Partial sums of parts of k are together when each core has sent its halves of them, `swap_bytes` a cycle,
 * one tile's behind another's, and `exchange` cycles later.
 * Leaves out: dispatch (it takes no time), anything but products of one op, caches, other units, ports of cores (what comes in
 * for several comes in for all of them at once). */
#ifndef NPUSIM_TESTS_CYCLEBED_H
#define NPUSIM_TESTS_CYCLEBED_H

#include "arch/isa.h"
#include "sim/base/rng.h"
#include "validate/tests/systolic.h"

#define CYCLEBED_CORES 4

struct cyclebed_cfg {
	struct systolic_cfg array;
	uint32_t port_bytes, latency, setup, hop; /* cycles */
	uint32_t stages, descriptors, cores;
	uint32_t exchange, swap_bytes; /* cycles; a cycle, out of a core and into it */
	uint64_t sram;
};

struct cyclebed_result {
	uint64_t cycles, port_busy, bytes;
	uint32_t tiles, cmds;
};

/* What does not add up fails the test: a product that is wrong, a tile computed before its operands are there, a machine
 * in which nothing happens any more. */
void cyclebed_run(const struct cyclebed_cfg *c, const struct isa_prog *p, uint64_t m, uint64_t n, uint64_t k,
                  struct rng *r, struct cyclebed_result *out);

#endif
