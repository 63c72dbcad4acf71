/* probe_dram_tiles.h - the tile path (arch/mem/dram_tile.h) beside the command path (arch/mem/dram_cmd.h) on streams of tiles
 * as NPU kernels make them: operands read in order, several at a time, results written back, tiles at random.
 *
 * Both get the same tiles at the same places (dram_tile_place) and keep the same number in flight: tile i + N is asked
 * for when tile i is done. What is compared is the share of the pins' bandwidth. */
#ifndef NPUSIM_SIM_ACCURACY_PROBE_DRAM_TILES_H
#define NPUSIM_SIM_ACCURACY_PROBE_DRAM_TILES_H

#include "arch/mem/dram_cmd.h"

#define PROBE_TILES_WINDOW (UINT64_C(256) << 10) /* bytes in flight of the printed table */

struct probe_tiles {
	const char *name;
	uint32_t streams;             /* each in order, by turns; 0: tiles at random */
	uint32_t reads, writes;       /* of each group; written tiles lie in the other half of the memory */
	uint64_t tile, window, tiles; /* bytes of a tile and in flight (two tiles at least); how many */
	uint64_t seed;
};
struct probe_tiles_result {
	double tile, command;
}; /* efficiency */

const struct probe_tiles *probe_tiles_known(size_t i); /* NULL: no more */
int probe_tiles(const struct dram_cfg *c, const struct probe_tiles *s, struct probe_tiles_result *r, struct err *e);

/* A known one with tiles of `kib` KiB; `bursts` 0: 4 MiB a channel of them. */
int probe_tiles_of(const struct dram_cfg *c, const struct probe_tiles *known, uint64_t kib, uint64_t bursts,
                   struct probe_tiles_result *r, struct err *e);

#endif
