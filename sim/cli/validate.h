/* validate.h - the parts of npusim validate. */
#ifndef NPUSIM_SIM_CLI_VALIDATE_H
#define NPUSIM_SIM_CLI_VALIDATE_H

#include "sim/cli/gpu.h"
#include "sim/engine/run_result.h"

/* An aggregated profile (nsys stats) of `steps` steps of the work in a trace, `range` of it, on the device to validate:
 * kernels are compared by family, since their order and launches are not in it. */
struct validate_profile {
	const char *path, *range;
	uint64_t steps;
	double most; /* percent off in all; < 0: any */
};

int validate_profile(const struct gpu_options *o, const struct validate_profile *p, struct doc *d, struct err *e);

/* Profiles and published tables, kernel by kernel. */
struct validate_gpu {
	enum sample_split split;
	const char *output; /* as of validate_ops */
	uint64_t worst;
	bool groups; /* by the kind of case, too */
	double most;
	const struct opt_list *energy; /* tables of a board's energy */
};

int validate_gpu(const struct gpu_options *g, const struct validate_gpu *o, struct doc *d, struct err *e);

/* Counters of the trace's kernels beside the model's; the `most` names that take longest. */
int validate_counters(const struct gpu_options *o, uint64_t most, struct doc *d, struct err *e);

/* Tables of ops, each row alone, on a machine of any kind. */
struct validate_ops {
	enum run_start start;
	enum run_fidelity fidelity;
	enum sample_split split;
	uint64_t worst;     /* rows to list */
	double most;        /* percent of mean error; < 0: any */
	const char *output; /* where errors are kept, for npusim run to tell; NULL: nowhere */
	bool twin;          /* a GPU's profile, op by op */
	uint64_t taken;     /* rows that were fitted, of all tables: they and the others apart; 0: nobody asks */
};

int validate_ops(const struct gpu_options *o, const struct validate_ops *how, struct doc *d, struct err *e);

/* Whole steps, simulated and measured (configs/accuracy/totals.csv), and such totals of an NPU, NULL: what was found of them stays; `output` NULL: no intervals are kept. */
int validate_totals(const char *path, const char *npu, const char *output, struct doc *d, struct err *e);

#endif
