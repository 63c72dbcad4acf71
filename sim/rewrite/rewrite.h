/* rewrite.h - an op stream as another program would have computed the same: a table of rewrites.
 *
 * A measured step does what its framework did that day: it copies a cache to add a row, and casts up and down around
 * every norm. A rewrite states one such habit and takes it out, op by op, so that its cost can be told apart from what
 * the model needs. What is computed stays: same products, same attention, same order. Each rewrite is a file and a row
 * of rewrite_table; its file says what it changes and what it leaves.
 * Ops that go leave their launches, and the time they were measured at, to the op behind them: what was measured stays
 * whole, and stands beside what is simulated. Launches are no longer those of their ops, so a GPU's model cannot run them.
 * Invariants: I1 the stream's measured times are as before; I2 every byte that is gone is in rewrite_done, exactly;
 * I3 the result is a stream as lowering promises it (sim/lower/lower.h). */
#ifndef NPUSIM_SIM_REWRITE_REWRITE_H
#define NPUSIM_SIM_REWRITE_REWRITE_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/op.h"

#define REWRITES_MAX 8

struct rewriting; /* rewrite_int.h */

struct rewrite {
	const char *name;
	const char *what; /* it does, for people */
	const char *none; /* what a stream has to have for it, where it finds nothing */
	int (*apply)(struct rewriting *w, struct err *e);
	enum dtype narrow; /* of the casts' */
};

extern const struct rewrite rewrite_table[];
extern const size_t rewrites;

/* What one did. Bytes are those that all ops of the stream read and write (workloads/work.h). */
struct rewrite_done {
	const struct rewrite *how;
	size_t changed, removed; /* ops; none of either: it found nothing */
	size_t kept;             /* casts that cannot go: they copy now, in the narrow format */
	uint64_t read_before, read_after, write_before, write_after;
};

/* In the order in which they are done. */
struct rewrite_list {
	const struct rewrite *v[REWRITES_MAX];
	size_t n;
};

/* "kv-append,native-bf16"; -1: a name that is in no row, with the nearest one, or a name twice. */
int rewrite_parse(const char *names, struct rewrite_list *out, struct err *e);
/* The names of the table, with ", " between. */
void rewrite_names(char *buf, size_t size);

/* The tables of `out` live in `a`, names in `from` too. `done` has a row a rewrite. */
int rewrite_stream(const struct op_stream *from, const struct rewrite_list *l, struct arena *a, struct op_stream *out,
                   struct rewrite_done done[REWRITES_MAX], struct err *e);

/* "kv-append (24 ops), native-bf16 (nothing)": for what the stream is called. NULL: no memory. */
const char *rewrite_text(const struct rewrite_list *l, const struct rewrite_done *done, struct arena *a);

#endif
