/* gpu_event.h - what costs a GPU energy, a row each (L2: plain data): a counter of gpu_activity.h and a cost in
 * configurations, power.NAME. A new event is a row here and a line in gpu_activity.c. */
#ifndef NPUSIM_ARCH_GPU_GPU_EVENT_H
#define NPUSIM_ARCH_GPU_GPU_EVENT_H

/* X(name, its block, 1 where it goes with the core's voltage, unit, what it is): each costs power.NAME. */
/* clang-format off */
#define GPU_EVENT_ROWS(X) \
	X(dram_read, dram, 0, byte, "read from DRAM") \
	X(dram_write, dram, 0, byte, "written to DRAM") \
	X(dram_live, dram, 0, byte, "more of both where data toggle") \
	X(l2, l2, 1, byte, "between the L2 and the SMs") \
	X(l2_live, l2, 1, byte, "more of that where data toggle") \
	X(mac, tensor, 1, MAC, "on tensor cores, padding too") \
	X(mac_bf16, tensor, 1, MAC, "more of one whose operands toggle") \
	X(mac_fp16, tensor, 1, MAC, "the same in fp16, whose significand is longer") \
	X(mac_fp8, tensor, 1, MAC, "the same in 8 bits") \
	X(fma, cuda, 1, MAC, "of a product without tensor cores, its shared memory included") \
	X(instruction, cuda, 1, instruction, "of a thread, whatever its data") \
	X(shared, cuda, 1, byte, "of shared memory") \
	X(sfu, cuda, 1, operation, "of the special function units")
/* clang-format on */

enum gpu_event {
#define X(name, block, scaled, unit, help) GPU_EVENT_##name,
	GPU_EVENT_ROWS(X)
#undef X
		GPU_EVENTS
};

#endif
