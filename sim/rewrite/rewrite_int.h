/* rewrite_int.h - a stream while it is rewritten; for sim/rewrite only. */
#ifndef NPUSIM_SIM_REWRITE_REWRITE_INT_H
#define NPUSIM_SIM_REWRITE_REWRITE_INT_H

#include "sim/rewrite/rewrite.h"

#define NONE UINT32_MAX

/* Of a tensor; ops, NONE: none. */
struct rewrite_use {
	uint32_t first_write, last_write, last_read, writes;
};

/* Ops, tensors and operands are copies that a rewrite changes; it marks what goes, and rewrite_stream takes that out. */
struct rewriting {
	struct op_stream *s;
	struct arena *a;
	const struct rewrite *how;
	struct rewrite_done *done;
	struct rewrite_use *use; /* by tensor, as the stream was before this rewrite */
	bool *op_gone;           /* by op */
	bool *operand_gone;      /* by operand */
};

int rewrite_kv(struct rewriting *w, struct err *e);   /* rewrite_kv.c */
int rewrite_cast(struct rewriting *w, struct err *e); /* rewrite_cast.c */

#endif
