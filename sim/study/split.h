/* split.h - the best split of a model over a system's chips: of the counts that are 'auto' (tp, pp, ep, dp) those with which a step
 * takes least in closed form; of splits that take as long the one of fewest chips.
 *
 * Counts are divisors of the chips (links.chips). With one of tp, pp and dp left open it is any of them; with several all chips
 * work. Experts on several chips are tried on all of a stage, or on those of one replica. What cannot be split so, or does not
 * fit, is passed over. Each build and run is of its own: nothing is kept but the best counts. */
#ifndef NPUSIM_SIM_STUDY_SPLIT_H
#define NPUSIM_SIM_STUDY_SPLIT_H

#include "sim/engine/run.h"
#include "sim/workload/workload.h"

typedef int split_build_fn(void *arg, const struct workload_spec *w, struct arena *a, struct op_stream *out,
                           struct err *e);

/* A model's, of any spec; `machine`: a struct machine_cfg. */
split_build_fn split_build;
/* Whether any of them is to be found. */
bool split_asked(const struct workload_spec *s);
/* The spec without what is to be found: as many as the chips that a person meant by nothing. */
struct workload_spec split_without(const struct workload_spec *s);
/* Fills those of *s, in texts of `a`; *tried: how many could run. */
int split_best(struct workload_spec *s, const struct machine_conf *c, const struct run_opts *how, split_build_fn *build,
               void *arg, struct arena *a, uint32_t *tried, struct err *e);
/* The same of a model's spec that asks for it; of any other nothing. */
int split_settle(struct workload_spec *s, const struct machine_conf *c, const struct run_opts *how, struct arena *a,
                 uint32_t *tried, struct err *e);

#endif
