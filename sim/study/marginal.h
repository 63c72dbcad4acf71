/* marginal.h - what pays best for a run that is done, of amounts to have more of and of switches to take otherwise, and what it takes: a
 * quick look, where limits.h tries all there is.
 *
 * Of memory and dispatch every `more` of limits.h (an amount doubled, a latency halved) has a bound: what the run waited for
 * what it serves, and of a capacity no more than so many bytes take over the pins. The highest bounds are tried in closed
 * form, on the program as it is mapped, until none that is left could pay more than the best found, or MARGINAL_TRIES are done.
 * Clock, units, cores and SRAM, and switches (formats of weights, activations and KV cache, fusion, dispatch ...), need another
 * mapping: of either the MARGINAL_MAPPED of the highest bounds are tried.
 * What is left is run in closed form, mapped for its own machine, beside the design itself: time, area and power are of these.
 * Leaves out: parts to add, pairs, less of anything, events, switches that the closed form does not model, what another format does
 * to a model's answers. */
#ifndef NPUSIM_SIM_STUDY_MARGINAL_H
#define NPUSIM_SIM_STUDY_MARGINAL_H

#include "sim/study/limits.h"

#define MARGINAL_TRIES  4
#define MARGINAL_MAPPED 4
#define MARGINAL_LEAST  0.005 /* of the time: nobody would notice less */

struct marginal {
	const char *key, *now, *then; /* as a user writes them; key NULL: nothing that was tried pays */
	double saves;                 /* of the time, 0 to 1, in closed form */
	bool has_range, has_mm2, has_watts;
	double low, high;  /* of what it saves, four times in five */
	double mm2, watts; /* more than now: of the die, and the mean of the run */
	char beyond[40];   /* why nobody builds it, in words, where what there is can be built; "" */
};
struct buys {
	struct marginal amount, choice;
};

/* Of a machine and a workload. */
struct marginal_question {
	struct limits_question q;        /* as for limits_run */
	struct machine_base *machines;   /* of its config and sets, */
	const struct machine_conf *conf; /* and what they make as they are */
	/* Of how many times as fast another machine's run is: true over simulated; false: not known. NULL: nobody asks. */
	bool (*range)(void *arg, const struct machine_conf *c, const struct run_result *x, double *low, double *high);
	void *arg;
};

/* `x` is the run of the workload on the machine. */
int marginal_best(const struct marginal_question *q, const struct run_result *x, struct arena *a, struct buys *out,
                  struct err *e);

/* The time of `x`, its program as it is, on the machine with these assignments of memory and dispatch, as the closed form has it of
 * either machine; 0: not known. */
ps_t marginal_time(const struct marginal_question *q, const struct run_result *x, const char *const *sets, int n_sets,
                   struct arena *a);

#endif
