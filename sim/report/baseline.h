/* baseline.h - what an answer is set beside: the GPU that was traced as its configuration describes it, the table of kernels, and
 * what validation found of that model. Read once for all that is said of a run. */
#ifndef NPUSIM_SIM_REPORT_BASELINE_H
#define NPUSIM_SIM_REPORT_BASELINE_H

#include "sim/accuracy/interval.h"
#include "sim/engine/gpu_baseline.h"
#include "traces/trace.h"

struct baseline {
	const struct source *source;
	struct arena *arena;
	struct kernels *kernels;
	struct machine_conf *held; /* the GPU that was held against measurements */
	struct machine_conf *gpu;  /* the one that was traced, or `held` where nothing was; NULL: none describes it */
	char device[64];           /* as people call it: "H200", "RTX 5090"; "": nothing was traced */
	bool known;                /* there is an accuracy file: */
	bool same_model;           /* of this build */
	struct accuracy accuracy;
	bool has_interval; /* there are intervals: */
	struct interval interval;
};

/* `t` NULL: nothing was traced. What cannot be read is absent; NULL only without memory. */
struct baseline *baseline_new(const struct source *from, const struct trace *t);
void baseline_free(struct baseline *b);

#endif
