/* map_cost.h - what a product's loop nest takes on a machine, analytic in its loops: the cost model of the search.
 *
 * C[m,n] = A[m,k] B[k,n] in tiles (map_nest.h). A tile's class says, loop by loop, whether it is in the first, a middle or the
 * last round: 27 at the most, however many tiles there are. Of each class: what it moves through each server (DRAM, L2,
 * network, DMA engines, units), what of that misses, and by Little's law the pace at which tiles follow each other when so
 * many are in flight. Runs of classes are joined from the inside out: while units compute, servers run ahead by what they
 * were idle and by the tiles that fit. Then the ends: what comes before the first tile, and what follows the last.
 * Misses are by reuse distance: between two uses of an operand's tile pass the distinct bytes of one round of the innermost
 * loop that repeats it; what of them is lost, cache_lost() says (arch/mem/cache_lru.h).
 * Monotone by construction: for a mapping, every time is a maximum of sums of terms that no faster server, larger memory or
 * deeper queue makes longer.
 * Leaves out: the order in which transfers in flight are served, rows and turnarounds of DRAM beyond its streaming rate, L2
 * sets that several operands crowd, what other commands do meanwhile (map_evaluate.c).
 * Units: ps as doubles (sums and maxima in a fixed order: the same on any host), bytes.
 * How far it is from events: validate/tests/property/p_nest.c. */
#ifndef NPUSIM_SIM_MAP_MAP_COST_H
#define NPUSIM_SIM_MAP_MAP_COST_H

#include "sim/map/map_nest.h"

/* Once a machine. */
struct map_levels {
	double dram, dram_write, l2, dma; /* ps a byte; 0: there is no such level, or no such limit */
	double hit, miss, store;          /* ps: of a load; what a miss adds; of a store, to its acknowledgement */
	double swap;                      /* of the time that a core's port has partial sums, its engines' */
	double sync, launch, wait;        /* wait: of a command's math, from its dispatch */
	double unit;                      /* ps a byte of one DRAM channel, on which lie pieces of `interleave` bytes */
	uint64_t interleave, units;
	uint64_t cache, ways; /* of the L2 */
	double overlap;       /* part of tiles that do not wait for the one before */
	uint32_t stages, outstanding, cores;
	struct noc_shape noc;
};
void map_levels(const struct mapper *m, struct map_levels *out);

/* What a nest takes and moves. */
struct map_cost {
	double time;
	double rank;  /* the same and what neither form sees (map_overhead) */
	double moved; /* bytes between SRAM and the levels behind it */
};

/* Plans of a nest's smaller tiles are found by the way, where `x` has none yet. `early`: of A and B, the part that lies in DRAM
 * when the command begins. */
struct map_cost map_cost(const struct product *p, const struct map_levels *l, const struct nest *x);
/* What map_cost() is not under, at a fraction of its price: each server's bytes before the last tile's math, and all math
 * behind the first loads. Of a nest that is scheduled, its smaller tiles planned. */
double map_cost_bound(const struct product *p, const struct map_levels *l, const struct nest *x);
/* The part of A or B that a pass finds in DRAM at the least, whatever the nest. */
double map_cost_far(const struct product *p, const struct map_levels *l, int operand);

#endif
