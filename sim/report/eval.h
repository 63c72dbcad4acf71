/* eval.h - one evaluation: a workload on a machine, and all that is said of the run. What npusim run shows and what the library
 * answers come from here. */
#ifndef NPUSIM_SIM_REPORT_EVAL_H
#define NPUSIM_SIM_REPORT_EVAL_H

#include "sim/report/baseline.h"
#include "sim/report/run.h"
#include "sim/report/run_verdict.h"

/* What is evaluated; all of it outlives what comes of it. */
struct eval_job {
	struct machine_base
		*machines; /* the machine, for others that differ in a value; NULL: none is asked what to buy */
	const struct machine_conf *conf; /* of them, as they are */
	const struct workload *w;
	struct run_opts how; /* its program is the workload's */
};

struct eval {
	struct run_result result;
	struct diag_list diags;
	struct verdict verdict;
	struct run_report report; /* of all of these */
};

/* Can this machine do what is asked? `config` is what people call it. */
int eval_check(const struct machine_conf *conf, const char *config, const struct workload_spec *s, struct err *e);
/* The same of a workload that was read. */
int eval_check_work(const struct machine_conf *conf, const struct workload *w, struct err *e);
/* Of a workload that was read: is too much of its measured time in kernels that no rule knows? */
int eval_check_opaque(const struct workload *w, bool allowed, struct err *e);
/* The run: x->result, x->diags and a report without verdict, which point into `a`, the job and `x`. */
int eval_run(const struct eval_job *j, struct arena *a, struct eval *x, struct err *e);
/* What is said first of it, and against what; a run is one without it, too. */
void eval_verdict(const struct eval_job *j, const struct baseline *b, struct arena *a, struct eval *x);

#endif
