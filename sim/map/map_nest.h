/* map_nest.h - a product while its loops are searched; for map_nest.c and map_nest_emit.c only. */
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
	uint64_t others, capacity; /* SRAM that the rest of the group holds; what there is beside it */
	bool c_stays;              /* what follows in the group wants all of C at once */
	struct map_flow rest;      /* what the group does besides */
	/* By operand: it is in SRAM as the command begins; the part of it that is in DRAM then; of C, the part that has to leave
	 * the L2 meanwhile; and what is done to it before the product, ps a byte. */
	bool free[OPERANDS];
	double far[OPERANDS], before[OPERANDS];
};

struct nest {
	uint64_t tile[DIMS], trips[DIMS];
	uint8_t loop[DIMS];      /* dimensions, outermost first */
	bool resident[OPERANDS]; /* each of its tiles moves once and stays; C: stored after the loop, whole */
	int8_t preloaded;        /* the operand that is there whole before the loop; -1: none */
	uint64_t tiles, moves[OPERANDS], bytes[OPERANDS]; /* how often it moves, how much then */
	uint64_t again[OPERANDS];                         /* how often all of it does */
	uint64_t lies[OPERANDS];                          /* SRAM that so much takes, over all cores */
	uint8_t stays[OPERANDS];                          /* isa_insn.stays */
	uint64_t slot, held;
	struct map_math math; /* of a full tile */
	struct {
		ps_t span, exchange;
	} at[1 << DIMS]; /* of tiles in which dimensions end, a bit each; [0]: full */
	ps_t predicted;
};

/* map_nest.c: a drafted product: which of the candidate's moves are its own, and the rest. */
struct product map_nest_product(const struct mapper *m, struct map_candidate *d, const struct op *o);
/* Sets tiles, trips and their number. */
void map_nest_cut(const struct product *p, struct nest *x, const uint64_t tile[DIMS]);
/* Dimensions that end in a smaller tile, a bit each. */
unsigned map_nest_uneven(const struct product *p, const struct nest *x);
/* Bytes of an operand's tile of that size: its part in each of its dimensions, rounded up. */
uint64_t map_nest_bytes(const struct product *p, int operand, const uint64_t tile[DIMS]);
/* What moves when, and the SRAM that it takes; loop, resident, preloaded and math are set. */
void map_nest_schedule(const struct product *p, struct nest *x);
/* Orders of the loops; the second is another only where m and n are both cut. How many are. */
extern const uint8_t map_nest_orders[2][DIMS];
int map_nest_n_orders(const struct nest *x);
/* What of it is to be remembered, on the fastest unit; and a nest as it was chosen, scheduled. */
struct map_nest map_nest_what(const struct nest *x);
void map_nest_of(const struct product *p, const struct map_nest *n, struct nest *x);
/* Whether SRAM holds so many of its tiles at once. */
bool map_nest_fits(const struct product *p, const struct nest *x, uint32_t slots);
/* Math of a full tile is set: of the smaller ones, too. */
void map_nest_plan_edges(const struct product *p, struct nest *x);

/* What the group does besides takes, one after the other with the product. */
ps_t map_nest_beside(const struct product *p);

/* map_nest_emit.c: the candidate does it so. */
void map_nest_emit(struct map_candidate *d, const struct product *p, const struct nest *x);

#endif
