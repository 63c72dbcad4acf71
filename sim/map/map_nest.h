/* map_nest.h - a product while its loops are searched; for map_nest.c and map_nest_put.c only. */
#ifndef NPUSIM_SIM_MAP_MAP_NEST_H
#define NPUSIM_SIM_MAP_MAP_NEST_H

#include "sim/map/map_int.h"

enum { A, B, C, OPERANDS };
enum { M, N, K, DIMS };
_Static_assert(DIMS == MAP_DIMS && OPERANDS == MAP_DIMS, "as map_int.h has them");

/* Which dimensions an operand has. */
static const bool has[OPERANDS][DIMS] = {
	[A] = { [M] = true, [K] = true }, [B] = { [N] = true, [K] = true }, [C] = { [M] = true, [N] = true }
};

/* The product, and what of it moves: NULL where it comes out of the group or stays in it. */
struct product {
	const struct mapper *m;
	const struct op *op;
	struct isa_insn *move[OPERANDS];
	struct isa_insn *beside; /* copy_first: what is joined to C value by value comes as C goes; or NULL */
	uint64_t size[DIMS];
	uint64_t others;      /* SRAM that the rest of the group holds */
	bool c_stays;         /* what follows in the group wants all of C at once */
	uint32_t finer;       /* tiles may be so many times smaller than is worth a transfer elsewhere */
	uint32_t slots;       /* tiles that SRAM has to hold at once */
	struct map_flow rest; /* what the group does besides */
};

struct nest {
	uint64_t tile[DIMS], trips[DIMS];
	uint8_t loop[DIMS];      /* dimensions, outermost first */
	bool resident[OPERANDS]; /* each of its tiles moves once and stays; C: stored after the loop, whole */
	int8_t copied;           /* the operand that is there whole before the loop; -1: none */
	uint64_t tiles, moves[OPERANDS], bytes[OPERANDS]; /* how often it moves, how much then */
	uint64_t again[OPERANDS];                         /* how often all of it does */
	uint64_t lies[OPERANDS];                          /* SRAM that so much takes, over all cores */
	uint8_t stays[OPERANDS];                          /* isa_insn.stays */
	uint64_t slot, held;
	struct map_math math; /* of a full tile */
	ps_t predicted, rank; /* rank: and as much worse as it moves more */
};

/* map_nest_put.c: the draft does it so. */
void map_nest_put(struct map_draft *d, const struct product *p, const struct nest *x);

#endif
