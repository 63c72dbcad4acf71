/* analytic_memory.h - loads and stores through the memory hierarchy in closed form: a part of sim/engine/analytic.
 *
 * Two questions, in this order: what of an access is where (by contents alone, whatever the time: analytic_residency, analytic_sample),
 * and when a DMA transfer of it is done (each level a server with bookings: analytic_server). What it models and leaves
 * out is at the head of analytic.h. Only analytic.c asks.
 * Units: bytes, ps; rates are times of a byte, as server.per_byte. */
#ifndef NPUSIM_SIM_ENGINE_ANALYTIC_MEMORY_H
#define NPUSIM_SIM_ENGINE_ANALYTIC_MEMORY_H

#include "sim/engine/analytic.h"
#include "sim/engine/analytic_residency.h"
#include "sim/engine/analytic_sample.h"
#include "sim/engine/analytic_server.h"
#include "sim/map/map.h"

/* What a load or store asks of each level. */
struct access {
	uint64_t bytes;
	uint64_t past_l1;           /* the L1's misses; all, where there is none */
	uint64_t kv, past_kv;       /* asked of the KV buffer; of those, what goes on to the L2 */
	uint64_t kv_first;          /* of `bytes`, from the first on, what the buffer has */
	uint32_t copies;            /* cores that each byte goes to */
	uint64_t dram;              /* read there, or written where there is no L2 */
	uint64_t writeback;         /* dirty bytes that had to go there */
	bool write, to_kv, between; /* between: from cores, no level is asked */
};

/* A DMA transfer of so many of an access's bytes: its share at each level, and how long each server is busy with it.
 * Those of a loop are all alike but for the last. */
struct transfer {
	uint64_t bytes, past_l1, kv, l2, dram, writeback; /* l2: asked of it, or of DRAM where there is none */
	uint64_t noc_load;
	ps_t l1_span, l2_span, kv_span, dram_span, writeback_span, dma_span, noc_span;
	ps_t dram_least;  /* what the fullest channel needs */
	ps_t dram_sooner; /* behind a transfer that it goes on from: rows that are open by then */
};

struct hierarchy_counts {
	uint64_t l1_read, l1_hit, l1_miss, l1_through;
	uint64_t kv_read, kv_write, kv_hit, kv_fill, kv_spill_read, kv_spill_write, kv_resident, kv_dirty;
	uint64_t l2_read, l2_write, l2_hit, l2_miss, l2_fill, l2_back, l2_dirty, l2_resident, l2_passed;
	uint64_t dram_read, dram_write, dram_posted, dma_read, dma_write, dma_transfers;
	uint64_t noc_up, noc_down, noc_copied, noc_core, noc_busy;
};

/* The levels: what they hold, and their time. */
struct hierarchy {
	const struct machine_cfg *c;
	uint64_t end; /* of the addresses that levels have room for; 0: there are none yet */
	struct residency *l1, *l2, *kv;
	struct sample *sample; /* the L2, where reuse distance does not say what stays; then `l2` is NULL */
	struct noc_shape noc;
	struct server l1_server, l2_server, kv_server, dram_server, dma_server, noc_server[2]; /* up, down */
	uint64_t write_per_byte; /* DRAM time of a byte written, as server.per_byte */
	uint64_t dram_pins_ppm;  /* what its pins need of the time it is booked: the rest is its banks' */
	ps_t dram_latency, l2_latency, far_latency; /* far: to the other L2 partition */
	ps_t dram_opens;                            /* of it, closing a row and opening another */
	uint64_t dram_row;                          /* bytes of a row */
	/* Write-backs wait until DRAM is idle or too many wait, as in arch/mem/dram.c: DRAM time, and since when. */
	ps_t posted, posted_at, posted_most;
	uint64_t owed;              /* bytes of what was posted when the last pass was over: counted with the next */
	uint64_t settled;           /* dram_write when this pass began: what was written by then stays so */
	uint64_t posts;             /* requests that may wait */
	ps_t post_span;             /* of the largest, where what it writes is apart */
	uint64_t n_posts, n_bursts; /* how often something was posted, and how often that was too much */
	ps_t all_posts;             /* DRAM time of all that ever was */
	uint64_t dram_units, dram_interleave, dram_unit_per_byte; /* the last: time of a byte on one unit's bus */
	ps_t *replies[2]; /* when the last `outstanding` transfers were answered: [0] fetched ahead, [1] waited for */
	uint32_t next_reply[2];
	struct hierarchy_counts n;
};

#define HIERARCHY_SERVERS 7
void hierarchy_servers(struct hierarchy *h, struct server *all[HIERARCHY_SERVERS]);
int hierarchy_init(struct hierarchy *h, const struct machine_cfg *c, struct err *e); /* rates; holds nothing yet */
int hierarchy_contents(struct hierarchy *h, uint64_t end, struct err *e); /* empty levels, for addresses below `end` */
void hierarchy_drop(struct hierarchy *h);
void hierarchy_begin(struct hierarchy *h);               /* a pass: time starts again, contents and write queue stay */
void hierarchy_over(struct hierarchy *h, ps_t end);      /* it ended: what is written after that is the next one's */
void hierarchy_forget(struct hierarchy *h, ps_t before); /* nothing will be booked before */
int hierarchy_stats(struct hierarchy *h, struct stat_reg *st, struct err *e);
void hierarchy_update_levels(struct hierarchy *h);                    /* brings statistics that are states up to date */
void hierarchy_dram(const struct hierarchy *h, struct map_dram *out); /* for who asks before there is a program */
uint64_t hierarchy_resident(const struct hierarchy *h, uint64_t addr, uint64_t bytes, bool kv);
/* Finds the bytes at each level, moves contents, counts. */
struct access hierarchy_access(struct hierarchy *h, const struct isa_insn *i, uint64_t addr);
/* The same once more, and so many times: `between` distinct bytes pass the levels between two uses of a byte, of which
 * cache_lost() is gone. Returns one time of it. */
struct access hierarchy_again(struct hierarchy *h, const struct isa_insn *i, uint64_t addr, uint64_t times,
                              uint64_t between);
/* So many bytes of it, `from` such a byte on, as one transfer, of which the fullest core has `share` (isa.h); moves nothing. */
struct transfer hierarchy_transfer(const struct hierarchy *h, const struct access *a, uint64_t from, uint64_t bytes,
                                   uint64_t share);
/* The KV buffer has the first part of it, so its transfers are not alike. */
static inline bool hierarchy_cut(const struct access *a)
{
	return a->to_kv && a->kv_first && a->kv_first < a->bytes;
}
uint64_t hierarchy_kv_room(
	const struct hierarchy *h); /* bytes that the KV buffer can still take in; 0: there is none */
uint64_t hierarchy_kv_lacks(const struct hierarchy *h, uint64_t addr, uint64_t bytes); /* of so many at an address */
/* Adds what goes on from where an access ends. */
void hierarchy_add(struct access *to, const struct access *x);
/* Partial sums among cores for so long, of ports, links and the DMA engines that send them; returns when it is over. */
ps_t hierarchy_exchange(struct hierarchy *h, ps_t at, ps_t span);
/* Makes the transfer, from `issue` on; returns when its last byte is through the engines. `goes_on`: its bytes lie behind those
 * of the transfer before. */
ps_t hierarchy_move(struct hierarchy *h, const struct access *a, const struct transfer *t, ps_t issue, bool demand,
                    bool goes_on, struct core_move *m);
/* How full its servers are booked from a moment to a move's end. Later moves are not booked yet, so of a server that is done
 * with the move before its end it is as long a time that ends with its bookings. */
struct core_use hierarchy_use(const struct hierarchy *h, const struct core_move *m, ps_t from);

#endif
