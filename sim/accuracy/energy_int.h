/* energy_int.h - what the files of the energy tables share. */
#ifndef NPUSIM_SIM_ACCURACY_ENERGY_INT_H
#define NPUSIM_SIM_ACCURACY_ENERGY_INT_H

#include "sim/accuracy/energy.h"

/* An op of which only shape and residency are known: the launches a library would make of it, counted. `work` and `kernels`
 * are added to. */
struct energy_count {
	const struct gpu *g;
	const struct kernels *k;
	const struct op_stream *s;
	const struct op *op;
	struct gpu_mem mem;
	bool live;
	struct gpu_activity work;
	uint32_t kernels;
};

/* A step of a model by the table's short name or ours: its launches counted and timed at the case's clock. 0: counted, 1: no
 * such model is described, -1. The arena must outlive the case. */
struct energy_step {
	const char *model;
	uint64_t batch, context;
	bool live;
};
int energy_step(const struct machine_cfg *m, const struct kernels *k, const struct energy_step *s,
                struct gpu_traffic *t, struct arena *a, struct energy_case *c, struct err *e);

/* False: no kernel is known for such an op. */
bool energy_count_op(struct energy_count *c);

#endif
