/* buy.h - which amount of a machine pays best to have more of, for a run that is done: a quick look, where limits.h tries all
 * there is.
 *
 * Of memory and dispatch every `more` of limits.h (an amount doubled, a latency halved) has a bound: what the run waited for
 * what it serves, and of a capacity no more than so many bytes take over the pins. The highest bounds are tried in closed
 * form, on the program as it is mapped, until none that is left could pay more than the best found, or BUY_TRIES are done.
 * Units, cores and SRAM would need another mapping, which costs as much as the run: of those an answer is the bound alone,
 * the half of what was waited for that one thing, and says so.
 * Leaves out: switches, parts to add, pairs, less of anything, events. */
#ifndef NPUSIM_SIM_SWEEP_BUY_H
#define NPUSIM_SIM_SWEEP_BUY_H

#include "sim/sweep/limits.h"

#define BUY_TRIES 4

struct buy {
	const char *key, *now, *then; /* as a user writes them; key NULL: nothing that was tried pays */
	double saves;                 /* of the time, 0 to 1: in closed form, */
	bool at_most;                 /* or as a bound that no run was made of */
};

/* Of a machine and a workload. */
struct buy_question {
	struct limits_question q;        /* as for limits_run */
	struct machine_base *machines;   /* of its config and sets, */
	const struct machine_conf *conf; /* and what they make as they are */
};

/* `x` is the run of the workload on the machine. */
int buy_best(const struct buy_question *q, const struct run_result *x, struct arena *a, struct buy *out, struct err *e);

#endif
