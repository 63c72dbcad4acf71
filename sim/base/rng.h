/* rng.h - random streams seeded from (run seed, name), so that a new block leaves the others' draws alone. */
#ifndef NPUSIM_SIM_BASE_RNG_H
#define NPUSIM_SIM_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[2];
};

void rng_seed(struct rng *r, uint64_t seed, const char *name);
uint64_t rng_u64(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* unbiased, 0 <= x < n; n > 0 */

#endif
