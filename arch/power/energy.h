/* energy.h - what events and time cost, in whole femtojoules, so that a run's energy is the sum of its parts to the last
 * one.
 *
 * A machine's blocks count events (bytes, multiply-adds, instructions); a row says which block an event belongs to and what
 * it costs. Who has rows: a GPU (arch/gpu/gpu_power.h). Another machine's blocks are more rows and their counts: nothing
 * here knows a block.
 * Units: energy fJ, power uW, time ps; shares and scales in millionths. Products are rounded down, once, where a part is
 * made; a part is never split again. Amounts saturate at UINT64_MAX (18 kJ). */
#ifndef NPUSIM_ARCH_POWER_ENERGY_H
#define NPUSIM_ARCH_POWER_ENERGY_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/clock.h"

#define ENERGY_ONE UINT64_C(1000000) /* a scale of one */

/* What a row's count costs; `scaled`: with the square of the core's voltage, and by nothing else. */
struct energy_row {
	const char *block, *name, *unit, *help; /* "dram", "dram_read", "byte", ... */
	int scaled;
};

uint64_t energy_add(uint64_t a, uint64_t b);
/* `count` events of `each` fJ, times a scale in millionths. */
uint64_t energy_events(uint64_t count, uint64_t each, uint64_t scale);
/* Power over time, times a scale in millionths. */
uint64_t energy_over(uint64_t power, ps_t time);
/* The mean power of `fj` over `time`; 0 for no time. */
uint64_t energy_power(uint64_t fj, ps_t time);
/* v times scale, in millionths of 128 bits inside. */
uint64_t energy_scale(uint64_t v, uint64_t scale);

#endif
