/* listed_int.h - what a kind of row is; for workloads/listed*.c only. */
#ifndef NPUSIM_WORKLOADS_LISTED_INT_H
#define NPUSIM_WORKLOADS_LISTED_INT_H

#include "workloads/listed.h"

struct listed_kind {
	const char *op; /* as a table has it */
	struct listed_meaning is;
	uint32_t arity;
	uint32_t needs, may; /* columns: a bit each */
};

struct listed_type {
	const char *name;
	enum dtype dtype;
	enum quant quant; /* QUANT_AS_TRACED: values alone */
};

const struct listed_type *listed_index_type(void);
const struct listed_type *listed_bf16(void);
/* Every tensor and the products are within what ops may have. */
bool listed_fits(const struct listed *x);

#endif
