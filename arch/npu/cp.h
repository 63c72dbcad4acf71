/* cp.h - the command processor: dispatches commands, tracks their dependencies, retires them in order.
 *
 * Models: a window of commands in flight; a dispatch rate (one batch every `interval`); the latency from "its
 * dependencies are met" to "its units start" (`latency`, or a few cycles inside one batch); up to `batch` small
 * commands dispatched as one, and with `join` as many independent products of the same rows in one command; a host round trip where the host decides (or a branch on the device when
 * `dynamic`, so that experts are chosen without the host); what a driver does to the rows of a product before and behind it
 * (`layout`); the doorbell that starts a run; a host that begins no two commands within `floor`, so that one that is over sooner
 * is waited for no shorter.
 * Leaves out: fetching the command stream from memory.
 * Invariants: I1 a command starts only after all it depends on has completed; I2 retirement is in program order. */
#ifndef NPUSIM_ARCH_NPU_CP_H
#define NPUSIM_ARCH_NPU_CP_H

#include "arch/npu/core.h"

struct dispatch_cfg {
	ps_t latency, interval;
	uint64_t layout; /* values a second that the driver lays out for a product of several rows, and back; 0: none */
	uint32_t queue, batch;
	bool join; /* independent products of few rows are one command: sim/map/map_horizontal.c */
	bool dynamic;
	ps_t branch;   /* deciding on the device */
	ps_t host;     /* a host round trip */
	bool prefetch; /* loads of what is there before may start before the command does */
	ps_t launch;   /* the host rings the doorbell: once a run */
	ps_t floor;    /* from the start of one command to that of the next, the doorbell included */
};

extern const struct cfg_field dispatch_schema[];

/* From a command's dependencies to its units, where it is not in a batch with the one before. */
static inline ps_t dispatch_wait(const struct dispatch_cfg *d, const struct isa_cmd *c)
{
	return d->latency + (d->layout ? clock_transfer(c->laid_out, d->layout) : 0);
}

/* From one dispatch of so many commands to the next. */
static inline ps_t dispatch_apart(const struct dispatch_cfg *d, uint64_t dispatches)
{
	return ps_max(dispatches * d->interval, d->floor);
}

/* What one command added to the run, in order of retirement; spans sum to the run's time. */
struct cp_result {
	ps_t retired; /* when the frontier passed it */
	ps_t span;    /* since the frontier passed its predecessor */
	ps_t dispatched;
	struct core_account acc;
};

struct cp;

struct cp *cp_new(const struct comp_env *env, const struct dispatch_cfg *cfg, const struct dma_cfg *dma,
                  const struct sram_cfg *sram, uint32_t cores, uint32_t depth, struct err *e);
void cp_free(struct cp *c);
struct core *cp_core(struct cp *c);
void cp_watch(struct cp *c, const struct watch *w); /* and of its cores and their DMA */

/* Starts a pass over the program; the queue's owner serves it. results[n_cmds] is filled as commands retire, and must
 * live until the queue is empty, as picks must. */
int cp_begin(struct cp *c, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
             struct err *e);
bool cp_done(const struct cp *c); /* every command has retired; write-backs may still be on their way */
/* A pass from begin to end: serves the queue until nothing is left. Without commands no time passes. ERR_STUCK names what
 * every block waits for. */
int cp_run(struct cp *c, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
           struct err *e);

#endif
