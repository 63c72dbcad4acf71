/* traffic.h - a machine under traffic as the figures of a run, for who compares machines (results/figure.h).
 *
 * Its time is that of one token of the machine: from the first arrival to the last token, over all tokens, so that tokens/s, energy
 * and power are those of the traffic. What it is held by is by two steps that stand for all: the mean one that decodes, and the mean
 * piece of a prompt, each as often as there were such; time in which nothing ran has no resource.
 * Leaves out: bytes, operations and rooflines, which are of single steps. */
#ifndef NPUSIM_SIM_SERVE_TRAFFIC_H
#define NPUSIM_SIM_SERVE_TRAFFIC_H

#include "arch/res.h"
#include "results/figure.h"
#include "sim/serve/serve.h"

struct traffic_point {
	struct figures figures;
	ps_t stall[RES_COUNT]; /* of a token's time */
	ps_t latency;          /* from a request's arrival to its last token, in the mean */
};

typedef int traffic_fn(const struct serve_ask *o, struct traffic_point *out, struct err *e);
traffic_fn traffic_point;

#endif
