/* analytic_repeat.h - a loop over tiles that has come to repeat itself, many tiles at once: a part of sim/engine/analytic.
 *
 * Tiles that ask for the same things, one after the other, soon take the same time each. Where all that they find is as the one
 * before found it, but so much later, each further one finds and leaves it so once more: what a tile did is then done again, as
 * often as there are tiles like it, with no server asked. So times are to the picosecond those of one tile after the other, which
 * is what this file is held to (t_analytic). What is counted (bytes, busy time) is not: for who asks for times alone.
 * What comes from before the loop (when loads may start, servers that no tile uses) must be over when it repeats; it only ever
 * asks whether something later is later. Bookings in front of others, and write-backs that DRAM begins to make, end it.
 * Leaves out: loops that repeat themselves every so many tiles. */
#ifndef NPUSIM_SIM_ENGINE_ANALYTIC_REPEAT_H
#define NPUSIM_SIM_ENGINE_ANALYTIC_REPEAT_H

#include "sim/engine/analytic_memory.h"

/* SRAM that is given back. */
struct release {
	ps_t when;
	uint64_t bytes;
};

/* All that a loop moves on: between two of its tiles. */
struct repeat_loop {
	struct hierarchy *mem;
	struct server *unit; /* RES_COUNT of them */
	ps_t *slot;          /* places of tiles, `stages` of them from `place` on */
	uint32_t stages, place;
	struct release *releases; /* first .. end - 1, modulo mask + 1 */
	uint32_t first, end, mask;
	uint64_t used; /* SRAM */
	ps_t admitted, turn, over;
};

struct repeat;

struct repeat *repeat_new(const struct machine_cfg *c, struct err *e);
void repeat_free(struct repeat *r);
/* Remembers how things are before a tile; false: there is too much of it. */
bool repeat_mark(struct repeat *r, const struct repeat_loop *l);
/* Behind that tile: how many more like it, of so many, do the same so much later each; 0: they may not. */
uint32_t repeat_tiles(const struct repeat *r, const struct repeat_loop *l, uint32_t most);
/* So many more of it. */
void repeat_take(const struct repeat *r, struct repeat_loop *l, uint32_t tiles);

#endif
