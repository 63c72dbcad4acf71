/* machine_attention.h - what attention costs a machine beside its bytes and multiply-adds, where a table names the algorithm.
 *
 * sim/map/map_attention.c does an attention as the table says; what its kernels wait for is a device's and its framework's
 * own, so it stands in the machine's file. All default to nothing: then only bytes, products and a softmax's steps count. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_ATTENTION_H
#define NPUSIM_ARCH_MACHINE_MACHINE_ATTENTION_H

#include "sim/base/cfg.h"
#include "sim/base/clock.h"

enum attention_masked { ATTENTION_SKIP, ATTENTION_COMPUTE };

struct attention_cfg {
	uint32_t masked;     /* enum attention_masked: tiles that a causal mask hides; grouped always skips them */
	uint32_t softmax;    /* vector steps of a score that a running softmax takes */
	uint32_t rows, keys; /* scores are kept in registers of so many rows and keys, whole */
	bool compact; /* materialised: operands lie in memory as they pad least, and are copied where products want another */
	ps_t head; /* per_head: a query head's two products and softmax wait for each other */
	ps_t step; /* of the kernel's grid, one a KV head (per_head, grouped) and block of queries (grouped, flash) */
	uint32_t queries;    /* grouped, flash: queries a block; 0: all (grouped: as the mapper streams keys) */
	uint32_t cores;      /* flash: that do a block of queries of a head; 0: no blocks, as the mapper streams keys */
	uint32_t efficiency; /* flash: ppm of what the machine's products reach that the kernel's do */
	uint32_t overlap;    /* flash: ppm of the shorter of products and softmax that hides */
	uint64_t handover;   /* flash: bytes a cycle and core between matrix and vector units; 0: they share a memory */
	uint32_t unpack;     /* grouped: vector steps of a value of K or V out of its page */
	ps_t move;           /* grouped: rows of queries that move at once */
	ps_t start;          /* grouped, flash: before the first block */
};

extern const struct cfg_field attention_schema[];

#endif
