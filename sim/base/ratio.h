/* ratio.h - a part of a whole number, where the product of both would leave 64 bits; what two numbers share. */
#ifndef NPUSIM_SIM_BASE_RATIO_H
#define NPUSIM_SIM_BASE_RATIO_H

#include <stdint.h>

/* n * part / whole, rounded down. whole > 0; whole * part and the result have 64 bits. */
static inline uint64_t ratio_of(uint64_t n, uint64_t part, uint64_t whole)
{
	return n / whole * part + n % whole * part / whole;
}

/* Greatest common divisor, by Euclid; of 0 and another that one. */
static inline uint64_t ratio_common(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

#endif
