/* probe_kernel.h - what the files of npusim probe kernel share. */
#ifndef NPUSIM_SIM_CLI_PROBE_KERNEL_H
#define NPUSIM_SIM_CLI_PROBE_KERNEL_H

#include "sim/cli/cmd.h"

struct probe_kernel_opts {
	const char *config, *format, *beside, *shared;
	struct opt_list sets, edits; /* of the GPU; of the kernel */
	uint64_t threads, registers;
	bool occupancy; /* is asked for, not the time */
};

/* Each kernel that is named, or all, and the block of --threads. */
int probe_kernel_table(struct doc *d, const struct probe_kernel_opts *o, const struct opt_list *args, struct err *e);

/* Measured kernels of `file` beside what their descriptions give on the machine (sim/accuracy/probe_tiled.h). */
int probe_kernel_beside(struct doc *d, const char *config, const struct opt_list *sets, const char *file,
                        struct err *e);

#endif
