/* core.h - the cores: run dispatched commands tile by tile.
 *
 * Models: all cores as one gang: a command's tiles are cut into a part a core by the mapper (arch/npu/partition.h), equal
 * cores are one class, and the class with the most to do sets the time (so are groups of cores that do ops side by side); so an event is a tile, not a core's share, and
 * costs the same for any number of cores.
 * SRAM is given out in program order: a command may take SRAM only when every command before it has taken all it
 * needs, so the oldest can always finish and nothing locks up. Tiles of a command are computed in order; up to
 * `dma.stages` of them are in SRAM, where software lets them overlap (`mapping.overlap`). Units serve in order of request.
 * Where time goes: every picosecond between the completion of a command's predecessor and its own is put down to
 * one resource (struct core_account), so the commands' times sum to the run's.
 * Leaves out: cores that go on with the next tile while the fullest is still at this one. */
#ifndef NPUSIM_ARCH_NPU_CORE_H
#define NPUSIM_ARCH_NPU_CORE_H

#include "arch/comp.h"
#include "arch/isa.h"
#include "arch/npu/dma.h"
#include "arch/npu/sram.h"

struct core_cfg {
	uint32_t depth;        /* pipeline stages of the vector units; cycles between dependent macro-ops of a batch */
	uint32_t thread_group; /* elements a control step covers */
	uint32_t
		control; /* cycles that a vector unit spends on a thread group beside its work (arch/npu/unit_issue.h) */
	uint32_t unit_latency; /* cycles between dependent macro-ops on one thread group */
};

extern const struct cfg_field core_schema[];

/* Whether a tile is fetched before those before it are over: so many millionths of a command's are, evenly. */
static inline bool core_ahead(uint32_t tile, uint32_t ppm)
{
	return !tile || ((uint64_t)tile + 1) * ppm / 1000000 > (uint64_t)tile * ppm / 1000000;
}

/* What a command cost: spans since it became the oldest, by cause, and what it moved. */
struct core_account {
	ps_t mark; /* explained up to here */
	ps_t stall[RES_COUNT];
	ps_t start, end;                /* first activity, completion */
	ps_t busy[RES_COUNT];           /* unit time its math took */
	uint64_t dram_bytes, mem_bytes; /* fetched from DRAM; moved through the NoC, both ways */
};

static inline void core_explain_time(struct core_account *a, ps_t until, enum res why)
{
	if (until > a->mark) {
		a->stall[why] += until - a->mark;
		a->mark = until;
	}
}

/* Likewise of a unit's time, of which cores wait `idle` millionths for the fullest. */
static inline void core_explain_math(struct core_account *a, ps_t until, enum res unit, uint32_t idle)
{
	if (until > a->mark)
		core_explain_time(a, until - (ps_t)((double)(until - a->mark) * idle / 1e6), unit);
	core_explain_time(a, until, RES_IMBALANCE);
}

/* A step's moves: when the one that came last was asked for, and when it was there. */
struct core_move {
	ps_t asked, done; /* done 0: nothing had to move */
};

/* How full all that moves bytes was from one moment to another: what it would need at its peak for what it moved. */
#define CORE_MOVERS (RES_DMA + 1)
struct core_use {
	ps_t span, need[CORE_MOVERS];
};

/* Puts the time of a move down to what it was waited for. Before it was asked for, SRAM had no room. After that it is
 * bandwidth where the fullest resource of the window `u` was full: the window is the move's own time or, in a stream,
 * that since the tile before. Full is half of its peak or more: row changes, refresh and turnarounds of a DRAM take up to
 * that, and more in flight would not help. Else as much as its need is its own, and the rest is latency. */
void core_explain_move(struct core_account *a, const struct core_move *m, const struct core_use *u);

/* `done` is called once for each command: its last store is acknowledged. */
struct core_owner {
	void *ctx;
	void (*done)(void *ctx, uint32_t cmd);
	bool (*decided)(void *ctx, int32_t cmd);
};

struct core;

struct core *core_new(const struct comp_env *env, const struct dma_cfg *dma, const struct sram_cfg *sram,
                      uint32_t cores, uint32_t window, bool prefetch, const struct core_owner *owner, struct err *e);
void core_free(struct core *c);
/* What each resource can carry, bytes/s, and a count of bytes written to DRAM behind the cores' back (NULL: none). Without
 * it nothing is ever full. */
void core_paced(struct core *c, const uint64_t peak[RES_COUNT], const uint64_t *written_back);
/* Millionths of a command's tiles that are fetched while others are in SRAM; without it all. */
void core_overlap(struct core *c, uint32_t ppm);
/* Where cores reach each other, else where they reach memory; bytes a cycle of its port to a core. */
void core_between(struct core *c, struct comp *network, uint64_t port);
void core_watch(struct core *c, const struct watch *w); /* and of the DMA */
/* Starts a pass over the program; a machine runs one program only. picks[route][slot]: expert. */
int core_begin(struct core *c, const struct isa_prog *p, const uint32_t *const *picks, struct err *e);
void core_dispatch(struct core *c, uint32_t cmd); /* may take SRAM and start early loads, in program order */
void core_ready(struct core *c, uint32_t cmd);    /* its dependencies are met */
void core_decided(struct core *c);                /* some routing decision was made: early loads may start */
struct core_account *core_account(struct core *c, uint32_t cmd); /* of a dispatched command */
void core_explain(const struct core *c, struct str *out);
bool core_pinned(const struct core *c, uint32_t tensor); /* held in SRAM since an earlier pass */

#endif
