/* hist.h - how a metric is distributed over the kernels of a trace.
 *
 * Percentages have twenty bins of 5 from 0 to 100 (100 is in the last, and so is what is above); durations and bytes a
 * second have bins by 1, 1.5, 2, 3, 5, 7, 10 ... from the one that holds the least to the one that holds the most. Each
 * launch counts once; of an aggregated profile all launches of a name have its mean. */
#ifndef NPUSIM_SIM_PROFILE_HIST_H
#define NPUSIM_SIM_PROFILE_HIST_H

#include "sim/profile/bound.h"

#define HIST_BINS 96

struct hist {
	enum counter metric;
	bool log;            /* bins by ratio */
	uint64_t n, counted; /* launches that have it; of them by counters */
	double min, median, mean, p90, max;
	int n_bins;
	double from[HIST_BINS], to[HIST_BINS];
	uint64_t count[HIST_BINS];
};

/* n is 0 where no launch has the metric. */
int hist_of(const struct bound *b, enum counter metric, struct hist *h, struct err *e);

#endif
