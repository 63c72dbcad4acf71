/* gpu_energy.h - measured board energy, for the commands that hold a GPU's model against it: validate and calibrate. */
#ifndef NPUSIM_SIM_CLI_GPU_ENERGY_H
#define NPUSIM_SIM_CLI_GPU_ENERGY_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/energy.h"
#include "sim/cli/cmd.h"

/* Row of an option table. */
#define GPU_ENERGY_OPTION(list, help) \
	{ \
		0, "energy", OPT_READS, &(list), "FILE", help \
	}

struct gpu_energies {
	struct energy_cases *v;
	struct arena **arenas;
	size_t n;
};

/* Reads all tables and asks the model. */
int gpu_energies_read(struct gpu_energies *x, const struct opt_list *paths, const struct machine_conf *conf,
                      const struct kernels *k, struct err *e);
void gpu_energies_free(struct gpu_energies *x);

#define GPU_ENERGY_TITLE \
	"error of energy by class, percent of what was measured, at the measured times and clocks;" \
	" of the clock where it was or is capped, at the measured cycles"

/* For people errors by class and the worst cases, in percent; CSV has every case, JSON "energy": {...}, "clock": {...},
 * "energy_classes": [...]. `note` says what the answers are of. */
int gpu_energies_doc(struct doc *d, const struct gpu_energies *x, const char *split, uint64_t worst, const char *note,
                     struct err *e);

#endif
