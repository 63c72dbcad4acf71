/* analytic.h - a machine in closed form: the same program, configuration and results as sim/engine/machine, without events.
 *
 * Models: the recurrence that the event model solves, command by command in program order, tile by tile in each:
 *
 *   dispatch  max(rate, window: command k - queue is retired, the host's decision before it)           cp.c
 *   SRAM      in program order, when enough of it was given back; at most dma.stages tiles of a command   core.c
 *   loads     early ones from there on, others when what the command depends on is done                core.c
 *   a move    descriptor, L1, NoC, L2 or KV buffer, DRAM, back, DMA engines: each level a server         dma.c ...
 *   math      when its tile is there, in order, on units that serve one thing at a time
 *   stores, retirement in program order, host round trips
 *
 * Whatever serves one thing at a time is a server whose time is booked (analytic_server.h), and what somebody waits for
 * may go before what was only fetched ahead. What is where comes first, by reuse distance (analytic_residency.h) or in some
 * of the L2's sets (analytic_sample.h), whatever the time: so warming up needs none, but for the write queue that a pass
 * leaves behind (analytic_warm). How a load or store goes through the levels is in analytic_memory.h. Tiles that do what the one
 * before did are taken many at once where only times are asked for (analytic_repeat.h).
 * DRAM is a rate, which the tile model gives for the machine's own stream of pieces when it is asked once (reads and
 * writes apart, refresh included), and a latency.
 * Leaves out, beside what those two leave out: order among transfers that are in flight together, queues that refuse
 * (l1.mshrs, l2.mshrs, dram.queue), rows that streams close on each other, the bus turning from reads to writes, l2.write_block;
 * copies in L2 partitions take a share of the capacity.
 * Invariants: I1 no server does more than its rate, so no run is under its roofline; I2 commands' spans sum to the run;
 * I3 bytes are conserved at every level.
 * How far it is from events is measured: validate/tests/property/p_analytic.c. */
#ifndef NPUSIM_SIM_ENGINE_ANALYTIC_H
#define NPUSIM_SIM_ENGINE_ANALYTIC_H

#include "arch/machine/machine_cfg.h"
#include "arch/npu/cp.h"

struct analytic;
struct hierarchy;

/* Both are kept. */
struct analytic *analytic_new(const struct machine_cfg *c, const struct isa_prog *p, struct err *e);
/* Another program on the same machine, as if nothing had run: what is on chip is forgotten, statistics go on. */
int analytic_program(struct analytic *a, const struct isa_prog *p, struct err *e);
/* The same program, of which moves may be of other bytes: what is on chip stays. */
void analytic_bytes(struct analytic *a, const struct isa_prog *p);
void analytic_free(struct analytic *a);
/* For who asks when commands end, and nothing else: not what they waited for, nor what is counted. */
int analytic_times_only(struct analytic *a, struct err *e);
/* What a pass leaves on chip, and no more: not its write queue. */
void analytic_warm(struct analytic *a, const uint32_t *const *picks);
/* A pass from time 0; results[n_cmds] is filled. */
int analytic_step(struct analytic *a, const uint32_t *const *picks, struct cp_result *results, struct err *e);
/* Its DRAM. */
const struct hierarchy *analytic_levels(const struct analytic *a);
struct stat_reg *analytic_stats(struct analytic *a); /* named as the event model's */
uint64_t analytic_resident(const struct analytic *a, uint64_t addr, uint64_t bytes, bool kv);
bool analytic_pinned(const struct analytic *a, uint32_t tensor);

#endif
