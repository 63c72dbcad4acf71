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

/* Errors by class and the worst cases, in percent; `note` says what the answers are of. */
int gpu_energies_table(const struct gpu_energies *x, const char *split, uint64_t worst, const char *note,
                       struct str *out, struct err *e);
/* Every case. */
void gpu_energies_csv(const struct gpu_energies *x, const char *split, struct str *out);
/* "energy": {...}, "clock": {...}; "energy_classes": [...] */
int gpu_energies_json(const struct gpu_energies *x, const char *split, struct out_json *j, struct err *e);

#endif
