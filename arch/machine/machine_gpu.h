/* machine_gpu.h - a machine of kind gpu as its closed forms look at it. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_GPU_H
#define NPUSIM_ARCH_MACHINE_MACHINE_GPU_H

#include "arch/gpu/gpu.h"
#include "arch/machine/machine_cfg.h"

/* Points into `c`. */
struct gpu machine_gpu(const struct machine_cfg *c);

#endif
