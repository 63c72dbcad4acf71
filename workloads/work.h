/* work.h - operations and bytes of an op: one definition, used by lowering, mapping, rooflines and reports.
 *
 * flops counts a multiply-add as two, an elementwise ALU step as one, a special function as one; data movement,
 * index arithmetic and converts count none. Bytes are those the op touches, each operand once: what the caches make
 * of them is a result of the machine. Counts saturate at UINT64_MAX; a lowered op stays far below.
 *
 * Steps of one element, beside the products (`rows` are independent, `cols` lie along the operation):
 *   softmax  max, subtract, sum, scale: 4 ALU; exp: 1 SFU; a reciprocal a row
 *   norm     square and sum, scale, gain: 4 ALU (layer norm: mean and subtract too, 6); a reciprocal root a row
 *   reduce   1 ALU (arg-max and a norm 2); a mean scales once a row
 *   attention, a visible (query, key) pair: scale, max, subtract, sum: 4 ALU, exp: 1 SFU; a scale an output element
 *   rope     2 ALU for the products, 1 for the sum
 *   scan     1 ALU; sort and top-k: see below */
#ifndef NPUSIM_WORKLOADS_WORK_H
#define NPUSIM_WORKLOADS_WORK_H

#include "workloads/op.h"

struct work {
	uint64_t macs;     /* multiply-adds of gemm and attention */
	uint64_t alu, sfu; /* vector element steps by pipe */
	uint64_t flops;
	uint64_t read_bytes, write_bytes;
	uint64_t role_read_bytes[OP_CONSTANT + 1];
};

struct work work_of(const struct op_stream *s, const struct op *o);
/* ALU and SFU steps of one element by cost class; arity matters for OP_COST_ALU. */
void work_cost(enum op_cost c, uint32_t arity, uint32_t *alu, uint32_t *sfu);
/* ALU steps a compare-exchange network needs: bitonic sort of n keys, and a top-k as repeated selection. */
uint64_t work_sort_steps(uint64_t n);
uint64_t work_topk_steps(uint64_t n, uint64_t k);
/* (query, key) pairs one head looks at: all, or with a causal mask those not in the query's future. */
uint64_t work_attention_pairs(const struct op_shape *s);

#endif
