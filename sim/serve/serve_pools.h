/* serve_pools.h - the machines of a server that has several: replicas of one, or of one that prefills and another that decodes.
 *
 * A cache moves as a send between two chips over the slower of both machines' links (arch/link/link.h), or at a rate that is given: the
 * bytes that the machine that filled it keeps, and both must keep a token in as many. Its energy is that of the dearer end, a bit once.
 * Copies run beside computation on a machine with DMA engines (an NPU). On a GPU a send is a kernel of its library, so it stops both of its
 * ends that are GPUs, unless the engine copies otherwise or the question says so. */
#ifndef NPUSIM_SIM_SERVE_SERVE_POOLS_H
#define NPUSIM_SIM_SERVE_SERVE_POOLS_H

#include "sim/serve/serve.h"

struct serve_pool {
	struct serve_run *r;
	uint32_t machines;
};

struct serve_pools {
	uint32_t n;
	struct serve_pool pool[SCHED_POOLS];
	struct serve_ask first, second; /* of either pool's machine */
	struct serve_run decode;
	uint64_t token, sequence; /* bytes that a chip moves: of a token, and of fixed state */
	uint32_t chips;           /* of a machine, that move their parts side by side */
	uint32_t faster;          /* times the links' rate */
	struct sched_pools result;
	double link_joules;
};

extern const char *const serve_pool_names[SCHED_POOLS]; /* "prefill", "decode" */

/* Where the number of "h200:2" begins: at its colon; NULL: it is one machine. */
const char *serve_pools_count(const char *text);
/* As serve.h has them, of a run that has pools. */
int serve_pools_load(struct serve_run *r, struct err *e);
int serve_pools_size(struct serve_run *r, struct err *e);
/* `seen`: steps are kept and told. The caller frees `out`. */
int serve_pools_run(struct serve_run *r, const struct arrivals *a, bool seen, struct sched_pools *out, struct err *e);
void serve_pools_free(struct serve_run *r);
/* What moving a cache of so many tokens takes. */
void serve_pools_move(const struct serve_run *r, uint32_t tokens, struct sched_move *out);
/* Joules of all machines, waiting included; NaN: they are not known. `idle` of that. */
double serve_pools_joules(struct serve_run *r, double *idle);

#endif
