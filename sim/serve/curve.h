/* curve.h - what a user gets beside what the machine makes: closed loops of 1, 2, 4, ... requests, up to the batch and to all there are.
 *
 * A user's rate is one over the mean time of a token after the first. What steps take is kept from loop to loop. */
#ifndef NPUSIM_SIM_SERVE_CURVE_H
#define NPUSIM_SIM_SERVE_CURVE_H

#include "sim/serve/serve.h"

#define CURVE_POINTS 17 /* up to SCHED_BATCH */

struct curve_point {
	uint32_t loop;
	double user, machine; /* tokens/s; user NAN: no request has more than one */
	struct latency latency;
};

/* `r` is loaded and sized; returns how many, or -1. */
int curve_make(struct serve_run *r, struct curve_point out[CURVE_POINTS], struct err *e);

#endif
