/* core.h - the cores: run dispatched commands tile by tile.
 *
 * Models: all cores as one gang (a tile is spread evenly over them, so an event is a tile, not a core's share).
 * SRAM is given out in program order: a command may take SRAM only when every command before it has taken all it
 * needs, so the oldest can always finish and nothing locks up. Tiles of a command are computed in order; up to
 * `dma.stages` of them are in SRAM. Units serve in order of request.
 * Where time goes: every picosecond between the completion of a command's predecessor and its own is put down to
 * one resource (struct core_account), so the commands' times sum to the run's.
 * Leaves out: imbalance between cores other than by rounding up. */
#ifndef NPUSIM_ARCH_NPU_CORE_H
#define NPUSIM_ARCH_NPU_CORE_H

#include "arch/comp.h"
#include "arch/isa.h"
#include "arch/npu/dma.h"
#include "arch/npu/sram.h"

struct core_cfg {
	uint32_t depth;        /* pipeline stages of the vector units; cycles between dependent macro-ops of a batch */
	uint32_t thread_group; /* elements a control step covers */
};

extern const struct cfg_field core_schema[];

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

/* When the slowest transfer of a step left each stage of its way; `level` is the first that holds state. */
enum {
	CORE_AT_ISSUE,
	CORE_AT_SENT,
	CORE_AT_L1,
	CORE_AT_ARRIVE,
	CORE_AT_LEVEL,
	CORE_AT_DRAM,
	CORE_AT_DRAM_DONE,
	CORE_AT_REPLY,
	CORE_AT_DONE,
	CORE_STAMPS
};
struct core_stamps {
	ps_t t[CORE_STAMPS];
	uint8_t level;
};
void core_explain_transfer(struct core_account *a, const struct core_stamps *s); /* one alone */
/* One of a stream; `before`: when the one before it was there, 0 for the first. */
void core_explain_stream(struct core_account *a, const struct core_stamps *s, ps_t before);

/* `done` is called once for each command: its last store is acknowledged. */
struct core_owner {
	void *ctx;
	void (*done)(void *ctx, uint32_t cmd);
	bool (*decided)(void *ctx, int32_t cmd);
};

struct core;

struct core *core_new(const struct comp_env *env, const struct dma_cfg *dma, const struct sram_cfg *sram,
                      uint32_t cores, uint32_t window, const struct core_owner *owner, struct err *e);
void core_free(struct core *c);
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
