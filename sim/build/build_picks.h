/* build_picks.h - how the picks of a router fall on its experts: how many different ones, and how many rows each has.
 *
 * Tokens pick independently. Evenly, as many different experts are picked as that is expected to be, to the nearest, and
 * the picked rows are shared out among them as evenly as they go. With `skew` expert i, the likeliest first, has a chance
 * as i^-skew, at most 1, and rows in proportion, each at least one and at most one a token. */
#ifndef NPUSIM_SIM_BUILD_BUILD_PICKS_H
#define NPUSIM_SIM_BUILD_BUILD_PICKS_H

#include <stdint.h>

#include "sim/base/arena.h"

struct build_router {
	uint32_t experts, top; /* a token picks `top` of so many */
	uint32_t here;         /* so many of them are on this chip */
	uint32_t skew;         /* thousandths; 0: even */
};

struct build_picks {
	uint32_t hit;          /* different experts */
	uint64_t rows;         /* of all of them together */
	const uint64_t *first; /* of each slot's rows, and behind the last; NULL: even */
};

/* -1: no memory. */
int build_picks_make(struct arena *a, const struct build_router *r, uint64_t tokens, struct build_picks *out);
uint64_t build_picks_rows(const struct build_picks *x, uint32_t slot);
uint64_t build_picks_first(const struct build_picks *x, uint32_t slot);

#endif
