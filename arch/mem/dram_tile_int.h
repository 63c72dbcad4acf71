/* dram_tile_int.h - the state of the tile path, shared by its parts: dram_tile_piece.c, the equations of dram_tile.h for
 * one piece after the other; dram_tile.c, which piece is in which unit, and whether the units are in step. */
#ifndef NPUSIM_ARCH_MEM_DRAM_TILE_INT_H
#define NPUSIM_ARCH_MEM_DRAM_TILE_INT_H

#include "arch/mem/dram_tile.h"

#define ROW_NONE UINT32_MAX

enum dir { DIR_READ, DIR_WRITE, DIR_NONE };

/* Times below are in open time. */
struct unit {
	ps_t bus, gate; /* free again */
	ps_t end[2];    /* of the last piece read, written: the controller's queue reaches on from there */
	ps_t back;      /* turnaround the next read pays */
	enum dir dir;
	ps_t phase;     /* how much later than the first unit's its banks are refreshed */
	bool opened[2]; /* the last piece read, written had to open its row */
};

/* The banks of one number in all groups, while they agree; `split`: see d->single instead. */
struct bank {
	ps_t usable; /* the open row may be read or written, after what was asked of it before */
	ps_t ready;  /* earliest ACT of another row, tRP included */
	ps_t until;  /* the row before was open; who was seen by then was served with it */
	uint32_t row, before;
	bool split;
};

/* The units one by one, or all of them as one while they agree. */
struct view {
	struct unit *unit;
	struct bank *bank;   /* [bank][unit] */
	struct bank *single; /* [bank][unit][group] */
	uint32_t units;
};

struct dram_tile {
	struct dram_timing t;
	uint32_t group_mask, bank_mask, bank_bits;
	uint32_t stripe; /* bursts of one */
	uint64_t round;  /* a burst of every unit */
	ps_t burst_ps;
	unsigned burst_shift, stripe_shift, block_shift;
	ps_t after_read, after_write; /* from the end of a piece to the bank's next ACT */
	ps_t *bus_time;               /* of n bursts, up to a stripe */
	ps_t *to_write, *to_read;     /* turnaround by bursts written, up to a batch */
	ps_t *reach[2];               /* of the queue, in time, reads and writes, by bursts of pieces that open rows */
	ps_t *turn_at;    /* [bank] when the one in group 0 is refreshed for the first time; NULL: not one by one */
	ps_t group_turns; /* from a bank's turn to that of the bank in the next group */
	ps_t *data_time;  /* of n bursts, from one row's bank in each group, up to a stripe */
	struct view gang, each;
	bool apart;      /* `each` is what counts */
	uint32_t spread; /* requests over all units since one that was not */
	bool *taken;     /* [bank] that `each` has its own of since the units came apart */
};

/* A request on its way through its pieces. */
struct work {
	ps_t a; /* arrival, open time */
	enum dir dir;
	ps_t end, bus;          /* so far; bus: of it without banks that are waited for while others go on */
	uint64_t opened, turns; /* rows opened, changes of direction: of a run, in units of the view */
};

/* Local bytes [from, to) of units lo .. hi - 1 of the view, stripe by stripe. */
void dram_tile_pieces(struct dram_tile *d, struct view *v, uint32_t lo, uint32_t hi, uint64_t from, uint64_t to,
                      struct work *w);

#endif
