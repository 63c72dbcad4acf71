/* limits.h - what a little more of each resource would buy, on one design and one workload.
 *
 * Every parameter that has a better direction is moved by the smallest step that is at least the asked fraction (10 %:
 * a clock by a tenth, four units to five, a power of two to the next), alone, and the workload is run again. The gain
 * is stated for the step as taken and per `fraction`, so that a doubling and a tenth can be compared.
 * Leaves out: combinations (two parameters may only pay together), cost. */
#ifndef NPUSIM_SIM_SWEEP_LIMITS_H
#define NPUSIM_SIM_SWEEP_LIMITS_H

#include "arch/machine/machine_conf.h"
#include "sim/base/arena.h"
#include "sim/engine/run.h"

struct limits_row {
	const char *key;
	const char *now, *then; /* values as a user writes them */
	double step;            /* how much more: 0.25 is a quarter */
	ps_t total_ps;
	const char *refused; /* why the machine cannot be built so; NULL: it was run */
};

struct limits_result {
	ps_t base_ps;
	enum res bound;
	struct limits_row *rows;
	size_t n;
};

/* One design, one workload, and how far each parameter is moved. */
struct limits_question {
	const char *config;
	const char *const *sets; /* KEY=VALUE, over the configuration */
	int n_sets;
	const struct op_stream *stream;
	struct run_opts run;
	uint32_t step_ppm;
	void (*progress)(void *arg, size_t done, size_t of); /* may be NULL */
	void *arg;
};

/* Rows come with the greatest gain per step first. */
int limits_run(const struct limits_question *q, struct arena *a, struct limits_result *out, struct err *e);
/* What is gained by a row, as a fraction of the base's time, per `fraction_ppm` of the resource. */
double limits_gain(const struct limits_result *r, const struct limits_row *row, uint32_t fraction_ppm);

#endif
