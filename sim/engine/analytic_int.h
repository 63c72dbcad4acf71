/* analytic_int.h - shared by analytic.c (commands) and analytic_way.c (what a move does on its way); nobody else's. */
#ifndef NPUSIM_SIM_ENGINE_ANALYTIC_INT_H
#define NPUSIM_SIM_ENGINE_ANALYTIC_INT_H

#include "sim/engine/analytic.h"
#include "sim/engine/analytic_held.h"
#include "sim/engine/analytic_line.h"

/* Where the bytes of a move are: of each level's, how many go on to the next. */
struct way {
	uint64_t bytes;
	uint64_t below;       /* beyond the L1: its misses; all, where there is none */
	uint64_t kv, spilled; /* asked of the KV buffer; of those, what goes on to the L2 */
	uint64_t dram, back;  /* read there (or written, where there is no L2); dirty bytes that had to go there */
	bool write, to_kv;
};

/* A transfer of so many of a way's bytes: its parts, and what each takes of its server. A loop's are all alike but for
 * the last. */
struct leg {
	uint64_t bytes, asked, kv, beyond, dram, back; /* asked: beyond the L1; beyond: of the L2 */
	ps_t l1_span, l2_span, kv_span, dram_span, dram_least, back_span, dma_span;
};

struct way_counts {
	uint64_t l1_read, l1_hit, l1_miss, l1_through;
	uint64_t kv_read, kv_write, kv_hit, kv_fill, kv_spill_read, kv_spill_write, kv_resident, kv_dirty;
	uint64_t l2_read, l2_write, l2_hit, l2_miss, l2_fill, l2_back, l2_dirty, l2_resident, l2_passed;
	uint64_t dram_read, dram_write, dma_read, dma_write, dma_transfers, noc_up, noc_down;
};

enum { PART_REST, PART_KV, PART_PIN, PARTS };

/* The levels, their state and their lines. */
struct ways {
	const struct machine_cfg *c;
	struct held *l1, *l2[PARTS], *seen, *kv;
	struct line l1_line, l2_line, kv_line, dram_line, dma_line;
	uint64_t write_per_byte; /* DRAM time of a byte written, as line.per_byte */
	ps_t dram_latency, l2_latency, far;
	/* Write-backs wait until DRAM is idle or too many wait, as in arch/mem/dram.c: DRAM time, and since when. */
	ps_t posted, posted_at, posted_most;
	uint64_t posts;                                      /* requests that may wait, however large */
	uint64_t dram_parts, dram_grain, dram_part_per_byte; /* units, interleave, time of a byte on one unit's bus */
	ps_t *sent[2]; /* replies of the last `outstanding` transfers, fetched ahead and waited for */
	uint32_t next[2];
	struct way_counts n;
};

int ways_init(struct ways *w, const struct machine_cfg *c, uint64_t end, struct err *e);
void ways_drop(struct ways *w);
void ways_begin(struct ways *w); /* a pass: time starts again, contents stay */
void ways_forget(struct ways *w, ps_t before);
int ways_stats(struct ways *w, struct stat_reg *st, struct err *e);
void ways_level(struct ways *w); /* brings statistics that are states up to date */
uint64_t ways_resident(const struct ways *w, uint64_t addr, uint64_t bytes, bool kv);
/* Finds the bytes, moves contents, counts. */
struct way ways_find(struct ways *w, uint8_t cls, uint64_t addr, uint64_t bytes, bool write);
struct leg ways_leg(const struct ways *w, const struct way *x, uint64_t bytes);
/* One transfer, from `issue` on; returns when its last byte is through the engines. */
ps_t ways_move(struct ways *w, const struct way *x, const struct leg *l, ps_t issue, bool demand,
               struct core_stamps *s);

#endif
