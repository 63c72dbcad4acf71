/* probe_forced.h - the closed form beside events where nobody chose: random products on shipped machines of random numbers of
 * cores and networks, each by a random mapping that is forced on it (mapping.* of a machine's file).
 *
 * A mapping that the mapper chooses is one at which the closed form is likely to be right, since it chose it. These are not:
 * tiles of 1 to 64 parts of each dimension, 4,096 at most, either order of the loops, any operands that stay. Unit and cut over cores are the
 * mapper's own. What does not fit the machine is drawn anew. The same seed gives the same on every host. */
#ifndef NPUSIM_SIM_ACCURACY_PROBE_FORCED_H
#define NPUSIM_SIM_ACCURACY_PROBE_FORCED_H

#include "sim/base/arena.h"
#include "sim/engine/run_result.h"

#define PROBE_FORCED_SETS 7 /* cores, network, loops, three tiles, what stays */

struct probe_forced {
	const char *config, *machine; /* the file; "dsocr" */
	const char *sets[PROBE_FORCED_SETS];
	uint64_t m, n, k;
	const char *dtype, *weights; /* weights "": as dtype */
	enum run_start start;
	ps_t form, event;
};

/* `progress` may be NULL. */
int probe_forced(uint64_t seed, size_t n, struct arena *a, struct probe_forced *out,
                 void (*progress)(void *arg, size_t done), void *arg, struct err *e);

#endif
