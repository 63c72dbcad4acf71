/* real.h - what of a machine nobody could build: a die larger than a scanner exposes at once, more DRAM than the edges of
 * such a die have room for, more power than a module is fed, more bytes than its stacks hold.
 *
 * Limits are constants with their sources (configs/tech/die.yaml, `limit`). They change no time: a machine beyond them is
 * simulated as it is written, and said to be beyond them. Several dies (`dies`) have so many times the area and the edges.
 * Leaves out: LPDDR and DDR, which lie around a package; stacks on a die; yield. */
#ifndef NPUSIM_SIM_ENGINE_REAL_H
#define NPUSIM_SIM_ENGINE_REAL_H

#include "arch/machine/machine_cfg.h"

#define REAL_MOST 4

struct real_beyond {
	const char *what;    /* "reticle", "edges", "capacity", "power" */
	const char *words;   /* for a row of a list: "over a reticle" */
	double value, limit; /* mm2, stacks or 32 pins, GiB, W */
	char text[160];
};

/* Returns how many; none of a die whose process is not said. */
size_t real_machine(const struct machine_cfg *c, unsigned dies, struct real_beyond out[REAL_MOST]);
/* Mean power of a run beyond what a module is fed: appended to `out`. `dies`: modules. */
size_t real_power(const struct machine_cfg *c, unsigned dies, double watts, struct real_beyond *out);
#endif
