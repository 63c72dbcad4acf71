/* hlo_text.h - one instruction of XLA's HLO, as its profiles and dumps write it, and the op of a table that it is.
 *
 *   %fusion.3 = bf16[8,4096]{1,0:T(8,128)} fusion(bf16[8,1024]{1,0} %p0, bf16[1024,4096]{1,0} %p1), kind=kOutput, calls=%c
 *
 * Read: the first tensor of the result, the opcode, the operands that are tensors and have their shapes, and of a dot its
 * dimensions, of a convolution its labels where its window is one value. A fusion does not say what is fused: one that is said
 * to hold a product (its category, "convolution fusion") is the product of the two operands that the result fits, with its
 * FLOPs where two pairs do; any other is an elementwise op of as many operands as have the result's size, if that is all
 * that it reads. Everything else is a move, a reduction or no op of a table. */
#ifndef NPUSIM_TRACES_READ_HLO_TEXT_H
#define NPUSIM_TRACES_READ_HLO_TEXT_H

#include "traces/read/shaped.h"

struct hlo_said {
	const char *category; /* "loop fusion", ""; as XLA's profiler classes it */
	uint64_t flops;       /* of the whole instruction; 0: not told */
	uint64_t bytes;       /* that it touches; 0: not told */
};

struct hlo_op {
	struct shaped s;
	char opcode[32]; /* "" where the text is no instruction */
};

void hlo_read(const char *text, const struct hlo_said *said, struct hlo_op *out);
/* Does it stand for instructions that are in the profile themselves: a loop, a branch, a call? */
bool hlo_encloses(const struct hlo_op *o);

#endif
