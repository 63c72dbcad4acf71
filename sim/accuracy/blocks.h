/* blocks.h - tables of whole blocks of a model, measured as one program each: read, and as streams of ops to run.
 *
 * CSV whose header begins with `block,`: block,name,rows,hidden,inter,measured_us in any order behind it. `block` is
 *     ffn_gated   up and gate products (rows x hidden to inter), activation of the gate times up, down (inter to hidden)
 *     ffn_erf     up, activation, down
 * Values are bf16. A compiler joins what is done element by element to the product before it: the gate's product reads what
 * up made and writes what down reads; its vector steps go beside the arrays' and are not counted.
 * A fault is one line with file, line and what is wrong. Leaves out: biases, norms, residuals. */
#ifndef NPUSIM_SIM_ACCURACY_BLOCKS_H
#define NPUSIM_SIM_ACCURACY_BLOCKS_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/op.h"

struct block_row {
	const char *kind; /* "ffn_gated" */
	const char *name;
	uint64_t rows, hidden, inter;
	uint64_t measured_ns; /* 0: not told */
	struct op_stream stream;
};

/* Is the file such a table, by its header? -1: it cannot be read. */
int blocks_file(const char *path, struct err *e);
int blocks_read(const char *path, struct arena *a, struct block_row **out, size_t *n, struct err *e);

#endif
