/* diag.h - what a machine as it is written cannot do, and what a run shows it did not use: warnings for people.
 *
 * A machine is simulated as it is written, and one that cannot work as its numbers promise gives an answer all the same,
 * bound by something else than its owner thinks. Each warning is a line: what, the numbers, what to change.
 *   dma, l2      carries less than DRAM's pins
 *   in_flight    dma.stages tiles of dma.tile, or what SRAM and dma.outstanding allow of them, are fewer bytes than DRAM's
 *                bandwidth times the way of a transfer there and back, unloaded: one command cannot keep DRAM busy
 *   pin_rate     pins faster than their kind's standard: its times in ns stay, so its banks do not get faster with them
 *   reticle, edges, power    beyond what anybody builds (real.h); power is a run's
 *   form         (a run's in closed form) the machine has what the closed form leaves out or is not sure of
 *   doubted      (a trace's) operations that are passed through as measured, for their sizes cannot be (workload_doubt.c)
 *   unfilled     (a run's) no product gives a kind of unit half of what it can do while it works
 * Leaves out: what a workload asks for and no machine has; what costs area and buys nothing (npusim limits). */
#ifndef NPUSIM_SIM_ENGINE_DIAG_H
#define NPUSIM_SIM_ENGINE_DIAG_H

#include "arch/machine/machine_cfg.h"
#include "sim/engine/real.h"
#include "sim/engine/run_result.h"

#define DIAG_MOST (7 + REAL_MOST + UNIT_COUNT)

struct diag {
	const char *what; /* "dma", "in_flight", ... */
	char text[400];
};
struct diag_list {
	struct diag v[DIAG_MOST];
	size_t n;
};

/* Of what ran: `doubted` is a workload's; NULL: nothing. */
void diag_work(const char *doubted, struct diag_list *to);
void diag_machine(const struct machine_cfg *c, struct diag_list *to);
/* The machine's, less what the run disproves (in_flight: units of many rows take tiles larger than dma.tile), and its own. */
void diag_run(const struct machine_cfg *c, const struct run_result *r, struct diag_list *to);

#endif
