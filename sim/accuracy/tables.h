/* tables.h - kernel times that others published, as samples: products and decode attention by shape.
 *
 * A table (CSV, zipped or not) is one of five, told by its header:
 *   gpu,kernel,dtype,m,n,k,time_us                       products
 *   gpu,kernel,attn_dtype,...,kv_len,time_us             decode attention
 *   kernel_source,...,isl,...,step,window_size,us        attention of prompts: isl queries behind step keys, as the
 *                                                        benchmark's own files have it
 *   kernel_source,moe_dtype,num_tokens,...,us            experts: two grouped products, what is between and behind them
 *   gpu,kernel,shape,dtype,time_us,...,source            a collection: of it the rows "GEMM ..." and "decode attention
 *                                                        ..." whose source is the same benchmark
 * Nothing says which kernels ran: launches are the library's as arch/gpu/gpu_geometry.h has them.
 *
 * How the times were taken (github.com/ai-dynamo/aiconfigurator collector/vllm/collect_gemm.py, collect_attn.py,
 * collector/helper.py): calls in a CUDA graph, the graph replayed six times between two events. A bf16 or fp8 product
 * is six calls on six copies of the weights, one of another type one call on one copy, attention one call. So a sample
 * is its kernels, what a node takes in a process that has captured many graphs (the collector is one process: 0.38 us,
 * arch/gpu/host.c), and its part of the graph's own launch (host.graph_launch of the machine): stated, not fitted. fp8 and
 * fp4 products include the kernel that quantises the tokens: a CTA each, but of one row by others that nobody named, a copy longer;
 * attention of vLLM before 0.20 ("vllm_flash_attn") and of prompts the one that writes the new keys and values (time by keys and by
 * tokens in both tables of prompts shows it), of FlashAttention 3 the one that plans its parts, which an engine runs once a step. Block-scaled fp8 was run without a graph: those are times of the host, and the
 * rows are left out, counted.
 * Experts: which expert has how many rows is drawn as the benchmark draws it (sim/accuracy/picks.h); of uneven picks five calls are
 * in a graph, each with its own, so that weights come again later. What a row does not say of its model (a router that keeps
 * groups, experts without a gate) is known by its shape. Beside the two products: the router, the order of the rows, quantising,
 * CUTLASS's copy of the rows, activation, sum and the copy of that, as bytes of a kernel each. Triton's and Marlin's go over all picks,
 * whoever's they are; Triton's clears the others' tiles. Weights are laid out as vLLM's Triton kernel, CUTLASS's, Marlin's or
 * fp4's one product's tiles.
 * Residency: weights (both of an expert's products together) by the machine's own L2, copies in turn, in pages of 2 MiB that lie anywhere; what is more than
 * three times the L2 is never found.
 * Times say no spread. Samples are held out: nothing is fitted to them. */
#ifndef NPUSIM_SIM_ACCURACY_TABLES_H
#define NPUSIM_SIM_ACCURACY_TABLES_H

#include "arch/machine/machine_cfg.h"
#include "sim/accuracy/cases.h"
#include "traces/text/input.h"

struct tables_opts {
	const char *gpu; /* of a collection: rows whose first column is that; NULL: all */
	uint32_t every;  /* one of so many rows, by a hash of the row; 0 or 1: all */
	bool others;     /* all but those */
};
/* What the rows are to be times of. */
struct tables_device {
	const struct machine_cfg *machine;
	const struct kernels *kernels;
};
struct tables_stats {
	size_t rows, read, host_bound, no_rule;
};

/* Reads, lays out, moves and times: `out` is ready for scores. The arena must outlive it. */
int tables_read(struct input *in, const struct tables_device *d, const struct tables_opts *o, struct arena *a,
                struct cases *out, struct tables_stats *st, struct err *e);

#endif
