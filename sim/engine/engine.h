/* engine.h - the ways to find what a run costs: one row of a table each, chosen by what the machine runs and the fidelity
 * that is asked.
 *
 *   event      commands, every tile moved or computed an event      engine_event.c      sim/engine/machine.h
 *   analytic   the same program and machine in closed form          engine_analytic.c   sim/engine/analytic.h
 *   gpu        launches in closed form, the L2 by events, or not    engine_gpu.c        arch/gpu/gpu.h
 *
 * What the first two share is in pass.h. Nobody else asks which engine it is: what differs is said here or in the
 * result. */
#ifndef NPUSIM_SIM_ENGINE_ENGINE_H
#define NPUSIM_SIM_ENGINE_ENGINE_H

#include "arch/machine/machine_conf.h"
#include "sim/engine/run_result.h"

struct engine_ops {
	const char *fidelity; /* as --fidelity, JSON and the results database have it */
	const char *how;      /* for people */
	bool events;          /* it serves some in the measured pass */
	bool (*can)(const struct machine_cfg *c, enum run_fidelity f);
	/* Fills what run_stream left open of *out; a figure it has none of stays 0 or NULL. */
	int (*run)(const struct machine_conf *conf, const struct run_opts *o, struct arena *a, struct run_result *out,
	           struct err *e);
	/* Builds the machine without running it, and tells each statistic its results have; -1: it cannot be built. `each` may be
	 * NULL. */
	int (*stats)(const struct machine_cfg *c, stat_each_fn *each, void *arg, struct err *e);
};

extern const struct engine_ops engine_event, engine_analytic, engine_gpu, engine_gpu_form;

/* All of them; NULL ends the list. */
const struct engine_ops *const *engine_table(void);
/* Whether the closed form follows what this key (KEY or KEY=VALUE) of an NPU changes: those it leaves out change nothing there, and of
 * l2.policy the duel of drrip falls otherwise where its rules are about as good (of 66 sizes of L2 four by more than 5 %, 12 % at the most). */
bool engine_form_covers(const char *set);
/* The one that can; every machine has one at every fidelity. */
const struct engine_ops *engine_of(const struct machine_cfg *c, enum run_fidelity f);

#endif
