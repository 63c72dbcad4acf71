/* raise.h - what raises the rate that a server of several machines keeps (capacity.h), and so which pool holds it: one machine more in a
 * pool or in both, or links twice as fast, each alone, over the list that the rate was found for. */
#ifndef NPUSIM_SIM_SERVE_RAISE_H
#define NPUSIM_SIM_SERVE_RAISE_H

#include "sim/serve/capacity.h"

enum raise_by { RAISE_FIRST, RAISE_DECODE, RAISE_BOTH, RAISE_LINKS, RAISES };

struct raise {
	double rate[RAISES]; /* requests/s; NaN: there is no such */
};

/* `found` is r's; its list is left as it is. */
int raise_rates(struct serve_run *r, const struct capacity *found, struct raise *out, struct err *e);
/* What holds it: that which raises it most, both pools where neither does alone; RAISES: nothing does by half a percent. */
enum raise_by raise_held_by(const struct raise *x, const struct capacity *found);

#endif
