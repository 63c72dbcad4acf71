/* synth.h - op streams and machines made up for tests: random, small, valid. */
#ifndef NPUSIM_TESTS_SYNTH_H
#define NPUSIM_TESTS_SYNTH_H

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/engine/machine.h"
#include "workloads/op.h"

/* A decode step of a made-up transformer: `layers` layers with norms, products, KV concat, attention, and experts with a
 * host decision when `experts` > 0. All of it in `a`. */
struct op_stream *synth_step(struct rng *r, struct arena *a, int layers, bool experts);
/* One product: m rows of k times a k x n weight. */
struct op_stream *synth_product(struct arena *a, uint64_t m, uint64_t n, uint64_t k);
/* Several of as many columns each, of the same rows, or of a chain each of what the one before makes (then n[i] is k). */
struct op_stream *synth_products(struct arena *a, uint64_t m, uint64_t k, const uint64_t *n, uint32_t count,
                                 bool chain);
/* A single op of random sizes: mostly a product, else attention of one query, a row operation, a map. */
struct op_stream *synth_op(struct rng *r, struct arena *a);
/* A size: at least `least`, evenly over so many doublings of it, and any number in each. */
uint64_t synth_size(struct rng *r, uint64_t least, int doublings);
/* YAML of a random machine that can run it. */
void synth_machine(struct rng *r, struct str *yaml);

#endif
