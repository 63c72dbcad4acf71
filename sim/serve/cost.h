/* cost.h - what a step takes, from few steps that are simulated: a memory by signature, and what lies between its entries.
 *
 * A step is B sequences that decode behind C tokens in the mean, and pieces of prompts of P tokens together. Said exactly that is
 * nearly always another step, so grid points are simulated, each once, and steps between them are read off lines:
 *
 *   time = D(B, C) + M(B, P) - A(P, 0) + the sum of A(p, c) over the pieces
 *     D    the decode step alone: four points around it, batches at quarters of each power of two, contexts at powers of two from 128 on, and 0
 *     M    what P tokens of a new prompt add to it, at COST_CONTEXT tokens of context: batches at powers of two, P at halves of each
 *     A    attention of p tokens of a prompt behind c others, of that prompt alone
 * Where one call has attention of prompts and of what decodes (cost_mixed), the latter takes longer by its context: M is of the
 * contexts around the true one, as D is.
 *
 * The mean context has the bytes and operations of the true ones, as attention to a cache is linear in it. Not in it: the
 * longest sequence among many; that machines take odd numbers of rows worse than round ones; that a step's parts may be more, or less, than their
 * sum. How far that is off is measured, not promised: cost_exact simulates the step as it is. On dsocr with llama-3.1-8b steps that only decode are
 * 0.06 % off in the mean and 0.3 % at most, those with prompts, a few in a hundred, 1 to 4 % and 11 %.
 * Who simulates gets all points that are missing at a time, and may do so side by side. Arithmetic is of integers, so results do not depend on
 * who does. Energy goes the same way as time. */
#ifndef NPUSIM_SIM_SERVE_COST_H
#define NPUSIM_SIM_SERVE_COST_H

#include "sim/serve/sched.h"

#define COST_CONTEXT 1024

/* A step to be simulated. */
struct cost_point {
	uint32_t seqs, queries; /* that decode; new tokens of each */
	uint64_t context;
	const struct sched_piece *pieces;
	uint32_t n_pieces;
};
struct cost_seen {
	ps_t time, attention; /* of the step; of that, attention of its prompts */
	uint64_t energy_fj, attention_fj;
};
typedef int cost_simulate_fn(void *ctx, const struct cost_point *p, size_t n, struct cost_seen *out, struct err *e);

struct cost_table;
/* `queries`: of each sequence that decodes. */
struct cost_table *cost_new(uint32_t queries, bool exact, cost_simulate_fn *simulate, void *ctx, struct err *e);
void cost_mixed(struct cost_table *t);
void cost_free(struct cost_table *t);
int cost_of(struct cost_table *t, const struct sched_step *s, struct sched_cost *out, struct err *e);
struct cost_point cost_point_of(const struct cost_table *t, const struct sched_step *s);
/* The step as it is, whatever the table reads off lines. */
int cost_exact(struct cost_table *t, const struct sched_step *s, struct sched_cost *out, struct err *e);
size_t cost_simulated(const struct cost_table *t); /* points so far */

#endif
