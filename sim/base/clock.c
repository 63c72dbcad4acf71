/* clock.c - the two conversions that are too long to be inline. */
#include "sim/base/clock.h"

#include <assert.h>

#define PS_PER_S UINT64_C(1000000000000)

__extension__ typedef unsigned __int128 u128;

ps_t clock_transfer(uint64_t bytes, uint64_t bytes_per_s)
{
	u128 t;

	assert(bytes_per_s > 0);
	if (bytes <= UINT64_MAX / PS_PER_S) /* 18 MB: a tile; no 128-bit division there */
		return div_up(bytes * PS_PER_S, bytes_per_s);
	t = ((u128)bytes * PS_PER_S + bytes_per_s - 1) / bytes_per_s;
	return t < PS_NEVER ? (ps_t)t : PS_NEVER;
}

uint64_t clock_cycles(ps_t t, uint64_t khz)
{
	/* t = a * 10^9 + b ps is exactly a * khz cycles and b * khz / 10^9 more */
	return t / UINT64_C(1000000000) * khz + div_up(t % UINT64_C(1000000000) * khz, UINT64_C(1000000000));
}
