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
#include "arch/gpu/kernel.h"
#include "arch/gpu/occupancy.h"
#include "workloads/op.h"

/* What all forms share. */
struct gpu_cfg {
	ps_t launch;             /* launch and drain of a kernel of one CTA that does nothing */
	uint64_t cta_rate;       /* CTAs the device starts a second */
	ps_t step_l2, step_dram; /* a dependent step: load and barrier, hitting in L2 or not */
	ps_t step_fresh; /* what a step of a loop over elements takes more on bytes a launch before has just written */
	uint64_t fresh;  /* ... in an operand of so many bytes or more */
	uint32_t code;   /* launches of other kernels after which the SMs hold nothing of a kernel's code */
	ps_t barrier;    /* of a CTA of 128 threads */
	uint64_t dram_read, dram_write;                     /* bytes/s sustained */
	uint64_t l2_rate;                                   /* bytes/s all SMs together get from the L2 */
	uint64_t sm_rate_l2, sm_rate_dram;                  /* bytes/s one SM gets */
	uint32_t flop_fp32, flop_tf32, flop_bf16, flop_fp8; /* multiply-adds count two; a cycle and SM */
	uint64_t clock_tensor;                              /* kHz sustained with all tensor cores busy */
	uint32_t issue;                                     /* thread instructions a cycle and SM, times 100 */
	uint32_t sfu;                                       /* special functions a cycle and SM */
	uint32_t overlap;                                   /* exponent of the smooth maximum: 1, 2, 4, 8 */
};

/* Parameters of single forms, with their rows in gpu_FORM.c. */
struct gpu_product_cfg {
	ps_t setup, scaled, step, step_fill, reduce, reduce_part, reduce_rest, reduce_wave, dot, row, fma_step;
	uint64_t store_rate, l2_rate, gpc_rate, sm_dram, clock_fp8;
	uint32_t few, tensor, gpc_short;
};
struct gpu_attention_cfg {
	ps_t setup, setup_dim, tile, combine, combine_part, many_setup, many_block;
	uint64_t tile_rate, combine_rate;
	uint32_t many_softmax, many_tensor;
};
struct gpu_mma_cfg {
	ps_t setup, ahead, miss;
	uint32_t round, through;
	uint64_t store_rate;
};
struct gpu_flash_cfg {
	ps_t setup;
	uint32_t mma, element, tensor, instructions, store, flop_mma;
	uint64_t tile_rate;
};
struct gpu_stream_cfg {
	ps_t spread;           /* the longest that first loads queue when many go to DRAM at once */
	uint64_t spread_bytes; /* of missed bytes with which half of that is reached */
	ps_t copy, set;        /* what a copy or a set takes beside its bytes and an empty kernel */
	uint64_t inline_set;   /* sets of fewer bytes go word by word ... */
	uint64_t inline_rate;  /* ... at so many bytes/s */
	ps_t odd;              /* of a large copy whose bytes are no whole pages */
	uint32_t apart;        /* sectors a cycle and SM where neighbours lie apart, times 100 */
	uint32_t write_buffer; /* of the L2: what a launch stores before DRAM has to turn between reads and writes */
};
struct gpu_rows_cfg {
	uint64_t l1;       /* bytes of rows under way in an SM that its L1 keeps for a second pass */
	ps_t step_l1;      /* a load that hits it */
	ps_t join;         /* of CTAs that share a result: store, fence, count, and who is last */
	uint32_t resident; /* of the L2: bytes under way of which it keeps none for a later pass; of a quarter, all */
	uint32_t overlap;  /* exponent of the smooth maximum of a loop's round trips and the bytes' time */
};

extern const struct cfg_field gpu_schema[], gpu_product_schema[], gpu_mma_schema[], gpu_attention_schema[],
	gpu_flash_schema[], gpu_stream_schema[], gpu_rows_schema[];

/* A device: the configuration's parts the closed forms look at. */
struct gpu {
	uint64_t clock; /* kHz */
	uint32_t sms;
	uint64_t l2; /* bytes */
	const struct sm_cfg *sm;
	const struct gpu_cfg *c;
	const struct gpu_product_cfg *product;
	const struct gpu_mma_cfg *mma;
	const struct gpu_attention_cfg *attention;
	const struct gpu_flash_cfg *flash;
	const struct gpu_stream_cfg *stream;
	const struct gpu_rows_cfg *rows;
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
