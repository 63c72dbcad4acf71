/* capacity.h - the largest rate of requests at which a server keeps what its users were promised.
 *
 * One list, faster or slower: the times between arrivals by one factor, prompts and outputs as they are. A rate is kept where the asked
 * share of the requests meets both limits (latency.h). The largest is found by halves of the ratio of a rate that is kept and one that
 * is not, until they are CAPACITY_APART apart, and so are those of either limit alone: the lower one binds. What steps take is kept
 * from rate to rate.
 * Lists end: the queue of a server that is a little too slow needs time to grow, so a longer list has a lower rate. One that is drawn
 * grows until its rate stays, unless its number was given; of CAPACITY_DRAWS such lists, by the seed and those after it, the one of the
 * median rate is the answer, and `low` to `high` are all of theirs.
 * Leaves out: that a rate above may be kept by chance; lists whose requests come all at once, which have no rate. */
#ifndef NPUSIM_SIM_SERVE_CAPACITY_H
#define NPUSIM_SIM_SERVE_CAPACITY_H

#include "sim/serve/serve.h"

#define CAPACITY_APART 1.002
#define CAPACITY_DRAWS 5
#define CAPACITY_MOST  1e6 /* requests/s: as good as all at once */

enum capacity_limit { CAPACITY_BOTH, CAPACITY_TTFT, CAPACITY_TPOT, CAPACITY_LIMITS };

struct capacity {
	double rate
		[CAPACITY_LIMITS]; /* requests/s; 0: none is kept; INFINITY: all are; of a limit that was not given, too */
	double low, high;          /* of both, over several draws; of a list that was read NAN */
	double above, kept[CAPACITY_LIMITS]; /* the next rate that was tried, and the shares that were kept there */
	uint64_t seed;                       /* of the draw that is told */
	size_t runs;
};

/* `r` is loaded and sized, with a limit at least; its arrivals are then those of the rate found (none: of the least that was tried).
 * `draws`: of lists, at most CAPACITY_DRAWS; 0: the list as it is; `near`: where to begin, 0: not known. */
int capacity_find(struct serve_run *r, unsigned draws, double near, struct capacity *out, struct err *e);
/* Where to begin for another server, whose rate is held against this one: at the rate that this one missed next, as shares are kept by
 * chance above it, too. 0: not known. */
double capacity_beside(const struct capacity *c);
/* The limit that a rate is held by; CAPACITY_BOTH: neither. */
enum capacity_limit capacity_held_by(const struct capacity *c);

#endif
