/* energy_int.h - what the files of the energy tables share. */
#ifndef NPUSIM_VALIDATE_SCORE_ENERGY_INT_H
#define NPUSIM_VALIDATE_SCORE_ENERGY_INT_H

#include "validate/score/energy.h"

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

/* False: no kernel is known for such an op. */
bool energy_count_op(struct energy_count *c);

#endif
