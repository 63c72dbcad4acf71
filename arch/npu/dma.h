/* dma.h - DMA: moves tiles between SRAM and the levels behind the NoC.
 *
 * Models: engines a core and their width (arch/mem/bw_server.h: a transfer streams through while its bytes arrive, and
 * takes as long as the core with the largest share of it needs), descriptors in flight, set-up time of a descriptor. What a started command waits for (urgent) goes before what is fetched ahead, in
 * the queue, in the engines (a prefetch under way gives way and goes on later) and, by the request's flag, further
 * down, so that fetching ahead costs nobody. Back-pressure from the NoC is honoured.
 * Leaves out: strided gathers within a descriptor (their bytes are counted, their pattern is not).
 * Invariants: I1 never more than `outstanding` transfers of a kind below; I2 every submitted transfer is done exactly once. */
#ifndef NPUSIM_ARCH_NPU_DMA_H
#define NPUSIM_ARCH_NPU_DMA_H

#include "arch/mem/bw_server.h"

struct dma_cfg {
	uint32_t engines;     /* a core */
	uint64_t width;       /* bytes a cycle and engine */
	uint64_t tile;        /* bytes a tile's descriptors move, all cores together: the unit of streaming */
	uint32_t stages;      /* tiles of one command in SRAM at a time: 2 is double buffering */
	uint32_t outstanding; /* tile descriptors in flight, chip; as many again for those somebody waits for */
	ps_t setup;           /* a descriptor, before its first byte is asked for */
	ps_t sync;            /* a tile, before its math: its unit is held up by starting and awaiting transfers */
};

extern const struct cfg_field dma_schema[];
uint64_t dma_rate(const struct dma_cfg *c, uint32_t cores); /* bytes a cycle, chip */

/* One tile's transfer; lives in the caller until done() is called. */
struct dma_xfer {
	struct mem_req req;
	struct mem_run run;
	struct bw_server_job ride; /* in the engines, while its bytes stream */
	struct dma *dma;
	struct dma_xfer *next;
	void (*done)(void *owner, struct dma_xfer *x);
	void *owner;
	ps_t t_issue, t_sent, t_reply, t_done;
	bool demand;         /* urgent when it was submitted */
	uint32_t insn, tile; /* the caller's */
};

struct dma;
struct dma *dma_new(const struct comp_env *env, const struct dma_cfg *cfg, uint32_t cores,
                    struct err *e); /* env->below: NoC */
void dma_free(struct dma *d);
/* Where requests between cores go, else as all others; bytes a cycle of its port to a core. */
void dma_between(struct dma *d, struct comp *network, uint64_t port);
void dma_watch(struct dma *d, const struct watch *w);
/* run, req.write, req.cls, req.urgency, req.copies, req.share, req.between, done and owner are set */
void dma_submit(struct dma *d, struct dma_xfer *x);
/* The engines send partial sums to other cores, from now on, for which the cores' ports need `span`: returns when both are
 * done. */
ps_t dma_exchange(struct dma *d, ps_t span);
/* What a core's engines need for what a port of `port` bytes a cycle carries in `span`. */
ps_t dma_exchange_span(const struct dma_cfg *c, uint64_t port, ps_t span);
void dma_explain(const struct dma *d, struct str *out);

#endif
