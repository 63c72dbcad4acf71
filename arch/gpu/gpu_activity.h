/* gpu_activity.h - what a launch does that costs energy, counted.
 *
 * Bytes that DRAM reads and writes are the memory system's (gpu_mem). The rest follows from geometry and op: bytes between
 * L2 and SMs after multicast, parts of a split product included; multiply-adds with the tiles' padding; thread
 * instructions by the template's count an element. `live` events are bytes and multiply-adds of data that toggle: times
 * the entropy over bits of what a format's values look like (random normal numbers; data of one value have none).
 * Invariant: more work never counts fewer events. Leaves out: instructions of addresses and loops beside those the
 * templates count, register spills, what two kernels share. */
#ifndef NPUSIM_ARCH_GPU_GPU_ACTIVITY_H
#define NPUSIM_ARCH_GPU_GPU_ACTIVITY_H

#include "arch/gpu/gpu.h"

struct gpu_activity {
	uint64_t n[GPU_EVENTS];
	uint64_t sms; /* that have a CTA; of several launches, see gpu_power.h */
};

/* What a launch does; `live`: its data toggle. Needs its `mem`. */
struct gpu_activity gpu_activity(const struct gpu *g, const struct gpu_launch *l, bool live);
void gpu_activity_add(struct gpu_activity *sum, const struct gpu_activity *x);
/* What DRAM moved of so much; bytes that SMs read: of kernels without a launch of ours. */
void gpu_activity_bytes(struct gpu_activity *x, const struct gpu_mem *m, enum dtype d, bool live);
void gpu_activity_read(struct gpu_activity *x, uint64_t bytes, enum dtype d);
/* Of a format's random values, entropy over bits, in millionths. */
uint32_t gpu_activity_toggle(enum dtype d);

/* A product's tiles, by whoever lays them out (gpu_product.c): multiply-adds with padding, bytes from and to the L2. */
struct gpu_tiling {
	uint64_t macs, l2, sms;
};
struct gpu_tiling gpu_product_tiling(const struct gpu *g, const struct gpu_launch *l);

#endif
