/* gpu_flow.h - CTAs that load, compute and store: their chains, bytes and instructions as one time (see gpu_flow.c). */
#ifndef NPUSIM_ARCH_GPU_GPU_FLOW_H
#define NPUSIM_ARCH_GPU_GPU_FLOW_H

#include "arch/gpu/gpu_math.h"

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
/* Whether a launch's first loads go to DRAM: a thread's go together, one for each operand, and the slowest counts. */
bool gpu_flow_far(const struct gpu_launch *l);
/* `start` round trips and `cycles` of a launch's kernel, and barriers: what every head has. */
ps_t gpu_flow_head(const struct gpu *g, const struct gpu_launch *l, const struct gpu_grid *x);
/* An iteration's round trips and cycles; the round trips of later passes. */
ps_t gpu_flow_turn(const struct gpu *g, const struct gpu_launch *l);
/* What its round trips take more on bytes just written. */
ps_t gpu_flow_fresh(const struct gpu *g, const struct gpu_launch *l);
/* The share (in millionths) of bytes read again that has left the L2 where so many are under way in between. */
uint32_t gpu_flow_gone(const struct gpu *g, uint64_t bytes);
/* Where a later pass over rows of so many bytes finds them (gpu_rows.c). */
struct gpu_kept gpu_rows_kept(const struct gpu *g, const struct gpu_launch *l, const struct gpu_grid *x, uint64_t row);
ps_t gpu_flow_again(const struct gpu *g, const struct gpu_launch *l, struct gpu_kept kept);

#endif
