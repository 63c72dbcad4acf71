/* isa.h - the tile program: the contract between workloads and machine (L2: plain data).
 *
 * A program is a list of commands in program order. A command is what the command processor dispatches: one op, or
 * several joined by the fusion engine. It has one loop over tiles:
 *
 *     PRE   loads, then math        once, before any tile      (the activation vector of a product)
 *     TILE  loads -> math -> stores `tiles` times, double-buffered (a weight tile streamed past the GEMV units)
 *     POST  math, then stores       once, after the last tile  (what was fused behind it; the result)
 *
 * The tile loop is a nest of up to three (isa_cmd.trips, outermost first). Which of an operand's tiles comes next is the
 * sum of the loops' indices times isa_insn.step. Through the rounds of the loops in isa_insn.stays a tile stays: a load
 * moves in the first of them only, a store in the last, and math that serves an operand as often as the operand moves.
 * Without edges all tiles are full but the last, which takes the rest. Where loops of a nest end in a smaller round, what
 * differs then stands in a table (struct isa_remainders): of each move and each piece of math, by which of the loops are in
 * their last round. Tiles of a move lie one behind the other, in the order of the loops.
 * A command runs on all cores; ops side by side, on a group each, are one. Where its tiles are not spread evenly over them, a move says what the fullest core has and
 * how many want the same bytes; SRAM is counted as if all cores were as full (slot_bytes, fixed_bytes). SEND is the exchange
 * of partial sums between cores, on the network; it comes when what they add up to is stored.
 * LINK is what goes over the links to other chips; its work is the bytes that this one sends.
 * What a command stores to ISA_SRAM stays there and moves nothing; a load from ISA_SRAM fetches it from the cores that
 * have it. Its room is taken by the command that makes it (`keeps_bytes`), with all else that this one holds, and given back
 * by the last that reads it (`frees_bytes`), when this one and all before it have ended: others may read it, too.
 * Loads marked `early` move bytes that exist before the program starts (weights, old KV), so they may run ahead of
 * the command's dependencies as far as SRAM and the command window allow. Math carries the time its unit needs,
 * from that unit's closed form. Levels: ISA_MEM is everything behind the NoC (KV buffer, L2, DRAM). */
#ifndef NPUSIM_ARCH_ISA_H
#define NPUSIM_ARCH_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/res.h"
#include "sim/base/clock.h"
#include "workloads/dtype.h"

/* X(CODE, name) for an instruction, UNIT(..., CODE, name) for the one a compute unit is known by; reduce to sort are the
 * vector unit's further ones. */
/* clang-format off */
#define ISA_CODES(X, UNIT) \
	X(LOAD, load) X(STORE, store) UNITS(UNIT) \
	X(REDUCE, reduce) X(SFU, sfu) X(CONVERT, convert) X(GATHER, gather) X(SORT, sort) \
	X(FUSED_BEGIN, fused_begin) X(FUSED_END, fused_end) X(SYNC, sync) X(SEND, send) X(RECEIVE, receive) X(LINK, link)

#define ISA_CODE(code, name)               ISA_##code,
#define ISA_OF_UNIT(id, unit, code, name, area) ISA_##code,
enum isa_code { ISA_CODES(ISA_CODE, ISA_OF_UNIT) ISA_COUNT };
#undef ISA_CODE
#undef ISA_OF_UNIT
/* clang-format on */

#define ISA_LOOPS 3

enum isa_when { ISA_PRE, ISA_TILE, ISA_POST };
enum isa_level { ISA_MEM, ISA_SRAM, ISA_FUSION };

/* Shape of a math instruction; for TILE math of one full tile. */
struct isa_shape {
	uint64_t m, rows, cols;
}; /* gemv, gemm: rows = outputs, cols = k; else rows x cols elements */

struct isa_insn {
	uint8_t code;             /* enum isa_code */
	uint8_t when;             /* enum isa_when */
	uint8_t unit;             /* enum res of the unit that runs it */
	uint8_t src, dst;         /* enum isa_level */
	uint8_t cls;              /* loads, stores: enum mem_class */
	uint8_t dtype;            /* enum dtype */
	bool early;               /* loads: the bytes exist before the program starts */
	bool pinned;              /* loads: stays on chip across steps; math: what such a tensor needs once */
	uint32_t op;              /* op of the stream it works for */
	uint32_t tensor, slot;    /* loads, stores: tensor of the stream, routed pick; pinned math: its tensor */
	int32_t route;            /* loads: which router's picks choose the instance; -1: instance 0 */
	uint64_t offset;          /* loads, stores: first byte within the tensor */
	uint64_t bytes;           /* loads, stores: over all tiles */
	uint64_t tile_bytes;      /* TILE loads and stores: a full tile; the last takes the rest */
	uint32_t step[ISA_LOOPS]; /* TILE loads and stores: tiles of it that a round of each loop goes on by */
	uint8_t stays;            /* loops, a bit each, in whose other rounds it does not move */
	uint32_t turn;            /* loads that stay through the outermost loop: the round of it in which they come */
	uint32_t copies;          /* loads: cores that each byte goes to; 0: one */
	uint32_t edges;           /* 1 + its place in isa_prog.edges; 0: all tiles are full but the last */
	uint64_t share;           /* moves: the most that one core has of a full tile; 0: all as much */
	struct isa_shape shape;
	uint32_t parts[ISA_LOOPS]; /* products: of m, n and k, one a core; 0: not cut */
	uint32_t idle;             /* math: ppm of its span that a core waits in the mean for the fullest */
	ps_t span, span_last;      /* math: busy time of its unit, a full tile and the last */
	ps_t latency;              /* math: from there to its last result; the unit goes on meanwhile */
	uint64_t work, work_last;  /* math: MACs or element steps, for rooflines and statistics */
};

/* A tile of a nest, full or at an edge: what isa_insn says of a full one. */
struct isa_remainder {
	uint64_t bytes, share;     /* moves */
	uint64_t round[ISA_LOOPS]; /* moves: bytes that lie in a round of each loop before it */
	ps_t span, latency;        /* math */
	uint64_t work;
};

/* An instruction's tiles by which of these loops are in their last round, a bit each; [0]: full. */
struct isa_remainders {
	uint8_t loops;
	struct isa_remainder at[1 << ISA_LOOPS];
};

struct isa_cmd {
	uint32_t first_insn, n_insns;
	uint32_t first_dep, n_deps; /* commands this one waits for */
	uint32_t first_op, n_ops;   /* members, in prog->members */
	uint32_t tiles;             /* trip count of the loop; 0: no loop */
	uint32_t trips[ISA_LOOPS];  /* of each loop of the nest, their product is `tiles`; 0: one loop over them */
	uint32_t batch;             /* dispatched together with the others of this number */
	uint32_t dispatches;        /* that it takes, as several side by side; 0: one */
	int32_t routed_by;          /* command whose decision names the experts its early loads need; -1 */
	bool sync;                  /* ends in a host round trip, or in a branch on the device */
	bool chained;               /* a further pass of the command before it: no dispatch of its own */
	bool ahead;                 /* its tiles are fetched ahead in whole, whatever software overlaps elsewhere */
	uint64_t slot_bytes;        /* SRAM of one tile in flight */
	uint64_t fixed_bytes;       /* SRAM held from admission to completion */
	uint64_t keeps_bytes;       /* SRAM for what stays there behind its end; taken at its admission */
	uint64_t frees_bytes;       /* of what commands kept: nobody behind this one reads it */
	uint64_t laid_out;          /* values that go in and out of its products of several rows */
	const char *pattern;        /* fusion pattern; NULL: not fused */
	const char *why;            /* what the mapper chose: dataflow and tile, for people */
};

struct isa_tensor {
	uint64_t addr, stride;
	uint32_t instances;
};

struct isa_prog {
	const struct isa_cmd *cmds;
	size_t n_cmds;
	const struct isa_insn *insns;
	size_t n_insns;
	const struct isa_remainders *edges;
	size_t n_edges;
	const uint32_t *deps, *members;
	const struct isa_tensor *tensors;
	size_t n_tensors;
	const uint32_t *succ, *first_succ; /* commands that wait for i: succ[first_succ[i] .. first_succ[i + 1]) */
	uint32_t max_tile_moves;           /* most loads and stores of any one command's phase */
};

/* A load or a store; all else is math, or tells of fusion. */
static inline bool isa_is_move(const struct isa_insn *i)
{
	return i->code == ISA_LOAD || i->code == ISA_STORE;
}

/* The round each loop is in; a command without a nest has one loop, over all its tiles. */
struct isa_rounds {
	uint32_t at[ISA_LOOPS];
	bool nest;
};

static inline struct isa_rounds isa_rounds_of(const struct isa_cmd *c, uint32_t tile)
{
	if (!c->trips[0])
		return (struct isa_rounds){ { tile, 0, 0 }, false };
	return (struct isa_rounds){
		{ tile / c->trips[2] / c->trips[1], tile / c->trips[2] % c->trips[1], tile % c->trips[2] }, true
	};
}

static inline bool isa_moves_in(const struct isa_cmd *c, const struct isa_insn *i, const struct isa_rounds *r)
{
	for (int l = 0; l < ISA_LOOPS && i->stays; l++)
		if (i->stays >> l & 1 && r->at[l] != (i->code == ISA_STORE || i->code == ISA_SEND ? c->trips[l] - 1
		                                      : l == 0                                    ? i->turn
		                                                                                  : 0))
			return false;
	return true;
}

/* Of the loops in `of`, those in the last of several rounds. */
static inline unsigned isa_edge_at(const struct isa_cmd *c, const struct isa_rounds *r, unsigned of)
{
	unsigned at = 0;

	for (int l = 0; l < ISA_LOOPS; l++)
		at |= (unsigned)(r->at[l] && r->at[l] + 1 == c->trips[l]) << l;
	return at & of;
}

/* Of an instruction that has edges. */
static inline const struct isa_remainder *isa_edge_of(const struct isa_prog *p, const struct isa_cmd *c,
                                                      const struct isa_insn *i, const struct isa_rounds *r)
{
	const struct isa_remainders *e = &p->edges[i->edges - 1];

	return &e->at[isa_edge_at(c, r, e->loops)];
}

/* One tile of a move: its place within the part of the tensor that it moves, its bytes, what the fullest core has of them
 * (0: all as much). Outside the loop: all of it. */
struct isa_piece {
	uint64_t from, bytes, share;
};

/* Of a tile that has fewer bytes than it would. */
static inline uint64_t isa_share(uint64_t share, uint64_t bytes, uint64_t full)
{
	return share && bytes < full ? (uint64_t)((double)share * (double)bytes / (double)full) + 1 : share;
}

/* First byte of a tile: where it has edges, and where it has none. */
static inline uint64_t isa_edge_from(const struct isa_remainder *e, const struct isa_rounds *r)
{
	return r->at[0] * e->round[0] + r->at[1] * e->round[1] + r->at[2] * e->round[2];
}

static inline uint64_t isa_tile_from(const struct isa_insn *i, const struct isa_rounds *r)
{
	uint64_t index = r->at[0];

	if (r->nest)
		index = (uint64_t)r->at[0] * i->step[0] + (uint64_t)r->at[1] * i->step[1] +
		        (uint64_t)r->at[2] * i->step[2];
	return i->tile_bytes * index;
}

static inline struct isa_piece isa_piece_of(const struct isa_prog *p, const struct isa_cmd *c, const struct isa_insn *i,
                                            const struct isa_rounds *r)
{
	if (i->when != ISA_TILE)
		return (struct isa_piece){ 0, i->bytes, i->share };
	if (i->edges) {
		const struct isa_remainder *e = isa_edge_of(p, c, i, r);

		return (struct isa_piece){ isa_edge_from(e, r), e->bytes, e->share };
	}
	return (struct isa_piece){ isa_tile_from(i, r), i->tile_bytes, i->share };
}

static inline uint32_t isa_dispatches(const struct isa_cmd *c)
{
	return c->dispatches ? c->dispatches : 1;
}

/* One turn of math. */
struct isa_turn {
	ps_t span, latency;
	uint64_t work;
};

static inline struct isa_turn isa_turn_of(const struct isa_prog *p, const struct isa_cmd *c, const struct isa_insn *i,
                                          const struct isa_rounds *r, bool last)
{
	if (i->edges) {
		const struct isa_remainder *e = isa_edge_of(p, c, i, r);

		return (struct isa_turn){ e->span, e->latency, e->work };
	}
	return (struct isa_turn){ last ? i->span_last : i->span, i->latency, last ? i->work_last : i->work };
}

/* Bytes of all tiles of a move, once each; finds isa_remainder.round by the way. */
uint64_t isa_edges_place(const struct isa_cmd *c, const struct isa_insn *i, struct isa_remainders *e);
/* What math takes in all turns of its command; without edges as if it stayed through none of the loops. */
struct isa_turn isa_turns(const struct isa_prog *p, const struct isa_cmd *c, const struct isa_insn *i);

const char *isa_code_name(enum isa_code c);

#endif
