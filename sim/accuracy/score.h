/* score.h - how far simulated times lie from measured ones, per class and over all.
 *
 * Absolute percentage errors (of the measured time): mean, median, 90th percentile; bias: mean signed error; weighted:
 * sum of absolute errors over the sum of measured times. Percent. */
#ifndef NPUSIM_SIM_ACCURACY_SCORE_H
#define NPUSIM_SIM_ACCURACY_SCORE_H

#include "sim/accuracy/cases.h"
#include "sim/base/arena.h"

struct score {
	const char *cls; /* NULL: all */
	size_t n;
	double mape, median_ape, p90_ape, bias, weighted_ape;
	double spread; /* half range of the repetitions over their median, median of the samples; -1: no reps */
	double measured_us, simulated_us;
};

/* Of one sample, signed. */
double sample_error(const struct sample *x);

/* By what samples are put together. */
enum score_by { SCORE_ALL, SCORE_CLASS, SCORE_GROUP, SCORE_SIZE, SCORE_BOUND };

/* Scores of a split's samples, in order of first appearance; SCORE_SIZE by decade of measured time. Returns how many, or -1. */
int score_samples(const struct cases *sets, size_t n_sets, enum sample_split split, enum score_by by, struct arena *a,
                  struct score **out, struct err *e);
/* ERR_BOUND where there is none, or their mean error is more than `most` percent; < 0: any will do. */
int score_check(const struct cases *sets, size_t n_sets, enum sample_split split, double most, struct err *e);

#endif
