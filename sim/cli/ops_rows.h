/* ops_rows.h - tables of ops and of blocks that commands hold a machine against: read, and each row run alone. */
#ifndef NPUSIM_SIM_CLI_OPS_ROWS_H
#define NPUSIM_SIM_CLI_OPS_ROWS_H

#include "sim/accuracy/rows.h"
#include "sim/cli/gpu.h"

struct ops_blocks {
	struct block_row *v;
	size_t n;
};

struct ops_rows {
	struct machine_conf *conf;
	const char *rules;
	struct workload *read;
	struct ops_blocks *blocks;
	size_t *ends; /* of each table that was read: samples of it and of those before it */
	size_t n, n_blocks;
	struct arena *arena;
	struct rows rows;
};

struct ops_rows_how {
	enum run_start start;
	enum run_fidelity fidelity;
	enum sample_split split;
	bool twin; /* an NPU against the ops of a GPU's profile, as a table of them */
};

/* Is the first of the traces such a table, or the machine an NPU, which is held against nothing else? */
int ops_rows_asked(const struct gpu_options *g, struct err *e);
/* Exit 1 where no row has a measured time. ops_rows_free in any case. */
int ops_rows_run(struct ops_rows *t, const struct gpu_options *g, const struct ops_rows_how *how, struct err *e);
void ops_rows_free(struct ops_rows *t);

#endif
