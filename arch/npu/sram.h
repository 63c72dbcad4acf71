/* sram.h - the cores' scratchpad: where tiles wait to be computed, and where pinned weights stay.
 *
 * Models: capacity (enforced: an allocation that does not fit is refused and waits), rate of its banks and their ports,
 * a part set aside for weights that stay across decode steps. Fills and reads compete for the ports: every byte of a
 * tile crosses one twice, in by DMA and out to a unit (or back), and while a tile is computed the next one comes in; so
 * tiles pass at half of banks x ports x width. With two ports a bank neither side sees the other; with one they take
 * turns. Assumed: a tile lies over all banks and a short queue before each evens out who comes when, so what counts is
 * the port cycles taken, as in interleaved memories with buffers; our choice, and monotone: more banks, ports or width
 * are never slower. All cores' scratchpads act as one, as tiles are spread evenly.
 * With `forward`, what an op makes stays in the scratchpads of the cores that made it until its last reader has it, where
 * that is faster; readers fetch it from there over the network. The command that makes it takes its room and the last that
 * reads it gives it back (arch/isa.h): commands between the two have so much less, others have not. All else goes out to
 * the L2 or DRAM and in again (a spill). The mapper decides (sim/map/map_reuse.c).
 * Who reads down a column of rows that lie one behind the other takes words a row apart. Where a power of two divides that
 * stride they lie in few banks, and those alone serve them: rows of `stride` bytes meet
 * min(banks, banks x width / (the largest power of two in stride)) of the banks. Filling goes along rows and meets them all.
 * A row padded to an odd number of words meets all banks (sram_pad), for room that nothing else has; the mapper counts it.
 * Only units that say they read so do: GEMV units with a row a lane (gemv.rows_over_lanes). (Rau, Pseudo-randomly
 * interleaved memory, ISCA 1991, has the classic case; padding as in the CUDA C Programming Guide, shared memory.)
 * Leaves out: compute inside the array, addresses that are hashed over banks.
 * Invariant: I1 allocated + pinned <= size, always. */
#ifndef NPUSIM_ARCH_NPU_SRAM_H
#define NPUSIM_ARCH_NPU_SRAM_H

#include <stdbool.h>

#include "sim/base/cfg.h"

struct sram_cfg {
	uint64_t size; /* a core */
	uint32_t banks;
	uint64_t bank_width; /* bytes a cycle and port */
	uint32_t ports;      /* of a bank */
	uint64_t pin;        /* a core: set aside for pinned weights */
	bool pad;            /* rows that are read by columns are padded where that is faster */
	bool forward;        /* results stay for who reads them next, where there is room */
	uint64_t from_l1;    /* a core, on top of size: the shared part of its L1; not a row: l1_shared() */
};

extern const struct cfg_field sram_schema[];

int sram_cfg_check(const struct sram_cfg *c, struct err *e);
uint64_t sram_size(const struct sram_cfg *c);                 /* a core, the pinned part included */
uint64_t sram_rate(const struct sram_cfg *c, uint32_t cores); /* bytes of tiles a cycle, all cores */
/* Banks that words so many bytes apart lie in. */
uint32_t sram_banks_met(const struct sram_cfg *c, uint64_t stride);
/* Bytes to put behind each row so that its columns meet all banks; 0: they do. */
uint64_t sram_pad(const struct sram_cfg *c, uint64_t stride);
/* Cycles to fill so many bytes by rows and read them by columns, all cores. */
uint64_t sram_column_cycles(const struct sram_cfg *c, uint32_t cores, uint64_t bytes, uint64_t stride);

struct sram {
	uint64_t size, used, pinned, peak;
}; /* all cores */
void sram_init(struct sram *s, const struct sram_cfg *c, uint32_t cores);
bool sram_take(struct sram *s, uint64_t bytes); /* false: does not fit now */
void sram_give(struct sram *s, uint64_t bytes);

#endif
