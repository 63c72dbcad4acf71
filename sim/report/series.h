/* series.h - amounts over time, in bins: what counters of a timeline show.
 *
 * All series of a set have the same bins, from time 0. When time outgrows them, bins become twice as wide and pairs are
 * added up: memory is bounded, nothing is lost, and the result does not depend on the order of what is added. */
#ifndef NPUSIM_SIM_REPORT_SERIES_H
#define NPUSIM_SIM_REPORT_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/clock.h"
#include "sim/base/err.h"

#define SERIES_BINS  8192
#define SERIES_WIDTH (100 * PS_NS) /* of a bin, at first */

struct series {
	ps_t width;
	size_t n, used;
	uint64_t *v;
}; /* used: bins up to the last one that has anything */

int series_init(struct series *s, size_t n, struct err *e);
void series_free(struct series *s);
/* `amount`, spread evenly over the time; its whole parts sum to it exactly. All in the first bin where from == to. */
void series_add(struct series *s, size_t k, ps_t from, ps_t to, uint64_t amount);
/* A level that was held for that time: adds level times picoseconds. */
void series_hold(struct series *s, size_t k, ps_t from, ps_t to, uint64_t level);
static inline uint64_t series_at(const struct series *s, size_t k, size_t bin)
{
	return s->v[k * SERIES_BINS + bin];
}

#endif
