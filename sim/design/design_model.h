/* design_model.h - what a figure of a design is likely to be, by those that were run: a Gaussian process over the axes.
 *
 * Places lie between 0 and 1 in each axis; axes without an order (`apart`) are 0 apart or 1. The kernel is a constant, a linear
 * part of each axis, and a rational quadratic of the distance, whose scale in each axis is found by leaving one out
 * (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, 4.2 and 5.4.2), and so is how sure the model is. The
 * figure is brought to mean 0 and deviation 1 first.
 * Leaves out: noise, as runs have none; more than DESIGN_MODEL_MOST rows, of which the caller takes the nearest. */
#ifndef NPUSIM_SIM_DESIGN_DESIGN_MODEL_H
#define NPUSIM_SIM_DESIGN_DESIGN_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"

#define DESIGN_MODEL_MOST 160

struct design_model {
	size_t n, dims, cap;
	const bool *apart;
	double *scale;          /* by axis; kept from fit to fit */
	const double *const *x; /* n places */
	double *lower, *weight; /* Cholesky factor of the kernel; its inverse times the figures */
	double *inverse, *work;
	double mean, deviation;
	double off; /* of those left out: how many deviations they were off, the root of the mean square */
};

struct design_model *design_model_new(size_t dims, const bool *apart, struct arena *a, struct err *e);
/* `search`: find the scales anew. Places must live until the next fit. */
void design_model_fit(struct design_model *m, const double *const *x, const double *y, size_t n, bool search);
/* Mean and deviation at a place. */
void design_model_at(struct design_model *m, const double *x, double *mean, double *deviation);
/* How alike two places are for the model, 0 to 1. */
double design_model_alike(const struct design_model *m, const double *x, const double *y);

#endif
