/* clock.h - time in integer picoseconds and clock edges computed from their number, never accumulated. */
#ifndef NPUSIM_SIM_BASE_CLOCK_H
#define NPUSIM_SIM_BASE_CLOCK_H

#include <stdint.h>

typedef uint64_t ps_t;
#define PS_NS    UINT64_C(1000)
#define PS_US    UINT64_C(1000000)
#define PS_MS    UINT64_C(1000000000)
#define PS_NEVER UINT64_MAX

/* Edge n of a clock of `khz`: never more than 1 ps off and 64-bit throughout. */
static inline ps_t clock_edge(uint64_t n, uint64_t khz)
{
	return n / khz * UINT64_C(1000000000) + n % khz * UINT64_C(1000000000) / khz;
}

/* The duration of n cycles, rounded up: what a unit is busy for. */
static inline ps_t clock_span(uint64_t n, uint64_t khz)
{
	return n / khz * UINT64_C(1000000000) + (n % khz * UINT64_C(1000000000) + khz - 1) / khz;
}

/* The time to move `bytes` at `bytes_per_s`, rounded up. bytes < 2^50, rate > 0. */
ps_t clock_transfer(uint64_t bytes, uint64_t bytes_per_s);
/* Whole cycles of `khz` in `t`, rounded up. */
uint64_t clock_cycles(ps_t t, uint64_t khz);

static inline uint64_t div_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}
/* The smallest l with 2^l >= v; v <= 2^63. */
static inline uint32_t log2_up(uint64_t v)
{
	uint32_t l = 0;

	while (UINT64_C(1) << l < v)
		l++;
	return l;
}

static inline uint64_t round_up(uint64_t a, uint64_t b)
{
	return div_up(a, b) * b;
}
static inline ps_t ps_max(ps_t a, ps_t b)
{
	return a > b ? a : b;
}
static inline ps_t ps_min(ps_t a, ps_t b)
{
	return a < b ? a : b;
}

#endif
