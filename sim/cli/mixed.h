/* mixed.h - the workloads of a mix, read: their streams, and what is stored of them together. */
#ifndef NPUSIM_SIM_CLI_MIXED_H
#define NPUSIM_SIM_CLI_MIXED_H

#include "results/db/res.h"
#include "sim/cli/cmd.h"
#include "sim/study/sweep.h"

struct mixed {
	struct arena *a;
	struct workload *w; /* n of them */
	struct sweep_part *parts;
	size_t n;
	struct res_workload workload; /* of all: what they are called, and their digests as one */
};
/* `machine` NULL: an NPU's. mixed_free also after a failure. */
int mixed_read(const struct mix *m, const struct machine_cfg *machine, bool allow_opaque, struct mixed *out,
               struct err *e);
void mixed_free(struct mixed *x);

#endif
