/* probe_kernel.h - what the files of `npusim probe kernel` share. */
#ifndef NPUSIM_SIM_CLI_PROBE_KERNEL_H
#define NPUSIM_SIM_CLI_PROBE_KERNEL_H

#include "arch/machine/machine_conf.h"
#include "arch/tiled/tiled.h"
#include "sim/cli/cmd.h"
#include "traces/text/input.h"

/* Rows of our own measurements of described kernels, on a GPU that was read. */
int probe_kernel_table(struct input *in, const struct machine_conf *c, enum out_format f, struct str *out,
                       struct err *e);
/* Measured kernels of `file` beside what their descriptions give on the machine: rows of our own measurements
 * (traces/h100/micro/tiled.csv), or a trace of kernels with asynchronous copy on and off (traces/h200/micro). */
int probe_kernel_beside(const char *config, const struct opt_list *sets, const char *file, enum out_format f,
                        struct str *out, struct err *e);

#endif
