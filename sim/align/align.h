/* align.h - kernels without operators laid over a model: from a graph's launches to a trace that can be lowered.
 *
 * A replayed CUDA graph, and a served model, are names and grids in the order of their launches; no operator says what
 * was computed. The model does. So each launch is given the operator that made it, with dtypes and dims, as if the
 * framework had told it, and sim/lower makes ops of it as of any other trace. Nothing is added to what was launched: ops
 * that stock code has and no stream of ours (norms and rotary products written out, masks, copies of the cache for each
 * query's head) stay as they are, which is why a graph and the eager step beside it come to the same figures. A stream of
 * sim/build with the measured times tied to it would be another program than the one that was measured.
 *
 * How:
 *  1. Products, attention and a mixture's grouped products are anchors: rules (configs/rules) tell them by name, and the
 *     model says in which order they stand. The cheapest way to lay one over the other is found by dynamic programming over the places of a step, which
 *     repeats; joined products (q, k and v; gate and up) and attention written as two products are tried, too. A product's
 *     tiles, where its name has them, must make up its grid (align_lay.c).
 *  2. How many sequences there are, and how long the cache is, is read from grids that cannot be otherwise (align_size.c).
 *     A length that no grid shows is told by whoever runs it, or found from attention's time, and marked so.
 *  3. Between anchors each kernel's name says function and dtypes, and its grid says within which bounds its results
 *     lie. It works on the newest value of that type and size, of those the kernels before it made; else on one of the
 *     model's own sizes. What fits none has the size of its grid, and does not count as aligned (align_val.c).
 *
 * Engines' own kernels (norms with a sum, rotary, cache writes, gated activations, what inductor fused) are sized by where
 * they stand: behind which product, and before which. Between a router and the sum over picked experts rows are picks
 * (align_experts.c); which expert has which is left to the lowering.
 *
 * Leaves out: latent and linear attention, blocks beside picked experts (refused); experts one after the other; prompts; whether one kernel of equal size and function
 * reads this value or that: the lowering looks for that itself. */
#ifndef NPUSIM_SIM_ALIGN_ALIGN_H
#define NPUSIM_SIM_ALIGN_ALIGN_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/str.h"
#include "traces/trace.h"
#include "workloads/model/model.h"
#include "workloads/rules.h"

#define ALIGN_LEAST_PCT  95 /* of the launches, of their time, and of the places of the model's steps */
#define ALIGN_TILES_PCT  75 /* of the products whose name has tiles, so many must make up their grid */
#define ALIGN_MISSES     6
#define ALIGN_MOST_BATCH 65536
#define ALIGN_MOST_KEYS  (1 << 24)

/* How a number is known. */
enum align_known { ALIGN_TOLD, ALIGN_BY_GRID, ALIGN_BY_TIME };

struct align_miss {
	const char *name, *why;
	uint64_t count, ns;
};

struct align_report {
	const char *model;
	uint64_t launches, ns;           /* that had no operator */
	uint64_t aligned, aligned_ns;    /* that have one of the model's sizes */
	uint64_t products, empty_places; /* launches that stand at a place of the model's steps; places without one */
	uint64_t logits_agree, logits_differ; /* kernels behind the head: of the vocabulary's size, of another */
	uint64_t steps, batch, keys;          /* keys: that each query looks at, in layers that see all */
	enum align_known batch_known, keys_known;
	bool keys_open; /* what was asked for cannot be: no grid tells the cache's length, and nobody else did */
	uint64_t keys_low, keys_high; /* where a grid or the time leaves room */
	uint32_t tiles;   /* of products whose names have tiles, those that make up their grid; thousandths */
	const char *form; /* which products are one */
	struct align_miss miss[ALIGN_MISSES];
	uint32_t n_miss; /* the longest; n_missed: all kinds of them */
	uint64_t n_missed;
};

struct align_how {
	uint64_t batch, context; /* 0: find them */
	bool timed;              /* the context was found from attention's time */
};

/* The share of its time for which the trace has no operator with dims, thousandths. */
uint32_t align_wanted(const struct trace *t);
/* Gives the launches without operators theirs. 0, also where too little is aligned: ask align_enough. -1: it cannot be
 * tried (what the model is, what is missing). Everything lives in `a`. */
int align_trace(struct trace *t, const struct model *m, const struct align_how *h, struct rules *r, struct arena *a,
                struct align_report *out, struct err *e);
bool align_enough(const struct align_report *r);
/* What of it is aligned at the least, of launches, time and places; thousandths. */
uint32_t align_share(const struct align_report *r);

/* Models that fit, best first. */
#define ALIGN_FITS 4
struct align_fit {
	char model[64];
	uint32_t share, tiles; /* thousandths: see align_share; products whose tiles make up their grid */
	uint64_t batch, keys;  /* keys 0: no grid tells */
};
/* "8 sequences, 512 keys by their grids"; what did not fit, the longest first, `between` two of them. */
void align_number_text(const struct align_report *r, struct str *s);
void align_misses_text(const struct align_report *r, uint32_t most, const char *between, struct str *s);
/* Of the models of `from`. */
int align_propose(const struct source *from, const struct trace *t, struct rules *r, struct align_fit fits[ALIGN_FITS],
                  uint32_t *n, struct err *e);

#endif
