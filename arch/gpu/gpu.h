/* gpu.h - a GPU's streaming multiprocessors: how long one kernel launch takes, in closed form.
 *
 * Models: launch and drain; CTAs in rounds over the SMs the occupancy allows; in a CTA a chain of dependent steps (a
 * memory round trip and a barrier, from L2 or from DRAM as the operands lie); bytes in flight over latency (Little's
 * law) an SM; the L2's and DRAM's sustained rates, shared by all; pipes by dtype at the clock they sustain; what
 * follows the last data. Chain, memory and pipes overlap as a smooth maximum (gpu_overlap). One closed form a way of
 * laying out the work (arch/gpu/kernel.h: KERNEL_STREAM ...), in gpu_*.c; counts of a kernel's code come with the
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
	uint64_t clock; /* kHz */
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

/* --- for the forms ------------------------------------------------------------------------------------------- */

typedef void gpu_form(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t);
gpu_form gpu_plain, gpu_copy, gpu_stream, gpu_rows, gpu_chain, gpu_product, gpu_split_reduce, gpu_dot, gpu_attention,
	gpu_combine, gpu_flash, gpu_walk, gpu_mma;

struct gpu_grid {
	uint64_t ctas, threads, rounds;
	uint32_t per_sm, sms;
}; /* sms: that have a CTA */
struct gpu_grid gpu_grid_of(const struct gpu *g, const struct gpu_launch *l);
/* (a^p + b^p)^(1/p), p = 1, 2, 4, 8 or larger powers of two: how far two things that go on at once hide each other. */
ps_t gpu_overlap(uint32_t p, ps_t a, ps_t b);
/* Bytes over the device's rates: DRAM reads that missed, write-backs, and everything through the L2. */
ps_t gpu_memory_time(const struct gpu *g, const struct gpu_mem *m);
/* The same of a product's tiles, DRAM alone: an SM has its share of that. */
ps_t gpu_product_dram(const struct gpu *g, const struct gpu_mem *m, uint64_t sms);
/* A dependent step on operands that lie as this launch's do: between step_l2 and step_dram by the share that hit. */
ps_t gpu_step(const struct gpu *g, const struct gpu_mem *m);
/* A barrier of a CTA of so many threads. */
ps_t gpu_barrier(const struct gpu *g, uint64_t threads);
uint64_t gpu_isqrt(uint64_t v);
/* A share in millionths of the L2. */
uint64_t gpu_l2_share(const struct gpu *g, uint32_t ppm);
/* Of a launch's loads, those found nowhere but in DRAM, in millionths. */
uint64_t gpu_missed(const struct gpu_mem *m);
/* Multiply-adds on the pipe of a dtype, on `sms` SMs. */
ps_t gpu_math_time(const struct gpu *g, enum dtype d, uint64_t macs, uint32_t sms);
/* Thread instructions (times 10) over the issue rate of `sms` SMs. */
ps_t gpu_issue_time(const struct gpu *g, uint64_t instructions10, uint32_t sms);

/* Where later passes find what an earlier one has read: shares of it, in millionths; the rest is in the L2. */
struct gpu_kept {
	uint32_t l1, dram;
};

/* How CTAs of all forms but products and attention spend their time, and what it adds up to (gpu_flow.c). */
struct gpu_flow {
	struct gpu_grid grid;
	ps_t head;            /* dependent, of a CTA, outside its loop */
	ps_t loop;            /* dependent, of a CTA, all iterations */
	ps_t tail;            /* what the CTA that is launched last takes more than the others */
	uint64_t parties;     /* of an SM that load and compute in turns, each by itself; 0: threads do as they like */
	bool in_order;        /* the loop is over the CTAs: rounds do not repeat it */
	uint64_t reread;      /* bytes later passes read ... */
	struct gpu_kept kept; /* ... from there */
	uint64_t elements;    /* that instructions are counted by */
	ps_t math;            /* of multipliers, beside the instructions */
	ps_t sectors;         /* that the load units need beside the instructions */
};
void gpu_flow_time(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f, struct gpu_time *t);
/* `start` round trips and `cycles` of a launch's kernel, and barriers: what every head has. */
ps_t gpu_flow_head(const struct gpu *g, const struct gpu_launch *l, const struct gpu_grid *x);
/* An iteration's round trips and cycles; the round trips of later passes. */
ps_t gpu_flow_turn(const struct gpu *g, const struct gpu_launch *l);
/* What its round trips take more on bytes just written. */
ps_t gpu_flow_fresh(const struct gpu *g, const struct gpu_launch *l);
/* The share (in millionths) of bytes read again that has left the L2 where so many are under way in between. */
uint32_t gpu_flow_gone(const struct gpu *g, uint64_t bytes);
ps_t gpu_flow_again(const struct gpu *g, const struct gpu_launch *l, struct gpu_kept kept);

#endif
