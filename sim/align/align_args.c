/* align_args.c - operators for launches that had none, as a profiler would have recorded them. */
#include "sim/align/align_int.h"

static const char *framework_name(enum dtype d)
{
	switch (d) {
	case DT_BF16:
		return "c10::BFloat16";
	case DT_FP16:
		return "c10::Half";
	case DT_FP8:
		return "c10::Float8_e4m3fn";
	case DT_FP4:
		return "c10::Float4_e2m1fn";
	case DT_INT4:
		return "c10::quint4";
	case DT_INT64:
		return "long int";
	case DT_INT32:
		return "int";
	case DT_INT8:
		return "signed char";
	case DT_BOOL:
		return "bool";
	case DT_FP64:
		return "double";
	default:
		return "float";
	}
}

int align_op(struct align *al, const char *name, struct putting *p)
{
	p->op = arena_alloc(al->a, sizeof *p->op);
	p->args = arena_array(al->a, TRACE_MAX_ARGS, sizeof *p->args);
	p->n = 0;
	if (!p->op || !p->args)
		return err_nomem(al->e, "for an alignment");
	/* Ids below those of a database, so that no operator that is there is taken for one of these. */
	*p->op = (struct trace_op){
		.id = -2 - (int64_t)al->next_op++, .parent = -1, .name = name, .sequence = -1, .args = p->args
	};
	return 0;
}

void align_packed(int32_t ndims, const uint64_t *dims, uint64_t *strides)
{
	uint64_t n = 1;

	for (int32_t i = ndims - 1; i >= 0; i--) {
		strides[i] = n;
		n *= dims[i] ? dims[i] : 1;
	}
}

void align_tensor(struct putting *p, int32_t pos, enum dtype d, int32_t ndims, const uint64_t *dims)
{
	uint64_t strides[TRACE_MAX_DIMS];

	align_packed(ndims, dims, strides);
	align_strided(p, pos, d, ndims, dims, strides);
}

void align_strided(struct putting *p, int32_t pos, enum dtype d, int32_t ndims, const uint64_t *dims,
                   const uint64_t *strides)
{
	struct trace_arg *a = &p->args[p->n];

	if (p->n == TRACE_MAX_ARGS)
		return;
	*a = (struct trace_arg){ .dtype = framework_name(d), .scalar = "", .ndims = ndims, .list = -1, .pos = pos };
	for (int32_t i = 0; i < ndims; i++) {
		a->dims[i] = (int64_t)dims[i];
		a->strides[i] = (int64_t)strides[i];
	}
	p->op->n_args = ++p->n;
}

void align_scalar(struct putting *p, int32_t pos, const char *text)
{
	if (p->n == TRACE_MAX_ARGS)
		return;
	p->args[p->n] = (struct trace_arg){ .dtype = "Scalar", .scalar = text, .ndims = -1, .list = -1, .pos = pos };
	p->op->n_args = ++p->n;
}
