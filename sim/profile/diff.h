/* diff.h - two traces' kernels and families of kernels, paired by name: what got slower. */
#ifndef NPUSIM_SIM_PROFILE_DIFF_H
#define NPUSIM_SIM_PROFILE_DIFF_H

#include "sim/profile/classify.h"

/* A name or family in both, or in one of them (count 0 in the other). */
struct diff_pair {
	const char *name, *friendly;
	uint64_t count[2], ns[2];
};
struct diff_pairs {
	struct diff_pair *v;
	size_t n;
};

/* What lost most time first, what won most last. Names live as long as the classifications; diff_free whether it fails or not. */
struct diff {
	struct diff_pairs kernels, families;
};
int diff_of(const struct classify *a, const struct classify *b, struct diff *out, struct err *e);
void diff_free(struct diff *x);
double diff_ns(const struct diff_pair *p); /* of B less those of A */

#endif
