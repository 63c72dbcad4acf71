/* latency.h - what people wait for, from what became of each request.
 *
 *   TTFT    time to first token: from arrival to the end of the step that produced it
 *   TPOT    time per output token after the first: of a request, mean over its tokens; of outputs of one token there is none
 *   total   from arrival to the last token
 *   queue   from arrival to the start of the first step that worked for it
 * Percentiles are by nearest rank: the smallest value that so many percent of the requests do not exceed, so always one that was seen. */
#ifndef NPUSIM_SIM_SERVE_LATENCY_H
#define NPUSIM_SIM_SERVE_LATENCY_H

#include "sim/serve/sched.h"

struct latency_stat {
	size_t n;
	ps_t mean, p50, p90, p95, p99, max;
};

enum latency_of { LATENCY_TTFT, LATENCY_TPOT, LATENCY_TOTAL, LATENCY_QUEUE, LATENCIES };

struct latency {
	struct latency_stat of[LATENCIES];
	struct latency_stat
		itl; /* between two tokens of a request, over all of them: percentiles to 0.2 % (sched_gap) */
};

const char *latency_name(enum latency_of l); /* "ttft" */
/* Of one request; PS_NEVER: it has none, and none has whose client left. */
ps_t latency_one(enum latency_of l, const struct arrival *a, const struct sched_request *r);
int latency_sum(const struct arrivals *a, const struct sched_result *r, struct latency *out, struct err *e);
/* Of one request as it was measured; PS_NEVER: it has none. */
ps_t latency_measured(enum latency_of l, const struct arrival *a);
/* How far simulated is off measured, in percent of that, over the requests that have both. */
struct latency_off {
	size_t n;
	double mean, bias, p50; /* of what is off; with its sign; of the medians of both */
};
int latency_beside(enum latency_of l, const struct arrivals *a, const struct sched_result *r, struct latency_off *out,
                   struct err *e);
/* Requests that were answered within both limits; 0: no limit. */
size_t latency_within(const struct arrivals *a, const struct sched_result *r, ps_t ttft, ps_t tpot);

#endif
