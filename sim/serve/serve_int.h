/* serve_int.h - what the parts of serve share; serve.h is for others. */
#ifndef NPUSIM_SIM_SERVE_SERVE_INT_H
#define NPUSIM_SIM_SERVE_SERVE_INT_H

#include "sim/serve/serve.h"

/* What of the memory is the cache's, in blocks. */
int serve_memory(struct serve_run *r, struct err *e);

/* Of one machine: it and its models; its memory, against a list; what a step takes, told or not. */
int serve_machine(struct serve_run *r, const struct serve_ask *o, struct err *e);
int serve_one_size(struct serve_run *r, const struct arrivals *a, struct err *e);
void serve_one_free(struct serve_run *r);
sched_cost_fn serve_step_cost, serve_step_alone;
sched_seen_fn serve_step_seen;
/* Joules of what was done on it, waiting from `worked` to `end` included. */
double serve_joules(const struct serve_run *r, const struct sched_result *x, double *idle);

#define SERVE_TYPICAL 3 /* steps of each kind that intervals are made of */

/* Up to `most` steps of each kind, spread over all; simulated as they are at the end. */
struct serve_kept *serve_kept_new(uint64_t most, struct err *e);
void serve_kept_free(struct serve_kept *k);
void serve_kept_add(struct serve_kept *k, const struct sched_step *s);
int serve_kept_check(const struct serve_kept *k, struct cost_table *t, struct serve_check out[SERVE_KINDS],
                     struct err *e);
/* Each of a kind, in their order. */
size_t serve_kept_count(const struct serve_kept *k, enum serve_kind of);
const struct sched_step *serve_kept_step(const struct serve_kept *k, enum serve_kind of, size_t i);

#endif
