/* gpu_traffic.h - the door to a GPU's memory: address ranges go in, what was found comes out.
 *
 * Models: a range's requests through the memory system that an NPU has too (arch/mem/memory_alone.h), so many under way; what
 * hits, misses and is written back is the caches' result. No time comes out: a kernel's time is a closed form.
 * Leaves out: the order of accesses within a range, two launches at once. */
#ifndef NPUSIM_ARCH_GPU_GPU_TRAFFIC_H
#define NPUSIM_ARCH_GPU_GPU_TRAFFIC_H

#include "arch/gpu/gpu.h"
#include "arch/mem/memory_alone.h"

struct gpu_traffic;
struct gpu_traffic *gpu_traffic_new(const struct memory_cfg *c, uint64_t clock_khz, struct err *e);
void gpu_traffic_free(struct gpu_traffic *t);
void gpu_traffic_forget(struct gpu_traffic *t); /* cold caches */
/* Adds to *m. Bytes written back meanwhile are the L2's, whoever's they were. */
int gpu_traffic_move(struct gpu_traffic *t, uint64_t addr, uint64_t bytes, bool write, struct gpu_mem *m,
                     struct err *e);

#endif
