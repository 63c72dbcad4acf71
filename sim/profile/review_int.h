/* review_int.h - names of a review's values, for sim/profile/review*.c only. */
#ifndef NPUSIM_SIM_PROFILE_REVIEW_INT_H
#define NPUSIM_SIM_PROFILE_REVIEW_INT_H

#include "sim/base/expr.h"
#include "sim/profile/review.h"

#define REVIEW_VALUES 512

/* Values by the number that expr.h gets for their names: they do not change, so they are worked out once. */
struct review_values {
	const struct review *s;
	double v[REVIEW_VALUES];
	int n;
};

expr_find_fn review_find; /* of a struct review_values */
expr_value_fn review_value;
int review_metric(const char *name); /* enum counter; -1: none of that name */

#endif
