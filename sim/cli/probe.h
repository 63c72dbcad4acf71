/* probe.h - what the files of `npusim probe` share. */
#ifndef NPUSIM_SIM_CLI_PROBE_H
#define NPUSIM_SIM_CLI_PROBE_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/probe_mem.h"
#include "sim/cli/cmd.h"

/* The probe on a machine beside the measured values in FILE. */
typedef int probe_beside_fn(const struct machine_cfg *c, const struct probe_mem_opts *want, const char *file,
                            enum out_format f, struct str *out, struct err *e);
probe_beside_fn probe_beside_latency, probe_beside_stream;

#endif
