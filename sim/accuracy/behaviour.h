/* behaviour.h - what the GPU model answers, as a table of launches and as a fingerprint of that table.
 *
 * Accuracy that was measured with one model of a GPU says nothing of another model (sim/accuracy/accuracy.h). So a build
 * carries a fingerprint: a hash over what this table's launches take, to the picosecond, and what they cost in energy.
 * A changed constant or rule changes an answer, and so the fingerprint. A comment or a refactoring does not.
 *
 * The table has three parts, all made by loops:
 *  - every template of the table of kernels, on shapes of its kind (behaviour_template.c);
 *  - products, attention and other ops that the libraries' rules lay out (behaviour_op.c);
 *  - committed traces through the lowering, the L2 and the host (behaviour_trace.c).
 * It is timed on an H200, and on the same parameters with the rules of each other generation, so that another device's
 * file changes nothing here.
 *
 * sim/fingerprint.c computes it when npusim is built; `npusim probe model` prints it by groups. */
#ifndef NPUSIM_SIM_ACCURACY_BEHAVIOUR_H
#define NPUSIM_SIM_ACCURACY_BEHAVIOUR_H

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"

/* Launches of one device and family. */
struct behaviour_group {
	const char *device, *family;
	uint64_t launches;
	ps_t total;
	uint64_t energy_fj; /* 0: the device has no model of its power */
	uint64_t hash;      /* over each launch's time and energy */
};

struct behaviour {
	struct behaviour_group *v;
	size_t n;
};

/* The table on one GPU; `config` NULL: on all devices of the fingerprint. All of it lives in `a`. */
int behaviour_make(const char *config, const char *const *sets, int n_sets, struct arena *a, struct behaviour *out,
                   struct err *e);
void behaviour_hash(const struct behaviour *b, char out[17]);

#endif
