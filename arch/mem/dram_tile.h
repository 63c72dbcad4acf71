/* dram_tile.h - the timing of DRAM for whole tiles: what arch/mem/dram.c asks, and tests drive directly.
 *
 * A *unit* is a pseudo-channel. Its bytes lie in *stripes*: the same row of one bank in every bank group, filled burst
 * by burst across the groups, so that a stream runs at tCCD_S. A request's share of a stripe is one *piece* of n
 * bursts:
 *
 *   seen       s    = max(a, end of the last piece of this direction - reach)      what the queue holds, in time
 *   ACT gate   act  = max(gate, s, bus at a turn) ; gate' = act + k * t_act   k rows to open; t_act: tRRD, tFAW, row bus
 *   bank       act  = max(act, s + tRP if another row is open, bank ready)
 *   data       col  = act + tRCD, or when the open row became usable
 *   bus        start = max(bus + turnaround, a + what an idle bank would need) ; bus' = start + n bursts
 *   end        max(bus', col + max(n bursts, (k - 1) * t_act + one burst)) ; bus' >= end - reach past this piece
 *   bank ready = max(last ACT + tRC, end + tRTP or tWR, + tRP)
 *
 * Gate and bus are fluid: a piece that waits for its bank does not hold them, as a controller with a reordering window
 * lets others pass, as many as its queue (dram.read_queue, dram.write_queue) holds. A small piece that was in the queue
 * while the row before the open one still was is taken to have been served with it. The equations are maxima of sums;
 * only that last rule asks when something was, so that a faster part may, rarely, end a request a little later.
 *
 * Units in step: while every request has a part in all units they are one, with the mean share as theirs, and a
 * request costs the same however many they are. A request that leaves units out takes them apart, each with a state
 * of its own; after 64 over all units in a row they count as one again, what is queued at them evened out.
 *
 * Against the command path (npusim probe dram -c FILE --tiles, m_dram): streams read or written in order are within 3 %
 * for every kind, tile size and a queue of 128; 64 KiB tiles that close each other's rows within 15 %. Beyond that:
 * smaller tiles at random or by turns of reads and writes, which a controller puts together by row.
 *
 * Refresh of single banks (dram.refresh: per_bank): each has its turn once a tREFI, in the order rank, group, bank as on
 * the command path, and channels start apart; units that count as one are in step. A piece whose last burst would fall
 * into the t_block_bank of one of its banks ends after it. Only that bank's bursts fill the queue meanwhile, one of as
 * many as there are groups, so that others run ahead that much further.
 * Refresh of all banks blocks all units from n * tREFI for t_block (n >= 1). The equations run in *open time*, which stands still in
 * those windows; work is split across them. Rows count as restored after a window: t_block holds tRP and tRCD. */
#ifndef NPUSIM_ARCH_MEM_DRAM_TILE_H
#define NPUSIM_ARCH_MEM_DRAM_TILE_H

#include "arch/mem/dram.h"
#include "arch/mem/dram_map.h"

struct dram_tile;

struct dram_tile_stats {
	uint64_t bursts, row_hits, activates; /* a burst hits or opens a row: bursts = hits + activates */
	uint64_t turnarounds;
	uint64_t bus_ps; /* data-bus time, summed over units */
	ps_t bus_end;    /* of the last request: its end, if no bank had been in refresh */
};

struct dram_tile *dram_tile_new(const struct dram_timing *t, struct err *e);
void dram_tile_free(struct dram_tile *d);
void dram_tile_reset(struct dram_tile *d); /* all banks closed, nothing pending */
/* Serves the runs in order; `arrival` is at the controller's door. Returns when the last byte is there (read) or on the
 * bus into the device (write). Adds to `s`. */
ps_t dram_tile_serve(struct dram_tile *d, ps_t arrival, const struct mem_run *runs, uint32_t n_runs, bool write,
                     struct dram_tile_stats *s);
ps_t dram_tile_open(const struct dram_timing *t, ps_t when); /* open time at `when` */
ps_t dram_tile_when(const struct dram_timing *t, ps_t open); /* the first moment with that much open time */
/* Where the tile path's map puts the burst of an address, for models that look at single bursts. */
struct dram_place dram_tile_place(const struct dram_timing *t, uint64_t addr);
uint64_t dram_tile_windows(const struct dram_timing *t, ps_t when); /* refreshes of a unit begun up to `when` */

#endif
