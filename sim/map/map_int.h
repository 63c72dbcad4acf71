/* map_int.h - shared by the mapper's files only. */
#ifndef NPUSIM_SIM_MAP_MAP_INT_H
#define NPUSIM_SIM_MAP_MAP_INT_H

#include "arch/npu/partition.h"
#include "sim/base/hash.h"
#include "sim/map/map.h"
#include "sim/map/map_memo.h"
#include "workloads/work.h"

#define MAP_INSNS       160
#define MAP_COSCHEDULED 16 /* groups of ops that go side by side at the most */
#define MAP_REMAINDERS  24 /* moves and math of one product */

/* One op or fused group while it is turned into a command. */
struct map_candidate {
	struct isa_insn insn[MAP_INSNS];
	uint32_t n;
	struct isa_remainders edges[MAP_REMAINDERS];
	uint32_t n_edges;
	uint32_t tiles, trips[ISA_LOOPS];
	uint64_t slot_bytes, fixed_bytes;
	uint32_t dispatches;
	bool ahead;     /* isa_cmd.ahead */
	ps_t predicted; /* closed form, from start of loads to last store */
	const char *why;
	bool overflow; /* more instructions than fit: the group is taken apart */
};

struct map_levels;

struct mapper {
	const struct op_stream *s;
	const struct machine_cfg *c;
	struct arena *a;
	struct unit_env unit[UNIT_COUNT];
	uint64_t near_rate, dram_rate; /* bytes/s a stream can reach: from the L2, from DRAM */
	ps_t mem_latency;              /* of one small transfer, unloaded */
	uint64_t all_sram, capacity,
		sram; /* bytes for tiles, all cores; of these, for the ops at hand; the same, rounded (map_capacity) */
	uint8_t *reused;             /* by tensor: stays in SRAM from its writer to its last reader */
	uint64_t *living;            /* by op: bytes of these that live then, of its own too */
	uint8_t *apart;              /* by the first op of a group: it is no chain, so that something may stay */
	const uint32_t *first_write; /* by tensor: first op that writes it, UINT32_MAX: none */
	const uint32_t *last_read;   /* by tensor: last op that reads it; UINT32_MAX: none */
	uint8_t *pinned;             /* by tensor */
	uint8_t *resident;           /* by tensor: in SRAM before the program begins (MAP_RESIDENT) */
	uint8_t *stationary;         /* by tensor: 1 + the unit in which it stays; 0: none */
	struct unit_split *stationary_split; /* by tensor: how it is cut over the cores there */
	uint64_t stationary_bytes;
	struct map_format *format; /* by tensor */
	struct sparsity sparse;    /* of weights */
	uint64_t narrowed_bytes;
	enum map_start start; /* as map_opts has it */
	double far[2];        /* of what is there before the stream, the part that is in DRAM when it is asked for; [1]:
	                                * of what a router chooses */
	double back;          /* of results, the part that leaves the L2 within a pass */
	bool alone;           /* the stream is one op */
	const struct map_levels *levels;
	const struct map_evaluator *evaluator; /* NULL: ways are compared by rates alone */
	struct map_evaluation *trial;
	struct map_asked *asked;
	struct map_memo *memo;
	struct partition_memo *spread; /* of the memo */
	uint64_t sig;                  /* of the machine, as map_sig() has it */
	struct map_subset *few;
	struct map_candidate **member; /* of a chain: MAP_COSCHEDULED of them, made when they are wanted */
	struct map_log *log;
};

static inline const struct op_operand *map_operand(const struct mapper *m, const struct op *o, uint32_t i)
{
	return &m->s->operands[o->first_operand + i];
}

/* What was made just before may be gone from an L2 that hardly holds it. */
#define MAP_CROWDED 4 /* an operand that takes more than such a part of it */
static inline bool map_from_memory(const struct mapper *m, const struct isa_insn *x)
{
	return x->early || (x->src == ISA_MEM && x->bytes > m->c->mem.l2.size / MAP_CROWDED);
}

static inline double map_far(const struct mapper *m, const struct isa_insn *x)
{
	return m->start == MAP_RESIDENT && !op_may_lie(m->s, x->tensor) ? 1 : m->far[x->route >= 0];
}

struct map_asked *map_asked_new(struct arena *a);
/* map_subset.c: a command on a part of the cores: the rest idle. */
#define MAP_SUBSETS 1
struct map_subset *map_subset_new(struct arena *a);
/* Numbers of cores worth a try where all of them wait for each other, as this candidate's do; how many there are. */
int map_subset_cores(const struct mapper *m, const struct map_candidate *d, uint32_t out[MAP_SUBSETS]);
/* The mapper of a machine with its SRAM and ports, of which so many cores compute; NULL: out of memory. */
const struct mapper *map_subset(const struct mapper *m, uint32_t cores);
/* Of what was drafted from there on: the others wait, too. */
void map_subset_idle(const struct mapper *m, struct map_candidate *d, uint32_t from, uint32_t cores);
/* map_math.c: what a unit needs for (a fraction of) an op. */
struct map_math {
	enum unit unit;
	struct unit_plan plan;
};

/* Math of an op when `part` of `parts` of it is done at once (rounded up); the first is what the rest serves. */
#define MAP_MATHS 4
int map_math(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math out[MAP_MATHS]);
/* The fastest of the units that can do it, the first of equals; a last resort where there is no other. */
struct map_math map_fastest(const struct mapper *m, const struct unit_job *j);
/* `vectors` rows of activations times `rows` x `cols` weights, on the unit that is fastest. */
struct map_math map_product(const struct mapper *m, const struct op *o, uint64_t vectors, uint64_t rows, uint64_t cols);
/* Ways to do a tile: units (`only` that one; -1: all but those of last resort), and cuts over cores within `limits`. */
#define MAP_PARTITIONS (3 * PARTITION_WAYS)
int map_products(const struct mapper *m, const struct op *o, uint64_t vectors, uint64_t rows, uint64_t cols, int only,
                 const struct partition_limits *limits, struct map_math out[MAP_PARTITIONS]);
/* On the unit of `full`, and cut as that: what is left of it. */
struct map_math map_product_as(const struct mapper *m, const struct op *o, const struct map_math *full,
                               uint64_t vectors, uint64_t rows, uint64_t cols);
/* Narrow weights of a product that its unit cannot take as they are; false: it can. */
bool map_dequant(const struct mapper *m, const struct op *o, enum unit by, uint64_t values, struct map_math *out);
/* Activations into the format that products take; false: they have it. */
bool map_convert(const struct mapper *m, const struct op *o, uint64_t values, struct map_math *out);
uint64_t map_narrowed(const struct op_tensor *t, const struct map_format *f, uint64_t bytes); /* NULL: as traced */
uint64_t map_stored_bytes(const struct mapper *m, uint32_t tensor, uint64_t bytes);           /* after narrowing */

/* A command as its closed form sees it. */
struct map_flow {
	uint64_t pre_bytes, post_bytes;    /* outside the loop */
	ps_t before, after;                /* math there */
	uint64_t tiles;                    /* 0: no loop */
	bool nest;                         /* of several loops */
	uint64_t first_bytes, last_bytes;  /* loads of the first tile, stores of the last */
	uint64_t near_bytes, far_bytes;    /* what all tiles move; of it, from DRAM */
	uint64_t early_tiles, early_bytes; /* the first so many tiles load that much more, from DRAM */
	uint64_t slot, held;               /* SRAM of a tile in flight, and of what stays */
	bool ahead;                        /* isa_cmd.ahead */
	ps_t math, latency;                /* the longest unit of a tile; from there to the tile's last result */
};
/* map_predict.c */
ps_t map_move_time(const struct mapper *m, uint64_t bytes);
ps_t map_predict(const struct mapper *m, const struct map_flow *f);
/* A loop that streams operands past units, as drafted; `tiles` 0: no loop. */
ps_t map_predict_stream(const struct mapper *m, const struct map_candidate *d, uint64_t tiles,
                        const struct map_math *math, int n_math);

/* map_reuse.c: which results stay in SRAM. */
int map_reuse_new(struct mapper *m, struct err *e); /* none, so far */
int map_reuse(struct mapper *m, const struct fuse_group *groups, size_t n_groups, struct map_candidate *d,
              struct err *e);
void map_reuse_set(struct mapper *m, uint32_t tensor, bool stays); /* changes that */
/* What is decided of one: it leaves, or it stays, and if so whether chains in its life are taken apart for it. */
enum map_reuse_choice { MAP_NOT_REUSED, MAP_REUSED, MAP_REUSED_APART };
void map_capacity(struct mapper *m, uint32_t first, uint32_t n); /* for these ops, as one command */
/* Says which commands take and free it. */
int map_reuse_emit(const struct mapper *m, const uint32_t *members, struct isa_cmd *cmds, size_t n_cmds, struct err *e);
/* map_reuse_preloaded.c: the same under copy_first: what a product makes stays where it fits beside mapping.stream and what the
 * products that follow copy, if products alone read it; nothing moves it then. */
void map_reuse_preloaded(struct mapper *m);
/* The largest operand that copy_first copies whole where there is so much SRAM: what the blocks leave of it, and no more than a
 * device that follows that rule was seen to. A larger machine has the same program then: a copy that nothing hides may take longer
 * than its operand in blocks, and TPUs do it none the less (validate/ACCURACY.md). */
uint64_t map_preload_capacity(const struct mapper *m, uint64_t sram);

/* map_partition.c: where the mapper says which core has what (arch/npu/partition.h). */
/* Bytes that cores hold of `bytes` of an operand of a product of `mnk`, all counted as if as full as the fullest. */
uint64_t map_partition_bytes(const struct mapper *m, const struct unit_split *s, int operand, const uint64_t mnk[3],
                             uint64_t bytes);
/* SRAM that so many rows of weights take beside their bytes, where the unit wants them padded. */
uint64_t map_padding(const struct unit_plan *p, uint64_t rows);
/* Gives a drafted op's moves their shares, by the split of its tile: `m`, `n` and `k` of it; counts SRAM accordingly. */
void map_partition_moves(const struct mapper *m, struct map_candidate *d, const struct op *o,
                         const struct unit_split *s, const uint64_t mnk[3]);
void map_partition_move(const struct mapper *m, struct isa_insn *i, const struct unit_split *s, int operand,
                        const uint64_t mnk[3]);
/* The most that one core has of so many bytes, of an operand of a product of `mnk`; 0: all as much. */
uint64_t map_share(const struct mapper *m, const struct unit_split *s, int operand, const uint64_t mnk[3],
                   uint64_t bytes);
static inline void map_emit_parts(struct isa_insn *i, const struct unit_plan *p)
{
	i->parts[0] = p->split.m;
	i->parts[1] = p->split.n;
	i->parts[2] = p->split.k;
	i->idle = p->idle;
}
/* What cores owe each other of `times` tiles' partial sums; NULL: nothing, as k is not split. */
struct isa_insn *map_emit_exchange(struct map_candidate *d, const struct op *o, const struct map_math *x,
                                   enum isa_when when, uint64_t times, uint8_t stays);
/* And of attention's, where several cores share a head. */
void map_emit_combine(const struct mapper *m, struct map_candidate *d, const struct op *o, const struct map_math *x);

/* map_collective.c: what goes over links, tile by tile; false: not one tile fits SRAM. */
bool map_collective(const struct mapper *m, const struct op *o, struct map_candidate *d);

/* map_candidate.c */
struct isa_insn *map_add(struct map_candidate *d);
void map_candidate_copy(struct map_candidate *to,
                        const struct map_candidate *from); /* the instructions it has, not all it could */
/* Bytes of `part` of `of` rows that have `bytes`, rounded up. */
static inline uint64_t map_rows_bytes(uint64_t bytes, uint64_t part, uint64_t of)
{
	return bytes / of * part + div_up(bytes % of * part, of);
}
uint64_t map_bytes(const struct map_candidate *d, enum isa_code code, enum isa_when when);
ps_t map_spans(const struct map_candidate *d, enum isa_when when);
uint64_t map_memory_bytes(const struct map_candidate *d); /* of all its moves, each once */
/* Its math takes less than its bytes from the L2 do: however it is spread, what is waited for stays. */
bool map_hidden(const struct mapper *m, const struct map_candidate *d);
/* Which operands of a member are cut into tiles: none (it is fused around a product, or in a chain), what map_streams()
 * says, of a product the left one too (then tiles are pieces of k), or all, where the others do not fit. */
enum map_tiled { MAP_WHOLE, MAP_STREAMED, MAP_DEEP, MAP_ALL };
/* Math of a tile: a part of the columns or the elements, or of a product that is cut deep, of k. */
int map_tile_math(const struct mapper *m, const struct op *o, enum map_tiled cuts, uint64_t tiles, bool last,
                  struct map_math out[MAP_MATHS]);
void map_emit_math(const struct mapper *m, struct map_candidate *d, const struct op *o, enum map_tiled cuts,
                   enum isa_when when, uint64_t tiles);

/* map_nest.c: loops of a product, outermost first. */
#define MAP_DIMS  3 /* m, n, k; and operands: A[m,k], B[k,n], C[m,n] */
#define MAP_NESTS 10
struct map_nest {
	uint64_t tile[MAP_DIMS];
	uint8_t loop[MAP_DIMS];  /* dimensions */
	bool resident[MAP_DIMS]; /* operands of which each tile moves once and stays; C: stored after the loop, whole */
	int8_t preloaded;        /* the operand that is there whole before the loop; -1: none */
	enum unit unit;          /* that computes, */
	struct unit_split split; /* cut so; m 0: as the fastest */
	ps_t predicted;
};
#define MAP_MOST_TILES (1u << 20)
/* The best of a search. */
struct map_found {
	double least, bound; /* the first's rank; what no candidate is under */
	uint64_t space;      /* tiles of m, n and k that SRAM may hold */
	int n;
	struct map_nest nest[MAP_NESTS];
};
/* map_search.c: the best by the cost model of those of which SRAM holds two tiles, or `slots` if there is none; of a product
 * whose moves are in the candidate; 0: none. `c_stays`: nothing of what it makes may leave before all is there. */
int map_nests(const struct mapper *m, const struct map_candidate *d, const struct op *o, bool c_stays, uint32_t slots,
              struct map_nest out[MAP_NESTS]);
/* What a compiler does by `mapping.policy: copy_first`: of the operands that fit beside mapping.stream the larger is copied
 * whole before the loop, the rest streams in double-buffered blocks of powers of two within mapping.stream, by the cut and
 * order of least time by rates. False: no block is small enough. */
bool map_nest_preloaded(const struct mapper *m, const struct map_candidate *d, const struct op *o,
                        struct map_nest *out);
bool map_nest_take(const struct mapper *m, struct map_candidate *d, const struct op *o, const struct map_nest *n);

/* Whether the configuration has fixed a part of how products are nested. */
static inline bool map_fixed(const struct mapper *m)
{
	const struct mapping_cfg *c = &m->c->mapping;

	return c->loops > MAPPING_STREAM || c->tile_m || c->tile_n || c->tile_k || c->stays;
}

/* map_remainder.c: where a product's m, n and k end in smaller tiles. */
struct map_grid {
	uint64_t size[MAP_DIMS], tile[MAP_DIMS], trips[MAP_DIMS];
	uint8_t loop[MAP_DIMS];
};
/* m, n and k of the tile that is in the last round of these dimensions, a bit each. */
void map_remainder_size(const struct map_grid *g, unsigned last, uint64_t mnk[MAP_DIMS]);
/* Dimensions in which tiles are not all alike, a bit each. */
unsigned map_remainder_dims(const struct map_grid *g);
/* A table for an instruction that has tiles in the dimensions `of`: all as the full one is. NULL: they are all alike. */
struct isa_remainders *map_remainders(struct map_candidate *d, struct isa_insn *i, const struct map_grid *g,
                                      unsigned of);
/* Where tiles in the last round of these dimensions stand in it. */
struct isa_remainder *map_remainder(struct isa_remainders *e, const struct map_grid *g, unsigned last);
/* A move of an operand that has its place in the loop; `d` has its trips. */
void map_remainder_move(const struct mapper *m, struct map_candidate *d, struct isa_insn *i, const struct map_grid *g,
                        const struct unit_split *s, int operand);

/* map_choose.c: a way to do a command. */
struct map_schedule {
	uint32_t cores; /* that it uses; 0: all */
	bool nest;
	uint64_t tiles; /* streamed: trip count */
	bool by_head;   /* streamed: queries and results of a head come and go with its keys */
	struct map_nest loops;
};
#define MAP_SCHEDULES (8 + 2 * MAP_NESTS)
struct map_schedules {
	struct map_schedule schedule[MAP_SCHEDULES];
	int n;
};
/* What it may not choose. `like`: what a command that has more keys was done by, in tiles of so many bytes as this one is;
 * NULL: it is to be chosen. */
struct map_constraints {
	enum map_tiled cuts;
	bool may_nest, c_stays;
	const struct map_schedule *like;
};
/* Makes the candidate's main op a loop, by the choice that it tells; false: SRAM does not hold two tiles of it. */
bool map_choose(const struct mapper *m, struct map_candidate *d, const struct op *main,
                const struct map_constraints *how, struct map_schedule *chosen);
/* The choice that was made for an attention `of` all keys, for the same of fewer of them: in tiles as large, or as many rounds of
 * heads. */
struct map_schedule map_schedule_narrowed(const struct map_schedule *c, const struct op *of, const struct op *to,
                                          bool as_rounds);
uint64_t map_grain(const struct mapper *m, int unit); /* rows of a product a unit computes at a time; 0: none */
uint64_t map_depth(const struct mapper *m, int unit); /* of k, that an array takes in at a time; 1: any number */
/* The product of an op, for any unit. */
struct unit_job map_job(const struct mapper *m, const struct op *o);
struct map_math map_best(const struct mapper *m, const struct unit_job *j); /* the unit that is fastest */

/* Tiles that are in flight in the mean, of so many that could be; a part of them waits for the one before. */
static inline double map_places(double places, double overlap)
{
	return 1 / (overlap / places + 1 - overlap);
}

/* Of ways that take as long the one of fewer tiles: what each loses to the order in which transfers in flight are served is
 * in no closed form. A descriptor's set-up, as often as places in SRAM are filled, stands for it. */
static inline double map_overhead(const struct mapper *m, uint64_t tiles)
{
	return (double)tiles * (double)m->c->dma.setup / m->c->dma.stages;
}

/* map_evaluate.c: what a candidate takes, by the evaluator, or by rates where there is none. */
struct map_score {
	ps_t cold, warm;
	double worth; /* less is better */
};
struct map_score map_evaluate(const struct mapper *m, const struct map_candidate *d);
/* The same of so many that wait for the same and for nobody of them, or each for the one before: a round, and one more behind
 * it. With an evaluator only. */
struct map_round {
	bool chain;
	uint64_t keeps; /* SRAM that the first takes and the last frees */
};
struct map_score map_evaluate_round(const struct mapper *m, struct map_candidate *const *d, uint32_t n,
                                    const struct map_round *how);
struct map_evaluation *map_evaluation_new(struct arena *a);

/* map_tile.c: loads, tiles and stores of a group. False: the group cannot be mapped as one command. */
bool map_group(const struct mapper *m, uint32_t first, uint32_t n, struct map_candidate *d);
bool map_horizontal_command(const struct mapper *m, uint32_t first, uint32_t n,
                            struct map_candidate *d); /* several products of it as one */
/* A product in blocks, each a command of its own: blocks of rows that stream the weights again; of the batch too and of
 * columns, where that is not enough; these with the left operand streamed as well, in pieces of k. False: block `k` of
 * so many does not fit, or there is none. */
enum map_cut { MAP_CUT_ROWS, MAP_CUT_ALL, MAP_CUT_DEEP, MAP_CUTS };
bool map_block(const struct mapper *m, uint32_t op, enum map_cut cut, uint64_t blocks, uint64_t k,
               struct map_candidate *d);
/* map_blocks.c: how an op alone is done best, in so many blocks or whole (1); drafts the first. False: it cannot be. */
struct map_cutting {
	enum map_cut cut;
	uint64_t blocks;
};
bool map_blocks(const struct mapper *m, uint32_t op, struct map_candidate *d, struct map_cutting *out);
/* Whether an operand comes, or goes, tile by tile. */
bool map_streams(const struct mapper *m, const struct op *o, uint32_t operand);

/* map_bound.c: bytes that a move moves, in all rounds. */
double map_moved(const struct map_candidate *d, const struct isa_insn *x);
int map_lower_bound(const struct mapper *m, struct map_lower_bound *out, struct err *e); /* map_lower_bound.c */
/* map_bound.c: the same of what was chosen for an op, so many commands like this one. */
int map_bound_commands(const struct op *o, const struct map_candidate *d, uint64_t commands, struct err *e);

/* map_attention.c: an attention as a row of a table says it is done (op.algorithm): part `k` of it, the whole command at 0.
 * False: no such part, or at 0 that the mapper chooses. */
bool map_attention(const struct mapper *m, const struct op *o, uint64_t k, struct map_candidate *d);
/* map_mask.c: whether what a causal mask hides is left out of an attention. */
bool map_mask_skips(const struct mapper *m, const struct op *o);
/* Pairs of a query and a key that are computed, of one head, where each of so many queries has all keys that one of them sees;
 * of one that leaves out. */
uint64_t map_mask_pairs(const struct op_shape *s, uint64_t block);
uint64_t map_mask_side(const struct mapper *m, enum unit unit); /* queries a block, as a unit takes them */
/* Makes math for all pairs math for those. */
void map_mask(const struct mapper *m, const struct op *o, enum unit by, struct unit_plan *p);
/* Of all SRAM, what a command takes with as many tiles on their way as it may have. */
uint64_t map_takes(const struct mapper *m, const struct map_candidate *d);
/* map_tile.c: the move of an operand, appended to the candidate. */
struct isa_insn *map_move(const struct mapper *m, struct map_candidate *d, const struct op *o,
                          const struct op_operand *x, enum isa_when when);
/* map_stationary.c: weights that stay in the arrays of a unit which multiplies them there. */
int map_stationary(struct mapper *m, struct err *e); /* chooses them */
uint32_t map_stationary_unit(const struct mapper *m,
                             const struct op *o); /* 1 + the unit that keeps a product's; 0: none */
struct unit_split map_stationary_split(const struct mapper *m, const struct op *o); /* unit_job.stationary_split */
/* Widening and writing them, the first time; the candidate has the product's loads. */
void map_emit_stationary(const struct mapper *m, struct map_candidate *d, const struct op *o);
uint64_t map_stationary_bytes(const struct mapper *m,
                              const struct map_candidate *d); /* of its loads, what SRAM need not hold */

/* map_horizontal.c: how many of the groups from here on are one command; where it is more than one that is drafted, and said. */
uint32_t map_horizontal(struct mapper *m, const struct fuse_group *groups, size_t n_groups, struct map_candidate *d,
                        uint64_t *op_work_ps, struct map_fusion *what);

/* map_chain.c: whether ops that could be one command are. */
struct map_ones {
	struct map_score joined, apart;
};
struct map_candidate *const *map_members(const struct mapper *m,
                                         uint32_t n); /* candidates for members; NULL: out of memory */
/* What these ops take, drafted as `n` commands and as one; `wait`: each waits for the one before. */
struct map_ones map_ones(const struct mapper *m, uint32_t first, uint32_t ops, struct map_candidate *const *d,
                         uint32_t n, const struct map_candidate *one, bool wait);
static inline ps_t map_mean(const struct map_score *x)
{
	return (x->cold + x->warm) / 2;
}
/* True: as one, which is drafted. `work`: what each is worth in it; NULL: nobody asks. */
bool map_chain(struct mapper *m, const struct fuse_group *g, struct map_candidate *d, uint64_t *op_work_ps,
               struct map_fusion *what);

/* map_like.c: a hash of all that the mapper sees in an op; and in a command that is to be chosen. */
uint64_t map_split_key(const struct unit_split *s);
uint64_t map_op_key(const struct mapper *m, const struct op *o, uint64_t h);
uint64_t map_key(const struct mapper *m, const struct map_candidate *d, const struct op *o,
                 const struct map_constraints *how);
/* Of the machine and the stream's state, what commands with so many bytes can tell, with or without KV; all of it once, for
 * mapper.sig. */
uint64_t map_sig(const struct mapper *m, uint64_t bytes, bool kv);
uint64_t map_sig_all(const struct mapper *m);
/* Of ops that follow each other, with what they are to each other, on this machine. */
uint64_t map_ops_key(const struct mapper *m, uint32_t first, uint32_t n);
/* A word at a time: a step has thousands of operands. */
static inline uint64_t map_and_u64(uint64_t h, uint64_t v)
{
	return hash_mix(h * UINT64_C(0x9e3779b97f4a7c15) + v);
}

/* map_coschedule.c: which groups of ops are one command, each on cores of its own. */
struct map_coschedule;
struct map_coschedule_set {
	uint32_t group[MAP_COSCHEDULED], n;
};
struct map_coschedule *map_coschedule_new(const struct mapper *m, const struct fuse_group *groups, size_t n_groups);
/* How many from here on, `most` at the most, are not mapped yet; 0: this one is, with one before it. */
size_t map_coschedule_left(const struct map_coschedule *b, size_t group, uint32_t most);
/* Takes group `i`; true: with those that go beside it, as the command that is drafted. */
bool map_coschedule(struct mapper *m, struct map_coschedule *b, size_t i, struct map_coschedule_set *out,
                    struct map_candidate *d, uint64_t *op_work_ps);

/* map_block.c: of a batch, rows and columns, [from, from + n) of `of`; of an attention's keys the first `keys` of
 * `all_keys`, the same where none are left out. */
struct map_range {
	uint64_t from, n, of;
};
struct map_block {
	struct map_range dim[3];
	uint64_t keys, all_keys;
	struct map_schedule made; /* how it is done */
	bool decided;             /* that is said, not asked for */
};
/* Makes `o` that block of itself; false: there is no such block. */
bool map_block_take(struct op *o, enum map_cut cut, uint64_t blocks, uint64_t k, struct map_block *b);
/* Leaves out the keys behind those that the last of the block's queries sees. */
void map_block_keys(const struct mapper *m, struct op *o, struct map_block *b);
/* Makes its loads and stores those of the block. */
void map_block_moves(const struct mapper *m, const struct op *o, const struct map_block *b, struct map_candidate *d);

#endif
