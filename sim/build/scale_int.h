/* scale_int.h - a step while it is brought to another batch and context; for the scale*.c. */
#ifndef NPUSIM_SIM_BUILD_SCALE_INT_H
#define NPUSIM_SIM_BUILD_SCALE_INT_H

#include "sim/build/build_int.h"
#include "sim/build/scale.h"

/* How much of something there is, over how much there was. */
struct scale_ratio {
	uint64_t to, was;
};

/* How an op follows: mostly its rows and elements do, with the batch. */
struct scale_op {
	struct scale_ratio by;
	bool cols; /* its columns do: all picks of a step are one row */
};

struct scaling {
	const struct op_stream *from;
	struct op_stream *s;
	struct arena *a;
	struct scale_step was, to;
	uint64_t *row;                 /* by tensor: bytes of a token of one sequence; 0: no cache */
	struct scale_ratio *of_tensor; /* activations and indices */
	struct scale_op *of_op;
	bool *final; /* by operand: it is as it has to be */
	bool bad;    /* something does not divide by the old batch, or is too large */
};

static inline bool scale_stays(struct scale_ratio r)
{
	return r.to == r.was;
}

/* scale_experts.c: x->from becomes a step with as many experts' ops as the new batch picks, each as large as before, and
 * x->of_tensor, x->of_op and x->final say what of it follows their rows. Before the tables are copied. */
int scale_experts(struct scaling *x, struct err *e);

/* Shapes and operands are scaled; launches are still the old ones. */
void scale_launches(struct scaling *x);

#endif
