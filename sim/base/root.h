/* root.h - square roots of whole numbers. */
#ifndef NPUSIM_SIM_BASE_ROOT_H
#define NPUSIM_SIM_BASE_ROOT_H

#include <stdint.h>

/* The largest r with r * r <= v, for v below 2^64. */
static inline uint64_t root_down(uint64_t v)
{
	uint64_t r = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit /= 2)
		if ((r + bit) * (r + bit) <= v)
			r += bit;
	return r;
}

#endif
