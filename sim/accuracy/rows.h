/* rows.h - a table of ops held against an engine: each row alone, with nothing around it, against its measured time.
 *
 * Cold: operands in DRAM. Resident: on chip before the row begins, as far as they fit. Beside each stands the run's
 * roofline, which knows of no mapping: an engine that is further off than it says nothing.
 * A sample's class is its kind of op; its group the number of rows of a product (score's SCORE_GROUP), "" for other kinds.
 * Split: a hash of op, formats and sizes, as cases.h has it of kind and shape. Rows without a measured time are counted.
 * Leaves out: what a row finds on chip of the row before it (npusim run has that). */
#ifndef NPUSIM_SIM_ACCURACY_ROWS_H
#define NPUSIM_SIM_ACCURACY_ROWS_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/cases.h"
#include "sim/accuracy/energy.h"
#include "sim/engine/run_result.h"

/* Samples alone: `v` and `n` are all that is filled of these. */
struct rows_set {
	struct cases all, products; /* products: those of `all` that are one */
};

struct rows {
	struct rows_set sim, roof;    /* in the same order */
	const struct op_stream **one; /* of sim.all and roof.all: each row alone */
	size_t unmeasured;
	struct energy_cases energy; /* rows with a measured energy, on a machine whose power is modelled (energy.h) */
};

/* The samples of `split` of each stream are added. Rooms for `most` in all;
 * the arena must outlive them. */
int rows_new(struct rows *r, size_t most, struct arena *a, struct err *e);
int rows_add(struct rows *r, const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *how,
             enum sample_split split, struct arena *a, struct err *e);
/* The same of blocks, each one program: its class is the block's kind, its group the number of rows. Those alone. */
struct block_row;
int rows_add_blocks(struct rows *r, const struct block_row *b, size_t n, const struct machine_conf *conf,
                    const struct run_opts *how, enum sample_split split, struct err *e);
/* Sample `i` once more, on a machine that may have changed since: its simulated time alone. */
int rows_again(struct rows *r, size_t i, const struct machine_conf *conf, const struct run_opts *how, struct err *e);
/* So many of `n` rows, as evenly over measured times as there are rows: the middles of as many equal parts. `taken` gets their
 * places, from the shortest on; of equal ones that before which stands first. want <= n. */
int rows_evenly(const uint64_t *measured_ns, size_t n, size_t want, size_t *taken, struct err *e);
/* Is a library's kernel for every op of the stream known to a GPU's model? The error names the first that has none. */
int rows_have_kernels(const struct op_stream *s, const struct machine_conf *conf, struct err *e);

#endif
