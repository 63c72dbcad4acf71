/* ratio.h - a part of a whole number, where the product of both would leave 64 bits. */
#ifndef NPUSIM_SIM_BASE_RATIO_H
#define NPUSIM_SIM_BASE_RATIO_H

#include <stdint.h>

/* n * part / whole, rounded down. whole > 0; whole * part and the result have 64 bits. */
static inline uint64_t ratio_of(uint64_t n, uint64_t part, uint64_t whole)
{
	return n / whole * part + n % whole * part / whole;
}

#endif
