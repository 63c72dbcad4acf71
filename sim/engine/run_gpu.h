/* run_gpu.h - a run on a GPU: the same op stream and memory, its launches one after the other in closed form.
 *
 * Total is the sum of the launches: a graph's nodes follow each other without a gap that can be seen (validate/cuda
 * micro_graph: a node's period is its own duration). What a host adds when it launches them one by one is told apart
 * (run_gpu_wall).
 * Where another device was traced, or none, products and attention are laid out anew (arch/gpu/gpu_geometry.h).
 * Leaves out: kernels of several streams at once, fusion (the launches are the program). */
#ifndef NPUSIM_SIM_ENGINE_RUN_GPU_H
#define NPUSIM_SIM_ENGINE_RUN_GPU_H

#include "sim/engine/run.h"

int run_gpu(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
            struct run_result *out, struct err *e);

#endif
