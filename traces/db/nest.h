/* nest.h - which op encloses which: the ops of one thread, given in order of start, and of equal starts the longest
 * first, as one stack of those still open. */
#ifndef NPUSIM_TRACES_DB_NEST_H
#define NPUSIM_TRACES_DB_NEST_H

#include <stdbool.h>
#include <stdint.h>

#define NEST_MAX 1024 /* deeper than any interpreter's stack; beyond it an op's children go to its parent */

struct nest {
	int64_t thread, start_ns, dur_ns; /* of the last op added */
	uint32_t n;
	struct nest_op {
		int64_t id, end;
	} open[NEST_MAX];
};

void nest_start(struct nest *k, int64_t thread);
/* True when an op may still be added in order. */
bool nest_in_order(const struct nest *k, int64_t start_ns, int64_t dur_ns);
/* Id of the innermost open op that contains all of this one; 0 none. */
int64_t nest_add(struct nest *k, int64_t id, int64_t start_ns, int64_t dur_ns);
/* Id of the innermost op that is open at this moment, which is not before the last op's start; 0 none. */
int64_t nest_at(struct nest *k, int64_t at_ns);

#endif
