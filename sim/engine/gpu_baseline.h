/* gpu_baseline.h - the GPU that an answer is compared with, used as well as it can be: the same step with its ops fused, launched as
 * one graph, in closed form.
 *
 * Every chain that the patterns join (sim/map/fuse.h; no buffer bounds it, as an epilogue works tile by tile) is one kernel:
 * that of its product, else of the op that moves most. It moves what the chain reads and writes outside itself. Ops that
 * no pattern joins keep their launches. On a device other than the traced one they are laid out anew, as everywhere.
 * Which operands are in the L2 is told by distance and not by events: one is found there whole where, since it was last
 * touched, fewer bytes were fetched or written than the L2 holds. So a step costs some 5 % of what a whole run of it does.
 * Launches that differ in nothing are timed once.
 * Leaves out: arithmetic of a chain's other ops (a few cycles an element, beside memory), barriers of the whole device where
 * a chain needs a row that many CTAs share, kernels side by side, carried ops. So it is what fusion can bring at most.
 * How far it is from the L2 by events where nothing is fused: validate/tests/unit/t_gpu_baseline.c. */
#ifndef NPUSIM_SIM_ENGINE_GPU_BASELINE_H
#define NPUSIM_SIM_ENGINE_GPU_BASELINE_H

#include "arch/gpu/kernels.h"
#include "arch/machine/machine_conf.h"
#include "sim/base/arena.h"
#include "sim/map/fuse.h"

struct gpu_baseline {
	ps_t graph_ps;   /* wall time of the step as one graph */
	ps_t kernels_ps; /* of its kernels alone */
	size_t kernels;  /* launches, of which `joined` ops are a part of another's */
	size_t joined;
	ps_t least_ps; /* of its kernels the shortest: what each op that is joined spares at the least */
	ps_t *op_ps;   /* by op of the stream: what its kernel takes; 0 of those that are joined to another's */
};

/* `patterns` NULL: nothing is fused. The result lives in `a`. */
int gpu_baseline_run(const struct op_stream *s, const struct machine_conf *gpu, const struct kernels *k,
                     const struct fuse_patterns *patterns, struct arena *a, struct gpu_baseline *out, struct err *e);
/* The configuration of a device by its name as a driver tells it: "NVIDIA GeForce RTX 5090" is configs/gpu/rtx5090.yaml.
 * 0 found, -1 there is none (no error is set). */
int gpu_baseline_config(const char *device, char *path, unsigned size);
int gpu_baseline_config_from(const struct source *from, const char *device, char *path, unsigned size);

#endif
