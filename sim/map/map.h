/* map.h - from an op stream to a tile program for one machine: the one arrow between them.
 *
 * For every op the mapper picks the unit (the fastest by closed form among those present), the dataflow and the tile
 * (halvings of the whole; a larger SRAM only adds candidates) and says why. It decides nothing about residency: loads
 * name tensors, and what is on chip is the machine's state. Early loads are those of bytes no op of the stream wrote.
 * Precision: weights.dtype and kv.dtype narrow what is stored and moved; the program's tensor table holds the
 * narrowed layout. Weight pinning: the first weights in program order that fit sram.pin stay in SRAM; those that a unit keeps
 * in its arrays stay there (map_stationary.c). */
#ifndef NPUSIM_SIM_MAP_MAP_H
#define NPUSIM_SIM_MAP_MAP_H

#include "arch/machine/machine_cfg.h"
#include "sim/base/arena.h"
#include "sim/map/fuse.h"
#include "workloads/op.h"
#include "workloads/quant.h"

/* What fusion saved, for --explain-fusion. */
struct map_fusion {
	const char *pattern;
	uint32_t first_op, n_ops;
	uint64_t saved_bytes;
	uint32_t saved_dispatches;
	ps_t predicted, unfused;
};

/* Bytes that lie in memory at once where they are most: what is there before the stream, all the while (cases of a
 * benchmark bring their own and take it away), and what the stream makes, from its writer to its last reader. A grown
 * cache is counted beside the one it grew from as long as it is read: that one stands for both before and after. */
struct map_footprint {
	uint64_t bytes, weights, kv, rest;
};

/* A range that an op reads, as it is stored. */
struct map_touch {
	uint32_t tensor, slot;
	int32_t route; /* whose picks choose the instance; -1: instance 0 */
	uint64_t offset, bytes, touched;
};

/* What must be done whatever the mapping, the tiles, and what is on chip: the roofline is made of it (map_lower_bound.c).
 * A product's time is its multiply-adds at the peak of the fastest unit for its two formats. Bytes are as stored, each
 * once: of tensors that are there before the stream, and of those it makes that nothing in it reads. */
struct map_lower_bound {
	ps_t *op_math_ps; /* per op */
	struct map_pair {
		uint8_t weight, with; /* enum dtype of a product's operands */
		uint8_t passes;
	} * op_pair;
	ps_t macs_ps; /* all of them, one after the other */
	ps_t math_ps; /* no order of them takes less: <= macs_ps where some may run on different units at once */
	enum res math_res;
	uint64_t read_bytes, write_bytes; /* without what a router chooses: */
	struct map_touch *routed;
	size_t n_routed;
};

struct map_result {
	struct isa_prog prog;
	struct map_lower_bound floor;
	struct map_fusion *fusions;
	size_t n_fusions;
	uint32_t *cmd_of_op;     /* last command that works for an op; UINT32_MAX: carried (opaque) */
	uint64_t *op_work_ps;    /* per op: its math and moves in closed form, to share out a fused command */
	uint64_t narrowed_bytes; /* saved by weights.dtype and kv.dtype */
	uint64_t held_bytes;     /* of weights that stay in a unit's arrays from step to step */
	struct map_footprint need;
};

/* map_bound.c: an op that asks for more bytes than any device holds, or more math than the machine could do in a quarter
 * of an hour, is a fault of the trace: it would be simulated for as long as that. */
int map_bound_op(const struct op_stream *s, const struct op *o, double macs_per_s, struct err *e);
/* Its bytes to read, with the experts that were picked. */
uint64_t map_lower_bound_reads(const struct map_lower_bound *f, const struct isa_prog *p, const uint32_t *const *picks,
                               struct arena *a, struct err *e);
/* What the links take for a collective whose chips are known. */
struct link_time map_collective_time(const struct link_cfg *c, const struct op *o);
/* How a tensor is stored: enum quant, and values a scale. */
struct map_format {
	uint8_t quant;
	struct sparsity sparse;
	uint32_t group;
};
/* map_footprint.c; a format a tensor, NULL: all as traced. */
int map_footprint(const struct op_stream *s, const struct map_format *formats, struct arena *a,
                  struct map_footprint *out, struct err *e);
/* Whether a memory holds it: the one question that `dram.capacity` answers. 0: it does, or nobody knows its capacity. */
int map_capacity_check(const struct map_footprint *n, const struct dram_cfg *c, struct err *e);

/* Whether the mapper cannot tell two machines apart: then it makes the same program for both, of any stream. */
bool map_same(const struct machine_cfg *a, const struct machine_cfg *b);

/* DRAM as a stream of large pieces sees it: ps a byte, and a latency; and as one transfer does, which lies in pieces of
 * `interleave` bytes on so many channels, at `unit` ps a byte each. */
struct map_dram {
	double read, write, unit;
	ps_t latency;
	uint64_t interleave, units;
};

/* Who knows what a program takes on the machine that it is mapped for. */
#define MAP_EVALUATED 33 /* commands of it at the most */
struct map_evaluator {
	/* When each command ends; false: it cannot be run. `warm`: with what a pass before leaves on chip. */
	bool (*ends)(void *self, const struct isa_prog *p, bool warm, ps_t out[MAP_EVALUATED]);
	/* What its DRAM does with a stream; false: that is not known. */
	bool (*dram)(void *self, struct map_dram *out);
	void *self;
};

/* A way to do a command that was tried. */
struct map_log_entry {
	const char *why; /* how the unit goes about it */
	bool chosen, nest;
	char order[4];    /* of a nest's loops, outermost first: "mnk"; else "" */
	char stays[4];    /* of a nest's operands, those that stay in SRAM whole: "ac" */
	uint64_t tile[3]; /* of m, n and k; of what is streamed, n is a part of the columns or keys */
	uint32_t tiles;
	uint64_t slot_bytes, held_bytes; /* SRAM of a tile in flight, and from beginning to end */
	uint64_t moved_bytes;            /* loads and stores, again and again */
	ps_t form;                       /* by the cost model of the search (map_cost.h) */
	ps_t cold, warm;                 /* by the evaluator, each beside another; without one both by rates */
};

/* Asks how an op's command was chosen: all ways that were tried, the best first. */
#define MAP_LOG_ENTRIES 30
struct map_log {
	uint32_t op;
	struct map_log_entry entry[MAP_LOG_ENTRIES];
	int n; /* 0: there was nothing to choose, as for ops that are only moved */
	/* Of a product's mapspace: how many tiles of m, n and k are in it; what none of its mappings is under. 0: no search. */
	uint64_t space;
	ps_t bound;
};

/* Where operands are as the program begins: where a pass before has left them, in DRAM, or in SRAM as far as they fit. */
enum map_start { MAP_STEADY, MAP_COLD, MAP_RESIDENT };

struct map_opts {
	const struct fuse_patterns *patterns;  /* NULL: nothing is fused */
	const struct map_evaluator *evaluator; /* NULL: ways to do a command are compared by rates alone */
	struct map_log *log;                   /* NULL: nobody asks */
	enum map_start start;
	struct map_memo *memo; /* of streams like this one; NULL: nothing is known */
};

/* The same of a program that somebody else made of the stream: commands, instructions, dependences and members are given;
 * `shares` says what each op's part of a fused command is. Nothing is mapped, and nothing is held against the machine but
 * what its memory holds. */
int map_given(const struct op_stream *s, const struct machine_cfg *c, const struct isa_prog *p, const uint64_t *shares,
              struct arena *a, struct map_result *out, struct err *e);

int map_stream(const struct op_stream *s, const struct machine_cfg *c, const struct map_opts *o, struct arena *a,
               struct map_result *out, struct err *e);

#endif
