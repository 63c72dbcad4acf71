/* behaviour_int.h - what the parts of the table share. */
#ifndef NPUSIM_SIM_ACCURACY_BEHAVIOUR_INT_H
#define NPUSIM_SIM_ACCURACY_BEHAVIOUR_INT_H

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_cfg.h"
#include "sim/accuracy/behaviour.h"
#include "workloads/rules.h"

#define BEHAVIOUR_COUNT(a) (sizeof(a) / sizeof *(a))

/* One device's part of the table while it is made. */
struct behaviour_maker {
	const char *device;
	const struct machine_cfg *m;
	struct gpu g;
	const struct kernels *k;
	struct rules *rules;
	struct arena *a;
	struct behaviour *out;
};

/* One op with three operands: what its launches read, read besides, and write. */
struct behaviour_bed {
	struct op_stream stream;
	struct op op;
	struct op_tensor tensors[3];
	struct op_operand operands[3];
};

void behaviour_bed(struct behaviour_bed *b, enum op_kind kind, enum dtype d, const struct op_shape *shape);
/* What is added to a family: a launch, or a time alone. */
int behaviour_add(struct behaviour_maker *x, const char *family, const struct gpu_launch *l, struct err *e);
int behaviour_add_time(struct behaviour_maker *x, const char *family, ps_t t, uint64_t fj, struct err *e);
/* The launches of a bed's op, each with its operands in DRAM, in the L2, and partly in either. */
int behaviour_add_op(struct behaviour_maker *x, const char *family, const struct behaviour_bed *b,
                     const struct geometry *g, struct err *e);

int behaviour_templates(struct behaviour_maker *x, struct err *e);
int behaviour_ops(struct behaviour_maker *x, struct err *e);
int behaviour_traces(struct behaviour_maker *x, struct err *e);

#endif
