/* serve_int.h - what the parts of serve share; serve.h is for others. */
#ifndef NPUSIM_SIM_SERVE_SERVE_INT_H
#define NPUSIM_SIM_SERVE_SERVE_INT_H

#include "sim/serve/serve.h"

/* What of the memory is the cache's, in blocks. */
int serve_memory(struct serve_run *r, struct err *e);

/* Up to `most` steps of each kind, spread over all; simulated as they are at the end. */
struct serve_kept *serve_kept_new(uint64_t most, struct err *e);
void serve_kept_free(struct serve_kept *k);
void serve_kept_add(struct serve_kept *k, const struct sched_step *s);
int serve_kept_check(const struct serve_kept *k, struct cost_table *t, struct serve_check out[SERVE_KINDS],
                     struct err *e);

#endif
