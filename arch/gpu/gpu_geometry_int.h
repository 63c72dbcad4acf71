/* gpu_geometry_int.h - what the parts of gpu_geometry share. */
#ifndef NPUSIM_ARCH_GPU_GPU_GEOMETRY_INT_H
#define NPUSIM_ARCH_GPU_GPU_GEOMETRY_INT_H

#include "arch/gpu/gpu_geometry.h"

/* Generations by their compute capability; those with wgmma and its successor are WGMMA. */
enum { SM_8X = 1, WGMMA = 2, GB20X = 4 };

static inline uint32_t gpu_geometry_generation(uint32_t capability)
{
	return capability < 90 ? SM_8X : capability < 110 ? WGMMA : capability < 120 ? 0 : GB20X;
}

/* Ada and GB20x, cards for graphics. */
static inline bool gpu_geometry_consumer(const struct gpu *g)
{
	return g->cfg->sm.capability == 89 || g->cfg->sm.capability >= 120;
}

/* Does the library multiply warp by warp here, and has no wgmma? */
static inline bool gpu_geometry_by_warps(const struct gpu *g)
{
	return gpu_geometry_generation(g->cfg->sm.capability) & (SM_8X | GB20X);
}

/* CTAs, and threads of one. */
struct grid {
	uint64_t x, y, z;
	uint32_t threads;
};

/* One launch more, of the kernel of that name. */
void gpu_geometry_put(struct geometry *out, const struct kernels *k, const struct op *o, const char *name,
                      struct grid g);
/* gpu_geometry_reduce.c */
void gpu_geometry_reduce(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out);
bool gpu_geometry_attention(const struct gpu *g, const struct kernels *k, const struct op_stream *s, const struct op *o,
                            struct geometry *out);

#endif
