#include "arch/power/energy.h"

/* a * b / c, rounded down, without losing bits between; saturates. Sixty-four steps where the product leaves 64 bits. */
static uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t high = 0, rest = 0;

	if (!b || a <= UINT64_MAX / b)
		return a * b / c;
	for (int i = 63; i >= 0; i--) { /* Horner over the bits of a: the quotient and what is left of it */
		if (high >> 63)
			return UINT64_MAX;
		high *= 2;
		rest *= 2; /* below 2 c */
		if (rest >= c)
			rest -= c, high++;
		if (a >> i & 1) {
			high = energy_add(high, b / c);
			rest += b % c;
			if (rest >= c)
				rest -= c, high = energy_add(high, 1);
		}
	}
	return high;
}

uint64_t energy_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t energy_scale(uint64_t v, uint64_t scale)
{
	return scale == ENERGY_ONE ? v : mul_div(v, scale, ENERGY_ONE);
}

uint64_t energy_events(uint64_t count, uint64_t each, uint64_t scale)
{
	return energy_scale(each && count > UINT64_MAX / each ? UINT64_MAX : count * each, scale);
}

/* 1 uW over 1 ps is 1e-18 J, a thousandth of a femtojoule. */
uint64_t energy_over(uint64_t power, ps_t time)
{
	return mul_div(power, time, 1000);
}

uint64_t energy_power(uint64_t fj, ps_t time)
{
	return time ? mul_div(fj, 1000, time) : 0;
}
