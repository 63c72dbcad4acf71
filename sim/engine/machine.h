/* machine.h - a machine: its configuration, checked and resolved, and its blocks wired together.
 *
 *   command processor ─ cores (SRAM, GEMV, matrix, vector units) ─ DMA ─ (L1) ─ NoC ┬ KV buffer ┐
 *                                                                                   └ L2 ───────┴ DRAM
 *
 * Two machines may live in one process, each with a clock of its own or both on one. A machine runs one program; every
 * pass over it is a decode step, and what the pass leaves on chip (L2, KV buffer, pinned weights) is there for the next. */
#ifndef NPUSIM_SIM_ENGINE_MACHINE_H
#define NPUSIM_SIM_ENGINE_MACHINE_H

#include "arch/isa.h"
#include "arch/machine/machine_conf.h"

struct machine;

/* `q`: a clock that it shares with others and that outlives it; NULL: one of its own. */
struct machine *machine_new(const struct machine_cfg *cfg, struct evq *q, struct err *e);
void machine_free(
	struct machine *m); /* with events of its own still on a shared clock, that is not to be served again */
/* A pass begun, for machines that share a clock: begin each, then serve the queue until it is empty. picks[route][slot] is
 * the expert chosen; it and results[n_cmds] must live until then. */
int machine_begin(struct machine *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
                  struct err *e);
bool machine_done(const struct machine *m); /* every command of the pass has retired */
/* One pass from begin to end; others on its clock go on as well. */
int machine_step(struct machine *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
                 struct err *e);
const struct machine_cfg *machine_cfg(const struct machine *m);
struct stat_reg *machine_stats(struct machine *m);
uint64_t machine_resident(const struct machine *m, uint64_t addr, uint64_t bytes, bool kv); /* on chip, SRAM aside */
/* Who looks on from now on; between passes. `w` must live as long as the machine, NULL: nobody. */
void machine_watch(struct machine *m, const struct watch *w);
void machine_rest(struct machine *m);   /* as memory_rest() */
void machine_forget(struct machine *m); /* cold: nothing on chip; statistics stay */
bool machine_pinned(const struct machine *m, uint32_t tensor);
struct comp *machine_memory(struct machine *m); /* the door where the cores' DMA asks: L1 or network */
struct evq *machine_queue(struct machine *m);
ps_t machine_now(const struct machine *m);
uint64_t machine_events(const struct machine *m); /* served by its queue */

#endif
