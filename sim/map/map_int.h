/* map_int.h - shared by the mapper's files only. */
#ifndef NPUSIM_SIM_MAP_MAP_INT_H
#define NPUSIM_SIM_MAP_MAP_INT_H

#include "sim/map/map.h"
#include "workloads/work.h"

/* One op or fused group while it is turned into a command. */
struct map_draft {
	struct isa_insn insn[160];
	uint32_t n;
	uint32_t tiles;
	uint64_t slot_bytes, fixed_bytes;
	ps_t predicted; /* closed form, from start of loads to last store */
	const char *why;
	bool overflow; /* more instructions than fit: the group is taken apart */
};

struct mapper {
	const struct op_stream *s;
	const struct machine_cfg *c;
	struct arena *a;
	struct unit_env unit[UNIT_COUNT];
	uint64_t mem_rate;           /* bytes/s a stream from DRAM can reach: the slowest level on its way */
	ps_t mem_latency;            /* of one small transfer, unloaded */
	uint64_t sram;               /* bytes for tiles, all cores */
	const uint32_t *first_write; /* by tensor: first op that writes it, UINT32_MAX: none */
	const uint32_t *last_read;   /* by tensor: last op that reads it; UINT32_MAX: none */
	uint8_t *pinned;             /* by tensor */
	uint8_t *narrow;             /* by tensor: bits it is stored in, 0: as traced */
	uint64_t narrowed_bytes;
};

/* map_math.c: what a unit needs for (a fraction of) an op. */
struct map_math {
	enum unit unit;
	struct unit_plan plan;
};

/* Math of an op when `part` of `parts` of it is done at once (rounded up); n_out up to 2 instructions. */
int map_math(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math out[2]);
uint64_t map_narrowed(const struct op_tensor *t, uint8_t to, uint64_t bytes); /* stored in `to` bits, 0: as traced */
uint64_t map_stored_bytes(const struct mapper *m, uint32_t tensor, uint64_t bytes); /* after narrowing */

/* map_tile.c: loads, tiles and stores of a group. False: the group cannot be mapped as one command. */
bool map_group(const struct mapper *m, uint32_t first, uint32_t n, struct map_draft *d);
/* A product in blocks, each a command of its own: blocks of rows that stream the weights again; of the batch too and of
 * columns, where that is not enough; these with the left operand streamed as well, in pieces of k. False: block `k` of
 * so many does not fit, or there is none. */
enum map_cut { MAP_CUT_ROWS, MAP_CUT_ALL, MAP_CUT_DEEP, MAP_CUTS };
bool map_block(const struct mapper *m, uint32_t op, enum map_cut cut, uint64_t blocks, uint64_t k, struct map_draft *d);
/* Whether an operand comes, or goes, tile by tile. */
bool map_streams(const struct mapper *m, const struct op *o, uint32_t operand);

/* map_bound.c: the same of what was chosen for an op, so many commands like this one. */
int map_bound_commands(const struct op *o, const struct map_draft *d, uint64_t commands, struct err *e);

/* map_block.c: of a batch, rows and columns, [from, from + n) of `of`. */
struct map_block {
	struct {
		uint64_t from, n, of;
	} dim[3];
};
/* Makes `o` that block of itself; false: there is no such block. */
bool map_block_take(struct op *o, enum map_cut cut, uint64_t blocks, uint64_t k, struct map_block *b);
/* Makes its loads and stores those of the block. */
void map_block_moves(const struct mapper *m, const struct op *o, const struct map_block *b, struct map_draft *d);

#endif
