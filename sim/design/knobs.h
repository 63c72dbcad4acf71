/* knobs.h - what raises the rate that a server keeps (sim/serve/capacity.h): twice as much of each big resource of its machine, by the
 * list of the machine's kind (design_doubles) and its memory's size, and of each limit of its policy; the rate is found again for each.
 * Of two pools each machine's by itself ("decode:dram.channels"), and the rate of what is between them.
 *
 * Leaves out: less of anything, formats, pairs, what a doubling costs. */
#ifndef NPUSIM_SIM_DESIGN_KNOBS_H
#define NPUSIM_SIM_DESIGN_KNOBS_H

#include "sim/base/arena.h"
#include "sim/serve/capacity.h"

struct knob {
	const char *key, *now, *then; /* as a user writes them */
	double rate;                  /* requests/s */
	enum capacity_limit held;     /* what holds it then */
	const char *refused;          /* why there is no such machine, or it cannot serve; NULL: there is */
};

/* `r` is loaded and `base` what was found for it. The greatest rate first; all lives in `a`. `progress` may be NULL. */
int knobs_try(const struct serve_run *r, const struct capacity *base, void (*progress)(void *arg, size_t done),
              void *arg, struct arena *a, struct knob **out, size_t *n, struct err *e);

#endif
