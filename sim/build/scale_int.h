/* scale_int.h - a step while it is brought to another batch and context; for scale.c and scale_launch.c. */
#ifndef NPUSIM_SIM_BUILD_SCALE_INT_H
#define NPUSIM_SIM_BUILD_SCALE_INT_H

#include "sim/build/build_int.h"
#include "sim/build/scale.h"

struct scaling {
	const struct op_stream *from;
	struct op_stream *s;
	struct arena *a;
	struct scale_step was, to;
	uint64_t *row; /* by tensor: bytes of a token of one sequence; 0: no cache */
	bool bad;      /* something does not divide by the old batch, or is too large */
};

/* Shapes and operands are scaled; launches are still the old ones. */
void scale_launches(struct scaling *x);

#endif
