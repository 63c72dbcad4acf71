/* gpu.h - a GPU's streaming multiprocessors: how long one kernel launch takes, in closed form.
 *
 * Models: launch and drain; CTAs in rounds over the SMs the occupancy allows; in a CTA a chain of dependent steps (a
 * memory round trip and a barrier, from L2 or from DRAM as the operands lie); bytes in flight over latency (Little's
 * law) an SM; the L2's and DRAM's sustained rates, shared by all; pipes by dtype at the clock they sustain; what
 * follows the last data. Chain, memory and pipes overlap as a smooth maximum (gpu_overlap). One closed form a way of
 * laying out the work (arch/gpu/kernel.h: KERNEL_FORM_ROWS), in gpu_*.c; counts of a kernel's code come with the
 * launch, times are parameters of the device here. Which bytes hit the L2 is the memory system's state, told by
 * whoever asks (arch/gpu/gpu_work.h).
 * Instruction caches: code that other kernels have displaced is fetched from the L2 again, in steps counted by template.
 * Leaves out: warps as such, bank conflicts, power beyond a sustained clock, other contexts.
 * Invariants: I1 no launch is shorter than its bytes over the DRAM and L2 rates or its math over the pipes' peaks;
 * I2 integers only; I3 more of a rate or less of a latency is never slower.
 * Sources: parameters are measured by validate/cuda (traces/h200/micro) or fitted by `npusim calibrate`; each row and
 * each configs/gpu file says which. */
#ifndef NPUSIM_ARCH_GPU_GPU_H
#define NPUSIM_ARCH_GPU_GPU_H

#include "arch/comp.h"
#include "arch/gpu/gpu_cfg.h"
#include "arch/gpu/kernel.h"
#include "workloads/op.h"

/* A device: the configuration's parts the closed forms look at. */
struct gpu {
	uint64_t clock; /* kHz, that it runs at */
	uint64_t top;   /* kHz, its full clock: below that where power is capped, or the clock locked */
	uint32_t sms;
	uint64_t l2; /* bytes */
	const struct gpu_cfg *cfg;
	const struct gpu_common_cfg *c; /* cfg->common, which every form reads */
};

/* What the memory system made of a launch's bytes. */
struct gpu_mem {
	uint64_t read, read_hit;    /* bytes asked, found in the L2 */
	uint64_t write, write_back; /* bytes stored; dirty bytes that went to DRAM meanwhile */
};

/* A launch and all that its time depends on. `kernel` holds the counts of its template. Launches of an op lie side by
 * side, in order. */
struct gpu_launch {
	const struct op_stream *stream;
	const struct op *op;
	const struct op_launch
		*at; /* geometry; measured time is in there for whoever compares, and not looked at here */
	struct kernel kernel;
	uint32_t nth, count; /* of the op's launches */
	uint32_t others;     /* launches of other kernels since this one's last; UINT32_MAX: it is the first */
	uint64_t fresh;      /* bytes of its largest operand that was written and is read for the first time */
	uint64_t idle;       /* CTAs behind the others that find their tile to be another device's, and clear it */
	struct gpu_mem mem;
};

/* `total` is what the profiler would show. The parts add up to it; `bound` names what the largest is made of. */
struct gpu_time {
	ps_t total;
	ps_t launch, start, body, finish; /* body: chain, memory and pipes, overlapped */
	ps_t chain, memory, pipe;         /* each alone */
	enum res bound;
};

struct gpu_time gpu_time(const struct gpu *g, const struct gpu_launch *l);

#endif
