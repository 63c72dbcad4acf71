/* units.h - stored integers as people read them; doubles are made at the edge only. */
#ifndef NPUSIM_SIM_UI_UNITS_H
#define NPUSIM_SIM_UI_UNITS_H

#include <stdint.h>

static inline double unit_us(int64_t ns)
{
	return (double)ns / 1e3;
}

static inline double unit_ps_us(uint64_t ps)
{
	return (double)ps / 1e6;
}

static inline double unit_pct(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

#endif
